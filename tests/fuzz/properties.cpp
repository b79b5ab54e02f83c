#include "fuzz/properties.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace millrace::fuzz {
namespace {

constexpr std::size_t kPatternMaxBytes = 32;
constexpr std::size_t kShortBytes = 8 * 1024;
constexpr std::size_t kFactor = 8;

bool always = false;

std::uint64_t hash_of(Input input) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : input) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash ^ (hash >> 29U);
}

std::string repeated(Input pattern, std::size_t size) {
  std::string text;
  text.reserve(size + pattern.size());
  while (text.size() < size) text += pattern;
  return text;
}

// Processor time of this thread: what else the machine does hardly matters.
double cost_ms(const std::function<void(std::string_view)>& parse, std::string_view text) {
  timespec begin{};
  timespec end{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  parse(text);
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
  return static_cast<double>(end.tv_sec - begin.tv_sec) * 1e3 +
         static_cast<double>(end.tv_nsec - begin.tv_nsec) / 1e6;
}

}  // namespace

void broken(std::string_view property, std::string_view detail) {
  std::fprintf(stderr, "property broken: %.*s\n", static_cast<int>(property.size()),
               property.data());
  if (!detail.empty()) {
    std::fprintf(stderr, "  %.*s\n", static_cast<int>(std::min<std::size_t>(detail.size(), 2000)),
                 detail.data());
  }
  std::abort();
}

void check_told(const Error& error, ErrorKind kind) {
  property(error.kind == kind, "an error of the expected kind", error.message);
  property(!error.message.empty(), "an error has a message");
  const auto text = error.describe();
  property(text.find_first_of("\r\n") == text.npos, "a description has one line", text);
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const std::size_t length = first < 0x80                     ? 1
                               : first >= 0xc2 && first < 0xe0  ? 2
                               : first >= 0xe0 && first < 0xf0  ? 3
                               : first >= 0xf0 && first <= 0xf4 ? 4
                                                                : 0;
    if (length == 0 || i + length > text.size()) return false;
    std::uint32_t code = length == 1 ? first : first & (0xffU >> (length + 1));
    for (std::size_t k = 1; k < length; ++k) {
      const auto byte = static_cast<unsigned char>(text[i + k]);
      if ((byte & 0xc0U) != 0x80U) return false;
      code = code << 6U | (byte & 0x3fU);
    }
    const bool shortest = length < 3 || code >= (length == 3 ? 0x800U : 0x10000U);
    if (!shortest || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
    i += length;
  }
  return true;
}

std::string_view take_line(Input& input) {
  const auto end = std::min(input.find('\n'), input.size());
  const auto line = input.substr(0, end);
  input.remove_prefix(std::min(end + 1, input.size()));
  return line;
}

std::uint8_t take_byte(Input& input) {
  if (input.empty()) return 0;
  const auto byte = static_cast<std::uint8_t>(input.front());
  input.remove_prefix(1);
  return byte;
}

std::vector<std::string> take_lines(Input input) {
  std::vector<std::string> lines;
  while (!input.empty()) lines.emplace_back(take_line(input));
  return lines;
}

void stretch_always() { always = true; }

void check_linear(Input input, const std::function<void(std::string_view)>& parse) {
  constexpr std::uint64_t kOneIn = 64;
  if (input.empty() || input.size() > kPatternMaxBytes) return;
  if (!always && hash_of(input) % kOneIn != 0) return;
  const auto small = repeated(input, kShortBytes);
  const auto large = repeated(input, kShortBytes * kFactor);
  // Quadratic work would be 64 times as much. The allowance is for what is too quick to compare; a
  // slow moment of the machine does not come three times.
  for (int trial = 0;; ++trial) {
    const auto few = cost_ms(parse, small);
    const auto many = cost_ms(parse, large);
    if (many <= few * 3 * kFactor + 20) return;
    if (trial == 2) broken("work grows in proportion to the input", input);
  }
}

}  // namespace millrace::fuzz
