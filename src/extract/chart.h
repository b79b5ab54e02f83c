// Chart: the pieces of a passage from left to right, each as long as it goes: dates, quantities,
// ranges, frequencies, terms, and the words and signs between them.
#pragma once

#include "extract/dates.h"
#include "extract/quantity.h"
#include "extract/reading.h"
#include "extract/terms.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace millrace::extract {

enum class Piece : std::uint8_t {
  date,
  pressure,  // "132/84"
  range,
  quantity,  // A number with or without a unit.
  unit,      // A unit by itself, as in a column.
  flag,      // "H", "low", "↑"
  frequency,
  duration,
  route,
  form,
  term,  // Of a list; `kinds` says of which.
  word,
  sign,  // Punctuation.
};

struct Item {
  Piece piece = Piece::word;
  TokenRange tokens = {};
  Kinds kinds = 0;  // What lists say of a term or a word.
  Quantity quantity = {};
  Range range = {};

  bool is(Piece what) const { return piece == what; }
  bool is(Is kind) const { return (kinds & bit(kind)) != 0; }
};

// How numbers and dates of the document are written.
struct Manner {
  Decimal decimal = Decimal::point;
  DayMonth order = DayMonth::unknown;
};

// Commas are decimal where the language says so, or against it where figures with units show it.
Manner manner_of(std::span<const PageReading> pages, std::string_view language);

struct Chart {
  const PageReading* page = nullptr;
  const Passage* passage = nullptr;
  std::vector<Item> items = {};

  const Token& token(std::size_t item) const { return page->tokens[items[item].tokens.first]; }
  bool sign(std::size_t item, std::string_view text) const {
    return item < items.size() && items[item].is(Piece::sign) && token(item).fold == text;
  }
  std::string_view section() const { return page->section_of(*passage).kind; }
};

Chart chart_of(const PageReading& page, const Passage& passage, const Manner& manner);
// A part of a passage: a cell of a table.
Chart chart_of(const PageReading& page, const Passage& passage, TokenRange part,
               const Manner& manner);

// "high", "low" or "abnormal" for a mark beside a result; nothing for other words.
std::string_view flag_of(const Token& token);

}  // namespace millrace::extract
