#include "template/invoice_totals.h"

#include "template/decimal.h"
#include "template/locale.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace millrace::templates {
namespace {

struct Rate {
  Decimal percent;
  Decimal net;
};

class Line {
 public:
  Line(const json::Object& object, std::size_t index) : object_(object), index_(index) {}

  Result<Decimal> member(std::string_view name, std::int64_t otherwise) const {
    const auto* value = object_.if_contains(name);
    if (value == nullptr || value->is_null()) return Decimal::whole(otherwise);
    auto number = Decimal::of(*value);
    if (!number)
      return fail_with_context(fmt::format("/lines/{}/{}", index_, name), number.error());
    return *number;
  }

 private:
  const json::Object& object_;
  std::size_t index_;
};

// Sums add up only with the decimals that they are printed with.
int decimals_for(const json::Object& invoice) {
  const auto* wanted = invoice.if_contains("decimals");
  if (wanted != nullptr && wanted->is_number()) {
    boost::system::error_code inexact;
    const auto number = wanted->to_number<std::int64_t>(inexact);
    if (!inexact) return static_cast<int>(std::clamp<std::int64_t>(number, 0, Decimal::kDecimals));
  }
  const auto* currency = invoice.if_contains("currency");
  return decimals_of(currency != nullptr && currency->is_string()
                         ? std::string_view(currency->get_string())
                         : std::string_view());
}

}  // namespace

Result<json::Value> invoice_totals(const json::Value& invoice) {
  const auto* object = invoice.if_object();
  const auto* lines = object == nullptr ? nullptr : object->if_contains("lines");
  if (lines == nullptr || !lines->is_array()) {
    return fail(ErrorKind::invalid_argument, "must be an object with a list \"lines\"");
  }
  const auto decimals = decimals_for(*object);
  const auto hundred = Decimal::whole(100);
  std::vector<Rate> rates;
  Decimal net;
  json::Array out;
  for (std::size_t i = 0; i < lines->get_array().size(); ++i) {
    const auto& item = lines->get_array()[i];
    if (!item.is_object()) {
      return fail(ErrorKind::invalid_argument, fmt::format("/lines/{} must be an object", i));
    }
    const Line line(item.get_object(), i);
    MR_TRY(const auto quantity, line.member("quantity", 1));
    MR_TRY(const auto price, line.member("unit_price", 0));
    MR_TRY(const auto discount, line.member("discount_percent", 0));
    MR_TRY(const auto percent, line.member("tax_percent", 0));
    const auto full = quantity * price;
    const auto total = (full - (full * discount).divided(hundred)).rounded(decimals);
    net = net + total;
    auto rate = std::ranges::find(rates, percent, &Rate::percent);
    if (rate == rates.end()) rate = rates.insert(rates.end(), Rate{.percent = percent});
    rate->net = rate->net + total;
    auto with_total = item.get_object();
    with_total["total"] = total.to_value();
    out.emplace_back(std::move(with_total));
  }
  Decimal tax;
  json::Array taxes;
  for (const auto& rate : rates) {
    const auto amount = (rate.net * rate.percent).divided(hundred).rounded(decimals);
    tax = tax + amount;
    taxes.push_back(json::Object{{"percent", rate.percent.to_value()},
                                 {"net", rate.net.to_value()},
                                 {"tax", amount.to_value()}});
  }
  return json::Object{{"lines", std::move(out)},         {"net", net.to_value()},
                      {"taxes", std::move(taxes)},       {"tax", tax.to_value()},
                      {"gross", (net + tax).to_value()}, {"decimals", decimals}};
}

}  // namespace millrace::templates
