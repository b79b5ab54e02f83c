// Settings: every effective value and where it came from.
//
// Flow: defaults, then millrace.toml, then the environment, then flags; the later wins. Two names
// of one setting in the environment that disagree are an error, and so is a key nobody knows.
// Everything is checked here, before anything is started.
#pragma once

#include "app/config/schema.h"
#include "app/config/wiring.h"
#include "app/terminal.h"
#include "base/result.h"

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace millrace::app {

struct Setting {
  std::string value;
  std::string origin;  // "default", "millrace.toml:12", "environment DATABASE_URL", "--slots"
  bool is_set = false;
};

class Settings {
 public:
  struct Sources {
    std::optional<std::filesystem::path> file;  // Given by the user; must exist.
    std::filesystem::path folder = ".";         // Where millrace.toml is looked for otherwise.
    Environment environment;
  };
  static Result<Settings> load(const Sources& sources);

  Result<void> set_flag(std::string_view name, std::string value, std::string_view flag);

  const Setting& get(std::string_view name) const;
  bool is_set(std::string_view name) const { return get(name).is_set; }
  const std::string& text(std::string_view name) const { return get(name).value; }
  std::int64_t integer(std::string_view name) const;
  bool boolean(std::string_view name) const;
  std::chrono::milliseconds duration(std::string_view name) const;
  std::optional<std::chrono::milliseconds> optional_duration(std::string_view name) const;
  std::vector<std::string> list(std::string_view name) const;

  const std::vector<HandlerConfig>& handlers() const { return handlers_; }
  const std::vector<QueueConfig>& queues() const { return queues_; }
  // The file that was read, if any.
  const std::optional<std::filesystem::path>& file() const { return file_; }

 private:
  Result<void> read_file(const std::filesystem::path& path, const Environment& environment);
  Result<void> read_environment(const Environment& environment);

  std::map<std::string, Setting, std::less<>> values_;
  std::vector<HandlerConfig> handlers_;
  std::vector<QueueConfig> queues_;
  std::optional<std::filesystem::path> file_;
};

}  // namespace millrace::app
