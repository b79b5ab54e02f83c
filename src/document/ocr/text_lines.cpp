#include "document/ocr/text_lines.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace millrace::document {
namespace {

constexpr double kGapMax = 1.9;      // Between letters of a line, in their heights.
constexpr double kBulletGap = 3.5;   // Between a bullet and its line.
constexpr double kOverlapMin = 0.4;  // Of the smaller one's height.

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

class Groups {
 public:
  explicit Groups(std::size_t count) : parents_(count) {
    std::iota(parents_.begin(), parents_.end(), std::size_t{0});
  }
  std::size_t root(std::size_t i) {
    while (parents_[i] != i) {
      parents_[i] = parents_[parents_[i]];
      i = parents_[i];
    }
    return i;
  }
  void join(std::size_t a, std::size_t b) { parents_[root(b)] = root(a); }

 private:
  std::vector<std::size_t> parents_;
};

// Marks in bands of y, to find neighbours without looking at all of them.
class Bands {
 public:
  Bands(const std::vector<Mark>& marks, const std::vector<std::size_t>& chosen, double height)
      : height_(std::max(4.0, height)) {
    int bottom = 0;
    for (const auto i : chosen) bottom = std::max(bottom, marks[i].y1);
    bands_.resize(static_cast<std::size_t>(bottom / height_) + 1);
    for (const auto i : chosen) {
      for (auto b = band_of(marks[i].y0); b <= band_of(marks[i].y1 - 1); ++b) {
        bands_[b].push_back(i);
      }
    }
    for (auto& band : bands_) {
      std::ranges::sort(band, {}, [&](std::size_t i) { return marks[i].x0; });
    }
  }
  std::size_t band_of(int y) const {
    return std::min(static_cast<std::size_t>(std::max(y, 0) / height_), bands_.size() - 1);
  }
  const std::vector<std::size_t>& operator[](std::size_t band) const { return bands_[band]; }

 private:
  double height_;
  std::vector<std::vector<std::size_t>> bands_;
};

double overlap_share(const Mark& a, const Mark& b) {
  const int common = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
  return static_cast<double>(common) / std::min(a.height(), b.height());
}

void join_neighbours(const std::vector<Mark>& marks, const std::vector<std::size_t>& letters,
                     double h, Groups& groups) {
  const Bands bands(marks, letters, h);
  for (const auto i : letters) {
    const auto& mark = marks[i];
    double best = 1e18;
    std::size_t next = marks.size();
    for (auto b = bands.band_of(mark.y0); b <= bands.band_of(mark.y1 - 1); ++b) {
      const auto& band = bands[b];
      auto at =
          std::ranges::upper_bound(band, mark.x0, {}, [&](std::size_t j) { return marks[j].x0; });
      for (; at != band.end(); ++at) {
        const auto& other = marks[*at];
        if (other.x0 - mark.x1 > kGapMax * h * 2) break;
        if (*at == i || overlap_share(mark, other) < kOverlapMin) continue;
        const double size = std::max({h * 0.8, std::min<double>(mark.height(), other.height())});
        const double gap = other.x0 - mark.x1;
        if (gap > kGapMax * size) continue;
        // Letters of very different size belong to different lines.
        if (std::max(mark.height(), other.height()) > 3.2 * std::min(mark.height(), other.height()))
          continue;
        const double distance =
            std::max(gap, 0.0) + 0.5 * std::abs(mark.centre_y() - other.centre_y());
        if (distance < best) {
          best = distance;
          next = *at;
        }
      }
    }
    if (next < marks.size()) groups.join(i, next);
  }
}

// The base line through the feet of most letters, and the height of small ones.
void fit(const std::vector<Mark>& marks, TextLine& line, double h) {
  std::vector<double> feet;
  std::vector<double> xs;
  for (const auto i : line.marks) {
    feet.push_back(marks[i].y1);
    xs.push_back(marks[i].centre_x());
  }
  const double middle = (line.x0 + line.x1) / 2;
  // Slope by the medians of pairs far apart (Theil-Sen, thinned), for lines that are long enough.
  line.slope = 0;
  const std::size_t count = feet.size();
  if (count >= 8 && line.x1 - line.x0 > 8 * h) {
    std::vector<double> slopes;
    const std::size_t half = count / 2;
    for (std::size_t i = 0; i + half < count; ++i) {
      for (std::size_t k = 0; k < 3; ++k) {
        const auto j = i + half + (k * (count - half - i)) / 3;
        if (j >= count || xs[j] - xs[i] < 4 * h) continue;
        slopes.push_back((feet[j] - feet[i]) / (xs[j] - xs[i]));
      }
    }
    if (!slopes.empty()) line.slope = std::clamp(median(slopes), -0.05, 0.05);
  }
  std::vector<double> levels;
  for (std::size_t i = 0; i < count; ++i) levels.push_back(feet[i] - line.slope * (xs[i] - middle));
  line.foot = median(levels);
  std::vector<double> heights;  // Above the base line, of letters that stand on it.
  for (const auto i : line.marks) {
    const double foot = line.foot_at(marks[i].centre_x());
    if (std::abs(marks[i].y1 - foot) < 0.2 * h) heights.push_back(foot - marks[i].y0);
  }
  if (heights.empty()) heights.push_back(h);
  std::ranges::sort(heights);
  // Two sizes: small letters and those with ascenders. When the lower third is well below the
  // upper one, it is the small ones.
  const double low = heights[heights.size() / 4];
  const double high = heights[heights.size() * 9 / 10];
  line.small = high > 1.18 * low ? low : high * 0.72;
  line.top = 0;
  line.bottom = 0;
  for (const auto i : line.marks) {
    const double foot = line.foot_at(marks[i].centre_x());
    line.top = std::min(line.top, marks[i].y0 - foot);
    line.bottom = std::max(line.bottom, marks[i].y1 - foot);
  }
}

// A sign beside a line is no letter of it: a mark at its end that is half as large again as all
// others.
bool is_emblem(const std::vector<Mark>& marks, const std::vector<std::size_t>& line, bool first) {
  if (line.size() < 3) return false;
  const auto end = first ? line.front() : line.back();
  int highest = 0;
  for (const auto i : line) {
    if (i != end) highest = std::max(highest, marks[i].height());
  }
  return marks[end].height() > 1.45 * highest && marks[end].width() > 0.7 * highest;
}

std::vector<TextLine> collect(const std::vector<Mark>& marks,
                              const std::vector<std::size_t>& letters, Groups& groups, double h) {
  std::vector<std::vector<std::size_t>> members(marks.size());
  for (const auto i : letters) members[groups.root(i)].push_back(i);
  std::vector<TextLine> lines;
  for (auto& member : members) {
    if (member.empty()) continue;
    TextLine line;
    std::ranges::sort(member, {}, [&](std::size_t i) { return marks[i].x0; });
    line.marks = std::move(member);
    if (is_emblem(marks, line.marks, true)) line.marks.erase(line.marks.begin());
    if (is_emblem(marks, line.marks, false)) line.marks.pop_back();
    line.x0 = marks[line.marks.front()].x0;
    line.x1 = 0;
    for (const auto i : line.marks) line.x1 = std::max<double>(line.x1, marks[i].x1);
    fit(marks, line, h);
    lines.push_back(std::move(line));
  }
  return lines;
}

void take(const std::vector<Mark>& marks, TextLine& line, std::size_t m) {
  const double foot = line.foot_at(marks[m].centre_x());
  line.marks.push_back(m);
  line.top = std::min(line.top, marks[m].y0 - foot);
  line.bottom = std::max(line.bottom, marks[m].y1 - foot);
}

// Dots, accents and punctuation go to the line in whose reach they lie. A row of dots or dashes
// leads a line on: each that it takes lets it reach farther.
void attach_small(const std::vector<Mark>& marks, std::vector<TextLine>& lines, double h) {
  std::vector<std::size_t> order(lines.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return lines[i].foot; });
  std::vector<std::size_t> small;
  for (std::size_t m = 0; m < marks.size(); ++m) {
    const auto& mark = marks[m];
    if (mark.height() < 0.42 * h && mark.width() < 3 * h && mark.ink >= 3) small.push_back(m);
  }
  // Where lines end for the dots that follow; their middle, on which slopes turn, stays.
  std::vector<std::pair<double, double>> ends;
  for (const auto& line : lines) ends.emplace_back(line.x0, line.x1);
  const auto attach = [&](std::size_t m) {
    const auto& mark = marks[m];
    double best = 1e18;
    std::size_t to = lines.size();
    const auto from = std::ranges::lower_bound(order, mark.y0 - 2 * h, {},
                                               [&](std::size_t i) { return lines[i].foot; });
    for (auto at = from; at != order.end() && lines[*at].foot < mark.y1 + 4 * h; ++at) {
      const auto& line = lines[*at];
      const auto& [x0, x1] = ends[*at];
      const double above = line.foot_at(mark.centre_x()) - mark.centre_y();
      if (above > 2.1 * line.small || above < -0.6 * line.small) continue;
      const bool beside = mark.x1 > x0 - 1.2 * h && mark.x0 < x1 + 1.2 * h;
      // Dashes and dots farther before a line, at the height of small letters, are bullets.
      const bool bullet = above > 0.2 * line.small && above < 0.85 * line.small &&
                          mark.x1 > x0 - kBulletGap * h && mark.x0 < x0;
      if (!beside && !bullet) continue;
      const double distance = std::abs(above - 0.5 * line.small) + (beside ? 0 : 10 * h) +
                              std::max({0.0, x0 - mark.x1, mark.x0 - x1});
      if (distance < best) {
        best = distance;
        to = *at;
      }
    }
    if (to == lines.size()) return false;
    take(marks, lines[to], m);
    // Only what stands level with letters leads on: dirt rarely does.
    const double above = lines[to].foot_at(mark.centre_x()) - mark.centre_y();
    if (above > -0.2 * lines[to].small && above < 1.5 * lines[to].small) {
      ends[to].first = std::min<double>(ends[to].first, mark.x0);
      ends[to].second = std::max<double>(ends[to].second, mark.x1);
    }
    return true;
  };
  std::ranges::sort(small, {}, [&](std::size_t m) { return marks[m].x0; });
  std::erase_if(small, attach);
  std::ranges::reverse(small);  // What leads on to the left.
  std::erase_if(small, attach);
  for (auto& line : lines) {
    std::ranges::sort(line.marks, {}, [&](std::size_t i) { return marks[i].x0; });
    const double slope_from = (line.x0 + line.x1) / 2;
    for (const auto i : line.marks) {
      line.x0 = std::min<double>(line.x0, marks[i].x0);
      line.x1 = std::max<double>(line.x1, marks[i].x1);
    }
    line.foot += line.slope * ((line.x0 + line.x1) / 2 - slope_from);
  }
}

bool on_one_row(const TextLine& a, const TextLine& b, double h) {
  const double middle = (std::max(a.x0, b.x0) + std::min(a.x1, b.x1)) / 2;
  const double apart = std::max(a.x0, b.x0) - std::min(a.x1, b.x1);
  const double size = std::max(h * 0.8, std::min(a.small, b.small));
  return std::abs(a.foot_at(middle) - b.foot_at(middle)) < 0.35 * size && apart < kGapMax * size;
}

// Lines that dots, dashes or quotes between them make one.
void join_led_on(const std::vector<Mark>& marks, const std::vector<std::size_t>& letters,
                 Groups& groups, double h, std::vector<TextLine>& lines) {
  const auto letter_of = [&](const TextLine& line) {
    return *std::ranges::find_if(line.marks,
                                 [&](std::size_t i) { return is_letter_size(marks[i], h); });
  };
  std::ranges::sort(lines, {}, &TextLine::foot);
  bool any = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (std::size_t j = i + 1; j < lines.size() && lines[j].foot - lines[i].foot < h; ++j) {
      const auto a = letter_of(lines[i]);
      const auto b = letter_of(lines[j]);
      if (groups.root(a) == groups.root(b) || !on_one_row(lines[i], lines[j], h)) continue;
      groups.join(a, b);
      any = true;
    }
  }
  if (!any) return;
  lines = collect(marks, letters, groups, h);
  attach_small(marks, lines, h);
}

}  // namespace

bool is_letter_size(const Mark& mark, double letter_height) {
  const double h = letter_height;
  const bool high = mark.height() >= 0.42 * h && mark.height() <= 3.2 * h;
  return high && mark.width() <= 14 * h && mark.width() <= 25 * mark.height();
}

std::vector<TextLine> find_text_lines(const std::vector<Mark>& marks, double letter_height) {
  const double h = letter_height;
  if (h <= 0) return {};
  std::vector<std::size_t> letters;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (is_letter_size(marks[i], h)) letters.push_back(i);
  }
  if (letters.empty()) return {};
  Groups groups(marks.size());
  join_neighbours(marks, letters, h, groups);
  auto lines = collect(marks, letters, groups, h);
  // Groups that stand on one row and touch or overlap are one line.
  std::ranges::sort(lines, {}, &TextLine::foot);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (std::size_t j = i + 1; j < lines.size() && lines[j].foot - lines[i].foot < h; ++j) {
      if (on_one_row(lines[i], lines[j], h)) groups.join(lines[i].marks[0], lines[j].marks[0]);
    }
  }
  lines = collect(marks, letters, groups, h);
  attach_small(marks, lines, h);
  join_led_on(marks, letters, groups, h, lines);
  std::ranges::sort(lines, [](const TextLine& a, const TextLine& b) {
    return a.foot != b.foot ? a.foot < b.foot : a.x0 < b.x0;
  });
  return lines;
}

double upright_evidence(const std::vector<Mark>& marks, const std::vector<TextLine>& lines) {
  double ascenders = 0;
  double descenders = 0;
  for (const auto& line : lines) {
    if (line.marks.size() < 8) continue;
    // Which heights occur is asked of the line itself, from both ends alike: the middle band is
    // where most tops and most feet are.
    std::vector<double> tops;
    std::vector<double> feet;
    for (const auto i : line.marks) {
      if (marks[i].height() < 0.6 * line.small) continue;
      const double foot = line.foot_at(marks[i].centre_x());
      tops.push_back(marks[i].y0 - foot);
      feet.push_back(marks[i].y1 - foot);
    }
    if (tops.size() < 8) continue;
    const double top = median(tops);
    const double foot = median(feet);
    const double size = foot - top;
    for (std::size_t i = 0; i < tops.size(); ++i) {
      if (top - tops[i] > 0.2 * size && std::abs(feet[i] - foot) < 0.15 * size) ++ascenders;
      if (feet[i] - foot > 0.18 * size && std::abs(tops[i] - top) < 0.15 * size) ++descenders;
    }
  }
  const double total = ascenders + descenders;
  return total < 6 ? 0 : (ascenders - descenders) / std::sqrt(total);
}

}  // namespace millrace::document
