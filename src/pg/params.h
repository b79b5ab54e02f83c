// Params: the values of $1, $2, ... of one statement, in PostgreSQL's text format.
//
// Values are copied. A text with a NUL byte cannot be sent to PostgreSQL: it is remembered as a
// problem and the statement is refused with invalid_argument before anything is sent.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "base/uuid.h"

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::pg {

class Params {
 public:
  Params& add(std::string_view text);
  Params& add(const std::string& text) { return add(std::string_view(text)); }
  Params& add(const char* text) { return add(std::string_view(text)); }
  Params& add(std::int64_t value);
  Params& add(bool value);
  Params& add(double value);
  Params& add(const Uuid& value);
  template <std::integral T>
    requires(!std::same_as<T, bool> && !std::same_as<T, std::int64_t>)
  Params& add(T value) {
    return add(static_cast<std::int64_t>(value));
  }
  template <class Tag>
  Params& add(const Id<Tag>& value) {
    return add(value.value);
  }
  // As an interval, exact to the microsecond.
  Params& add(std::chrono::microseconds value);
  template <class T>
  Params& add(const std::optional<T>& value) {
    return value ? add(*value) : add_null();
  }
  Params& add_null();
  Params& add_json(const json::Value& value);
  Params& add_json(const json::Object& value);
  Params& add_array(std::span<const std::string> values);
  Params& add_nullable_array(std::span<const std::optional<std::string>> values);
  Params& add_uuid_array(std::span<const Uuid> values);
  template <class Tag>
  Params& add_id_array(std::span<const Id<Tag>> values) {
    std::vector<Uuid> uuids;
    uuids.reserve(values.size());
    for (const auto& id : values) uuids.push_back(id.value);
    return add_uuid_array(uuids);
  }
  Params& add_int_array(std::span<const std::int64_t> values);
  Params& add_bool_array(std::span<const bool> values);
  Params& add_double_array(std::span<const double> values);

  std::size_t size() const { return offsets_.size(); }
  bool is_null(std::size_t index) const { return offsets_[index] == kNull; }
  std::string_view text(std::size_t index) const;  // Not for nulls.

  // What libpq takes; valid until the next change.
  std::vector<const char*> pointers() const;
  // Why these parameters cannot be sent, if so.
  const std::optional<Error>& problem() const { return problem_; }

 private:
  static constexpr std::size_t kNull = static_cast<std::size_t>(-1);

  Params& append(std::string_view text);

  std::string buffer_;  // All values, each ended by a NUL byte.
  std::vector<std::size_t> offsets_;
  std::optional<Error> problem_;
};

// Params::of(job_id, "text", 3) for the ordinary case.
template <class... Values>
Params params(const Values&... values) {
  Params result;
  (result.add(values), ...);
  return result;
}

}  // namespace millrace::pg
