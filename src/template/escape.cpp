#include "template/escape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

namespace millrace::templates {
namespace {

bool is_control(unsigned char c) { return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f; }
bool is_alnum(unsigned char c) { return c < 0x80 && std::isalnum(c) != 0; }

void percent(unsigned char c, std::string& out) {
  fmt::format_to(std::back_inserter(out), "%{:02X}", c);
}

// Blanks around an address mean nothing, and browsers pass over control characters within: a
// scheme must not hide behind them.
std::string tidy_address(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) continue;
    out += c;
  }
  const auto begin = out.find_first_not_of(' ');
  if (begin == std::string::npos) return {};
  return out.substr(begin, out.find_last_not_of(' ') - begin + 1);
}

// What an address cannot hold is encoded, what it may hold stays, '%' included.
void append_address(std::string_view text, std::string& out) {
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_alnum(byte) || std::string_view("-._~:/?#[]@!$&()*+,;=%").contains(c)) {
      encoded += c;
    } else {
      percent(byte, encoded);
    }
  }
  escape_html(encoded, out);
}

void append_address_part(std::string_view text, std::string& out) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_alnum(byte) || std::string_view("-._~/@+").contains(c)) {
      out += c;
    } else if (!is_control(byte)) {
      percent(byte, out);
    }
  }
}

bool is_css_value(std::string_view text) {
  constexpr std::size_t kLettersMax = 128;
  return text.size() <= kLettersMax && std::ranges::all_of(text, [](char c) {
           return is_alnum(static_cast<unsigned char>(c)) ||
                  std::string_view("#%.,+- ").contains(c);
         });
}

void append_css_string(std::string_view text, std::string& out) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || is_alnum(byte) || std::string_view(" .,-_:").contains(c)) {
      out += c;
    } else if (c == '\n' || c == '\t') {
      out += ' ';
    } else if (!is_control(byte)) {
      // The blank ends the number, and is no part of the text.
      fmt::format_to(std::back_inserter(out), "\\{:x} ", byte);
    }
  }
}

}  // namespace

void escape_html(std::string_view text, std::string& out) {
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      case '`':
        out += "&#96;";
        break;
      default:
        if (!is_control(static_cast<unsigned char>(c))) out += c;
    }
  }
}

std::string escaped_html(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  escape_html(text, out);
  return out;
}

bool print_text(std::string_view text, Context context, std::string& out) {
  switch (context.kind) {
    case ContextKind::plain:
      std::ranges::copy_if(text, std::back_inserter(out),
                           [](char c) { return !is_control(static_cast<unsigned char>(c)); });
      return true;
    case ContextKind::html:
    case ContextKind::attribute:
      escape_html(text, out);
      return true;
    case ContextKind::link:
    case ContextKind::resource: {
      const auto address = tidy_address(text);
      if (address.empty()) return true;
      const bool is_link = context.kind == ContextKind::link;
      if (is_link ? link_allowed(address) : resource_allowed(address)) {
        append_address(address, out);
        return true;
      }
      if (is_link) out += '#';
      return false;
    }
    case ContextKind::url_part:
      append_address_part(text, out);
      return true;
    case ContextKind::css_value:
      if (!is_css_value(text)) return false;
      out += text;
      return true;
    case ContextKind::css_string:
      append_css_string(text, out);
      return true;
  }
  return false;
}

std::string_view first_letters(std::string_view text, std::size_t letters) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U) continue;
    if (letters == 0) return text.substr(0, i);
    --letters;
  }
  return text;
}

}  // namespace millrace::templates
