#include "app/demo/ledger.h"

#include "base/assert.h"
#include "base/file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sstream>
#include <unistd.h>

namespace millrace::app {

Result<Ledger> Ledger::create(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) {
    return fail(ErrorKind::unavailable,
                fmt::format("cannot write {}: {}", path.string(), std::strerror(errno)));
  }
  return Ledger(path, fd);
}

Ledger::Ledger(Ledger&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

Ledger::~Ledger() {
  if (fd_ >= 0) ::close(fd_);
}

void Ledger::append(std::string_view job_type, const JobId& id, std::string_view what,
                    std::string_view note) const {
  append(job_type, id.to_string(), what, note);
}

void Ledger::append(std::string_view job_type, std::string_view id, std::string_view what,
                    std::string_view note) const {
  const auto line =
      fmt::format("{} {} {}{}{}\n", job_type, id, what, note.empty() ? "" : " ", note);
  const auto written = ::write(fd_, line.data(), line.size());
  MR_ASSERT(written == static_cast<ssize_t>(line.size()));  // Appends to a local file are whole.
}

Result<std::vector<LedgerLine>> Ledger::read(const std::filesystem::path& path) {
  MR_TRY(const auto text, read_file(path));
  std::vector<LedgerLine> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    LedgerLine entry;
    words >> entry.job_type >> entry.job_id >> entry.what;
    std::getline(words >> std::ws, entry.note);
    if (entry.what.empty()) {
      return fail(ErrorKind::internal, fmt::format("the ledger has a broken line: '{}'", line));
    }
    lines.push_back(std::move(entry));
  }
  return lines;
}

}  // namespace millrace::app
