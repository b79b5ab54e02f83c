#include "schema/regex/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace millrace::schema {
namespace {

using Kind = Term::Kind;
using Op = Instruction::Op;

// Repetitions of single code points up to this count are written out: the matcher then tries each
// position once only.
constexpr std::uint32_t kWrittenOutMax = 16;

class Emitter {
 public:
  explicit Emitter(const Pattern& pattern) {
    program_.remembers = pattern.has_back_references;
    if (program_.remembers) program_.slots = 2 * (pattern.group_count + 1);
  }

  Result<Program> emit(const Term& root) {
    term(root);
    add({.op = Op::accept});
    if (full_) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("the pattern is too large: written out it has more than {} steps",
                              kProgramMax));
    }
    program_.only_at_begin = program_.code.front().op == Op::begin;
    return std::move(program_);
  }

 private:
  std::uint32_t here() const { return static_cast<std::uint32_t>(program_.code.size()); }

  std::uint32_t add(Instruction instruction) {
    if (program_.code.size() >= kProgramMax) {
      full_ = true;
      return 0;
    }
    program_.code.push_back(instruction);
    return here() - 1;
  }

  std::uint32_t add_split() { return add({.op = Op::split, .c = program_.memos++}); }

  // Where a split goes: first `body`, then `out`; lazily the other way round.
  void aim(std::uint32_t split, bool lazy, std::uint32_t body, std::uint32_t out) {
    if (full_) return;
    program_.code[split].a = lazy ? out : body;
    program_.code[split].b = lazy ? body : out;
  }

  void term(const Term& term) {
    if (full_) return;
    switch (term.kind) {
      case Kind::empty:
        return;
      case Kind::one:
        add({.op = Op::one, .backward = backward_, .a = term.code});
        return;
      case Kind::set:
        add({.op = Op::set, .backward = backward_, .a = set_index(term)});
        return;
      case Kind::begin:
        add({.op = Op::begin});
        return;
      case Kind::end:
        add({.op = Op::end});
        return;
      case Kind::boundary:
        add({.op = Op::boundary, .negative = term.negative});
        return;
      case Kind::sequence:
        return sequence(term);
      case Kind::choice:
        return choice(term);
      case Kind::capture:
        return capture(term);
      case Kind::repeat:
        return repeat(term);
      case Kind::look:
        return look(term);
      case Kind::back_reference:
        add({.op = Op::back_reference, .backward = backward_, .a = term.group});
        return;
    }
  }

  std::uint32_t set_index(const Term& term) {
    const auto found = std::ranges::find(program_.sets, term.set);
    if (found != program_.sets.end()) {
      return static_cast<std::uint32_t>(found - program_.sets.begin());
    }
    program_.sets.push_back(term.set);
    return static_cast<std::uint32_t>(program_.sets.size() - 1);
  }

  void sequence(const Term& sequence) {
    if (backward_) {
      for (auto part = sequence.parts.rbegin(); part != sequence.parts.rend(); ++part) term(*part);
    } else {
      for (const auto& part : sequence.parts) term(part);
    }
  }

  void choice(const Term& choice) {
    std::vector<std::uint32_t> jumps;
    for (std::size_t i = 0; i < choice.parts.size(); ++i) {
      const bool last = i + 1 == choice.parts.size();
      const auto split = last ? 0 : add_split();
      const auto body = here();
      term(choice.parts[i]);
      if (last) break;
      jumps.push_back(add({.op = Op::join, .c = program_.memos++}));
      aim(split, false, body, here());
    }
    if (full_) return;
    for (const auto jump : jumps) program_.code[jump].a = here();
  }

  void capture(const Term& capture) {
    const auto first = 2 * capture.group + (backward_ ? 1 : 0);
    if (program_.remembers) add({.op = Op::save, .a = first});
    term(capture.parts[0]);
    if (program_.remembers) add({.op = Op::save, .a = first ^ 1U});
  }

  // Groups inside a repetition forget what they matched the time before.
  void iteration(const Term& repeat) {
    if (program_.remembers && repeat.groups_after > repeat.groups_before) {
      add({.op = Op::forget, .a = repeat.groups_before + 1, .b = repeat.groups_after});
    }
    term(repeat.parts[0]);
  }

  void repeat(const Term& repeat) {
    const auto kind = repeat.parts[0].kind;
    const bool single = kind == Kind::set || kind == Kind::one;
    const auto bounded = repeat.max == kNoLimit ? repeat.min : repeat.max;
    if (single && bounded > kWrittenOutMax) {
      add({.op = Op::many,
           .backward = backward_,
           .lazy = repeat.lazy,
           .a = single_set(repeat.parts[0]),
           .b = repeat.min,
           .c = bounded});
      if (repeat.max == kNoLimit) loop(repeat);
      return;
    }
    for (std::uint32_t i = 0; i < repeat.min && !full_; ++i) {
      const auto before = here();
      iteration(repeat);
      // Nothing, however often it is repeated: it would never fill the program.
      if (here() == before) return;
    }
    if (repeat.max == kNoLimit) {
      loop(repeat);
    } else {
      optional(repeat);
    }
  }

  std::uint32_t single_set(const Term& part) {
    if (part.kind == Kind::set) return set_index(part);
    CodePointSet set;
    set.add(part.code);
    set.seal();
    program_.sets.push_back(std::make_shared<const CodePointSet>(std::move(set)));
    return static_cast<std::uint32_t>(program_.sets.size() - 1);
  }

  void loop(const Term& repeat) {
    const auto split = add_split();
    const auto body = here();
    // Without memory of the past, a split that comes back to its position is cut off anyway.
    const auto slot = program_.slots;
    if (program_.remembers) {
      ++program_.slots;
      add({.op = Op::mark, .a = slot});
    }
    iteration(repeat);
    if (program_.remembers) add({.op = Op::moved, .a = slot});
    add({.op = Op::jump, .a = split});
    aim(split, repeat.lazy, body, here());
  }

  void optional(const Term& repeat) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> splits;
    for (auto i = repeat.min; i < repeat.max && !full_; ++i) {
      const auto split = add_split();
      splits.emplace_back(split, here());
      iteration(repeat);
    }
    for (const auto& [split, body] : splits) aim(split, repeat.lazy, body, here());
  }

  void look(const Term& look) {
    const auto at = add({.op = Op::look, .negative = look.negative});
    const auto body = here();
    const auto outer = std::exchange(backward_, look.behind);
    term(look.parts[0]);
    backward_ = outer;
    add({.op = Op::accept});
    if (full_) return;
    program_.code[at].a = body;
    program_.code[at].b = here();
  }

  Program program_;
  bool backward_ = false;
  bool full_ = false;
};

}  // namespace

Result<Program> compile_pattern(const Pattern& pattern) {
  return Emitter(pattern).emit(pattern.root);
}

}  // namespace millrace::schema
