// ShownText: whether a Markdown shows anything. Marks of pages and rules of tables show nothing: a
// page that is blank, or that nobody can read, has its mark and no text (docs/ingest.md).
//
// Fed in pieces of any size; of a line at most kLineMax bytes are kept.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace millrace::pipeline {

class ShownText {
 public:
  void feed(std::string_view piece);
  // The last line has ended.
  void finish() { end_line(); }
  bool found() const { return found_; }

 private:
  static constexpr std::size_t kLineMax = 256;
  void end_line();

  std::string line_;
  bool only_rules_ = true;  // As far as the line goes.
  bool found_ = false;
};

bool shows_text(std::string_view markdown);

}  // namespace millrace::pipeline
