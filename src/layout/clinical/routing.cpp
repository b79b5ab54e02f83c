#include "layout/clinical/routing.h"

#include "layout/confidence.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace millrace::layout::clinical {
namespace {

using EntityIndex = std::map<std::string_view, const Entity*>;

double score_of(const Fact& fact, const EntityIndex& entities, const SpatialMap& map,
                const RoutingRules& rules) {
  double score = fact.evidence.empty() ? 0 : fact.conf;
  for (const auto& id : fact.evidence) {
    const auto at = entities.find(id);
    if (at == entities.end()) return 0;
    const auto& entity = *at->second;
    const auto* page = map.page(entity.at.page);
    if (page == nullptr) return 0;
    const auto words = weakest(*page, entity.at.words, true).value_or(rules.unknown_word_conf);
    score = std::min({score, entity.conf, words});
  }
  return score;
}

}  // namespace

std::string_view to_string(Route route) {
  switch (route) {
    case Route::accept:
      return "accept";
    case Route::review:
      return "review";
    case Route::reject:
      return "reject";
  }
  return {};
}

Result<void> check_rules(const RoutingRules& rules) {
  const auto lower = std::min(rules.accept_min, rules.accept_min_critical);
  const auto upper = std::max(rules.accept_min, rules.accept_min_critical);
  if (!(rules.review_min >= 0 && rules.review_min <= lower && upper <= 1)) {
    return fail(
        ErrorKind::invalid_argument,
        "routing: review_min must be at least 0 and at most accept_min, accept_min at most 1");
  }
  if (!(rules.unknown_word_conf >= 0 && rules.unknown_word_conf <= 1)) {
    return fail(ErrorKind::invalid_argument, "routing: unknown_word_conf must be between 0 and 1");
  }
  return ok();
}

std::vector<RoutedFact> route_facts(const Extraction& extraction, const Detection& detection,
                                    const SpatialMap& map, std::span<const Finding> findings,
                                    const RoutingRules& rules) {
  EntityIndex entities;
  for (const auto& entity : detection.entities) entities.emplace(entity.id, &entity);
  struct Judged {
    Route route = Route::accept;
    std::set<Rule> rules = {};
  };
  std::map<std::string_view, Judged> judged;
  for (const auto& finding : findings) {
    auto& about = judged[finding.id];
    about.rules.insert(finding.rule);
    const auto route = finding.severity == Severity::reject ? Route::reject : Route::review;
    about.route = std::max(about.route, route);
  }
  std::vector<RoutedFact> out;
  for (const auto& fact : extraction.facts) {
    const auto score = score_of(fact, entities, map, rules);
    const auto enough = is_critical(fact.type) ? rules.accept_min_critical : rules.accept_min;
    auto route = score >= enough             ? Route::accept
                 : score >= rules.review_min ? Route::review
                                             : Route::reject;
    RoutedFact routed{.fact = fact.id, .score = score};
    if (const auto at = judged.find(fact.id); at != judged.end()) {
      route = std::max(route, at->second.route);
      routed.reasons.assign(at->second.rules.begin(), at->second.rules.end());
    }
    routed.route = route;
    out.push_back(std::move(routed));
  }
  return out;
}

std::vector<std::string> facts_with(std::span<const RoutedFact> routed, Route route) {
  std::vector<std::string> ids;
  for (const auto& fact : routed) {
    if (fact.route == route) ids.push_back(fact.fact);
  }
  return ids;
}

Narrative complete_narrative(Narrative narrative, std::span<const RoutedFact> routed,
                             std::span<const Conflict> conflicts) {
  std::set<std::string> told;
  for (const auto& sentence : narrative.sentences) {
    told.insert(sentence.facts.begin(), sentence.facts.end());
  }
  std::set<std::string> said(narrative.uncertain.begin(), narrative.uncertain.end());
  for (auto& id : facts_with(routed, Route::review)) {
    if (!told.contains(id) || !said.insert(id).second) continue;
    narrative.uncertain.push_back(std::move(id));
  }
  const auto dropped = facts_with(routed, Route::reject);
  const std::set<std::string> gone(dropped.begin(), dropped.end());
  std::set<std::set<std::string>> known;
  for (const auto& conflict : narrative.conflicts) {
    known.emplace(conflict.facts.begin(), conflict.facts.end());
  }
  for (const auto& conflict : conflicts) {
    const bool is_gone = std::ranges::any_of(
        conflict.facts, [&](const std::string& id) { return gone.contains(id); });
    if (is_gone || !known.emplace(conflict.facts.begin(), conflict.facts.end()).second) continue;
    narrative.conflicts.push_back(conflict);
  }
  return narrative;
}

}  // namespace millrace::layout::clinical
