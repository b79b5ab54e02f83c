// Marks: what a page has where, as it is being found. No two marks share a token: who comes first
// has it, so the surer rules run first.
#pragma once

#include "extract/chart.h"
#include "layout/clinical/detection.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace millrace::extract {

struct Mark {
  layout::clinical::Category category = layout::clinical::Category::other;
  TokenRange tokens = {};
  double conf = 0;
};

class Marks {
 public:
  explicit Marks(std::size_t tokens) : taken_(tokens, false) {}

  bool is_free(TokenRange range) const;
  // Nothing happens when a token is taken already, or the range is empty.
  bool add(layout::clinical::Category category, TokenRange range, double conf);
  const std::vector<Mark>& all() const { return marks_; }

 private:
  std::vector<bool> taken_;
  std::vector<Mark> marks_;
};

// How sure rules are. Routing takes medications and allergies from 0.90, other facts from 0.85.
inline constexpr double kListed = 0.97;      // The name is in a list, the place fits.
inline constexpr double kStructured = 0.94;  // An unknown name in a place that leaves no doubt.
inline constexpr double kContextual = 0.88;  // An unknown name beside a word that asks for one.
inline constexpr double kGuessed = 0.7;      // It sounds like one.

// The rules, in the order in which they run. `whole` is the passage; each takes what is free.
void mark_dates(const Chart& chart, Marks& marks);
// Names that a form has in two fields, folded: given name and surname.
struct SplitName {
  std::string given = {};
  std::string family = {};
  std::vector<Mark> marks = {};
};
void mark_people(const Chart& chart, Marks& marks, SplitName& split);
// Rows of tables whose header says what columns are. True: the row needs no other rules.
class TableMarker {
 public:
  TableMarker(const PageReading& page, const Manner& manner) : page_(page), manner_(manner) {}
  bool mark(const Passage& row, Marks& marks);

 private:
  struct CellTokens {
    TokenRange tokens = {};
    double left = 0;
    double right = 0;
  };
  struct HeaderCell {
    std::optional<Column> role = {};
    double left = 0;
    double right = 0;
  };
  struct Header {
    int table = -1;
    std::vector<HeaderCell> cells = {};
  };
  std::vector<CellTokens> cells_of(const Passage& row) const;
  std::vector<CellTokens> parts_of(const Passage& row) const;  // By the white between words.
  bool read_header(const Passage& row);
  std::uint32_t roles_of(const CellTokens& cell) const;
  void mark_drug_row(const Passage& row, const std::vector<CellTokens>& cells, Marks& marks) const;
  void mark_lab_row(const Passage& row, const std::vector<CellTokens>& cells, Marks& marks) const;
  bool mark_lab_cell(const Passage& row, const CellTokens& cell, bool valued, Marks& marks) const;
  void mark_plain_row(const Passage& row, const std::vector<CellTokens>& cells, Marks& marks) const;
  std::optional<Column> role_of(const CellTokens& cell) const;
  TokenRange trimmed_cell(TokenRange cell) const;
  std::span<const Token> within(const CellTokens& cell) const;  // Nothing is read past a cell.
  bool has(Column role) const;

  const PageReading& page_;
  Manner manner_;
  Header header_;
};
void mark_allergies(const Chart& chart, Marks& marks);
// Vital signs, laboratory values, and medicines with their doses.
void mark_values(const Chart& chart, Marks& marks);
// Medicines without a dose, and what stands beside medicines: frequency, route, duration.
void mark_medications(const Chart& chart, Marks& marks);
void mark_conditions(const Chart& chart, Marks& marks);

// Shared by the rules: the end of a name that begins with this item, as far as words go on that
// can be part of one ("Pherix XR", "CT scan of the chest").
std::size_t name_end(const Chart& chart, std::size_t item, std::size_t items_max);
// Items of "2)" or "(2)" before an element of a list; 0: there is none.
std::size_t numbering(const Chart& chart, std::size_t item);
// Without surrounding signs and common words.
TokenRange trimmed(const PageReading& page, TokenRange range);

}  // namespace millrace::extract
