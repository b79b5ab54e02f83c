#include "layout/form.h"

#include "layout/code_points.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <utility>

namespace millrace::layout {
namespace {

constexpr std::uint32_t kKeyWordsMax = 6;
constexpr std::uint32_t kLabelWordsMax = 12;
constexpr double kWideGap = 1.5;  // Times the height of words.

bool is_wide_gap(const PageMap& page, std::uint32_t left) {
  const auto& a = page.words[left].box;
  const auto& b = page.words[left + 1].box;
  const auto gap = (b.x0 - a.x1) * page.info.width_px;
  const auto height = std::max(a.height(), b.height()) * page.info.height_px;
  return gap > kWideGap * height;
}

// -- checkboxes --

std::optional<bool> mark_state(std::string_view text) {
  static constexpr auto kEmpty =
      std::to_array<std::string_view>({"☐", "□", "▢", "◻", "❏", "❑", "[]", "()", "[_]"});
  static constexpr auto kChecked = std::to_array<std::string_view>(
      {"☑", "☒", "✓", "✔", "⊠", "🗹", "🗵", "[x]", "[X]", "[✓]", "(x)", "(X)"});
  if (std::ranges::find(kEmpty, text) != kEmpty.end()) return false;
  if (std::ranges::find(kChecked, text) != kChecked.end()) return true;
  return std::nullopt;
}

// A mark that begins at this word. "[ ]" comes as two words.
std::optional<Checkbox> mark_at(const PageMap& page, std::uint32_t at, std::uint32_t last) {
  if (const auto state = mark_state(page.words[at].text)) {
    return Checkbox{.mark = WordRange{.first = at, .last = at}, .checked = *state};
  }
  if (at == last) return std::nullopt;
  const auto& open = page.words[at].text;
  const auto& close = page.words[at + 1].text;
  const bool pair = (open == "[" && close == "]") || (open == "(" && close == ")");
  if (!pair || is_wide_gap(page, at)) return std::nullopt;
  return Checkbox{.mark = WordRange{.first = at, .last = at + 1}, .checked = false};
}

void find_checkboxes(PageMap& page, const Line& line) {
  for (auto at = line.words.first; at <= line.words.last;) {
    auto box = mark_at(page, at, line.words.last);
    if (!box) {
      ++at;
      continue;
    }
    at = box->mark->last + 1;
    const auto first = at;
    while (at <= line.words.last && at - first < kLabelWordsMax &&
           !mark_at(page, at, line.words.last)) {
      const bool ends = at < line.words.last && is_wide_gap(page, at);
      ++at;
      if (ends) break;
    }
    if (at > first) box->label = WordRange{.first = first, .last = at - 1};
    page.checkboxes.push_back(*box);
  }
}

// -- drawn boxes --

constexpr double kLabelGap = 2.5;  // Times the side of the box: farther words are not about it.
constexpr std::size_t kMarkLettersMax = 4;  // "([])"
constexpr std::size_t kDrawnMax = 1'000;    // Of a page: no form has more.

// The word that the box was read as.
std::optional<std::uint32_t> word_in(const PageMap& page, const Box& box) {
  for (std::uint32_t i = 0; i < page.words.size(); ++i) {
    const auto& word = page.words[i];
    const auto shared = overlap_x(word.box, box) * overlap_y(word.box, box);
    const auto least = 0.5 * std::min(word.box.area(), box.area());
    if (shared > least && count_code_points(word.text) <= kMarkLettersMax) return i;
  }
  return std::nullopt;
}

bool stands_beside(const Box& word, const Box& box) {
  return overlap_y(word, box) >= 0.5 * std::min(word.height(), box.height());
}

// The first word to the right of the box, on a line that the box stands on.
std::optional<std::uint32_t> word_behind(const PageMap& page, const Box& box,
                                         std::optional<std::uint32_t> mark) {
  std::optional<std::uint32_t> best;
  for (std::uint32_t i = 0; i < page.words.size(); ++i) {
    const auto& word = page.words[i].box;
    if (i == mark || word.x0 < box.x1 - box.width() / 4) continue;
    if (word.x0 > box.x1 + kLabelGap * box.width()) continue;
    if (!stands_beside(word, box)) continue;
    if (!best || word.x0 < page.words[*best].box.x0) best = i;
  }
  return best;
}

// The last word to the left of the box, likewise.
std::optional<std::uint32_t> word_before(const PageMap& page, const Box& box,
                                         std::optional<std::uint32_t> mark) {
  std::optional<std::uint32_t> best;
  for (std::uint32_t i = 0; i < page.words.size(); ++i) {
    const auto& word = page.words[i].box;
    if (i == mark || word.x1 > box.x0 + box.width() / 4) continue;
    if (word.x1 < box.x0 - kLabelGap * box.width() || !stands_beside(word, box)) continue;
    if (!best || word.x1 > page.words[*best].box.x1) best = i;
  }
  return best;
}

WordRange label_from(const PageMap& page, std::uint32_t first, std::span<const DrawnBox> boxes) {
  const auto line = page.lines[page.words[first].line].words;
  const auto begins_box = [&](std::uint32_t left) {
    const auto& a = page.words[left].box;
    const auto& b = page.words[left + 1].box;
    return std::ranges::any_of(boxes, [&](const DrawnBox& other) {
      return other.box.x0 >= a.x1 - a.width() / 4 && other.box.x1 <= b.x1 &&
             overlap_y(other.box, b) > 0;
    });
  };
  auto last = first;
  while (last < line.last && last - first + 1 < kLabelWordsMax && !is_wide_gap(page, last) &&
         !begins_box(last)) {
    ++last;
  }
  return {.first = first, .last = last};
}

// A drawn box and the words around it.
struct Place {
  const DrawnBox* drawn = nullptr;
  std::optional<std::uint32_t> mark = {};
  std::optional<std::uint32_t> behind = {};
  std::optional<std::uint32_t> before = {};
};

// "Yes [ ] No [ ]": behind the last field of a row there is nothing, in front of the first there
// is. What stands behind the others is the label of the next one.
bool is_labelled_in_front(const Place& place, std::span<const Place> places) {
  if (!place.drawn->field || !place.before) return false;
  const auto* first = &place;
  const auto* last = &place;
  for (const auto& other : places) {
    const bool in_row = other.drawn->field && stands_beside(other.drawn->box, place.drawn->box);
    if (!in_row) continue;
    if (other.drawn->box.x0 < first->drawn->box.x0) first = &other;
    if (other.drawn->box.x0 > last->drawn->box.x0) last = &other;
  }
  return first->before && !last->behind;
}

bool is_of_another(const PageMap& page, std::uint32_t word) {
  return std::ranges::any_of(page.checkboxes, [word](const Checkbox& box) {
    return (box.label && box.label->first <= word && word <= box.label->last) ||
           (box.mark && box.mark->first <= word && word <= box.mark->last);
  });
}

// The words up to this one that no wide gap and no other box parts from it.
std::optional<WordRange> label_up_to(const PageMap& page, std::uint32_t last,
                                     std::span<const DrawnBox> boxes) {
  if (is_of_another(page, last)) return std::nullopt;
  const auto line = page.lines[page.words[last].line].words;
  const auto parted = [&](std::uint32_t left) {
    const auto& a = page.words[left].box;
    const auto& b = page.words[left + 1].box;
    return is_wide_gap(page, left) || is_of_another(page, left) ||
           std::ranges::any_of(boxes, [&](const DrawnBox& other) {
             return other.box.centre_x() > a.centre_x() && other.box.centre_x() < b.centre_x() &&
                    overlap_y(other.box, b) > 0;
           });
  };
  auto first = last;
  while (first > line.first && last - first + 1 < kLabelWordsMax && !parted(first - 1)) --first;
  return WordRange{.first = first, .last = last};
}

// -- keys and values --

bool ends_key(std::string_view text) {
  if (!text.ends_with(':') || text.size() < 2) return false;
  const auto codes = to_code_points(text);
  return std::ranges::any_of(codes, [](char32_t code) { return is_letter(code); });
}

// Keys of one line, from left to right. A key begins at the line's start, after a wide gap, or is a
// single word.
std::vector<WordRange> keys_of(const PageMap& page, const Line& line) {
  std::vector<WordRange> keys;
  auto start = line.words.first;
  bool after_key = false;
  for (auto at = line.words.first; at <= line.words.last; ++at) {
    if (ends_key(page.words[at].text)) {
      const auto first = after_key ? at : start;
      if (at - first < kKeyWordsMax) {
        keys.push_back({.first = first, .last = at});
        after_key = true;
      }
    }
    if (at < line.words.last && is_wide_gap(page, at)) {
      start = at + 1;
      // Right behind a key the gap leads to its value, not to the next key.
      if (!keys.empty() && keys.back().last == at) continue;
      after_key = false;
    }
  }
  return keys;
}

// From behind the key to the next key, or to a wide gap that is not the one behind the key.
std::optional<WordRange> value_of(const PageMap& page, const Line& line, WordRange key,
                                  std::uint32_t end) {
  if (key.last + 1 >= end) return std::nullopt;
  auto last = key.last + 1;
  while (last + 1 < end && last < line.words.last && !is_wide_gap(page, last)) ++last;
  return WordRange{.first = key.last + 1, .last = last};
}

void find_line_pairs(PageMap& page, std::uint32_t index) {
  const auto line = page.lines[index];
  const auto keys = keys_of(page, line);
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const auto end = k + 1 < keys.size() ? keys[k + 1].first : line.words.last + 1;
    if (const auto value = value_of(page, line, keys[k], end)) {
      page.pairs.push_back({.key = keys[k], .value = *value});
      continue;
    }
    // A line that is nothing but the key: the value stands below.
    const bool alone = keys.size() == 1 && keys[k] == line.words;
    if (!alone || index + 1 >= page.lines.size()) continue;
    const auto& below = page.lines[index + 1];
    if (below.block == line.block && keys_of(page, below).empty()) {
      page.pairs.push_back({.key = keys[k], .value = below.words});
    }
  }
}

void find_table_pairs(PageMap& page, const Table& table) {
  for (std::size_t c = 0; c + 1 < table.cells.size(); ++c) {
    const auto& key = table.cells[c];
    const auto& value = table.cells[c + 1];
    if (key.row != value.row || key.column != 0 || key.words.count() > kKeyWordsMax) continue;
    const auto codes = to_code_points(page.text_of(key.words));
    if (std::ranges::none_of(codes, [](char32_t code) { return is_letter(code); })) continue;
    page.pairs.push_back({.key = key.words, .value = value.words});
  }
}

}  // namespace

void add_drawn_boxes(PageMap& page, std::span<const DrawnBox> boxes) {
  std::vector<Place> places;
  for (const auto& drawn : boxes.first(std::min(boxes.size(), kDrawnMax))) {
    const auto mark = word_in(page, drawn.box);
    places.push_back({.drawn = &drawn,
                      .mark = mark,
                      .behind = word_behind(page, drawn.box, mark),
                      .before = drawn.field ? word_before(page, drawn.box, mark) : std::nullopt});
  }
  const auto add = [&page](const Place& place, std::optional<WordRange> label) {
    Checkbox box{.checked = place.drawn->checked, .label = label, .box = place.drawn->box};
    if (const auto mark = place.mark) {
      box.mark = WordRange{.first = *mark, .last = *mark};
      // What was read as a mark, or as a part of one, is this box.
      std::erase_if(page.checkboxes, [mark](const Checkbox& read) {
        return read.mark && read.mark->first <= *mark && *mark <= read.mark->last;
      });
    }
    page.checkboxes.push_back(box);
  };
  std::vector<const Place*> others;
  for (const auto& place : places) {
    if (page.checkboxes.size() >= page.words.size()) break;
    if (place.behind && !is_labelled_in_front(place, places)) {
      add(place, label_from(page, *place.behind, boxes));
    } else if (place.drawn->field) {
      others.push_back(&place);
    }
  }
  // Only now it is known which words are labels already.
  for (const auto* place : others) {
    if (page.checkboxes.size() >= page.words.size()) break;
    add(*place, place->before ? label_up_to(page, *place->before, boxes) : std::nullopt);
  }
  // In the order of the words; those that have none come last.
  std::ranges::sort(page.checkboxes, {}, [&page](const Checkbox& box) {
    const auto none = static_cast<std::uint32_t>(page.words.size());
    const auto at = box.box.value_or(Box());
    return std::tuple(box.mark    ? box.mark->first
                      : box.label ? box.label->first
                                  : none,
                      at.y0, at.x0);
  });
}

void find_forms(PageMap& page) {
  page.pairs.clear();
  page.checkboxes.clear();
  std::vector<bool> in_table(page.blocks.size(), false);
  for (const auto& table : page.tables) {
    if (table.columns == 2) in_table[table.block] = true;
  }
  for (std::uint32_t i = 0; i < page.lines.size(); ++i) {
    find_checkboxes(page, page.lines[i]);
    if (!in_table[page.lines[i].block]) find_line_pairs(page, i);
  }
  for (const auto& table : page.tables) {
    if (table.columns == 2) find_table_pairs(page, table);
  }
  std::ranges::sort(page.pairs, {}, [](const KeyValue& pair) { return pair.key.first; });
}

}  // namespace millrace::layout
