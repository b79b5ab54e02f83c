// Outline: what holds at the place where the next chunk begins: headings, page, open fence, table.
//
// Packer moves it along the marks of the scanner as chunks are handed out.
#pragma once

#include "chunk/block_scanner.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace millrace::chunk {

class Outline {
 public:
  explicit Outline(std::optional<std::uint32_t> first_page) : page_(first_page) {}

  void pass(Marks::Heading heading);
  void pass(Marks::Fence fence);
  void pass(Marks::Table table);
  void pass(const Marks::Page& page) { page_ = next_page(page_, page); }

  // Outermost first, levels rising.
  std::vector<Marks::Heading>& headings() { return headings_; }
  std::optional<std::uint32_t> page() const { return page_; }
  // The fence or table that stands open, or nullptr.
  const Marks::Fence* fence() const { return fence_ ? &*fence_ : nullptr; }
  Marks::Table* table() { return table_ ? &*table_ : nullptr; }

  // Page after `mark`, coming from `page`.
  static std::optional<std::uint32_t> next_page(std::optional<std::uint32_t> page,
                                                const Marks::Page& mark) {
    return mark.number != 0 ? mark.number : page.value_or(1) + 1;
  }

 private:
  std::vector<Marks::Heading> headings_;
  std::optional<std::uint32_t> page_;
  std::optional<Marks::Fence> fence_;
  std::optional<Marks::Table> table_;
};

}  // namespace millrace::chunk
