#include "sandbox/line_splitter.h"

#include <utility>

namespace millrace::sandbox {
namespace {

constexpr std::string_view kCutMark = " [line cut]";

bool is_utf8_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

// At most `size_max` bytes of `text`, without splitting a UTF-8 character.
std::string_view cut_to(std::string_view text, std::size_t size_max) {
  if (text.size() <= size_max) return text;
  std::size_t size = size_max;
  while (size > 0 && size_max - size < 4 && is_utf8_continuation(text[size])) --size;
  // Four continuation bytes in a row are not UTF-8; then any place is as good as another.
  if (is_utf8_continuation(text[size])) size = size_max;
  return text.substr(0, size);
}

}  // namespace

LineSplitter::LineSplitter(Options options, Sink sink)
    : options_(std::move(options)), sink_(std::move(sink)) {}

void LineSplitter::feed(std::string_view bytes) {
  while (!bytes.empty() && !full_) {
    const auto end = bytes.find('\n');
    if (end == std::string_view::npos) {
      append(bytes);
      return;
    }
    append(bytes.substr(0, end));
    end_line();
    bytes.remove_prefix(end + 1);
  }
}

void LineSplitter::finish() {
  if (!line_.empty() || overlong_) end_line();
}

void LineSplitter::append(std::string_view part) {
  const std::size_t room = options_.line_max_bytes + 1 - line_.size();
  if (part.size() > room) overlong_ = true;
  line_.append(part.substr(0, room));
}

void LineSplitter::end_line() {
  if (!overlong_ && line_.ends_with('\r')) line_.pop_back();
  if (line_.size() > options_.line_max_bytes) overlong_ = true;
  if (!overlong_) {
    hand_out(line_);
  } else if (options_.overlong == Overlong::drop) {
    truncated_ = true;
  } else {
    std::string cut(cut_to(line_, options_.line_max_bytes));
    cut += kCutMark;
    hand_out(cut);
  }
  line_.clear();
  overlong_ = false;
}

void LineSplitter::hand_out(std::string_view line) {
  if (full_) return;
  total_bytes_ += line.size() + 1;
  if (total_bytes_ <= options_.total_max_bytes) {
    if (sink_) sink_(line);
    return;
  }
  full_ = true;
  truncated_ = true;
  if (sink_ && !options_.truncation_notice.empty()) sink_(options_.truncation_notice);
}

}  // namespace millrace::sandbox
