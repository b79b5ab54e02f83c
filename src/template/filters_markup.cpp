#include "template/chart.h"
#include "template/filter.h"
#include "template/markdown.h"

#include <array>

namespace millrace::templates {
namespace {

Result<Value> markdown(const FilterCallInput& input) {
  MR_TRY(const auto text, printed(*input.value));
  return Value::markup(markdown_to_html(text));
}

Result<Value> markdown_inline(const FilterCallInput& input) {
  MR_TRY(const auto text, printed(*input.value));
  return Value::markup(markdown_spans_to_html(text));
}

Result<Value> chart(const FilterCallInput& input) {
  if (input.value->is_null()) return input.value;
  MR_TRY(const auto svg, draw_chart(*input.value, input.locale));
  return Value::markup(svg);
}

constexpr auto kFilters = std::to_array<Filter>({
    {"markdown", 0, 0, markdown, true},
    {"markdown_inline", 0, 0, markdown_inline, true},
    {"chart", 0, 0, chart, true},
});

}  // namespace

std::span<const Filter> markup_filters() { return kFilters; }

}  // namespace millrace::templates
