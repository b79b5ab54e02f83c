// Trial: a small page, what is found on it, and whether layout agrees. For tests only.
#pragma once

#include "extract/extract.h"
#include "layout/clinical/validation.h"
#include "layout/sheet.h"

#include <boost/json/object.hpp>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace millrace::extract {

// Lines set one below the other; an empty line begins a new block.
inline layout::PageMap page_of(const std::vector<std::string>& lines, std::uint32_t number = 1) {
  layout::Sheet sheet;
  double y = 60;
  for (const auto& line : lines) {
    sheet.text(60, y, line);
    y += line.empty() ? 16 : 12.5;
  }
  return sheet.map(number);
}

// A table: cells of each row at the same places.
inline layout::PageMap table_of(const std::vector<std::string>& before,
                                const std::vector<std::vector<std::string>>& rows,
                                const std::vector<double>& columns = {60, 210, 300, 380, 470}) {
  layout::Sheet sheet;
  double y = 60;
  for (const auto& line : before) {
    sheet.text(60, y, line);
    y += 30;
  }
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) sheet.text(columns[i], y, row[i]);
    y += 14;
  }
  return sheet.map(1);
}

struct Trial {
  layout::SpatialMap map = {};
  layout::clinical::Detection detection = {};
  layout::clinical::Extraction extraction = {};
  layout::clinical::Narrative narrative = {};

  // The fact of this type and name; a failed test and an empty one when there is none.
  const layout::clinical::Fact& fact(layout::clinical::FactType type, std::string_view name) const {
    for (const auto& one : extraction.facts) {
      if (one.type == type && one.name() == name) return one;
    }
    ADD_FAILURE() << "no fact is named " << name << " on\n" << map.pages.front().text;
    static const layout::clinical::Fact kNone;
    return kNone;
  }
  std::size_t count(layout::clinical::FactType type) const {
    return static_cast<std::size_t>(
        std::ranges::count(extraction.facts, type, &layout::clinical::Fact::type));
  }
  std::vector<std::string> texts(layout::clinical::Category category) const {
    std::vector<std::string> out;
    for (const auto& entity : detection.entities) {
      if (entity.category == category) out.push_back(entity.text);
    }
    return out;
  }
};

inline void expect_no_rejection(const std::vector<layout::clinical::Finding>& findings) {
  for (const auto& finding : findings) {
    EXPECT_NE(finding.severity, layout::clinical::Severity::reject)
        << layout::clinical::describe(finding);
  }
}

// Reads the pages and holds every result against layout's validators.
inline Trial try_pages(std::vector<layout::PageMap> pages, const Context& context = {}) {
  Trial trial{.map = layout::merge_pages(std::move(pages)).value()};
  trial.detection = detect(trial.map, context);
  trial.extraction = extract(trial.detection, trial.map);
  trial.narrative = narrate(trial.extraction);
  expect_no_rejection(layout::clinical::validate_detection(trial.detection, trial.map));
  expect_no_rejection(
      layout::clinical::validate_extraction(trial.extraction, trial.detection, trial.map));
  expect_no_rejection(layout::clinical::validate_narrative(trial.narrative, trial.extraction,
                                                           trial.narrative.uncertain));
  return trial;
}

inline Trial try_lines(const std::vector<std::string>& lines, const Context& context = {}) {
  return try_pages({page_of(lines)}, context);
}

inline std::string text_at(const layout::clinical::Fact& fact, std::string_view field) {
  const auto* value = fact.value.if_contains(field);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

// "500 mg", "13.5 g/dL"; empty without a quantity.
inline std::string quantity_at(const layout::clinical::Fact& fact, std::string_view field) {
  const auto* value = fact.value.if_contains(field);
  if (value == nullptr || !value->is_object()) return {};
  const auto& object = value->get_object();
  auto out = fmt::format("{}", object.at("value").to_number<double>());
  if (object.at("unit").is_string()) out += " " + std::string(object.at("unit").get_string());
  return out;
}

// "12..16"; a missing end is empty.
inline std::string range_at(const layout::clinical::Fact& fact) {
  const auto* value = fact.value.if_contains("range");
  if (value == nullptr || !value->is_object()) return {};
  const auto end = [&](std::string_view name) {
    const auto& bound = value->get_object().at(name);
    return bound.is_number() ? fmt::format("{}", bound.to_number<double>()) : std::string();
  };
  return end("low") + ".." + end("high");
}

}  // namespace millrace::extract
