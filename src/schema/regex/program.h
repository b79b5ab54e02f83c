// A pattern as instructions for the matcher.
//
// Alternatives are `split`s; counted repetition is written out, except of single code points, so
// that x{1,5000} stays one instruction. Inside a lookbehind everything runs backwards.
#pragma once

#include "base/result.h"
#include "schema/regex/syntax.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace millrace::schema {

struct Instruction {
  enum class Op : std::uint8_t {
    one,             // Code point a.
    set,             // A code point of sets[a].
    many,            // b to c code points of sets[a].
    split,           // Go on at a; should that fail, at b. memo: c.
    jump,            // Go on at a.
    join,            // The same, for ways that meet there. memo: c.
    begin,           //
    end,             //
    boundary,        //
    look,            // Run the part at a on its own, then go on at b.
    save,            // Position into slot a.
    forget,          // Groups a to b have matched nothing.
    back_reference,  // The text of group a.
    mark,            // Position into slot a, for `moved`.
    moved,           // Fails when the position is still that of slot a.
    accept,
  };

  Op op = Op::accept;
  bool negative = false;
  bool backward = false;
  bool lazy = false;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t c = 0;
};

struct Program {
  std::vector<Instruction> code;
  std::vector<std::shared_ptr<const CodePointSet>> sets;
  std::uint32_t slots = 0;     // Two per group, then one per loop; 0 without back references.
  std::uint32_t memos = 0;     // Instructions that are tried at most once per position.
  bool remembers = false;      // Has back references: what a part matches depends on the past.
  bool only_at_begin = false;  // Begins with ^: no other start can match.
};

// invalid_argument when the pattern would need more than kProgramMax instructions.
inline constexpr std::size_t kProgramMax = 20'000;
Result<Program> compile_pattern(const Pattern& pattern);

}  // namespace millrace::schema
