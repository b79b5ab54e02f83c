#include "document/ocr/slant.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

namespace millrace::document {
namespace {

constexpr double kSkewMax = 30;
constexpr std::size_t kLettersMin = 12;
constexpr std::size_t kLettersMax = 6'000;  // More say nothing new.

struct Foot {
  double x = 0;
  double y = 0;
};

// Share of pairs of letters that stand on one line, seen in this direction: the sum of squares of
// how many fall into each of many narrow strips.
double crowding(const std::vector<Foot>& feet, double degrees, double strip,
                std::vector<float>& bins) {
  const double angle = degrees * std::numbers::pi / 180;
  const double c = std::cos(angle) / strip;
  const double s = std::sin(angle) / strip;
  double low = 1e18;
  double high = -1e18;
  for (const auto& foot : feet) {
    const double v = foot.y * c - foot.x * s;
    low = std::min(low, v);
    high = std::max(high, v);
  }
  bins.assign(static_cast<std::size_t>(high - low) + 3, 0);
  for (const auto& foot : feet) {
    const double v = foot.y * c - foot.x * s - low;
    const auto i = static_cast<std::size_t>(v);
    const auto t = static_cast<float>(v - static_cast<double>(i));
    bins[i] += 1 - t;  // Shared between two strips, or the result would depend on where they begin.
    bins[i + 1] += t;
  }
  double sum = 0;
  for (const auto count : bins) sum += static_cast<double>(count) * count;
  return sum / static_cast<double>(feet.size());
}

struct Peak {
  double degrees = 0;
  double score = 0;
};

Peak best_between(const std::vector<Foot>& feet, double from, double to, double step,
                  double strip) {
  Peak best;
  best.score = -1;
  std::vector<float> bins;
  for (double degrees = from; degrees <= to + step / 2; degrees += step) {
    const double score = crowding(feet, degrees, strip, bins);
    if (score > best.score) best = {.degrees = degrees, .score = score};
  }
  return best;
}

std::vector<Mark> letters_of(const std::vector<Mark>& marks, double letter_height) {
  std::vector<Mark> letters;
  for (const auto& mark : marks) {
    const auto side = static_cast<double>(std::max(mark.width(), mark.height()));
    const bool letter = side >= 0.5 * letter_height && side <= 2.5 * letter_height &&
                        std::min(mark.width(), mark.height()) >= 2;
    if (letter) letters.push_back(mark);
  }
  if (letters.size() > kLettersMax) {
    const auto step = letters.size() / kLettersMax + 1;
    std::vector<Mark> some;
    for (std::size_t i = 0; i < letters.size(); i += step) some.push_back(letters[i]);
    letters = std::move(some);
  }
  return letters;
}

// Of the nearest neighbours of letters, how many lie along x rather than y. `cosine` and `sine`
// turn the page level first.
double along_share(const std::vector<Mark>& letters, double skew_deg) {
  const double angle = -skew_deg * std::numbers::pi / 180;
  const double c = std::cos(angle);
  const double s = std::sin(angle);
  std::vector<Foot> points;
  points.reserve(letters.size());
  for (const auto& mark : letters) {
    points.push_back({.x = mark.centre_x() * c - mark.centre_y() * s,
                      .y = mark.centre_x() * s + mark.centre_y() * c});
  }
  std::ranges::sort(points, {}, &Foot::y);
  double along = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    double best = 1e18;
    bool horizontal = false;
    const auto look = [&](std::size_t j) {
      const double dx = std::abs(points[j].x - points[i].x);
      const double dy = std::abs(points[j].y - points[i].y);
      const double distance = dx * dx + dy * dy;
      if (distance < best) {
        best = distance;
        horizontal = dx > dy;
      }
      return dy * dy < best;
    };
    for (std::size_t j = i + 1; j < points.size() && look(j); ++j) {
    }
    for (std::size_t j = i; j-- > 0 && look(j);) {
    }
    if (horizontal) ++along;
  }
  return along / static_cast<double>(std::max<std::size_t>(1, points.size()));
}

}  // namespace

Slant find_slant(const std::vector<Mark>& marks, double letter_height) {
  Slant out;
  const auto letters = letters_of(marks, letter_height);
  if (letters.size() < kLettersMin) return out;
  std::vector<Foot> centres;
  for (const auto& mark : letters) centres.push_back({.x = mark.centre_x(), .y = mark.centre_y()});
  const double strip = std::max(1.5, letter_height / 3);
  const auto level = best_between(centres, -kSkewMax, kSkewMax, 0.3, strip);
  const auto upright = best_between(centres, 90 - kSkewMax, 90 + kSkewMax, 0.3, strip);
  const double along = along_share(letters, level.degrees);
  const double across = 1 - along_share(letters, upright.degrees - 90);
  const double a = level.score * (0.1 + along);
  const double b = upright.score * (0.1 + across);
  const bool sideways = b > a;
  out.known = true;
  out.turn_deg = sideways ? 90 : 0;
  out.sureness = sideways ? b / std::max(a, 1e-9) : a / std::max(b, 1e-9);

  // Feet of letters, of the page as it stands once it has been turned: its x is then the height of
  // the sideways page minus y.
  std::vector<Foot> feet;
  std::vector<Foot> heads;
  for (const auto& mark : letters) {
    if (sideways) {
      feet.push_back({.x = -mark.centre_y(), .y = static_cast<double>(mark.x1)});
      heads.push_back({.x = -mark.centre_y(), .y = static_cast<double>(mark.x0)});
    } else {
      feet.push_back({.x = mark.centre_x(), .y = static_cast<double>(mark.y1)});
      heads.push_back({.x = mark.centre_x(), .y = static_cast<double>(mark.y0)});
    }
  }
  const double about = sideways ? upright.degrees - 90 : level.degrees;
  // Upside down it is the heads that stand on a line; the better of both counts.
  const double fine_strip = std::max(1.0, letter_height / 8);
  const auto by_feet = best_between(feet, about - 0.6, about + 0.6, 0.05, fine_strip);
  const auto by_heads = best_between(heads, about - 0.6, about + 0.6, 0.05, fine_strip);
  const bool heads_win = by_heads.score > by_feet.score;
  const auto coarse = heads_win ? by_heads : by_feet;
  const auto fine = best_between(heads_win ? heads : feet, coarse.degrees - 0.05,
                                 coarse.degrees + 0.05, 0.01, fine_strip);
  out.skew_deg = fine.degrees;
  return out;
}

}  // namespace millrace::document
