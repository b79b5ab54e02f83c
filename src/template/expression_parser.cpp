#include "template/expression_parser.h"

#include "base/words.h"

#include <fmt/format.h>

#include <array>
#include <cctype>

namespace millrace::templates {
namespace {

constexpr int kDepthMax = 16;
constexpr std::size_t kFiltersMax = 16;
constexpr std::size_t kNamesMax = 16;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(char c) {
  return (static_cast<unsigned char>(c) < 0x80 &&
          std::isalnum(static_cast<unsigned char>(c)) != 0) ||
         c == '_' || c == '-';
}
bool begins_name(char c) { return is_name(c) && !is_digit(c) && c != '-'; }

template <class T>
Condition pair(Condition left, Condition right) {
  return {T{std::make_unique<Condition>(std::move(left)),
            std::make_unique<Condition>(std::move(right))}};
}

}  // namespace

ExpressionParser::ExpressionParser(std::string_view file, std::string_view source,
                                   std::size_t begin, std::size_t end)
    : file_(file), source_(source), at_(begin), end_(end) {
  next();
}

Place ExpressionParser::place() const { return place_of(source_, token_begin_); }

std::string ExpressionParser::shown() const {
  switch (kind_) {
    case Kind::end:
      return "the end";
    case Kind::text:
      return fmt::format("the text \"{}\"", token_.substr(0, 40));
    case Kind::bad:
      return token_;
    default:
      return fmt::format("'{}'", token_.substr(0, 40));
  }
}

std::unexpected<Error> ExpressionParser::expected(std::string_view what) {
  return fail_at(file_, place(), fmt::format("expected {}, found {}", what, shown()));
}

void ExpressionParser::next() {
  while (at_ < end_ && is_space(source_[at_])) ++at_;
  token_begin_ = at_;
  token_.clear();
  if (at_ >= end_) {
    kind_ = Kind::end;
    return;
  }
  const char c = source_[at_];
  if (c == '"' || c == '\'') return read_text(c);
  if (begins_name(c)) {
    kind_ = Kind::word;
    while (at_ < end_ && is_name(source_[at_])) token_ += source_[at_++];
    return;
  }
  if (is_digit(c) || (c == '-' && at_ + 1 < end_ && is_digit(source_[at_ + 1]))) {
    kind_ = Kind::number;
    token_ += source_[at_++];
    while (at_ < end_ && (is_digit(source_[at_]) ||
                          (source_[at_] == '.' && at_ + 1 < end_ && is_digit(source_[at_ + 1])))) {
      token_ += source_[at_++];
    }
    return;
  }
  kind_ = Kind::sign;
  constexpr auto kSigns = std::to_array<std::string_view>(
      {"==", "!=", "<=", ">=", "<", ">", "|", ":", ",", ".", "(", ")", "="});
  for (const auto sign : kSigns) {
    if (source_.substr(at_, end_ - at_).starts_with(sign)) {
      token_ = sign;
      at_ += sign.size();
      return;
    }
  }
  kind_ = Kind::bad;
  const auto shown_byte = static_cast<unsigned char>(c);
  token_ = shown_byte < 0x80 && std::isprint(shown_byte) != 0
               ? fmt::format("'{}'", c)
               : fmt::format("the byte 0x{:02x}", shown_byte);
  ++at_;
}

void ExpressionParser::read_text(char quote) {
  kind_ = Kind::text;
  for (++at_; at_ < end_ && source_[at_] != quote; ++at_) {
    if (source_[at_] == '\\' && at_ + 1 < end_) {
      ++at_;
      token_ += source_[at_] == 'n' ? '\n' : source_[at_];
    } else {
      token_ += source_[at_];
    }
  }
  if (at_ >= end_) {
    kind_ = Kind::bad;
    token_ = "a text without its closing quote";
    return;
  }
  ++at_;
}

bool ExpressionParser::take_word(std::string_view word) {
  if (kind_ != Kind::word || token_ != word) return false;
  next();
  return true;
}

bool ExpressionParser::take_sign(std::string_view sign) {
  if (kind_ != Kind::sign || token_ != sign) return false;
  next();
  return true;
}

Result<std::string> ExpressionParser::name(std::string_view what) {
  if (kind_ != Kind::word) return expected(what);
  auto word = token_;
  next();
  return word;
}

Result<std::string> ExpressionParser::quoted(std::string_view what) {
  if (kind_ != Kind::text) return expected(what);
  auto text = token_;
  next();
  return text;
}

Result<void> ExpressionParser::end(std::string_view closing) {
  if (kind_ != Kind::end) return expected(closing);
  return {};
}

Result<Operand> ExpressionParser::operand() {
  Operand operand{.place = place()};
  if (kind_ == Kind::text) {
    operand.what = json::Value(token_);
    next();
    return operand;
  }
  if (kind_ == Kind::number) {
    auto number = parse_json(token_);
    if (!number) return expected("a number");
    operand.what = std::move(*number);
    next();
    return operand;
  }
  if (kind_ != Kind::word) return expected("a name, a text in quotes or a number");
  if (token_ == "true" || token_ == "false" || token_ == "null") {
    operand.what = token_ == "null" ? json::Value() : json::Value(token_ == "true");
    next();
    return operand;
  }
  Path path{.names = {token_}};
  next();
  while (take_sign(".")) {
    if (kind_ != Kind::word && kind_ != Kind::number)
      return expected("a name or an index after '.'");
    if (path.names.size() == kNamesMax) return expected("at most 16 names in a path");
    // "0.1" was read as one number: both are indexes.
    for (std::size_t begin = 0; begin <= token_.size();) {
      const auto dot = kind_ == Kind::number ? token_.find('.', begin) : std::string::npos;
      path.names.push_back(token_.substr(begin, dot == std::string::npos ? dot : dot - begin));
      if (dot == std::string::npos) break;
      begin = dot + 1;
    }
    next();
  }
  operand.what = std::move(path);
  return operand;
}

Result<FilterCall> ExpressionParser::filter() {
  FilterCall call{.place = place()};
  const auto before = place();
  MR_TRY(const auto word, name("the name of a filter"));
  call.filter = find_filter(word);
  if (call.filter == nullptr) {
    const auto meant = word.size() <= 40 ? nearest_word(word, filter_names()) : std::nullopt;
    return fail_at(file_, before,
                   fmt::format("there is no filter \"{}\"{}", word.substr(0, 40),
                               meant ? fmt::format("; did you mean \"{}\"?", *meant) : ""));
  }
  if (take_sign(":")) {
    do {
      MR_TRY(auto argument, operand());
      call.arguments.push_back(std::move(argument));
    } while (call.arguments.size() < 8 && take_sign(","));
  }
  const auto& filter = *call.filter;
  if (call.arguments.size() < filter.arguments_min ||
      call.arguments.size() > filter.arguments_max) {
    const auto wanted = filter.arguments_min == filter.arguments_max
                            ? fmt::format("{}", filter.arguments_min)
                            : fmt::format("{} to {}", filter.arguments_min, filter.arguments_max);
    return fail_at(
        file_, before,
        fmt::format("{} takes {} arguments, found {}", filter.name, wanted, call.arguments.size()));
  }
  return call;
}

Result<Expression> ExpressionParser::expression() {
  Expression expression{.place = place()};
  MR_TRY(expression.start, operand());
  while (take_sign("|")) {
    if (expression.filters.size() == kFiltersMax) return expected("at most 16 filters");
    if (!expression.filters.empty() && expression.filters.back().filter->gives_markup) {
      return fail_at(file_, place(),
                     fmt::format("{} gives markup and must be the last filter",
                                 expression.filters.back().filter->name));
    }
    MR_TRY(auto call, filter());
    expression.filters.push_back(std::move(call));
  }
  return expression;
}

Result<Condition> ExpressionParser::condition() {
  if (++depth_ > kDepthMax) return expected("a condition that is nested less deeply");
  MR_TRY(auto left, both());
  while (take_word("or")) {
    MR_TRY(auto right, both());
    left = pair<Condition::Either>(std::move(left), std::move(right));
  }
  --depth_;
  return left;
}

Result<Condition> ExpressionParser::both() {
  MR_TRY(auto left, single());
  while (take_word("and")) {
    MR_TRY(auto right, single());
    left = pair<Condition::Both>(std::move(left), std::move(right));
  }
  return left;
}

Result<Condition> ExpressionParser::single() {
  if (take_word("not")) {
    if (++depth_ > kDepthMax) return expected("a condition that is nested less deeply");
    MR_TRY(auto inner, single());
    --depth_;
    return Condition{Condition::Not{std::make_unique<Condition>(std::move(inner))}};
  }
  if (take_sign("(")) {
    MR_TRY(auto inner, condition());
    if (!take_sign(")")) return expected("')'");
    return inner;
  }
  MR_TRY(auto left, expression());
  struct Sign {
    std::string_view text;
    Comparison comparison;
  };
  constexpr auto kSigns = std::to_array<Sign>({{"==", Comparison::equal},
                                               {"!=", Comparison::not_equal},
                                               {"<=", Comparison::less_equal},
                                               {">=", Comparison::greater_equal},
                                               {"<", Comparison::less},
                                               {">", Comparison::greater}});
  for (const auto& sign : kSigns) {
    if (!take_sign(sign.text)) continue;
    MR_TRY(auto right, expression());
    return Condition{Condition::Compare{std::move(left), sign.comparison, std::move(right)}};
  }
  return Condition{Condition::Truth{std::move(left)}};
}

}  // namespace millrace::templates
