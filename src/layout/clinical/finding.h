// Findings: what is wrong with the result of a pass, and how bad it is.
//
// A finding names place and rule, never what stands there: findings go to logs and error records,
// and the text is somebody's health.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::layout::clinical {

enum class Severity {
  review,  // Kept, and a person looks at it.
  reject,  // Not kept. Asking again would not help: the step fails for a person to look at.
};

enum class Rule {
  duplicate_id,
  unknown_page,
  evidence_not_found,    // The text is not in the document.
  evidence_approximate,  // It is, but for a few characters.
  offsets_wrong,         // Offsets, words and text do not belong together.
  unknown_entity,
  no_evidence,
  name_not_in_evidence,
  number_not_in_evidence,
  date_form,
  date_not_in_evidence,
  ambiguous_date,       // Day and month may be the other way round.
  date_after_document,  // Somebody was born after the document was written.
  unit_unknown,
  range_inverted,
  negation_ignored,
  family_ignored,
  hypothesis_ignored,
  unknown_fact,
  no_facts,
  number_not_in_facts,
  uncertain_not_said,
  conflict_too_small,
};

std::string_view to_string(Severity severity);
std::string_view to_string(Rule rule);

struct Finding {
  Severity severity = Severity::review;
  Rule rule = Rule::duplicate_id;
  std::string path;  // "facts[3].value.dose"
  std::string id;    // Of the entity, fact or sentence ("sentences[2]") it is about.
  friend bool operator==(const Finding&, const Finding&) = default;
};

std::string describe(const Finding& finding);  // "facts[3].value.dose: number_not_in_evidence"
bool has_rejections(std::span<const Finding> findings);
// How many findings there are by rule, in the order of the rules.
std::vector<std::pair<Rule, std::size_t>> count_rules(std::span<const Finding> findings);

}  // namespace millrace::layout::clinical
