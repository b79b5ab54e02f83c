#include "schema/regex/escapes.h"

#include "schema/regex/syntax.h"

#include <fmt/format.h>

namespace millrace::schema {
namespace {

bool is_ascii_digit(CodePoint code) { return code >= '0' && code <= '9'; }
bool is_ascii_letter(CodePoint code) {
  return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z');
}

CodePointSet inverted(CodePointSet set) {
  set.invert();
  return set;
}

Result<Escaped> property(PatternReader& in, bool negative) {
  if (!in.accept('{')) return in.error("\\p is followed by a property: \\p{Letter}");
  const auto expression = in.up_to('}');
  if (!expression) return in.error("a property ends with '}'");
  auto set = unicode_set(*expression);
  if (!set) {
    return in.error(
        fmt::format("the Unicode property {{{}}} is not known", expression->substr(0, 60)));
  }
  if (negative) set->invert();
  return std::move(*set);
}

// \uXXXX, a pair of them for one code point past U+FFFF, or \u{X…}.
Result<Escaped> unicode_escape(PatternReader& in) {
  if (in.accept('{')) {
    const auto digits = in.up_to('}');
    CodePoint code = 0;
    if (!digits || digits->empty()) return in.error("\\u{...} holds hexadecimal digits");
    PatternReader inside(*digits);
    while (!inside.at_end()) {
      const auto digit = inside.hex(1);
      if (!digit) return in.error("\\u{...} holds hexadecimal digits");
      code = code * 16 + *digit;
      if (code > kCodePointMax) return in.error("\\u{...} is past U+10FFFF");
    }
    return code;
  }
  const auto first = in.hex(4);
  if (!first) return in.error("\\u is followed by four hexadecimal digits");
  if (*first < 0xd800 || *first > 0xdbff) return *first;
  auto ahead = in;
  if (ahead.accept("\\u")) {
    if (const auto second = ahead.hex(4); second && *second >= 0xdc00 && *second <= 0xdfff) {
      in = ahead;
      return 0x10000 + ((*first - 0xd800) << 10U) + (*second - 0xdc00);
    }
  }
  return *first;
}

Result<Escaped> control_escape(PatternReader& in) {
  if (in.at_end() || !is_ascii_letter(in.peek())) return in.error("\\c is followed by a letter");
  return in.take() % 32;
}

// One member of a class: a code point, or a set such as \d.
Result<Escaped> class_atom(PatternReader& in) {
  if (in.at_end()) return in.error("a class is not closed, a ']' is missing");
  if (!in.accept('\\')) return in.take();
  if (in.at_end()) return in.error("a backslash stands at the end");
  if (in.accept('b')) return CodePoint{'\b'};
  return parse_escape(in);
}

}  // namespace

CodePoint PatternReader::take() {
  const auto next = decode_at(text_, at_);
  at_ += next.bytes;
  return next.code;
}

bool PatternReader::accept(char c) {
  if (at_end() || text_[at_] != c) return false;
  ++at_;
  return true;
}

bool PatternReader::accept(std::string_view word) {
  if (!text_.substr(at_).starts_with(word)) return false;
  at_ += word.size();
  return true;
}

std::optional<std::uint32_t> PatternReader::number() {
  std::uint64_t value = 0;
  const auto from = at_;
  while (!at_end() && is_ascii_digit(peek())) {
    value = value * 10 + (take() - '0');
    // Counts past this mean "without limit" for any text there can be.
    if (value >= kNoLimit) value = kNoLimit - 1;
  }
  if (at_ == from) return std::nullopt;
  return static_cast<std::uint32_t>(value);
}

std::optional<CodePoint> PatternReader::hex(int digits) {
  if (text_.size() - at_ < static_cast<std::size_t>(digits)) return std::nullopt;
  CodePoint value = 0;
  for (int i = 0; i < digits; ++i) {
    const auto c = static_cast<CodePoint>(static_cast<unsigned char>(text_[at_ + i]));
    const auto letter = c | 0x20U;
    if (is_ascii_digit(c)) {
      value = value * 16 + (c - '0');
    } else if (letter >= 'a' && letter <= 'f') {
      value = value * 16 + (letter - 'a') + 10;
    } else {
      return std::nullopt;
    }
  }
  at_ += digits;
  return value;
}

std::optional<std::string_view> PatternReader::up_to(char end) {
  const auto found = text_.find(end, at_);
  if (found == std::string_view::npos) return std::nullopt;
  const auto inside = text_.substr(at_, found - at_);
  at_ = found + 1;
  return inside;
}

std::optional<std::pair<std::uint32_t, std::uint32_t>> PatternReader::counts() {
  auto ahead = *this;
  if (!ahead.accept('{')) return std::nullopt;
  const auto min = ahead.number();
  if (!min) return std::nullopt;
  auto max = *min;
  if (ahead.accept(',')) {
    max = kNoLimit;
    if (const auto upper = ahead.number()) max = *upper;
  }
  if (!ahead.accept('}')) return std::nullopt;
  *this = ahead;
  return std::pair(*min, max);
}

std::unexpected<Error> PatternReader::error(std::string_view message) const {
  return fail(ErrorKind::invalid_argument, fmt::format("at byte {}: {}", at_, message));
}

Result<Escaped> parse_escape(PatternReader& in) {
  const auto code = in.take();
  switch (code) {
    case 'd':
      return digit_set();
    case 'D':
      return inverted(digit_set());
    case 'w':
      return word_set();
    case 'W':
      return inverted(word_set());
    case 's':
      return space_set();
    case 'S':
      return inverted(space_set());
    case 'p':
    case 'P':
      return property(in, code == 'P');
    case 't':
      return CodePoint{'\t'};
    case 'n':
      return CodePoint{'\n'};
    case 'v':
      return CodePoint{'\v'};
    case 'f':
      return CodePoint{'\f'};
    case 'r':
      return CodePoint{'\r'};
    case '0':
      if (!in.at_end() && is_ascii_digit(in.peek()))
        return in.error("octal escapes are not ECMA-262");
      return CodePoint{0};
    case 'c':
      return control_escape(in);
    case 'x': {
      const auto value = in.hex(2);
      if (!value) return in.error("\\x is followed by two hexadecimal digits");
      return *value;
    }
    case 'u':
      return unicode_escape(in);
    default:
      break;
  }
  if (code < 128 && !is_ascii_letter(code) && !is_ascii_digit(code) && code >= 0x20) return code;
  if (code < 128 && code >= 0x20) {
    return in.error(fmt::format("\\{} is not an escape of ECMA-262", static_cast<char>(code)));
  }
  return in.error("this character needs no escape");
}

Result<CodePointSet> parse_class(PatternReader& in) {
  CodePointSet set;
  const bool negative = in.accept('^');
  while (!in.accept(']')) {
    MR_TRY(auto first, class_atom(in));
    auto ahead = in;
    if (ahead.accept('-') && !ahead.at_end() && ahead.peek() != ']') {
      MR_TRY(auto last, class_atom(ahead));
      const auto* from = std::get_if<CodePoint>(&first);
      const auto* to = std::get_if<CodePoint>(&last);
      if (from != nullptr && to != nullptr) {
        if (*from > *to) return in.error("a range in a class is in the wrong order");
        set.add(*from, *to);
        in = ahead;
        continue;
      }
      // [\w-.]: there is no range with a set at its end, so '-' stands for itself.
    }
    if (const auto* other = std::get_if<CodePointSet>(&first)) {
      set.add(*other);
    } else {
      set.add(std::get<CodePoint>(first));
    }
  }
  if (negative) {
    set.invert();
  } else {
    set.seal();
  }
  return set;
}

}  // namespace millrace::schema
