// Charts as SVG text: lines over a number, and grouped bars. Axes are labelled, numbers are round,
// and a legend names every series. No I/O.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::app {

struct LineSeries {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

struct LineChart {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<LineSeries> series;
  bool log_x = false;
};

struct BarSeries {
  std::string name;
  std::vector<std::optional<double>> values;  // One per group; nothing: not measured.
};

struct BarChart {
  std::string title;
  std::string y_label;
  std::vector<std::string> groups;
  std::vector<BarSeries> series;
  bool log_y = false;  // For values that differ by orders of magnitude.
};

std::string draw(const LineChart& chart);
std::string draw(const BarChart& chart);

// Round numbers from 0 to at least `highest`, about five of them.
std::vector<double> round_ticks(double highest);
// 1, 10, 100 ... around both.
std::vector<double> log_ticks(double lowest, double highest);
// "350k", "1.2M", "0.55".
std::string tick_text(double value);
std::string escape_xml(std::string_view text);

}  // namespace millrace::app
