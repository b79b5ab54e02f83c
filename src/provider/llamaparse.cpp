#include "provider/llamaparse.h"

#include "provider/form_upload.h"
#include "provider/refused.h"
#include "provider/reply_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace millrace::provider {
namespace {

constexpr std::size_t kIdMax = 200;
constexpr std::size_t kWordsMax = 300;
constexpr int kPageMax = 1'000'000;

// It becomes part of a path.
bool is_id(std::string_view id) {
  return !id.empty() && id.size() <= kIdMax && std::ranges::all_of(id, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
}

std::string one_line(std::string text) {
  text.resize(std::min(text.size(), kWordsMax));
  std::ranges::replace_if(text, [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
  return text;
}

ParseProgress::State state_of(std::string_view status) {
  if (status == "COMPLETED" || status == "SUCCESS" || status == "PARTIAL_SUCCESS") {
    return ParseProgress::State::completed;
  }
  if (status == "FAILED" || status == "ERROR" || status == "CANCELLED") {
    return ParseProgress::State::failed;
  }
  return ParseProgress::State::running;
}

// Nothing: there is no list, or an entry of it is no page.
std::optional<std::vector<ParsedPage>> pages_of(const json::Value& body) {
  const auto* list = array_at(body, {"markdown", "pages"});
  if (list == nullptr) return std::nullopt;
  std::map<int, ParsedPage> pages;
  for (const auto& item : *list) {
    const auto number = count_at(item, {"page_number"});
    if (!number || *number < 1 || *number > kPageMax) return std::nullopt;
    const auto* success = told_at(item, {"success"});
    const auto* markdown = at(item, {"markdown"});
    ParsedPage page{.number = static_cast<int>(*number)};
    page.markdown = text_at(item, {"markdown"});
    // Where it is not told, an error that is told means that it failed.
    page.success = success == nullptr ? markdown != nullptr && markdown->is_string() &&
                                            error_at(item, {"error"}) == nullptr
                                      : success->is_bool() && success->get_bool();
    if (!page.success) page.error = one_line(text_at(item, {"error"}));
    if (!pages.emplace(page.number, page).second) return std::nullopt;
  }
  std::vector<ParsedPage> out;
  for (auto& [number, page] : pages) out.push_back(std::move(page));
  return out;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// "<!-- page", however it is spaced and written.
bool is_mark(std::string_view text) {
  constexpr std::string_view kPage = "page";
  auto at = std::min(text.find_first_not_of(" \t", 4), text.size());
  for (const char c : kPage) {
    if (at >= text.size() || lower(text[at++]) != c) return false;
  }
  return true;
}

std::string without_marks(std::string text) {
  constexpr std::string_view kOpen = "<!--";
  for (auto at = text.find(kOpen); at != text.npos; at = text.find(kOpen, at + kOpen.size())) {
    if (is_mark(std::string_view(text).substr(at))) text.insert(at + 2, " ");
  }
  return text;
}

}  // namespace

Result<void> check_options(const LlamaParseOptions& options) {
  const auto wrong = [&](std::string_view part, std::string_view rule) {
    return fail(ErrorKind::invalid_argument, fmt::format("{}.{} {}", options.name, part, rule));
  };
  MR_TRY_VOID(check_base_url(options.name + ".base_url", options.base_url, options.allow_http));
  MR_TRY_VOID(check_timeouts(options.name + ".timeouts", options.timeouts));
  if (options.api_key.reveal().empty()) return wrong("api_key", "is missing");
  if (options.tier.empty() || options.tier == "fast") {
    return wrong("tier", "must be one that makes Markdown: cost_effective, agentic, agentic_plus");
  }
  if (options.version.empty() || options.version == "latest") {
    return wrong("version", "must name a version of the parser; latest would move under you");
  }
  return ok();
}

LlamaParse::LlamaParse(http::Client& client, const Clock& clock, Random& random,
                       LlamaParseOptions options)
    : client_(client), clock_(clock), random_(random), options_(std::move(options)) {
  while (options_.base_url.ends_with('/')) options_.base_url.pop_back();
}

json::Object LlamaParse::configuration(const ParseCallback& callback) const {
  json::Object out{{"tier", options_.tier}, {"version", options_.version}};
  if (callback.url.empty()) return out;
  json::Object headers;
  if (!callback.header.first.empty()) headers[callback.header.first] = callback.header.second;
  json::Array events;
  for (const auto* event :
       {"parse.success", "parse.error", "parse.partial_success", "parse.cancelled"}) {
    events.emplace_back(event);
  }
  json::Array hooks;
  hooks.push_back(json::Object{{"webhook_url", callback.url},
                               {"webhook_events", std::move(events)},
                               {"webhook_headers", std::move(headers)},
                               {"webhook_output_format", "json"}});
  out["webhook_configurations"] = std::move(hooks);
  return out;
}

http::Request LlamaParse::request(std::string method, std::string path) const {
  return {.method = std::move(method),
          .url = options_.base_url + path,
          .headers = {{"Accept", "application/json"},
                      {"Authorization", "Bearer " + options_.api_key.reveal()}},
          .body = {},
          .service = options_.name};
}

http::Request LlamaParse::upload(ParseSource source, const ParseCallback& callback) const {
  auto out = request("POST", "/api/v2/parse/upload");
  add_form(out,
           {.field = {"configuration", to_json(configuration(callback))},
            .file_field = "file",
            .file_name = std::move(source.file_name),
            .content_type = std::move(source.content_type),
            .bytes = std::move(source.bytes),
            .size_bytes = source.size_bytes},
           random_);
  return out;
}

awaitable<Answer<std::string>> LlamaParse::ask(ParseSource source, ParseCallback callback,
                                               CancelToken cancel) const {
  http::Request out;
  if (source.url.empty()) {
    if (source.size_bytes > options_.upload_max_bytes) {
      co_return std::unexpected(CallFailure{
          .kind = CallFailure::Kind::permanent,
          .error_type = "too_large",
          .message = fmt::format("the document has {} bytes, {} takes {}", source.size_bytes,
                                 options_.name, options_.upload_max_bytes)});
    }
    out = upload(std::move(source), callback);
  } else {
    auto body = configuration(callback);
    body["source_url"] = source.url;
    out = request("POST", "/api/v2/parse");
    out.headers.emplace_back("Content-Type", "application/json");
    out.body = to_json(body);
  }
  auto response = co_await exchange(&client_, std::move(out), {.timeouts = options_.timeouts},
                                    std::move(cancel));
  if (!response) co_return std::unexpected(std::move(response).error());
  const auto body = body_json(*response, options_.response_max_bytes);
  if (response->status < 200 || response->status > 299) {
    co_return std::unexpected(read_refusal(*response, body, source.url));
  }
  // Version 2 has it at the top; the detail form below `job`.
  auto id = text_at(body, {"id"});
  if (id.empty()) id = text_at(body, {"job", "id"});
  if (!is_id(id)) {
    const CallContext context{.service = Service::parser, .name = options_.name};
    co_return std::unexpected(bad_answer(context, "no id of a parse", response->status));
  }
  co_return id;
}

awaitable<Answer<ParseProgress>> LlamaParse::look(std::string id, CancelToken cancel) const {
  if (!is_id(id)) {
    co_return std::unexpected(CallFailure{.kind = CallFailure::Kind::permanent,
                                          .error_type = "bad_request",
                                          .message = "this is no id of a parse"});
  }
  auto response = co_await exchange(
      &client_, request("GET", "/api/v2/parse/" + id + "?expand=markdown"),
      {.timeouts = options_.timeouts, .response_max_bytes = options_.response_max_bytes},
      std::move(cancel));
  if (!response) {
    auto failure = std::move(response).error();
    // Asking how far it is costs nothing and can be asked again.
    failure.maybe_charged = false;
    if (failure.kind == CallFailure::Kind::unknown) failure.kind = CallFailure::Kind::retry;
    co_return std::unexpected(std::move(failure));
  }
  const auto body = body_json(*response, options_.response_max_bytes);
  if (response->status != 200) co_return std::unexpected(read_refusal(*response, body, {}));
  const CallContext context{.service = Service::parser, .name = options_.name};
  const auto give_up = [&](std::string_view what) {
    auto failure = bad_answer(context, what, response->status);
    failure.maybe_charged = false;
    return std::unexpected(std::move(failure));
  };
  ParseProgress progress{.status = one_line(text_at(body, {"job", "status"}))};
  if (progress.status.empty()) co_return give_up("no status");
  progress.state = state_of(progress.status);
  if (progress.state == ParseProgress::State::failed) {
    progress.error = one_line(text_at(body, {"job", "error_message"}));
    if (progress.error.empty()) progress.error = progress.status;
  }
  if (progress.state == ParseProgress::State::completed) {
    auto pages = pages_of(body);
    if (!pages) co_return give_up("no pages");
    progress.pages = *std::move(pages);
  }
  co_return progress;
}

CallFailure LlamaParse::read_refusal(const http::Response& response, const json::Value& body,
                                     std::string_view secret) const {
  const auto secrets = std::to_array<std::string_view>({options_.api_key.reveal(), secret});
  const CallContext context{.service = Service::parser,
                            .name = options_.name,
                            .scrub = {.secrets = std::span(secrets).first(secret.empty() ? 1 : 2)}};
  auto refusal = parser_refusal(body, response.status);
  read_retry_headers(response, clock_.wall(), refusal);
  return refused(context, refusal);
}

std::string join_pages(const std::vector<ParsedPage>& pages) {
  std::string out;
  for (const auto& page : pages) {
    if (!page.success) continue;
    out += fmt::format("<!-- page {} -->\n\n", page.number);
    out += without_marks(page.markdown);
    while (out.ends_with('\n')) out.pop_back();
    out += "\n\n";
  }
  if (!out.empty()) out.pop_back();
  return out;
}

Refusal parser_refusal(const json::Value& body, int status) {
  Refusal refusal{.status = status};
  const auto* detail = at(body, {"detail"});
  if (detail != nullptr && detail->is_array() && !detail->get_array().empty()) {
    refusal.message = text_at(detail->get_array().front(), {"msg"});
  } else {
    refusal.message = text_at(body, {"detail"});
  }
  if (refusal.message.empty()) refusal.message = text_at(body, {"error", "message"});
  if (refusal.message.empty()) refusal.message = text_at(body, {"error"});
  for (auto word : {text_at(body, {"code"}), text_at(body, {"error", "code"})}) {
    if (!word.empty()) refusal.words.push_back(std::move(word));
  }
  return refusal;
}

}  // namespace millrace::provider
