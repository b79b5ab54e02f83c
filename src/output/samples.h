// The letter of layout/clinical/letter.h as outputs get it, and a page written by an enemy. For
// tests only.
#pragma once

#include "base/random.h"
#include "layout/clinical/letter.h"
#include "layout/code_points.h"
#include "output/document_info.h"
#include "output/evidence_table.h"

#include <string>
#include <vector>

namespace millrace::output {

inline DocumentInfo letter_info() {
  DocumentInfo info;
  info.document_id = "0190a000-0000-7000-8000-000000000001";
  info.source = {.file_name = "letter.pdf",
                 .sha256 = std::string(64, 'a'),
                 .size_bytes = 48213,
                 .mime = "application/pdf"};
  info.language = "en";
  info.patient_id = "patient-7";
  info.engines = {"test"};
  info.page_count = 2;
  info.processed_at = parse_instant("2026-11-16T12:00:00.000Z");
  info.generator = "millrace@1.2.3";
  return info;
}

// Words that would be markup, formulas or broken text if somebody forgot to escape them.
inline std::vector<std::string> hostile_words() {
  return {"<script>alert(1)</script>",
          "]]>",
          "&amp;",
          "\"quoted\"",
          "'single'",
          "=cmd|'/c'!A0",
          "@SUM(A1)",
          "a,b",
          "![x](http://e.example)",
          "{{x}}",
          "\u202eabc",
          "-->",
          "[f1]",
          "50\u00a0mg"};
}

inline layout::PageMap hostile_page() {
  std::vector<layout::Word> words;
  for (const auto& text : hostile_words()) {
    if (!layout::is_word_text(text)) continue;
    const auto i = static_cast<double>(words.size());
    words.push_back({.text = text,
                     .box = {.x0 = 0.1, .y0 = 0.02 * i, .x1 = 0.5, .y1 = 0.02 * i + 0.015},
                     .conf = 0.5,
                     .line = static_cast<std::uint32_t>(words.size())});
  }
  layout::PageInfo info{.page = 1, .width_px = 1000, .height_px = 1400, .engine = "<engine>&"};
  return layout::assemble_page(info, std::move(words), {layout::BlockKind::text}).value();
}

// As above, but with what no word may have: for writers that must not trust their caller.
inline layout::PageMap broken_page() {
  auto page = hostile_page();
  page.words[0].text = std::string("a\0b\x01\x1b[0m", 8);
  page.words[1].text = "\xff\xfe bad \xc3";
  page.words[2].text = "line\nend\ttab\r";
  page.words[3].text = "\xef\xbf\xbe";  // U+FFFE
  return page;
}

// Words anywhere on a page, read in whatever order that gives.
inline layout::PageMap random_page(Random& random) {
  const auto texts = hostile_words();
  const std::vector<std::string> plain = {"the", "hyper-", "tension", "13.5", "Zoë", "漢",
                                          "字",  "עולם",   "gj,",     "X-",   "•",   "Name:"};
  layout::RawPage raw{.info = {.page = static_cast<std::uint32_t>(random.between(1, 5000)),
                               .width_px = static_cast<std::uint32_t>(random.between(1, 3000)),
                               .height_px = static_cast<std::uint32_t>(random.between(1, 3000)),
                               .engine = "test"}};
  const auto count = random.below(60);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto& from = random.below(4) == 0 ? texts : plain;
    const auto x = random.uniform();
    const auto y = static_cast<double>(random.below(30)) / 30;
    layout::RawWord word{.text = from[random.below(from.size())],
                         .box = {.x0 = x, .y0 = y, .x1 = x + 0.1, .y1 = y + 0.02}};
    if (random.below(2) == 0) word.conf = random.uniform();
    if (random.below(5) == 0) {
      layout::Quad poly;
      for (auto& point : poly) point = {.x = random.uniform(), .y = random.uniform()};
      word.poly = poly;
    }
    raw.words.push_back(std::move(word));
  }
  return layout::arrange(layout::clean(std::move(raw)).value()).value();
}

}  // namespace millrace::output
