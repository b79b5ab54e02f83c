#include "pg/params.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace millrace::pg {
namespace {

std::string double_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

// "{a,b,c}", each element written by `write`.
template <class Values, class Write>
std::string array_text(const Values& values, Write write) {
  std::string out = "{";
  for (bool first = true; const auto& value : values) {
    if (!first) out += ',';
    first = false;
    write(out, value);
  }
  out += '}';
  return out;
}

}  // namespace

Params& Params::append(std::string_view text) {
  if (text.find('\0') != std::string_view::npos && !problem_) {
    problem_ =
        Error{.kind = ErrorKind::invalid_argument,
              .message = fmt::format("parameter ${} contains a NUL byte, which PostgreSQL text "
                                     "cannot hold",
                                     offsets_.size() + 1)};
  }
  offsets_.push_back(buffer_.size());
  buffer_ += text;
  buffer_ += '\0';
  return *this;
}

Params& Params::add(std::string_view text) { return append(text); }
Params& Params::add(std::int64_t value) { return append(fmt::format_int(value).c_str()); }
Params& Params::add(bool value) { return append(value ? "t" : "f"); }
Params& Params::add(double value) { return append(double_text(value)); }
Params& Params::add(const Uuid& value) { return append(value.to_string()); }

Params& Params::add(std::chrono::microseconds value) {
  return append(fmt::format("{} microseconds", value.count()));
}

Params& Params::add_null() {
  offsets_.push_back(kNull);
  return *this;
}

Params& Params::add_json(const json::Value& value) { return append(to_json(value)); }
Params& Params::add_json(const json::Object& value) { return append(to_json(value)); }

Params& Params::add_array(std::span<const std::string> values) {
  return append(array_text(values, append_quoted));
}

Params& Params::add_nullable_array(std::span<const std::optional<std::string>> values) {
  return append(array_text(values, [](std::string& out, const std::optional<std::string>& value) {
    if (value) {
      append_quoted(out, *value);
    } else {
      out += "NULL";
    }
  }));
}

Params& Params::add_uuid_array(std::span<const Uuid> values) {
  return append(
      array_text(values, [](std::string& out, const Uuid& value) { out += value.to_string(); }));
}

Params& Params::add_int_array(std::span<const std::int64_t> values) {
  return append(array_text(
      values, [](std::string& out, std::int64_t value) { out += fmt::format_int(value).c_str(); }));
}

Params& Params::add_bool_array(std::span<const bool> values) {
  return append(array_text(values, [](std::string& out, bool value) { out += value ? 't' : 'f'; }));
}

Params& Params::add_double_array(std::span<const double> values) {
  return append(
      array_text(values, [](std::string& out, double value) { out += double_text(value); }));
}

std::string_view Params::text(std::size_t index) const {
  const auto begin = offsets_[index];
  std::size_t end = buffer_.size();
  for (std::size_t next = index + 1; next < offsets_.size(); ++next) {
    if (offsets_[next] == kNull) continue;
    end = offsets_[next];
    break;
  }
  return std::string_view(buffer_).substr(begin, end - begin - 1);
}

std::vector<const char*> Params::pointers() const {
  std::vector<const char*> result;
  result.reserve(offsets_.size());
  for (const auto offset : offsets_) {
    result.push_back(offset == kNull ? nullptr : buffer_.data() + offset);
  }
  return result;
}

}  // namespace millrace::pg
