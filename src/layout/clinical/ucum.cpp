#include "layout/clinical/ucum.h"

#include "layout/code_points.h"

#include <algorithm>
#include <array>
#include <utility>

namespace millrace::layout::clinical {
namespace {

constexpr std::size_t kUnitBytesMax = 64;
constexpr int kDepthMax = 8;

// Units that take prefixes, and those that do not.
constexpr auto kMetric = std::to_array<std::string_view>(
    {"g",   "m", "L",  "l", "mol", "eq", "U",  "[iU]", "[IU]", "Pa",  "J",   "cal",   "K",
     "Cel", "s", "Hz", "V", "W",   "Bq", "Gy", "Sv",   "osm",  "kat", "bar", "m[Hg]", "m[H2O]"});
constexpr auto kPlain = std::to_array<std::string_view>(
    {"min",   "h",        "d",        "wk",       "mo",      "a",       "%",
     "[pH]",  "deg",      "[degF]",   "[lb_av]",  "[oz_av]", "[in_i]",  "[ft_i]",
     "[drp]", "[CFU]",    "[pfU]",    "[ppm]",    "[ppb]",   "[arb'U]", "10*",
     "10^",   "[tsp_us]", "[tbs_us]", "[foz_us]", "[HPF]",   "[LPF]"});
constexpr auto kPrefixes =
    std::to_array<std::string_view>({"da", "Y", "Z", "E", "P", "T", "G", "M", "k", "h",
                                     "d",  "c", "m", "u", "n", "p", "f", "a", "z", "y"});

bool is_known_atom(std::string_view atom) {
  if (std::ranges::find(kPlain, atom) != kPlain.end()) return true;
  if (std::ranges::find(kMetric, atom) != kMetric.end()) return true;
  return std::ranges::any_of(kPrefixes, [atom](std::string_view prefix) {
    return atom.starts_with(prefix) &&
           std::ranges::find(kMetric, atom.substr(prefix.size())) != kMetric.end();
  });
}

// term = ["/"] component {("." | "/") component}
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool read() { return term(0) && text_.empty(); }

 private:
  bool take(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }

  bool term(int depth) {
    if (depth > kDepthMax) return false;
    take('/');
    if (!component(depth)) return false;
    while (take('.') || take('/')) {
      if (!component(depth)) return false;
    }
    return true;
  }

  bool component(int depth) {
    if (take('(')) {
      return term(depth + 1) && take(')') && exponent();
    }
    if (text_.starts_with('{')) return annotation();
    if (!text_.empty() && text_[0] >= '0' && text_[0] <= '9' && !text_.starts_with("10*") &&
        !text_.starts_with("10^")) {
      return digits() && annotation();
    }
    return atom() && exponent() && annotation();
  }

  bool digits() {
    const auto end = std::min(text_.find_first_not_of("0123456789"), text_.size());
    text_.remove_prefix(end);
    return end > 0;
  }

  // Optional, but not half of it.
  bool exponent() {
    const bool sign = take('-') || take('+');
    return digits() || !sign;
  }

  bool annotation() {
    if (!take('{')) return true;
    const auto end = text_.find('}');
    if (end == std::string_view::npos) return false;
    const bool printable = std::ranges::all_of(
        text_.substr(0, end), [](char c) { return c > 0x20 && c < 0x7f && c != '{'; });
    text_.remove_prefix(end + 1);
    return printable;
  }

  // The longest known unit here: letters, brackets and what is in them, %, 10*.
  bool atom() {
    std::size_t end = 0;
    if (text_.starts_with("10*") || text_.starts_with("10^")) {
      end = 3;
    } else {
      while (end < text_.size() &&
             std::string_view("./(){}+-").find(text_[end]) == std::string_view::npos) {
        if (text_[end] == '[') {
          const auto close = text_.find(']', end);
          if (close == std::string_view::npos) return false;
          end = close;
        } else if (text_[end] >= '0' && text_[end] <= '9') {
          break;
        }
        ++end;
      }
    }
    if (end == 0 || !is_known_atom(text_.substr(0, end))) return false;
    text_.remove_prefix(end);
    return true;
  }

  std::string_view text_;
};

// One part of a unit as people write it, in lower case.
std::optional<std::string_view> printed_part(std::string_view part) {
  static constexpr auto kTable = std::to_array<std::pair<std::string_view, std::string_view>>({
      {"mcg", "ug"},     {"µg", "ug"},       {"μg", "ug"},         {"ug", "ug"},
      {"mg", "mg"},      {"g", "g"},         {"gm", "g"},          {"kg", "kg"},
      {"ng", "ng"},      {"pg", "pg"},       {"fg", "fg"},         {"l", "L"},
      {"dl", "dL"},      {"ml", "mL"},       {"cc", "mL"},         {"ul", "uL"},
      {"µl", "uL"},      {"μl", "uL"},       {"fl", "fL"},         {"nl", "nL"},
      {"mol", "mol"},    {"mmol", "mmol"},   {"umol", "umol"},     {"µmol", "umol"},
      {"μmol", "umol"},  {"nmol", "nmol"},   {"pmol", "pmol"},     {"meq", "meq"},
      {"eq", "eq"},      {"u", "U"},         {"iu", "[iU]"},       {"miu", "m[iU]"},
      {"uiu", "u[iU]"},  {"µiu", "u[iU]"},   {"ku", "kU"},         {"unit", "[iU]"},
      {"units", "[iU]"}, {"mmhg", "mm[Hg]"}, {"cmh2o", "cm[H2O]"}, {"kpa", "kPa"},
      {"°c", "Cel"},     {"c", "Cel"},       {"°f", "[degF]"},     {"f", "[degF]"},
      {"m", "m"},        {"cm", "cm"},       {"mm", "mm"},         {"in", "[in_i]"},
      {"ft", "[ft_i]"},  {"lb", "[lb_av]"},  {"lbs", "[lb_av]"},   {"oz", "[oz_av]"},
      {"s", "s"},        {"sec", "s"},       {"min", "min"},       {"mins", "min"},
      {"h", "h"},        {"hr", "h"},        {"hrs", "h"},         {"hour", "h"},
      {"day", "d"},      {"days", "d"},      {"d", "d"},           {"wk", "wk"},
      {"week", "wk"},    {"weeks", "wk"},    {"month", "mo"},      {"months", "mo"},
      {"year", "a"},     {"years", "a"},     {"yr", "a"},          {"%", "%"},
      {"m2", "m2"},      {"m²", "m2"},       {"mosm", "mosm"},     {"hpf", "[HPF]"},
      {"lpf", "[LPF]"},  {"drops", "[drp]"},
  });
  const auto at =
      std::ranges::find(kTable, part, &std::pair<std::string_view, std::string_view>::first);
  return at == kTable.end() ? std::nullopt : std::optional(at->second);
}

// Whole units that are no product of parts, and things that are counted.
std::optional<std::string_view> printed_whole(std::string_view text) {
  static constexpr auto kTable = std::to_array<std::pair<std::string_view, std::string_view>>({
      {"bpm", "/min"},
      {"beats/min", "/min"},
      {"breaths/min", "/min"},
      {"/min", "/min"},
      {"k/ul", "10*3/uL"},
      {"k/µl", "10*3/uL"},
      {"m/ul", "10*6/uL"},
      {"m/µl", "10*6/uL"},
      {"thou/ul", "10*3/uL"},
      {"mil/ul", "10*6/uL"},
      {"g%", "g/dL"},
      {"mg%", "mg/dL"},
      {"tablet", "{tablet}"},
      {"tablets", "{tablet}"},
      {"tab", "{tablet}"},
      {"tabs", "{tablet}"},
      {"capsule", "{capsule}"},
      {"capsules", "{capsule}"},
      {"cap", "{capsule}"},
      {"caps", "{capsule}"},
      {"puff", "{puff}"},
      {"puffs", "{puff}"},
      {"drop", "[drp]"},
      {"spray", "{spray}"},
      {"sprays", "{spray}"},
      {"patch", "{patch}"},
      {"patches", "{patch}"},
      {"dose", "{dose}"},
      {"doses", "{dose}"},
      {"ratio", "{ratio}"},
      {"ml/min/1.73m2", "mL/min/{1.73_m2}"},
      {"ml/min/1.73m²", "mL/min/{1.73_m2}"},
  });
  const auto at =
      std::ranges::find(kTable, text, &std::pair<std::string_view, std::string_view>::first);
  return at == kTable.end() ? std::nullopt : std::optional(at->second);
}

// Without spaces, in lower case, with × as x and raised figures as plain ones.
std::string plain_unit(std::string_view printed) {
  std::string out;
  for (std::size_t at = 0; at < printed.size();) {
    const auto decoded = decode_at(printed, at);
    at += decoded.bytes;
    const auto code = decoded.code;
    if (is_space(code)) continue;
    if (code == 0xd7) {
      out += 'x';
    } else if (code == 0x2070 || (code >= 0x2074 && code <= 0x2079)) {
      out += static_cast<char>('0' + (code - 0x2070));
    } else if (code == 0xb3 || code == 0xb9) {
      out += code == 0xb3 ? '3' : '1';
    } else {
      append_utf8(out, fold_case(code));
    }
  }
  return out;
}

// "x10^9", "10e9", "10*9", "x109"
std::optional<std::string> power_of_ten(std::string_view part) {
  if (part.starts_with('x')) part.remove_prefix(1);
  if (!part.starts_with("10")) return std::nullopt;
  part.remove_prefix(2);
  if (!part.empty() && std::string_view("^*e").find(part.front()) != std::string_view::npos) {
    part.remove_prefix(1);
  }
  if (part.empty() || part.size() > 2) return std::nullopt;
  if (part.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  return "10*" + std::string(part);
}

}  // namespace

bool is_ucum(std::string_view code) {
  return !code.empty() && code.size() <= kUnitBytesMax && Reader(code).read();
}

std::optional<std::string> to_ucum(std::string_view printed) {
  if (printed.empty() || printed.size() > kUnitBytesMax) return std::nullopt;
  if (printed == "M") return std::nullopt;  // A million, or molar, but no metre.
  const auto plain = plain_unit(printed);
  if (const auto whole = printed_whole(plain)) return std::string(*whole);
  std::string code;
  std::string_view rest = plain;
  bool known = !rest.empty();
  while (known) {
    const auto end = std::min(rest.find('/'), rest.size());
    const auto part = rest.substr(0, end);
    if (const auto unit = printed_part(part)) {
      code += *unit;
    } else if (const auto power = power_of_ten(part)) {
      code += *power;
    } else {
      known = false;
    }
    if (end == rest.size()) break;
    code += '/';
    rest.remove_prefix(end + 1);
  }
  if (known && is_ucum(code)) return code;
  if (is_ucum(printed)) return std::string(printed);
  return std::nullopt;
}

}  // namespace millrace::layout::clinical
