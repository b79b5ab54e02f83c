#include "app/ready_file.h"

#include "app/context.h"
#include "base/file.h"
#include "base/version.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <chrono>
#include <system_error>
#include <unistd.h>

namespace millrace::app {

ReadyFile::ReadyFile(std::filesystem::path path) : path_(std::move(path)) {}

ReadyFile::~ReadyFile() {
  if (!path_ || !written_) return;
  const auto text = read_file(*path_, 1024 * 1024);
  const auto content = text ? parse_json_object(*text) : Result<json::Object>(json::Object());
  if (!content || int_member(*content, "pid") != ::getpid()) return;
  std::error_code ignored;
  std::filesystem::remove(*path_, ignored);
}

Result<void> ReadyFile::remove_stale() {
  if (!path_) return {};
  std::error_code error;
  std::filesystem::remove(*path_, error);
  if (error) {
    return fail(ErrorKind::invalid_argument, fmt::format("--ready-file: cannot replace {}: {}",
                                                         path_->string(), error.message()));
  }
  return {};
}

Result<void> ReadyFile::write(json::Object content) {
  if (!path_ || written_) return {};
  content["pid"] = ::getpid();
  content["version"] = std::string(kVersion);
  content["started_at"] = format_timestamp(std::chrono::system_clock::now());
  auto written = write_file_atomically(*path_, to_pretty_json(content), 0600);
  if (!written) return fail_with_context("--ready-file", written.error());
  written_ = true;
  return {};
}

}  // namespace millrace::app
