// Tokens and money of a call: an upper bound before it, the true figure after.
//
// Money is counted in millionths of a currency unit, as integers. Flow: estimate_tokens() bounds
// what a text can cost; cost_of() of the bound is reserved, cost_of() of the reported usage is
// what the reservation is settled to. Every step rounds up: a budget is never exceeded by rounding.
#pragma once

#include "base/result.h"
#include "provider/usage.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::provider {

struct Price {
  std::int64_t input_per_million = 0;  // Of a million tokens, in millionths of the currency.
  std::int64_t output_per_million = 0;
  std::int64_t per_call = 0;
  std::optional<std::int64_t> cached_per_million = {};  // Else as input.
  friend bool operator==(const Price&, const Price&) = default;
};

// No tokenizer makes more tokens than there are bytes; counting spaces would make a page without
// them free (E13).
std::uint64_t estimate_tokens(std::string_view text);

// In millionths, rounded up; the largest number instead of an overflow.
std::int64_t cost_of(const Usage& usage, const Price& price);

// Prices by model, as configured.
class PriceTable {
 public:
  void set(std::string model, Price price);
  void set_otherwise(Price price) { otherwise_ = price; }
  // Nothing: the model has no price, and a call whose cost nobody knows should not be made.
  const Price* find(std::string_view model) const;
  // Of a call that was answered by another model than the one asked for: that one's, where a
  // gateway chose one that has a price here by its own name; else of the one asked for, since
  // services say their models with dates.
  const Price& of_answer(std::string_view answered, const Price& asked) const;

 private:
  std::map<std::string, Price, std::less<>> prices_;
  std::optional<Price> otherwise_;
};

struct ModelPrice {
  std::string model = {};  // "*": of all that are not named.
  Price price = {};
};
// "gpt-4o 2.50 10": a model, and what a million tokens cost that it is sent and that it answers.
Result<ModelPrice> parse_model_price(std::string_view text);

// "2.50" is 2'500'000; at most six decimals, at most a million.
Result<std::int64_t> parse_money(std::string_view text);

}  // namespace millrace::provider
