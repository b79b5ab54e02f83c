// Marks: what holds from a place of the text on: headings, fences, tables, pages.
//
// BlockScanner puts them down as it finds them, Packer takes them away when it has passed them.
// They are places, not texts: of thousands of them a few are ever asked what they say, and then the
// window still has it.
#pragma once

#include "chunk/token_counter.h"
#include "chunk/window.h"

#include <cstdint>
#include <string>
#include <vector>

namespace millrace::chunk {

struct Marks {
  struct Heading {
    std::uint64_t at = 0;  // Tells headings of one title apart.
    std::uint64_t title_begin = 0;
    std::uint64_t title_end = 0;
    std::uint32_t level = 0;
  };
  struct Fence {
    std::uint64_t at = 0;
    bool opens = false;
    std::uint64_t text_begin = 0;  // The line that opens it; nothing: too long to be repeated.
    std::uint64_t content_begin = 0;
    std::uint64_t text_end = 0;
  };
  struct Table {
    std::uint64_t at = 0;
    bool opens = false;
    std::uint64_t header_end = 0;  // Of its rows, from `at` on; `at`: too long to be repeated.
  };
  struct Page {
    std::uint64_t at = 0;
    std::uint32_t number = 0;  // 0 is the one after the last.
  };
  // Each sorted by its place.
  std::vector<Heading> headings;
  std::vector<Fence> fences;
  std::vector<Table> tables;
  std::vector<Page> pages;
};

// What a heading says, on one line.
std::string title_of(const Window& window, const Marks::Heading& heading);
// The header rows of a table, as they stand there; ends with a line end.
std::string header_of(const Window& window, const Marks::Table& table);

// What opens a fence again and what closes it, and what they cost. Empty if nobody would write it.
struct FenceTexts {
  FenceTexts() = default;
  FenceTexts(const Window& window, const Marks::Fence& fence);
  void count(const TokenCounter& counter);

  std::string text;
  std::string closing;
  std::uint64_t text_tokens = 0;
  std::uint64_t closing_tokens = 0;
  std::uint64_t line_closing_tokens = 0;  // After a line end, where a line is cut.
};

}  // namespace millrace::chunk
