#include "document/ocr/page_reader.h"

#include "document/ocr/level_page.h"
#include "document/ocr/row_words.h"
#include "layout/code_points.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace millrace::document {
namespace {

constexpr double kUprightSure = 4;  // Deviations from chance.
constexpr double kSure = 0.8;
constexpr double kReadsBadly = 0.72;  // Mean confidence below which the page is tried otherwise.
constexpr double kOnItsSide = 0.5;    // The same for trying it on its side.
constexpr double kWordsToTell = 8;    // Characters.
constexpr double kLetterLarge = 36;   // Height of letters when they are tried larger.

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

Reading read_rows(const LevelPage& page, const std::vector<Row>& rows, LineReader& reader) {
  std::vector<RowReading> read;
  for (const auto& row : rows) {
    auto image = cut_row(page, row);
    auto words = reader.read(image.image);
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

Attempt attempt(const Gray& image, const Lie& lie, const Noise& noise, const LevelOptions& options,
                LineReader& reader) {
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
  out.reading = read_rows(out.page, group_rows(out.page), reader);
  return out;
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

OcrPage read_page(const Gray& image, LineReader& reader) {
  const auto noise = measure_noise(image);
  auto best = attempt(image, look_at(image), noise, {}, reader);
  if (best.reading.confidence() < kReadsBadly) try_otherwise(image, noise, reader, best);
  auto& [lie, page, reading] = best;
  if (std::getenv("MR_OCR_DEBUG") != nullptr) {
    std::fprintf(stderr,
                 "noise specks %.4f grain %.2f quad %d turn %d skew %.2f letter %.1f level %dx%d "
                 "letter %.1f lines %zu conf %.3f contrast %d\n",
                 noise.specks, noise.grain, lie.quad ? 1 : 0, lie.turn_deg, lie.skew_deg,
                 lie.letter_px, page.image.width, page.image.height, page.letter_px,
                 page.lines.size(), reading.confidence(), lie.contrast);
  }
  if (const char* dump = std::getenv("MR_OCR_DUMP"); dump != nullptr) {
    auto shown = page.image;
    for (const auto& line : page.lines) {
      for (int x = std::max(0, (int)line.x0); x < std::min(shown.width, (int)line.x1); ++x) {
        for (double d : {line.top, line.bottom, -line.small, 0.0}) {
          const int y = std::clamp((int)(line.foot_at(x) + d), 0, shown.height - 1);
          shown.row(y)[x] = 128;
        }
      }
    }
    auto* f = std::fopen(dump, "wb");
    std::fprintf(f, "P5 %d %d 255\n", shown.width, shown.height);
    std::fwrite(shown.pixels.data(), 1, shown.pixels.size(), f);
    std::fclose(f);
  }
  OcrPage out{.turn_deg = lie.turn_deg,
              .skew_deg = lie.skew_deg,
              .confidence = reading.confidence(),
              .level = {.width = page.image.width, .height = page.image.height},
              .words = std::move(reading.words)};
  out.to_upright =
      page.to_source.then(Projection::quarter_turn(out.turn_deg, image.width, image.height));
  return out;
}

}  // namespace millrace::document
