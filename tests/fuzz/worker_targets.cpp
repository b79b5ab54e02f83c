#include "base/json.h"
#include "cluster/binaries.h"
#include "cluster/postmaster.h"
#include "fuzz/targets.h"
#include "http/message.h"
#include "http/request_check.h"
#include "http/retry_after.h"
#include "sandbox/line_splitter.h"
#include "worker/handlers/control_line.h"
#include "worker/handlers/exec_outcome.h"
#include "worker/handlers/http_outcome.h"
#include "worker/job_context.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace millrace::fuzz {
namespace {

using std::chrono::milliseconds;
using std::chrono::sys_seconds;

// From 1970 to 2106.
Clock::Wall take_now(Input& input) {
  std::uint32_t seconds = 0;
  for (int i = 0; i < 4; ++i) seconds = seconds << 8U | take_byte(input);
  return Clock::Wall(std::chrono::seconds(seconds));
}

}  // namespace

// Four bytes say what time it is.
void fuzz_retry_after(Input input) {
  const auto now = take_now(input);
  const auto wait = http::parse_retry_after(input, now);
  if (wait) {
    property(*wait >= milliseconds(0), "nobody waits backwards");
    property(*wait <= http::kRetryAfterMax, "nobody waits for ever");
    property(http::parse_retry_after(fmt::format(" \t{} ", input), now) == wait,
             "blanks around it do not matter", input);
  }
  const auto date = http::parse_http_date(input, now);
  if (date) {
    const auto text =
        fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT",
                    fmt::gmtime(static_cast<std::time_t>(date->time_since_epoch().count())));
    property(http::parse_http_date(text, now) == date, "a date is read as it is written", text);
    // The year of two digits lies at most 50 years ahead.
    if (input.contains('-')) {
      property(*date < now + std::chrono::years(51), "a short year is near", input);
    }
  }
  check_linear(
      input, [&](std::string_view text) { static_cast<void>(http::parse_retry_after(text, now)); });
}

// Lines: method, header name, header value, then the URL. A password stands where it says "~".
void fuzz_request(Input input) {
  http::Request request;
  request.method = take_line(input);
  const std::string name(take_line(input));
  const std::string value(take_line(input));
  if (!name.empty()) request.headers.emplace_back(name, value);
  request.url = input;
  const auto tilde = request.url.find('~');
  if (tilde != request.url.npos) request.url.replace(tilde, 1, kSecret);
  const auto origin = http::check_request(request);
  if (!origin) {
    check_told(origin.error());
    // What is wrong with a header is said by its name, which may be any.
    property(!origin.error().message.contains(kSecret) || name.contains(kSecret) ||
                 value.contains(kSecret) || request.method.contains(kSecret),
             "an error shows no part of the URL", origin.error().message);
    return;
  }
  property(origin->starts_with("http://") || origin->starts_with("https://"), "a scheme", *origin);
  property(origin->rfind(':') > 5, "a port", *origin);
  property(origin->find_first_of("?#@", 8) == origin->npos,
           "an origin has no more than host and port", *origin);
  for (const auto& header : request.headers) {
    property(header.second.find_first_of("\r\n") == header.second.npos, "no header starts another");
  }
  // Behind the host nothing of the URL is shown.
  const auto slash = request.url.find('/', 8);
  if (tilde != request.url.npos && slash != request.url.npos && tilde > slash) {
    property(!origin->contains(kSecret), "the path is not shown", *origin);
  }
}

namespace {

void check_outcome(const Outcome& outcome) {
  if (!outcome.result_json.empty()) {
    property(outcome.result_json.size() <= 256 * 1024, "a result is bounded");
    property(parse_json(outcome.result_json).has_value(), "a result is JSON", outcome.result_json);
  }
  if (!outcome.error_json.empty()) {
    const auto error = parse_json_object(outcome.error_json);
    if (!error) broken("an error is a JSON object", outcome.error_json);
    property(error->contains("error_type"), "an error has a type");
    property(error->contains("message"), "an error has a message");
    property(outcome.error_json.size() < 128 * 1024, "an error is bounded");
  }
  property(outcome.succeeded() || !outcome.error_json.empty(), "a failure says why");
  if (outcome.retry_after) {
    property(*outcome.retry_after >= milliseconds(0), "nobody waits backwards");
    property(*outcome.retry_after <= std::chrono::hours(24), "nobody waits for ever");
  }
}

}  // namespace

// Two bytes of status, lines Content-Type and Retry-After, then the body.
void fuzz_http_outcome(Input input) {
  http::Response response;
  const auto high = take_byte(input);
  response.status = high % 10 * 100 + take_byte(input) % 100;
  response.body_truncated = high >= 0xf0;
  response.headers.emplace_back("Content-Type", take_line(input));
  const std::string retry_after(take_line(input));
  if (!retry_after.empty()) response.headers.emplace_back("RETRY-AFTER", retry_after);
  response.body = input;
  const Clock::Wall now(std::chrono::seconds(1'900'000'000));
  const auto outcome = worker::http_outcome(response, now);
  check_outcome(outcome);
  using Kind = Outcome::Kind;
  const bool success = response.status >= 200 && response.status < 300;
  property(success || outcome.kind != Kind::ok, "only 2xx is success");
  property(response.status != 429 || outcome.kind == Kind::throttled, "429 is throttled");
  property(response.status < 500 || outcome.kind == Kind::retry || outcome.kind == Kind::throttled,
           "the server's own trouble is worth another try");
  if (outcome.kind == Kind::ok && parse_json(response.body)) {
    property(outcome.result_json.empty() || outcome.result_json == response.body,
             "JSON is passed on as it is");
  }
}

namespace {

struct Split {
  std::vector<std::string> lines;
  bool truncated = false;

  bool operator==(const Split&) const = default;
};

// Feeds the text in pieces of the sizes that `sizes` repeats.
Split split_lines(Input text, std::string_view sizes,
                  const sandbox::LineSplitter::Options& options) {
  Split result;
  sandbox::LineSplitter splitter(options,
                                 [&](std::string_view line) { result.lines.emplace_back(line); });
  for (std::size_t i = 0; !text.empty(); ++i) {
    const std::size_t wanted = sizes.empty()
                                   ? text.size()
                                   : 1U + static_cast<unsigned char>(sizes[i % sizes.size()]) % 16U;
    const auto size = std::min(wanted, text.size());
    splitter.feed(text.substr(0, size));
    text.remove_prefix(size);
  }
  splitter.finish();
  result.truncated = splitter.truncated();
  return result;
}

// The same by the simplest means: lines first, limits afterwards.
Split plain_lines(Input text, const sandbox::LineSplitter::Options& options) {
  Split result;
  std::size_t total = 0;
  while (!text.empty()) {
    auto line = take_line(text);
    if (line.ends_with('\r') && line.size() <= options.line_max_bytes + 1) line.remove_suffix(1);
    std::string out(line);
    if (line.size() > options.line_max_bytes) {
      if (options.overlong == sandbox::LineSplitter::Overlong::drop) {
        result.truncated = true;
        continue;
      }
      out = "(cut)";
      total += options.line_max_bytes;  // Only roughly: such texts are not compared.
    }
    total += out.size() + 1;
    if (total > options.total_max_bytes) {
      result.truncated = true;
      if (!options.truncation_notice.empty()) result.lines.push_back(options.truncation_notice);
      break;
    }
    result.lines.push_back(std::move(out));
  }
  return result;
}

}  // namespace

// Bytes: line limit, total limit, kind; then a line of piece sizes; then what comes from the pipe.
void fuzz_lines(Input input) {
  using Splitter = sandbox::LineSplitter;
  Splitter::Options options{.line_max_bytes = take_byte(input) % 64U,
                            .total_max_bytes = take_byte(input) * 4U,
                            .overlong = Splitter::Overlong::cut,
                            .truncation_notice = {}};
  const auto kind = take_byte(input);
  if (kind % 2 == 1) options.overlong = Splitter::Overlong::drop;
  if (kind % 4 >= 2) options.truncation_notice = "(more)";
  const auto sizes = take_line(input);
  const auto whole = split_lines(input, {}, options);
  property(split_lines(input, sizes, options) == whole, "how it arrives does not matter");
  property(split_lines(input, std::string_view("\0", 1), options) == whole,
           "byte by byte it is the same");
  std::size_t total = 0;
  bool cut = false;
  for (const auto& line : whole.lines) {
    constexpr std::size_t kMarkBytes = 11;  // " [line cut]"
    const bool marked = line.ends_with(" [line cut]");
    property(!line.contains('\n'), "a line is a line");
    property(line.size() <= options.line_max_bytes + (marked ? kMarkBytes : 0) ||
                 line == options.truncation_notice,
             "a line is bounded", line);
    if (is_utf8(input)) property(is_utf8(line), "no character is cut in two", line);
    cut = cut || marked;
    if (line != options.truncation_notice) total += line.size() + 1;
  }
  property(total <= options.total_max_bytes, "the total is bounded");
  if (!cut && !input.contains("[line cut]")) {
    property(whole == plain_lines(input, options) || options.overlong == Splitter::Overlong::cut,
             "lines are what lies between line ends");
  }
  check_linear(input, [&](std::string_view text) { split_lines(text, {}, options); });
}

// A byte for how the program ended, then a line for stdout; the rest are lines of fd 3.
void fuzz_control(Input input) {
  ManualClock clock;
  const ClaimedJob job;
  const worker::LogCap cap{.lines_max = 100, .bytes_max = 10'000, .line_bytes_max = 200};
  worker::JobOutput output(clock, cap, [] {});
  worker::JobContext context({.job = job,
                              .output = output,
                              .token = {},
                              .clock = clock,
                              .deadline = {},
                              .run_timeout = milliseconds(1)});
  worker::ExecNotes notes;
  sandbox::ChildResult result;
  const auto end = take_byte(input);
  result.stdout_text = take_line(input);
  for (const auto& line : take_lines(input)) {
    worker::take_control_line(line, context, notes);
    if (notes.last_line.empty()) notes.last_line = storable_text(line, 500);
  }
  if (notes.retry_after) {
    property(*notes.retry_after >= milliseconds(0), "nobody waits backwards");
    property(*notes.retry_after <= std::chrono::hours(24), "nobody waits for ever");
  }
  const auto report = output.take_report();
  property(report.logs.size() <= cap.lines_max, "log lines are bounded");
  for (const auto& line : report.logs) {
    property(!line.message.contains('\0'), "a log line can be stored");
    property(line.message.size() <= cap.line_bytes_max + 3, "a log line is bounded");
  }
  if (report.progress) {
    property(report.progress->percent >= 0, "progress is not below 0");
    property(report.progress->percent <= 100, "progress is not above 100");
    property(report.progress->data_json.empty() || parse_json(report.progress->data_json),
             "data is JSON", report.progress->data_json);
  }
  result.timed_out = end == 1;
  result.cancelled = end == 2;
  result.output_overflow = end == 3;
  if (end >= 4 && end < 68) result.signal = end - 4;
  if (end >= 68) result.exit_code = end - 68;
  const auto outcome = worker::exec_outcome(result, notes);
  check_outcome(outcome);
  property(outcome.kind != Outcome::Kind::ok || end == 68, "only exit code 0 is success");
  property(outcome.crash == result.signal.has_value(), "a signal is a crash");
  check_linear(input,
               [&](std::string_view text) { worker::take_control_line(text, context, notes); });
}

void fuzz_server_files(Input input) {
  const auto whole = cluster::parse_postmaster_pid(input);
  if (whole) property(whole->pid > 0, "a process number is positive");
  // PostgreSQL writes the file in place: whatever is there so far must not name another process.
  for (std::size_t size = 0; size < std::min<std::size_t>(input.size(), 64); ++size) {
    const auto part = cluster::parse_postmaster_pid(input.substr(0, size));
    if (!part) continue;
    property(whole && part->pid == whole->pid, "a file cut short names the same process or none",
             input.substr(0, size));
    property(!part->ready() || whole->ready(), "a server is not ready before it says so");
    property(part->socket_directory.empty() || part->socket_directory == whole->socket_directory,
             "a folder is named whole or not at all", input.substr(0, size));
  }
  const auto line = cluster::telling_line(input);
  property(input.contains(line), "what is told is part of the log", line);
  property(!line.contains('\n'), "one line is told", line);
  if (const auto version = cluster::parse_version(input)) {
    property(!version->empty(), "a version is not empty");
    property(input.contains(*version), "a version is what the program said", *version);
  }
  check_linear(input, [](std::string_view text) {
    static_cast<void>(cluster::telling_line(text));
    static_cast<void>(cluster::parse_postmaster_pid(text));
  });
}

}  // namespace millrace::fuzz
