#include "template/chart_data.h"

#include "template/letters.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace millrace::templates {
namespace {

std::unexpected<Error> wrong(std::string message) {
  return fail(ErrorKind::invalid_argument, std::move(message));
}

Result<std::string> text_of(const json::Object& object, std::string_view key,
                            std::string_view path) {
  const auto* value = object.if_contains(key);
  if (value == nullptr || value->is_null()) return std::string();
  const auto* text = value->if_string();
  if (text == nullptr || count_letters(*text) > kChartTextMax) {
    return wrong(
        fmt::format("{}/{} must be a text of at most {} characters", path, key, kChartTextMax));
  }
  return std::string(*text);
}

Result<std::vector<double>> numbers_of(const json::Value* value, std::size_t count,
                                       const std::string& path) {
  const auto* array = value == nullptr ? nullptr : value->if_array();
  if (array == nullptr || array->size() != count) {
    return wrong(fmt::format("{} must be a list of {} numbers, one for each label", path, count));
  }
  std::vector<double> numbers;
  for (std::size_t i = 0; i < array->size(); ++i) {
    const auto number = Decimal::of((*array)[i]);
    if (!number) return fail_with_context(fmt::format("{}/{}", path, i), number.error());
    numbers.push_back(number->to_double());
  }
  return numbers;
}

Result<ChartType> type_of(const json::Object& object) {
  const auto* value = object.if_contains("type");
  const auto* word = value == nullptr ? nullptr : value->if_string();
  if (word != nullptr && *word == "bar") return ChartType::bar;
  if (word != nullptr && *word == "line") return ChartType::line;
  if (word != nullptr && *word == "pie") return ChartType::pie;
  return wrong("/type must be bar, line or pie");
}

Result<void> read_series(const json::Object& object, ChartData& chart) {
  const auto* value = object.if_contains("series");
  const auto* series = value == nullptr ? nullptr : value->if_array();
  if (series == nullptr || series->empty() || series->size() > kChartSeriesMax) {
    return wrong(fmt::format("/series must be a list of 1 to {}", kChartSeriesMax));
  }
  if (chart.type == ChartType::pie && series->size() != 1) {
    return wrong("/series must have one entry for a pie");
  }
  for (std::size_t i = 0; i < series->size(); ++i) {
    const auto path = fmt::format("/series/{}", i);
    const auto* entry = (*series)[i].if_object();
    if (entry == nullptr) return wrong(path + " must be an object");
    ChartSeries read;
    MR_TRY(read.name, text_of(*entry, "name", path));
    MR_TRY(read.values,
           numbers_of(entry->if_contains("values"), chart.labels.size(), path + "/values"));
    if (chart.type == ChartType::pie &&
        std::ranges::any_of(read.values, [](double v) { return v < 0; })) {
      return wrong(path + "/values must not be negative in a pie");
    }
    chart.series.push_back(std::move(read));
  }
  return {};
}

}  // namespace

Result<ChartData> read_chart(const json::Value& value) {
  const auto* object = value.if_object();
  if (object == nullptr) return wrong("must be an object with type, labels and series");
  ChartData chart;
  MR_TRY(chart.type, type_of(*object));
  MR_TRY(chart.title, text_of(*object, "title", ""));
  MR_TRY(chart.unit, text_of(*object, "unit", ""));
  const auto* value_of_labels = object->if_contains("labels");
  const auto* labels = value_of_labels == nullptr ? nullptr : value_of_labels->if_array();
  if (labels == nullptr || labels->empty() || labels->size() > kChartLabelsMax) {
    return wrong(fmt::format("/labels must be a list of 1 to {} texts", kChartLabelsMax));
  }
  for (std::size_t i = 0; i < labels->size(); ++i) {
    const auto* label = (*labels)[i].if_string();
    if (label == nullptr || count_letters(*label) > kChartTextMax) {
      return wrong(
          fmt::format("/labels/{} must be a text of at most {} characters", i, kChartTextMax));
    }
    chart.labels.emplace_back(*label);
  }
  MR_TRY_VOID(read_series(*object, chart));
  return chart;
}

Axis axis_for(const ChartData& chart) {
  double low = 0;
  double high = 0;
  for (const auto& series : chart.series) {
    for (const auto value : series.values) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  if (low == high) high = 1;
  // The smallest of 1, 2, 2.5, 5 times a power of ten that needs at most five steps.
  const double least = (high - low) / 5;
  const double power = std::pow(10, std::floor(std::log10(least)));
  Axis axis{.step = power * 10};
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (factor * power >= least * 0.999) {
      axis.step = factor * power;
      break;
    }
  }
  axis.low = std::floor(low / axis.step + 1e-9) * axis.step;
  axis.high = std::ceil(high / axis.step - 1e-9) * axis.step;
  return axis;
}

std::string chart_number(double value, const ChartData& chart, const Locale& locale) {
  const auto number = Decimal::of(json::Value(value));
  // Axes go a little beyond the data, which was checked.
  const auto shown = number ? format_number(number->rounded(2), std::nullopt, locale)
                            : fmt::format("{:.3g}", value);
  if (chart.unit.empty()) return shown;
  return fmt::format("{}\u202F{}", shown, chart.unit);
}

}  // namespace millrace::templates
