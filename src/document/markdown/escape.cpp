#include "document/markdown/escape.h"

#include "layout/code_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace millrace::document {
namespace {

constexpr std::size_t kUrlBytesMax = 2'048;
constexpr std::string_view kPunctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

bool is_alnum(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         static_cast<signed char>(c) < 0;
}
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

// Whether this character would mean something here; 0 stands for the edge of the text.
bool is_special(char c, char before, char after) {
  switch (c) {
    case '`':
    case '[':
    case '|':
      return true;
    case '\\':
      return after == 0 || after == '\n' || kPunctuation.find(after) != std::string_view::npos;
    case '*':
      return !((before == 0 || is_blank(before)) && is_blank(after));
    case '_':
      return !(is_alnum(before) && is_alnum(after));
    case '~':
      return before == '~' || after == '~';
    case '<':
      return after == 0 || after == '/' || after == '!' || after == '?' ||
             (after >= 'a' && after <= 'z') || (after >= 'A' && after <= 'Z');
    default:
      return false;
  }
}

// "&amp;", "&#38;".
bool is_reference(std::string_view rest) {
  constexpr std::size_t kNameMax = 32;
  const auto name = rest.substr(1, kNameMax);
  const auto end =
      name.find_first_not_of("#0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
  return end != name.npos && end > 0 && name[end] == ';';
}

bool is_scheme(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (is_alnum(c) && static_cast<signed char>(c) > 0) || c == '+' || c == '-' || c == '.';
  });
}

}  // namespace

void append_escaped(std::string& out, std::string_view text, char next) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f) continue;
    const char before = out.empty() ? '\0' : out.back();
    const char after = at + 1 < text.size() ? text[at + 1] : next;
    const bool special = c == '&' ? is_reference(text.substr(at)) : is_special(c, before, after);
    if (special) out += '\\';
    out += c;
  }
}

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  append_escaped(out, text);
  return out;
}

std::string escaped_line_start(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  if (line.empty()) return {};
  const auto ends = [&](std::size_t at) { return at >= line.size() || is_blank(line[at]); };
  const char first = line.front();
  // Rules, underlines of headings and of tables.
  const bool drawn = line.find_first_not_of("-=+:* ") == std::string_view::npos;
  const bool begins =
      first == '#' || first == '>' || ((first == '-' || first == '+' || first == '*') && ends(1));
  if (begins || drawn) return "\\" + std::string(line);
  const auto digits = line.find_first_not_of("0123456789");
  if (digits > 0 && digits <= 9 && digits < line.size() &&
      (line[digits] == '.' || line[digits] == ')') && ends(digits + 1)) {
    return std::string(line.substr(0, digits)).append("\\").append(line.substr(digits));
  }
  return std::string(line);
}

std::string as_cell(std::string_view inline_markdown) {
  std::string out;
  for (const char c : inline_markdown) {
    if (c == '\n') {
      if (out.ends_with('\\')) out.pop_back();  // A hard break.
      out += "<br>";
    } else {
      out += c;
    }
  }
  return out;
}

std::string page_mark(std::uint32_t page) { return fmt::format("<!-- page {} -->", page); }

std::string without_page_marks(std::string_view text) {
  constexpr std::string_view kOpen = "<!--";
  std::string out;
  out.reserve(text.size());
  for (;;) {
    const auto at = text.find(kOpen);
    if (at == text.npos) break;
    auto rest = text.substr(at + kOpen.size());
    const auto word = std::min(rest.find_first_not_of(" \t\n"), rest.size());
    const bool is_mark = layout::to_lower(rest.substr(word, 4)) == "page";
    out.append(text.substr(0, at)).append(is_mark ? "<! --" : kOpen);
    text = rest;
  }
  return out.append(text);
}

std::string link_target(std::string_view url) {
  while (!url.empty() && static_cast<unsigned char>(url.front()) <= 0x20) url.remove_prefix(1);
  while (!url.empty() && static_cast<unsigned char>(url.back()) <= 0x20) url.remove_suffix(1);
  if (url.empty() || url.front() == '#' || url.size() > kUrlBytesMax) return {};
  const auto colon = url.find_first_of(":/?#");
  if (colon != url.npos && url[colon] == ':') {
    std::string scheme = layout::to_lower(url.substr(0, colon));
    std::erase_if(scheme, [](char c) { return static_cast<unsigned char>(c) <= 0x20; });
    const bool known = scheme == "http" || scheme == "https" || scheme == "mailto" ||
                       scheme == "tel" || scheme == "ftp";
    if (!known || !is_scheme(scheme)) return {};
  }
  std::string out;
  for (const char c : url) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte == 0x7f || std::string_view("()<>\\|`[]*\"").find(c) != url.npos) {
      if (byte != '\n' && byte != '\r' && byte != '\t') out += fmt::format("%{:02X}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

std::string fence_for(std::string_view text, std::size_t least) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return std::string(std::max(least, longest + 1), '`');
}

}  // namespace millrace::document
