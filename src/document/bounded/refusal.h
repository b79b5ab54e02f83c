// Refusals: errors that say which rule a document broke.
//
// An Error of the kind invalid_argument with the rule's name in `constraint` and what is wrong in
// `message`: never content of the document, which may be a patient's.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace millrace::document {

[[nodiscard]] inline std::unexpected<Error> refuse(std::string_view rule, std::string detail) {
  return fail({.kind = ErrorKind::invalid_argument,
               .message = std::move(detail),
               .constraint = std::string(rule)});
}

}  // namespace millrace::document
