// Signatures: byte patterns of known evil, looked for in everything that is unpacked.
//
// No virus scanner (clamd is one, elsewhere): the test file that every scanner knows, and programs
// that hide in documents. Add a pattern to the table in the source; each has a rule of its own.
#pragma once

#include "document/inspect/findings.h"

#include <string>
#include <string_view>

namespace millrace::document {

// Where the bytes come from decides what is suspicious.
enum class SignaturePlace {
  document,  // The file itself, or a stream that is part of it.
  embedded,  // A whole file within a document: its beginning says what it is.
};

// Looks at pieces of one stream as they come; patterns may lie across pieces.
class SignatureScan {
 public:
  SignatureScan(Findings& findings, SignaturePlace place) : findings_(findings), place_(place) {}

  void add(std::string_view piece);

 private:
  void look(std::string_view bytes);

  Findings& findings_;
  SignaturePlace place_;
  bool begun_ = false;
  std::string tail_;  // The end of the last piece.
};

void scan_signatures(std::string_view bytes, SignaturePlace place, Findings& findings);

// Names of files that are programs: "setup.exe", "run.js".
bool is_program_name(std::string_view name);

}  // namespace millrace::document
