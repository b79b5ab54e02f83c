// Context: where in HTML or CSS a value is printed, and so how it must be escaped.
//
// MarkupState follows the literal text of a template while it is parsed, as a browser would. Every
// {{ … }} asks it for its context; places where no value is safe (names of elements and attributes,
// unquoted values, comments, url() of CSS) are refused there, when the template is loaded. What it
// lets pass as literal text is limited too: elements by an allow-list, no event attributes, no
// address that would be fetched.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace millrace::templates {

enum class ContextKind : std::uint8_t {
  plain,       // Not markup at all: titles, names of files.
  html,        // Text between tags.
  attribute,   // The value of an ordinary attribute.
  link,        // The whole of an address that is shown as a link.
  resource,    // The whole of an address that is loaded: pictures within the data only.
  url_part,    // A piece of an address whose beginning is literal.
  css_value,   // A number, colour or word.
  css_string,  // Within the quotes of a text of CSS.
};

struct Context {
  ContextKind kind = ContextKind::html;
  bool in_attribute = false;  // CSS of a style attribute is an attribute's value, too.

  friend bool operator==(const Context&, const Context&) = default;
};

std::string_view to_string(ContextKind kind);  // "the text of an element", for messages.

// What a state machine has to say about literal text that is not allowed.
struct MarkupProblem {
  std::size_t offset = 0;  // Into the text that was fed.
  std::string message;
};

class CssState {
 public:
  std::expected<void, MarkupProblem> feed(std::string_view text);
  Result<Context> context() const;
  bool at_rest() const { return mode_ == Mode::normal && url_.empty(); }
  void boundary() { word_.clear(); }

  friend bool operator==(const CssState&, const CssState&) = default;

 private:
  enum class Mode : std::uint8_t { normal, comment, string, url };

  std::expected<void, MarkupProblem> feed_normal(std::string_view text, std::size_t& i);
  std::expected<void, MarkupProblem> feed_url(std::string_view text, std::size_t& i);

  Mode mode_ = Mode::normal;
  char quote_ = 0;
  bool escaped_ = false;  // The last letter was a backslash.
  std::string word_;      // The last letters of a word, to know url( and @import.
  std::string url_;       // The beginning of an address.
};

enum class Markup : std::uint8_t { plain, html, css };

class MarkupState {
 public:
  explicit MarkupState(Markup markup) : markup_(markup) {}

  std::expected<void, MarkupProblem> feed(std::string_view text);
  // Called for each value that is printed: from then on an address has begun.
  Result<Context> print();
  // Called where a {% … %} stands: names do not go on behind it.
  std::expected<void, std::string> boundary();
  // Two ways through a template meet; false when they end in different places.
  bool merge(const MarkupState& other);
  // Between tags (or between tokens of CSS): where includes may stand and files may end.
  bool at_rest() const;
  std::string describe() const;  // "within the value of href", for messages.

  friend bool operator==(const MarkupState&, const MarkupState&) = default;

 private:
  enum class Mode : std::uint8_t {
    text,
    tag_open,  // After '<'.
    tag_name,
    end_tag,
    in_tag,
    attribute_name,
    after_name,
    before_value,
    value,
    comment,
  };

  std::expected<void, MarkupProblem> feed_html(std::string_view text);
  std::expected<void, std::string> step(char c);
  std::expected<void, std::string> step_tag(char c);
  std::expected<void, std::string> step_attribute(char c);
  std::expected<void, std::string> step_value(char c);
  std::expected<void, std::string> begin_value();
  std::expected<void, std::string> end_value();
  std::expected<void, std::string> close_name();
  bool holds_address() const {
    return value_kind_ == ContextKind::link || value_kind_ == ContextKind::resource;
  }
  void rest();  // Forgets the tag that has ended.

  Markup markup_;
  Mode mode_ = Mode::text;
  char quote_ = 0;
  std::string element_;
  std::string attribute_;
  ContextKind value_kind_ = ContextKind::attribute;
  std::string value_begin_;  // Of an address, as far as it is literal.
  bool value_printed_ = false;
  bool name_ended_ = false;  // By a {% … %}: a space, '/' or '>' must follow.
  int dashes_ = 0;           // Of the end of a comment.
  CssState css_;             // Of style.css, or of a style attribute.
};

// Whether an address that begins with `text` may be followed, or shown within the page.
bool link_allowed(std::string_view text);
bool resource_allowed(std::string_view text);

}  // namespace millrace::templates
