#include "api/problem.h"

#include "api/rest/rest_error.h"
#include "api/storage/storage_error.h"
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
  if (!problem.errors.empty()) {
    body["message"] = "Invalid request";  // H-01
    body["details"] = errors_json(problem.errors);
  }
  body["code"] = problem.fault.code;
  body["cid"] = correlation_id;
  return Reply::json(body, problem.fault.status);
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

Fault fault_of(const Error& error, Form form) {
  switch (form) {
    case Form::plain:
    case Form::envelope:
      return fault_of(error);
    case Form::rest:
      return rest_fault(error);
    case Form::storage:
      return storage_fault(error);
  }
  std::unreachable();
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
