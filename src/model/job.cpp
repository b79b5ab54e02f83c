#include "model/job.h"

#include <array>
#include <utility>

namespace millrace {
namespace {

constexpr std::array<std::pair<JobStatus, std::string_view>, 7> kLabels{{
    {JobStatus::pending, "pending"},
    {JobStatus::processing, "processing"},
    {JobStatus::completed, "completed"},
    {JobStatus::failed, "failed"},
    {JobStatus::cancelled, "cancelled"},
    {JobStatus::retrying, "retrying"},
    {JobStatus::deferred, "deferred"},
}};

}  // namespace

std::string_view to_string(JobStatus status) {
  for (const auto& [value, label] : kLabels) {
    if (value == status) return label;
  }
  return "unknown";
}

Result<JobStatus> parse_job_status(std::string_view text) {
  for (const auto& [value, label] : kLabels) {
    if (label == text) return value;
  }
  return fail(ErrorKind::invalid_argument,
              "status '" + std::string(text) +
                  "' is not one of pending, processing, completed, failed, cancelled, retrying, "
                  "deferred");
}

bool is_final(JobStatus status) {
  return status == JobStatus::completed || status == JobStatus::failed ||
         status == JobStatus::cancelled;
}

}  // namespace millrace
