#include "app/demo/sample_truth.h"

#include "app/context.h"
#include "base/file.h"
#include "layout/code_points.h"
#include "layout/compare.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>

namespace millrace::app {
namespace {

bool flag_of(const json::Object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value != nullptr && value->is_bool() && value->get_bool();
}

const json::Array& array_of(const json::Object& object, std::string_view name) {
  static const json::Array kNone;
  const auto* value = object.if_contains(name);
  return value != nullptr && value->is_array() ? value->get_array() : kNone;
}

// The word of facts/1 for a kind of truth; empty for what is not compared here.
std::string_view fact_type(std::string_view type) {
  if (type == "medication") return "MedicationStatement";
  if (type == "lab") return "Observation";
  if (type == "allergy") return "AllergyIntolerance";
  return {};
}

bool counts(const json::Object& fact) {
  if (fact_type(text_member(fact, "type")).empty()) return false;
  const auto* assertion = fact.if_contains("assertion");
  if (assertion == nullptr || !assertion->is_object()) return true;
  const auto& said = assertion->get_object();
  return !flag_of(said, "negated") && !flag_of(said, "family") && !flag_of(said, "hypothetical");
}

}  // namespace

Result<std::vector<Sample>> read_samples(const std::filesystem::path& truth) {
  MR_TRY(const auto text, read_file(truth));
  MR_TRY(const auto object, parse_json_object(text, {.max_bytes = std::size_t{256} * 1024 * 1024}));
  std::vector<Sample> samples;
  for (const auto& value : array_of(object, "files")) {
    const auto& file = value.as_object();
    Sample sample{.file = text_member(file, "file"),
                  .expected_state = text_member(file, "expected_state"),
                  .expected_rule = text_member(file, "expected_rule")};
    for (const auto& page : array_of(file, "pages")) {
      if (!sample.text.empty()) sample.text += '\n';
      sample.text += text_member(page.as_object(), "text");
    }
    for (const auto& fact : array_of(file, "facts")) {
      if (!counts(fact.as_object())) continue;
      sample.facts.push_back({.type = text_member(fact.as_object(), "type"),
                              .name = text_member(fact.as_object(), "name")});
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

double character_error_rate(const Sample& sample, std::string_view text) {
  std::string reading;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size() - 1);
    const auto line = text.substr(0, end + 1);
    if (!line.starts_with("--- page ")) reading += line;
    text.remove_prefix(end + 1);
  }
  return layout::character_errors(sample.text, reading, {.folded = true}).rate();
}

Found find_facts(const Sample& sample, const json::Value& facts) {
  Found result{.expected = sample.facts.size()};
  if (!facts.is_object()) return result;
  std::vector<std::pair<std::string, std::string>> known;  // Type and name.
  for (const auto& value : array_of(facts.get_object(), "facts")) {
    const auto& fact = value.as_object();
    const auto* said = fact.if_contains("value");
    if (said == nullptr || !said->is_object()) continue;
    for (const std::string_view field : {"drug", "name", "test", "substance", "allergen"}) {
      if (auto name = text_member(said->get_object(), field); !name.empty()) {
        known.emplace_back(text_member(fact, "type"), layout::to_lower(name));
      }
    }
  }
  for (const auto& fact : sample.facts) {
    const auto name = layout::to_lower(fact.name);
    const bool there = std::ranges::any_of(known, [&](const auto& one) {
      return one.first == fact_type(fact.type) && one.second.contains(name);
    });
    if (there) ++result.found;
  }
  return result;
}

}  // namespace millrace::app
