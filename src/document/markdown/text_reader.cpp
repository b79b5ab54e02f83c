// Plain text: blank lines part blocks, form feeds part pages, '>' at the start of lines is a quote.
#include "document/bounded/refusal.h"
#include "document/markdown/escape.h"
#include "document/markdown/plain_lines.h"
#include "document/markdown/readers.h"
#include "document/markdown/text_blocks.h"

#include <algorithm>
#include <charconv>
#include <optional>
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
    if (block_.size() >= kBlockLinesMax) cut_block();
    block_.push_back(text);
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

  // The rest of a long table has the same head.
  void cut_block() {
    const auto first = block_.front();
    const bool is_table = !list_marker(first) && !delimited_lines(block_).rows.empty();
    end_block();
    if (is_table) block_.push_back(first);
  }

  // One block is held until it is known what follows: a heading has a text under it, an item of a
  // list the next number.
  void write_held(std::string_view next) {
    if (held_.empty()) return;
    const auto number = held_.size() == 1 ? item_number(held_.front()) : std::nullopt;
    // Nothing beneath it but the next item.
    const bool bare = number && (next.empty() || item_number(next) == *number + 1);
    if (!bare || number != next_in_row_) end_row();
    if (bare) {
      add_to_row(held_.front());
      next_in_row_ = *number + 1;
    } else {
      write_alone(held_, next);
    }
    if (next.empty()) end_row();
    held_.clear();
  }

  // "1. RESERVED" may be a heading without a text, "1. ASPIRIN 100 MG" an item of a list: three and
  // more in a row are a list.
  void add_to_row(std::string_view item) {
    constexpr std::size_t kListItemsMin = 3;
    row_.push_back(item);
    if (++in_row_ < kListItemsMin) return;
    for (const auto one : std::exchange(row_, {})) write_text_block({one}, out_);
    after_item_ = true;
  }
  void end_row() {
    // With a number below each of them, only capitals make them headings.
    for (const auto one : std::exchange(row_, {})) write_alone({one}, {});
    in_row_ = 0;
    next_in_row_.reset();
  }

  void write_alone(const std::vector<std::string_view>& block, std::string_view next) {
    const auto first = block.front();
    const auto heading = block.size() == 1 ? numbered_heading(first) : NumberedHeading{};
    const bool among_items = after_item_ || item_number(next);
    if (heading.level > 0 && (heading.is_sure || (!next.empty() && !among_items))) {
      after_item_ = false;
      out_.heading(heading.level, escaped(trimmed(first)));
    } else {
      after_item_ = item_number(first).has_value();
      write_text_block(block, out_);
    }
  }

  // "3. Call Otto": 3.
  static std::optional<int> item_number(std::string_view line) {
    const auto found = list_marker(line);
    if (!found || found.marker == "-") return std::nullopt;
    int number = 0;
    std::from_chars(found.marker.data(), found.marker.data() + found.marker.size(), number);
    return number;
  }
  static std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kBlank = " \t\r";
    text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
    return text.substr(0, text.find_last_not_of(kBlank) + 1);
  }

  MarkdownWriter& out_;
  std::vector<std::string_view> block_;
  std::vector<std::string_view> held_;
  std::vector<std::string_view> row_;  // Items before it that follow each other, not yet written.
  std::size_t in_row_ = 0;             // All of them, also those that are written.
  std::optional<int> next_in_row_;     // The number that goes on with them.
  bool after_item_ = false;            // The block before it was numbered, and no heading.
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
