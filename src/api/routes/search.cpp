#include "api/routes/search.h"

#include "api/call.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace millrace::api {
namespace {

using identity::Capability;

constexpr std::size_t kQueryMaxBytes = 8192;
constexpr int kLimitUsual = 10;
constexpr int kLimitMax = 100;
constexpr std::size_t kDocumentsMax = 1000;
constexpr std::string_view kModeSchema = R"({"type":"string","enum":["hybrid","text","vector"]})";

double seconds_between(Clock::Steady from, Clock::Steady to) {
  return std::chrono::duration<double>(to - from).count();
}

Result<void> check_query(std::string_view query) {
  const auto refuse = [](std::string_view why) {
    return fail(ErrorKind::invalid_argument, fmt::format("query {}", why));
  };
  if (query.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos) {
    return refuse("must not be empty");
  }
  if (query.size() > kQueryMaxBytes) {
    return refuse(
        fmt::format("has {} bytes; at most {} are searched for", query.size(), kQueryMaxBytes));
  }
  if (query.contains('\0')) return refuse("must not contain the character U+0000");
  return {};
}

Result<std::vector<Uuid>> read_documents(const std::vector<std::string>& texts) {
  if (texts.size() > kDocumentsMax) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("documents has {} ids; at most {}", texts.size(), kDocumentsMax));
  }
  std::vector<Uuid> out;
  for (const auto& text : texts) {
    MR_TRY(const auto id, Uuid::parse(text));
    out.push_back(id);
  }
  return out;
}

// What was asked of the model, and what came of it.
struct Embedded {
  std::optional<store::SearchVector> vector = {};
  std::optional<std::string> notice = {};  // Why there is none.
};

Task<Embedded> embed(SearchServices services, store::CallContext caller, const std::string& query,
                     const std::string& mode) {
  Embedded out;
  if (mode == "text") co_return out;
  const auto begin = services.clock.now();
  auto vector = co_await services.embedder.embed_query(std::move(caller), query);
  services.metrics.durations.histogram({"embed"}).observe(
      seconds_between(begin, services.clock.now()));
  if (vector) {
    out.vector = std::move(*vector);
    co_return out;
  }
  services.metrics.without_vector.add();
  // Cancelled: nobody waits for the answer any more.
  if (vector.error().kind == ErrorKind::cancelled) co_return std::unexpected(vector.error());
  if (mode == "vector") {
    co_return fail(ErrorKind::conflict,
                   fmt::format("mode vector: the question has no vector: {}; mode text works",
                               vector.error().message));
  }
  out.notice = fmt::format("searched by words alone: the question has no vector: {}",
                           vector.error().message);
  co_return out;
}

Task<Reply> search(Call& call, SearchServices services, store::SearchQuestion question) {
  MR_CO_TRY(auto found, co_await answer_search(services, call.context(), std::move(question)));
  call.note("search_mode", found.mode);
  co_return Reply::json_text(std::move(found.text));
}

Task<Reply> get(Call& call, SearchServices services) {
  store::SearchQuestion question;
  question.query = call.parameters.text("query").value_or("");
  question.mode = call.parameters.text("mode").value_or("hybrid");
  question.limit = static_cast<int>(call.parameters.integer("limit").value_or(kLimitUsual));
  question.explain = call.parameters.boolean("explain");
  if (call.parameters.find("documents") != nullptr) {
    MR_CO_TRY(question.documents, read_documents(call.parameters.list("documents")));
  }
  co_return co_await search(call, services, std::move(question));
}

Task<Reply> post(Call& call, SearchServices services) {
  store::SearchQuestion question;
  question.query = call.text("query").value_or("");
  question.mode = call.text("mode").value_or("hybrid");
  question.limit = static_cast<int>(call.integer("limit").value_or(kLimitUsual));
  const auto* explain = call.member("explain");
  question.explain = explain != nullptr && explain->is_bool() && explain->get_bool();
  if (const auto* list = call.member("documents"); list != nullptr && list->is_array()) {
    std::vector<std::string> documents;
    for (const auto& id : list->get_array()) documents.emplace_back(id.as_string());
    MR_CO_TRY(question.documents, read_documents(documents));
  }
  co_return co_await search(call, services, std::move(question));
}

Operation operation(std::string id, std::string method, std::string summary) {
  return {.id = std::move(id),
          .method = std::move(method),
          .path = "/api/v1/search",
          .tag = "Search",
          .summary = std::move(summary),
          .description =
              "By words, by the meaning of the question (its vector), or by both. Words in "
              "quotation marks must stand together in a passage; a word with a minus before it "
              "must not be there. `mode` of the answer says what was done: without a model the "
              "search goes by words, and `notice` says why. Offsets are bytes of the parsed text.",
          .access = Access::people(Capability::read),
          .answers = {{.status = 200, .description = "Passages.", .schema = "SearchAnswer"}},
          .errors = {409},
          .handler = {}};
}

}  // namespace

SearchMetrics::SearchMetrics(MetricRegistry& registry)
    : searches(registry.family({.name = "millrace_searches_total",
                                .help = "Searches that were answered, by what was done.",
                                .labels = {"mode"}})),
      durations(registry.family({.name = "millrace_search_duration_seconds",
                                 .help = "Of searches: making the vector, ranking.",
                                 .kind = MetricKind::histogram,
                                 .labels = {"part"},
                                 .bounds = latency_bounds_s()})),
      without_vector(registry
                         .family({.name = "millrace_searches_without_vector_total",
                                  .help = "Questions that could not be embedded."})
                         .counter()) {}

Task<SearchFound> answer_search(SearchServices services, store::CallContext caller,
                                store::SearchQuestion question) {
  MR_CO_TRY_VOID(check_query(question.query));
  MR_CO_TRY(auto embedded, co_await embed(services, caller, question.query, question.mode));
  SearchFound found{.mode = embedded.vector ? question.mode : "text"};
  json::Object answer;
  answer["mode"] = found.mode;
  answer["notice"] = nullptr;
  if (embedded.notice) answer["notice"] = *embedded.notice;
  answer["model"] = nullptr;
  if (embedded.vector) {
    answer["model"] =
        json::Object{{"name", embedded.vector->model}, {"version", embedded.vector->version}};
  }
  question.mode = found.mode;
  question.vector = std::move(embedded.vector);
  const auto begin = services.clock.now();
  MR_CO_TRY(const auto passages,
            co_await services.search.search_chunks(std::move(caller), std::move(question)));
  services.metrics.durations.histogram({"rank"}).observe(
      seconds_between(begin, services.clock.now()));
  services.metrics.searches.counter({found.mode}).add();
  // The passages are JSON already: put in as they are.
  found.text = to_json(answer);
  found.text.pop_back();
  found.text += R"(,"passages":)";
  found.text += passages;
  found.text += '}';
  co_return found;
}

std::vector<Operation> search_operations(SearchServices services) {
  auto by_url = operation("search.get", "GET", "Passages of documents for a question");
  by_url.parameters = {
      {.name = "query",
       .description = "The question, or words.",
       .schema = R"({"type":"string","minLength":1,"maxLength":8192})",
       .required = true,
       .private_text = true},
      {.name = "limit",
       .description = "How many passages.",
       .schema = fmt::format(R"({{"type":"integer","minimum":1,"maximum":{},"default":{}}})",
                             kLimitMax, kLimitUsual)},
      {.name = "documents",
       .description = "In these documents only; empty: in none.",
       .schema = R"({"type":"array","items":{"type":"string","format":"uuid"},"maxItems":1000})"},
      {.name = "mode", .description = "How to search.", .schema = std::string(kModeSchema)},
      {.name = "explain",
       .description = "With the measures behind each score.",
       .schema = R"({"type":"boolean","default":false})"}};
  by_url.handler = [services](Call& call) { return get(call, services); };
  auto by_body = operation("search.post", "POST", "Passages of documents for a long question");
  by_body.body = RequestBody{.schema = "SearchRequest"};
  by_body.handler = [services](Call& call) { return post(call, services); };
  std::vector<Operation> out;
  out.push_back(std::move(by_url));
  out.push_back(std::move(by_body));
  return out;
}

}  // namespace millrace::api
