// ReadyFile: tells scripts that a command is ready, and is gone when the command is.
//
// {pid, database_url, data_dir, socket_dir, version, started_at, ...}, written at once and whole.
#pragma once

#include "base/json.h"
#include "base/result.h"

#include <filesystem>
#include <optional>

namespace millrace::app {

class ReadyFile {
 public:
  ReadyFile() = default;  // Nobody asked for one.
  explicit ReadyFile(std::filesystem::path path);
  ~ReadyFile();  // Removes it, if it is still ours.
  ReadyFile(const ReadyFile&) = delete;
  ReadyFile& operator=(const ReadyFile&) = delete;

  // Adds pid, version and started_at. Once; later calls do nothing.
  Result<void> write(json::Object content);
  // A file left by a process that was killed would be believed: it is removed first.
  Result<void> remove_stale();

 private:
  std::optional<std::filesystem::path> path_;
  bool written_ = false;
};

}  // namespace millrace::app
