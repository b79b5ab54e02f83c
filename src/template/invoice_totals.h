// What the lines of an invoice come to, exactly.
#pragma once

#include "base/json.h"
#include "base/result.h"

namespace millrace::templates {

// Of {lines: [{quantity, unit_price, discount_percent, tax_percent}], currency, decimals}: lines
// with `total` each, `net`, `taxes` [{percent, net, tax}] in the order in which rates first appear,
// `tax`, `gross`, and the `decimals` to print them with: those given, else those of the currency.
// Each line is rounded, the tax of each rate is taken from the sum of its lines. invalid_argument
// names the line and the member.
Result<json::Value> invoice_totals(const json::Value& invoice);

}  // namespace millrace::templates
