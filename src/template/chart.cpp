#include "template/chart.h"

#include "template/chart_data.h"
#include "template/escape.h"
#include "template/letters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numbers>
#include <numeric>

namespace millrace::templates {
namespace {

constexpr double kWidth = 640;
constexpr double kLetterWidth = 5.9;  // Of a digit at 11 px, generously.
constexpr double kLabelMax = 130;     // More of a label is cut, rather than most labels left out.

constexpr std::array<std::string_view, 6> kColours = {"#2b5f8a", "#d98a3d", "#5b9279",
                                                      "#a64d5e", "#7a6aa8", "#8c8c8c"};

std::string colour(std::size_t index) {
  const auto i = index % kColours.size();
  return fmt::format("var(--chart-{}, {})", i + 1, kColours[i]);
}

// Those of Chinese, Japanese and Korean, and emoji, are about twice as wide.
double width_of(char32_t letter) { return letter < 0x2E80 ? kLetterWidth : 2 * kLetterWidth; }

double width_of(std::string_view text) {
  double width = 0;
  while (const auto letter = take_letter(text)) width += width_of(letter);
  return width;
}

// As much of it as there is room for.
std::string fitted(std::string_view text, double room) {
  if (width_of(text) <= room) return std::string(text);
  std::string out;
  double width = kLetterWidth;
  for (auto letter = take_letter(text); letter != 0; letter = take_letter(text)) {
    width += width_of(letter);
    if (width > room) break;
    append_letter(letter, out);
  }
  return out + "…";
}

// The pen of one drawing.
class Svg {
 public:
  template <class... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Arguments>(arguments)...);
  }

  void text(double x, double y, std::string_view anchor, std::string_view text,
            std::string_view extra = "") {
    add(R"svg(<text x="{:.2f}" y="{:.2f}" text-anchor="{}"{}>{}</text>)svg", x, y, anchor, extra,
        escaped_html(text));
  }

  std::string finish(double height, const ChartData& chart, const Locale& locale) {
    return fmt::format(
        R"svg(<svg class="chart" viewBox="0 0 {:.0f} {:.0f}" role="img" font-size="11">)svg"
        "<title>{}</title><desc>{}</desc>{}</svg>",
        kWidth, height, escaped_html(chart.title), escaped_html(describe(chart, locale)), out_);
  }

 private:
  static std::string describe(const ChartData& chart, const Locale& locale) {
    std::string out;
    for (const auto& series : chart.series) {
      if (!out.empty()) out += "; ";
      if (!series.name.empty()) out += series.name + ": ";
      for (std::size_t i = 0; i < chart.labels.size(); ++i) {
        out += fmt::format("{}{} {}", i == 0 ? "" : ", ", chart.labels[i],
                           chart_number(series.values[i], chart, locale));
      }
    }
    return out;
  }

  std::string out_;
};

struct Frame {
  double left, right, top, bottom;
  Axis axis;

  double y(double value) const {
    return bottom - (value - axis.low) / (axis.high - axis.low) * (bottom - top);
  }
};

constexpr std::string_view kInk = R"svg( fill="var(--chart-ink, #444)")svg";

Frame draw_axis(Svg& svg, const ChartData& chart, const Locale& locale, double top, double bottom) {
  Frame frame{
      .left = 0, .right = kWidth - 6, .top = top, .bottom = bottom, .axis = axis_for(chart)};
  const auto& axis = frame.axis;
  const auto marks = static_cast<int>(std::lround((axis.high - axis.low) / axis.step));
  double widest = 0;
  for (int i = 0; i <= marks; ++i) {
    widest = std::max(widest, width_of(chart_number(axis.low + i * axis.step, chart, locale)));
  }
  frame.left = 12 + widest;
  for (int i = 0; i <= marks; ++i) {
    const double value = axis.low + i * axis.step;
    const double y = frame.y(value);
    const bool is_base = std::abs(value) < axis.step * 1e-6;
    svg.add(
        R"svg(<path d="M{:.2f} {:.2f}H{:.2f}" stroke="var(--chart-{}, {})" stroke-width="{}"/>)svg",
        frame.left, y, frame.right, is_base ? "ink" : "grid", is_base ? "#444" : "#ddd",
        is_base ? "1" : "0.75");
    svg.text(frame.left - 8, y + 3.8, "end", chart_number(is_base ? 0 : value, chart, locale),
             kInk);
  }
  return frame;
}

// Below the frame; when they would overlap, only every second, third … is written.
void draw_labels(Svg& svg, const ChartData& chart, const Frame& frame, double band) {
  const double most = std::max(kLabelMax, band - 1.5 * kLetterWidth);
  double widest = kLetterWidth;
  for (const auto& label : chart.labels) widest = std::max(widest, width_of(label));
  const double needed = std::min(widest, most) + 1.5 * kLetterWidth;
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(needed / band)));
  for (std::size_t i = 0; i < chart.labels.size(); i += every) {
    const auto label = fitted(chart.labels[i], most);
    const double half = width_of(label) / 2;
    const double x = frame.left + (static_cast<double>(i) + 0.5) * band;
    svg.text(std::clamp(x, half, kWidth - half), frame.bottom + 17, "middle", label, kInk);
  }
}

void draw_legend(Svg& svg, const ChartData& chart, double y) {
  if (chart.series.size() < 2) return;
  constexpr double kBetween = 40;  // With the coloured box of the next.
  // Each has its share of the line; what short ones leave, long ones take.
  const auto count = static_cast<double>(chart.series.size());
  double room = (kWidth - kBetween * count) / count;
  double spare = 0;
  double longer = 0;
  for (const auto& series : chart.series) {
    const double width = width_of(series.name);
    width > room ? longer += 1 : spare += room - width;
  }
  if (longer > 0) room += spare / longer;
  double x = 6;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const auto name = fitted(chart.series[i].name, room);
    svg.add(R"svg(<rect x="{:.2f}" y="{:.2f}" width="10" height="10" rx="2" fill="{}"/>)svg", x,
            y - 9, colour(i));
    svg.text(x + 16, y, "start", name, kInk);
    x += kBetween + width_of(name);
  }
}

std::string draw_bars(const ChartData& chart, const Locale& locale) {
  Svg svg;
  const bool has_legend = chart.series.size() > 1;
  const double top = has_legend ? 34 : 12;
  const auto frame = draw_axis(svg, chart, locale, top, top + 200);
  draw_legend(svg, chart, 14);
  const double band = (frame.right - frame.left) / static_cast<double>(chart.labels.size());
  const auto count = static_cast<double>(chart.series.size());
  const double width = std::min(band * 0.72 / count, 46.0);
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    for (std::size_t i = 0; i < chart.labels.size(); ++i) {
      const double value = chart.series[s].values[i];
      const double x = frame.left + (static_cast<double>(i) + 0.5) * band +
                       (static_cast<double>(s) - count / 2) * width;
      const double y = std::min(frame.y(value), frame.y(0));
      const double height = std::abs(frame.y(value) - frame.y(0));
      const double gap = count > 1 ? 1 : 0;
      svg.add(
          R"svg(<rect x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}" rx="{:.2f}" fill="{}"/>)svg",
          x + gap / 2, y, width - gap, height, std::min({2.0, height / 2, width / 4}), colour(s));
      const auto text = chart_number(value, chart, locale);
      const bool has_room = width_of(text) < band / count;
      if (has_room && chart.labels.size() * chart.series.size() <= 16) {
        svg.text(x + width / 2, value < 0 ? y + height + 12 : y - 4, "middle", text,
                 R"svg( fill="var(--chart-ink, #444)" font-size="9.5")svg");
      }
    }
  }
  draw_labels(svg, chart, frame, band);
  return svg.finish(frame.bottom + 26, chart, locale);
}

std::string draw_lines(const ChartData& chart, const Locale& locale) {
  Svg svg;
  const double top = chart.series.size() > 1 ? 34 : 12;
  const auto frame = draw_axis(svg, chart, locale, top, top + 200);
  draw_legend(svg, chart, 14);
  const double band = (frame.right - frame.left) / static_cast<double>(chart.labels.size());
  const auto x_of = [&](std::size_t i) {
    return frame.left + (static_cast<double>(i) + 0.5) * band;
  };
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    std::string way;
    const auto& values = chart.series[s].values;
    for (std::size_t i = 0; i < values.size(); ++i) {
      way += fmt::format("{}{:.2f} {:.2f}", i == 0 ? "M" : "L", x_of(i), frame.y(values[i]));
    }
    if (chart.series.size() == 1) {
      svg.add(R"svg(<path d="{}L{:.2f} {:.2f}L{:.2f} {:.2f}Z" fill="{}" fill-opacity="0.12"/>)svg",
              way, x_of(values.size() - 1), frame.y(0), x_of(0), frame.y(0), colour(s));
    }
    svg.add(
        R"svg(<path d="{}" fill="none" stroke="{}" stroke-width="2.2" stroke-linejoin="round" )svg"
        R"svg(stroke-linecap="round"/>)svg",
        way, colour(s));
    if (values.size() > 24) continue;
    for (std::size_t i = 0; i < values.size(); ++i) {
      svg.add(
          R"svg(<circle cx="{:.2f}" cy="{:.2f}" r="3" fill="#fff" stroke="{}" stroke-width="1.8"/>)svg",
          x_of(i), frame.y(values[i]), colour(s));
    }
  }
  draw_labels(svg, chart, frame, band);
  return svg.finish(frame.bottom + 26, chart, locale);
}

// A ring: lengths along it are easier to compare than wedges, and its middle holds the sum.
std::string draw_ring(const ChartData& chart, const Locale& locale) {
  Svg svg;
  const auto& values = chart.series[0].values;
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  const double rows = static_cast<double>(values.size()) * 22;
  const double height = std::max(210.0, rows + 30);
  const double cx = 130;
  const double cy = height / 2;
  constexpr double kRadius = 72;
  constexpr double kBreadth = 36;
  const double around = 2 * std::numbers::pi * kRadius;
  double widest = 0;
  for (const auto value : values) {
    widest = std::max(widest, width_of(chart_number(value, chart, locale)));
  }
  constexpr double kLarger = 12.0 / 11;  // Than the letters that widths are of.
  const double room = (kWidth - 90 - 290) / kLarger - widest - 2 * kLetterWidth;
  double passed = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double share = sum > 0 ? values[i] / sum : 0;
    const double length = std::max(0.0, share * around - (values.size() > 1 ? 1.5 : 0));
    svg.add(
        R"svg(<circle cx="{:.2f}" cy="{:.2f}" r="{}" fill="none" stroke="{}" stroke-width="{}" )svg"
        R"svg(stroke-dasharray="{:.2f} {:.2f}" transform="rotate({:.2f} {:.2f} {:.2f})"/>)svg",
        cx, cy, kRadius, colour(i), kBreadth, length, around - length, passed * 360 - 90, cx, cy);
    passed += share;
    const double y = cy - rows / 2 + static_cast<double>(i) * 22 + 14;
    svg.add(R"svg(<rect x="270" y="{:.2f}" width="11" height="11" rx="2" fill="{}"/>)svg", y - 10,
            colour(i));
    svg.text(290, y, "start", fitted(chart.labels[i], room),
             R"svg( fill="var(--chart-ink, #444)" font-size="12")svg");
    const auto percent = Decimal::of(json::Value(share * 100));
    svg.text(kWidth - 90, y, "end", chart_number(values[i], chart, locale),
             R"svg( fill="var(--chart-ink, #444)" font-size="12")svg");
    svg.text(kWidth - 20, y, "end",
             format_number(percent ? *percent : Decimal(), 1, locale) + std::string(locale.percent),
             R"svg( fill="var(--chart-ink, #444)" font-size="12" font-weight="600")svg");
  }
  svg.text(cx, cy + 5, "middle", chart_number(sum, chart, locale),
           R"svg( fill="var(--chart-ink, #444)" font-size="15" font-weight="600")svg");
  return svg.finish(height, chart, locale);
}

}  // namespace

Result<std::string> draw_chart(const json::Value& value, const Locale& locale) {
  MR_TRY(const auto chart, read_chart(value));
  switch (chart.type) {
    case ChartType::bar:
      return draw_bars(chart, locale);
    case ChartType::line:
      return draw_lines(chart, locale);
    case ChartType::pie:
      return draw_ring(chart, locale);
  }
  return fail(ErrorKind::internal, "unknown type of chart");
}

}  // namespace millrace::templates
