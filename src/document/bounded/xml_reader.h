// XmlReader: expat for strangers' XML. No document type, so no entities; bounded depth and tokens.
//
// Names come without their prefix: w:p and text:p are both "p", which is what readers of office
// files need, whatever prefixes a writer chose. Feed pieces as they are unpacked.
//
// The handler outlives the reader; handlers must not throw.
#pragma once

#include "base/result.h"
#include "document/bounded/limits.h"

#include <cstdint>
#include <memory>
#include <string_view>

namespace millrace::document {

// The attributes of one element, valid while start() runs.
class XmlAttributes {
 public:
  explicit XmlAttributes(const char** list) : list_(list) {}
  // By name without prefix; nothing becomes an empty text. The first of several.
  std::string_view get(std::string_view name) const;
  // All of them, with their prefixes: use(name, value).
  template <class Use>
  void each(Use use) const {
    for (auto** item = list_; item[0] != nullptr; item += 2) {
      use(std::string_view(item[0]), std::string_view(item[1]));
    }
  }

 private:
  const char** list_;
};

class XmlHandler {
 public:
  virtual ~XmlHandler() = default;
  virtual void start(std::string_view name, const XmlAttributes& attributes) = 0;
  virtual void end(std::string_view name) = 0;
  virtual void text(std::string_view text) = 0;
  // Checked after every piece: an error ends the reading.
  virtual Result<void> state() { return {}; }
};

class XmlReader {
 public:
  XmlReader(XmlHandler& handler, const Limits& limits);
  ~XmlReader();

  // Refusals: xml_dtd, xml_depth, xml_token, xml_elements, xml_syntax.
  Result<void> feed(std::string_view piece);
  Result<void> finish();

 private:
  struct State;
  Result<void> parse(std::string_view piece, bool last);

  std::unique_ptr<State> state_;
};

}  // namespace millrace::document
