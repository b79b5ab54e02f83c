// ChartData: what a chart is drawn from, read and checked.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "template/locale.h"

#include <string>
#include <vector>

namespace millrace::templates {

enum class ChartType { bar, line, pie };

struct ChartSeries {
  std::string name;
  std::vector<double> values;
};

struct ChartData {
  ChartType type = ChartType::bar;
  std::string title;
  std::string unit;  // Behind numbers: " %", " €".
  std::vector<std::string> labels;
  std::vector<ChartSeries> series;
};

inline constexpr std::size_t kChartLabelsMax = 60;
inline constexpr std::size_t kChartSeriesMax = 6;
inline constexpr std::size_t kChartTextMax = 200;  // Characters; what has no room is cut.

Result<ChartData> read_chart(const json::Value& value);

// The marks of an axis that holds all values: from 0 unless there are negative ones.
struct Axis {
  double low = 0;
  double high = 1;
  double step = 1;
};
Axis axis_for(const ChartData& chart);

std::string chart_number(double value, const ChartData& chart, const Locale& locale);

}  // namespace millrace::templates
