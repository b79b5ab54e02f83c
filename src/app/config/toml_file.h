// TomlFile: millrace.toml as plain values with their lines. The only place that includes toml++.
//
// Flow: text in, scalar settings as "section.key" plus the tables of [[handler]] and [[queue]] out;
// what the keys mean is settings.cpp's business. Errors name file, line and column.
#pragma once

#include "base/json.h"
#include "base/result.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::app {

struct TomlValue {
  json::Value value;  // Dates come as their text.
  int line = 0;
};

struct TomlTable {
  std::map<std::string, TomlValue> values;
  int line = 0;
};

struct TomlFile {
  std::string name;                                      // As shown in messages.
  std::map<std::string, TomlValue> values;               // "worker.slots"
  std::map<std::string, std::vector<TomlTable>> arrays;  // "handler", "queue"

  static Result<TomlFile> parse(std::string_view text, std::string name);
};

}  // namespace millrace::app
