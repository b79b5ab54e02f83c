// Routes: where facts were sent, by their ids. The routed facts must outlive it.
#pragma once

#include "layout/clinical/routing.h"

#include <map>
#include <span>
#include <string_view>

namespace millrace::output {

class Routes {
 public:
  explicit Routes(std::span<const layout::clinical::RoutedFact> routed) {
    for (const auto& fact : routed) facts_.emplace(fact.fact, &fact);
  }

  // Null when it was not routed.
  const layout::clinical::RoutedFact* find(std::string_view fact) const {
    const auto at = facts_.find(fact);
    return at == facts_.end() ? nullptr : at->second;
  }
  // Empty when it was not routed.
  std::string_view name(std::string_view fact) const {
    const auto* routed = find(fact);
    return routed == nullptr ? std::string_view() : to_string(routed->route);
  }

 private:
  std::map<std::string_view, const layout::clinical::RoutedFact*> facts_;
};

}  // namespace millrace::output
