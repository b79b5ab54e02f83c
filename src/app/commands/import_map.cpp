#include "app/commands/import_map.h"

#include "app/config/toml_file.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

namespace millrace::app {
namespace {

constexpr std::string_view kTypes = "types.";

// One value of the file, with what it takes to complain about it.
struct Entry {
  const std::string& file;
  const std::string& key;
  const TomlValue& value;

  std::unexpected<Error> refuse(std::string_view rule) const {
    return fail(ErrorKind::invalid_argument,
                fmt::format("{}:{}: {} must be {}", file, value.line, key, rule));
  }
};

bool is_text(const json::Value& value, std::string_view text) {
  return value.is_string() && value.as_string() == text;
}

Result<json::Value> text_of(const Entry& entry, const json::Value& value, std::string_view what) {
  if (!value.is_string() || value.as_string().empty()) return entry.refuse(what);
  return value;
}

Result<json::Value> type_of(const Entry& entry) {
  constexpr const char* kRule = "a job type, or a table with type, queue or skip";
  const auto& value = entry.value.value;
  if (value.is_string()) return text_of(entry, value, kRule);
  if (!value.is_object()) return entry.refuse(kRule);
  for (const auto& [field, inner] : value.as_object()) {
    const bool is_name =
        (field == "type" || field == "queue") && inner.is_string() && !inner.as_string().empty();
    const bool is_skip = field == "skip" && inner.is_bool();
    if (!is_name && !is_skip) return entry.refuse(kRule);
  }
  return value;
}

Result<json::Value> setting_of(const Entry& entry) {
  const auto& value = entry.value.value;
  if (entry.key == "queue") return text_of(entry, value, "the name of a queue");
  if (entry.key == "priority") {
    const bool fits = value.is_int64() && value.as_int64() >= 0 && value.as_int64() <= 1000;
    if (!fits) return entry.refuse("a whole number between 0 and 1000");
    return value;
  }
  if (entry.key == "rows") {
    if (!is_text(value, "keep") && !is_text(value, "delete")) return entry.refuse("keep or delete");
    return value;
  }
  if (entry.key == "parse_queued") {
    if (!is_text(value, "wait") && !is_text(value, "uploaded"))
      return entry.refuse("wait or uploaded");
    return value;
  }
  return fail(Error{
      .kind = ErrorKind::invalid_argument,
      .message = fmt::format("{}:{}: unknown key {}", entry.file, entry.value.line, entry.key),
      .hint = "known are queue, priority, rows, parse_queued and [types]"});
}

}  // namespace

Result<json::Object> parse_import_map(std::string_view text, const std::string& name) {
  MR_TRY(const auto file, TomlFile::parse(text, name));
  if (!file.arrays.empty()) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("{}:{}: [[{}]] has no meaning here", name,
                            file.arrays.begin()->second.front().line, file.arrays.begin()->first));
  }
  json::Object map;
  json::Object types;
  for (const auto& [key, value] : file.values) {
    const Entry entry{.file = name, .key = key, .value = value};
    if (key.starts_with(kTypes)) {
      MR_TRY(types[key.substr(kTypes.size())], type_of(entry));
    } else {
      MR_TRY(map[key], setting_of(entry));
    }
  }
  if (!types.empty()) map["types"] = std::move(types);
  return map;
}

}  // namespace millrace::app
