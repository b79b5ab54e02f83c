// Active content of a PDF: what runs, opens, sends or hides something.
//
// Two passes: from what readers follow by themselves (the document's and the pages' actions, named
// scripts), and over every dictionary of the file, whoever refers to it. The first decides what
// runs by itself; the second finds the rest.
#pragma once

#include "document/inspect/findings.h"
#include "document/inspect/qpdf.h"

#include <cstdint>
#include <set>

namespace millrace::document {

class PdfActive {
 public:
  PdfActive(QPDF& pdf, Findings& findings) : pdf_(pdf), findings_(findings) {}

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

  QPDF& pdf_;
  Findings& findings_;
  std::set<QPDFObjGen> files_;
};

}  // namespace millrace::document
