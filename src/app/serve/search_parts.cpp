#include "app/serve/search_parts.h"

#include "app/search/query_embedder.h"

#include <utility>

namespace millrace::app {

SearchParts::SearchParts(Context& context, store::ApiSession& session)
    : context_(context),
      store_(store::make_search_store(session)),
      questions_(store::make_question_store(session)),
      metrics_(context.metrics) {}

Result<std::unique_ptr<SearchParts>> SearchParts::make(Context& context, store::ApiSession& session,
                                                       http::Client& client) {
  std::unique_ptr<SearchParts> parts(new SearchParts(context, session));
  MR_TRY(parts->embedder_, make_query_embedder(context, client, *parts->questions_));
  return parts;
}

std::vector<api::Operation> SearchParts::operations() {
  return api::search_operations(
      {.search = *store_, .embedder = *embedder_, .metrics = metrics_, .clock = context_.clock});
}

}  // namespace millrace::app
