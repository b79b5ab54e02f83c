#include "blob/remote.h"

#include "http/retry_after.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::blob {
namespace {

constexpr std::size_t kAnswerMaxBytes = 8 * 1024 * 1024;  // A page of 1000 keys has some 400 KB.
constexpr std::size_t kRefusalMaxBytes = 64 * 1024;
constexpr std::chrono::milliseconds kPauseMin{100};
constexpr std::chrono::milliseconds kPauseMax{5'000};

bool is_code_char(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

}  // namespace

// Counts the attempts of one step and says how long to wait for the next.
class Remote::Repeats {
 public:
  explicit Repeats(const Remote& remote)
      : remote_(remote), deadline_(remote.services_.clock.now() + remote.limits_.retry_for) {}

  // Nothing: that was the last.
  std::optional<std::chrono::milliseconds> pause(const std::optional<std::string>& retry_after) {
    if (++made_ >= remote_.limits_.attempts_max) return std::nullopt;
    auto pause = remote_.services_.random.jitter(next_, 0.5);
    next_ = std::min(next_ * 2, kPauseMax);
    if (retry_after) {
      const auto asked = http::parse_retry_after(*retry_after, remote_.wall());
      pause = std::max(pause, asked.value_or(pause));
    }
    if (remote_.services_.clock.now() + pause > deadline_) return std::nullopt;
    return pause;
  }

 private:
  const Remote& remote_;
  Clock::Steady deadline_;
  std::chrono::milliseconds next_ = kPauseMin;
  int made_ = 0;
};

Remote::Remote(std::string store, RemoteServices services, RemoteLimits limits,
               const Dialect& dialect)
    : store_(std::move(store)),
      services_(std::move(services)),
      limits_(std::move(limits)),
      dialect_(dialect) {}

bool Remote::worth_repeating(const Error& error) {
  return error.kind == ErrorKind::unavailable || error.kind == ErrorKind::throttled ||
         error.kind == ErrorKind::in_doubt;
}

Error Remote::named(const Call& call, Error error) const {
  error.message = fmt::format("{}: {}: {}", store_, call.what, error.message);
  // Repeating is safe for all we do, so nobody needs to know that it may have been done.
  if (error.kind == ErrorKind::in_doubt) error.kind = ErrorKind::unavailable;
  return error;
}

Result<http::Request> Remote::prepare(const Call& call) const {
  MR_TRY(auto request, dialect_.sign(call, wall()));
  request.connect_timeout = limits_.connect_timeout;
  request.total_timeout = limits_.request_timeout;
  request.idle_timeout = limits_.request_timeout;
  request.response_max_bytes = kAnswerMaxBytes;
  request.service = store_;
  if (call.part) {
    request.body_source = std::make_shared<SpoolSource>(*call.part->spool, call.part->offset,
                                                        call.part->size_bytes, services_.disk);
    request.body_source_bytes = call.part->size_bytes;
  } else {
    request.body = call.body;
  }
  return request;
}

bool Remote::is_answer(const Call& call, const http::Response& answer) const {
  if (std::ranges::find(call.answers, answer.status) != call.answers.end()) return true;
  return answer.status >= 200 && answer.status < 300 && !dialect_.is_refusal(answer);
}

Task<http::Response> Remote::send_once(const Call* call, std::optional<std::string>* retry_after) {
  MR_CO_TRY(auto request, prepare(*call));
  MR_CO_TRY(auto answer, co_await services_.client.send(std::move(request)));
  if (is_answer(*call, answer) && !answer.body_truncated) co_return answer;
  if (const auto value = answer.header("Retry-After")) *retry_after = std::string(*value);
  if (answer.body_truncated) {
    co_return fail(ErrorKind::internal,
                   fmt::format("the answer has more than {} bytes", kAnswerMaxBytes));
  }
  co_return fail(dialect_.refusal(answer));
}

Task<http::ResponseStream> Remote::open_once(const Call* call,
                                             std::optional<std::string>* retry_after) {
  MR_CO_TRY(auto request, prepare(*call));
  MR_CO_TRY(auto stream, co_await services_.client.open(std::move(request)));
  if (is_answer(*call, stream.head())) co_return stream;
  auto answer = stream.head();
  if (const auto value = answer.header("Retry-After")) *retry_after = std::string(*value);
  MR_CO_TRY(answer.body, co_await stream.read_text(kRefusalMaxBytes));
  co_return fail(dialect_.refusal(answer));
}

template <class T>
Task<T> Remote::repeat(Call call, Once<T> once) {
  Repeats repeats(*this);
  for (;;) {
    std::optional<std::string> retry_after;
    auto answer = co_await (this->*once)(&call, &retry_after);
    if (answer) co_return answer;
    const auto pause = worth_repeating(answer.error()) ? repeats.pause(retry_after) : std::nullopt;
    if (!pause) co_return fail(named(call, std::move(answer).error()));
    co_await services_.clock.sleep_for(*pause);
    if (call.before_repeat) {
      MR_CO_TRY_VOID(co_await call.before_repeat());
    }
  }
}

Task<http::Response> Remote::send(Call call) {
  return repeat<http::Response>(std::move(call), &Remote::send_once);
}

Task<http::ResponseStream> Remote::open(Call call) {
  return repeat<http::ResponseStream>(std::move(call), &Remote::open_once);
}

Result<void> make_spool_folder(const RemoteLimits& limits) {
  if (limits.spool_folder.empty()) {
    return fail(ErrorKind::invalid_argument, "spool_folder is not set");
  }
  return make_folders(limits.spool_folder);
}

Result<void> check_older(const Result<BlobInfo>& info, Clock::Wall before) {
  if (!info) return fail(info.error());
  if (info->modified + std::chrono::seconds(1) <= before) return ok();
  return fail(ErrorKind::conflict, "the blob was written again");
}

Result<bool> removal_of(Error error) {
  if (error.kind == ErrorKind::not_found) return true;
  if (error.kind == ErrorKind::conflict) return false;
  return fail(std::move(error));
}

ErrorKind kind_of_status(int status) {
  if (status == 404) return ErrorKind::not_found;
  if (status == 429 || status == 503) return ErrorKind::throttled;
  if (status == 413) return ErrorKind::invalid_argument;  // Larger than the store takes.
  if (status == 501) return ErrorKind::internal;
  if (status == 408 || status >= 500) return ErrorKind::unavailable;
  return ErrorKind::internal;  // We asked wrongly, or may not: nothing a caller can change.
}

std::string safe_code(std::string_view code) {
  if (code.size() > 64 || !std::ranges::all_of(code, is_code_char)) return {};
  return std::string(code);
}

}  // namespace millrace::blob
