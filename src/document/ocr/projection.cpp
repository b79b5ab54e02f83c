#include "document/ocr/projection.h"

#include <cmath>
#include <numbers>
#include <utility>

namespace millrace::document {
namespace {

using Row = std::array<double, 9>;  // Eight unknowns and the right side.

// Gauss with the largest pivot.
std::optional<std::array<double, 8>> solve(std::array<Row, 8> rows) {
  for (std::size_t column = 0; column < 8; ++column) {
    std::size_t best = column;
    for (std::size_t row = column + 1; row < 8; ++row) {
      if (std::abs(rows[row][column]) > std::abs(rows[best][column])) best = row;
    }
    if (std::abs(rows[best][column]) < 1e-12) return std::nullopt;
    std::swap(rows[best], rows[column]);
    for (std::size_t row = 0; row < 8; ++row) {
      if (row == column) continue;
      const auto factor = rows[row][column] / rows[column][column];
      for (std::size_t i = column; i < 9; ++i) rows[row][i] -= factor * rows[column][i];
    }
  }
  std::array<double, 8> out{};
  for (std::size_t i = 0; i < 8; ++i) out[i] = rows[i][8] / rows[i][i];
  return out;
}

}  // namespace

Projection Projection::scale(double x, double y) { return Projection({x, 0, 0, 0, y, 0, 0, 0, 1}); }

Projection Projection::shift(double x, double y) { return Projection({1, 0, x, 0, 1, y, 0, 0, 1}); }

Projection Projection::rotation(double degrees) {
  const auto angle = degrees * std::numbers::pi / 180;
  const auto c = std::cos(angle);
  const auto s = std::sin(angle);
  return Projection({c, -s, 0, s, c, 0, 0, 0, 1});
}

Projection Projection::quarter_turn(int turn_deg, double width, double height) {
  switch (turn_deg) {
    case 90:
      return Projection({0, -1, height, 1, 0, 0, 0, 0, 1});
    case 180:
      return Projection({-1, 0, width, 0, -1, height, 0, 0, 1});
    case 270:
      return Projection({0, 1, 0, -1, 0, width, 0, 0, 1});
    default:
      return {};
  }
}

std::optional<Projection> Projection::between(const layout::Quad& from, const layout::Quad& to) {
  std::array<Row, 8> rows{};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto [x, y] = from[i];
    const auto [u, v] = to[i];
    rows[2 * i] = {x, y, 1, 0, 0, 0, -u * x, -u * y, u};
    rows[2 * i + 1] = {0, 0, 0, x, y, 1, -v * x, -v * y, v};
  }
  const auto found = solve(rows);
  if (!found) return std::nullopt;
  const auto& m = *found;
  return Projection({m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], 1});
}

layout::Point Projection::operator()(layout::Point point) const {
  const auto w = m_[6] * point.x + m_[7] * point.y + m_[8];
  return {.x = (m_[0] * point.x + m_[1] * point.y + m_[2]) / w,
          .y = (m_[3] * point.x + m_[4] * point.y + m_[5]) / w};
}

Projection Projection::then(const Projection& next) const {
  std::array<double, 9> out{};
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 3; ++column) {
      for (std::size_t i = 0; i < 3; ++i) {
        out[3 * row + column] += next.m_[3 * row + i] * m_[3 * i + column];
      }
    }
  }
  return Projection(out);
}

Projection Projection::inverse() const {
  const auto& m = m_;
  const std::array<double, 9> adjoint = {
      m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
      m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5],
      m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3]};
  const auto determinant = m[0] * adjoint[0] + m[1] * adjoint[3] + m[2] * adjoint[6];
  std::array<double, 9> out{};
  for (std::size_t i = 0; i < 9; ++i) out[i] = adjoint[i] / determinant;
  return Projection(out);
}

}  // namespace millrace::document
