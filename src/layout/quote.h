// Quotes: finding on a page what somebody claims to have read there.
//
// Exactly first, then with a bounded number of errors, because OCR misreads letters and models put
// them right again. Numbers are never forgiven: 50 mg is not 500 mg, however near they are.
#pragma once

#include "layout/folded_text.h"
#include "layout/page.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace millrace::layout {

struct QuoteOptions {
  // Characters that may differ, as a share of the quote's length. Four and fewer must be exact.
  double errors_share = 0.2;
  std::size_t errors_max = 20;
  std::size_t quote_max = 2'000;  // Characters; longer quotes are not looked for.
};

struct QuoteMatch {
  ByteRange bytes = {};    // Of the text that was searched.
  std::size_t errors = 0;  // Characters that differ.
  std::size_t length = 0;  // Of the quote, as it was compared.
  double error_share() const {
    return length == 0 ? 0 : static_cast<double>(errors) / static_cast<double>(length);
  }
};

// A text that is searched often.
class QuoteFinder {
 public:
  explicit QuoteFinder(std::string_view text, QuoteOptions options = {});

  // Whole words only. Of several places the one nearest to byte `near`, else the first.
  std::optional<QuoteMatch> find(std::string_view quote,
                                 std::optional<std::uint32_t> near = std::nullopt) const;
  // The same, but not farther than some lines from `near`: for callers who have spent enough.
  std::optional<QuoteMatch> find_around(std::string_view quote, std::uint32_t near) const;

  std::size_t size() const { return text_.chars.size(); }  // What find() costs.

 private:
  struct Window {
    std::size_t first = 0;
    std::size_t last = 0;
  };

  std::optional<FoldedText> folded(std::string_view quote) const;
  Window window_at(std::uint32_t near, std::size_t length) const;
  std::optional<QuoteMatch> find_exact(const FoldedText& quote, Window window,
                                       std::optional<std::uint32_t> near) const;
  std::optional<QuoteMatch> find_approximately(const FoldedText& quote, Window window) const;
  bool is_whole(std::size_t begin, std::size_t end) const;
  std::size_t char_at(std::uint32_t byte) const;

  QuoteOptions options_;
  FoldedText text_;
};

}  // namespace millrace::layout
