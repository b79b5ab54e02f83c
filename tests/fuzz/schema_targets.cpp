#include "base/json.h"
#include "fuzz/targets.h"
#include "schema/regex/regex.h"
#include "schema/schema.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

namespace millrace::fuzz {
namespace {

using schema::Regex;
using schema::Schema;
using schema::Search;

// Names of members and words of the schema are shown, texts of the value never.
void check_violations(const Schema& schema, const json::Value& value) {
  const bool holds_secret =
      value == json::Value(kSecret) && !to_json(schema.document()).contains(kSecret);
  const auto violations = schema.validate(value);
  property(schema.validate(value) == violations, "the same question has the same answer");
  property(violations.size() <= 100, "the list of violations is bounded");
  for (const auto& violation : violations) {
    property(!violation.message.empty(), "a violation has a message");
    property(violation.message.find_first_of("\r\n") == std::string::npos, "a message has one line",
             violation.message);
    property(!holds_secret || !violation.message.contains(kSecret), "no text of the value is shown",
             violation.message);
    if (violation.keyword == schema::kLimitKeyword) continue;
    boost::json::error_code code;
    property(value.find_pointer(violation.instance_path, code) != nullptr,
             "instance_path leads to a value", violation.instance_path);
    // Other documents are the drafts' own: their paths begin with a URI.
    property(!violation.schema_path.starts_with('/') ||
                 schema.document().find_pointer(violation.schema_path, code) != nullptr,
             "schema_path leads to a rule", violation.schema_path);
  }
}

// Whatever was there is still there, and nothing but members was added.
bool covers(const json::Value& after, const json::Value& before) {
  if (const auto* object = before.if_object()) {
    if (!after.is_object()) return false;
    for (const auto& member : *object) {
      const auto* same = after.get_object().if_contains(member.key());
      if (same == nullptr || !covers(*same, member.value())) return false;
    }
    return true;
  }
  if (const auto* array = before.if_array()) {
    if (!after.is_array() || after.get_array().size() != array->size()) return false;
    for (std::size_t i = 0; i < array->size(); ++i) {
      if (!covers(after.get_array()[i], (*array)[i])) return false;
    }
    return true;
  }
  return after == before;
}

}  // namespace

// The first byte chooses draft and formats, the first line is the schema, the rest the value, in
// which "~" stands for a text that must not show up.
void fuzz_schema(Input input) {
  const auto choice = take_byte(input);
  const auto document = parse_json(take_line(input));
  if (!document) return;
  schema::SchemaOptions options;
  options.draft = choice % 2 == 0 ? schema::Draft::draft7 : schema::Draft::draft2020_12;
  options.assert_formats = choice % 4 < 2;
  options.limits.steps_max = 200'000;
  const auto schema = Schema::compile(*document, options);
  if (!schema) {
    check_told(schema.error());
    return;
  }
  static_cast<void>(schema->check_defaults());
  const auto value = parse_json(input == "\"~\"" ? json_quote(kSecret) : std::string(input));
  if (!value) return;
  check_violations(*schema, *value);
  const auto filled = schema->with_defaults(*value);
  if (!filled) {
    check_told(filled.error());
    return;
  }
  property(covers(*filled, *value), "defaults are only added", to_json(*filled));
  check_violations(*schema, *filled);
}

// The first line is the pattern, the rest the text.
void fuzz_pattern(Input input) {
  const std::string pattern(take_line(input));
  const auto regex = Regex::compile(pattern);
  if (!regex) {
    check_told(regex.error());
    return;
  }
  schema::Matcher matcher;
  std::uint64_t steps = 100'000;
  const auto found = regex->search(input, steps, matcher);
  property(found != Search::too_costly || steps == 0, "too costly means that no steps are left");
  std::uint64_t again = 100'000;
  property(regex->search(input, again, matcher) == found, "the matcher keeps nothing");
  // A back reference that is never reached makes the search go the other way, without memory of
  // what was tried: both must agree.
  const auto other = Regex::compile(fmt::format("(?:{})|(?!)(?<fuzz_>x)\\k<fuzz_>", pattern));
  if (!other) return;
  std::uint64_t other_steps = 100'000;
  const auto other_found = other->search(input, other_steps, matcher);
  if (found == Search::too_costly || other_found == Search::too_costly) return;
  property(found == other_found, "both ways of searching agree", pattern);
}

}  // namespace millrace::fuzz
