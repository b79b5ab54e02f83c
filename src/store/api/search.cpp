#include "store/api/search.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace millrace::store {
namespace {

std::optional<std::string> documents_text(const std::optional<std::vector<Uuid>>& documents) {
  if (!documents) return std::nullopt;
  std::string out = "{";
  for (const auto& document : *documents) {
    if (out.size() > 1) out += ',';
    out += document.to_string();
  }
  return out + "}";
}

class PgSearchStore final : public SearchStore {
 public:
  explicit PgSearchStore(ApiSession& session) : session_(session) {}

  Task<std::string> search_chunks(CallContext caller, SearchQuestion question) override {
    std::optional<std::string> vector;
    std::optional<std::string> model;
    std::optional<std::string> version;
    if (question.vector) {
      vector = array_text(question.vector->values);
      model = question.vector->model;
      version = question.vector->version;
    }
    co_return co_await session_.text_as(
        std::move(caller), MR_POINT("api_search"), Access::read,
        {.sql = "select coalesce(jsonb_agg(s), '[]')::text from millrace.search_chunks($1, "
                "$2::real[], $3, $4, $5, $6::uuid[], $7, $8) s",
         .params = pg::params(question.query, vector, model, version, question.mode,
                              documents_text(question.documents), question.limit, question.explain),
         .name = "mr_api_search_chunks"});
  }

 private:
  ApiSession& session_;
};

}  // namespace

std::unique_ptr<SearchStore> make_search_store(ApiSession& session) {
  return std::make_unique<PgSearchStore>(session);
}

std::string array_text(const std::vector<float>& values) {
  std::string out = "{";
  for (const float value : values) {
    if (out.size() > 1) out += ',';
    fmt::format_to(std::back_inserter(out), "{}", value);
  }
  return out + "}";
}

}  // namespace millrace::store
