#include "api/pipeline.h"

#include "api/etag.h"
#include "api/stream/come_again.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

namespace millrace::api {
namespace {

Fault bad_request(std::string_view code, std::string detail, int status = 400) {
  return {.status = status, .code = code, .detail = std::move(detail)};
}

void write(Reply reply, http::ResponseWriter& response) {
  for (const auto& [name, value] : reply.headers) response.header(name, value);
  if (reply.content_type.empty()) {
    response.reply(reply.status);
  } else {
    response.reply(reply.status, reply.content_type, std::move(reply.body));
  }
}

// "application/json; charset=utf-8" → "application/json", as one of the list.
bool is_one_of(std::string_view header, const std::vector<std::string>& types) {
  auto type = header.substr(0, std::min(header.find(';'), header.size()));
  while (type.ends_with(' ')) type.remove_suffix(1);
  return std::ranges::any_of(
      types, [&](const auto& known) { return known == "*/*" || http::same_name(type, known); });
}

// PostgreSQL keeps no U+0000 in a text. Where it is, as a JSON pointer.
std::optional<std::string> find_nul(const json::Value& value, const std::string& at) {
  if (const auto* text = value.if_string()) {
    return text->find('\0') == text->npos ? std::nullopt : std::optional(at);
  }
  if (const auto* array = value.if_array()) {
    for (std::size_t i = 0; i < array->size(); ++i) {
      if (auto found = find_nul((*array)[i], fmt::format("{}/{}", at, i))) return found;
    }
  }
  if (const auto* object = value.if_object()) {
    for (const auto& [name, member] : *object) {
      if (name.find('\0') != name.npos) return at;
      if (auto found = find_nul(member, fmt::format("{}/{}", at, std::string_view(name)))) {
        return found;
      }
    }
  }
  return std::nullopt;
}

// What was answered the first time, with a header that says so.
Result<Reply> replay(const Operation& operation, store::KeptAnswer answer) {
  Reply reply;
  if (!answer.status) {
    if (!operation.replay) return fail(ErrorKind::internal, "an answer is kept as an effect");
    reply = operation.replay(std::move(answer.effect_json));
  } else {
    reply.status = *answer.status;
    reply.body = std::move(answer.body);
    MR_TRY(const auto headers, parse_json_object(answer.headers_json));
    for (const auto& [name, value] : headers) {
      if (!value.is_string()) continue;
      if (name == "content-type") {
        reply.content_type = value.get_string();
      } else {
        reply.headers.emplace_back(name, value.get_string());
      }
    }
  }
  return std::move(reply).with("Idempotent-Replayed", "true");
}

Fault precondition_failed(std::string detail) {
  return bad_request("precondition_failed", std::move(detail), 412);
}

// A change that was to happen only if a tag matches must not happen where none can (RFC 9110,
// 13.1.1). What has a version is compared where it is changed, in one transaction.
std::optional<ProblemDetails> check_condition(Call& call) {
  const auto wanted = call.request.header("if-match");
  const bool reads = call.request.method == "GET" || call.request.method == "HEAD";
  if (!wanted || reads) return std::nullopt;
  if (call.operation().guards_change) {
    call.if_match = versions_in(*wanted);
    return std::nullopt;
  }
  if (*wanted == "*") return std::nullopt;
  return ProblemDetails{.fault = precondition_failed("there is no entity tag here to match")};
}

// A key that is not kept must not look as if it were (a repeat would be done twice). PUT and DELETE
// may be repeated anyway; uploads read the key themselves.
bool loses_key(const Operation& operation) {
  if (operation.method != "POST" && operation.method != "PATCH") return false;
  return std::ranges::none_of(operation.parameters, [](const Parameter& parameter) {
    return parameter.in == In::header && parameter.name == "Idempotency-Key";
  });
}

// Where the database knows when there will be room again (MR044: tomorrow), it says so in DETAIL.
std::string retry_after_of(const Error& error) {
  constexpr std::size_t kDigitsMax = 7;
  if (error.sqlstate != "MR044") return "1";
  const bool seconds =
      !error.detail.empty() && error.detail.size() <= kDigitsMax &&
      std::ranges::all_of(error.detail, [](char c) { return c >= '0' && c <= '9'; });
  return seconds ? error.detail : "3600";
}

// A path parameter that people wrote, such as the name of a file.
bool has_private_path(const Operation& operation) {
  return std::ranges::any_of(operation.parameters, [](const Parameter& parameter) {
    return parameter.in == In::path && parameter.private_text;
  });
}

}  // namespace

Pipeline::Pipeline(OperationTable table, Parts parts, PipelineOptions options)
    : table_(std::move(table)),
      parts_(parts),
      options_(options),
      bodies_(std::make_unique<ByteBudget>(options.bodies_max_bytes)) {}

std::vector<http::Route> Pipeline::routes() const {
  std::vector<http::Route> routes;
  for (const auto& checked : table_.all()) {
    const auto& operation = checked->operation;
    http::RouteLimits limits;
    limits.body_max_bytes = operation.body ? operation.body_max_bytes : 0;
    limits.time_max = operation.time_max;
    limits.long_lived = operation.long_lived;
    routes.push_back(
        {.method = operation.method,
         .pattern = operation.path,
         .handler =
             [this, checked](http::ServerRequest& request, http::ResponseWriter& response) {
               return serve(*checked, request, response);
             },
         .limits = limits,
         .private_path = has_private_path(operation)});
  }
  return routes;
}

Task<void> Pipeline::serve(const CheckedOperation& checked, http::ServerRequest& request,
                           http::ResponseWriter& response) const {
  // Here, before anything carries the trace on: jobs of this request take the decision with them.
  if (parts_.tracer != nullptr) {
    request.trace.set_sampled(parts_.tracer->samples(request.trace));
  }
  Call call(checked, request, response);
  Refused refused;
  if (auto known = parts_.guard.admit_known(checked.operation.access, request)) {
    refused = let_in(call, *std::move(known));
  } else {
    MR_CO_TRY(refused, co_await admit(call));
  }
  if (!refused) {
    auto parameters = Parameters::read(checked, request);
    if (parameters) {
      call.parameters = *std::move(parameters);
      if (checked.operation.body) {
        MR_CO_TRY(refused, co_await read_body(call));
      }
    } else {
      refused =
          ProblemDetails{.fault = bad_request("invalid_parameter",
                                              "the request has parameters that are not valid"),
                         .errors = std::move(parameters).error()};
    }
  }
  if (!refused) refused = check_condition(call);
  if (!refused) refused = read_key(call);
  if (refused) {
    auto later = come_again(checked.operation, request, refused->fault.status);
    write(later ? *std::move(later)
                : problem_reply(*refused, checked.operation.form, request.correlation_id),
          response);
    co_return ok();
  }
  auto reply = co_await run(call);
  if (!reply) {
    // A stream that has begun cannot be taken back; cutting it tells the client. What is wrong with
    // a body that a handler reads is the server's to answer, as above.
    if (response.started() || call.body_failed) co_return fail(std::move(reply).error());
    const auto fault = fault_of(reply.error(), checked.operation.form);
    if (auto later = come_again(checked.operation, request, fault.status)) {
      log_error(reply.error(), fault, request);
      write(*std::move(later), response);
    } else {
      reply_error(reply.error(), request, response);
    }
    co_return ok();
  }
  if (!reply->streamed) write(finish(call, *std::move(reply)), response);
  co_return ok();
}

Task<Pipeline::Refused> Pipeline::read_body(Call& call) const {
  const auto& body = call.operation().body;
  if (!body) co_return std::nullopt;
  const auto type = call.request.header("content-type");
  if (type && !is_one_of(*type, body->content_types)) {
    std::string list;
    for (const auto& known : body->content_types) list += (list.empty() ? "" : ", ") + known;
    co_return ProblemDetails{
        .fault = bad_request("unsupported_media_type", "the Content-Type must be " + list, 415)};
  }
  const auto coding = call.request.header("content-encoding");
  if (coding && !http::same_name(*coding, "identity")) {
    co_return ProblemDetails{
        .fault = bad_request("unsupported_media_type", "the body must not be compressed", 415)};
  }
  if (body->kind == RequestBody::Kind::stream) co_return std::nullopt;
  MR_CO_TRY(auto refused, co_await read_text(call));
  if (refused) co_return refused;
  if (!type && !call.body_text.empty()) {
    co_return ProblemDetails{.fault =
                                 bad_request("unsupported_media_type",
                                             "the Content-Type must be application/json", 415)};
  }
  co_return check_body(call);
}

// What goes wrong while reading is the server's to answer: it knows whether the client was too
// slow, sent too much or has gone. Memory is counted as it is taken, so that who only announces
// much, or sends it slowly, keeps nobody out; small bodies are bounded by the number of
// connections.
Task<Pipeline::Refused> Pipeline::read_text(Call& call) const {
  constexpr std::uint64_t kStep = 16 * 1024;
  const auto length =
      call.request.body_length().value_or(std::numeric_limits<std::uint64_t>::max());
  auto& text = call.body_text;
  std::size_t size = 0;
  std::uint64_t counted = kStep;
  if (length <= kStep) {  // Most bodies came with their heads.
    text.resize(length);
    size = call.request.read_ready(std::span(text));
  }
  while (size < length) {
    const auto step = std::min<std::uint64_t>(length - size, std::max<std::uint64_t>(kStep, size));
    const auto more = std::max<std::uint64_t>(counted, size + step) - counted;
    if (more > 0 && !call.body_share.grow(*bodies_, more)) {
      call.response.header("Retry-After", "1");
      co_return ProblemDetails{
          .fault =
              bad_request("too_many_bodies",
                          "large requests take all the memory there is for them; try again", 503)};
    }
    counted += more;
    text.resize(size + step);
    MR_CO_TRY(const auto got, co_await call.request.read_body(std::span(text).subspan(size)));
    if (got == 0) break;
    size += got;
  }
  text.resize(size);
  co_return std::nullopt;
}

Pipeline::Refused Pipeline::check_body(Call& call) const {
  const auto& body = *call.operation().body;
  if (call.body_text.empty()) {
    if (body.required) {
      return ProblemDetails{.fault = bad_request("invalid_body", "the request needs a JSON body")};
    }
    call.body_text = "{}";
  }
  auto value = parse_json(call.body_text, {.max_bytes = call.operation().body_max_bytes});
  if (!value) return ProblemDetails{.fault = bad_request("invalid_json", value.error().message)};
  call.body = *std::move(value);
  if (call.body_text.contains("\\u0000")) {
    if (const auto at = find_nul(call.body, "")) {
      return ProblemDetails{
          .fault = bad_request("invalid_body", "the body breaks rules of its schema"),
          .errors = {{.pointer = "#" + *at, .rule = "nul", .detail = "text must not hold U+0000"}}};
    }
  }
  const auto violations = call.checked.body_schema->validate(call.body);
  if (violations.empty()) return std::nullopt;
  return ProblemDetails{.fault = bad_request("invalid_body", "the body breaks rules of its schema"),
                        .errors = body_errors(violations)};
}

Pipeline::Refused Pipeline::read_key(Call& call) const {
  const auto header = call.request.header("idempotency-key");
  if (!header) return std::nullopt;
  if (!call.operation().idempotency_key) {
    if (!loses_key(call.operation())) return std::nullopt;
    return ProblemDetails{
        .fault = bad_request("idempotency_not_supported",
                             "this operation keeps no Idempotency-Key: send it without one")};
  }
  auto key = parse_idempotency_key(*header);
  if (!key) {
    return ProblemDetails{.fault = bad_request("invalid_parameter", key.error().message),
                          .errors = {{.in = In::header,
                                      .name = "Idempotency-Key",
                                      .rule = "form",
                                      .detail = key.error().message}}};
  }
  call.key = IdempotencyKey{.key = *std::move(key),
                            .fingerprint = fingerprint_of({.method = call.request.method,
                                                           .path = call.request.path,
                                                           .query = call.request.query,
                                                           .body = call.body_text})};
  return std::nullopt;
}

Task<Reply> Pipeline::run(Call& call) const {
  if (call.key && parts_.requests != nullptr) return run_once(call);
  return call.operation().handler(call);
}

// The draft's three cases: under way 409, another request 422, done: the same answer again.
Task<Reply> Pipeline::run_once(Call& call) const {
  const auto& operation = call.operation();
  call.request_key = {.scope = operation.id, .key = call.key->key};
  MR_CO_TRY(auto begun,
            co_await parts_.requests->begin_request(
                call.context(), operation.id, call.key->key,
                std::string(identity::bytes_of(call.key->fingerprint)), store::RequestTimes{}));
  using State = store::RequestBegun::State;
  if (begun.state == State::running) {
    call.response.header("Retry-After", std::to_string(begun.retry_after.count()));
    co_return fail(ErrorKind::conflict,
                   "a request with this Idempotency-Key is under way; try again later");
  }
  if (begun.state == State::mismatch) {
    co_return fail(Error{.kind = ErrorKind::conflict,
                         .message = "the Idempotency-Key was used before with another request",
                         .sqlstate = "MR011"});
  }
  if (begun.state == State::done) co_return replay(operation, std::move(begun.answer));
  call.request_key.token = begun.token;
  auto reply = co_await operation.handler(call);
  if (!reply) {
    // Nothing was done, so the key is free again; where that is not known it stays until its lease
    // has ended.
    if (reply.error().kind != ErrorKind::in_doubt) {
      (void)co_await parts_.requests->release_request(call.context(), call.request_key);
    }
    co_return reply;
  }
  if (!operation.replay) {
    MR_CO_TRY_VOID(co_await keep(call, *reply));
  } else if (reply->status >= 400) {
    // The handler refused it before it asked the database.
    (void)co_await parts_.requests->release_request(call.context(), call.request_key);
  }
  co_return reply;
}

Task<void> Pipeline::keep(Call& call, const Reply& reply) const {
  json::Object headers;
  for (const auto& [name, value] : reply.headers) headers[name] = value;
  headers["content-type"] = reply.content_type;
  store::KeptAnswer answer{.status = reply.status,
                           .headers_json = to_json(headers),
                           .body = reply.body,
                           .effect_json = {}};
  co_return co_await parts_.requests->finish_request(call.context(), call.request_key,
                                                     std::move(answer));
}

Reply Pipeline::finish(Call& call, Reply reply) const {
  const auto& operation = call.operation();
  const bool success = reply.status >= 200 && reply.status < 300;
  if (operation.form == Form::envelope && success && reply.content_type == kJsonType) {
    reply.body = fmt::format(R"({{"data":{}}})", reply.body);
  }
  if (!operation.conditional || reply.status != 200) return reply;
  auto tag = etag_of(reply.body, reply.version);
  const auto wanted = call.request.header("if-match");
  if (wanted && !names_tag(*wanted, tag, false)) {
    return problem_reply({.fault = precondition_failed("it has changed since")}, operation.form,
                         call.request.correlation_id);
  }
  const auto condition = call.request.header("if-none-match");
  const bool known = condition && names_tag(*condition, tag, true);
  if (known) reply = Reply{.status = 304, .headers = std::move(reply.headers)};
  reply.headers.reserve(reply.headers.size() + 2);
  // One answer per caller, and asked for again before each use: a shared cache keeps nothing.
  const bool guarded = operation.access.guarded();
  return std::move(reply)
      .with("ETag", std::move(tag))
      .with("Cache-Control", guarded ? "private, no-cache" : "no-cache");
}

void Pipeline::reply_error(const Error& error, const http::ServerRequest& request,
                           http::ResponseWriter& response) const {
  auto form = Form::plain;
  for (const auto& checked : table_.all()) {
    if (checked->operation.path == request.route) form = checked->operation.form;
  }
  const auto fault = fault_of(error, form);
  log_error(error, fault, request);
  if (fault.status == 429 || fault.status == 503) {
    response.header("Retry-After", retry_after_of(error));
  }
  write(problem_reply({.fault = fault, .cause = error}, form, request.correlation_id), response);
}

void Pipeline::log_error(const Error& error, const Fault& fault,
                         const http::ServerRequest& request) const {
  if (fault.status < 500) return;
  parts_.metrics.count_error(to_string(error.kind));
  parts_.log.warn("request_failed", {{"route", request.route},
                                     {"cid", request.correlation_id},
                                     {"kind", to_string(error.kind)},
                                     {"sqlstate", error.sqlstate},
                                     {"error", error.message}});
}

void Pipeline::reply_refused(const http::Problem& problem, http::ResponseWriter& response) {
  const auto code = [&]() -> std::string_view {
    switch (problem.status) {
      case 404:
        return "no_such_path";
      case 405:
        return "method_not_allowed";
      case 408:
        return "too_slow";
      case 411:
        return "length_required";
      case 413:
        return "too_large";
      case 414:
        return "too_long";
      case 431:
        return "too_many_headers";
      case 500:
        return "internal";
      case 503:
        return "unavailable";
      case 504:
        return "in_doubt";
      default:
        return "bad_request";
    }
  }();
  const Fault fault{.status = problem.status, .code = code, .detail = std::string(problem.detail)};
  write(problem_reply({.fault = fault}, Form::plain, problem.correlation_id), response);
}

}  // namespace millrace::api
