#include "document/ocr/row_words.h"

#include "layout/code_points.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace millrace::document {
namespace {

constexpr double kJunkLine = 0.55;   // Mean confidence below which a line is no text.
constexpr double kJunkShort = 0.75;  // The same for lines of one or two characters.
constexpr double kEmblem = 2.2;  // Heights of letters: one or two characters so large are a sign.
constexpr double kSpaceShare = 0.75;  // Of the usual space, from which white is one.
constexpr double kSpaceMin = 0.33;    // Least white between words, in small letters.

struct Gap {
  double x0 = 0;
  double x1 = 0;
  double centres_px = 0;  // From the middle of the letter before to that of the letter after.
  double width() const { return x1 - x0; }
  double centre() const { return (x0 + x1) / 2; }
};

// White between the marks of a line, wherever no mark is above or below; marks over each other
// count as one. `letter_max`: how wide a letter is at most.
std::vector<Gap> gaps_of(const LevelPage& page, const TextLine& line, double letter_max = 1e9) {
  std::vector<Gap> out;
  // Letters that touch are one mark: its ends stand for the first and the last of them.
  const auto first_middle = [&](double x0, double x1) {
    return std::min((x0 + x1) / 2, x0 + letter_max / 2);
  };
  const auto last_middle = [&](double x0, double x1) {
    return std::max((x0 + x1) / 2, x1 - letter_max / 2);
  };
  double left = -1;
  double reach = -1;
  const auto& order = line.marks;  // From left to right.
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto& mark = page.marks[order[k]];
    if (reach < 0 || mark.x0 > reach) {
      if (reach >= 0) {
        double end = mark.x1;  // Of what stands behind the gap.
        for (auto j = k + 1; j < order.size() && page.marks[order[j]].x0 <= end; ++j) {
          end = std::max<double>(end, page.marks[order[j]].x1);
        }
        out.push_back({.x0 = reach,
                       .x1 = static_cast<double>(mark.x0),
                       .centres_px = first_middle(mark.x0, end) - last_middle(left, reach)});
      }
      left = mark.x0;
    }
    reach = std::max<double>(reach, mark.x1);
  }
  return out;
}

// Words of one line, on the level page.
std::vector<LineWord> words_of_piece(const RowImage& row, std::size_t piece,
                                     const std::vector<LineWord>& words) {
  std::vector<LineWord> out;
  for (const auto& word : words) {
    const double centre = (word.x0 + word.x1) / 2;
    std::size_t nearest = 0;
    for (std::size_t i = 0; i < row.pieces.size(); ++i) {
      if (centre >= row.pieces[i].x0 - 1) nearest = i;
    }
    if (nearest != piece) continue;
    out.push_back(word);
    out.back().x0 += row.pieces[piece].shift;
    out.back().x1 += row.pieces[piece].shift;
    for (auto& x : out.back().centres) x += row.pieces[piece].shift;
  }
  return out;
}

double first_centre(const LineWord& word) {
  return word.centres.empty() ? word.x0 : word.centres.front();
}
double last_centre(const LineWord& word) {
  return word.centres.empty() ? word.x1 : word.centres.back();
}

// The widest of the gaps between two places.
std::optional<Gap> widest_between(const std::vector<Gap>& gaps, double from, double to) {
  std::optional<Gap> best;
  for (const auto& gap : gaps) {
    const bool between = gap.centre() > from && gap.centre() < to;
    if (between && (!best || gap.width() > best->width())) best = gap;
  }
  return best;
}

// Widths of the spaces that the engine saw on a line.
std::vector<double> spaces_between(const std::vector<Gap>& gaps,
                                   const std::vector<LineWord>& words) {
  std::vector<double> widths;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto gap = widest_between(gaps, last_centre(words[i - 1]), first_centre(words[i]));
    if (gap) widths.push_back(gap->width());
  }
  return widths;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// How far apart letters stand when all are equally wide, as on a typewriter; 0 when they are not.
double pitch_of(const LevelPage& page, const TextLine& line) {
  constexpr std::size_t kGapsMin = 8;
  constexpr double kOffMax = 0.12;   // Of the pitch, from where a letter should stand,
  constexpr double kShareMin = 0.8;  // for this share of them.
  std::vector<double> steps;
  for (const auto& gap : gaps_of(page, line)) steps.push_back(gap.centres_px);
  if (steps.size() < kGapsMin) return 0;
  const double pitch = median(steps);
  if (pitch < 0.7 * line.small) return 0;
  const auto regular = std::ranges::count_if(steps, [&](double step) {
    const double cells = step / pitch;
    return cells > 0.5 && std::abs(cells - std::round(cells)) <= kOffMax;
  });
  return static_cast<double>(regular) >= kShareMin * static_cast<double>(steps.size()) ? pitch : 0;
}

std::vector<std::string> characters_of(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const auto bytes = layout::decode_at(text, at).bytes;
    out.push_back(text.substr(at, bytes));
    at += bytes;
  }
  return out;
}

// About how wide a character is in most typefaces, in small letters.
double usual_width(const std::string& character) {
  constexpr std::string_view kNarrow = "iljtfrI.,:;'|!()[]-";
  constexpr std::string_view kWide = "mwMW@%";
  if (character.size() == 1 && kNarrow.find(character[0]) != std::string_view::npos) return 0.55;
  if (character.size() == 1 && kWide.find(character[0]) != std::string_view::npos) return 1.6;
  const bool upper = character.size() == 1 && character[0] >= 'A' && character[0] <= 'Z';
  return upper ? 1.3 : 1;
}

// A word and the stretch of the line that is its own.
struct Span {
  LineWord word;
  double from = 0;
  double to = 0;
};

// Between two words the page is cut at the widest white near where the engine saw the space.
std::vector<Span> spans_of(const TextLine& line, const std::vector<Gap>& gaps,
                           const std::vector<LineWord>& words) {
  std::vector<Span> out;
  double from = line.x0 - line.small;
  for (std::size_t i = 0; i < words.size(); ++i) {
    double to = line.x1 + line.small;
    if (i + 1 < words.size()) {
      const double last = last_centre(words[i]);
      const double next = first_centre(words[i + 1]);
      const auto gap = widest_between(gaps, last, next);
      to = gap ? gap->centre() : (last + next) / 2;
    }
    out.push_back({.word = words[i], .from = from, .to = to});
    from = to;
  }
  return out;
}

// How many characters of the word stand before `x`: by their widths, and by where the engine saw
// them, which is within half a letter of the truth.
std::size_t characters_before(const Span& span, const std::vector<std::string>& characters,
                              const Gap& gap, double begin, double end, double small) {
  double total = 0;
  for (const auto& character : characters) total += usual_width(character);
  const double ink = std::max(1.0, end - begin - gap.width());
  double before = 0;
  double best = 1e18;
  std::size_t count = 1;
  for (std::size_t k = 1; k < characters.size(); ++k) {
    before += usual_width(characters[k - 1]);
    const double by_width = std::abs(before / total * ink - (gap.x0 - begin)) / small;
    const double late = std::max(0.0, span.word.centres[k - 1] - gap.centre()) / small;
    const double early = std::max(0.0, gap.centre() - span.word.centres[k]) / small;
    const double cost = by_width + 1.5 * (late + early);
    if (cost < best) {
      best = cost;
      count = k;
    }
  }
  return count;
}

// How words of a line are set apart.
struct Spacing {
  double space = 0;  // The usual white between words, pixels; 0 when nothing is known.
  double pitch = 0;
};

bool is_space(const Gap& gap, const Spacing& spacing, double small) {
  if (spacing.pitch > 0) return gap.centres_px > 1.6 * spacing.pitch;
  if (spacing.space == 0) return gap.width() >= 0.6 * small;
  return gap.width() >= kSpaceShare * spacing.space && gap.width() >= kSpaceMin * small;
}

// The word cut where the page shows a space that the engine did not.
void split(const Span& span, const TextLine& line, const std::vector<Gap>& gaps,
           const Spacing& spacing, std::vector<Span>& out) {
  const double small = line.small;
  const auto characters = characters_of(span.word.text);
  if (span.word.centres.size() != characters.size() || characters.size() < 2) {
    out.push_back(span);
    return;
  }
  double begin = std::max(span.from, line.x0);
  double end = std::min(span.to, line.x1);
  for (const auto& gap : gaps) {
    if (std::abs(gap.centre() - span.from) < 1) begin = gap.x1;
    if (std::abs(gap.centre() - span.to) < 1) end = gap.x0;
  }
  double widest = 0;  // Of the gaps that are none.
  std::optional<Gap> found;
  for (const auto& gap : gaps) {
    if (gap.x0 <= begin || gap.x1 >= end) continue;
    if (!is_space(gap, spacing, small)) {
      widest = std::max(widest, gap.width());
    } else if (!found) {
      found = gap;
    }
  }
  // Letters as far apart as this everywhere: a wide typeface, not spaces.
  const bool unknown = spacing.space == 0 && spacing.pitch == 0;
  if (!found || (unknown && widest > 0.45 * small)) {
    out.push_back(span);
    return;
  }
  const auto count = characters_before(span, characters, *found, begin, end, small);
  Span left{.word = {.conf = span.word.conf}, .from = span.from, .to = found->centre()};
  Span right{.word = {.conf = span.word.conf}, .from = found->centre(), .to = span.to};
  for (std::size_t i = 0; i < characters.size(); ++i) {
    auto& word = i < count ? left.word : right.word;
    word.text += characters[i];
    word.centres.push_back(span.word.centres[i]);
  }
  for (auto* part : {&left, &right}) {
    part->word.x0 = part->word.centres.front();
    part->word.x1 = part->word.centres.back();
  }
  out.push_back(std::move(left));
  split(right, line, gaps, spacing, out);
}

// The marks between two places: what the engine says of edges is within a few pixels, what the page
// shows is exact.
layout::Box box_between(const LevelPage& page, const TextLine& line, const LineWord& word,
                        double from, double to) {
  layout::Box box{.x0 = std::min(word.x0, word.x1 - 1),
                  .y0 = line.foot_at(word.x0) - 1.4 * line.small,
                  .x1 = word.x1,
                  .y1 = line.foot_at(word.x1)};
  bool any = false;
  for (const auto i : line.marks) {
    const auto& mark = page.marks[i];
    if (mark.centre_x() < from || mark.centre_x() > to) continue;
    const layout::Box own{.x0 = static_cast<double>(mark.x0),
                          .y0 = static_cast<double>(mark.y0),
                          .x1 = static_cast<double>(mark.x1),
                          .y1 = static_cast<double>(mark.y1)};
    box = any ? layout::unite(box, own) : own;
    any = true;
  }
  return box;
}

bool has_letter_or_digit(const std::string& text) {
  return std::ranges::any_of(layout::to_code_points(text), [](char32_t code) {
    return layout::is_letter(code) || layout::is_digit(code);
  });
}

// Remains of rules are read as underscores and bars: those at the ends of words are none of them,
// and a bar that stands alone among words is an I.
std::vector<LineWord> without_lines(std::vector<LineWord> words) {
  for (auto& word : words) {
    const bool placed = word.centres.size() == layout::count_code_points(word.text);
    while (word.text.size() > 1 && word.text.ends_with('_')) {
      word.text.pop_back();
      if (placed) word.centres.pop_back();
    }
    while (word.text.size() > 1 && word.text.starts_with('_')) {
      word.text.erase(0, 1);
      if (placed) word.centres.erase(word.centres.begin());
    }
    if (word.text == "|" && words.size() > 2) word.text = "I";
  }
  std::erase_if(words, [](const LineWord& word) { return word.text == "_"; });
  return words;
}

// Without what an engine saw where nothing is: between the pieces of a row, or beside a line.
std::vector<LineWord> with_ink(std::vector<LineWord> words, const LevelPage& page,
                               const TextLine& line) {
  std::erase_if(words, [&](const LineWord& word) {
    const double reach = 0.3 * line.small;
    return std::ranges::none_of(line.marks, [&](std::size_t i) {
      return page.marks[i].x1 > word.x0 - reach && page.marks[i].x0 < word.x1 + reach;
    });
  });
  return words;
}

// What an engine makes of scribbles, dirt and remains of rules.
bool is_junk(const LevelPage& page, const TextLine& line, const std::vector<LineWord>& words) {
  double weight = 0;
  double sum = 0;
  bool written = false;
  for (const auto& word : words) {
    const auto length = static_cast<double>(layout::count_code_points(word.text));
    weight += length;
    sum += length * word.conf;
    written = written || has_letter_or_digit(word.text);
  }
  if (weight == 0) return true;
  if (words.size() == 1 && words.front().text == "|") return true;
  if (weight <= 2 && line.bottom - line.top > kEmblem * page.letter_px) return true;
  return sum / weight < (weight <= 2 || !written ? kJunkShort : kJunkLine);
}

}  // namespace

void SpaceWidths::add(const LevelPage& page, const RowImage& row,
                      const std::vector<LineWord>& words) {
  for (std::size_t piece = 0; piece < row.pieces.size(); ++piece) {
    const auto& line = page.lines[row.pieces[piece].line];
    for (const double width :
         spaces_between(gaps_of(page, line), words_of_piece(row, piece, words))) {
      widths_.push_back(width / line.small);
    }
  }
}

double SpaceWidths::usual() const { return median(widths_); }

std::vector<OcrWord> row_words(const LevelPage& page, const RowImage& row,
                               const std::vector<LineWord>& words, const SpaceWidths& spaces) {
  std::vector<OcrWord> out;
  for (std::size_t piece = 0; piece < row.pieces.size(); ++piece) {
    const auto& line = page.lines[row.pieces[piece].line];
    const auto seen = with_ink(without_lines(words_of_piece(row, piece, words)), page, line);
    if (is_junk(page, line, seen)) continue;
    const double pitch = pitch_of(page, line);
    const auto gaps = pitch > 0 ? gaps_of(page, line, pitch) : gaps_of(page, line);
    const auto own = spaces_between(gaps, seen);
    // Lines are set apart differently, but a few spaces say little.
    const Spacing spacing{.space = own.size() >= 4 ? median(own) : spaces.usual() * line.small,
                          .pitch = pitch};
    std::vector<Span> parts;
    for (const auto& span : spans_of(line, gaps, seen)) {
      split(span, line, gaps, spacing, parts);
    }
    for (const auto& [word, from, to] : parts) {
      const auto box = box_between(page, line, word, from, to);
      const double foot = line.foot_at((box.x0 + box.x1) / 2);
      out.push_back({.text = word.text,
                     .conf = word.conf,
                     .box = box,
                     .slot = {.x0 = box.x0,
                              .y0 = foot - 1.4 * line.small,
                              .x1 = box.x1,
                              .y1 = foot + 0.3 * line.small}});
    }
  }
  return out;
}

}  // namespace millrace::document
