#include "schema/dialect.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace millrace::schema {
namespace {

using ShapeEntry = std::pair<std::string_view, Shape>;

constexpr std::array kShapes = {
    ShapeEntry{"additionalProperties", Shape::schema},
    ShapeEntry{"allOf", Shape::schemas},
    ShapeEntry{"anyOf", Shape::schemas},
    ShapeEntry{"contains", Shape::schema},
    ShapeEntry{"definitions", Shape::schema_map},
    ShapeEntry{"dependencies", Shape::dependencies},

    ShapeEntry{"else", Shape::schema},
    ShapeEntry{"if", Shape::schema},
    ShapeEntry{"not", Shape::schema},
    ShapeEntry{"oneOf", Shape::schemas},
    ShapeEntry{"patternProperties", Shape::schema_map},
    ShapeEntry{"properties", Shape::schema_map},
    ShapeEntry{"propertyNames", Shape::schema},
    ShapeEntry{"then", Shape::schema},
};

constexpr std::array kDraft7Shapes = {
    ShapeEntry{"additionalItems", Shape::schema},
    ShapeEntry{"items", Shape::schema_or_schemas},
};

constexpr std::array kDraft2020Shapes = {
    ShapeEntry{"$defs", Shape::schema_map},
    ShapeEntry{"contentSchema", Shape::schema},
    ShapeEntry{"dependentSchemas", Shape::schema_map},
    ShapeEntry{"items", Shape::schema},
    ShapeEntry{"prefixItems", Shape::schemas},
    ShapeEntry{"unevaluatedItems", Shape::schema},
    ShapeEntry{"unevaluatedProperties", Shape::schema},
};

std::optional<Shape> find_shape(std::span<const ShapeEntry> entries, std::string_view keyword) {
  const auto found = std::ranges::find(entries, keyword, &ShapeEntry::first);
  if (found == entries.end()) return std::nullopt;
  return found->second;
}

}  // namespace

std::string_view to_string(Draft draft) {
  switch (draft) {
    case Draft::draft7:
      return "draft 7";
    case Draft::draft2020_12:
      return "draft 2020-12";
  }
  return "draft 2020-12";
}

Dialect standard_dialect(Draft draft) {
  Dialect dialect{.draft = draft};
  dialect.meta_uri = draft == Draft::draft7 ? kDraft7Uri : kDraft2020Uri;
  return dialect;
}

std::optional<Dialect> standard_dialect(std::string_view meta_uri) {
  if (meta_uri == kDraft2020Uri) return standard_dialect(Draft::draft2020_12);
  // Many schemas write https where the standard has http.
  if (meta_uri == kDraft7Uri || meta_uri == "https://json-schema.org/draft-07/schema") {
    return standard_dialect(Draft::draft7);
  }
  return std::nullopt;
}

bool enable_vocabulary(Dialect& dialect, std::string_view vocabulary_uri) {
  constexpr std::string_view kPrefix = "https://json-schema.org/draft/2020-12/vocab/";
  if (!vocabulary_uri.starts_with(kPrefix)) return false;
  const auto name = vocabulary_uri.substr(kPrefix.size());
  if (name == "applicator") {
    dialect.applicators = true;
  } else if (name == "unevaluated") {
    dialect.unevaluated = true;
  } else if (name == "validation") {
    dialect.validation = true;
  } else if (name == "format-assertion") {
    dialect.format_assertion = true;
  } else {
    // These demand nothing of a value.
    return name == "core" || name == "meta-data" || name == "format-annotation" ||
           name == "content";
  }
  return true;
}

std::optional<Shape> subschema_shape(Draft draft, std::string_view keyword) {
  if (const auto shape = find_shape(kShapes, keyword)) return shape;
  return draft == Draft::draft7 ? find_shape(kDraft7Shapes, keyword)
                                : find_shape(kDraft2020Shapes, keyword);
}

}  // namespace millrace::schema
