// Dialect: how a schema is to be read, as its $schema says.
//
// Draft 7 has one dialect. 2020-12 has as many as there are meta-schemas: they say by $vocabulary
// which keywords mean something.
#pragma once

#include "schema/schema.h"

#include <optional>
#include <string>
#include <string_view>

namespace millrace::schema {

inline constexpr std::string_view kDraft7Uri = "http://json-schema.org/draft-07/schema";
inline constexpr std::string_view kDraft2020Uri = "https://json-schema.org/draft/2020-12/schema";

struct Dialect {
  Draft draft = Draft::draft2020_12;
  bool applicators = true;
  bool unevaluated = true;
  bool validation = true;
  bool format_assertion = false;
  std::string meta_uri = {};  // Of the meta-schema, without fragment.

  bool is_draft7() const { return draft == Draft::draft7; }
};

Dialect standard_dialect(Draft draft);
// Of the two drafts' own meta-schemas; nothing for any other URI.
std::optional<Dialect> standard_dialect(std::string_view meta_uri);
// Turns a vocabulary on; false when it is not one of 2020-12.
bool enable_vocabulary(Dialect& dialect, std::string_view vocabulary_uri);

// Where schemas lie within a schema.
enum class Shape {
  schema,
  schemas,            // An array of them.
  schema_map,         // An object whose members are schemas.
  schema_or_schemas,  // Either: draft 7's items.
  dependencies,       // An object whose members are schemas or arrays of names.
};
std::optional<Shape> subschema_shape(Draft draft, std::string_view keyword);

}  // namespace millrace::schema
