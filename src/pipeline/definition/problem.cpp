#include "pipeline/definition/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace millrace::pipeline {

std::string Problem::text(std::string_view file) const {
  if (place.line == 0) return fmt::format("{}: {}", file, message);
  return fmt::format("{}:{}:{}: {}", file, place.line, place.column, message);
}

void Problems::add(Place place, std::string message) {
  if (list_.size() == kProblemsMax) {
    ++left_out_;
    return;
  }
  list_.push_back({place, std::move(message)});
}

std::vector<Problem> Problems::take() {
  std::ranges::sort(list_, {}, [](const Problem& p) { return std::tie(p.place, p.message); });
  const auto doubles = std::ranges::unique(list_);
  list_.erase(doubles.begin(), doubles.end());
  if (left_out_ > 0) {
    list_.push_back({list_.back().place, fmt::format("and {} more", left_out_)});
  }
  return std::exchange(list_, {});
}

}  // namespace millrace::pipeline
