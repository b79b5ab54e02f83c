#include "output/xml_text.h"

#include "layout/code_points.h"

namespace millrace::output {
namespace {

bool is_xml_char(char32_t code) {
  if (code < 0x20) return code == '\t' || code == '\n' || code == '\r';
  if (code < 0xd800) return true;
  return (code >= 0xe000 && code < 0xfffe) || (code >= 0x10000 && code <= 0x10ffff);
}

// What a parser would change or take for markup. Line ends and tabs too: in an attribute they would
// come back as spaces.
std::string_view escaped(char32_t code) {
  switch (code) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    case '\t':
      return "&#9;";
    case '\n':
      return "&#10;";
    case '\r':
      return "&#13;";
    default:
      return {};
  }
}

}  // namespace

void append_xml(std::string& out, std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto next = layout::decode_at(text, i);
    const auto name = escaped(next.code);
    if (!next.valid || !is_xml_char(next.code)) {
      layout::append_utf8(out, layout::kReplacement);
    } else if (!name.empty()) {
      out += name;
    } else {
      out += text.substr(i, next.bytes);
    }
    i += next.bytes;
  }
}

std::string xml_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  append_xml(out, text);
  return out;
}

void append_attribute(std::string& out, std::string_view name, std::string_view text) {
  out += ' ';
  out += name;
  out += "=\"";
  append_xml(out, text);
  out += '"';
}

}  // namespace millrace::output
