#include "layout/clinical/finding.h"

#include "layout/clinical/pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace millrace::layout::clinical {
namespace {

constexpr auto kRules = std::to_array<Label<Rule>>({
    {Rule::duplicate_id, "duplicate_id"},
    {Rule::unknown_page, "unknown_page"},
    {Rule::evidence_not_found, "evidence_not_found"},
    {Rule::evidence_approximate, "evidence_approximate"},
    {Rule::offsets_wrong, "offsets_wrong"},
    {Rule::unknown_entity, "unknown_entity"},
    {Rule::no_evidence, "no_evidence"},
    {Rule::name_not_in_evidence, "name_not_in_evidence"},
    {Rule::number_not_in_evidence, "number_not_in_evidence"},
    {Rule::date_form, "date_form"},
    {Rule::date_not_in_evidence, "date_not_in_evidence"},
    {Rule::ambiguous_date, "ambiguous_date"},
    {Rule::date_after_document, "date_after_document"},
    {Rule::unit_unknown, "unit_unknown"},
    {Rule::range_inverted, "range_inverted"},
    {Rule::negation_ignored, "negation_ignored"},
    {Rule::family_ignored, "family_ignored"},
    {Rule::hypothesis_ignored, "hypothesis_ignored"},
    {Rule::unknown_fact, "unknown_fact"},
    {Rule::no_facts, "no_facts"},
    {Rule::number_not_in_facts, "number_not_in_facts"},
    {Rule::uncertain_not_said, "uncertain_not_said"},
    {Rule::conflict_too_small, "conflict_too_small"},
});

}  // namespace

std::string_view to_string(Severity severity) {
  return severity == Severity::review ? "review" : "reject";
}

std::string_view to_string(Rule rule) { return name_in(kRules, rule); }

std::string describe(const Finding& finding) {
  return fmt::format("{}: {}", finding.path, to_string(finding.rule));
}

bool has_rejections(std::span<const Finding> findings) {
  return std::ranges::any_of(
      findings, [](const Finding& finding) { return finding.severity == Severity::reject; });
}

std::vector<std::pair<Rule, std::size_t>> count_rules(std::span<const Finding> findings) {
  std::map<Rule, std::size_t> counts;
  for (const auto& finding : findings) ++counts[finding.rule];
  return {counts.begin(), counts.end()};
}

}  // namespace millrace::layout::clinical
