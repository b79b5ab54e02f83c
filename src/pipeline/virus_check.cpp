#include "pipeline/virus_check.h"

#include "blob/disk.h"
#include "provider/clamd.h"

#include <boost/json/object.hpp>

#include <cerrno>
#include <chrono>
#include <span>
#include <unistd.h>

namespace millrace::pipeline {
namespace {

// A daemon that is started again is noticed within this.
constexpr std::chrono::seconds kAwayPause{15};

Result<std::size_t> read_some(int fd, std::span<std::byte> buffer) {
  for (;;) {
    const auto got = ::read(fd, buffer.data(), buffer.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) return fail(ErrorKind::unavailable, "cannot read a scratch file");
  }
}

}  // namespace

json::Object finding(std::string_view rule, std::string_view severity, std::string_view detail) {
  json::Object object;
  object["rule"] = rule;
  object["severity"] = severity;
  object["detail"] = storable_text(detail, 500);
  return object;
}

Outcome not_looked(const provider::CallFailure& failure) {
  if (provider::is_away(failure)) return Outcome::held_up(failure.message, kAwayPause);
  return provider::to_outcome(failure, "clamd");
}

awaitable<VirusCheck> ask_clamd(StageJob& job, const sandbox::UniqueFd& file) {
  const int fd = file.get();
  auto threads = job.services.threads;
  auto verdict = co_await job.services.clamd->scan(
      [fd, threads](std::span<std::byte> buffer) -> Task<std::size_t> {
        co_return co_await blob::on_disk(threads, [fd, buffer] { return read_some(fd, buffer); });
      },
      job.context->token());
  if (!verdict) {
    // Not having looked is no clean bill.
    co_return VirusCheck{.failed = not_looked(verdict.error())};
  }
  if (!verdict->found) co_return VirusCheck{};
  co_return VirusCheck{.found = finding("virus", "refuse", verdict->signature)};
}

}  // namespace millrace::pipeline
