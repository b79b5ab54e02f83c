#include "api/openapi.h"

#include "base/assert.h"
#include "http/response.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace millrace::api {
namespace {

json::Value schema_of(const OperationTable& table, const std::string& schema) {
  auto value = table.schema_value(schema);
  MR_ASSERT(value.has_value());  // The table compiled it.
  return *std::move(value);
}

json::Object text_header(std::string_view description) {
  return {{"description", description}, {"schema", json::Object{{"type", "string"}}}};
}

json::Array parameters_of(const CheckedOperation& checked) {
  const auto& operation = checked.operation;
  json::Array out;
  for (const auto& [parameter, schema, type] : checked.parameters) {
    json::Object entry{{"name", parameter.name},
                       {"in", to_string(parameter.in)},
                       {"description", parameter.description},
                       {"required", parameter.required},
                       {"schema", schema.document()}};
    if (type == "array") {
      entry["style"] = "form";
      entry["explode"] = false;
    }
    // OpenAPI has no word for a parameter that takes slashes too.
    if (operation.path.contains("{" + parameter.name + "...}")) {
      entry["x-millrace-rest-of-path"] = true;
    }
    out.push_back(std::move(entry));
  }
  if (operation.idempotency_key) {
    out.push_back(json::Object{
        {"name", "Idempotency-Key"},
        {"in", "header"},
        {"description",
         "Makes the request repeatable: the same key and request get the same answer, for a day."},
        {"required", false},
        {"schema", json::Object{{"type", "string"}, {"minLength", 1}, {"maxLength", 257}}}});
  }
  if (operation.guards_change) {
    out.push_back(json::Object{
        {"name", "If-Match"},
        {"in", "header"},
        {"description", "The ETag of what was read: 412 when it has been changed since."},
        {"required", false},
        {"schema", json::Object{{"type", "string"}}}});
  }
  if (operation.conditional) {
    out.push_back(json::Object{
        {"name", "If-None-Match"},
        {"in", "header"},
        {"description", "The ETag of an earlier answer: 304 while nothing has changed."},
        {"required", false},
        {"schema", json::Object{{"type", "string"}}}});
  }
  return out;
}

json::Object body_of(const OperationTable& table, const Operation& operation) {
  json::Object content;
  for (const auto& type : operation.body->content_types) {
    json::Object media;
    if (!operation.body->schema.empty()) media["schema"] = schema_of(table, operation.body->schema);
    content[type] = std::move(media);
  }
  return {{"required", operation.body->required}, {"content", std::move(content)}};
}

std::string_view error_schema(Form form) {
  switch (form) {
    case Form::plain:
      return "Problem";
    case Form::envelope:
      return "EnvelopeError";
    case Form::rest:
      return "RestError";
    case Form::storage:
      return "StorageError";
  }
  std::unreachable();
}

json::Object problem_content(const Operation& operation) {
  const auto reference = fmt::format("#/components/schemas/{}", error_schema(operation.form));
  return {{operation.form == Form::plain ? "application/problem+json" : "application/json",
           json::Object{{"schema", json::Object{{"$ref", reference}}}}}};
}

json::Object answer_of(const OperationTable& table, const Operation& operation,
                       const Answer& answer) {
  json::Object entry{{"description", answer.description}};
  json::Object headers{{"x-correlation-id", text_header("The id of this request in all logs.")}};
  if (operation.conditional && answer.status == 200) {
    headers["ETag"] = text_header("For If-None-Match.");
  }
  if (operation.access.guarded() && operation.rate_limited) {
    headers["RateLimit"] = text_header("What is left of the tenant's requests.");
    headers["RateLimit-Policy"] = text_header("How many requests the tenant has.");
  }
  entry["headers"] = std::move(headers);
  if (!answer.schema.empty() || answer.content_type != kJsonType) {
    json::Object media;
    if (!answer.schema.empty()) {
      auto schema = schema_of(table, answer.schema);
      if (operation.form == Form::envelope && answer.status < 300 &&
          answer.content_type == kJsonType) {
        schema = json::Object{{"type", "object"},
                              {"required", json::Array{"data"}},
                              {"properties", json::Object{{"data", std::move(schema)}}}};
      }
      media["schema"] = std::move(schema);
    }
    entry["content"] = json::Object{{answer.content_type, std::move(media)}};
  }
  return entry;
}

json::Object answers_of(const OperationTable& table, const Operation& operation) {
  json::Object out;
  for (const auto& answer : operation.answers) {
    auto entry = answer_of(table, operation, answer);
    auto& slot = out[std::to_string(answer.status)];
    if (!slot.is_object()) {
      slot = std::move(entry);
    } else if (auto* content = entry.if_contains("content")) {
      // The same status with another kind of body.
      auto& known = slot.get_object()["content"];
      if (!known.is_object()) known = json::Object();
      for (auto& [type, media] : content->as_object()) known.get_object()[type] = media;
    }
  }
  if (operation.conditional) {
    out["304"] = json::Object{{"description", "Nothing has changed."}};
  }
  for (const int status : error_statuses(operation)) {
    const auto name = std::to_string(status);
    if (out.contains(name)) continue;
    out[name] = json::Object{{"description", http::reason_phrase(status)},
                             {"content", problem_content(operation)}};
  }
  out["default"] =
      json::Object{{"description", "Any other error."}, {"content", problem_content(operation)}};
  return out;
}

json::Array security_of(const Access& access) {
  json::Array out;
  if (!access.guarded()) return out;
  out.push_back(json::Object{{"bearer", json::Array{}}});
  out.push_back(json::Object{{"apikey", json::Array{}}});
  if (access.kind() == Access::Kind::stream) {
    out.push_back(json::Object{{"stream_token", json::Array{}}});
  }
  return out;
}

json::Object operation_of(const OperationTable& table, const CheckedOperation& checked) {
  const auto& operation = checked.operation;
  json::Object out{{"operationId", operation.id},
                   {"tags", json::Array{operation.tag}},
                   {"summary", operation.summary}};
  if (!operation.description.empty()) out["description"] = operation.description;
  out["security"] = security_of(operation.access);
  out["x-millrace-access"] = to_string(operation.access.kind());
  if (operation.access.guarded()) {
    json::Array roles;
    for (const auto role : operation.access.roles()) roles.emplace_back(identity::to_string(role));
    out["x-millrace-roles"] = std::move(roles);
    if (operation.access.kind() != Access::Kind::database) {
      out["x-millrace-capability"] = identity::to_string(operation.access.capability());
    }
    out["x-millrace-all-tenants"] = operation.access.confinement() == Confinement::installation;
  }
  if (operation.long_lived) out["x-millrace-long-lived"] = true;
  if (auto parameters = parameters_of(checked); !parameters.empty()) {
    out["parameters"] = std::move(parameters);
  }
  if (operation.body) {
    out["requestBody"] = body_of(table, operation);
    out["x-millrace-body-max-bytes"] = operation.body_max_bytes;
  }
  out["responses"] = answers_of(table, operation);
  return out;
}

json::Object security_schemes() {
  return {
      {"bearer", json::Object{{"type", "http"},
                              {"scheme", "bearer"},
                              {"description", "A JWT, or an API key that begins with mr_."}}},
      {"apikey", json::Object{{"type", "apiKey"},
                              {"in", "header"},
                              {"name", "apikey"},
                              {"description", "An API key or a JWT, as supabase-js sends it."}}},
      {"stream_token",
       json::Object{{"type", "apiKey"},
                    {"in", "query"},
                    {"name", "token"},
                    {"description", "A stream token for this path, for EventSource."}}}};
}

// "/files/{path...}" → "/files/{path}": OpenAPI has no word for the rest of a path.
std::string documented_path(std::string path) {
  for (auto dots = path.find("...}"); dots != path.npos; dots = path.find("...}")) {
    path.erase(dots, 3);
  }
  return path;
}

}  // namespace

std::vector<int> error_statuses(const Operation& operation) {
  std::set<int> statuses(operation.errors.begin(), operation.errors.end());
  statuses.insert({400, 408, 500, 503, 504});
  if (operation.access.guarded()) statuses.insert({401, 403, 429});
  if (operation.conditional || operation.method != "GET") statuses.insert(412);
  if (operation.path.contains('{')) statuses.insert(404);
  if (operation.body) statuses.insert({413, 415});
  if (operation.idempotency_key) statuses.insert({409, 422});
  return {statuses.begin(), statuses.end()};
}

json::Object make_openapi(const OperationTable& table, const ApiInfo& info) {
  json::Object paths;
  std::set<std::string> tags;
  for (const auto& checked : table.all()) {
    const auto& operation = checked->operation;
    auto& path = paths[documented_path(operation.path)];
    if (!path.is_object()) path = json::Object();
    std::string method = operation.method;
    std::ranges::transform(method, method.begin(),
                           [](char c) { return static_cast<char>(c | 0x20); });
    path.get_object()[method] = operation_of(table, *checked);
    tags.insert(operation.tag);
  }
  json::Array tag_list;
  for (const auto& tag : tags) tag_list.push_back(json::Object{{"name", tag}});
  json::Object components = table.components();
  components["securitySchemes"] = security_schemes();
  return {{"openapi", "3.1.0"},
          {"info", json::Object{{"title", info.title},
                                {"version", info.version},
                                {"description", info.description}}},
          {"jsonSchemaDialect", "https://json-schema.org/draft/2020-12/schema"},
          {"tags", std::move(tag_list)},
          {"paths", std::move(paths)},
          {"components", std::move(components)}};
}

}  // namespace millrace::api
