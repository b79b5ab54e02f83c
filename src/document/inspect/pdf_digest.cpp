#include "document/inspect/pdf_digest.h"

#include "document/bounded/refusal.h"
#include "document/inspect/pdf_streams.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace millrace::document {

namespace {

// About an object, not of what it shows, or a way back up.
bool is_aside(std::string_view key) {
  static constexpr std::string_view kKeys[] = {"/Parent",       "/Metadata",     "/PieceInfo",
                                               "/LastModified", "/StructParent", "/StructParents",
                                               "/Length",       "/Thumb"};
  return std::ranges::find(kKeys, key) != std::end(kKeys);
}

// Of an annotation: what it does or is called, and who wrote it.
bool is_aside_of_annotation(std::string_view key) {
  static constexpr std::string_view kKeys[] = {
      "/P", "/Popup", "/IRT", "/A",  "/AA",           "/Dest", "/NM", "/M",
      "/T", "/TU",    "/TM",  "/RC", "/CreationDate", "/Subj", "/PA", "/Kids"};
  return is_aside(key) || std::ranges::find(kKeys, key) != std::end(kKeys);
}

}  // namespace

// Writes one object without what it refers to.
class OwnDigest {
 public:
  void add(QPDFObjectHandle object) {
    if (object.isIndirect()) {
      digest_.add("R");
      references_.push_back(object);
      return;
    }
    add_content(object);
  }

  void add_content(QPDFObjectHandle object) {
    if (object.isDictionary()) {
      digest_.add("<");
      for (const auto& [key, value] : object.getDictAsMap()) {
        if (!is_aside(key)) add_member(key, value);
      }
      digest_.add(">");
    } else if (object.isArray()) {
      digest_.add("[");
      for (const auto& item : object.getArrayAsVector()) add(item);
      digest_.add("]");
    } else if (object.isString()) {
      digest_.add("S");
      digest_.add_piece(object.getStringValue());
    } else {
      digest_.add("V");
      digest_.add_piece(object.unparse());
    }
  }

  void add_member(std::string_view key, QPDFObjectHandle value) {
    digest_.add_piece(key);
    add(value);
  }
  void add_piece(std::string_view bytes) { digest_.add_piece(bytes); }
  void add_bytes(std::string_view bytes) { digest_.add(bytes); }

  Sha256Value value() { return digest_.value(); }
  std::vector<QPDFObjectHandle> references() { return std::move(references_); }

 private:
  Sha256 digest_;
  std::vector<QPDFObjectHandle> references_;
};

Result<const PdfDigest::Node*> PdfDigest::node_of(QPDFObjectHandle object) {
  const auto id = object.getObjGen();
  const auto found = nodes_.find(id);
  if (found != nodes_.end()) return &found->second;
  OwnDigest own;
  if (object.isStream()) {
    own.add_bytes("stream");
    own.add_content(object.getDict());
    MR_TRY_VOID(pipe_stream(object, Unpack::no, [&](std::string_view piece) {
      own.add_bytes(piece);
      return ok();
    }));
  } else {
    own.add_content(object);
  }
  auto& node = nodes_[id];
  node.own = own.value();
  node.references = own.references();
  return &node;
}

Result<void> PdfDigest::add_annotations(QPDFObjectHandle page, OwnDigest& own) {
  auto annotations = page.getKey("/Annots");
  if (!annotations.isArray()) return ok();
  for (auto annotation : annotations.getArrayAsVector()) {
    if (!annotation.isDictionary()) continue;
    if (++visits_ > limits_.pdf_visits_max) return refuse("pdf_complexity", "too many annotations");
    own.add_piece("annotation");
    for (const auto& [key, value] : annotation.getDictAsMap()) {
      if (!is_aside_of_annotation(key)) own.add_member(key, value);
    }
    // What a field is stands with its parent when several places show it, and its value does.
    auto parent = annotation.getKey("/Parent");
    if (!parent.isDictionary()) continue;
    own.add_member("/FT", parent.getKey("/FT"));
    own.add_member("/Ff", parent.getKey("/Ff"));
    if (!annotation.hasKey("/AP") || !annotation.hasKey("/AS")) {
      own.add_member("/V", parent.getKey("/V"));
    }
  }
  return ok();
}

Result<std::string> PdfDigest::digest(const PdfPage& page) {
  OwnDigest own;
  own.add_piece(fmt::format("{} {} {} {} {} {}", page.left, page.bottom, page.width_pt,
                            page.height_pt, page.user_unit, page.rotation_deg));
  auto object = page.object;
  own.add_member("/Contents", object.getKey("/Contents"));
  own.add_member("/Resources", page.resources);
  own.add_member("/Group", object.getKey("/Group"));
  MR_TRY_VOID(add_annotations(object, own));
  // Which layers are shown is said once, for all pages.
  own.add_member("/OCProperties", pdf_.getRoot().getKey("/OCProperties"));

  Sha256 whole;
  const auto value = own.value();
  whole.add({reinterpret_cast<const char*>(value.data()), value.size()});
  std::map<QPDFObjGen, std::uint64_t> order;
  auto open = own.references();
  std::ranges::reverse(open);
  while (!open.empty()) {
    const auto next = open.back();
    open.pop_back();
    const auto [place, is_new] = order.emplace(next.getObjGen(), order.size());
    whole.add_number(place->second);
    if (!is_new) continue;
    if (++visits_ > limits_.pdf_visits_max) {
      return refuse("pdf_complexity", "the pages share too many objects with each other");
    }
    MR_TRY(const auto* node, node_of(next));
    whole.add({reinterpret_cast<const char*>(node->own.data()), node->own.size()});
    visits_ += node->references.size();
    open.insert(open.end(), node->references.rbegin(), node->references.rend());
  }
  return whole.hex();
}

}  // namespace millrace::document
