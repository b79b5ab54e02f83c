// Ledger: what the handlers say they did, in a file outside the engine.
//
// One line per event: "<job type> <job id> <what> [note]". Programs of the demo append to the same
// file. It proves the engine's account independently. Thread-safe: a line is one write.
#pragma once

#include "base/result.h"
#include "base/uuid.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::app {

struct LedgerLine {
  std::string job_type;
  std::string job_id;
  std::string what;  // done, retry, stopped
  std::string note;
};

class Ledger {
 public:
  // Starts an empty file.
  static Result<Ledger> create(const std::filesystem::path& path);

  Ledger(Ledger&& other) noexcept;
  Ledger& operator=(Ledger&&) = delete;
  ~Ledger();

  void append(std::string_view job_type, const JobId& id, std::string_view what,
              std::string_view note = {}) const;
  void append(std::string_view job_type, std::string_view id, std::string_view what,
              std::string_view note = {}) const;
  const std::filesystem::path& path() const { return path_; }

  static Result<std::vector<LedgerLine>> read(const std::filesystem::path& path);

 private:
  Ledger(std::filesystem::path path, int fd) : path_(std::move(path)), fd_(fd) {}

  std::filesystem::path path_;
  int fd_;
};

}  // namespace millrace::app
