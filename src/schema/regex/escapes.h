// What stands behind a backslash and between brackets in a pattern, and the reader of its text.
#pragma once

#include "base/result.h"
#include "schema/regex/code_points.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace millrace::schema {

class PatternReader {
 public:
  explicit PatternReader(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ == text_.size(); }
  CodePoint peek() const { return decode_at(text_, at_).code; }  // Not at the end.
  CodePoint take();                                              // Not at the end.
  void skip() { static_cast<void>(take()); }
  bool accept(char c);
  bool accept(std::string_view word);

  // Decimal digits; nothing for none or too many of them.
  std::optional<std::uint32_t> number();
  // Exactly `digits` hexadecimal digits.
  std::optional<CodePoint> hex(int digits);
  // Text up to `end`, which is taken away too.
  std::optional<std::string_view> up_to(char end);
  // {n}, {n,} or {n,m} with kNoLimit for an open end; reads nothing when it is none of them.
  std::optional<std::pair<std::uint32_t, std::uint32_t>> counts();

  std::unexpected<Error> error(std::string_view message) const;

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

using Escaped = std::variant<CodePoint, CodePointSet>;

// Behind the backslash; what means the same inside and outside of brackets.
Result<Escaped> parse_escape(PatternReader& in);
// Behind '[', up to and including ']'.
Result<CodePointSet> parse_class(PatternReader& in);

}  // namespace millrace::schema
