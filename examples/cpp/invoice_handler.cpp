#include "invoice_handler.h"

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace {

// The number behind `"key":` in a flat JSON object; a real program uses its JSON library here.
std::optional<long> number(std::string_view json, std::string_view key) {
  const auto at = json.find("\"" + std::string(key) + "\"");
  if (at == std::string_view::npos) return std::nullopt;
  auto rest = json.substr(json.find(':', at) + 1);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  long value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

}  // namespace

millrace::client::Outcome render_invoice(const millrace::client::Job& job,
                                         millrace::client::Context& context) {
  using millrace::client::Outcome;
  const auto order = number(job.payload, "order_id");
  const auto cents = number(job.payload, "cents");
  if (!order || !cents) {
    return Outcome::permanent("bad_payload", "order_id and cents must be whole numbers");
  }
  context.progress(50, "adding tax");
  const long total = *cents + *cents / 5;
  context.log(millrace::client::LogLevel::info,
              "order " + std::to_string(*order) + " comes to " + std::to_string(total) + " cents");
  // The row and the result commit together, only if this delivery still holds the job: however
  // often the job is delivered, there is one invoice.
  context.run_with_result("insert into invoice (order_id, cents) values ($1, $2)",
                          {std::to_string(*order), std::to_string(total)});
  return Outcome::ok("{\"cents\": " + std::to_string(total) + "}");
}
