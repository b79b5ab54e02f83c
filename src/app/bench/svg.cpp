#include "app/bench/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace millrace::app {
namespace {

constexpr double kWidth = 760;
constexpr double kHeight = 380;
constexpr double kLeft = 78;
constexpr double kRight = 20;
constexpr double kTop = 64;  // Title and legend.
constexpr double kBottom = 58;

// Told apart by people who do not see all colours, too.
constexpr const char* kColors[] = {"#0b6e99", "#e07b39", "#7a5195",
                                   "#4c9f70", "#8c8c8c", "#c23b5a"};

const char* color(std::size_t number) { return kColors[number % std::size(kColors)]; }

// From values to places on the paper.
struct Scale {
  double low = 0;
  double high = 1;
  double from = 0;  // Place of low.
  double to = 0;
  bool log = false;

  double operator()(double value) const {
    const auto part = log ? (std::log10(std::max(value, low)) - std::log10(low)) /
                                (std::log10(high) - std::log10(low))
                          : (value - low) / (high - low);
    return from + part * (to - from);
  }
};

std::string text_at(double x, double y, std::string_view text, std::string_view more) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, more,
                     escape_xml(text));
}

std::string head(const std::string& title) {
  auto out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n",
      kWidth, kHeight);
  return out + text_at(kLeft, 22, title, "font-size=\"15\" font-weight=\"bold\"");
}

std::string legend(const std::vector<std::string>& names) {
  std::string out;
  double x = kLeft;
  for (std::size_t i = 0; i < names.size(); ++i) {
    out += fmt::format("<rect x=\"{:.1f}\" y=\"34\" width=\"12\" height=\"12\" fill=\"{}\"/>\n", x,
                       color(i));
    out += text_at(x + 17, 44, names[i], "");
    x += 36 + 7.0 * static_cast<double>(names[i].size());
  }
  return out;
}

std::string y_axis(const Scale& scale, const std::vector<double>& ticks, const std::string& label) {
  std::string out;
  for (const double tick : ticks) {
    const double y = scale(tick);
    out += fmt::format("<line x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n",
                       kLeft, y, kWidth - kRight, y);
    out += text_at(kLeft - 8, y + 4, tick_text(tick), "text-anchor=\"end\"");
  }
  const double middle = (kTop + kHeight - kBottom) / 2;
  return out +
         text_at(18, middle, label,
                 fmt::format("text-anchor=\"middle\" transform=\"rotate(-90 18 {:.1f})\"", middle));
}

std::string base_line() {
  return fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"#444\"/>\n", kLeft,
                     kHeight - kBottom, kWidth - kRight, kHeight - kBottom);
}

std::string x_label(const std::string& label) {
  return text_at((kLeft + kWidth - kRight) / 2, kHeight - 14, label, "text-anchor=\"middle\"");
}

Scale y_scale(const std::vector<double>& ticks, bool log) {
  return {.low = ticks.front(),
          .high = ticks.back(),
          .from = kHeight - kBottom,
          .to = kTop,
          .log = log};
}

struct Range {
  double low = 0;
  double high = 1;
};

Range range_of(const LineChart& chart, double std::pair<double, double>::* which) {
  bool any = false;
  Range range;
  for (const auto& series : chart.series) {
    for (const auto& point : series.points) {
      range.low = any ? std::min(range.low, point.*which) : point.*which;
      range.high = any ? std::max(range.high, point.*which) : point.*which;
      any = true;
    }
  }
  if (range.high <= range.low) range.high = range.low + 1;
  return range;
}

// The places of a logarithmic axis are the points themselves: 1, 2, 4, 16, 64 processes.
std::vector<double> places(const LineChart& chart, const Range& range) {
  if (!chart.log_x) {
    auto ticks = round_ticks(range.high);
    std::erase_if(ticks, [&](double tick) { return tick < range.low || tick > range.high; });
    return ticks;
  }
  std::vector<double> ticks;
  for (const auto& series : chart.series) {
    for (const auto& point : series.points) ticks.push_back(point.first);
  }
  std::ranges::sort(ticks);
  ticks.erase(std::unique(ticks.begin(), ticks.end()), ticks.end());
  return ticks;
}

std::string draw_line(const LineSeries& series, const Scale& x, const Scale& y, const char* ink) {
  std::string path;
  std::string dots;
  for (const auto& [at, value] : series.points) {
    path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "" : " ", x(at), y(value));
    if (series.points.size() <= 12) {
      dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\"/>\n", x(at),
                          y(value), ink);
    }
  }
  return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n",
                     path, ink) +
         dots;
}

std::string draw_bar(double x, double width, double top, double value, const char* ink) {
  const double bottom = kHeight - kBottom;
  auto out = fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", x, top,
      width, std::max(0.0, bottom - top), ink);
  return out + text_at(x + width / 2, top - 4, tick_text(value),
                       "text-anchor=\"middle\" font-size=\"10\"");
}

}  // namespace

std::string escape_xml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string tick_text(double value) {
  const auto size = std::abs(value);
  if (size >= 1e6) return fmt::format("{:.3g}M", value / 1e6);
  if (size >= 1000) return fmt::format("{:.3g}k", value / 1000);
  return fmt::format("{:.3g}", value);
}

std::vector<double> round_ticks(double highest) {
  if (!(highest > 0)) highest = 1;
  const double rough = highest / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = power * 10;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * 0.999) {
      step = factor * power;
      break;
    }
  }
  std::vector<double> ticks;
  const int count = static_cast<int>(std::ceil(highest / step - 1e-9));
  for (int i = 0; i <= count; ++i) ticks.push_back(i * step);
  return ticks;
}

std::vector<double> log_ticks(double lowest, double highest) {
  if (!(lowest > 0)) lowest = 0.01;
  highest = std::max(highest, lowest * 10);
  std::vector<double> ticks;
  const int from = static_cast<int>(std::floor(std::log10(lowest)));
  const int to = static_cast<int>(std::ceil(std::log10(highest)));
  for (int power = from; power <= to; ++power) ticks.push_back(std::pow(10, power));
  return ticks;
}

std::string draw(const LineChart& chart) {
  const auto across = range_of(chart, &std::pair<double, double>::first);
  const auto up = range_of(chart, &std::pair<double, double>::second);
  const auto ticks = round_ticks(up.high);
  const auto y = y_scale(ticks, false);
  const Scale x{.low = across.low,
                .high = across.high,
                .from = kLeft,
                .to = kWidth - kRight,
                .log = chart.log_x};
  std::vector<std::string> names;
  for (const auto& series : chart.series) names.push_back(series.name);
  auto out = head(chart.title) + legend(names) + y_axis(y, ticks, chart.y_label) + base_line();
  for (const double tick : places(chart, across)) {
    out += text_at(x(tick), kHeight - kBottom + 18, tick_text(tick), "text-anchor=\"middle\"");
  }
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    out += draw_line(chart.series[i], x, y, color(i));
  }
  return out + x_label(chart.x_label) + "</svg>\n";
}

std::string draw(const BarChart& chart) {
  double low = 0;
  double high = 0;
  for (const auto& series : chart.series) {
    for (const auto& value : series.values) {
      if (!value || *value <= 0) continue;
      low = low == 0 ? *value : std::min(low, *value);
      high = std::max(high, *value);
    }
  }
  const auto ticks = chart.log_y ? log_ticks(low, high) : round_ticks(high);
  const auto y = y_scale(ticks, chart.log_y);
  std::vector<std::string> names;
  for (const auto& series : chart.series) names.push_back(series.name);
  auto out = head(chart.title) + legend(names) + y_axis(y, ticks, chart.y_label);
  const double room = (kWidth - kRight - kLeft) / static_cast<double>(chart.groups.size());
  const double width =
      std::min(46.0, room * 0.8 / static_cast<double>(std::max<std::size_t>(1, names.size())));
  for (std::size_t group = 0; group < chart.groups.size(); ++group) {
    const double middle = kLeft + room * (static_cast<double>(group) + 0.5);
    double at = middle - width * static_cast<double>(names.size()) / 2;
    for (std::size_t i = 0; i < chart.series.size(); ++i, at += width) {
      const auto& values = chart.series[i].values;
      if (group >= values.size() || !values[group]) continue;
      out += draw_bar(at + 1, width - 2, y(*values[group]), *values[group], color(i));
    }
    out += text_at(middle, kHeight - kBottom + 18, chart.groups[group], "text-anchor=\"middle\"");
  }
  return out + base_line() + "</svg>\n";
}

}  // namespace millrace::app
