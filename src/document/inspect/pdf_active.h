// Active content of a PDF: what runs, opens, sends or hides something.
//
// Two passes: from what readers follow by themselves (the document's and the pages' actions, named
// scripts), and over every dictionary of the file, whoever refers to it. The first decides what
// runs by itself; the second finds the rest.
#pragma once

#include "document/inspect/findings.h"
#include "document/inspect/pdf_names.h"
#include "document/inspect/qpdf.h"

#include <cstdint>
#include <set>
#include <utility>

namespace millrace::document {

class PdfActive {
 public:
  PdfActive(QPDF& pdf, PdfNames& names, Findings& findings)
      : pdf_(pdf), names_(names), findings_(findings) {}

  void check_catalog();
  // One dictionary, and those directly within it.
  void check(QPDFObjectHandle object, std::uint32_t depth = 0);
  // The streams that are files within the document by what refers to them, whatever they say
  // themselves; of what was checked so far.
  const std::set<QPDFObjGen>& files() const { return files_; }

 private:
  enum class Trigger { by_itself, by_hand };

  void check_dictionary(QPDFObjectHandle dictionary);
  void check_additional(QPDFObjectHandle owner, QPDFObjectHandle actions);
  void check_file(QPDFObjectHandle specification);
  void add_files(QPDFObjectHandle value);
  void follow(QPDFObjectHandle action, Trigger trigger);
  void judge(QPDFObjectHandle action, Trigger trigger);
  bool was_looked_at(QPDFObjectHandle object);  // Not when it stands only where it is.

  QPDF& pdf_;
  PdfNames& names_;
  Findings& findings_;
  std::set<QPDFObjGen> files_;
  // Any number of objects may refer to one: it is gone through once.
  std::set<QPDFObjGen> looked_at_;                       // What files are and are called.
  std::set<std::pair<QPDFObjGen, bool>> triggers_seen_;  // Of a whole page or document, or not.
  std::set<std::pair<QPDFObjGen, Trigger>> followed_;
};

}  // namespace millrace::document
