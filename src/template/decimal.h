// Decimal: an exact number with six decimals, for sums of money.
#pragma once

#include "base/json.h"
#include "base/result.h"

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace millrace::templates {

class Decimal {
 public:
  static constexpr int kDecimals = 6;

  Decimal() = default;
  // invalid_argument when it is no number, or not below a million millions. What is finer than six
  // decimals is rounded.
  static Result<Decimal> of(const json::Value& value);
  static Decimal whole(std::int64_t number);

  Decimal rounded(int decimals) const;  // Half away from zero.
  // Not below a million millions either: saturates there.
  friend Decimal operator+(Decimal left, Decimal right);
  friend Decimal operator-(Decimal left, Decimal right);
  friend Decimal operator*(Decimal left, Decimal right);
  Decimal divided(Decimal by) const;  // 0 by 0.
  friend auto operator<=>(const Decimal&, const Decimal&) = default;

  json::Value to_value() const;  // A whole number when it is one.
  double to_double() const;
  bool negative() const { return units_ < 0; }
  std::string whole_digits() const;                // Without sign.
  std::string decimal_digits(int decimals) const;  // Cut, not rounded.
  int decimals_needed() const;

 private:
  using Wide = __int128;
  static Decimal clamped(Wide units);

  std::int64_t units_ = 0;  // Millionths.
};

}  // namespace millrace::templates
