#include "http/sse.h"

#include "http/server_utf8.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace millrace::http {
namespace {

constexpr std::string_view kLineEnds("\r\n\0", 3);

// `text` line by line, each with `prefix` in front.
void append_lines(std::string& out, std::string_view prefix, std::string_view text) {
  for (;;) {
    const auto end = text.find_first_of("\r\n");
    out.append(prefix);
    append_as_utf8(out, text.substr(0, end));
    out.push_back('\n');
    if (end == text.npos) return;
    const bool pair = text.substr(end).starts_with("\r\n");
    text.remove_prefix(end + (pair ? 2 : 1));
  }
}

}  // namespace

SseFrame::SseFrame(std::string_view text) {
  std::string bytes = fmt::format("{:x}\r\n", text.size());
  head_size_ = bytes.size();
  bytes.reserve(head_size_ + text.size() + 2);
  bytes.append(text).append("\r\n");
  bytes_ = std::make_shared<const std::string>(std::move(bytes));
}

Result<SseFrame> SseFrame::make(const SseEvent& event) {
  if (event.event.find_first_of(kLineEnds) != event.event.npos) {
    return fail(ErrorKind::invalid_argument, "the name of an event must be one line");
  }
  if (event.event == "error") {
    return fail(ErrorKind::invalid_argument, "an event must not be named error");
  }
  if (event.id && event.id->find_first_of(kLineEnds) != event.id->npos) {
    return fail(ErrorKind::invalid_argument, "the id of an event must be one line");
  }
  std::string text;
  text.reserve(event.data.size() + event.event.size() + 64);
  if (event.id) append_lines(text, "id: ", *event.id);
  if (!event.event.empty()) append_lines(text, "event: ", event.event);
  if (event.retry) fmt::format_to(std::back_inserter(text), "retry: {}\n", event.retry->count());
  append_lines(text, "data: ", event.data);
  text.push_back('\n');
  return SseFrame(text);
}

SseFrame SseFrame::comment(std::string_view text) {
  std::string lines;
  append_lines(lines, ": ", text);
  lines.push_back('\n');
  return SseFrame(lines);
}

SseFrame SseFrame::retry(std::chrono::milliseconds wait) {
  return SseFrame(fmt::format("retry: {}\n\n", wait.count()));
}

Result<SseFrame> SseFrame::position(std::string_view id) {
  if (id.find_first_of(kLineEnds) != id.npos) {
    return fail(ErrorKind::invalid_argument, "the id of an event must be one line");
  }
  std::string text;
  append_lines(text, "id: ", id);
  text.push_back('\n');
  return SseFrame(text);
}

std::string_view SseFrame::text() const {
  return std::string_view(*bytes_).substr(head_size_, bytes_->size() - head_size_ - 2);
}

}  // namespace millrace::http
