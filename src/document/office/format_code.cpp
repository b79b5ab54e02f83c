#include "document/office/format_code.h"

#include <algorithm>
#include <charconv>
#include <span>

namespace millrace::document {

namespace {

using Kind = FormatToken::Kind;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
bool is_date_letter(char c) {
  return std::string_view("ymdhs").find(lower(c)) != std::string_view::npos;
}

bool starts_with(std::string_view text, std::string_view word) {
  return std::ranges::equal(text.substr(0, word.size()), word, {}, lower);
}

// How many bytes of UTF-8 the character at the start has; what is broken is one.
std::size_t character_size(std::string_view text) {
  std::size_t size = 1;
  while (size < text.size() && (static_cast<unsigned char>(text[size]) & 0xc0U) == 0x80U) ++size;
  return size;
}

class CodeReader {
 public:
  std::vector<FormatSection> read(std::string_view code) {
    sections_.emplace_back();
    rest_ = code;
    while (!rest_.empty()) step();
    for (auto& section : sections_) settle(section);
    return std::move(sections_);
  }

 private:
  void add(Kind kind, std::string_view text) {
    sections_.back().tokens.push_back({.kind = kind, .text = std::string(text)});
  }
  void add_words(std::string_view text) {
    auto& tokens = sections_.back().tokens;
    if (tokens.empty() || tokens.back().kind != Kind::literal) return add(Kind::literal, text);
    tokens.back().text += text;
  }
  std::string_view take(std::size_t bytes) {
    const auto taken = rest_.substr(0, bytes);
    rest_.remove_prefix(taken.size());
    return taken;
  }

  void step() {
    const char c = rest_.front();
    if (c == '"') {
      take(1);
      add_words(take(std::min(rest_.find('"'), rest_.size())));
      take(1);
    } else if (c == '[') {
      take(1);
      const auto inside = take(std::min(rest_.find(']'), rest_.size()));
      take(1);
      bracket(inside);
    } else if (c == '\\' || c == '_' || c == '*') {
      // The next character: as it is, as wide a gap, or over and over to fill the cell.
      take(1);
      const auto next = take(rest_.empty() ? 0 : character_size(rest_));
      if (c == '\\') add_words(next);
    } else if (c == ';') {
      take(1);
      // For positive and negative numbers, zero, and texts.
      constexpr std::size_t kSectionsMax = 4;
      if (sections_.size() == kSectionsMax) {
        rest_ = {};
      } else {
        sections_.emplace_back();
      }
    } else if (starts_with(rest_, "general")) {
      add(Kind::general, take(7));
    } else if (starts_with(rest_, "am/pm") || starts_with(rest_, "a/p")) {
      take(lower(rest_[1]) == 'm' ? 5 : 3);  // Times are told with 24 hours.
    } else if (is_date_letter(c)) {
      std::size_t size = 1;
      while (size < rest_.size() && lower(rest_[size]) == lower(c)) ++size;
      add(Kind::date, take(size));
    } else {
      symbol(c);
    }
  }

  void symbol(char c) {
    const bool exponent =
        lower(c) == 'e' && rest_.size() > 1 && (rest_[1] == '+' || rest_[1] == '-');
    if (c == '0' || c == '#' || c == '?') return add(Kind::digit, take(1));
    if (c == '.') return add(Kind::point, take(1));
    if (c == ',') return add(Kind::comma, take(1));
    if (c == '%') return add(Kind::percent, take(1));
    if (c == '/') return add(Kind::slash, take(1));
    if (exponent) return add(Kind::exponent, take(2));
    if (c == '@') return add(Kind::general, take(1));
    add_words(take(character_size(rest_)));
  }

  // "[Red]", "[$€-407]", "[h]", "[>=100]".
  void bracket(std::string_view inside) {
    if (inside.starts_with('$')) {
      inside.remove_prefix(1);
      return add_words(inside.substr(0, inside.find('-')));
    }
    if (inside.empty()) return;
    const char first = lower(inside.front());
    const bool elapsed = (first == 'h' || first == 'm' || first == 's') &&
                         std::ranges::all_of(inside, [&](char c) { return lower(c) == first; });
    if (elapsed) return add(Kind::elapsed, inside);
    const auto compare = inside.substr(0, inside.find_first_not_of("<>="));
    double with = 0;
    const auto number = inside.substr(compare.size());
    const auto read = std::from_chars(number.data(), number.data() + number.size(), with);
    if (compare.empty() || read.ec != std::errc()) return;
    sections_.back().condition = {.compare = std::string(compare), .with = with};
  }

  // Dates have digits only behind their seconds: "mm:ss.00".
  static bool is_number(const std::vector<FormatToken>& tokens) {
    bool of_seconds = false;
    for (std::size_t at = 0; at < tokens.size(); ++at) {
      const auto& token = tokens[at];
      if (token.kind == Kind::general) return true;
      if (token.kind == Kind::digit) {
        if (!of_seconds || token.text != "0") return true;
      } else if (token.kind == Kind::point && at > 0) {
        const auto& before = tokens[at - 1];
        of_seconds = (before.kind == Kind::date || before.kind == Kind::elapsed) &&
                     lower(before.text.front()) == 's';
      }
    }
    return false;
  }

  // Letters of dates are in lower case, and words where digits are: "USD #,##0".
  static void settle(FormatSection& section) {
    const bool number = is_number(section.tokens);
    for (auto& token : section.tokens) {
      if (token.kind == Kind::elapsed || (token.kind == Kind::date && !number)) {
        std::ranges::transform(token.text, token.text.begin(), lower);
      } else if (token.kind == Kind::date) {
        token.kind = Kind::literal;
      }
    }
  }

  std::string_view rest_;
  std::vector<FormatSection> sections_;
};

bool holds(const FormatSection::Condition& condition, double value) {
  const std::string_view compare = condition.compare;
  if (compare == "<") return value < condition.with;
  if (compare == "<=") return value <= condition.with;
  if (compare == ">") return value > condition.with;
  if (compare == ">=") return value >= condition.with;
  if (compare == "<>") return value != condition.with;
  return compare == "=" && value == condition.with;
}

// Blanks say nothing.
std::string words_of(const FormatSection& section) {
  std::string words;
  for (const auto& token : section.tokens) {
    if (token.kind == Kind::literal) words += token.text;
  }
  std::erase(words, ' ');
  return words;
}

// Without the blanks around them.
std::string joined(std::span<const FormatToken> words) {
  std::string text;
  for (const auto& word : words) text += word.text;
  const auto begin = std::min(text.find_first_not_of(' '), text.size());
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

// A sign, or what accounts have for one, begins or ends what stands before the number, or stands
// alone behind it: not one within a word ("T-score 0.0"), nor brackets around one.
bool has_sign(const FormatSection& section) {
  const std::span tokens(section.tokens);
  const auto is_word = [](const FormatToken& token) { return token.kind == Kind::literal; };
  const auto begin = std::ranges::find_if_not(tokens, is_word);
  const auto end = std::find_if_not(tokens.rbegin(), tokens.rend(), is_word).base();
  if (begin == tokens.end()) return false;
  const auto before = joined({tokens.begin(), begin});
  const bool opens = before.find(')') == std::string::npos;
  return before.starts_with('-') || before.ends_with('-') ||
         (opens && (before.starts_with('(') || before.ends_with('('))) ||
         joined({end, tokens.end()}) == "-";
}

bool is_time(const FormatSection& section) {
  return std::ranges::any_of(section.tokens, [](const FormatToken& token) {
    return token.kind == Kind::date || token.kind == Kind::elapsed;
  });
}

bool has_digits(const FormatSection& section) {
  return std::ranges::any_of(section.tokens, [](const FormatToken& token) {
    return token.kind == Kind::general || (token.kind == Kind::digit && token.text != "?");
  });
}

}  // namespace

FormatCode FormatCode::parse(std::string_view code) {
  constexpr std::size_t kCodeMax = 1'024;  // Programs write 255 characters at most.
  FormatCode out;
  out.sections_ = CodeReader().read(code.substr(0, kCodeMax));
  if (out.sections_.front().tokens.empty()) {
    out.sections_.front().tokens.push_back({.kind = Kind::general});
  }
  return out;
}

FormatCode::Choice FormatCode::section_for(double value) const {
  // The fourth is for texts.
  const auto count = std::min<std::size_t>(sections_.size(), 3);
  const auto conditional = std::ranges::any_of(
      sections_, [](const FormatSection& section) { return section.condition.has_value(); });
  if (conditional) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto& section = sections_[i];
      if (section.condition && !holds(*section.condition, value)) continue;
      return {.section = &section, .says_sign = has_sign(section)};
    }
    return {.section = &sections_.front()};
  }
  const auto& positive = sections_.front();
  if (value < 0 && count > 1) {
    // Where only a colour tells, the sign stays.
    const auto words = words_of(sections_[1]);
    return {.section = &sections_[1], .says_sign = !words.empty() && words != words_of(positive)};
  }
  if (value != 0 || count < 3) return {.section = &positive};
  // Accounts have "-"?? for zero: words and gaps alone, which say less than the number.
  const auto& zero = sections_[2];
  const bool says_less = has_digits(positive) && !is_time(positive) && !has_digits(zero);
  return {.section = says_less && !is_time(zero) ? &positive : &zero};
}

}  // namespace millrace::document
