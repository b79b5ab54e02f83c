#include "provider/price.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace millrace::provider {
namespace {

__extension__ using Wide = __int128;

Wide part(std::uint64_t tokens, std::int64_t per_million) {
  constexpr Wide kMillion = 1'000'000;
  const Wide wide = static_cast<Wide>(std::min(tokens, kTokensMax)) * per_million;
  return (wide + kMillion - 1) / kMillion;
}

}  // namespace

std::uint64_t estimate_tokens(std::string_view text) { return text.size(); }

std::int64_t cost_of(const Usage& usage, const Price& price) {
  const auto cached = std::min(usage.cached, usage.input);
  const Wide total = part(usage.input - cached, price.input_per_million) +
                     part(cached, price.cached_per_million.value_or(price.input_per_million)) +
                     part(usage.output, price.output_per_million) + price.per_call;
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  return total > kMost ? kMost : static_cast<std::int64_t>(total);
}

void PriceTable::set(std::string model, Price price) { prices_[std::move(model)] = price; }

const Price* PriceTable::find(std::string_view model) const {
  if (const auto at = prices_.find(model); at != prices_.end()) return &at->second;
  return otherwise_ ? &*otherwise_ : nullptr;
}

const Price& PriceTable::of_answer(std::string_view answered, const Price& asked) const {
  const auto at = prices_.find(answered);
  return at == prices_.end() ? asked : at->second;
}

Result<ModelPrice> parse_model_price(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (parts.size() != 3) {
    return fail(ErrorKind::invalid_argument,
                "a price is a model and two amounts: \"gpt-4o 2.50 10.00\"");
  }
  ModelPrice out{.model = std::string(parts[0])};
  MR_TRY(out.price.input_per_million, parse_money(parts[1]));
  MR_TRY(out.price.output_per_million, parse_money(parts[2]));
  return out;
}

Result<std::int64_t> parse_money(std::string_view text) {
  constexpr std::int64_t kWholeMax = 1'000'000;
  constexpr std::size_t kDecimals = 6;
  const auto wrong = [&] {
    return fail(ErrorKind::invalid_argument,
                fmt::format("'{}' is no amount of money: write figures, at most {} decimals and at "
                            "most {}",
                            text.substr(0, 40), kDecimals, kWholeMax));
  };
  const auto point = std::min(text.find('.'), text.size());
  const auto whole = text.substr(0, point);
  const auto decimals = point < text.size() ? text.substr(point + 1) : std::string_view();
  const auto is_figures = [](std::string_view part) {
    return part.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (whole.empty() || whole.size() > 7 || !is_figures(whole)) return wrong();
  if (decimals.size() > kDecimals || !is_figures(decimals)) return wrong();
  if (point < text.size() && decimals.empty()) return wrong();
  std::int64_t micro = 0;
  for (const char c : whole) micro = micro * 10 + (c - '0');
  for (std::size_t i = 0; i < kDecimals; ++i) {
    micro = micro * 10 + (i < decimals.size() ? decimals[i] - '0' : 0);
  }
  if (micro > kWholeMax * 1'000'000) return wrong();
  return micro;
}

}  // namespace millrace::provider
