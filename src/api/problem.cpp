#include "api/problem.h"

#include "http/response.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <utility>

namespace millrace::api {
namespace {

constexpr std::string_view kQuotaType =
    "https://iana.org/assignments/http-problem-types#quota-exceeded";

json::Array errors_json(const std::vector<FieldError>& errors) {
  json::Array out;
  for (const auto& error : errors) {
    json::Object entry{{"detail", error.detail}};
    if (error.name.empty()) {
      entry["pointer"] = error.pointer;
    } else {
      entry[to_string(error.in) == "header" ? "header" : "parameter"] = error.name;
    }
    if (!error.rule.empty()) entry["rule"] = error.rule;
    out.push_back(std::move(entry));
  }
  return out;
}

Reply envelope_reply(const ProblemDetails& problem, std::string_view correlation_id) {
  json::Object body{{"status", problem.fault.status}, {"message", problem.fault.detail}};
  if (!problem.errors.empty()) body["details"] = errors_json(problem.errors);
  body["code"] = problem.fault.code;
  body["cid"] = correlation_id;
  return Reply::json(body, problem.fault.status);
}

// PostgREST's own codes for what it refuses before it asks the database.
std::string_view rest_code(const Fault& fault) {
  switch (fault.status) {
    case 400:
      return "PGRST100";
    case 401:
      return "PGRST301";
    case 403:
      return "42501";
    case 404:
      return "PGRST205";
    case 415:
      return "PGRST107";
    case 503:
      return "PGRST001";
    default:
      return fault.code;
  }
}

// What was wrong, one line per rule; null when there is nothing to say.
json::Value rest_details(const std::vector<FieldError>& errors) {
  std::string lines;
  for (const auto& error : errors) lines += (lines.empty() ? "" : "\n") + error.detail;
  return lines.empty() ? json::Value(nullptr) : json::Value(lines);
}

Reply rest_reply(const ProblemDetails& problem, std::string_view correlation_id) {
  const auto& fault = problem.fault;
  return Reply::json(json::Object{{"code", rest_code(fault)},
                                  {"message", fault.detail},
                                  {"details", rest_details(problem.errors)},
                                  {"hint", nullptr},
                                  {"cid", correlation_id}},
                     fault.status);
}

Reply storage_reply(const ProblemDetails& problem, std::string_view correlation_id) {
  const auto& fault = problem.fault;
  return Reply::json(json::Object{{"statusCode", std::to_string(fault.status)},
                                  {"error", fault.code},
                                  {"message", fault.detail},
                                  {"cid", correlation_id}},
                     fault.status);
}

Reply plain_reply(const ProblemDetails& problem, std::string_view correlation_id) {
  const auto& fault = problem.fault;
  json::Object body;
  body["type"] = problem.policy.empty() ? fmt::format("urn:millrace:problem:{}", fault.code)
                                        : std::string(kQuotaType);
  body["title"] = http::reason_phrase(fault.status);
  body["status"] = fault.status;
  body["detail"] = fault.detail;
  body["code"] = fault.code;
  body["cid"] = correlation_id;
  if (!problem.errors.empty()) body["errors"] = errors_json(problem.errors);
  if (!problem.policy.empty()) body["violated-policies"] = json::Array{problem.policy};
  return {
      .status = fault.status, .content_type = "application/problem+json", .body = to_json(body)};
}

}  // namespace

std::vector<FieldError> body_errors(const std::vector<schema::Violation>& violations) {
  std::vector<FieldError> out;
  for (const auto& violation : violations) {
    out.push_back({.pointer = "#" + violation.instance_path,
                   .rule = violation.keyword,
                   .detail = violation.message});
  }
  return out;
}

Reply problem_reply(const ProblemDetails& problem, Form form, std::string_view correlation_id) {
  switch (form) {
    case Form::plain:
      return plain_reply(problem, correlation_id);
    case Form::envelope:
      return envelope_reply(problem, correlation_id);
    case Form::rest:
      return rest_reply(problem, correlation_id);
    case Form::storage:
      return storage_reply(problem, correlation_id);
  }
  std::unreachable();
}

}  // namespace millrace::api
