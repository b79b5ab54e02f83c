#include "layout/reading_order.h"

#include "layout/code_points.h"
#include "layout/form.h"
#include "layout/region.h"
#include "layout/running_text.h"
#include "layout/segment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace millrace::layout {
namespace {

// Lines that slant less are level; more is not a slant but something else.
constexpr double kSlopeMin = 0.005;
constexpr double kSlopeMax = 0.27;

constexpr double kHeadingSize = 1.2;  // Times the usual size of letters.
constexpr std::size_t kHeadingWordsMax = 14;
constexpr std::size_t kHeadingLinesMax = 2;

// As a clockwise turn. A box that is much taller than wide with several letters in it holds a word
// that runs upwards.
int direction_of_word(const RawWord& word, double aspect) {
  if (word.poly) return direction_of(*word.poly, aspect);
  const auto height = word.box.height() * aspect;
  return height > 2.5 * word.box.width() && count_code_points(word.text) >= 4 ? 270 : 0;
}

// Into layout space, after a turn that makes words of this direction run from left to right.
Item to_item(const RawWord& word, std::uint32_t index, int direction, double aspect) {
  const auto turn = (360 - direction) % 360;
  const auto box = turned(word.box, turn);
  const auto turned_aspect = turn % 180 == 0 ? aspect : 1 / aspect;
  const auto sx = turned_aspect > 1 ? 1 / turned_aspect : 1;
  const auto sy = turned_aspect > 1 ? 1 : turned_aspect;
  return {.box = {.x0 = box.x0 * sx, .y0 = box.y0 * sy, .x1 = box.x1 * sx, .y1 = box.y1 * sy},
          .word = index};
}

enum class Script { none, left_to_right, right_to_left };

Script script_of(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto decoded = decode_at(text, at);
    if (is_right_to_left(decoded.code)) return Script::right_to_left;
    if (is_letter(decoded.code)) return Script::left_to_right;
    at += decoded.bytes;
  }
  return Script::none;
}

bool mostly_right_to_left(const RawPage& page, std::span<const Item> items) {
  std::int64_t balance = 0;
  for (const auto& item : items) {
    const auto script = script_of(page.words[item.word].text);
    balance += script == Script::right_to_left ? 1 : script == Script::left_to_right ? -1 : 0;
  }
  return balance > 0;
}

// Words came from left to right. In a line of a right-to-left script they are read the other way,
// except for runs of numbers and Latin words in it.
void turn_around(const RawPage& page, std::vector<std::uint32_t>& words) {
  std::ranges::reverse(words);
  const auto runs_right = [&](std::uint32_t word) {
    return script_of(page.words[word].text) != Script::right_to_left;
  };
  for (auto at = words.begin(); at != words.end();) {
    auto end = std::find_if_not(at, words.end(), runs_right);
    std::reverse(at, end);
    at = end == words.end() ? end : end + 1;
  }
}

std::vector<DraftBlock> arrange_items(const RawPage& page, std::vector<Item> items) {
  if (items.empty()) return {};
  auto segments = find_segments(items);
  const auto slope = slope_of(items, segments);
  if (std::abs(slope) > kSlopeMin && std::abs(slope) < kSlopeMax) {
    straighten(items, slope);
    segments = find_segments(items);
  }
  const bool right_to_left = mostly_right_to_left(page, items);
  auto blocks = arrange_segments(items, segments, {.right_to_left = right_to_left});
  if (right_to_left) {
    for (auto& block : blocks) {
      for (auto& line : block.lines) {
        for (auto& cell : line.cells) turn_around(page, cell.words);
      }
    }
  }
  return blocks;
}

std::size_t count_words(const DraftBlock& block) {
  std::size_t count = 0;
  for (const auto& line : block.lines) {
    for (const auto& cell : line.cells) count += cell.words.size();
  }
  return count;
}

bool is_capitals(const RawPage& page, const DraftBlock& block) {
  std::size_t upper = 0;
  for (const auto& line : block.lines) {
    for (const auto& cell : line.cells) {
      for (const auto word : cell.words) {
        for (const auto code : to_code_points(page.words[word].text)) {
          if (is_upper(code)) {
            ++upper;
          } else if (is_letter(code)) {
            return false;
          }
        }
      }
    }
  }
  return upper >= 4;
}

bool starts_item(std::string_view text) {
  static constexpr auto kBullets =
      std::to_array<std::string_view>({"•", "-", "–", "—", "*", "·", "▪", "◦", "‣", "o"});
  if (std::ranges::find(kBullets, text) != kBullets.end()) return true;
  // "1.", "12)", "(a)", "iv."
  if (text.size() < 2 || text.size() > 5) return false;
  if (text.front() == '(') text.remove_prefix(1);
  if (text.back() != '.' && text.back() != ')') return false;
  text.remove_suffix(1);
  if (text.empty()) return false;
  const bool digits = std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  const bool roman = text.find_first_not_of("ivxIVX") == std::string_view::npos;
  const bool letter = text.size() == 1 && text[0] >= 'a' && text[0] <= 'z';
  return digits || roman || letter;
}

bool is_list(const RawPage& page, const DraftBlock& block) {
  const auto items = std::ranges::count_if(block.lines, [&](const DraftLine& line) {
    return line.cells.front().words.size() > 1 &&
           starts_item(page.words[line.cells.front().words.front()].text);
  });
  return items >= 2 && static_cast<std::size_t>(items) * 2 >= block.lines.size();
}

// How much of its font's height a word fills when its box is as small as its letters.
double letter_share(std::string_view text) {
  constexpr std::string_view kUp = "bdfhijklt0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ()[]/|%&!?'\"";
  constexpr std::string_view kDown = "gjpqyQ,;()[]/|";
  const bool plain = text.find_first_not_of("-–—_.:=+*~") == std::string_view::npos;
  if (plain) return 0;  // Says nothing about the font.
  const bool up = text.find_first_of(kUp) != std::string_view::npos;
  const bool down = text.find_first_of(kDown) != std::string_view::npos;
  return 0.5 + (up ? 0.22 : 0) + (down ? 0.2 : 0);
}

double spread_of(const std::vector<double>& values) {
  const auto middle = median(values);
  std::vector<double> off;
  for (const auto value : values) off.push_back(std::abs(value - middle));
  return middle > 0 ? median(std::move(off)) / middle : 0;
}

// The size of each word's letters, 0 where it cannot be told. Some sources give boxes as high as
// the font, others as high as the letters: whichever makes the sizes of a page more alike is
// believed.
std::vector<double> letter_sizes(const RawPage& page) {
  std::vector<double> by_font;
  std::vector<double> by_letters;
  std::vector<double> sizes(page.words.size(), 0);
  for (const auto& word : page.words) {
    const auto share = letter_share(word.text);
    if (share == 0) continue;
    by_font.push_back(word.box.height());
    by_letters.push_back(word.box.height() / share);
  }
  const bool small = spread_of(by_letters) < spread_of(by_font);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto share = letter_share(page.words[i].text);
    if (share > 0) sizes[i] = page.words[i].box.height() / (small ? share : 1);
  }
  return sizes;
}

double usual_size(const std::vector<double>& sizes) {
  std::vector<double> known;
  for (const auto size : sizes) {
    if (size > 0) known.push_back(size);
  }
  return median(std::move(known));
}

bool is_large(const DraftLine& line, const std::vector<double>& sizes, double usual) {
  std::vector<double> known;
  for (const auto& cell : line.cells) {
    for (const auto word : cell.words) {
      if (sizes[word] > 0) known.push_back(sizes[word]);
    }
  }
  return !known.empty() && median(std::move(known)) >= kHeadingSize * usual;
}

BlockKind kind_of(const RawPage& page, const DraftBlock& block, const std::vector<double>& sizes,
                  double usual) {
  if (block.columns > 0) return BlockKind::table;
  if (is_list(page, block)) return BlockKind::list;
  if (block.lines.size() > kHeadingLinesMax || count_words(block) > kHeadingWordsMax) {
    return BlockKind::text;
  }
  const bool large = std::ranges::all_of(
      block.lines, [&](const DraftLine& line) { return is_large(line, sizes, usual); });
  return large || is_capitals(page, block) ? BlockKind::heading : BlockKind::text;
}

// Blocks one after the other become words with numbers of lines and blocks.
class Flattener {
 public:
  explicit Flattener(RawPage& page) : page_(page) {}

  void add(const DraftBlock& block, BlockKind kind) {
    Table table{.block = static_cast<std::uint32_t>(kinds_.size()),
                .rows = static_cast<std::uint32_t>(block.lines.size()),
                .columns = block.columns};
    std::uint32_t row = 0;
    for (const auto& line : block.lines) {
      for (const auto& cell : line.cells) {
        const auto first = static_cast<std::uint32_t>(words_.size());
        for (const auto word : cell.words) add_word(page_.words[word]);
        table.cells.push_back(
            {.row = row,
             .column = cell.column,
             .words = {.first = first, .last = static_cast<std::uint32_t>(words_.size() - 1)}});
      }
      ++row;
      ++line_;
    }
    kinds_.push_back(kind);
    if (kind == BlockKind::table) tables_.push_back(std::move(table));
  }

  Result<PageMap> finish(const PageLimits& limits) {
    MR_TRY(auto page,
           assemble_page(std::move(page_.info), std::move(words_), std::move(kinds_), limits));
    page.tables = std::move(tables_);
    return page;
  }

 private:
  void add_word(RawWord& raw) {
    words_.push_back({.text = std::move(raw.text),
                      .box = raw.box,
                      .poly = raw.poly,
                      .conf = raw.conf,
                      .line = line_,
                      .block = static_cast<std::uint32_t>(kinds_.size())});
  }

  RawPage& page_;
  std::vector<Word> words_;
  std::vector<BlockKind> kinds_;
  std::vector<Table> tables_;
  std::uint32_t line_ = 0;
};

}  // namespace

Result<PageMap> arrange(RawPage raw, const PageLimits& limits) {
  MR_TRY(auto page, clean(std::move(raw), limits));
  const auto aspect = page.info.aspect();
  constexpr auto kDirections = std::to_array<int>({0, 90, 270, 180});
  std::array<std::vector<Item>, 4> items;
  for (std::uint32_t i = 0; i < page.words.size(); ++i) {
    const auto direction = direction_of_word(page.words[i], aspect);
    const auto slot =
        static_cast<std::size_t>(std::ranges::find(kDirections, direction) - kDirections.begin());
    items[slot].push_back(to_item(page.words[i], i, direction, aspect));
  }
  const auto sizes = letter_sizes(page);
  const auto usual = usual_size(sizes);
  Flattener out(page);
  for (std::size_t slot = 0; slot < items.size(); ++slot) {
    const auto blocks = arrange_items(page, std::move(items[slot]));
    std::vector<BlockKind> kinds;  // Judged before words move out of the page.
    for (const auto& block : blocks) {
      kinds.push_back(slot == 0 ? kind_of(page, block, sizes, usual) : BlockKind::margin);
    }
    for (std::size_t b = 0; b < blocks.size(); ++b) out.add(blocks[b], kinds[b]);
  }
  MR_TRY(auto map, out.finish(limits));
  mark_page_number(map);
  find_forms(map);
  return map;
}

}  // namespace millrace::layout
