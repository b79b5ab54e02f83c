// What is said of a small page, in one line that a person can read. For tests only.
#pragma once

#include "extract/trial.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::extract {

// "-" denied, "<" past, ">" planned, "?" supposed, "~" not certain, "family:" somebody else's;
// details behind the name; "!" for a person to look at.
inline std::string shown(const layout::clinical::Fact& fact) {
  using layout::clinical::Temporality;
  constexpr double kAccepted = 0.85;
  std::string out;
  const auto append = [&out](std::string_view before, const std::string& text) {
    if (!text.empty()) out += std::string(before) + text;
  };
  const auto& assertion = fact.assertion;
  if (fact.subject == layout::clinical::Subject::family) out += "family:";
  if (assertion.polarity == layout::clinical::Polarity::negated) out += '-';
  if (assertion.temporality == Temporality::historical) out += '<';
  if (assertion.temporality == Temporality::future) out += '>';
  if (assertion.temporality == Temporality::hypothetical) out += '?';
  if (assertion.certainty != layout::clinical::Certainty::definite) out += '~';
  out += fact.name();
  append(" ", quantity_at(fact, "dose"));
  append(" ", text_at(fact, "route"));
  append(" ", text_at(fact, "frequency"));
  append(" ", text_at(fact, "duration"));
  append(" ", text_at(fact, "comparator") + quantity_at(fact, "value"));
  append(" ", text_at(fact, "text"));
  append(" ", range_at(fact));
  append(" ", text_at(fact, "flag"));
  append(" -> ", text_at(fact, "reaction"));
  if (fact.conf < kAccepted) out += '!';
  return out;
}

// Facts as far as they are told, in their order; of one type, or all but people.
inline std::string said(const std::vector<std::string>& lines,
                        std::optional<layout::clinical::FactType> type = std::nullopt) {
  using layout::clinical::FactType;
  constexpr double kDropped = 0.50;
  const auto trial = try_lines(lines);
  std::string out;
  for (const auto& fact : trial.extraction.facts) {
    const bool person = fact.type == FactType::Patient || fact.type == FactType::Practitioner ||
                        fact.type == FactType::Encounter;
    if ((type ? fact.type != *type : person) || fact.conf < kDropped) continue;
    if (!out.empty()) out += "; ";
    out += shown(fact);
  }
  return out;
}

}  // namespace millrace::extract
