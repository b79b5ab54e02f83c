#include "schema/regex/regex.h"

#include "schema/regex/program.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace millrace::schema {
namespace {

using Op = Instruction::Op;

constexpr std::uint64_t kTriedBitsMax = std::uint64_t{1} << 27U;  // 16 MiB.
constexpr std::size_t kStackMax = std::size_t{4} << 20U;          // 32 MiB.
constexpr std::uint32_t kUnset = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t kRestore = std::uint32_t{1} << 31U;  // Marks entries that restore a slot.

bool is_word_byte(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// One search. The stack holds what to try next: (instruction, position), or (kRestore | slot,
// value) to undo a change of a slot on the way back.
class Run {
 public:
  Run(const Program& program, std::string_view text, std::uint64_t& steps_left, Matcher& matcher)
      : program_(program), text_(text), steps_left_(steps_left), matcher_(matcher) {}

  Search search() {
    if (!prepare()) return give_up();
    for (std::uint32_t start = 0;;) {
      const bool found = from(0, start);
      if (exhausted_) return give_up();
      if (found) return Search::found;
      if (program_.only_at_begin || start >= text_.size()) return Search::absent;
      start += decode_at(text_, start).bytes;
    }
  }

 private:
  Search give_up() {
    steps_left_ = 0;
    return Search::too_costly;
  }

  bool prepare() {
    if (text_.size() >= kRestore) return false;
    matcher_.stack.clear();
    matcher_.trail.clear();
    matcher_.slots.assign(program_.slots, kUnset);
    if (program_.remembers) return true;
    const auto bits = std::uint64_t{program_.memos} * (text_.size() + 1);
    if (bits > kTriedBitsMax) return false;
    matcher_.tried.assign((bits + 63) / 64, 0);
    return spend(bits / 512);
  }

  bool spend(std::uint64_t steps) {
    if (steps_left_ < steps) {
      exhausted_ = true;
      return false;
    }
    steps_left_ -= steps;
    return true;
  }

  void push(std::uint32_t instruction, std::uint32_t position) {
    if (matcher_.stack.size() >= kStackMax) {
      exhausted_ = true;
      return;
    }
    matcher_.stack.push_back((std::uint64_t{instruction} << 32U) | position);
  }

  void set_slot(std::uint32_t slot, std::uint32_t value) {
    push(kRestore | slot, matcher_.slots[slot]);
    matcher_.slots[slot] = value;
  }

  // True the first time. Inside a lookaround the bit is noted, so that it can be taken back.
  bool first_time(std::uint32_t memo, std::uint32_t position) {
    if (program_.remembers) return true;
    const auto bit = std::uint64_t{memo} * (text_.size() + 1) + position;
    auto& word = matcher_.tried[bit / 64];
    const auto mask = std::uint64_t{1} << (bit % 64);
    if ((word & mask) != 0) return false;
    word |= mask;
    if (looking_ > 0) matcher_.trail.push_back(bit);
    return true;
  }

  // Runs from one instruction to an `accept`; false when every way fails or the steps are used up.
  bool from(std::uint32_t at, std::uint32_t position) {
    const auto base = matcher_.stack.size();
    for (;;) {
      if (!spend(1)) return false;
      const auto& instruction = program_.code[at];
      if (instruction.op == Op::accept) {
        matcher_.stack.resize(base);
        return true;
      }
      if (!step(instruction, at, position)) {
        if (exhausted_ || !back(base, at, position)) return false;
      }
    }
  }

  // Takes the last untried way; false when there is none.
  bool back(std::size_t base, std::uint32_t& at, std::uint32_t& position) {
    while (matcher_.stack.size() > base) {
      const auto entry = matcher_.stack.back();
      matcher_.stack.pop_back();
      const auto head = static_cast<std::uint32_t>(entry >> 32U);
      const auto value = static_cast<std::uint32_t>(entry);
      if ((head & kRestore) != 0) {
        matcher_.slots[head & ~kRestore] = value;
        continue;
      }
      at = head;
      position = value;
      return true;
    }
    return false;
  }

  bool step(const Instruction& instruction, std::uint32_t& at, std::uint32_t& position) {
    switch (instruction.op) {
      case Op::one:
      case Op::set: {
        const auto next = read(instruction.backward, position);
        if (!next) return false;
        if (instruction.op == Op::one ? next->code != instruction.a
                                      : !program_.sets[instruction.a]->contains(next->code)) {
          return false;
        }
        move(instruction.backward, position, next->bytes);
        break;
      }
      case Op::many:
        return many(instruction, at, position);
      case Op::split:
        if (!first_time(instruction.c, position)) return false;
        push(instruction.b, position);
        at = instruction.a;
        return !exhausted_;
      case Op::join:
        if (!first_time(instruction.c, position)) return false;
        at = instruction.a;
        return true;
      case Op::jump:
        at = instruction.a;
        return true;
      case Op::begin:
        if (position != 0) return false;
        break;
      case Op::end:
        if (position != text_.size()) return false;
        break;
      case Op::boundary:
        if (at_boundary(position) == instruction.negative) return false;
        break;
      case Op::look:
        if (!look(instruction, position)) return false;
        at = instruction.b;
        return true;
      case Op::save:
      case Op::mark:
        set_slot(instruction.a, position);
        break;
      case Op::forget:
        for (auto slot = 2 * instruction.a; slot <= 2 * instruction.b + 1; ++slot) {
          set_slot(slot, kUnset);
        }
        break;
      case Op::back_reference:
        if (!back_reference(instruction, position)) return false;
        break;
      case Op::moved:
        if (matcher_.slots[instruction.a] == position) return false;
        break;
      case Op::accept:
        break;
    }
    ++at;
    return !exhausted_;
  }

  std::optional<Decoded> read(bool backward, std::uint32_t position) const {
    if (backward) {
      if (position == 0) return std::nullopt;
      return decode_before(text_, position);
    }
    if (position == text_.size()) return std::nullopt;
    const auto byte = static_cast<unsigned char>(text_[position]);
    if (byte < 0x80) return Decoded{.code = byte, .bytes = 1};
    return decode_at(text_, position);
  }

  static void move(bool backward, std::uint32_t& position, std::uint32_t bytes) {
    position = backward ? position - bytes : position + bytes;
  }

  // As many as possible are taken, and every shorter end is noted as another way; lazily reversed.
  bool many(const Instruction& instruction, std::uint32_t& at, std::uint32_t& position) {
    const auto& set = *program_.sets[instruction.a];
    const auto first = matcher_.stack.size();
    auto end = position;
    for (std::uint32_t count = 0;; ++count) {
      if (count >= instruction.b) push(at + 1, end);
      if (exhausted_ || !spend(1)) return false;
      if (count == instruction.c) break;
      const auto next = read(instruction.backward, end);
      if (!next || !set.contains(next->code)) break;
      move(instruction.backward, end, next->bytes);
    }
    if (matcher_.stack.size() == first) return false;
    if (instruction.lazy) {
      std::reverse(matcher_.stack.begin() + static_cast<std::ptrdiff_t>(first),
                   matcher_.stack.end());
    }
    return back(first, at, position);
  }

  bool at_boundary(std::uint32_t position) const {
    const bool before = position > 0 && is_word_byte(text_[position - 1]);
    const bool after = position < text_.size() && is_word_byte(text_[position]);
    return before != after;
  }

  bool look(const Instruction& instruction, std::uint32_t position) {
    if (program_.remembers) {
      // On the way back over a lookahead that set groups, they are restored.
      for (std::uint32_t slot = 0; slot < program_.slots; ++slot) {
        push(kRestore | slot, matcher_.slots[slot]);
      }
      return from(instruction.a, position) != instruction.negative && !exhausted_;
    }
    const auto trail = matcher_.trail.size();
    ++looking_;
    const bool found = from(instruction.a, position);
    --looking_;
    // What was tried on the way to a success has not failed: it must not be skipped next time.
    if (found) {
      for (auto i = trail; i < matcher_.trail.size(); ++i) {
        const auto bit = matcher_.trail[i];
        matcher_.tried[bit / 64] &= ~(std::uint64_t{1} << (bit % 64));
      }
      matcher_.trail.resize(trail);
    }
    if (looking_ == 0) matcher_.trail.clear();
    return found != instruction.negative && !exhausted_;
  }

  bool back_reference(const Instruction& instruction, std::uint32_t& position) {
    const auto from = matcher_.slots[2 * instruction.a];
    const auto to = matcher_.slots[2 * instruction.a + 1];
    if (from == kUnset || to == kUnset || from > to) return true;
    const auto group = text_.substr(from, to - from);
    if (!spend(group.size() / 16)) return false;
    if (instruction.backward) {
      if (!text_.substr(0, position).ends_with(group)) return false;
    } else if (!text_.substr(position).starts_with(group)) {
      return false;
    }
    move(instruction.backward, position, static_cast<std::uint32_t>(group.size()));
    return true;
  }

  const Program& program_;
  std::string_view text_;
  std::uint64_t& steps_left_;
  Matcher& matcher_;
  int looking_ = 0;
  bool exhausted_ = false;
};

}  // namespace

Result<Regex> Regex::compile(std::string_view pattern) {
  MR_TRY(const auto parsed, parse_pattern(pattern));
  MR_TRY(auto program, compile_pattern(parsed));
  return Regex(std::make_shared<const Program>(std::move(program)));
}

Search Regex::search(std::string_view text, std::uint64_t& steps_left, Matcher& matcher) const {
  return Run(*program_, text, steps_left, matcher).search();
}

std::size_t Regex::size() const {
  auto size = program_->code.size();
  for (const auto& set : program_->sets) size += set->range_count() / 2;
  return size;
}

}  // namespace millrace::schema
