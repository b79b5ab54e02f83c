// Reading: a page cut into passages, each of which belongs to a section.
//
// A passage is what mentions can belong together in: a sentence, an item of a list, a row of a
// table. Both passes read the pages anew, the same way. Refers to the page, which outlives it.
#pragma once

#include "extract/dates.h"
#include "extract/quantity.h"
#include "extract/token.h"
#include "layout/page.h"
#include "layout/spatial_map.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::extract {

// Tokens [first, end).
struct TokenRange {
  std::size_t first = 0;
  std::size_t end = 0;
  std::size_t size() const { return end - first; }
  bool empty() const { return first >= end; }
};

// A stretch of lines under one heading.
struct SectionSpan {
  std::string_view kind = {};  // One of layout's; empty before the first heading.
  TokenRange tokens = {};      // Heading included.
  bool historical = false;     // "Discontinued medications"
  bool carried = false;        // Goes on from the page before.
};

struct Passage {
  TokenRange tokens = {};
  std::size_t section = 0;  // Of PageReading::sections.
  int table = -1;           // Of PageMap::tables.
  std::uint32_t row = 0;
  bool item = false;  // A line of a list, or a line by itself: not a part of prose.
};

struct PageReading {
  const layout::PageMap* page = nullptr;
  std::vector<Token> tokens = {};
  std::vector<SectionSpan> sections = {};
  std::vector<Passage> passages = {};

  std::string_view text_of(TokenRange range) const;
  const SectionSpan& section_of(const Passage& passage) const { return sections[passage.section]; }
  // The tokens of these words, as one range.
  TokenRange tokens_of_words(layout::WordRange words) const;
  // The passage that has this token; null outside of all (headings, running text).
  const Passage* passage_at(std::size_t token) const;
};

// `open_section` is the kind that was open before the page, or empty.
PageReading read_page(const layout::PageMap& page, std::string_view open_section);

// By their common words: "en", "de", "fr", "es"; empty when too little says so.
std::string language_of(std::span<const PageReading> pages);
Decimal decimal_of(std::string_view language);
// How the pages write "03/05/2024".
struct DateOrder {
  DayMonth order = DayMonth::unknown;
  // A date with a part above 12 or a form to fill in ("DD/MM/YYYY") shows it, all of them agree, or
  // the language has no other. Else it is what is likelier.
  bool certain = false;
};
bool is_english(std::string_view language);  // Or unknown, which is taken for it.
DateOrder date_order_of(std::span<const PageReading> pages, std::string_view language);

}  // namespace millrace::extract
