#include "schema/dialect.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace millrace::schema {
namespace {

using Entry = std::pair<std::string_view, Shape>;

constexpr std::array kBoth = {
    Entry{"additionalProperties", Shape::schema},
    Entry{"allOf", Shape::schemas},
    Entry{"anyOf", Shape::schemas},
    Entry{"contains", Shape::schema},
    Entry{"definitions", Shape::schema_map},
    Entry{"dependencies", Shape::dependencies},

    Entry{"else", Shape::schema},
    Entry{"if", Shape::schema},
    Entry{"not", Shape::schema},
    Entry{"oneOf", Shape::schemas},
    Entry{"patternProperties", Shape::schema_map},
    Entry{"properties", Shape::schema_map},
    Entry{"propertyNames", Shape::schema},
    Entry{"then", Shape::schema},
};

constexpr std::array kDraft7 = {
    Entry{"additionalItems", Shape::schema},
    Entry{"items", Shape::schema_or_schemas},
};

constexpr std::array kDraft2020 = {
    Entry{"$defs", Shape::schema_map},
    Entry{"contentSchema", Shape::schema},
    Entry{"dependentSchemas", Shape::schema_map},
    Entry{"items", Shape::schema},
    Entry{"prefixItems", Shape::schemas},
    Entry{"unevaluatedItems", Shape::schema},
    Entry{"unevaluatedProperties", Shape::schema},
};

std::optional<Shape> find(std::span<const Entry> entries, std::string_view keyword) {
  const auto found = std::ranges::find(entries, keyword, &Entry::first);
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
  if (const auto shape = find(kBoth, keyword)) return shape;
  return draft == Draft::draft7 ? find(kDraft7, keyword) : find(kDraft2020, keyword);
}

}  // namespace millrace::schema
