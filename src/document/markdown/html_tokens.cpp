#include "document/markdown/html_tokens.h"

#include "document/markdown/html_entities.h"
#include "layout/code_points.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

namespace millrace::document {
namespace {

constexpr std::string_view kXhtml = "http://www.w3.org/1999/xhtml";
constexpr std::size_t kNameMax = 64;  // Longer names of tags are cut: nobody knows them anyway.

bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_white(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool same(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

// Where "</name" begins, in any case.
std::size_t find_end_tag(std::string_view text, std::string_view name) {
  for (auto at = text.find("</"); at != text.npos; at = text.find("</", at + 2)) {
    const auto rest = text.substr(at + 2);
    if (!same(rest.substr(0, name.size()), name)) continue;
    const auto after = rest.substr(std::min(name.size(), rest.size()));
    if (after.empty() || is_white(after[0]) || after[0] == '>' || after[0] == '/') return at;
  }
  return text.npos;
}

bool is_raw(std::string_view name) {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"});
  return std::ranges::find(kNames, name) != kNames.end();
}

// The next attribute of a tag; false at its end.
struct Attribute {
  std::string_view name;
  std::string_view value;
};
bool next_attribute(std::string_view& rest, Attribute& out) {
  while (!rest.empty() && (is_white(rest.front()) || rest.front() == '/')) rest.remove_prefix(1);
  if (rest.empty()) return false;
  std::size_t end = 1;  // An equals sign may begin a name.
  while (end < rest.size() && !is_white(rest[end]) && rest[end] != '=' && rest[end] != '/') ++end;
  out = {.name = rest.substr(0, end), .value = {}};
  rest.remove_prefix(end);
  while (!rest.empty() && is_white(rest.front())) rest.remove_prefix(1);
  if (!rest.starts_with('=')) return true;
  rest.remove_prefix(1);
  while (!rest.empty() && is_white(rest.front())) rest.remove_prefix(1);
  if (rest.empty()) return true;
  const char quote = rest.front();
  if (quote == '"' || quote == '\'') {
    rest.remove_prefix(1);
    const auto close = std::min(rest.find(quote), rest.size());
    out.value = rest.substr(0, close);
    rest.remove_prefix(std::min(close + 1, rest.size()));
    return true;
  }
  end = 0;
  while (end < rest.size() && !is_white(rest[end])) ++end;
  out.value = rest.substr(0, end);
  rest.remove_prefix(end);
  return true;
}

// Where a tag that begins at 0 ends; quotes may hold a '>'. Without an end: the end of the text.
std::size_t tag_end(std::string_view text) {
  char quote = 0;
  bool value = false;  // Right behind an equals sign.
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '>') {
      return at;
    } else if ((c == '"' || c == '\'') && value) {
      quote = c;
    }
    if (quote == 0 && !is_white(c)) value = c == '=';
  }
  return text.size();
}

// Windows' own characters where their codes were used as numbers.
char32_t numeric(std::uint32_t code) {
  static constexpr std::array<char32_t, 32> kWindows = {
      0x20ac, 0x81,   0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
      0x2039, 0x0152, 0x8d,   0x017d, 0x8f,   0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
      0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x9d,   0x017e, 0x0178};
  if (code >= 0x80 && code < 0xa0) return kWindows[code - 0x80];
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (code == 0 || code > 0x10ffff || surrogate) return layout::kReplacement;
  return code;
}

// A reference that begins with '&' at the start; answers how many bytes it has, 0: none.
std::size_t decode_one(std::string_view text, std::string& out) {
  constexpr std::size_t kLongest = 34;
  const auto body = text.substr(1, kLongest);
  if (body.starts_with('#')) {
    const bool hex = body.size() > 1 && (body[1] == 'x' || body[1] == 'X');
    const auto digits = text.substr(hex ? 3 : 2);
    std::uint32_t code = 0;
    const auto read =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, hex ? 16 : 10);
    if (read.ptr == digits.data()) return 0;
    layout::append_utf8(out, read.ec == std::errc() ? numeric(code) : layout::kReplacement);
    const auto used = static_cast<std::size_t>(read.ptr - text.data());
    return used < text.size() && text[used] == ';' ? used + 1 : used;
  }
  std::size_t length = 0;
  while (length < body.size() &&
         (is_alpha(body[length]) || (body[length] >= '0' && body[length] <= '9')))
    ++length;
  const bool closed = length < body.size() && body[length] == ';';
  const auto code = find_entity(body.substr(0, length), closed);
  if (code == 0) return 0;
  layout::append_utf8(out, code);
  return 1 + length + (closed ? 1 : 0);
}

}  // namespace

std::string decode_references(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto at = std::min(text.find('&'), text.size());
    out.append(text.substr(0, at));
    text.remove_prefix(at);
    if (text.empty()) break;
    const auto used = decode_one(text, out);
    if (used == 0) out += '&';
    text.remove_prefix(std::max<std::size_t>(used, 1));
  }
  return out;
}

bool is_void_element(std::string_view name) {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"area", "base", "br", "col", "embed", "hr", "img", "input",
                                       "link", "meta", "param", "source", "track", "wbr"});
  return std::ranges::find(kNames, name) != kNames.end();
}

std::string HtmlToken::attribute(std::string_view wanted) const {
  auto rest = attributes;
  for (Attribute one; next_attribute(rest, one);) {
    if (same(one.name, wanted)) return decode_references(one.value);
  }
  return {};
}

bool HtmlToken::has(std::string_view wanted) const {
  auto rest = attributes;
  for (Attribute one; next_attribute(rest, one);) {
    if (same(one.name, wanted)) return true;
  }
  return false;
}

HtmlTokens::HtmlTokens(std::string_view html) : rest_(html) {
  const auto start = std::ranges::find_if_not(html, is_white) - html.begin();
  is_xml_ = html.substr(static_cast<std::size_t>(start)).starts_with("<?xml");
}

HtmlToken HtmlTokens::text(std::size_t end) {
  HtmlToken token{.kind = HtmlToken::Kind::text, .text = rest_.substr(0, end)};
  rest_.remove_prefix(token.text.size());
  return token;
}

bool HtmlTokens::skip_declaration() {
  if (rest_.starts_with("<!--")) {
    // "<!-->" and "<!--->" are whole comments.
    const auto body = rest_.substr(4);
    std::size_t end = 0;
    if (body.starts_with('>') || body.starts_with("->")) {
      end = body.find('>') + 1;
    } else {
      const auto found = body.find("-->");
      end = found == body.npos ? body.size() : found + 3;
    }
    rest_.remove_prefix(4 + end);
    return true;
  }
  if (rest_.starts_with("<![CDATA[")) {
    rest_.remove_prefix(9);  // Its text is text; its end is dropped by nobody and harms nobody.
    return true;
  }
  const bool declaration = rest_.starts_with("<!") || rest_.starts_with("<?");
  const bool odd_end = rest_.starts_with("</") && (rest_.size() < 3 || !is_alpha(rest_[2]));
  if (!declaration && !odd_end) return false;
  const auto end = rest_.find('>');
  rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + 1);
  return true;
}

HtmlToken HtmlTokens::tag() {
  HtmlToken token{.kind = rest_[1] == '/' ? HtmlToken::Kind::end : HtmlToken::Kind::start};
  auto body = rest_.substr(token.kind == HtmlToken::Kind::end ? 2 : 1);
  const auto end = tag_end(body);
  rest_.remove_prefix(static_cast<std::size_t>(body.data() - rest_.data()) + end);
  if (rest_.empty()) return {};  // A tag without an end is dropped.
  rest_.remove_prefix(1);
  body = body.substr(0, end);
  std::size_t length = 0;
  while (length < body.size() && !is_white(body[length]) && body[length] != '/') ++length;
  token.name = layout::to_lower(body.substr(0, std::min(length, kNameMax)));
  token.attributes = body.substr(length);
  if (token.kind != HtmlToken::Kind::start) return token;
  if (token.name == "html" && token.attribute("xmlns") == kXhtml) is_xml_ = true;
  token.closes_itself = is_xml_ && token.attributes.ends_with('/');
  if (is_raw(token.name) && !token.closes_itself) raw_end_ = token.name;
  return token;
}

HtmlToken HtmlTokens::next() {
  while (!rest_.empty()) {
    if (!raw_end_.empty()) {
      const auto end = std::min(find_end_tag(rest_, raw_end_), rest_.size());
      const bool shown = raw_end_ == "title" || raw_end_ == "textarea" || raw_end_ == "xmp";
      raw_end_.clear();
      auto token = text(end);
      if (!shown || token.text.empty()) continue;
      token.kind = HtmlToken::Kind::raw_text;
      return token;
    }
    if (rest_.front() != '<') return text(std::min(rest_.find('<'), rest_.size()));
    if (skip_declaration()) continue;
    const bool is_tag =
        rest_.size() > 1 && (is_alpha(rest_[1]) || (rest_[1] == '/' && rest_.size() > 2));
    if (!is_tag) return text(std::min(rest_.find('<', 1), rest_.size()));
    return tag();
  }
  return {};
}

}  // namespace millrace::document
