// HiddenText: takes the text that nobody can see (rendering mode 3) out of pages.
//
// A scan that somebody has recognised before brings such words. Where the page was read here, both
// would be found: theirs and ours. Whatever can be seen stays where it is. Pages share forms, and
// others may still need them: what changes is a new object, and its bytes are made when they are
// written.
#pragma once

#include "document/write/pdf_writer.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <qpdf/QPDFPageObjectHelper.hh>
#include <utility>

namespace millrace::document {

// How the text of some content is shown where it says nothing itself.
struct TextLook {
  bool hidden = false;
  bool always_seen = false;  // Whatever the mode is.
};

class HiddenText {
 public:
  HiddenText(QPDF& pdf, std::shared_ptr<LateStreams> streams)
      : pdf_(pdf), streams_(std::move(streams)) {}

  // A page that cannot be taken apart stays as it is.
  void remove_from(QPDFPageObjectHelper& page);

 private:
  using Replaced = std::map<std::string, QPDFObjectHandle>;  // By name of the resource.
  using Forms = std::map<std::string, bool>;  // Those drawn; true: never where text can be seen.

  Replaced replaced_forms(QPDFObjectHandle resources, const Forms& forms, std::uint32_t depth);
  // Nothing where it may stay.
  std::optional<QPDFObjectHandle> replaced(QPDFObjectHandle form, bool hidden, std::uint32_t depth);
  QPDFObjectHandle late_stream(QPDFObjectHandle contents, TextLook look);

  QPDF& pdf_;
  std::shared_ptr<LateStreams> streams_;  // Shared with the streams themselves.
  // Forms by how they are drawn; nothing: the form stays, or is being looked at.
  std::map<std::pair<QPDFObjGen, bool>, std::optional<QPDFObjectHandle>> known_;
};

}  // namespace millrace::document
