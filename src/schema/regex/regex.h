// Regex: an ECMA-262 pattern, ready to search texts.
//
// JSON Schema's `pattern` asks whether a text contains a match, no more; that makes a search
// possible whose cost is bounded by pattern size times text length: no part of the pattern is tried
// twice at one position. Patterns with back references have no such bound. For both, every step is
// taken from a budget, and the search ends with `too_costly` when that is used up.
// Immutable and thread-safe; the Matcher holds what one search after another needs.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace millrace::schema {

struct Program;

enum class Search { found, absent, too_costly };

// Memory of searches, kept between them. One thread at a time.
struct Matcher {
  std::vector<std::uint64_t> tried;  // A bit per memo and position.
  std::vector<std::uint64_t> stack;
  std::vector<std::uint32_t> slots;
  std::vector<std::uint64_t> trail;
};

class Regex {
 public:
  // Errors are invalid_argument: "at byte 7: a group is not closed, a ')' is missing".
  static Result<Regex> compile(std::string_view pattern);

  // Takes its steps from `steps_left`, which ends at 0 when it was too costly.
  Search search(std::string_view text, std::uint64_t& steps_left, Matcher& matcher) const;

  std::size_t size() const;  // Roughly what it takes up, in instructions.

 private:
  explicit Regex(std::shared_ptr<const Program> program) : program_(std::move(program)) {}

  std::shared_ptr<const Program> program_;  // Shared by copies: it never changes.
};

}  // namespace millrace::schema
