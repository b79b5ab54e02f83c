#include "output/line_run.h"

#include "layout/code_points.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace millrace::output {
namespace {

using layout::PageMap;
using layout::Word;
using layout::WordRange;

constexpr double kSlopeMax = 0.27;  // 15 degrees: a line that climbs more is no line of a scan.

// Letters below the baseline: the bottom of such a word's box says nothing about it.
bool has_descender(const Word& word) {
  return word.text.find_first_of("gjpqyQ,;()[]{}/|_$@") != std::string::npos;
}

// By the polygons; without them a line of the margin runs the way that its words follow each other.
int angle_of(const PageMap& page, WordRange words) {
  for (auto i = words.first; i <= words.last; ++i) {
    const auto& poly = page.words[i].poly;
    if (poly) return (360 - layout::direction_of(*poly, page.info.aspect())) % 360;
  }
  const auto& first = page.words[words.first];
  const auto& last = page.words[words.last];
  if (page.blocks[first.block].kind != layout::BlockKind::margin) return 0;
  const auto dx = last.box.centre_x() - first.box.centre_x();
  const auto dy = (last.box.centre_y() - first.box.centre_y()) * page.info.aspect();
  if (std::abs(dx) >= std::abs(dy)) return dx < 0 ? 180 : 0;
  return dy < 0 ? 90 : 270;
}

struct Sample {
  double x = 0;  // From the left of the line, in pixels.
  double y = 0;  // Up from its bottom is negative.
};

std::vector<Sample> samples_of(const PageMap& page, WordRange words, const layout::Box& box,
                               bool with_descenders) {
  std::vector<Sample> out;
  for (auto i = words.first; i <= words.last; ++i) {
    const auto& word = page.words[i];
    if (!with_descenders && has_descender(word)) continue;
    out.push_back({.x = (word.box.centre_x() - box.x0) * page.info.width_px,
                   .y = (word.box.y1 - box.y1) * page.info.height_px});
  }
  return out;
}

Baseline fit(const std::vector<Sample>& samples) {
  double x = 0;
  double y = 0;
  for (const auto& sample : samples) {
    x += sample.x;
    y += sample.y;
  }
  x /= static_cast<double>(samples.size());
  y /= static_cast<double>(samples.size());
  double xy = 0;
  double xx = 0;
  for (const auto& sample : samples) {
    xy += (sample.x - x) * (sample.y - y);
    xx += (sample.x - x) * (sample.x - x);
  }
  // Of two short words the difference is mostly rounding.
  const auto slope = samples.size() >= 3 && xx > 0 ? xy / xx : 0;
  if (std::abs(slope) > kSlopeMax) return {.slope = 0, .offset = std::min(y, 0.0)};
  return {.slope = slope, .offset = std::min(y - slope * x, 0.0)};
}

bool runs_right_to_left(const PageMap& page, WordRange words) {
  std::size_t there = 0;
  std::size_t here = 0;
  for (auto i = words.first; i <= words.last; ++i) {
    const auto& text = page.words[i].text;
    for (std::size_t at = 0; at < text.size();) {
      const auto next = layout::decode_at(text, at);
      if (layout::is_right_to_left(next.code)) {
        ++there;
      } else if (layout::is_letter(next.code)) {
        ++here;
      }
      at += next.bytes;
    }
  }
  return there > here;
}

}  // namespace

PixelBox to_pixels(const layout::Box& box, const layout::PageInfo& page) {
  const auto pixel = [](double share, std::uint32_t side) {
    return static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * side));
  };
  return {.x0 = pixel(box.x0, page.width_px),
          .y0 = pixel(box.y0, page.height_px),
          .x1 = pixel(box.x1, page.width_px),
          .y1 = pixel(box.y1, page.height_px)};
}

LineRun run_of(const PageMap& page, WordRange words) {
  LineRun run{.box = page.words[words.first].box};
  for (auto i = words.first + 1; i <= words.last; ++i) {
    run.box = layout::unite(run.box, page.words[i].box);
  }
  run.angle_deg = angle_of(page, words);
  run.right_to_left = runs_right_to_left(page, words);
  if (run.angle_deg == 0) {
    auto samples = samples_of(page, words, run.box, false);
    if (samples.empty()) samples = samples_of(page, words, run.box, true);
    run.baseline = fit(samples);
  }
  return run;
}

}  // namespace millrace::output
