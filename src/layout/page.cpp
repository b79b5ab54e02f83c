#include "layout/page.h"

#include "layout/code_points.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

namespace millrace::layout {
namespace {

constexpr auto kKinds = std::to_array<std::pair<BlockKind, std::string_view>>({
    {BlockKind::text, "text"},
    {BlockKind::heading, "heading"},
    {BlockKind::list, "list"},
    {BlockKind::table, "table"},
    {BlockKind::header, "header"},
    {BlockKind::footer, "footer"},
    {BlockKind::margin, "margin"},
});

std::unexpected<Error> wrong(std::string_view what, std::size_t index, std::string_view rule) {
  return fail(ErrorKind::invalid_argument, fmt::format("{}[{}]{}", what, index, rule));
}

char32_t last_code_point(std::string_view text) {
  auto at = text.size() - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U) --at;
  return decode_at(text, at).code;
}

// What stands between two words of one line.
std::string_view gap_between(std::string_view before, std::string_view after) {
  const bool ideographs =
      is_ideograph(last_code_point(before)) && is_ideograph(decode_at(after, 0).code);
  return ideographs ? "" : " ";
}

bool is_page_box(const Box& box) {
  return box.x0 >= 0 && box.y0 >= 0 && box.x1 <= 1 && box.y1 <= 1 && box.x0 <= box.x1 &&
         box.y0 <= box.y1;
}

Result<void> check_word(const Word& word, std::size_t i, const PageLimits& limits) {
  if (word.text.size() > limits.word_bytes_max) {
    return wrong("words", i, fmt::format(".text is longer than {} bytes", limits.word_bytes_max));
  }
  if (!is_word_text(word.text)) {
    return wrong("words", i, ".text must be one word: UTF-8, no white space, no controls");
  }
  if (!is_page_box(word.box)) {
    return wrong("words", i, ".bbox must be [x0,y0,x1,y1] within 0 and 1, x0 <= x1, y0 <= y1");
  }
  if (word.poly && !is_page_box(bounds(*word.poly))) {
    return wrong("words", i, ".poly must be four points within 0 and 1");
  }
  if (word.conf && !(*word.conf >= 0 && *word.conf <= 1)) {
    return wrong("words", i, ".conf must be between 0 and 1");
  }
  return ok();
}

// Line and block must be those of the word before, or the next ones.
Result<void> check_place(const Word& word, const Word* before, std::size_t i) {
  const auto line_before = before != nullptr ? std::int64_t{before->line} : -1;
  const auto block_before = before != nullptr ? std::int64_t{before->block} : -1;
  const bool new_line = word.line == line_before + 1;
  const bool new_block = word.block == block_before + 1;
  if (!new_line && word.line != line_before) {
    return wrong("words", i, ".line must be that of the word before or the next one");
  }
  if (!new_block && word.block != block_before) {
    return wrong("words", i, ".block must be that of the word before or the next one");
  }
  if (new_block && !new_line) return wrong("words", i, ".block cannot change within a line");
  return ok();
}

// Adds the word to the text, its line and its block, which may begin with it.
void place_word(PageMap& page, Word& word, const Word* before, BlockKind kind) {
  const bool new_line = before == nullptr || word.line != before->line;
  const bool new_block = before == nullptr || word.block != before->block;
  if (before != nullptr) {
    page.text += new_block ? "\n\n" : new_line ? "\n" : gap_between(before->text, word.text);
  }
  word.bytes.begin = static_cast<std::uint32_t>(page.text.size());
  page.text += word.text;
  word.bytes.end = static_cast<std::uint32_t>(page.text.size());

  const auto index = page.lines.empty() ? 0 : page.lines.back().words.last + 1;
  if (new_block) {
    page.blocks.push_back(
        {.kind = kind, .first_line = word.line, .words = {.first = index}, .box = word.box});
  }
  if (new_line) {
    page.lines.push_back({.block = word.block, .words = {.first = index}, .box = word.box});
  }
  auto& line = page.lines.back();
  auto& block = page.blocks.back();
  line.words.last = block.words.last = index;
  line.box = unite(line.box, word.box);
  block.box = unite(block.box, word.box);
  block.last_line = word.line;
}

bool is_range(const WordRange& range, std::size_t count) {
  return range.first <= range.last && range.last < count;
}

bool is_within(const WordRange& inner, const WordRange& outer) {
  return inner.first <= inner.last && inner.first >= outer.first && inner.last <= outer.last;
}

Result<void> check_table(const PageMap& page, std::size_t index) {
  const auto& table = page.tables[index];
  if (table.block >= page.blocks.size()) return wrong("tables", index, ".block does not exist");
  const auto& block = page.blocks[table.block];
  const Cell* before = nullptr;
  for (const auto& cell : table.cells) {
    if (cell.row >= table.rows || cell.column >= table.columns) {
      return wrong("tables", index, ".cells lie outside its rows and columns");
    }
    if (!is_within(cell.words, block.words)) {
      return wrong("tables", index, ".cells have words outside its block");
    }
    if (before != nullptr) {
      const bool later = std::pair(cell.row, cell.column) > std::pair(before->row, before->column);
      if (!later || cell.words.first <= before->words.last) {
        return wrong("tables", index, ".cells must be in order and share no words");
      }
    }
    before = &cell;
  }
  return ok();
}

}  // namespace

std::string_view to_string(BlockKind kind) { return kKinds[static_cast<std::size_t>(kind)].second; }

std::optional<BlockKind> parse_block_kind(std::string_view text) {
  for (const auto& [kind, name] : kKinds) {
    if (name == text) return kind;
  }
  return std::nullopt;
}

std::string_view PageMap::text_of(ByteRange range) const {
  if (range.begin > range.end || range.end > text.size()) return {};
  return std::string_view(text).substr(range.begin, range.size());
}

std::string_view PageMap::text_of(WordRange range) const { return text_of(bytes_of(range)); }

ByteRange PageMap::bytes_of(WordRange range) const {
  if (!is_range(range, words.size())) return {};
  return {.begin = words[range.first].bytes.begin, .end = words[range.last].bytes.end};
}

Result<void> check_info(const PageInfo& info, const PageLimits& limits) {
  const auto bad = [](std::string message) {
    return fail(ErrorKind::invalid_argument, std::move(message));
  };
  if (info.page < 1 || info.page > limits.page_max) {
    return bad(fmt::format("page must be between 1 and {}", limits.page_max));
  }
  if (info.width_px < 1 || info.width_px > limits.side_px_max) {
    return bad(fmt::format("width_px must be between 1 and {}", limits.side_px_max));
  }
  if (info.height_px < 1 || info.height_px > limits.side_px_max) {
    return bad(fmt::format("height_px must be between 1 and {}", limits.side_px_max));
  }
  if (!(info.dpi >= 0 && info.dpi <= 10'000)) return bad("dpi must be between 0 and 10000");
  if (info.rotation_deg % 90 != 0 || info.rotation_deg < 0 || info.rotation_deg > 270) {
    return bad("rotation_deg must be 0, 90, 180 or 270");
  }
  if (info.engine.size() > 100 || !is_utf8(info.engine)) {
    return bad("engine must be UTF-8 of at most 100 bytes");
  }
  return ok();
}

Result<PageMap> assemble_page(PageInfo info, std::vector<Word> words, std::vector<BlockKind> kinds,
                              const PageLimits& limits) {
  MR_TRY_VOID(check_info(info, limits));
  if (words.size() > limits.words_max) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("words: {} are more than the limit of {} on a page", words.size(),
                            limits.words_max));
  }
  PageMap page{.info = std::move(info)};
  for (std::size_t i = 0; i < words.size(); ++i) {
    auto& word = words[i];
    const Word* before = i > 0 ? &words[i - 1] : nullptr;
    MR_TRY_VOID(check_word(word, i, limits));
    MR_TRY_VOID(check_place(word, before, i));
    if (word.block >= kinds.size()) return wrong("words", i, ".block has no entry in blocks");
    place_word(page, word, before, kinds[word.block]);
    if (page.text.size() > limits.text_bytes_max) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("words: the text is longer than the limit of {} bytes on a page",
                              limits.text_bytes_max));
    }
  }
  if (page.blocks.size() != kinds.size()) {
    return fail(ErrorKind::invalid_argument, "blocks: there are more of them than words say");
  }
  page.words = std::move(words);
  return page;
}

Result<void> check_structures(const PageMap& page) {
  for (std::size_t i = 0; i < page.tables.size(); ++i) MR_TRY_VOID(check_table(page, i));
  for (std::size_t i = 0; i < page.pairs.size(); ++i) {
    const auto& pair = page.pairs[i];
    if (!is_range(pair.key, page.words.size()) || !is_range(pair.value, page.words.size())) {
      return wrong("pairs", i, " points outside the words");
    }
    if (pair.value.first <= pair.key.last && pair.key.first <= pair.value.last) {
      return wrong("pairs", i, ".key and .value share words");
    }
  }
  for (std::size_t i = 0; i < page.checkboxes.size(); ++i) {
    const auto& box = page.checkboxes[i];
    if ((box.mark && !is_range(*box.mark, page.words.size())) ||
        (box.label && !is_range(*box.label, page.words.size()))) {
      return wrong("checkboxes", i, " points outside the words");
    }
    if (!box.mark && !box.box) return wrong("checkboxes", i, " has neither mark nor bbox");
    if (box.box && !is_page_box(*box.box))
      return wrong("checkboxes", i, ".bbox lies outside the page");
  }
  return ok();
}

}  // namespace millrace::layout
