// QueryEmbedder: the vector of a question, by whatever embeds the documents of this installation.
//
// Flow: search asks it before it asks the database. Implementations compute on threads of their
// own or ask a service outside, within its limits and the caller's budget, and give up at the
// deadline they were made with; a search without a vector goes on by words. Threading: any.
// Lifetime: outlives the operations.
#pragma once

#include "base/task.h"
#include "store/api/search.h"

#include <string>

namespace millrace::api {

class QueryEmbedder {
 public:
  virtual ~QueryEmbedder() = default;
  // not_found or invalid_argument: no model here, and the message says what to install or to set;
  // throttled, unavailable: not now. Messages hold no text of the question.
  virtual Task<store::SearchVector> embed_query(store::CallContext caller, std::string query) = 0;
};

}  // namespace millrace::api
