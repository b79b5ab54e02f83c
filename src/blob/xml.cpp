#include "blob/xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace millrace::blob {
namespace {

constexpr std::size_t kDepthMax = 16;
constexpr std::size_t kElementsMax = 50'000;
constexpr std::string_view kBlank = " \t\r\n";

std::unexpected<Error> malformed(std::string_view why) {
  return fail(ErrorKind::internal, fmt::format("the answer is not the XML expected: {}", why));
}

void append_utf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

// What stands between & and ;.
bool append_reference(std::string& out, std::string_view name) {
  constexpr std::pair<std::string_view, char> kNamed[] = {
      {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
  for (const auto& [known, character] : kNamed) {
    if (name != known) continue;
    out += character;
    return true;
  }
  if (!name.starts_with('#')) return false;
  name.remove_prefix(1);
  const int base = name.starts_with('x') ? 16 : 10;
  if (base == 16) name.remove_prefix(1);
  std::uint32_t code = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), code, base);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (error != std::errc() || end != name.data() + name.size() || code == 0 || code > 0x10FFFF ||
      surrogate) {
    return false;
  }
  append_utf8(out, code);
  return true;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  Result<XmlElement> document() {
    skip("\xEF\xBB\xBF");
    MR_TRY_VOID(skip_between());
    if (!rest_.starts_with('<')) return malformed("no element");
    MR_TRY(auto root, element(1));
    MR_TRY_VOID(skip_between());
    if (!rest_.empty()) return malformed("text after the root element");
    return root;
  }

 private:
  bool skip(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  Result<void> skip_through(std::string_view end) {
    const auto found = rest_.find(end);
    if (found == std::string_view::npos) return malformed("it ends too early");
    rest_.remove_prefix(found + end.size());
    return ok();
  }

  // Blanks, the declaration and comments outside the root element.
  Result<void> skip_between() {
    for (;;) {
      rest_.remove_prefix(std::min(rest_.find_first_not_of(kBlank), rest_.size()));
      if (skip("<?")) {
        MR_TRY_VOID(skip_through("?>"));
      } else if (skip("<!--")) {
        MR_TRY_VOID(skip_through("-->"));
      } else if (rest_.starts_with("<!")) {
        return malformed("it has a document type");
      } else {
        return ok();
      }
    }
  }

  Result<std::string> name() {
    const auto end = rest_.find_first_of(" \t\r\n/>=<");
    if (end == 0 || end == std::string_view::npos) return malformed("a name is missing");
    auto whole = rest_.substr(0, end);
    rest_.remove_prefix(end);
    const auto colon = whole.find(':');
    if (colon != std::string_view::npos) whole.remove_prefix(colon + 1);
    return std::string(whole);
  }

  // Up to and with the end of a start tag; true when the element ends there too.
  Result<bool> skip_attributes() {
    for (;;) {
      const auto mark = rest_.find_first_of("\"'/>");
      if (mark == std::string_view::npos) return malformed("it ends too early");
      const char found = rest_[mark];
      rest_.remove_prefix(mark + 1);
      if (found == '>') return false;
      if (found == '/') {
        if (!skip(">")) return malformed("a tag is broken");
        return true;
      }
      MR_TRY_VOID(skip_through(std::string_view(&found, 1)));
    }
  }

  Result<XmlElement> element(std::size_t depth) {
    if (depth > kDepthMax) return malformed("it is nested too deep");
    if (++elements_ > kElementsMax) return malformed("it has too many elements");
    if (!skip("<")) return malformed("an element is missing");
    XmlElement self;
    MR_TRY(self.name, name());
    MR_TRY(const bool closed, skip_attributes());
    if (!closed) MR_TRY_VOID(content(self, depth));
    return self;
  }

  Result<void> content(XmlElement& self, std::size_t depth) {
    for (;;) {
      MR_TRY_VOID(characters(self.text));
      if (skip("</")) {
        MR_TRY(const auto end, name());
        rest_.remove_prefix(std::min(rest_.find_first_not_of(kBlank), rest_.size()));
        if (end != self.name || !skip(">")) return malformed("an end tag does not fit");
        return ok();
      }
      if (skip("<!--")) {
        MR_TRY_VOID(skip_through("-->"));
      } else if (skip("<![CDATA[")) {
        const auto end = std::min(rest_.find("]]>"), rest_.size());
        self.text += rest_.substr(0, end);
        MR_TRY_VOID(skip_through("]]>"));
      } else {
        MR_TRY(auto child, element(depth + 1));
        self.children.push_back(std::move(child));
      }
    }
  }

  Result<void> characters(std::string& out) {
    for (;;) {
      const auto mark = rest_.find_first_of("<&");
      if (mark == std::string_view::npos) return malformed("it ends too early");
      out += rest_.substr(0, mark);
      rest_.remove_prefix(mark);
      if (rest_[0] == '<') return ok();
      const auto end = rest_.substr(0, 12).find(';');
      if (end == std::string_view::npos || !append_reference(out, rest_.substr(1, end - 1))) {
        return malformed("a reference is not known");
      }
      rest_.remove_prefix(end + 1);
    }
  }

  std::string_view rest_;
  std::size_t elements_ = 0;
};

}  // namespace

const XmlElement* XmlElement::child(std::string_view child_name) const {
  const auto found = std::ranges::find(children, child_name, &XmlElement::name);
  return found == children.end() ? nullptr : &*found;
}

std::string_view XmlElement::value(std::string_view child_name) const {
  const auto* found = child(child_name);
  return found == nullptr ? std::string_view() : std::string_view(found->text);
}

Result<XmlElement> parse_xml(std::string_view text) { return Parser(text).document(); }

std::string xml_escape(std::string_view text) {
  std::string out;
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
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace millrace::blob
