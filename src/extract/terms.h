// Terms: the word lists of terms/, read once. What a phrase can be, by its folded tokens.
//
// Lists are data of this folder, embedded at build. A phrase may be many things (calcium is a test
// and a drug): the caller decides by what stands around it.
#pragma once

#include "extract/token.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace millrace::extract {

enum class Is : std::uint32_t {
  drug,
  analyte,
  vital,
  allergen,
  reaction,
  condition,
  condition_head,
  procedure,
  vaccine,
  route,
  form,
  frequency,
  common,  // A word of one of the languages that names nothing.
  title,
  courtesy,
  credential,
  role,
  patient_key,
  birth_key,
  sex_key,
  id_key,
  practitioner_key,
  given_key,
  family_key,
  female,
  male,
  organization,
  negated_before,
  negated_after,
  family_before,
  family_after,
  hypothetical_before,
  hypothetical_after,
  future_before,
  future_after,
  historical_before,
  historical_after,
  possible_before,
  probable_before,
  possible_after,
  probable_after,
  ends_reach,
  no_cue,
  stopped_before,
  stopped_after,
  forbidden_before,
  forbidden_after,
  considered_before,
  replaced_before,
  replaced_after,
  companion,
  informant,
  change,
  state,
  condition_lead,
  condition_tail,
  medicine_tail,
  article,
};

using Kinds = std::uint64_t;
constexpr Kinds bit(Is is) { return Kinds{1} << static_cast<std::uint32_t>(is); }

enum class Column : std::uint8_t {
  drug,
  dose,
  frequency,
  route,
  duration,
  start,
  end,
  indication,
  status,
  test,
  value,
  unit,
  range,
  flag,
  date,
  allergen,
  reaction,
  severity,
  condition,
  onset,
  procedure,
  vaccine,
  lot,
  site,
  role,
};

inline constexpr std::size_t kLanguages = 4;
inline constexpr std::array<std::string_view, kLanguages> kLanguageNames = {"en", "de", "fr", "es"};
inline constexpr std::size_t kPhraseTokensMax = 6;

struct Match {
  std::size_t tokens = 0;  // 0: nothing.
  Kinds kinds = 0;
  bool is(Is kind) const { return (kinds & bit(kind)) != 0; }
};

class Terms {
 public:
  static const Terms& get();

  // The longest phrase of `among` that begins at `at` and lies on one line or goes on in the next.
  Match longest(std::span<const Token> tokens, std::size_t at, Kinds among) const;
  Kinds kinds_of(std::string_view key) const;
  bool has(std::string_view key, Is kind) const { return (kinds_of(key) & bit(kind)) != 0; }

  // Kind of section that is headed so, nothing for other text.
  std::optional<std::string_view> heading(std::string_view key) const;
  // Roles that a column with this header can have, as a set of bits.
  std::uint32_t columns(std::string_view key) const;
  std::optional<std::string_view> document_type(std::string_view key) const;
  // Languages whose common word this is, as bits of kLanguageNames.
  std::uint8_t languages(std::string_view key) const;

  // Whether the word ends like the name of a drug, a disease or an operation.
  bool sounds_like_drug(std::string_view fold) const;
  bool sounds_like_condition(std::string_view fold) const;
  bool sounds_like_procedure(std::string_view fold) const;

  // Of all lists, for version().
  std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  template <class T>
  using Map = std::unordered_map<std::string, T, Hash, std::equal_to<>>;

  Terms();
  void read(std::string_view name, std::string_view text);
  void add(std::string_view list, std::string_view label, std::string_view term);

  Map<Kinds> kinds_;
  Map<std::uint8_t> longest_;  // Words of the longest phrase that begins with a word.
  Map<std::string_view> headings_;
  Map<std::uint32_t> columns_;
  Map<std::string_view> documents_;
  Map<std::uint8_t> languages_;
  std::vector<std::string> drug_endings_;
  std::vector<std::string> condition_endings_;
  std::vector<std::string> procedure_endings_;
  std::uint64_t fingerprint_ = 14695981039346656037ULL;
};

// The phrase of these tokens as it is looked up.
std::string phrase_of(std::span<const Token> tokens);
std::string phrase_of(std::string_view text);

}  // namespace millrace::extract
