// What the fuzz targets are made of: a way to say that a property is broken, and properties that
// hold for every parser.
//
// A target takes any bytes, calls a parser and checks what must hold of the answer. A broken
// property ends the process; libFuzzer then keeps the input.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::fuzz {

using Input = std::string_view;

// Stands for a password: where an input says "~", it is put in, and may not show up.
inline constexpr std::string_view kSecret = "hunter2-Zq8";

[[noreturn]] void broken(std::string_view property, std::string_view detail = {});

inline void property(bool holds, std::string_view what, std::string_view detail = {}) {
  if (!holds) broken(what, detail);
}

// An error says what is wrong, on one line, and blames the caller.
void check_told(const Error& error, ErrorKind kind = ErrorKind::invalid_argument);

bool is_utf8(std::string_view text);

// The input up to the next line end, which is taken away: several fields in one readable file.
std::string_view take_line(Input& input);
// The first byte, or 0 when there is none.
std::uint8_t take_byte(Input& input);
// The lines of the rest.
std::vector<std::string> take_lines(Input input);

// The same input many times over must not cost more than in proportion. Costly, so only a small
// part of the inputs is tried; all short ones with --stretch.
void check_linear(Input input, const std::function<void(std::string_view)>& parse);
void stretch_always();

}  // namespace millrace::fuzz
