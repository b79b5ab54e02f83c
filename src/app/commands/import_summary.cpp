#include "app/commands/import_summary.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

namespace millrace::app {
namespace {

// Still movable when all was done: held by somebody at that moment, or beyond --limit.
constexpr const char* kNotYet = "not moved yet";

Cell show_type(const json::Value& value, const json::Object& row) {
  auto cell = show_value(value);
  if (bool_member(row, "new_type")) cell.text += " (new)";
  return cell;
}

}  // namespace

std::int64_t ImportSummary::Line::left_jobs() const {
  std::int64_t sum = 0;
  for (const auto& [reason, some] : left) sum += some.jobs;
  return sum;
}

ImportSummary::ImportSummary(const json::Array& report) { read(report); }

void ImportSummary::read(const json::Array& report) {
  for (const auto& value : report) {
    const auto& row = value.as_object();
    auto& line = lines_[text_member(row, "source_type")];
    const auto jobs = int_member(row, "jobs");
    const auto reason = text_member(row, "reason");
    if (line.job_type.empty()) {
      line.job_type = text_member(row, "job_type");
      line.queue = text_member(row, "queue");
      line.is_new = bool_member(row, "is_new");
    }
    if (reason.empty() && !closed_) {
      line.to_move += jobs;
      continue;
    }
    auto& left = line.left[reason.empty() ? kNotYet : reason];
    left.jobs += jobs;
    left.example = text_member(row, "example");
  }
}

std::vector<std::string> ImportSummary::idle_types() const {
  std::vector<std::string> types;
  for (const auto& [source_type, line] : lines_) {
    if (line.to_move == 0) types.push_back(source_type);
  }
  return types;
}

std::int64_t ImportSummary::to_move() const {
  std::int64_t sum = 0;
  for (const auto& [source_type, line] : lines_) sum += line.to_move;
  return sum;
}

std::int64_t ImportSummary::moved() const {
  std::int64_t sum = 0;
  for (const auto& [source_type, line] : lines_) sum += line.moved;
  return sum;
}

std::int64_t ImportSummary::left() const {
  std::int64_t sum = 0;
  for (const auto& [source_type, line] : lines_) sum += line.left_jobs();
  return sum;
}

void ImportSummary::add_moved(const std::string& source_type, std::int64_t jobs) {
  lines_[source_type].moved += jobs;
}

void ImportSummary::close(const json::Array& report) {
  closed_ = true;
  for (auto& [source_type, line] : lines_) line.left.clear();
  read(report);
}

json::Array ImportSummary::rows() const {
  json::Array rows;
  for (const auto& [source_type, line] : lines_) {
    const auto counted = closed_ ? line.moved : line.to_move;
    const auto left = line.left_jobs();
    json::Array reasons;
    for (const auto& [reason, some] : line.left) {
      reasons.emplace_back(
          json::Object{{"reason", reason}, {"jobs", some.jobs}, {"example", some.example}});
    }
    rows.emplace_back(json::Object{{"source_type", source_type},
                                   {"job_type", line.job_type},
                                   {"queue", line.queue},
                                   {"new_type", line.is_new},
                                   {"live", counted + left},
                                   {closed_ ? "moved" : "to_move", counted},
                                   {"left_alone", left},
                                   {"reasons", std::move(reasons)}});
  }
  return rows;
}

std::string ImportSummary::why(const Line& line) {
  std::string text;
  for (const auto& [reason, some] : line.left) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", group_digits(some.jobs), reason);
  }
  return text;
}

void ImportSummary::print(const Context& context) const {
  const char* const counted = closed_ ? "moved" : "to_move";
  json::Array shown;
  json::Object total{{"source_type", "total"}, {"new_type", false}};
  for (const auto& value : rows()) {
    auto row = value.as_object();
    row["why"] = why(lines_.at(text_member(row, "source_type")));
    for (const char* key : {"live", counted, "left_alone"}) {
      total[key] = int_member(total, key) + int_member(row, key);
    }
    shown.emplace_back(std::move(row));
  }
  if (shown.size() > 1) {
    for (const char* key : {"job_type", "queue", "why"}) total[key] = "";
    shown.emplace_back(std::move(total));
  }
  print_rows(context, shown,
             {{"TYPE", "source_type"},
              {"BECOMES", "job_type", false, show_type},
              {"QUEUE", "queue"},
              {"LIVE", "live", true, show_count},
              {closed_ ? "MOVED" : "TO MOVE", counted, true, show_count},
              {"LEFT ALONE", "left_alone", true, show_count},
              {"WHY", "why"}},
             "no live jobs");
}

}  // namespace millrace::app
