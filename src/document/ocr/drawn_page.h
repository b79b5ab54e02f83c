// Pages drawn pixel by pixel for tests: blocks that stand as letters do, dust, specks.
#pragma once

#include "base/random.h"
#include "document/ocr/gray.h"
#include "document/ocr/line_reader.h"
#include "document/ocr/marks.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace millrace::document::drawn {

struct Rect {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
};

inline void fill(Gray& page, const Rect& rect, std::uint8_t value) {
  const int bottom = std::min(page.height, rect.y + rect.height);
  const int right = std::min(page.width, rect.x + rect.width);
  for (int y = std::max(0, rect.y); y < bottom; ++y) {
    std::fill(page.row(y) + std::max(0, rect.x), page.row(y) + right, value);
  }
}

// The outline of a box: strokes of `stroke` pixels, as letters have.
inline void letter(Gray& page, const Rect& rect, int stroke = 4, std::uint8_t ink = 20) {
  const auto paper = page.at(std::min(page.width - 1, rect.x + rect.width), rect.y);
  fill(page, rect, ink);
  fill(page,
       {.x = rect.x + stroke,
        .y = rect.y + stroke,
        .width = rect.width - 2 * stroke,
        .height = rect.height - 2 * stroke},
       paper);
}

// `count` letters in words of five; every third has an ascender. `foot` is where they stand.
inline void line(Gray& page, int x, int foot, int count, int size = 20) {
  for (int i = 0; i < count; ++i) {
    const int height = i % 3 == 0 ? size * 7 / 5 : size;
    letter(page, {.x = x, .y = foot - height, .width = size * 4 / 5, .height = height});
    x += size * 4 / 5 + (i % 5 == 4 ? size * 3 / 5 : 4);
  }
}

// Squares of two to five pixels.
inline void dust(Gray& page, Random& random, int count) {
  for (int i = 0; i < count; ++i) {
    const auto side = static_cast<int>(random.between(2, 5));
    fill(page,
         {.x = static_cast<int>(random.between(0, page.width - 6)),
          .y = static_cast<int>(random.between(0, page.height - 6)),
          .width = side,
          .height = side},
         60);
  }
}

// Single black pixels, each in a square of faint grey ones, as a JPEG leaves them.
inline void specks(Gray& page, Random& random, int count) {
  for (int i = 0; i < count; ++i) {
    const auto x = static_cast<int>(random.between(8, page.width - 9));
    const auto y = static_cast<int>(random.between(8, page.height - 9));
    for (int dy = -3; dy <= 3; ++dy) {
      for (int dx = -3; dx <= 3; ++dx) {
        auto& pixel = page.row(y + dy)[x + dx];
        if ((dx + dy) % 2 == 0) pixel = std::min<std::uint8_t>(pixel, 225);
      }
    }
    page.row(y)[x] = 0;
  }
}

// Answers whatever it is told to.
class TestReader final : public LineReader {
 public:
  using Answer = std::function<std::vector<LineWord>(const Gray&)>;
  explicit TestReader(Answer answer) : answer_(std::move(answer)) {}

  std::vector<LineWord> read(const Gray& line) override {
    ++reads;
    return answer_(line);
  }
  bool knows(std::string_view) override { return false; }
  std::string name() const override { return "test"; }

  int reads = 0;

 private:
  Answer answer_;
};

}  // namespace millrace::document::drawn
