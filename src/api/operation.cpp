#include "api/operation.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace millrace::api {
namespace {

constexpr std::string_view kDocumentUri = "millrace:openapi";
constexpr std::array<std::string_view, 7> kMethods = {"GET",   "HEAD",   "POST",   "PUT",
                                                      "PATCH", "DELETE", "OPTIONS"};

std::unexpected<Error> wrong(std::string_view id, std::string_view rule) {
  return fail(ErrorKind::invalid_argument, fmt::format("operation {}: {}", id, rule));
}

bool is_json(std::string_view schema) { return schema.starts_with('{'); }

// The names between braces, without the dots of {path...}.
std::vector<std::string> path_parameters(std::string_view path) {
  std::vector<std::string> names;
  for (;;) {
    const auto begin = path.find('{');
    const auto end = path.find('}');
    if (begin == path.npos || end == path.npos || end < begin) return names;
    auto name = path.substr(begin + 1, end - begin - 1);
    if (name.ends_with("...")) name.remove_suffix(3);
    names.emplace_back(name);
    path.remove_prefix(end + 1);
  }
}

std::string type_of(const json::Value& schema) {
  const auto* object = schema.if_object();
  const auto* type = object == nullptr ? nullptr : object->if_contains("type");
  return type != nullptr && type->is_string() ? std::string(type->get_string()) : "string";
}

Result<void> check_words(const Operation& operation) {
  const auto& id = operation.id;
  if (id.empty()) return wrong(operation.path, "needs an id");
  if (operation.summary.empty() || operation.tag.empty()) return wrong(id, "needs summary and tag");
  if (!operation.handler) return wrong(id, "needs a handler");
  if (std::ranges::find(kMethods, operation.method) == kMethods.end()) {
    return wrong(id, "has an unknown method");
  }
  if (operation.conditional && operation.method != "GET") {
    return wrong(id, "only a GET can be conditional");
  }
  if (operation.guards_change && operation.method == "GET") {
    return wrong(id, "a GET changes nothing that If-Match could guard");
  }
  if (operation.idempotency_key && operation.method != "POST") {
    return wrong(id, "only a POST takes an Idempotency-Key");
  }
  if (operation.answers.empty()) return wrong(id, "needs an answer");
  return ok();
}

}  // namespace

Result<OperationTable> OperationTable::make(std::vector<Operation> operations,
                                            std::map<std::string, std::string> components) {
  OperationTable table;
  json::Object schemas;
  for (const auto& [name, text] : components) {
    auto value = parse_json(text);
    if (!value) return fail_with_context(fmt::format("schema {}", name), value.error());
    schemas[name] = *std::move(value);
  }
  table.components_["schemas"] = std::move(schemas);
  for (const auto& [name, text] : components) {
    auto compiled = table.compile(name);
    if (!compiled) return fail_with_context(fmt::format("schema {}", name), compiled.error());
  }
  std::set<std::string> ids;
  for (auto& operation : operations) {
    if (!ids.insert(operation.id).second) return wrong(operation.id, "is there twice");
    MR_TRY(auto checked, table.check(std::move(operation)));
    table.operations_.push_back(std::make_shared<const CheckedOperation>(std::move(checked)));
  }
  return table;
}

const CheckedOperation* OperationTable::find(std::string_view id) const {
  for (const auto& checked : operations_) {
    if (checked->operation.id == id) return checked.get();
  }
  return nullptr;
}

Result<json::Value> OperationTable::schema_value(const std::string& schema) const {
  if (is_json(schema)) return parse_json(schema);
  if (!components_.at("schemas").as_object().contains(schema)) {
    return fail(ErrorKind::invalid_argument, fmt::format("there is no schema {}", schema));
  }
  return json::Value{{"$ref", fmt::format("#/components/schemas/{}", schema)}};
}

Result<schema::Schema> OperationTable::compile(const std::string& schema) const {
  schema::SchemaOptions options;
  options.assert_formats = true;
  if (!is_json(schema)) {
    MR_TRY_VOID(schema_value(schema));
    options.documents[std::string(kDocumentUri)] =
        json::Value(json::Object{{"components", components_}});
    return schema::Schema::compile(
        json::Value{{"$ref", fmt::format("{}#/components/schemas/{}", kDocumentUri, schema)}},
        std::move(options));
  }
  MR_TRY(auto value, parse_json(schema));
  // References of a schema that stands alone are meant for the components too.
  if (schema.contains("\"$ref\"")) value.as_object()["components"] = components_;
  return schema::Schema::compile(std::move(value), std::move(options));
}

Result<CheckedOperation> OperationTable::check(Operation operation) const {
  MR_TRY_VOID(check_words(operation));
  const auto& id = operation.id;
  MR_TRY(auto parameters, check_parameters(operation));
  std::optional<schema::Schema> body_schema;
  if (operation.body && operation.body->kind == RequestBody::Kind::json) {
    auto compiled = compile(operation.body->schema);
    if (!compiled) return fail_with_context(fmt::format("operation {}", id), compiled.error());
    body_schema = *std::move(compiled);
  }
  for (const auto& answer : operation.answers) {
    if (answer.schema.empty()) continue;
    auto compiled = compile(answer.schema);
    if (!compiled) return fail_with_context(fmt::format("operation {}", id), compiled.error());
  }
  return CheckedOperation{.operation = std::move(operation),
                          .parameters = std::move(parameters),
                          .body_schema = std::move(body_schema)};
}

Result<std::vector<CheckedParameter>> OperationTable::check_parameters(
    const Operation& operation) const {
  const auto in_path = path_parameters(operation.path);
  std::vector<CheckedParameter> out;
  std::set<std::pair<In, std::string>> seen;
  for (auto parameter : operation.parameters) {
    const auto where = fmt::format("operation {}: parameter {}", operation.id, parameter.name);
    if (!seen.emplace(parameter.in, parameter.name).second) {
      return fail(ErrorKind::invalid_argument, where + " is there twice");
    }
    if (parameter.in == In::path) {
      parameter.required = true;
      if (std::ranges::find(in_path, parameter.name) == in_path.end()) {
        return fail(ErrorKind::invalid_argument, where + " is not in the path");
      }
    }
    auto compiled = compile(parameter.schema);
    if (!compiled) return fail_with_context(where, compiled.error());
    MR_TRY(const auto value, parse_json(parameter.schema));
    auto type = type_of(value);
    out.push_back({.parameter = std::move(parameter),
                   .schema = *std::move(compiled),
                   .type = std::move(type)});
  }
  for (const auto& name : in_path) {
    if (!seen.contains({In::path, name})) {
      return wrong(operation.id, fmt::format("path parameter {} is not described", name));
    }
  }
  return out;
}

std::string_view to_string(In in) {
  switch (in) {
    case In::path:
      return "path";
    case In::query:
      return "query";
    case In::header:
      return "header";
  }
  std::unreachable();
}

}  // namespace millrace::api
