#include "schema/regex/code_points.h"

#include "schema/regex/unicode_data.h"

#include <algorithm>

namespace millrace::schema {
namespace {

constexpr CodePoint kReplacement = 0xfffd;

// How many bytes of UTF-8 begin at `at`; 0 when they are not valid.
std::uint32_t sequence_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto first = byte(at);
  if (first < 0x80) return 1;
  const std::uint32_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0U) != 0x80U) return 0;
  }
  const auto second = byte(at + 1);
  if (first == 0xe0 && second < 0xa0) return 0;
  if (first == 0xed && second > 0x9f) return 0;
  if (first == 0xf0 && second < 0x90) return 0;
  if (first == 0xf4 && second > 0x8f) return 0;
  return length;
}

std::uint32_t digit_value(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<std::uint32_t>(c - 'A');
  if (c >= 'a' && c <= 'z') return static_cast<std::uint32_t>(c - 'a') + 26;
  if (c >= '0' && c <= '9') return static_cast<std::uint32_t>(c - '0') + 52;
  return c == '+' ? 62 : 63;
}

void add_runs(CodePointSet& set, std::string_view runs) {
  CodePoint at = 0;
  bool inside = false;
  CodePoint first = 0;
  for (std::size_t i = 0; i < runs.size();) {
    std::uint32_t length = 0;
    for (std::uint32_t shift = 0;; shift += 5) {
      const auto digit = digit_value(runs[i++]);
      length |= (digit & 31U) << shift;
      if (digit < 32) break;
    }
    at += length;
    if (inside) set.add(first, at - 1);
    inside = !inside;
    first = at;
  }
  if (inside) set.add(first, kCodePointMax);
}

bool has_name(std::string_view names, std::string_view name) {
  if (name.empty() || name.contains(',')) return false;
  for (std::size_t from = 0; from <= names.size();) {
    const auto comma = std::min(names.find(',', from), names.size());
    if (names.substr(from, comma - from) == name) return true;
    from = comma + 1;
  }
  return false;
}

bool add_named(CodePointSet& set, std::string_view property, std::string_view name) {
  for (const auto& entry : unicode_entries()) {
    if (entry.property != property || !has_name(entry.names, name)) continue;
    add_runs(set, entry.runs);
    return true;
  }
  return false;
}

void add_categories(CodePointSet& set, std::string_view first_letter) {
  for (const auto& entry : unicode_entries()) {
    if (entry.property == "gc" && entry.names.starts_with(first_letter)) add_runs(set, entry.runs);
  }
}

CodePointSet assigned_set() {
  CodePointSet set;
  add_categories(set, "");
  set.seal();
  return set;
}

// Names of groups of categories, and their first letters.
struct Group {
  std::string_view names;
  std::string_view letter;
};
constexpr Group kGroups[] = {{"C,Other", "C"},
                             {"L,Letter", "L"},
                             {"M,Mark,Combining_Mark", "M"},
                             {"N,Number", "N"},
                             {"P,Punctuation,punct", "P"},
                             {"S,Symbol", "S"},
                             {"Z,Separator", "Z"}};

std::optional<CodePointSet> category_set(std::string_view name) {
  CodePointSet set;
  if (has_name("Cn,Unassigned", name)) {
    set = assigned_set();
    set.invert();
    return set;
  }
  if (has_name("LC,Cased_Letter", name)) {
    for (const auto* part : {"Lu", "Ll", "Lt"}) add_named(set, "gc", part);
    set.seal();
    return set;
  }
  const auto group =
      std::ranges::find_if(kGroups, [&](const Group& g) { return has_name(g.names, name); });
  if (group != std::end(kGroups)) {
    add_categories(set, group->letter);
    if (group->letter == "C") set.add(*category_set("Cn"));
  } else if (!add_named(set, "gc", name)) {
    return std::nullopt;
  }
  set.seal();
  return set;
}

std::optional<CodePointSet> script_set(std::string_view name, bool extended) {
  CodePointSet set;
  // Only scripts whose extended set differs have one of their own.
  if (!(extended && add_named(set, "scx", name)) && !add_named(set, "sc", name)) {
    return std::nullopt;
  }
  set.seal();
  return set;
}

}  // namespace

Decoded decode_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> CodePoint { return static_cast<unsigned char>(text[i]); };
  const auto first = byte(at);
  if (first < 0x80) return {.code = first, .bytes = 1};
  switch (sequence_length(text, at)) {
    case 2:
      return {.code = ((first & 0x1fU) << 6U) | (byte(at + 1) & 0x3fU), .bytes = 2};
    case 3:
      return {
          .code = ((first & 0xfU) << 12U) | ((byte(at + 1) & 0x3fU) << 6U) | (byte(at + 2) & 0x3fU),
          .bytes = 3};
    case 4:
      return {.code = ((first & 7U) << 18U) | ((byte(at + 1) & 0x3fU) << 12U) |
                      ((byte(at + 2) & 0x3fU) << 6U) | (byte(at + 3) & 0x3fU),
              .bytes = 4};
    default:
      return {.code = kReplacement, .bytes = 1};
  }
}

Decoded decode_before(std::string_view text, std::size_t at) {
  for (std::size_t back = 1; back <= 4 && back <= at; ++back) {
    const auto byte = static_cast<unsigned char>(text[at - back]);
    if ((byte & 0xc0U) == 0x80U) continue;
    const auto found = decode_at(text, at - back);
    if (found.bytes == back) return found;
    break;
  }
  return {.code = kReplacement, .bytes = 1};
}

std::size_t count_code_points(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) at += decode_at(text, at).bytes;
  return count;
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto length = sequence_length(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

void CodePointSet::add(CodePoint first, CodePoint last) { ranges_.push_back({first, last}); }

void CodePointSet::add(const CodePointSet& other) {
  ranges_.insert(ranges_.end(), other.ranges_.begin(), other.ranges_.end());
}

void CodePointSet::seal() {
  std::ranges::sort(ranges_, {}, &Range::first);
  std::vector<Range> joined;
  for (const auto& range : ranges_) {
    if (!joined.empty() && range.first <= joined.back().last + 1) {
      joined.back().last = std::max(joined.back().last, range.last);
    } else {
      joined.push_back(range);
    }
  }
  ranges_ = std::move(joined);
  ascii_ = {};
  for (CodePoint code = 0; code < 128; ++code) {
    if (contains_wide(code)) ascii_[code / 64] |= std::uint64_t{1} << (code % 64);
  }
}

void CodePointSet::invert() {
  seal();
  std::vector<Range> inverted;
  CodePoint next = 0;
  for (const auto& range : ranges_) {
    if (range.first > next) inverted.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= kCodePointMax) inverted.push_back({next, kCodePointMax});
  ranges_ = std::move(inverted);
  seal();
}

bool CodePointSet::contains_wide(CodePoint code) const {
  const auto after = std::ranges::upper_bound(ranges_, code, {}, &Range::first);
  return after != ranges_.begin() && code <= std::prev(after)->last;
}

CodePointSet digit_set() {
  CodePointSet set;
  set.add('0', '9');
  set.seal();
  return set;
}

CodePointSet word_set() {
  CodePointSet set;
  set.add('0', '9');
  set.add('A', 'Z');
  set.add('a', 'z');
  set.add('_');
  set.seal();
  return set;
}

CodePointSet space_set() {
  CodePointSet set = *category_set("Zs");
  set.add(line_break_set());
  for (const CodePoint code : {0x09U, 0x0bU, 0x0cU, 0x20U, 0xa0U, 0xfeffU}) set.add(code);
  set.seal();
  return set;
}

CodePointSet line_break_set() {
  CodePointSet set;
  for (const CodePoint code : {0x0aU, 0x0dU, 0x2028U, 0x2029U}) set.add(code);
  set.seal();
  return set;
}

std::optional<CodePointSet> unicode_set(std::string_view expression) {
  const auto equals = expression.find('=');
  if (equals != std::string_view::npos) {
    const auto property = expression.substr(0, equals);
    const auto value = expression.substr(equals + 1);
    if (has_name("General_Category,gc", property)) return category_set(value);
    if (has_name("Script,sc", property)) return script_set(value, false);
    if (has_name("Script_Extensions,scx", property)) return script_set(value, true);
    return std::nullopt;
  }
  CodePointSet set;
  if (expression == "Any") {
    set.add(0, kCodePointMax);
    set.seal();
    return set;
  }
  if (expression == "Assigned") return assigned_set();
  if (auto category = category_set(expression)) return category;
  if (!add_named(set, "", expression)) return std::nullopt;
  set.seal();
  return set;
}

}  // namespace millrace::schema
