// handler_of: binds a verb to the store it asks. The store outlives the operation.
#pragma once

#include "api/operation.h"

namespace millrace::api {

template <class Store>
OperationHandler handler_of(Task<Reply> (*verb)(Call& call, Store& store), Store& store) {
  return [verb, &store](Call& call) { return verb(call, store); };
}

}  // namespace millrace::api
