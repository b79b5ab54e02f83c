#include "app/compute/mock_solvers.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace millrace::app {
namespace {

double number(const json::Object& object, std::string_view name, double otherwise) {
  const auto* value = object.if_contains(name);
  return value != nullptr && value->is_number() ? value->to_number<double>() : otherwise;
}

bool flag(const json::Object& object, std::string_view name, bool otherwise) {
  const auto* value = object.if_contains(name);
  return value != nullptr && value->is_bool() ? value->get_bool() : otherwise;
}

struct Material {
  double elasticity_mpa;
  double bears_mpa;
};

Material material_of(const json::Object& inputs) {
  const auto* name = inputs.if_contains("material");
  const std::string_view text =
      name != nullptr && name->is_string() ? std::string_view(name->get_string()) : "steel";
  if (text == "aluminium") return {.elasticity_mpa = 70'000, .bears_mpa = 160};
  if (text == "timber") return {.elasticity_mpa = 11'000, .bears_mpa = 24};
  return {.elasticity_mpa = 210'000, .bears_mpa = 235};
}

struct Point {
  double x = 0;
  double y = 0;
  friend bool operator==(const Point&, const Point&) = default;
};

double distance(const Point& a, const Point& b) { return std::hypot(a.x - b.x, a.y - b.y); }

using Order = std::vector<std::size_t>;

double length_of(const std::vector<Point>& points, const Order& order, bool closed) {
  double length = 0;
  for (std::size_t i = 1; i < order.size(); ++i) {
    length += distance(points[order[i - 1]], points[order[i]]);
  }
  if (closed) length += distance(points[order.back()], points[order.front()]);
  return length;
}

Order nearest_first(const std::vector<Point>& points) {
  Order order{0};
  std::vector<bool> seen(points.size(), false);
  seen[0] = true;
  while (order.size() < points.size()) {
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < points.size(); ++i) {
      const auto way = distance(points[order.back()], points[i]);
      if (!seen[i] && way < least) {
        least = way;
        best = i;
      }
    }
    seen[best] = true;
    order.push_back(best);
  }
  return order;
}

// Turns stretches around as long as that makes the way shorter; bounded, like everything.
void untangle(const std::vector<Point>& points, Order& order, bool closed) {
  constexpr int kPassesMax = 20;
  auto best = length_of(points, order, closed);
  for (int pass = 0; pass < kPassesMax; ++pass) {
    bool shorter = false;
    for (std::size_t i = 1; i + 1 < order.size(); ++i) {
      for (std::size_t k = i + 1; k < order.size(); ++k) {
        const auto first = order.begin() + static_cast<std::ptrdiff_t>(i);
        const auto last = order.begin() + static_cast<std::ptrdiff_t>(k) + 1;
        std::reverse(first, last);
        const auto length = length_of(points, order, closed);
        if (length + 1e-9 < best) {
          best = length;
          shorter = true;
        } else {
          std::reverse(first, last);
        }
      }
    }
    if (!shorter) return;
  }
}

std::string draw(const std::vector<Point>& points, const Order& order, bool closed) {
  auto low = points.front();
  auto high = points.front();
  for (const auto& point : points) {
    low = {.x = std::min(low.x, point.x), .y = std::min(low.y, point.y)};
    high = {.x = std::max(high.x, point.x), .y = std::max(high.y, point.y)};
  }
  const auto size = std::max({high.x - low.x, high.y - low.y, 1e-9});
  const auto at = [&](const Point& point) {
    return fmt::format("{:.1f},{:.1f}", 20 + (point.x - low.x) / size * 360,
                       380 - (point.y - low.y) / size * 360);
  };
  std::string path;
  for (const auto index : order) path += (path.empty() ? "M" : " L") + at(points[index]);
  if (closed) path += " Z";
  return fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 400">)"
                     R"(<path d="{}" fill="none" stroke="#1f6feb" stroke-width="2"/></svg>)",
                     path);
}

double rounded(double value, double step) { return std::round(value / step) * step; }

}  // namespace

// A load P at a of a span L: moment P·a·b/L below it; deflection by the usual closed form.
std::expected<Solution, DomainError> solve_beam(const json::Object& inputs) {
  const auto span_mm = number(inputs, "span_m", 1) * 1000;
  const auto load_n = number(inputs, "load_kn", 0) * 1000;
  const auto at_mm = number(inputs, "load_at_m", span_mm / 2000) * 1000;
  if (at_mm > span_mm) {
    return std::unexpected(
        DomainError{.pointer = "/load_at_m", .detail = "the load must lie on the beam"});
  }
  json::Object section;
  if (const auto* given = inputs.if_contains("section"); given != nullptr && given->is_object()) {
    section = given->get_object();
  }
  const auto width_mm = number(section, "width_mm", 100);
  const auto height_mm = number(section, "height_mm", 200);
  const auto material = material_of(inputs);
  const auto inertia_mm4 = width_mm * std::pow(height_mm, 3) / 12;
  const auto far_mm = std::min(at_mm, span_mm - at_mm);
  const auto moment_nmm = load_n * at_mm * (span_mm - at_mm) / span_mm;
  const auto stress_mpa = moment_nmm * (height_mm / 2) / inertia_mm4;
  const auto deflection_mm = load_n * far_mm * std::pow(span_mm * span_mm - far_mm * far_mm, 1.5) /
                             (9 * std::sqrt(3.0) * material.elasticity_mpa * inertia_mm4 * span_mm);
  const auto utilisation = stress_mpa / material.bears_mpa;
  return Solution{.outputs = {{"max_moment_knm", moment_nmm / 1e6},
                              {"max_deflection_mm", deflection_mm},
                              {"max_stress_mpa", stress_mpa},
                              {"utilisation", utilisation},
                              {"score", std::clamp(1 - utilisation, 0.0, 1.0)},
                              {"solver", kMockSolver}}};
}

// Nearest point first, then untangled: short, not always the shortest.
std::expected<Solution, DomainError> solve_tour(const json::Object& inputs) {
  std::vector<Point> points;
  for (const auto& item : inputs.at("points").as_array()) {
    const Point point{.x = item.at(0).to_number<double>(), .y = item.at(1).to_number<double>()};
    if (std::ranges::find(points, point) != points.end()) {
      return std::unexpected(DomainError{.pointer = fmt::format("/points/{}", points.size()),
                                         .detail = "the same point is there before"});
    }
    points.push_back(point);
  }
  const bool closed = flag(inputs, "closed", true);
  auto order = nearest_first(points);
  untangle(points, order, closed);
  Order given(points.size());
  std::iota(given.begin(), given.end(), std::size_t{0});
  const auto length = length_of(points, order, closed);
  json::Array indices;
  for (const auto index : order) indices.emplace_back(index);
  Solution solution{.outputs = {{"order", std::move(indices)},
                                {"length", length},
                                {"score", rounded(length_of(points, given, closed) - length, 1e-6)},
                                {"solver", kMockSolver}}};
  if (flag(inputs, "drawing", false)) solution.drawing_svg = draw(points, order, closed);
  return solution;
}

Solver find_solver(std::string_view definition, std::string_view version) {
  if (definition == "beam" && version == "1.0.0") return solve_beam;
  if (definition == "tour" && version == "2.1.0") return solve_tour;
  return nullptr;
}

}  // namespace millrace::app
