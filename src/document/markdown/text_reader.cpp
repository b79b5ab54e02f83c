// Plain text: blank lines part blocks, form feeds part pages, '>' at the start of lines is a quote.
#include "document/bounded/refusal.h"
#include "document/markdown/escape.h"
#include "document/markdown/plain_lines.h"
#include "document/markdown/readers.h"
#include "document/markdown/text_blocks.h"

#include <algorithm>
#include <utility>

namespace millrace::document {
namespace {

constexpr std::size_t kBlockLinesMax = 10'000;  // Longer ones are cut: lines are remembered.

// Marks of quotes at the start of a line are taken off and counted.
std::size_t take_quotes(std::string_view& line) {
  std::size_t depth = 0;
  while (line.starts_with('>')) {
    line.remove_prefix(1);
    if (line.starts_with(' ')) line.remove_prefix(1);
    ++depth;
  }
  return std::min(depth, MarkdownWriter::kDepthMax / 2);
}

class TextReader {
 public:
  explicit TextReader(MarkdownWriter& out) : out_(out) {}

  void line(std::string_view text) {
    const auto depth = take_quotes(text);
    if (depth != depth_) {
      finish_blocks();
      for (; depth_ < depth; ++depth_) out_.begin_quote();
      for (; depth_ > depth; --depth_) out_.end_quote();
    }
    const bool blank = text.find_first_not_of(" \t") == text.npos;
    if (blank) return end_block();
    block_.push_back(text);
    if (block_.size() >= kBlockLinesMax) end_block();
  }
  void end_block() {
    if (block_.empty()) return;
    write_held(block_.front());
    held_ = std::exchange(block_, {});
  }
  void finish() {
    finish_blocks();
    for (; depth_ > 0; --depth_) out_.end_quote();
  }

 private:
  void finish_blocks() {
    end_block();
    write_held({});
  }

  // One block is held until it is known what follows: a heading has a text under it, an item of a
  // list the next number.
  void write_held(std::string_view next) {
    if (held_.empty()) return;
    const auto heading = held_.size() == 1 ? numbered_heading(held_.front()) : NumberedHeading{};
    const bool among_items = after_item_ || is_numbered_item(next);
    if (heading.level > 0 && (heading.is_sure || (!next.empty() && !among_items))) {
      after_item_ = false;
      const auto text = trimmed(held_.front());
      out_.heading(heading.level, escaped(text));
    } else {
      after_item_ = is_numbered_item(held_.front());
      write_text_block(held_, out_);
    }
    held_.clear();
  }

  static bool is_numbered_item(std::string_view line) {
    const auto found = list_marker(line);
    return found && found.marker != "-";
  }
  static std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kBlank = " \t\r";
    text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
    return text.substr(0, text.find_last_not_of(kBlank) + 1);
  }

  MarkdownWriter& out_;
  std::vector<std::string_view> block_;
  std::vector<std::string_view> held_;
  bool after_item_ = false;  // The block before it was numbered, and no heading.
  std::size_t depth_ = 0;
};

}  // namespace

Result<void> read_plain_text(std::string_view text, ReadContext& context) {
  while (text.ends_with('\f') || text.ends_with('\n') || text.ends_with('\r')) {
    text.remove_suffix(1);
  }
  const auto breaks = static_cast<std::uint64_t>(std::ranges::count(text, '\f'));
  if (breaks >= context.limits.pages_max) {
    return refuse("page_count", "the text has more pages than are allowed");
  }
  context.report.has_pages = breaks > 0;
  context.report.page_count = static_cast<std::uint32_t>(breaks + 1);
  TextReader reader(context.out);
  std::uint32_t page = 1;
  if (breaks > 0) context.out.page(page);
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of("\n\f\r"), text.size());
    reader.line(text.substr(0, end));
    if (end < text.size() && text[end] == '\f') {
      reader.finish();
      context.out.page(++page);
    }
    const bool pair = text.substr(end).starts_with("\r\n");
    text.remove_prefix(std::min(end + (pair ? 2 : 1), text.size()));
    MR_TRY_VOID(context.out.state());
  }
  reader.finish();
  return context.out.state();
}

}  // namespace millrace::document
