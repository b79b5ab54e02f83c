#include "schema/regex/syntax.h"

#include "schema/regex/escapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

namespace millrace::schema {
namespace {

constexpr std::size_t kPatternBytesMax = 64UZ * 1024;
constexpr int kNestingMax = 100;
constexpr std::uint32_t kGroupsMax = 1000;

using Kind = Term::Kind;

class Parser {
 public:
  explicit Parser(std::string_view text) : in_(text) {}

  Result<Pattern> parse() {
    MR_TRY(auto root, disjunction());
    if (!in_.at_end()) return in_.error("there is no group that this ')' could close");
    MR_TRY_VOID(resolve_names(root));
    if (highest_reference_ > groups_) {
      return in_.error(fmt::format("\\{} refers to a group, but there are only {}",
                                   highest_reference_, groups_));
    }
    return Pattern{.root = std::move(root),
                   .group_count = groups_,
                   .has_back_references = highest_reference_ > 0 || !references_.empty()};
  }

 private:
  Result<Term> disjunction() {
    if (++nesting_ > kNestingMax) {
      return in_.error(fmt::format("groups are nested deeper than {} levels", kNestingMax));
    }
    Term choice{.kind = Kind::choice};
    do {
      MR_TRY(auto part, alternative());
      choice.parts.push_back(std::move(part));
    } while (in_.accept('|'));
    --nesting_;
    if (choice.parts.size() == 1) return std::move(choice.parts.front());
    return choice;
  }

  Result<Term> alternative() {
    Term sequence{.kind = Kind::sequence};
    while (!in_.at_end() && in_.peek() != '|' && in_.peek() != ')') {
      MR_TRY(auto part, term());
      sequence.parts.push_back(std::move(part));
    }
    if (sequence.parts.empty()) return Term{.kind = Kind::empty};
    if (sequence.parts.size() == 1) return std::move(sequence.parts.front());
    return sequence;
  }

  Result<Term> term() {
    const auto groups_before = groups_;
    MR_TRY(auto atom, this->atom());
    Term repeat{.kind = Kind::repeat};
    MR_TRY(const bool repeated, quantifier(repeat));
    if (!repeated) return atom;
    if (atom.kind == Kind::begin || atom.kind == Kind::end || atom.kind == Kind::boundary ||
        atom.kind == Kind::look) {
      return in_.error("an assertion cannot be repeated");
    }
    repeat.groups_before = groups_before;
    repeat.groups_after = groups_;
    repeat.parts.push_back(std::move(atom));
    return repeat;
  }

  // Reads * + ? {n} {n,} {n,m}, each with an optional ?; false when there is none.
  Result<bool> quantifier(Term& repeat) {
    if (in_.accept('*')) {
      repeat.max = kNoLimit;
    } else if (in_.accept('+')) {
      repeat.min = 1;
      repeat.max = kNoLimit;
    } else if (in_.accept('?')) {
      repeat.max = 1;
    } else if (const auto counts = in_.counts()) {
      std::tie(repeat.min, repeat.max) = *counts;
      if (repeat.min > repeat.max) return in_.error("the numbers in {n,m} are in the wrong order");
    } else {
      return false;
    }
    repeat.lazy = in_.accept('?');
    return true;
  }

  Result<Term> atom() {
    switch (in_.peek()) {
      case '^':
        in_.skip();
        return Term{.kind = Kind::begin};
      case '$':
        in_.skip();
        return Term{.kind = Kind::end};
      case '.': {
        in_.skip();
        auto set = line_break_set();
        set.invert();
        return set_term(std::move(set));
      }
      case '(':
        in_.skip();
        return group();
      case '[': {
        in_.skip();
        MR_TRY(auto set, parse_class(in_));
        return set_term(std::move(set));
      }
      case '\\':
        in_.skip();
        return escape();
      case '*':
      case '+':
      case '?':
        return in_.error("there is nothing to repeat");
      case '{':
        // A brace that begins no count stands for itself.
        if (in_.counts()) return in_.error("there is nothing to repeat");
        break;
      default:
        break;
    }
    return Term{.kind = Kind::one, .code = in_.take()};
  }

  Result<Term> group() {
    if (!in_.accept('?')) return capture();
    if (in_.accept(':')) {
      MR_TRY(auto inner, disjunction());
      MR_TRY_VOID(close_group());
      return as_unit(std::move(inner));
    }
    if (in_.accept('=')) return look({.kind = Kind::look});
    if (in_.accept('!')) return look({.kind = Kind::look, .negative = true});
    if (in_.accept('<')) {
      if (in_.accept('=')) return look({.kind = Kind::look, .behind = true});
      if (in_.accept('!')) return look({.kind = Kind::look, .negative = true, .behind = true});
      MR_TRY(auto name, group_name());
      if (!names_.emplace(std::move(name), groups_ + 1).second) {
        return in_.error("two groups have the same name");
      }
      return capture();
    }
    return in_.error("'(?' begins a group that ECMA-262 does not know");
  }

  // A group in parentheses is repeated as one, even if it holds a single assertion.
  static Term as_unit(Term inner) {
    Term sequence{.kind = Kind::sequence};
    sequence.parts.push_back(std::move(inner));
    return sequence;
  }

  Result<Term> capture() {
    if (++groups_ > kGroupsMax) return in_.error(fmt::format("more than {} groups", kGroupsMax));
    Term term{.kind = Kind::capture, .group = groups_};
    MR_TRY(auto inner, disjunction());
    MR_TRY_VOID(close_group());
    term.parts.push_back(std::move(inner));
    return term;
  }

  Result<Term> look(Term term) {
    MR_TRY(auto inner, disjunction());
    MR_TRY_VOID(close_group());
    term.parts.push_back(std::move(inner));
    return term;
  }

  Result<void> close_group() {
    if (!in_.accept(')')) return in_.error("a group is not closed, a ')' is missing");
    return ok();
  }

  Result<std::string> group_name() {
    std::string name;
    while (!in_.at_end() && in_.peek() != '>') {
      const auto code = in_.take();
      const bool letter = (code | 0x20U) >= 'a' && (code | 0x20U) <= 'z' && code < 128;
      const bool digit = code >= '0' && code <= '9' && !name.empty();
      if (!letter && !digit && code != '_' && code != '$') {
        return in_.error("a group's name is made of letters, digits, _ and $");
      }
      name += static_cast<char>(code);
    }
    if (name.empty() || !in_.accept('>')) return in_.error("a group's name ends with '>'");
    return name;
  }

  Result<Term> escape() {
    if (in_.at_end()) return in_.error("a backslash stands at the end");
    const auto code = in_.peek();
    if (code == 'b' || code == 'B') {
      in_.skip();
      return Term{.kind = Kind::boundary, .negative = code == 'B'};
    }
    if (code >= '1' && code <= '9') {
      const auto group = in_.number();
      if (!group || *group > kGroupsMax) return in_.error("\\1 and its like refer to groups");
      highest_reference_ = std::max(highest_reference_, *group);
      return Term{.kind = Kind::back_reference, .group = *group};
    }
    if (code == 'k') {
      in_.skip();
      if (!in_.accept('<')) return in_.error("\\k is followed by the name of a group: \\k<name>");
      MR_TRY(auto name, group_name());
      references_.push_back(std::move(name));
      // The group may come later; resolve_names() puts its number in.
      return Term{.kind = Kind::back_reference,
                  .group = kNamed + static_cast<std::uint32_t>(references_.size()) - 1};
    }
    MR_TRY(auto escaped, parse_escape(in_));
    if (const auto* set = std::get_if<CodePointSet>(&escaped)) return set_term(*set);
    return Term{.kind = Kind::one, .code = std::get<CodePoint>(escaped)};
  }

  Result<void> resolve_names(Term& term) {
    if (term.kind == Kind::back_reference && term.group >= kNamed) {
      const auto& name = references_[term.group - kNamed];
      const auto found = names_.find(name);
      if (found == names_.end()) {
        return in_.error(fmt::format("\\k<{}> refers to a group that does not exist", name));
      }
      term.group = found->second;
    }
    for (auto& part : term.parts) MR_TRY_VOID(resolve_names(part));
    return ok();
  }

  static Term set_term(CodePointSet set) {
    set.seal();
    return {.kind = Kind::set, .set = std::make_shared<const CodePointSet>(std::move(set))};
  }

  static constexpr std::uint32_t kNamed = 1'000'000;

  PatternReader in_;
  int nesting_ = 0;
  std::uint32_t groups_ = 0;
  std::uint32_t highest_reference_ = 0;
  std::map<std::string, std::uint32_t> names_;
  std::vector<std::string> references_;
};

}  // namespace

Result<Pattern> parse_pattern(std::string_view text) {
  if (text.size() > kPatternBytesMax) {
    return fail(
        ErrorKind::invalid_argument,
        fmt::format("the pattern has {} bytes, the limit is {}", text.size(), kPatternBytesMax));
  }
  if (!is_utf8(text)) return fail(ErrorKind::invalid_argument, "the pattern is not UTF-8");
  return Parser(text).parse();
}

}  // namespace millrace::schema
