#include "strict_schema.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace millrace::test {
namespace {

constexpr std::size_t kDepthMax = 10;
constexpr std::size_t kPropertiesMax = 5'000;
constexpr auto kRefused = std::to_array<std::string_view>(
    {"allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas",
     "patternProperties", "unevaluatedProperties", "minProperties", "maxProperties",
     "propertyNames", "contains", "prefixItems"});

std::string type_of(const json::Object& schema) {
  const auto* type = schema.if_contains("type");
  return type != nullptr && type->is_string() ? std::string(type->get_string()) : std::string();
}

class Checker {
 public:
  std::string check(const json::Value& value, const std::string& path, std::size_t depth) {
    const auto* schema = value.if_object();
    if (schema == nullptr) return path + ": a schema must be an object";
    for (const auto word : kRefused) {
      if (schema->contains(word)) return path + ": '" + std::string(word) + "' is not permitted";
    }
    if (depth > kDepthMax) return path + ": more than 10 levels of nesting";
    if (type_of(*schema) == "object" || schema->contains("properties")) {
      if (auto fault = check_object(*schema, path, depth); !fault.empty()) return fault;
    }
    if (type_of(*schema) == "array") {
      const auto* items = schema->if_contains("items");
      if (items == nullptr) return path + ": array schema missing items";
      if (auto fault = check(*items, path + ".items", depth + 1); !fault.empty()) return fault;
    }
    if (const auto* any = schema->if_contains("anyOf")) {
      if (!any->is_array() || any->get_array().empty()) return path + ": anyOf must be a list";
      for (const auto& one : any->get_array()) {
        if (auto fault = check(one, path + ".anyOf", depth); !fault.empty()) return fault;
      }
    }
    const bool says_something = schema->contains("type") || schema->contains("anyOf") ||
                                schema->contains("$ref") || schema->contains("enum") ||
                                schema->contains("const");
    return says_something ? std::string() : path + ": schema must have a 'type' key";
  }

 private:
  std::string check_object(const json::Object& schema, const std::string& path, std::size_t depth) {
    const auto* additional = schema.if_contains("additionalProperties");
    if (additional == nullptr || !additional->is_bool() || additional->get_bool()) {
      return path + ": 'additionalProperties' is required to be supplied and to be false";
    }
    const auto* properties = schema.if_contains("properties");
    if (properties == nullptr || !properties->is_object()) return path + ": no 'properties'";
    std::set<std::string_view> required;
    if (const auto* list = schema.if_contains("required"); list != nullptr && list->is_array()) {
      for (const auto& name : list->get_array()) {
        if (name.is_string()) required.insert(name.get_string());
      }
    }
    for (const auto& member : properties->get_object()) {
      if (!required.contains(member.key())) {
        return path + ": 'required' must include every key in properties; missing '" +
               std::string(member.key()) + "'";
      }
      if (++properties_ > kPropertiesMax) return path + ": more than 5000 properties";
      auto fault = check(member.value(), path + "." + std::string(member.key()), depth + 1);
      if (!fault.empty()) return fault;
    }
    return {};
  }

  std::size_t properties_ = 0;
};

}  // namespace

std::string strict_schema_fault(const json::Value& schema) {
  const auto* root = schema.if_object();
  if (root == nullptr || type_of(*root) != "object") return "$: schema must be a JSON object type";
  return Checker().check(schema, "$", 1);
}

json::Value smallest_instance(const json::Value& value) {
  const auto* schema = value.if_object();
  if (schema == nullptr) return nullptr;
  if (const auto* constant = schema->if_contains("const")) return *constant;
  if (const auto* words = schema->if_contains("enum")) return words->as_array().front();
  if (const auto* any = schema->if_contains("anyOf")) {
    return smallest_instance(any->as_array().back());
  }
  const auto* type = schema->if_contains("type");
  if (type != nullptr && type->is_array()) return nullptr;  // "or null" is what lists are for.
  const auto name = type_of(*schema);
  if (name == "string") return json::Value("");
  if (name == "integer" || name == "number") return 0;
  if (name == "boolean") return false;
  if (name == "array") return json::Array();
  if (name != "object") return nullptr;
  json::Object out;
  if (const auto* properties = schema->if_contains("properties")) {
    for (const auto& member : properties->as_object()) {
      out[member.key()] = smallest_instance(member.value());
    }
  }
  return out;
}

}  // namespace millrace::test
