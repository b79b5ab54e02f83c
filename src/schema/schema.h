// Schema: a JSON Schema (draft 7 or 2020-12), compiled once, asked often.
//
// compile() takes the document, and every other document it may refer to; nothing is ever fetched.
// It refuses what its meta-schema refuses, and references that lead nowhere. validate() answers
// with one Violation per broken rule, with_defaults() with the value as it is meant: absent
// properties filled in. docs/json-schema.md has the rules of both.
//
// A Schema never changes and costs a pointer to copy; any number of threads may use it. Neither
// hostile schemas nor hostile values can make it hang or overflow the stack: every call has a
// limit of steps and of depth, and says so when it is reached.
#pragma once

#include "base/json.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::schema {

enum class Draft { draft7, draft2020_12 };

std::string_view to_string(Draft draft);  // "draft 7"

struct Limits {
  // A step takes 2 to 8 ns; for the whole of one call of validate() or with_defaults().
  std::uint64_t steps_max = 50'000'000;
  // Of schemas within schemas along the value: references and combinations count too.
  std::uint32_t depth_max = 1000;
  // Of a schema document.
  std::uint32_t document_depth_max = 128;
  std::size_t violations_max = 100;
  // What one call of with_defaults() may add to a value.
  std::size_t defaults_bytes_max = std::size_t{8} * 1024 * 1024;
};

struct SchemaOptions {
  // Of documents that do not name one by $schema.
  Draft draft = Draft::draft2020_12;
  // Where the document comes from, for relative references; its own $id counts from here.
  std::string base_uri = {};
  // What references may lead to, by absolute URI; also meta-schemas that $schema may name.
  std::map<std::string, json::Value> documents = {};
  // Off: `format` says something and demands nothing, as both drafts have it. On: the formats that
  // known_formats() lists are demanded, others still are not.
  bool assert_formats = false;
  Limits limits = {};
};

struct Violation {
  std::string instance_path;  // JSON pointer into the value; "" is the value itself.
  std::string schema_path;    // JSON pointer into the document, or URI#pointer for another one.
  std::string keyword;        // The rule that is broken; kLimitKeyword when it was not decided.
  std::string message;        // "/age must be 18 or more": no values of the instance in it.

  friend bool operator==(const Violation&, const Violation&) = default;
};

// Keyword of the one violation that says: not checked to the end, it would have cost too much.
inline constexpr std::string_view kLimitKeyword = "limit";

class Schema {
 public:
  // invalid_argument with the place in the schema and the rule: "schema /properties/age/minimum
  // must be a number".
  static Result<Schema> compile(json::Value document, SchemaOptions options = {});

  // Empty when the value is valid. Never partial without saying so: a value that is too costly to
  // check has exactly one violation, with kLimitKeyword.
  std::vector<Violation> validate(const json::Value& value) const;

  // The value with absent properties filled in from `default`. It is not validated, neither before
  // nor after: validate the result, it shows a bad default like any other bad value.
  // invalid_argument when the limits do not allow for it.
  Result<json::Value> with_defaults(json::Value value) const;

  // Defaults that their own schema refuses (after their own defaults are filled in). For authors
  // of schemas; instance_path is that of the property within the default.
  std::vector<Violation> check_defaults() const;

  Draft draft() const;
  const json::Value& document() const;

  struct Compiled;  // Defined in compiled.h.

 private:
  explicit Schema(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}

  std::shared_ptr<const Compiled> compiled_;  // Shared by copies: it never changes.
};

// The formats that assert_formats demands.
std::vector<std::string_view> known_formats();

}  // namespace millrace::schema
