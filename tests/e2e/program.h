// The program under test: run it to its end, or keep it running until told to stop.
#pragma once

#include "base/json.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace millrace::test {

struct RunOptions {
  std::map<std::string, std::string> env;  // Added to a clean environment.
  std::string stdin_text;
  std::filesystem::path cwd;  // Empty: a folder without millrace.toml.
  std::chrono::seconds timeout{60};
};

struct RunResult {
  int code = -1;  // 128 + signal when it was killed.
  std::string out;
  std::string err;

  std::size_t error_lines() const;
  json::Value json() const;  // Of out; throws when it is not JSON.
};

// argv without the program's own name.
RunResult run_millrace(const std::vector<std::string>& arguments, const RunOptions& options = {});
RunResult run_command(const std::vector<std::string>& argv, const RunOptions& options = {});

// A folder that goes away with the object.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

class BackgroundProgram {
 public:
  BackgroundProgram(const std::vector<std::string>& arguments, const RunOptions& options);
  ~BackgroundProgram();  // Kills it if it still runs.
  BackgroundProgram(const BackgroundProgram&) = delete;
  BackgroundProgram& operator=(const BackgroundProgram&) = delete;

  // The content of its --ready-file, as soon as there is one; throws when it ends first.
  json::Object wait_for_ready(const std::filesystem::path& ready_file);
  void signal(int number) const;
  int wait();  // Exit code; 128 + signal when it was killed.
  pid_t pid() const { return pid_; }
  std::string err() const;  // So far.

 private:
  std::optional<int> ended();

  pid_t pid_ = -1;
  std::optional<int> code_;
  TempFolder folder_;
};

// Calls `holds` until it does, up to a minute; false when it never did.
template <class Condition>
bool eventually(Condition holds) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    timespec pause{.tv_sec = 0, .tv_nsec = 20'000'000};
    ::nanosleep(&pause, nullptr);
  }
  return true;
}

}  // namespace millrace::test
