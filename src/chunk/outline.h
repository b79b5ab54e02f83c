// Outline: what holds at the place where the next chunk begins: headings, page, open fence, table.
//
// Packer moves it along the marks of the scanner as chunks are handed out.
#pragma once

#include "chunk/block_scanner.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace millrace::chunk {

struct OpenHeading {
  std::uint64_t at = 0;  // Tells headings of one title apart.
  std::uint32_t level = 0;
  std::string title;
};

class Outline {
 public:
  explicit Outline(std::optional<std::uint32_t> first_page) : page_(first_page) {}

  void pass(const Mark& mark);

  const std::vector<OpenHeading>& headings() const { return headings_; }
  std::optional<std::uint32_t> page() const { return page_; }
  // The fence or table that stands open, or nullptr.
  const Mark* fence() const { return fence_ ? &*fence_ : nullptr; }
  const Mark* table() const { return table_ ? &*table_ : nullptr; }

  // Page after `mark`, coming from `page`.
  static std::optional<std::uint32_t> next_page(std::optional<std::uint32_t> page,
                                                const Mark& mark);

 private:
  std::vector<OpenHeading> headings_;  // Outermost first, levels rising.
  std::optional<std::uint32_t> page_;
  std::optional<Mark> fence_;
  std::optional<Mark> table_;
};

// Takes away the headings that one of `level` ends.
void close_headings(std::vector<OpenHeading>& headings, std::uint32_t level);

}  // namespace millrace::chunk
