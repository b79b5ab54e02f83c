// The XML that object stores answer with: elements and text, nothing else.
//
// Attributes are skipped, comments too; a document type is refused, so that nothing can be defined
// and blown up. 16 levels and 50 000 elements at most.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace millrace::blob {

struct XmlElement {
  std::string name;  // Without a namespace prefix.
  std::string text;  // Its own, with references resolved.
  std::vector<XmlElement> children;

  const XmlElement* child(std::string_view child_name) const;  // The first; null if there is none.
  // The text of a child, empty if there is none.
  std::string_view value(std::string_view child_name) const;
};

// The root element; internal, because a store sent it, when it is malformed.
Result<XmlElement> parse_xml(std::string_view text);

// `text` as the text of an element.
std::string xml_escape(std::string_view text);

}  // namespace millrace::blob
