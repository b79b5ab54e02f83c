// MarkdownWriter: blocks become lines of Markdown and leave through the sink in pieces.
//
// Readers of formats call it in the order of the document. What it takes as Markdown has been
// escaped already (InlineText, escaped()); what it takes as text is escaped here. Lists and quotes
// are containers: what is written between begin and end stands within. Nothing is remembered but
// the piece that is not full yet.
//
// Errors are kept and told by finish(); readers ask state() in long loops.
#pragma once

#include "document/op.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::document {

using TableRows = std::vector<std::vector<std::string>>;  // Cells in Markdown.

class MarkdownWriter {
 public:
  explicit MarkdownWriter(OpSink& sink, std::uint64_t bytes_max = kBytesMax)
      : sink_(sink), bytes_max_(bytes_max) {}

  void page(std::uint32_t number);                     // Ends all lists and quotes.
  void heading(int level, std::string_view markdown);  // 1 to 6.
  void paragraph(std::string_view markdown);           // Line ends within are hard breaks.
  void code(std::string_view text, std::string_view language = {});
  void table(const TableRows& rows);  // The first row is the head. Rows are made equally long.
  void rule();
  void raw_line(std::string_view line);  // As it is; no empty line before it.

  void begin_list();
  void begin_item(std::string_view marker);  // "-" or "3."; ends the item before it.
  void end_list();
  void begin_quote();
  void end_quote();
  std::size_t depth() const { return containers_.size(); }

  void progress(int done, int total) { sink_.progress(done, total); }
  std::uint64_t bytes() const { return bytes_; }
  const Result<void>& state() const { return state_; }
  Result<void> finish();

  static constexpr std::uint64_t kBytesMax = 256ULL * 1024 * 1024;
  static constexpr std::size_t kDepthMax = 16;  // What is deeper stands at this depth.

 private:
  struct Container {
    bool is_list = false;
    bool has_items = false;
    std::string marker = {};  // Of the open item until its first line is written.
    std::size_t indent = 0;   // Of the open item; 0: none is open.
  };

  void begin_block();
  void blank_line();
  void line(std::string_view text);
  std::string prefix(bool for_blank);
  void put(std::string_view text);
  void flush();

  OpSink& sink_;
  std::uint64_t bytes_max_;
  std::string piece_;
  std::vector<Container> containers_;
  std::size_t too_deep_ = 0;
  std::uint64_t bytes_ = 0;
  bool needs_blank_ = false;
  Result<void> state_ = {};
};

}  // namespace millrace::document
