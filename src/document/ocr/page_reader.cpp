#include "document/ocr/page_reader.h"

#include "document/ocr/level_page.h"
#include "layout/code_points.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace millrace::document {
namespace {

struct Reading {
  std::vector<OcrWord> words = {};
  double weight = 0;  // Characters.
  double sum = 0;     // Confidences by length.
  double confidence() const { return weight == 0 ? 0 : sum / weight; }
};

// The marks whose middle lies within the word: what the engine says of edges is within a few
// pixels, what the page shows is exact.
layout::Box box_of(const LevelPage& page, const TextLine& line, double x0, double x1) {
  layout::Box box{.x0 = x0, .y0 = line.foot_at(x0) - 1.4 * line.small, .x1 = x1, .y1 = line.foot};
  bool any = false;
  for (const auto i : line.marks) {
    const auto& mark = page.marks[i];
    if (mark.centre_x() < x0 || mark.centre_x() > x1) continue;
    const layout::Box own{.x0 = static_cast<double>(mark.x0),
                          .y0 = static_cast<double>(mark.y0),
                          .x1 = static_cast<double>(mark.x1),
                          .y1 = static_cast<double>(mark.y1)};
    box = any ? layout::unite(box, own) : own;
    any = true;
  }
  return box;
}

void read_line(const LevelPage& page, const TextLine& line, LineReader& reader, Reading& out) {
  const auto cut = cut_line(page, line);
  const auto words = reader.read(cut.image);
  for (const auto& word : words) {
    const auto from = cut.to_level({.x = word.x0, .y = 0});
    const auto to = cut.to_level({.x = word.x1, .y = 0});
    const auto length = static_cast<double>(layout::count_code_points(word.text));
    out.words.push_back(
        {.text = word.text, .conf = word.conf, .box = box_of(page, line, from.x, to.x)});
    out.weight += length;
    out.sum += length * word.conf;
  }
}

Reading read_lines(const LevelPage& page, LineReader& reader) {
  Reading out;
  for (const auto& line : page.lines) read_line(page, line, reader, out);
  return out;
}

// The longest lines, which say most about whether a page can be read this way.
Reading read_some(const LevelPage& page, LineReader& reader, std::size_t count) {
  std::vector<const TextLine*> lines;
  for (const auto& line : page.lines) lines.push_back(&line);
  std::ranges::sort(lines, [](const TextLine* a, const TextLine* b) {
    return a->marks.size() != b->marks.size() ? a->marks.size() > b->marks.size() : a < b;
  });
  Reading out;
  for (std::size_t i = 0; i < std::min(count, lines.size()); ++i) {
    read_line(page, *lines[i], reader, out);
  }
  return out;
}

}  // namespace

OcrPage read_page(const Gray& image, LineReader& reader) {
  const auto noise = measure_noise(image);
  auto lie = look_at(image);
  auto page = make_level(image, lie, noise);
  const double up = upright_evidence(page.marks, page.lines);
  bool over = up < 0;
  if (std::abs(up) < 4) {
    const auto flipped = turned_over(page);
    over = read_some(flipped, reader, 3).confidence() > read_some(page, reader, 3).confidence();
  }
  if (over) {
    page = turned_over(page);
    lie.turn_deg += 180;
  }
  const auto reading = read_lines(page, reader);
  if (std::getenv("MR_OCR_DEBUG") != nullptr) {
    std::fprintf(stderr,
                 "noise specks %.4f grain %.2f quad %d turn %d skew %.2f letter %.1f level %dx%d "
                 "letter %.1f lines %zu up %.1f conf %.3f\n",
                 noise.specks, noise.grain, lie.quad ? 1 : 0, lie.turn_deg, lie.skew_deg,
                 lie.letter_px, page.image.width, page.image.height, page.letter_px,
                 page.lines.size(), up, reading.confidence());
  }
  OcrPage out{.turn_deg = lie.turn_deg % 360,
              .skew_deg = lie.skew_deg,
              .confidence = reading.confidence(),
              .level = {.width = page.image.width, .height = page.image.height},
              .words = reading.words};
  out.to_upright =
      page.to_source.then(Projection::quarter_turn(out.turn_deg, image.width, image.height));
  return out;
}

}  // namespace millrace::document
