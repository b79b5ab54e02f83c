// HeadingPath: the headings that all sections of a slice stand under.
//
// Packer walks with it through the slice, from the headings that hold where it begins. Sections
// with text count; bare headings do only if there is nothing else.
#pragma once

#include "chunk/marks.h"
#include "chunk/outline.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace millrace::chunk {

class HeadingPath {
 public:
  explicit HeadingPath(const std::vector<Outline::Heading>& headings);

  void enter(const Marks::Heading& heading);  // Its section begins.
  void take_text();                           // The section has text.
  void write_titles(const Window& window, std::vector<std::string>& titles) const;

 private:
  static constexpr std::size_t kLevelsMax = 6;
  struct Step {
    std::uint32_t level = 0;
    const Outline::Heading* passed = nullptr;  // Before the slice, or
    const Marks::Heading* ahead = nullptr;     // in it.
  };
  // A path is a stack: what two of its states share is as much of the first as was never taken off
  // between them.
  struct Path {
    std::array<Step, kLevelsMax> steps;
    std::size_t size = 0;
    bool known = false;
  };
  void push(Step step);
  void share(Path& path, std::size_t kept) const;

  Path now_;
  std::size_t text_kept_ = 0;  // Of now_, since a section with text was last met.
  Path with_text_;
  Path bare_;
};

}  // namespace millrace::chunk
