#include "document/ocr/page_reader.h"

#include "document/ocr/inverse.h"
#include "document/ocr/level_page.h"
#include "document/ocr/row_words.h"
#include "layout/code_points.h"

#include <algorithm>
#include <cmath>

namespace millrace::document {
namespace {

constexpr double kUprightSure = 4;  // Deviations from chance.
constexpr double kSure = 0.8;
constexpr double kReadsBadly = 0.72;  // Mean confidence below which the page is tried otherwise.
constexpr double kOnItsSide = 0.5;    // The same for trying it on its side.
constexpr std::size_t kSampleLines = 4;
constexpr double kClearlyMore = 1.05;  // Of known words, for another language than the first.
constexpr double kWordsToTell = 8;     // Characters.
constexpr double kRowJunk = 0.5;       // Confidence of a row below which it is hardly text,
constexpr double kRowSure = 0.94;      // and from which it is not read again.
constexpr double kDoubtful = 0.9;      // Words that may be replaced.
constexpr double kClearlySurer = 0.04;
constexpr double kLetterLarge = 36;  // Height of letters when they are tried larger.

struct Reading {
  std::vector<OcrWord> words = {};
  double weight = 0;  // Characters.
  double sum = 0;     // Confidences by length.
  double confidence() const { return weight == 0 ? 0 : sum / weight; }
  double worth = 0;  // Sure characters: what counts when two readings of a page are compared.
};

struct RowReading {
  RowImage image = {};
  std::vector<LineWord> words = {};
};

Reading to_reading(const LevelPage& page, const std::vector<RowReading>& rows) {
  SpaceWidths spaces;
  for (const auto& row : rows) spaces.add(page, row.image, row.words);
  Reading out;
  for (const auto& row : rows) {
    for (auto& word : row_words(page, row.image, row.words, spaces)) {
      const auto length = static_cast<double>(layout::count_code_points(word.text));
      out.weight += length;
      out.sum += length * word.conf;
      if (word.conf >= kSure) out.worth += length;
      out.words.push_back(std::move(word));
    }
  }
  return out;
}

double confidence_of(const std::vector<LineWord>& words) {
  double weight = 0;
  double sum = 0;
  for (const auto& word : words) {
    const auto length = static_cast<double>(layout::count_code_points(word.text));
    weight += length;
    sum += length * word.conf;
  }
  return weight == 0 ? 0 : sum / weight;
}

// Words that `other` has in the same places and is surer of, instead of doubtful ones.
void take_surer_words(std::vector<LineWord>& words, const std::vector<LineWord>& other,
                      double tolerance_px) {
  for (auto& word : words) {
    if (word.conf >= kDoubtful) continue;
    for (const auto& found : other) {
      const bool same_place = std::abs(found.x0 - word.x0) <= tolerance_px &&
                              std::abs(found.x1 - word.x1) <= tolerance_px;
      if (same_place && found.conf > word.conf + kClearlySurer) word = found;
    }
  }
}

// A row that is read with doubts is read again with its strokes thicker and softer: what is torn
// in one picture may hold together in the other.
std::vector<LineWord> read_row(const Gray& image, LineReader& reader) {
  auto words = reader.read(image);
  const double confidence = confidence_of(words);
  if (confidence < kRowJunk || confidence >= kRowSure) return words;
  const double tolerance = 0.25 * image.height;
  for (int variant = 0; variant < 2; ++variant) {
    auto other = reader.read(variant == 0 ? smoothed(thickened(image), 2) : smoothed(image, 2));
    if (confidence_of(other) > confidence_of(words) + kClearlySurer) {
      std::swap(words, other);
    }
    take_surer_words(words, other, tolerance);
  }
  return words;
}

Reading read_rows(const LevelPage& page, const std::vector<Row>& rows, LineReader& reader) {
  std::vector<RowReading> read;
  for (const auto& row : rows) {
    auto image = cut_row(page, row);
    auto words = read_row(image.image, reader);
    image.image = {};  // Only where its pieces lie is needed from here on.
    read.push_back({.image = std::move(image), .words = std::move(words)});
  }
  return to_reading(page, read);
}

// The longest lines, which say most about whether a page can be read this way.
Reading read_some(const LevelPage& page, LineReader& reader, std::size_t count) {
  Row lines(page.lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) lines[i] = i;
  std::ranges::sort(lines, [&](std::size_t a, std::size_t b) {
    const auto size_a = page.lines[a].marks.size();
    const auto size_b = page.lines[b].marks.size();
    return size_a != size_b ? size_a > size_b : a < b;
  });
  std::vector<Row> rows;
  for (std::size_t i = 0; i < std::min(count, lines.size()); ++i) rows.push_back({lines[i]});
  return read_rows(page, rows, reader);
}

// A page as it was read, and how it lay.
struct Attempt {
  Lie lie = {};
  LevelPage page = {};
  Reading reading = {};
};

// Levelled and the right way up, not read yet.
Attempt begin_attempt(const Gray& image, const Lie& lie, const Noise& noise,
                      const LevelOptions& options, LineReader& reader) {
  Attempt out{.lie = lie, .page = make_level(image, lie, noise, options)};
  const double up = upright_evidence(out.page.marks, out.page.lines);
  bool over = up < 0;
  if (std::abs(up) < kUprightSure) {
    const auto flipped = turned_over(out.page);
    over = read_some(flipped, reader, 3).worth > read_some(out.page, reader, 3).worth;
  }
  if (over) {
    out.page = turned_over(out.page);
    out.lie.turn_deg = (out.lie.turn_deg + 180) % 360;
  }
  return out;
}

Attempt attempt(const Gray& image, const Lie& lie, const Noise& noise, const LevelOptions& options,
                LineReader& reader) {
  auto out = begin_attempt(image, lie, noise, options, reader);
  out.reading = read_rows(out.page, group_rows(out.page), reader);
  return out;
}

// Of several languages the one whose words the longest lines are full of; the first when they do
// not say.
LineReader& choose_reader(const LevelPage& page, std::span<LineReader* const> readers) {
  auto* best = readers.front();
  double best_worth = 0;
  for (auto* reader : readers) {
    if (readers.size() == 1) break;
    double worth = 0;
    for (const auto& word : read_some(page, *reader, kSampleLines).words) {
      const auto length = static_cast<double>(layout::count_code_points(word.text));
      if (length >= 3 && reader->knows(word.text)) worth += length * word.conf;
    }
    if (worth > kClearlyMore * best_worth) {
      best = reader;
      best_worth = worth;
    }
  }
  return *best;
}

// A page that reads badly may lie on its side after all, or its letters may be too small.
void try_otherwise(const Gray& image, const Noise& noise, LineReader& reader, Attempt& best) {
  const auto consider = [&](Attempt other) {
    if (other.reading.worth > 1.1 * best.reading.worth) best = std::move(other);
  };
  const bool nothing = best.reading.weight < kWordsToTell;
  if (!best.lie.sure || nothing || best.reading.confidence() < kOnItsSide) {
    auto lie = best.lie;
    lie.turn_deg = (lie.turn_deg + 90) % 360;
    consider(attempt(image, lie, noise, {}, reader));
  }
  if (best.page.letter_px > 0 && best.page.letter_px < kLetterLarge) {
    consider(attempt(image, best.lie, noise,
                     {.letter_px = best.lie.letter_px * kLetterLarge / best.page.letter_px},
                     reader));
  }
}

}  // namespace

OcrPage read_page(const Gray& page_image, std::span<LineReader* const> readers) {
  const auto inverted = without_inversion(page_image);
  const Gray& source = inverted ? *inverted : page_image;
  const auto noise = measure_noise(source);
  // Specks go first of all: how a page lies is read off its marks, and so is what its ink is.
  Gray despeckled;
  if (noise.has_specks()) despeckled = without_specks(source);
  const Gray& image = despeckled.empty() ? source : despeckled;
  const auto lie = look_at(image);
  auto best = begin_attempt(image, lie, noise, {}, *readers.front());
  auto& reader = choose_reader(best.page, readers);
  best.reading = read_rows(best.page, group_rows(best.page), reader);
  if (best.reading.confidence() < kReadsBadly) try_otherwise(image, noise, reader, best);
  auto& page = best.page;
  OcrPage out{.turn_deg = best.lie.turn_deg,
              .skew_deg = best.lie.skew_deg,
              .confidence = best.reading.confidence(),
              .engine = reader.name(),
              .level = {.width = page.image.width, .height = page.image.height},
              .words = std::move(best.reading.words)};
  out.to_upright =
      page.to_source.then(Projection::quarter_turn(out.turn_deg, image.width, image.height));
  return out;
}

}  // namespace millrace::document
