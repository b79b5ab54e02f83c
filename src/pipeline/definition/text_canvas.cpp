#include "pipeline/definition/text_canvas.h"

#include <algorithm>
#include <array>

namespace millrace::pipeline {
namespace {

constexpr unsigned kUp = 1;
constexpr unsigned kRight = 2;
constexpr unsigned kDown = 4;
constexpr unsigned kLeft = 8;

// By the sum of their arms.
constexpr std::array<std::string_view, 16> kLines{" ", "╵", "╶", "└", "╷", "│", "┌", "├",
                                                  "╴", "┘", "─", "┴", "┐", "┤", "┬", "┼"};
constexpr std::array<std::string_view, 16> kPlainLines{" ", "|", "-", "+", "|", "|", "+", "+",
                                                       "-", "+", "-", "+", "+", "+", "+", "+"};

struct Replacement {
  std::string_view sign;
  std::string_view plain;
};
constexpr std::array kReplacements{Replacement{"▼", "v"}, Replacement{"·", "-"},
                                   Replacement{"×", "x"}, Replacement{"…", "~"}};

std::string_view plain_sign(std::string_view sign) {
  for (const auto& replacement : kReplacements) {
    if (replacement.sign == sign) return replacement.plain;
  }
  return sign.size() == 1 ? sign : "?";
}

bool begins_sign(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

}  // namespace

std::size_t TextCanvas::width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_sign));
}

TextCanvas::Cell& TextCanvas::at(std::size_t x, std::size_t y) {
  if (rows_.size() <= y) rows_.resize(y + 1);
  if (rows_[y].size() <= x) rows_[y].resize(x + 1);
  return rows_[y][x];
}

void TextCanvas::text(std::size_t x, std::size_t y, std::string_view text) {
  while (!text.empty()) {
    std::size_t size = 1;
    while (size < text.size() && !begins_sign(text[size])) ++size;
    at(x++, y) = {.sign = std::string(text.substr(0, size)), .arms = 0};
    text.remove_prefix(size);
  }
}

void TextCanvas::line_down(std::size_t x, std::size_t from_y, std::size_t to_y) {
  for (auto y = from_y; y <= to_y; ++y) {
    auto& cell = at(x, y);
    if (y > from_y) cell.arms |= kUp;
    if (y < to_y) cell.arms |= kDown;
  }
}

void TextCanvas::line_across(std::size_t y, std::size_t from_x, std::size_t to_x) {
  const auto [left, right] = std::minmax(from_x, to_x);
  for (auto x = left; x <= right; ++x) {
    auto& cell = at(x, y);
    if (x > left) cell.arms |= kLeft;
    if (x < right) cell.arms |= kRight;
  }
}

void TextCanvas::box(const Box& box) {
  const auto right = box.x + box.width - 1;
  const auto bottom = box.y + box.height - 1;
  for (auto y = box.y; y <= bottom; ++y) {
    for (auto x = box.x; x <= right; ++x) at(x, y) = {.sign = {}, .arms = 0};
  }
  line_across(box.y, box.x, right);
  line_across(bottom, box.x, right);
  line_down(box.x, box.y, bottom);
  line_down(right, box.y, bottom);
}

std::string TextCanvas::render(bool unicode) const {
  const auto& lines = unicode ? kLines : kPlainLines;
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    for (const auto& cell : row) {
      if (cell.sign.empty()) {
        line += lines[cell.arms];
      } else {
        line += unicode ? std::string_view(cell.sign) : plain_sign(cell.sign);
      }
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace millrace::pipeline
