#include "app/config/toml_file.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <sstream>

namespace millrace::app {
namespace {

json::Value to_json_value(const toml::node& node) {
  if (const auto* table = node.as_table()) {
    json::Object object;
    for (const auto& [key, value] : *table) object[std::string(key.str())] = to_json_value(value);
    return object;
  }
  if (const auto* array = node.as_array()) {
    json::Array values;
    for (const auto& value : *array) values.push_back(to_json_value(value));
    return values;
  }
  if (const auto text = node.value_exact<std::string>()) return json::Value(*text);
  if (const auto integer = node.value_exact<std::int64_t>()) return *integer;
  if (const auto number = node.value_exact<double>()) return *number;
  if (const auto flag = node.value_exact<bool>()) return *flag;
  std::ostringstream text;  // Dates and times.
  node.visit([&](const auto& value) { text << value; });
  return json::Value(text.str());
}

int line_of(const toml::node& node) { return static_cast<int>(node.source().begin.line); }

bool is_array_of_tables(const toml::node& node) {
  const auto* array = node.as_array();
  return array != nullptr && !array->empty() && array->is_array_of_tables();
}

// toml++ limits the depth of values, but not of keys such as a.b.c, and everything that walks over
// tables calls itself once per level. Looks at the part of a line that can be a key.
Result<void> check_depth(std::string_view text, const std::string& name) {
  constexpr std::ptrdiff_t kDotsMax = 1000;
  for (int line = 1; !text.empty(); ++line) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line_text = text.substr(0, end);
    const auto key = line_text.substr(0, line_text.find('='));
    if (std::ranges::count(key, '.') > kDotsMax) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("{}:{}: a key has more than {} levels", name, line, kDotsMax));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

TomlTable to_table(const toml::table& table) {
  TomlTable out{.values = {}, .line = line_of(table)};
  for (const auto& [key, value] : table) {
    out.values[std::string(key.str())] = {to_json_value(value), line_of(value)};
  }
  return out;
}

}  // namespace

Result<TomlFile> TomlFile::parse(std::string_view text, std::string name) {
  MR_TRY_VOID(check_depth(text, name));
  toml::table root;
  try {
    root = toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    const auto& at = error.source().begin;
    return fail(ErrorKind::invalid_argument,
                fmt::format("{}:{}:{}: {}", name, at.line, at.column, error.description()));
  }
  TomlFile file{.name = std::move(name), .values = {}, .arrays = {}};
  for (const auto& [key, node] : root) {
    const std::string section(key.str());
    if (is_array_of_tables(node)) {
      for (const auto& entry : *node.as_array()) {
        file.arrays[section].push_back(to_table(*entry.as_table()));
      }
    } else if (const auto* table = node.as_table()) {
      for (const auto& [inner, value] : *table) {
        file.values[section + "." + std::string(inner.str())] = {to_json_value(value),
                                                                 line_of(value)};
      }
    } else {
      file.values[section] = {to_json_value(node), line_of(node)};
    }
  }
  return file;
}

}  // namespace millrace::app
