// TextCanvas: characters and lines on a grid that grows as it is drawn on. Lines that meet become
// corners, crossings and tees by themselves.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::pipeline {

class TextCanvas {
 public:
  struct Box {
    std::size_t x = 0;
    std::size_t y = 0;
    std::size_t width = 2;
    std::size_t height = 2;
  };

  void text(std::size_t x, std::size_t y, std::string_view text);
  void line_down(std::size_t x, std::size_t from_y, std::size_t to_y);    // Both ends included.
  void line_across(std::size_t y, std::size_t from_x, std::size_t to_x);  // In either direction.
  void box(const Box& box);  // Hides what is behind it.

  std::string render(bool unicode) const;

  static std::size_t width(std::string_view text);  // In characters.

 private:
  struct Cell {
    std::string sign;   // Empty: lines only.
    unsigned arms = 0;  // Which of the four directions lines leave in.
  };
  Cell& at(std::size_t x, std::size_t y);

  std::vector<std::vector<Cell>> rows_;
};

}  // namespace millrace::pipeline
