#include "pipeline/export/export_outcome.h"

#include "pipeline/task_outcome.h"
#include "render/request.h"

#include <fmt/format.h>

namespace millrace::pipeline {
namespace {

Outcome crashed(std::string_view error_type, std::string_view message) {
  auto outcome = Outcome::retry(error_type, message);
  outcome.crash = true;
  return outcome;
}

}  // namespace

Outcome failed_render(const Error& error) {
  const auto message =
      error.hint.empty() ? error.message : fmt::format("{}; {}", error.message, error.hint);
  if (error.detail == render::fault::kTimedOut) return Outcome::retry(error.detail, message);
  if (error.detail == render::fault::kNoBrowser) return Outcome::throttled(message, kElsewhere);
  const bool poisonous = error.detail == render::fault::kCrashed ||
                         error.detail == render::fault::kMemory ||
                         error.detail == render::fault::kFlooded;
  if (poisonous) return crashed(error.detail, message);
  if (error.kind == ErrorKind::invalid_argument) {
    return Outcome::permanent(error.detail.empty() ? "invalid_document" : error.detail, message);
  }
  return outcome_of(error, "rendering");
}

Outcome over_quota(const store::ExportRoom& room, std::uint64_t size_bytes) {
  constexpr double kMegabyte = 1024 * 1024;
  return Outcome::permanent(
      "quota_exceeded",
      fmt::format("Storage quota exceeded ({:.2f}MB / {}MB). Delete old exports to continue. This "
                  "file has {:.2f}MB.",
                  room.used_mb, room.limit_mb, static_cast<double>(size_bytes) / kMegabyte));
}

}  // namespace millrace::pipeline
