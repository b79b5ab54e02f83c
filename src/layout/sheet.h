// Sheet: pages for tests, set like a printer would set them. For tests only.
//
// Words get boxes as OCR gives them (as small as their letters) or as a text layer does (as high as
// the font), so that rules about distances are tried with both.
#pragma once

#include "layout/raw_page.h"
#include "layout/reading_order.h"

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::layout {

enum class Boxes { small, font };

class Sheet {
 public:
  explicit Sheet(Boxes boxes = Boxes::small) : boxes_(boxes) {}

  // A line of words whose capitals begin at y; points on a page of 600 by 800.
  Sheet& text(double x, double y, std::string_view line, double size = 10) {
    while (!line.empty()) {
      const auto end = std::min(line.find(' '), line.size());
      const auto word = line.substr(0, end);
      const auto width = width_of(word, size);
      if (!word.empty()) add(x, y, word, width, size);
      x += width + 0.28 * size;
      line.remove_prefix(std::min(end + 1, line.size()));
    }
    return *this;
  }

  // Lines one below the other.
  Sheet& lines(double x, double y, const std::vector<std::string>& lines, double size = 10) {
    for (const auto& line : lines) {
      text(x, y, line, size);
      y += 1.25 * size;
    }
    return *this;
  }

  // The whole sheet turned by some degrees around its middle, as a photograph would have it.
  Sheet& slanted(double degrees) {
    const auto angle = degrees * 3.14159265358979 / 180;
    for (auto& word : words_) {
      const auto c = std::abs(std::cos(angle));
      const auto s = std::abs(std::sin(angle));
      const auto dx = word.box.centre_x() - 300;
      const auto dy = word.box.centre_y() - 400;
      const auto x = 300 + dx * std::cos(angle) - dy * std::sin(angle);
      const auto y = 400 + dx * std::sin(angle) + dy * std::cos(angle);
      const auto w = word.box.width() * c + word.box.height() * s;
      const auto h = word.box.width() * s + word.box.height() * c;
      word.box = {.x0 = x - w / 2, .y0 = y - h / 2, .x1 = x + w / 2, .y1 = y + h / 2};
    }
    return *this;
  }

  // In points.
  const std::vector<RawWord>& words() const { return words_; }
  std::vector<RawWord>& words() { return words_; }

  RawPage raw(std::uint32_t page = 1) const {
    PageInfo info{.page = page, .width_px = 1200, .height_px = 1600, .dpi = 144, .engine = "test"};
    return to_raw_page(std::move(info), {.visible = {.x1 = 600, .y1 = 800}}, words_).value();
  }

  PageMap map(std::uint32_t page = 1) const { return arrange(raw(page)).value(); }

 private:
  static double width_of(std::string_view word, double size) {
    return 0.5 * size * static_cast<double>(word.size());
  }

  void add(double x, double y, std::string_view word, double width, double size) {
    const bool up =
        word.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789bdfhklt[]()/|%") != word.npos;
    const bool down = word.find_first_of("gjpqyQ,;()[]/|") != word.npos;
    const auto base = y + 0.72 * size;
    Box box{.x0 = x,
            .y0 = up ? y : y + 0.22 * size,
            .x1 = x + width,
            .y1 = down ? base + 0.2 * size : base};
    if (boxes_ == Boxes::font) {
      box.y0 = y - 0.18 * size;
      box.y1 = base + 0.25 * size;
    }
    words_.push_back({.text = std::string(word), .box = box, .conf = 0.95});
  }

  Boxes boxes_;
  std::vector<RawWord> words_;
};

}  // namespace millrace::layout
