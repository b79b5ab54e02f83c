// PdfNames: the names that objects have as values, without paying for one more than once.
//
// Any number of objects may refer to one name of megabytes, and qpdf copies it for whoever looks.
// Names of the format are short: a long one is none of them, and remembered as that.
#pragma once

#include "document/inspect/qpdf.h"

#include <set>
#include <string>

namespace millrace::document {

class PdfNames {
 public:
  // "/Page"; nothing when it is no name, or longer than any of the format.
  std::string of(QPDFObjectHandle value) {
    constexpr std::size_t kBytesMax = 128;
    if (!value.isName() || (value.isIndirect() && long_.contains(value.getObjGen()))) return {};
    auto name = value.getName();
    if (name.size() <= kBytesMax) return name;
    if (value.isIndirect()) long_.insert(value.getObjGen());
    return {};
  }

 private:
  std::set<QPDFObjGen> long_;
};

}  // namespace millrace::document
