#include "pipeline/definition/source.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace millrace::pipeline {
namespace {

Place place_of(const toml::source_region& region) {
  return {static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

class Converter {
 public:
  explicit Converter(Source& out) : out_(out) {}

  json::Object table(const toml::table& table, const std::string& path) {
    json::Object object;
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      const auto inner = path.empty() ? name : path + "." + name;
      // A [[stage]] has its place at the header, which is the key of its first entry.
      out_.places.emplace(inner, place_of(key.source()));
      object[name] = value(node, inner);
    }
    return object;
  }

 private:
  json::Value value(const toml::node& node, const std::string& path) {
    if (const auto* inner = node.as_table()) return table(*inner, path);
    if (const auto* array = node.as_array()) {
      json::Array values;
      for (const auto& entry : *array) {
        const auto inner = fmt::format("{}.{}", path, values.size());
        out_.places.emplace(inner, place_of(entry.source()));
        values.push_back(value(entry, inner));
      }
      return values;
    }
    if (const auto text = node.value_exact<std::string>()) return json::Value(*text);
    if (const auto integer = node.value_exact<std::int64_t>()) return *integer;
    if (const auto number = node.value_exact<double>()) return whole(*number);
    if (const auto flag = node.value_exact<bool>()) return *flag;
    std::ostringstream text;  // Dates and times.
    node.visit([&](const auto& date) { text << date; });
    return json::Value(text.str());
  }

  // 2.0 and 2 are the same number and must have the same hash.
  static json::Value whole(double number) {
    constexpr double kExact = 9'007'199'254'740'992.0;
    if (std::trunc(number) == number && std::abs(number) < kExact) {
      return static_cast<std::int64_t>(number);
    }
    return number;
  }

  Source& out_;
};

// toml++ bounds the depth of values but not of keys such as a.b.c, and whoever walks over tables
// calls itself once per level.
bool has_bottomless_key(std::string_view text, Problems& problems) {
  constexpr std::ptrdiff_t kDotsMax = 500;
  for (int line = 1; !text.empty(); ++line) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto key = text.substr(0, std::min(end, text.find('=')));
    if (std::ranges::count(key, '.') > kDotsMax) {
      problems.add({line, 1}, fmt::format("a key has more than {} levels", kDotsMax));
      return true;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

}  // namespace

Place Source::place(std::string_view path) const {
  for (;;) {
    if (const auto found = places.find(path); found != places.end()) return found->second;
    const auto dot = path.rfind('.');
    if (dot == path.npos) return places.empty() ? Place{} : Place{1, 1};
    path = path.substr(0, dot);
  }
}

Source read_toml(std::string_view text, Problems& problems) {
  Source source;
  if (text.size() > kPipelineFileMaxBytes) {
    problems.add({1, 1}, fmt::format("the file has {} bytes; at most {} are allowed", text.size(),
                                     kPipelineFileMaxBytes));
    return source;
  }
  if (has_bottomless_key(text, problems)) return source;
  try {
    const auto root = toml::parse(text);
    source.root = Converter(source).table(root, "");
  } catch (const toml::parse_error& error) {
    const auto place = place_of(error.source());
    problems.add(place, std::string(error.description()));
  }
  return source;
}

}  // namespace millrace::pipeline
