// SearchParts: what the API server has for search.
//
// Lifetime: what make() is given outlives it, and it outlives the operations. Threading: made by
// its owner, used by all threads of the server.
#pragma once

#include "api/routes/search.h"
#include "app/context.h"
#include "http/client.h"
#include "store/api/questions.h"
#include "store/api/session.h"

#include <memory>
#include <vector>

namespace millrace::app {

class SearchParts {
 public:
  static Result<std::unique_ptr<SearchParts>> make(Context& context, store::ApiSession& session,
                                                   http::Client& client);

  std::vector<api::Operation> operations();

 private:
  SearchParts(Context& context, store::ApiSession& session);

  Context& context_;
  std::unique_ptr<store::SearchStore> store_;
  std::unique_ptr<store::QuestionStore> questions_;
  std::unique_ptr<api::QueryEmbedder> embedder_;
  api::SearchMetrics metrics_;
};

}  // namespace millrace::app
