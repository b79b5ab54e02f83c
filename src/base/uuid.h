// Uuid, and ids that cannot be mixed up: JobId and LeaseToken are different types over the same 16
// bytes.
#pragma once

#include "base/result.h"

#include <fmt/format.h>

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace millrace {

struct Uuid {
  std::array<std::uint8_t, 16> bytes{};

  // Accepts 8-4-4-4-12 hexadecimal digits of either case, nothing else.
  static Result<Uuid> parse(std::string_view text);
  std::string to_string() const;  // Lower case.
  bool is_nil() const { return *this == Uuid{}; }

  friend auto operator<=>(const Uuid&, const Uuid&) = default;
};

template <class Tag>
struct Id {
  Uuid value;

  static Result<Id> parse(std::string_view text) {
    auto parsed = Uuid::parse(text);
    if (!parsed) return std::unexpected(std::move(parsed).error());
    return Id{*parsed};
  }
  std::string to_string() const { return value.to_string(); }
  bool is_nil() const { return value.is_nil(); }

  friend auto operator<=>(const Id&, const Id&) = default;
};

using JobId = Id<struct JobIdTag>;
using LeaseToken = Id<struct LeaseTokenTag>;
using BatchId = Id<struct BatchIdTag>;
using TenantId = Id<struct TenantIdTag>;

}  // namespace millrace

template <>
struct std::hash<millrace::Uuid> {
  std::size_t operator()(const millrace::Uuid& uuid) const noexcept {
    return std::hash<std::string_view>{}(
        {reinterpret_cast<const char*>(uuid.bytes.data()), uuid.bytes.size()});
  }
};

template <class Tag>
struct std::hash<millrace::Id<Tag>> {
  std::size_t operator()(const millrace::Id<Tag>& id) const noexcept {
    return std::hash<millrace::Uuid>{}(id.value);
  }
};

template <>
struct fmt::formatter<millrace::Uuid> : fmt::formatter<std::string> {
  auto format(const millrace::Uuid& uuid, fmt::format_context& context) const {
    return fmt::formatter<std::string>::format(uuid.to_string(), context);
  }
};

template <class Tag>
struct fmt::formatter<millrace::Id<Tag>> : fmt::formatter<millrace::Uuid> {
  auto format(const millrace::Id<Tag>& id, fmt::format_context& context) const {
    return fmt::formatter<millrace::Uuid>::format(id.value, context);
  }
};
