#include "app/serve/search_parts.h"

#include "app/search/query_embedder.h"

#include <utility>

namespace millrace::app {

SearchParts::SearchParts(Context& context, store::ApiSession& session,
                         std::unique_ptr<api::QueryEmbedder> embedder)
    : context_(context),
      store_(store::make_search_store(session)),
      embedder_(std::move(embedder)),
      metrics_(context.metrics) {}

Result<std::unique_ptr<SearchParts>> SearchParts::make(Context& context, store::ApiSession& session,
                                                       http::Client& client) {
  MR_TRY(auto embedder, make_query_embedder(context, client));
  return std::unique_ptr<SearchParts>(new SearchParts(context, session, std::move(embedder)));
}

std::vector<api::Operation> SearchParts::operations() {
  return api::search_operations(
      {.search = *store_, .embedder = *embedder_, .metrics = metrics_, .clock = context_.clock});
}

}  // namespace millrace::app
