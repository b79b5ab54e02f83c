// Wiring: the [[handler]] and [[queue]] tables of millrace.toml, checked.
//
// A handler says which program or address does the jobs of a type; a queue gives the policy a queue
// gets when it does not exist yet (an operator's later change is never reset).
#pragma once

#include "app/config/toml_file.h"
#include "base/json.h"
#include "base/result.h"
#include "base/words.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::app {

struct HandlerConfig {
  enum class Kind { exec, http, noop, sleep, compute };

  std::string type;
  Kind kind = Kind::noop;
  std::vector<std::string> argv;  // exec: program and arguments.
  std::string url;                // http.
  std::string queue;              // Empty: the type is registered already, or goes to 'default'.
  std::optional<std::chrono::milliseconds> timeout;
  std::map<std::string, std::string> env;
  std::vector<std::string> pass_env;           // Variables taken over from the worker's own.
  std::map<std::string, std::string> headers;  // http.
  std::string cwd;                             // exec; absolute.
  std::optional<std::uint64_t> memory_bytes;   // exec limits.
  std::optional<std::uint64_t> cpu_seconds;
  std::optional<std::uint64_t> file_bytes;
  std::optional<std::uint64_t> open_files;
  std::optional<std::uint64_t> processes;
  int line = 0;
};

struct QueueConfig {
  std::string name;
  json::Object policy;
};

// Relative programs and folders are taken from `folder`, where the file lies.
Result<std::vector<HandlerConfig>> read_handlers(const TomlFile& file,
                                                 const std::filesystem::path& folder);
Result<std::vector<QueueConfig>> read_queues(const TomlFile& file);

using millrace::split_words;
// "512M", "64KiB", "1G", "1048576".
Result<std::uint64_t> parse_bytes(std::string_view text);
// The fields of a queue policy that may be set, with the type of each.
bool is_duration_policy(std::string_view field);
std::vector<std::string> queue_policy_fields();

}  // namespace millrace::app
