// LineSplitter: turns chunks of bytes from a pipe into bounded lines.
//
// Flow: feed() takes chunks as they come and calls the sink once per line, without "\n" or "\r\n";
// finish() hands out a last line that had no line end. Memory stays below line_max_bytes.
// Threading: none of its own.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace millrace::sandbox {

class LineSplitter {
 public:
  enum class Overlong {
    cut,   // Hand out the beginning, marked as cut: log lines.
    drop,  // Hand out nothing: half a JSON line is no line.
  };
  struct Options {
    std::size_t line_max_bytes;
    std::size_t total_max_bytes;  // Of lines handed out; the rest is dropped.
    Overlong overlong = Overlong::cut;
    // Handed out once, in place of the first line that is beyond total_max_bytes; not when empty.
    std::string truncation_notice;
  };
  using Sink = std::function<void(std::string_view line)>;

  LineSplitter(Options options, Sink sink);

  void feed(std::string_view bytes);
  void finish();
  // Something was dropped: a line beyond the total, or an overlong one with Overlong::drop.
  bool truncated() const { return truncated_; }

 private:
  void append(std::string_view part);
  void end_line();
  void hand_out(std::string_view line);

  Options options_;
  Sink sink_;
  std::string line_;       // The unfinished line, at most line_max_bytes + 1 ("\r").
  bool overlong_ = false;  // The unfinished line is longer than line_.
  bool full_ = false;      // total_max_bytes is used up.
  bool truncated_ = false;
  std::size_t total_bytes_ = 0;
};

}  // namespace millrace::sandbox
