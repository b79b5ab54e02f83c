// PdfDigest: one hash per page over everything that the page shows.
//
// Content streams, resources and what they refer to, boxes, rotation, appearances of annotations.
// Objects are hashed once, with places for their references; a page's hash joins the objects that
// it reaches in the order in which it reaches them. So numbers of objects do not matter, a
// rewritten file has the same hashes, circles end, and a font that 300 pages share is read once.
#pragma once

#include "base/result.h"
#include "document/bounded/sha256.h"
#include "document/inspect/pdf_pages.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace millrace::document {

class PdfDigest {
 public:
  PdfDigest(QPDF& pdf, const Limits& limits) : pdf_(pdf), limits_(limits) {}

  // Refusal: pdf_complexity.
  Result<std::string> digest(const PdfPage& page);

 private:
  class OwnDigest;
  struct Reference {
    QPDFObjectHandle object;
    bool names = false;  // A dictionary whose keys the document chooses, if it is one.
  };
  using Place = std::pair<QPDFObjGen, bool>;  // The object, and `names`.
  struct Node {
    Sha256Value own = {};
    std::vector<Reference> references = {};
  };

  Result<const Node*> node_of(const Reference& reference);
  Result<void> add_annotations(QPDFObjectHandle page, OwnDigest& own);
  Result<void> add_fields(QPDFObjectHandle annotation, bool by_value, OwnDigest& own);

  QPDF& pdf_;
  const Limits& limits_;
  std::map<Place, Node> nodes_;
  std::uint64_t visits_ = 0;
};

}  // namespace millrace::document
