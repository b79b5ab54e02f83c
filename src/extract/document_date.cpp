#include "extract/document_date.h"

#include "extract/extract.h"
#include "extract/facts.h"
#include "extract/terms.h"
#include "layout/clinical/clinical_date.h"
#include "layout/clinical/fact_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace millrace::extract {

using layout::clinical::Category;
using layout::clinical::Fact;
using layout::clinical::FactType;
using layout::clinical::Finding;
using layout::clinical::Rule;

namespace {

// Of these rules: for callers who do not know when a document came, and pages without any year.
constexpr int kRulesYear = 2026;
// Appointments and dates of expiry lie ahead, but not far.
constexpr int kAheadYears = 10;

bool is_birth(const Group& group, const Placed& placed) {
  return (key_before(*group.page, placed.tokens.first) & bit(Is::birth_key)) != 0;
}

template <class See>
void each_date(std::span<const Group> groups, DayMonth order, See see) {
  for (const auto& group : groups) {
    for (const auto& placed : group.entities) {
      if (placed.category() != Category::date || is_birth(group, placed)) continue;
      // A year by itself is no date of a document: forms and studies have one.
      const auto date = date_of(placed.entity->text, order);
      if (date && date->month > 0) see(*date);
    }
  }
}

DateMatch match_of(const layout::clinical::ClinicalDate& date) {
  return {.year = date.year, .month = date.month, .day = date.day};
}

// Whether the text has a date that gives this one, and another one when day and month change
// places.
bool says_either_way(std::string_view text, DayMonth order,
                     const layout::clinical::ClinicalDate& date) {
  if (date.day == 0 || date.day > 12 || date.day == date.month) return false;
  const auto tokens = tokens_of(text);
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    const auto found = read_date(tokens, at, order);
    if (found.tokens == 0 || !found.either_way || found.year % 100 != date.year % 100) continue;
    const auto parts = std::minmax(found.day, found.month);
    if (parts == std::minmax(date.day, date.month)) return true;
  }
  return false;
}

// What stands for review of the dates of one fact.
class DateChecker {
 public:
  DateChecker(std::span<const Group> groups, DateOrder order, int year)
      : order_(order), written_(written_of(groups, order.order, year)), year_(year) {
    for (const auto& group : groups) {
      for (const auto& placed : group.entities) entities_.emplace(placed.entity->id, placed.entity);
    }
  }

  void check(const Fact& fact, const std::string& path, std::vector<Finding>& out) const {
    for (const auto& field : layout::clinical::fields_of(fact.type)) {
      if (field.kind != layout::clinical::FieldKind::date) continue;
      const auto* value = fact.value.if_contains(field.name);
      const auto date = value == nullptr || !value->is_string()
                            ? std::nullopt
                            : layout::clinical::parse_clinical_date(value->get_string());
      if (!date) continue;
      const auto add = [&](Rule rule) {
        out.push_back({.severity = layout::clinical::Severity::review,
                       .rule = rule,
                       .path = fmt::format("{}.value.{}", path, field.name),
                       .id = fact.id});
      };
      if (is_ambiguous(fact, *date)) add(Rule::ambiguous_date);
      if (fact.type == FactType::Patient && is_unborn(match_of(*date))) {
        add(Rule::date_after_document);
      }
    }
  }

 private:
  bool is_ambiguous(const Fact& fact, const layout::clinical::ClinicalDate& date) const {
    if (order_.certain) return false;
    return std::ranges::any_of(fact.evidence, [&](const std::string& id) {
      const auto at = entities_.find(id);
      return at != entities_.end() && says_either_way(at->second->text, order_.order, date);
    });
  }

  bool is_unborn(const DateMatch& birth) const {
    if (written_.newest.year > 0) return is_after(birth, written_.newest);
    return year_ > 0 && birth.year > year_;
  }

  DateOrder order_;
  Written written_;
  int year_;
  std::map<std::string_view, const layout::clinical::Entity*> entities_;
};

}  // namespace

Written written_of(std::span<const Group> groups, DayMonth order, int year) {
  Written out{.year = year};
  if (year == 0) {
    each_date(groups, order, [&](const DateMatch& date) {
      if (!date.short_year) out.year = std::max(out.year, date.year);
    });
  }
  if (out.year == 0) out.year = kRulesYear;
  each_date(groups, order, [&](DateMatch date) {
    settle_year(date, out.year + kAheadYears);
    // What lies ahead says nothing of when it was written.
    if (date.year > out.year) return;
    if (out.newest.year == 0 || is_after(date, out.newest)) out.newest = date;
  });
  return out;
}

std::optional<DateMatch> event_date(std::string_view text, DayMonth order, const Written& written) {
  auto date = date_of(text, order);
  if (date) settle_year(*date, written.year + kAheadYears);
  return date;
}

std::optional<DateMatch> birth_date(std::string_view text, DayMonth order, const Written& written) {
  auto date = date_of(text, order);
  if (!date || !date->short_year) return date;
  const auto latest = written.newest.year > 0 ? written.newest.year : written.year;
  settle_year(*date, latest);
  if (written.newest.year > 0 && is_after(*date, written.newest)) settle_year(*date, latest - 1);
  return date;
}

std::vector<Finding> check_dates(const layout::clinical::Extraction& extraction,
                                 const layout::clinical::Detection& detection,
                                 const layout::SpatialMap& pages, int year) {
  std::vector<PageReading> readings;
  readings.reserve(pages.pages.size());
  for (const auto& page : pages.pages) readings.push_back(read_page(page, {}));
  const auto language = detection.language.empty() ? language_of(readings) : detection.language;
  const auto groups = group_entities(detection, readings);
  const DateChecker checker(groups, date_order_of(readings, language), year);
  std::vector<Finding> out;
  for (std::size_t i = 0; i < extraction.facts.size(); ++i) {
    checker.check(extraction.facts[i], fmt::format("facts[{}]", i), out);
  }
  return out;
}

}  // namespace millrace::extract
