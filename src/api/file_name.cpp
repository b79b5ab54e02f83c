#include "api/file_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cwctype>
#include <wctype.h>

namespace millrace::api {
namespace {

constexpr std::size_t kSavedMaxBytes = 255;   // As much as file systems and stores take.
constexpr std::size_t kPackedMaxBytes = 200;  // Leaves room for a number.
constexpr std::size_t kKindMaxBytes = 10;

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }
bool goes_on(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

// Where its kind begins; its end where it has none.
std::size_t kind_of(std::string_view name) {
  const auto dot = name.rfind('.');
  return dot == name.npos || name.size() - dot > kKindMaxBytes ? name.size() : dot;
}

// Cut before its kind, and not in the middle of a character.
void cut(std::string& name, std::size_t max_bytes) {
  if (name.size() <= max_bytes) return;
  const auto kind = name.substr(kind_of(name));
  auto end = max_bytes - kind.size();
  while (end > 0 && goes_on(name[end])) --end;
  name.resize(end);
  name += kind;
}

// How many bytes at the front are a character that turns the direction of what follows: names that
// are read from the other side show another kind of file (U+202A to U+202E, U+2066 to U+2069).
std::size_t direction_mark(std::string_view text) {
  if (text.size() < 3 || text[0] != '\xE2') return 0;
  const auto last = static_cast<unsigned char>(text[2]);
  const bool first_block = text[1] == '\x80' && last >= 0xAA && last <= 0xAE;
  const bool second_block = text[1] == '\x81' && last >= 0xA6 && last <= 0xA9;
  return first_block || second_block ? 3 : 0;
}

// Names of devices, whatever follows their first dot: Windows opens those instead of a file.
bool is_device(std::string_view name) {
  auto stem = std::string(name.substr(0, name.find('.')));
  while (stem.ends_with(' ')) stem.pop_back();
  std::ranges::transform(stem, stem.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  });
  constexpr std::array kPlain{"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"};
  if (std::ranges::find(kPlain, stem) != kPlain.end()) return true;
  if (!stem.starts_with("COM") && !stem.starts_with("LPT")) return false;
  const auto number = std::string_view(stem).substr(3);
  const bool digit = number.size() == 1 && number[0] >= '0' && number[0] <= '9';
  return digit || number == "¹" || number == "²" || number == "³";
}

// The character at the front, which is taken away; a byte that begins none stands for itself.
wint_t take_letter(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text[0]);
  std::size_t size = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  size = std::min(size, text.size());
  wint_t letter = size == 1 ? first : first & (0xFFU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    letter = (letter << 6) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  text.remove_prefix(size);
  return letter;
}

}  // namespace

std::string saved_file_name(std::string_view title) {
  std::string out;
  for (const char c : title) {
    if (!is_control(c)) out += c == '/' || c == '\\' ? '_' : c;
  }
  cut(out, kSavedMaxBytes);
  return out;
}

std::string packed_file_name(std::string_view title) {
  std::string out;
  for (std::size_t at = 0; at < title.size();) {
    if (const auto skipped = direction_mark(title.substr(at)); skipped > 0) {
      at += skipped;
      continue;
    }
    const char c = title[at++];
    out += is_control(c) || std::string_view("/\\<>:\"|?*").contains(c) ? '_' : c;
  }
  while (out.ends_with('.') || out.ends_with(' ')) out.pop_back();
  const auto kind = kind_of(out);
  const auto first = std::min(out.find_first_not_of(". "), out.size());
  // A name of dots alone leaves its kind: that one stays a kind.
  out.erase(0, std::min(first, kind));
  if (out.empty() || (out.starts_with('.') && kind <= first)) out.insert(0, "file");
  if (is_device(out)) out.insert(0, "_");
  cut(out, kPackedMaxBytes);
  return out;
}

FileNames::FileNames() : letters_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {}

std::string FileNames::add(std::string_view title) {
  const auto name = packed_file_name(title);
  const auto stem = std::string_view(name).substr(0, name.rfind('.'));
  auto chosen = name;
  for (int number = 2; !used_.insert(folded(chosen)).second; ++number) {
    chosen = fmt::format("{} ({}){}", stem, number, name.substr(stem.size()));
  }
  return chosen;
}

std::string FileNames::folded(std::string_view name) const {
  std::string out;
  while (!name.empty()) {
    auto letter = take_letter(name);
    if (letters_) {
      letter = ::towlower_l(letter, letters_.get());
    } else if (letter >= 'A' && letter <= 'Z') {
      letter += 32;
    }
    for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>((letter >> shift) & 0xFFU);
  }
  return out;
}

}  // namespace millrace::api
