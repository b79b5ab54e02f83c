#include "document/ocr/level_page.h"

#include "document/ocr/background.h"
#include "document/ocr/page_quad.h"
#include "document/ocr/slant.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace millrace::document {
namespace {

constexpr int kLookLongSide = 1'700;
constexpr double kLetterMin = 17;  // Below, letters are enlarged to kLetterWanted.
constexpr double kLetterMax = 64;
constexpr double kLetterWanted = 28;
constexpr double kSkewMin = 0.12;  // Less is left to the base lines.

double distance(layout::Point p, layout::Point q) { return std::hypot(p.x - q.x, p.y - q.y); }

struct Sheet {
  Projection from_source = {};
  double width = 0;
  double height = 0;
};

Sheet sheet_of(const Gray& image, const std::optional<layout::Quad>& quad) {
  Sheet whole{.width = static_cast<double>(image.width),
              .height = static_cast<double>(image.height)};
  if (!quad) return whole;
  const auto& q = *quad;
  const double width = std::max(distance(q[0], q[1]), distance(q[3], q[2]));
  const double height = std::max(distance(q[0], q[3]), distance(q[1], q[2]));
  const layout::Quad to = {layout::Point{.x = 0, .y = 0},
                           {.x = width, .y = 0},
                           {.x = width, .y = height},
                           {.x = 0, .y = height}};
  const auto projection = Projection::between(q, to);
  if (!projection) return whole;
  return {.from_source = *projection, .width = width, .height = height};
}

Gray evened(const Gray& image) {
  const Background background(image);
  return background.is_even() ? image : background.remove_from(image);
}

int ink_threshold(const Gray& image) {
  return std::clamp(otsu_threshold(histogram(image, 2)), 60, 225);
}

// Means of the dark and the bright pixels.
struct Contrast {
  int ink = 0;
  int paper = 255;
};

Contrast contrast_of(const Gray& image) {
  const auto counts = histogram(image, 2);
  const int threshold = otsu_threshold(counts);
  double dark = 0;
  double dark_sum = 0;
  double bright = 0;
  double bright_sum = 0;
  for (int i = 0; i < 256; ++i) {
    const double count = counts[static_cast<std::size_t>(i)];
    (i < threshold ? dark : bright) += count;
    (i < threshold ? dark_sum : bright_sum) += count * i;
  }
  return {.ink = static_cast<int>(dark == 0 ? 0 : dark_sum / dark),
          .paper = static_cast<int>(bright == 0 ? 255 : bright_sum / bright)};
}

void find_text(LevelPage& page) {
  auto marks = find_marks(page.image, ink_threshold(page.image));
  page.marks = std::move(marks.list);
  page.letter_px = letter_height(page.marks, page.image.height);
  page.lines = find_text_lines(page.marks, page.letter_px);
}

}  // namespace

Lie look_at(const Gray& image) {
  Lie lie;
  lie.quad = find_page_quad(image);
  const int factor = std::max(1, static_cast<int>(std::lround(std::max(image.width, image.height) /
                                                              double{kLookLongSide})));
  Gray small = reduced(image, factor);
  if (lie.quad) {
    const auto sheet = sheet_of(image, lie.quad);
    const auto to_small =
        sheet.from_source.inverse().then(Projection::scale(1.0 / factor, 1.0 / factor));
    const Size size{.width = std::max(1, static_cast<int>(sheet.width / factor)),
                    .height = std::max(1, static_cast<int>(sheet.height / factor))};
    small = warped(small, Projection::scale(factor, factor).then(to_small), size, 255);
  }
  small = evened(small);
  const auto marks = find_marks(small, ink_threshold(small));
  const double height = letter_height(marks.list, small.height);
  const auto slant = find_slant(marks.list, height);
  lie.letter_px = height * factor;
  lie.turn_deg = slant.turn_deg;
  lie.skew_deg = slant.skew_deg;
  lie.sure = slant.known && slant.sureness > 1.3;
  if (!slant.known) lie.letter_px = 0;
  return lie;
}

LevelPage make_level(const Gray& image, const Lie& lie, const Noise& noise,
                     const LevelOptions& options) {
  const auto sheet = sheet_of(image, lie.quad);
  const bool sideways = lie.turn_deg % 180 != 0;
  double width = sideways ? sheet.height : sheet.width;
  double height = sideways ? sheet.width : sheet.height;
  auto from_source =
      sheet.from_source.then(Projection::quarter_turn(lie.turn_deg, sheet.width, sheet.height));
  const bool skewed = std::abs(lie.skew_deg) >= kSkewMin;
  if (skewed) {
    const double angle = std::abs(lie.skew_deg) * 3.14159265358979 / 180;
    const double w = width * std::cos(angle) + height * std::sin(angle);
    const double h = width * std::sin(angle) + height * std::cos(angle);
    from_source = from_source.then(Projection::shift(-width / 2, -height / 2))
                      .then(Projection::rotation(-lie.skew_deg))
                      .then(Projection::shift(w / 2, h / 2));
    width = w;
    height = h;
  }
  double scale = 1;
  if (options.letter_px > 0 && lie.letter_px > 0) {
    scale = options.letter_px / lie.letter_px;
  } else if (lie.letter_px > 0 && (lie.letter_px < kLetterMin || lie.letter_px > kLetterMax)) {
    scale = kLetterWanted / lie.letter_px;
  }
  scale = std::clamp(scale, 0.2, 4.0);
  const double pixels_max = 60e6;
  scale = std::min(scale, std::sqrt(pixels_max / (width * height)));
  from_source = from_source.then(Projection::scale(scale, scale));

  LevelPage page;
  page.to_source = from_source.inverse();
  const bool as_it_is = !lie.quad && !skewed && scale == 1;
  Gray cleaned = noise.specks > 0.002 ? without_specks(image) : Gray();
  const Gray& clean = cleaned.empty() ? image : cleaned;
  if (as_it_is) {
    page.image = turned(clean, lie.turn_deg);
  } else {
    const int reduce = scale <= 0.6 ? static_cast<int>(1 / scale) : 1;
    const Size size{.width = std::max(1, static_cast<int>(std::lround(width * scale))),
                    .height = std::max(1, static_cast<int>(std::lround(height * scale)))};
    page.image =
        warped(reduce > 1 ? reduced(clean, reduce) : clean,
               page.to_source.then(Projection::scale(1.0 / reduce, 1.0 / reduce)), size, 255);
  }
  page.image = evened(page.image);
  const auto contrast = contrast_of(page.image);
  const double grain = noise.grain / std::max(20, contrast.paper - contrast.ink);
  if (grain > 0.03) {
    page.image = blurred(page.image, grain > 0.1 ? 1.4 : 0.9);
  }
  if (contrast.paper - contrast.ink < 130) {
    const auto again = contrast_of(page.image);
    page.image = stretched(page.image, again.ink, again.paper);
  }
  find_text(page);
  return page;
}

LevelPage turned_over(const LevelPage& page) {
  LevelPage out;
  out.image = turned(page.image, 180);
  out.to_source =
      Projection::quarter_turn(180, page.image.width, page.image.height).then(page.to_source);
  find_text(out);
  return out;
}

LineImage cut_line(const LevelPage& page, const TextLine& line) {
  const double pad = 0.25 * line.small + 2;
  const double top = std::min(line.top - 2, -1.5 * line.small);
  const double bottom = std::max(line.bottom + 2, 0.5 * line.small);
  const Size size{.width = std::max(8, static_cast<int>(std::lround(line.x1 - line.x0 + 2 * pad))),
                  .height = std::max(8, static_cast<int>(std::lround(bottom - top)))};
  const double left = std::floor(line.x0 - pad);
  const double high = std::floor(line.foot_at(line.x0 - pad) + top);
  LineImage out;
  if (std::abs(line.slope) * size.width < 1.5) {
    const double y = std::floor(line.foot + top);
    out.to_level = Projection::shift(left, y);
    out.image = Gray(size.width, size.height);
    const int x0 = static_cast<int>(left);
    for (int row = 0; row < size.height; ++row) {
      const int from = std::clamp(static_cast<int>(y) + row, 0, page.image.height - 1);
      for (int x = 0; x < size.width; ++x) {
        const int px = std::clamp(x0 + x, 0, page.image.width - 1);
        out.image.row(row)[x] = page.image.row(from)[px];
      }
    }
    return out;
  }
  // Sheared: letters of a slightly slanted line stay upright, which is what they are.
  const auto shear = Projection::between(
      {layout::Point{.x = 0, .y = 0}, {.x = 1, .y = 0}, {.x = 1, .y = 1}, {.x = 0, .y = 1}},
      {layout::Point{.x = left, .y = high},
       {.x = left + 1, .y = high + line.slope},
       {.x = left + 1, .y = high + line.slope + 1},
       {.x = left, .y = high + 1}});
  out.to_level = shear.value_or(Projection());
  out.image = warped(page.image, out.to_level, size, 245);
  return out;
}

}  // namespace millrace::document
