// PdfTextCount: about how many characters a page shows, without fonts and without a renderer.
//
// Counts bytes of the strings that are shown (two per character where the font says so), in content
// streams and in the forms that they draw. Good enough to tell pages with a text layer from scans;
// streams are counted once, however many pages share them. Notices on the way what a page would
// cost to draw: forms that draw forms that draw forms need few bytes.
#pragma once

#include "base/result.h"
#include "document/bounded/inflate.h"
#include "document/inspect/pdf_pages.h"

#include <cstdint>
#include <map>
#include <set>

namespace millrace::document {

class PdfTextCount {
 public:
  PdfTextCount(UnpackBudget& budget, const Limits& limits) : budget_(budget), limits_(limits) {}

  // Refusals: pdf_content, ratio, unpacked_bytes.
  Result<std::uint64_t> count(const PdfPage& page);

 private:
  struct Counted {
    std::uint64_t chars = 0;
    std::uint64_t drawn_bytes = 0;  // With the forms, as often as they are drawn.
  };

  Result<Counted> count_stream(QPDFObjectHandle stream, QPDFObjectHandle resources,
                               std::uint32_t depth);
  // The stream alone, and the names that it draws with how often.
  Result<Counted> count_own(QPDFObjectHandle stream, QPDFObjectHandle resources,
                            std::map<std::string, std::uint64_t>& drawn);
  Result<void> check_drawn(const Counted& counted) const;

  UnpackBudget& budget_;
  const Limits& limits_;
  std::map<QPDFObjGen, Counted> known_;
  std::set<QPDFObjGen> open_;  // Forms that are being counted: they may draw each other.
};

}  // namespace millrace::document
