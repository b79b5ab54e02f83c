#include "document/inspect/pdf_digest.h"

#include "document/bounded/refusal.h"
#include "document/inspect/pdf_streams.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

namespace millrace::document {

namespace {

// Raised when pages that differ had the same hash: what was made of them is not found again.
constexpr std::string_view kRevision = "2";
// They cost less than an object of its own.
constexpr std::uint64_t kItemsOfAVisit = 4;
constexpr std::uint64_t kBytesOfAnItem = 64;

bool is_one_of(std::string_view key, std::span<const std::string_view> keys) {
  return std::ranges::find(keys, key) != keys.end();
}

// About an object, not of what it shows, or a way back up. Only where the keys are those of the
// format: what a document names itself, an image or a font, may be called like any of them.
bool is_aside_of_stream(std::string_view key) {
  static constexpr std::string_view kKeys[] = {"/Length",       "/Metadata",     "/PieceInfo",
                                               "/LastModified", "/StructParent", "/StructParents"};
  return is_one_of(key, kKeys);
}

bool is_aside_of_page(std::string_view key) {
  static constexpr std::string_view kKeys[] = {"/Parent",       "/Metadata",      "/PieceInfo",
                                               "/LastModified", "/StructParents", "/Thumb"};
  return is_one_of(key, kKeys);
}

// What it does or is called, and who wrote it.
bool is_aside_of_annotation(std::string_view key) {
  static constexpr std::string_view kKeys[] = {
      "/P",  "/Popup", "/IRT",          "/A",    "/AA", "/Dest", "/NM",          "/M", "/T", "/TU",
      "/TM", "/RC",    "/CreationDate", "/Subj", "/PA", "/Kids", "/StructParent"};
  return is_aside_of_page(key) || is_one_of(key, kKeys);
}

bool is_page(QPDFObjectHandle dictionary) {
  auto type = dictionary.getKey("/Type");
  if (!type.isName()) return false;
  static constexpr std::string_view kTypes[] = {"/Page", "/Pages", "/Template"};
  return is_one_of(type.getName(), kTypes);
}

// In resources, and the states of an annotation: from a name of the document's to what it stands
// for. One key of them may well be /Type.
bool has_names(std::string_view key) {
  static constexpr std::string_view kKeys[] = {
      "/XObject",   "/Font",      "/Properties", "/ColorSpace", "/Pattern", "/Shading",
      "/ExtGState", "/CharProcs", "/Colorants",  "/N",          "/R",       "/D"};
  return is_one_of(key, kKeys);
}

}  // namespace

// Writes one object without what it refers to.
class PdfDigest::OwnDigest {
 public:
  void add(QPDFObjectHandle object, bool names = false) {
    ++items_;
    if (object.isIndirect()) {
      digest_.add("R");
      references_.push_back({object, names});
      return;
    }
    add_content(object, names);
  }

  void add_content(QPDFObjectHandle object, bool names) {
    if (object.isDictionary()) {
      const bool page = !names && is_page(object);
      add_dictionary(object, [&](std::string_view key) { return page && is_aside_of_page(key); });
    } else if (object.isArray()) {
      digest_.add("[");
      for (const auto& item : object.getArrayAsVector()) add(item);
      digest_.add("]");
    } else if (object.isString()) {
      digest_.add("S");
      add_piece(object.getStringValue());
    } else {
      digest_.add("V");
      add_piece(object.unparse());
    }
  }

  void add_stream(QPDFObjectHandle stream) {
    digest_.add("stream");
    add_dictionary(stream.getDict(), is_aside_of_stream);
  }

  void add_member(std::string_view key, QPDFObjectHandle value) {
    add_piece(key);
    add(value, has_names(key));
  }
  void add_piece(std::string_view bytes) {
    items_ += bytes.size() / kBytesOfAnItem;
    digest_.add_piece(bytes);
  }
  void add_bytes(std::string_view bytes) { digest_.add(bytes); }

  // What it costs, as if it were objects.
  std::uint64_t visits() const { return items_ / kItemsOfAVisit; }
  Sha256Value value() { return digest_.value(); }
  std::vector<Reference> references() { return std::move(references_); }

 private:
  void add_dictionary(QPDFObjectHandle dictionary, auto is_aside) {
    digest_.add("<");
    for (const auto& [key, value] : dictionary.getDictAsMap()) {
      if (is_aside(key)) continue;
      digest_.add("K");  // Whatever data follow the end of a dictionary, they are no key of it.
      add_member(key, value);
    }
    digest_.add(">");
  }

  Sha256 digest_;
  std::uint64_t items_ = 0;  // Objects within others, and parts of long texts.
  std::vector<Reference> references_;
};

Result<const PdfDigest::Node*> PdfDigest::node_of(const Reference& reference) {
  auto object = reference.object;
  const Place place(object.getObjGen(), reference.names);
  const auto found = nodes_.find(place);
  if (found != nodes_.end()) return &found->second;
  OwnDigest own;
  if (object.isStream()) {
    own.add_stream(object);
    MR_TRY_VOID(pipe_stream(object, Unpack::no, [&](std::string_view piece) {
      own.add_bytes(piece);
      return ok();
    }));
  } else {
    own.add_content(object, reference.names);
  }
  auto& node = nodes_[place];
  node.own = own.value();
  node.references = own.references();
  return &node;
}

Result<void> PdfDigest::add_annotations(QPDFObjectHandle page, OwnDigest& own) {
  auto annotations = page.getKey("/Annots");
  if (!annotations.isArray()) return ok();
  auto form = pdf_.getRoot().getKey("/AcroForm");
  auto anew = form.isDictionary() ? form.getKey("/NeedAppearances") : form;
  const bool looks_count = !anew.isBool() || !anew.getBoolValue();
  bool looks_are_made = false;
  for (auto annotation : annotations.getArrayAsVector()) {
    if (!annotation.isDictionary()) continue;
    if (++visits_ + own.visits() > limits_.pdf_visits_max) {
      return refuse("pdf_complexity", "too many annotations");
    }
    own.add_piece("annotation");
    for (const auto& [key, value] : annotation.getDictAsMap()) {
      if (!is_aside_of_annotation(key)) own.add_member(key, value);
    }
    const bool has_looks = looks_count && annotation.hasKey("/AP");
    if (!has_looks && annotation.getKey("/Subtype").isNameAndEquals("/Widget")) {
      looks_are_made = true;
    }
    MR_TRY_VOID(add_fields(annotation, !has_looks || !annotation.hasKey("/AS"), own));
  }
  if (!looks_are_made || !form.isDictionary()) return ok();
  // Readers draw such fields themselves, with what the form says for all of them.
  own.add_piece("form");
  for (const auto* key : {"/NeedAppearances", "/DA", "/DR", "/Q"}) {
    own.add_member(key, form.getKey(key));
  }
  return ok();
}

// What a field is stands with its parents when several places show it, and its value does.
Result<void> PdfDigest::add_fields(QPDFObjectHandle annotation, bool by_value, OwnDigest& own) {
  auto parent = annotation.getKey("/Parent");
  for (std::uint32_t depth = 0; parent.isDictionary() && depth < limits_.pdf_tree_depth_max;
       ++depth) {
    if (++visits_ + own.visits() > limits_.pdf_visits_max) {
      return refuse("pdf_complexity", "too many fields");
    }
    own.add_piece("field");
    own.add_member("/FT", parent.getKey("/FT"));
    own.add_member("/Ff", parent.getKey("/Ff"));
    if (by_value) {
      for (const auto* key : {"/V", "/DA", "/Q", "/MaxLen", "/Opt"}) {
        own.add_member(key, parent.getKey(key));
      }
    }
    parent = parent.getKey("/Parent");
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
  // What pages share without a reference is read again for each.
  visits_ += own.visits();
  if (visits_ > limits_.pdf_visits_max) {
    return refuse("pdf_complexity", "the pages have too much in common");
  }

  Sha256 whole;
  whole.add_piece(kRevision);
  const auto value = own.value();
  whole.add({reinterpret_cast<const char*>(value.data()), value.size()});
  std::map<Place, std::uint64_t> order;
  auto open = own.references();
  std::ranges::reverse(open);
  while (!open.empty()) {
    const auto next = open.back();
    open.pop_back();
    const auto [place, is_new] =
        order.emplace(Place(next.object.getObjGen(), next.names), order.size());
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
