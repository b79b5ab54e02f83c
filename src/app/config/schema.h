// Every setting there is: its key, type, bounds, default, and the names other systems gave it.
//
// millrace.toml has it as [section] key; the environment as MILLRACE_<SECTION>_<KEY>; the aliases
// are the names of the systems Millrace replaces. docs/configuration.md lists them and a test
// compares.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::app {

enum class SettingType { text, integer, boolean, duration, list, choice };

// How the value of an alias becomes ours.
enum class AliasUnit {
  same,
  milliseconds,     // 5000 -> 5s
  seconds,          // 240 -> 4m
  doubled_seconds,  // A lock renewed every 45 s is a lease of 90 s.
  plus_one,         // 6 retries are 7 attempts.
  port,             // 10000 -> 0.0.0.0:10000, as platforms that set it want it.
};

struct Alias {
  std::string_view name;
  AliasUnit unit = AliasUnit::same;
};

struct SettingSpec {
  std::string_view section;
  std::string_view key;
  SettingType type;
  std::string_view default_value;  // Empty: not set.
  std::string_view description;
  std::vector<Alias> aliases = {};
  std::vector<std::string> choices = {};
  std::int64_t min = std::numeric_limits<std::int64_t>::min();  // Integers; durations in ms.
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
  bool secret = false;  // Masked when shown; <NAME>_FILE names a file that holds it.

  std::string name() const { return std::string(section) + "." + std::string(key); }
  std::string variable() const;  // MILLRACE_WORKER_SLOTS
};

std::span<const SettingSpec> setting_specs();
// The part of them that is about documents and the services that read them.
std::vector<SettingSpec> document_specs();
// Of exports.
std::vector<SettingSpec> export_specs();
// Services outside that ingest asks, and webhooks.
std::vector<SettingSpec> remote_specs();
const SettingSpec* find_setting(std::string_view name);
std::vector<std::string> setting_names();

}  // namespace millrace::app
