// ShownText: whether a Markdown shows anything. Marks of pages and rules of tables show nothing: a
// page that is blank, or that nobody can read, has its mark and no text (docs/ingest.md). Nor do
// spaces of any width, and characters that are not seen.
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
  void look_for_rules(std::string_view part);
  void end_line();

  std::string line_;
  std::string begun_;       // Of the character that a piece ended in.
  bool only_rules_ = true;  // As far as the line goes.
  bool found_ = false;
};

bool shows_text(std::string_view markdown);

// Whether there is nothing but spaces and characters that are not seen.
bool is_blank(std::string_view text);

// What is embedded in place of a text without anything to embed: chunks tile the whole document, so
// a long run of spaces is one too, and models and services refuse those.
inline constexpr std::string_view kNeutralText = ".";

}  // namespace millrace::pipeline
