#include "exchange.h"

#include <fmt/format.h>

#include <stdexcept>

namespace millrace::test {

std::string Answered::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (http::same_name(key, name)) return value;
  }
  return {};
}

json::Value Answered::json() const {
  auto value = parse_json(body, {.max_bytes = 64 * 1024 * 1024});
  if (!value)
    throw std::runtime_error(fmt::format("{} {}: {}", status, body, value.error().message));
  return *std::move(value);
}

}  // namespace millrace::test
