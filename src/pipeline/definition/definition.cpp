#include "pipeline/definition/definition.h"

#include "blob/digest.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

namespace millrace::pipeline {
namespace {

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

bool is_number_part(std::string_view text) {
  const bool digits = !text.empty() && text.size() <= 9 && std::ranges::all_of(text, is_digit);
  return digits && (text.size() == 1 || text[0] != '0');
}

bool is_name_part(std::string_view text) {
  return !text.empty() && text.size() <= 32 && std::ranges::all_of(text, [](char letter) {
    return is_digit(letter) || (letter >= 'a' && letter <= 'z') ||
           (letter >= 'A' && letter <= 'Z') || letter == '-';
  });
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t end = text.find(at); end != text.npos; end = text.find(at)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

struct Version {
  std::vector<std::string_view> numbers;
  std::vector<std::string_view> pre;  // "rc", "1"; empty for a release.
};

Version split_version(std::string_view text) {
  const auto dash = text.find('-');
  Version version{.numbers = split(text.substr(0, dash), '.'), .pre = {}};
  if (dash != text.npos) version.pre = split(text.substr(dash + 1), '.');
  return version;
}

int sign(auto order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }

// Numbers count as numbers and come before words.
int compare_part(std::string_view a, std::string_view b) {
  const bool a_number = is_number_part(a);
  const bool b_number = is_number_part(b);
  if (a_number != b_number) return a_number ? -1 : 1;
  if (a_number && a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return sign(a <=> b);
}

int compare_parts(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (const auto order = compare_part(a[i], b[i]); order != 0) return order;
  }
  return sign(a.size() <=> b.size());
}

json::Array to_array(const std::vector<std::string>& texts) {
  json::Array out;
  for (const auto& text : texts) out.emplace_back(text);
  return out;
}

}  // namespace

std::string_view to_string(RunKind kind) {
  switch (kind) {
    case RunKind::scan:
      return "scan";
    case RunKind::ocr:
      return "ocr";
    case RunKind::spatial:
      return "spatial";
    case RunKind::detect:
      return "detect";
    case RunKind::extract:
      return "extract";
    case RunKind::narrate:
      return "narrate";
    case RunKind::render:
      return "render";
    case RunKind::parse:
      return "parse";
    case RunKind::validate:
      return "validate";
    case RunKind::chunk:
      return "chunk";
    case RunKind::embed:
      return "embed";
    case RunKind::publish:
      return "publish";
    case RunKind::exec:
      return "exec";
    case RunKind::http:
      return "http";
  }
  return "";
}

std::string_view to_string(Takes takes) { return takes == Takes::order ? "order" : "file"; }

std::string_view to_string(Each each) { return each == Each::page ? "page" : "document"; }

std::string_view to_string(OnPageFailure choice) {
  return choice == OnPageFailure::fail ? "fail" : "continue";
}

const Stage* Pipeline::find(std::string_view stage) const {
  const auto found = std::ranges::find(stages, stage, &Stage::name);
  return found == stages.end() ? nullptr : &*found;
}

std::vector<const Stage*> Pipeline::followers(std::string_view stage) const {
  std::vector<const Stage*> out;
  for (const auto& other : stages) {
    if (std::ranges::find(other.after, stage) != other.after.end()) out.push_back(&other);
  }
  return out;
}

std::vector<const Stage*> Pipeline::ancestors(std::string_view stage) const {
  std::set<std::string_view> wanted;
  const auto* self = find(stage);
  if (self == nullptr) return {};
  wanted.insert(self->after.begin(), self->after.end());
  // Backwards, since a stage stands behind all it waits for.
  for (auto other = stages.rbegin(); other != stages.rend(); ++other) {
    if (wanted.contains(other->name)) wanted.insert(other->after.begin(), other->after.end());
  }
  std::vector<const Stage*> out;
  for (const auto& other : stages) {
    if (wanted.contains(other.name)) out.push_back(&other);
  }
  return out;
}

const Stage* Pipeline::maker(std::string_view stage, std::string_view output) const {
  for (const auto* earlier : ancestors(stage)) {
    if (std::ranges::find(earlier->outputs, output) != earlier->outputs.end()) return earlier;
  }
  return nullptr;
}

std::string result_fingerprint(const Stage& stage) {
  json::Object what{{"run", stage.run},
                    {"each", to_string(stage.each)},
                    {"provider", stage.provider},
                    {"revision", stage.revision},
                    {"requires", to_array(stage.required)},
                    {"outputs", to_array(stage.outputs)},
                    {"options", stage.options}};
  return blob::sha256(canonical_json(what)).hex();
}

bool is_version(std::string_view text) {
  if (text.size() > 64) return false;
  const auto version = split_version(text);
  return version.numbers.size() == 3 && std::ranges::all_of(version.numbers, is_number_part) &&
         std::ranges::all_of(version.pre, is_name_part);
}

int compare_versions(std::string_view a, std::string_view b) {
  const auto left = split_version(a);
  const auto right = split_version(b);
  if (const auto order = compare_parts(left.numbers, right.numbers); order != 0) return order;
  if (left.pre.empty() != right.pre.empty()) return left.pre.empty() ? 1 : -1;
  return compare_parts(left.pre, right.pre);
}

}  // namespace millrace::pipeline
