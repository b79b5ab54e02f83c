#include "template/decimal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace millrace::templates {
namespace {

constexpr std::int64_t kOne = 1'000'000;
constexpr std::int64_t kMax = 1'000'000'000'000 * kOne - 1;

std::int64_t power_of_ten(int exponent) {
  std::int64_t power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

// Half away from zero.
__int128 divide(__int128 number, __int128 by) {
  const auto half = by / 2;
  return number >= 0 ? (number + half) / by : (number - half) / by;
}

}  // namespace

Decimal Decimal::clamped(Wide units) {
  Decimal decimal;
  decimal.units_ = static_cast<std::int64_t>(std::clamp<Wide>(units, -kMax, kMax));
  return decimal;
}

Decimal Decimal::whole(std::int64_t number) { return clamped(static_cast<Wide>(number) * kOne); }

Result<Decimal> Decimal::of(const json::Value& value) {
  const auto too_big = [] {
    return fail(ErrorKind::invalid_argument, "must be a number below a million millions");
  };
  if (const auto* number = value.if_int64()) {
    const auto units = static_cast<Wide>(*number) * kOne;
    if (units > kMax || units < -kMax) return too_big();
    return clamped(units);
  }
  if (value.is_uint64()) return too_big();
  const auto* number = value.if_double();
  if (number == nullptr) return fail(ErrorKind::invalid_argument, "must be a number");
  if (!(std::abs(*number) < 1e12)) return too_big();
  // The digits that people wrote: 1.005 is nearer to 1.00499… as a double, and must become 1.01.
  const auto text = fmt::format("{:.15g}", *number);
  if (text.find('e') != std::string::npos) {
    return clamped(static_cast<Wide>(std::llround(*number * static_cast<double>(kOne))));
  }
  Wide units = 0;
  int decimals = -1;
  for (const char c : text) {
    if (c == '-') continue;
    if (c == '.') {
      decimals = 0;
    } else if (decimals <= kDecimals) {  // One more than is kept, to round by.
      units = units * 10 + (c - '0');
      if (decimals >= 0) ++decimals;
    }
  }
  for (int i = std::max(decimals, 0); i < kDecimals + 1; ++i) units *= 10;
  units = divide(units, 10);
  return clamped(*number < 0 ? -units : units);
}

Decimal Decimal::rounded(int decimals) const {
  const auto step = power_of_ten(kDecimals - std::clamp(decimals, 0, kDecimals));
  return clamped(divide(units_, step) * step);
}

Decimal operator+(Decimal left, Decimal right) {
  return Decimal::clamped(static_cast<Decimal::Wide>(left.units_) + right.units_);
}

Decimal operator-(Decimal left, Decimal right) {
  return Decimal::clamped(static_cast<Decimal::Wide>(left.units_) - right.units_);
}

Decimal operator*(Decimal left, Decimal right) {
  return Decimal::clamped(divide(static_cast<Decimal::Wide>(left.units_) * right.units_, kOne));
}

Decimal Decimal::divided(Decimal by) const {
  if (by.units_ == 0) return {};
  const auto sign = by.units_ < 0 ? -1 : 1;
  return clamped(
      divide(static_cast<Wide>(units_) * kOne * sign, static_cast<Wide>(by.units_) * sign));
}

json::Value Decimal::to_value() const {
  if (units_ % kOne == 0) return units_ / kOne;
  return to_double();
}

double Decimal::to_double() const {
  return static_cast<double>(units_) / static_cast<double>(kOne);
}

std::string Decimal::whole_digits() const { return std::to_string(std::abs(units_) / kOne); }

std::string Decimal::decimal_digits(int decimals) const {
  return fmt::format("{:06}", std::abs(units_) % kOne)
      .substr(0, static_cast<std::size_t>(std::clamp(decimals, 0, kDecimals)));
}

int Decimal::decimals_needed() const {
  auto digits = decimal_digits(kDecimals);
  while (!digits.empty() && digits.back() == '0') digits.pop_back();
  return static_cast<int>(digits.size());
}

}  // namespace millrace::templates
