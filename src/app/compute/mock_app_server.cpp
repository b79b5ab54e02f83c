#include "app/compute/mock_app_server.h"

#include "app/compute/compute_outcome.h"
#include "app/compute/mock_solvers.h"
#include "base/either.h"
#include "blob/digest.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace millrace::app {

using namespace either;
using std::chrono::milliseconds;

namespace {

constexpr std::size_t kKeysMax = 100'000;
constexpr int kExitCrashed = 70;
constexpr std::chrono::seconds kDrawingKept{86'400};

json::Object error_body(std::string_view error, std::string_view detail) {
  return {{"error", error}, {"detail", detail}, {"solver", kMockSolver}};
}

json::Array violations_json(const std::vector<schema::Violation>& violations) {
  json::Array out;
  for (const auto& violation : violations) {
    out.push_back(json::Object{{"pointer", violation.instance_path},
                               {"rule", violation.keyword},
                               {"detail", violation.message}});
  }
  return out;
}

// Names of rules, each once: what is logged of a question says nothing about its values.
std::string rules_of(const std::vector<schema::Violation>& violations) {
  std::set<std::string_view> names;
  for (const auto& violation : violations) names.insert(violation.keyword);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::optional<milliseconds> asked_timeout(const http::ServerRequest& request) {
  const auto header = request.header("x-millrace-timeout-ms");
  if (!header) return std::nullopt;
  std::int64_t ms = 0;
  const auto read = std::from_chars(header->data(), header->data() + header->size(), ms);
  if (read.ec != std::errc{} || ms <= 0) return std::nullopt;
  return milliseconds(ms);
}

}  // namespace

struct MockAppServer::Question {
  api::ContractName name;
  json::Value inputs;
  std::string behaviour = "ok";
  milliseconds delay{0};
};

struct MockAppServer::Answer {
  int status = 200;
  json::Object body;
  std::string content_type = "application/json";
};

std::vector<http::Route> MockAppServer::routes() {
  std::vector<http::Route> out;
  out.push_back(
      {.method = "POST",
       .pattern = "/gh/{contract}/solve",
       .handler = [this](http::ServerRequest& request,
                         http::ResponseWriter& response) { return serve(request, response); },
       .limits = {.time_max = options_.timeout + milliseconds(10'000)}});
  out.push_back({.method = "GET",
                 .pattern = "/livez",
                 .handler = [](http::ServerRequest&, http::ResponseWriter& response) -> Task<void> {
                   response.reply(200, "text/plain", "ok\n");
                   co_return ok();
                 }});
  return out;
}

bool MockAppServer::is_first(const std::string& key) {
  const std::lock_guard lock(mutex_);
  if (!seen_.insert(key).second) return false;
  seen_in_order_.push_back(key);
  if (seen_in_order_.size() > kKeysMax) {
    seen_.erase(seen_in_order_.front());
    seen_in_order_.pop_front();
  }
  return true;
}

Task<void> MockAppServer::serve(http::ServerRequest& request, http::ResponseWriter& response) {
  response.header("X-Millrace-Mock", "true");
  const auto refuse = [&](int status, std::string_view error, std::string_view detail) {
    response.reply(status, "application/json", to_json(error_body(error, detail)));
  };
  const auto contract_name = request.parameter("contract");
  const auto colon = contract_name.rfind(':');
  Question question;
  if (colon != contract_name.npos) {
    question.name.definition = contract_name.substr(0, colon);
    question.name.version = contract_name.substr(colon + 1);
  }
  const auto contract = contracts_.find(question.name);
  if (contract == nullptr ||
      find_solver(question.name.definition, question.name.version) == nullptr) {
    refuse(404, "unknown_definition", "this mock cannot compute that definition and version");
    co_return ok();
  }
  const auto label = fmt::format("{}@{}", question.name.definition, question.name.version);
  MR_CO_TRY(const auto text, co_await request.read_whole_body());
  auto value = parse_json(text);
  if (!value) {
    refuse(400, "invalid_json", value.error().message);
    co_return ok();
  }
  auto checked = contract->check_inputs(*std::move(value));
  if (!checked || !checked->violations.empty()) {
    auto body = error_body("invalid_inputs", "the inputs break their contract");
    if (checked) body["errors"] = violations_json(checked->violations);
    const auto rules = checked ? rules_of(checked->violations) : std::string("limit");
    log_.info("solve.invalid",
              {{"cid", request.correlation_id}, {"definition", label}, {"rules", rules}});
    response.reply(422, "application/json", to_json(body));
    co_return ok();
  }
  question.inputs = std::move(checked->value);
  if (const auto* simulate = question.inputs.as_object().if_contains("simulate")) {
    const auto& wanted = simulate->as_object();
    if (const auto* answer = wanted.if_contains("answer")) question.behaviour = answer->as_string();
    if (const auto* delay = wanted.if_contains("delay_ms")) {
      question.delay = milliseconds(delay->to_number<std::int64_t>());
    }
  }
  const auto began = clock_.now();
  log_.info("solve.start", {{"cid", request.correlation_id}, {"definition", label}});
  auto replied = co_await reply(question, request, response);
  log_.info("solve.done", {{"cid", request.correlation_id},
                           {"definition", label},
                           {"behaviour", question.behaviour},
                           {"ms", clock_.now() - began}});
  co_return replied;
}

Task<void> MockAppServer::reply(const Question& question, const http::ServerRequest& request,
                                http::ResponseWriter& response) {
  // The same for every delivery of a job; a caller without one is always new.
  const auto key = std::string(request.header("idempotency-key").value_or(""));
  const auto& behaviour = question.behaviour;
  const bool once = options_.throttle_once || behaviour.ends_with("_once");
  const bool first = once && (key.empty() || is_first(key));
  if (first && (options_.throttle_once || behaviour == "throttle_once")) {
    response.header("Retry-After", "1");
    response.reply(429, "application/json", to_json(error_body("busy", "come back in a second")));
    co_return ok();
  }
  const auto limit = std::min(options_.timeout, asked_timeout(request).value_or(options_.timeout));
  if (question.delay > milliseconds(0)) {
    co_await clock_.sleep_for(std::min(question.delay, limit));
  }
  if (question.delay > limit) {
    response.reply(504, "application/json",
                   to_json(error_body("timeout", "it took longer than it may")));
    co_return ok();
  }
  const auto answer = answer_to(question);
  if (answer.status == 422) {
    log_.info(
        "solve.invalid",
        {{"cid", request.correlation_id},
         {"definition", fmt::format("{}@{}", question.name.definition, question.name.version)},
         {"rules", "domain"}});
  }
  const auto body = to_json(answer.body);
  if (behaviour == "crash" || (behaviour == "crash_once" && first)) {
    if (options_.exit_on_crash) std::_Exit(kExitCrashed);
    // The beginning of an answer, and then nothing: the connection is cut.
    MR_CO_TRY_VOID(co_await response.start(answer.status, answer.content_type, body.size()));
    MR_CO_TRY_VOID(co_await response.write(std::string_view(body).substr(0, body.size() / 2)));
    co_return fail(ErrorKind::internal, "crashed, as it was asked to");
  }
  response.reply(answer.status, answer.content_type, body);
  co_return ok();
}

MockAppServer::Answer MockAppServer::answer_to(const Question& question) const {
  const auto solver = find_solver(question.name.definition, question.name.version);
  auto solved = solver(question.inputs.as_object());
  if (!solved) {
    auto body = error_body("domain", solved.error().detail);
    body["errors"] = json::Array{json::Object{{"pointer", solved.error().pointer},
                                              {"rule", "domain"},
                                              {"detail", solved.error().detail}}};
    return {.status = 422, .body = std::move(body)};
  }
  if (question.behaviour == "invalid") solved->outputs["score"] = "not a number";
  if (solved->drawing_svg.empty()) return {.body = std::move(solved->outputs)};
  const auto score = solved->outputs.at("score");
  return {
      .body = {{"outputs", std::move(solved->outputs)},
               {"score", score},
               {"artifacts", json::Array{json::Object{
                                 {"kind", "drawing"},
                                 {"file_name", "tour.svg"},
                                 {"content_type", "image/svg+xml"},
                                 {"data", blob::to_base64(std::string_view(solved->drawing_svg))},
                                 {"expires_in_seconds", kDrawingKept.count()}}}}},
      .content_type = std::string(kOutputsType)};
}

}  // namespace millrace::app
