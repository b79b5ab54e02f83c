// HtmlTokens: HTML cut into tags and texts, however broken it is. No tree.
//
// Every byte is looked at a bounded number of times: what never ends (a comment, a tag, a script)
// ends with the document. Tokens are views into the text, which must outlive them. Text comes as
// it is written; decode_references() makes characters of it.
#pragma once

#include <string>
#include <string_view>

namespace millrace::document {

struct HtmlToken {
  enum class Kind { end_of_text, text, raw_text, start, end };

  Kind kind = Kind::end_of_text;
  std::string_view text = {};        // Of texts. Raw: inside <title> or <textarea>.
  std::string name = {};             // Of tags, in lower case.
  std::string_view attributes = {};  // As written.
  bool closes_itself = false;        // "<title/>": only XHTML means that.

  // The value of an attribute, decoded; nothing and an empty one are the same.
  std::string attribute(std::string_view wanted) const;
  bool has(std::string_view wanted) const;
};

class HtmlTokens {
 public:
  explicit HtmlTokens(std::string_view html);
  HtmlToken next();

 private:
  bool skip_declaration();  // Comments, doctypes, processing instructions, CDATA.
  HtmlToken tag();
  HtmlToken text(std::size_t end);

  std::string_view rest_;
  bool is_xml_ = false;  // By a declaration at the start, or the namespace of <html>.
  std::string raw_end_;  // The element whose content is no HTML, while inside.
};

// Named and numeric references as characters; unknown names stay as they are.
std::string decode_references(std::string_view text);
// What an element's name means to HTML: no end tag, no content.
bool is_void_element(std::string_view name);

}  // namespace millrace::document
