// Outline: what holds at the place where the next chunk begins: headings, page, open fence, table.
//
// Packer moves it along the marks of the scanner as chunks are handed out.
#pragma once

#include "chunk/marks.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace millrace::chunk {

class Outline {
 public:
  struct Heading {
    std::uint64_t at = 0;
    std::uint32_t level = 0;
    std::string title;
    std::optional<std::uint64_t> tokens = {};  // Of its line; Packer's.
  };
  struct Table {
    std::string header;
    std::optional<std::uint64_t> tokens = {};
  };

  explicit Outline(std::optional<std::uint32_t> first_page) : page_(first_page) {}

  // Marks of one kind, in order; the window still has what they speak of.
  void pass(std::span<const Marks::Heading> headings, const Window& window);
  void pass(std::span<const Marks::Table> tables, const Window& window);
  void pass(std::span<const Marks::Page> pages) {
    for (const auto& page : pages) page_ = next_page(page_, page);
  }
  void set_fence(std::optional<FenceTexts> fence) { fence_ = std::move(fence); }

  // Outermost first, levels rising.
  std::vector<Heading>& headings() { return headings_; }
  std::optional<std::uint32_t> page() const { return page_; }
  // The fence or table that stands open, or nullptr.
  const FenceTexts* fence() const { return fence_ ? &*fence_ : nullptr; }
  Table* table() { return table_ ? &*table_ : nullptr; }

  // Page after `mark`, coming from `page`.
  static std::optional<std::uint32_t> next_page(std::optional<std::uint32_t> page,
                                                const Marks::Page& mark) {
    return mark.number != 0 ? mark.number : page.value_or(1) + 1;
  }

 private:
  std::vector<Heading> headings_;
  std::optional<std::uint32_t> page_;
  std::optional<FenceTexts> fence_;
  std::optional<Table> table_;
};

}  // namespace millrace::chunk
