// The syntax of ECMA-262 patterns: text in, a tree out.
//
// Patterns are read as with the flag `u` (by code points, \p{...} known), as JSON Schema asks for.
// Where `u` is stricter than practice and the meaning is plain, the text is accepted: \- and other
// escaped punctuation, a brace or bracket that closes nothing, `[\w-.]`. Escaped letters without a
// meaning stay errors (\A and \Z are not ECMA-262 and would silently mean something else).
#pragma once

#include "base/result.h"
#include "schema/regex/code_points.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

namespace millrace::schema {

inline constexpr std::uint32_t kNoLimit = std::numeric_limits<std::uint32_t>::max();

struct Term {
  enum class Kind {
    empty,
    one,             // The code point `code`.
    set,             // One code point of `set`.
    begin,           // ^
    end,             // $
    boundary,        // \b, or \B when negative
    sequence,        // All `parts`, in order.
    choice,          // One of `parts`.
    capture,         // parts[0], remembered as group `group`.
    repeat,          // parts[0], `min` to `max` times.
    look,            // parts[0] must match here, ahead or behind, or must not (negative).
    back_reference,  // What group `group` matched.
  };

  Kind kind = Kind::empty;
  bool negative = false;
  bool behind = false;
  bool lazy = false;
  CodePoint code = 0;
  std::uint32_t group = 0;
  std::uint32_t min = 0;
  std::uint32_t max = 0;
  std::uint32_t groups_before = 0;  // Of a repeat: the groups within are groups_before + 1 …
  std::uint32_t groups_after = 0;   // … to groups_after.
  std::shared_ptr<const CodePointSet> set = {};  // Shared by the copies of a repeated term.
  std::vector<Term> parts = {};
};

struct Pattern {
  Term root;
  std::uint32_t group_count = 0;
  bool has_back_references = false;
};

// Errors are invalid_argument: "at byte 7: ...".
Result<Pattern> parse_pattern(std::string_view text);

}  // namespace millrace::schema
