#include "template/decimal.h"
#include "template/filter.h"
#include "template/invoice_totals.h"

#include <fmt/format.h>

#include <array>

namespace millrace::templates {
namespace {

// What is absent is printed as nothing, by these as by every filter.
bool absent(const FilterCallInput& input) { return input.value->is_null(); }

Result<Value> number(const FilterCallInput& input) {
  if (absent(input)) return input.value;
  MR_TRY(const auto value, Decimal::of(*input.value));
  std::optional<int> decimals;
  if (input.has(0)) {
    MR_TRY(const auto wanted, input.whole(0, 0, Decimal::kDecimals));
    decimals = static_cast<int>(wanted);
  }
  return Value::text(format_number(value, decimals, input.locale));
}

// Of a cell, which may say "n/a" among numbers.
Result<Value> number_or_text(const FilterCallInput& input) {
  return input.value->is_string() ? input.value : number(input);
}

Result<Value> money(const FilterCallInput& input) {
  if (absent(input)) return input.value;
  MR_TRY(const auto value, Decimal::of(*input.value));
  MR_TRY(const auto currency, input.text(0));
  if (currency.size() != 3) {
    return fail(ErrorKind::invalid_argument, "argument 1 must be a currency such as EUR");
  }
  std::optional<int> decimals;
  if (input.has(1) && !input.arguments[1]->is_null()) {
    MR_TRY(const auto wanted, input.whole(1, 0, Decimal::kDecimals));
    decimals = static_cast<int>(wanted);
  }
  return Value::text(format_money(value, currency, decimals, input.locale));
}

// 19 is 19 %: data has the number that people write.
Result<Value> percent(const FilterCallInput& input) {
  if (absent(input)) return input.value;
  MR_TRY(const auto value, Decimal::of(*input.value));
  std::optional<int> decimals;
  if (input.has(0)) {
    MR_TRY(const auto wanted, input.whole(0, 0, Decimal::kDecimals));
    decimals = static_cast<int>(wanted);
  }
  return Value::text(format_number(value, decimals, input.locale) +
                     std::string(input.locale.percent));
}

template <class Operation>
Result<Value> calculate(const FilterCallInput& input, Operation operation) {
  if (absent(input)) return input.value;
  MR_TRY(const auto left, Decimal::of(*input.value));
  auto right = Decimal::of(*input.arguments[0]);
  if (!right) return fail_with_context("argument 1", right.error());
  return Value::own(operation(left, *right).to_value());
}

Result<Value> plus(const FilterCallInput& input) {
  return calculate(input, [](Decimal left, Decimal right) { return left + right; });
}

Result<Value> minus(const FilterCallInput& input) {
  return calculate(input, [](Decimal left, Decimal right) { return left - right; });
}

Result<Value> times(const FilterCallInput& input) {
  return calculate(input, [](Decimal left, Decimal right) { return left * right; });
}

Result<Value> divided_by(const FilterCallInput& input) {
  return calculate(input, [](Decimal left, Decimal right) { return left.divided(right); });
}

Result<Value> totals(const FilterCallInput& input) {
  MR_TRY(auto out, invoice_totals(*input.value));
  return Value::own(std::move(out));
}

constexpr auto kFilters = std::to_array<Filter>({
    {"number", 0, 1, number},
    {"number_or_text", 0, 1, number_or_text},
    {"money", 1, 2, money},
    {"percent", 0, 1, percent},
    {"plus", 1, 1, plus},
    {"minus", 1, 1, minus},
    {"times", 1, 1, times},
    {"divided_by", 1, 1, divided_by},
    {"invoice_totals", 0, 0, totals},
});

}  // namespace

std::span<const Filter> number_filters() { return kFilters; }

}  // namespace millrace::templates
