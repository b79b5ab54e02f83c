#include "base/history.h"

#include "base/random.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <ctime>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

namespace millrace::history {
namespace {

std::atomic<int> file = -1;
std::atomic<std::uint64_t> last_call = 0;

std::int64_t monotonic_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

}  // namespace

Result<void> open_history(const std::string& directory, std::string_view role) {
  SystemRandom random;
  const auto actor =
      fmt::format("{}-{}-{:08x}", role, ::getpid(), static_cast<std::uint32_t>(random.next()));
  const auto path = fmt::format("{}/{}.jsonl", directory, actor);
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) {
    return fail(ErrorKind::unavailable, fmt::format("cannot write the history {}: {}", path,
                                                    std::system_category().message(errno)));
  }
  file = fd;
  detail::on = true;
  using namespace std::chrono;
  const auto wall = duration_cast<milliseconds>(system_clock::now().time_since_epoch());
  record("hello", {{"actor", actor},
                   {"role", std::string(role)},
                   {"pid", ::getpid()},
                   {"wall_ms", wall.count()}});
  return {};
}

void record(std::string_view op, const json::Object& fields) {
  if (!enabled()) return;
  auto line = fmt::format(R"({{"t":{},"op":{})", monotonic_ns(), json_quote(op));
  if (fields.empty()) {
    line += "}\n";
  } else {
    line += ',';
    line += std::string_view(to_json(fields)).substr(1);
    line += '\n';
  }
  // Nothing can be done about a full disk here; the checker sees a call without an end.
  [[maybe_unused]] const auto written = ::write(file, line.data(), line.size());
}

Call::Call(std::string_view op, json::Object detail)
    : op_(op), number_(enabled() ? ++last_call : 0) {
  if (number_ == 0) return;
  json::Object fields{{"n", number_}, {"ph", "call"}};
  for (auto& [key, value] : detail) fields.emplace(key, std::move(value));
  record(op_, fields);
}

void Call::ok(json::Object answer) const { finish("ok", std::move(answer)); }

void Call::failed(const Error& error) const {
  finish(
      error.kind == ErrorKind::in_doubt || error.kind == ErrorKind::cancelled ? "unknown" : "fail",
      {{"error", error.message}});
}

void Call::finish(std::string_view phase, json::Object fields) const {
  if (number_ == 0) return;
  json::Object line{{"n", number_}, {"ph", std::string(phase)}};
  for (auto& [key, value] : fields) line.emplace(key, std::move(value));
  record(op_, line);
}

}  // namespace millrace::history
