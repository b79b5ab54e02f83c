#include "document/office/package.h"

#include "document/office/list_marker.h"
#include "layout/code_points.h"

#include <algorithm>

namespace millrace::document {

namespace {

// "word/document.xml" → "word/".
std::string_view folder_of(std::string_view part) {
  const auto slash = part.rfind('/');
  return slash == part.npos ? std::string_view() : part.substr(0, slash + 1);
}

// "word/document.xml" and "../media/a.png" → "media/a.png". A leading slash means the root, above
// which there is nothing.
std::string resolve(std::string_view part, std::string_view target) {
  std::string path(target.starts_with('/') ? std::string_view() : folder_of(part));
  while (!target.empty()) {
    const auto end = std::min(target.find('/'), target.size());
    const auto step = target.substr(0, end);
    target.remove_prefix(std::min(end + 1, target.size()));
    if (step == "..") {
      if (!path.empty()) path.pop_back();
      path.resize(folder_of(path).size());
    } else if (!step.empty() && step != ".") {
      path += step;
      if (!target.empty()) path += '/';
    }
  }
  return path;
}

bool is_picture(std::string_view part) {
  static constexpr std::string_view kExtensions[] = {
      "png", "jpg", "jpeg", "jpe", "jfif", "jp2", "gif", "bmp", "dib", "tif", "tiff", "webp",
      "wdp", "jxr", "heic", "emf", "wmf",  "emz", "wmz", "svm", "svg", "eps", "pct",  "pict"};
  const auto name = layout::to_lower(part);
  // Of the file itself, for folders.
  if (name.starts_with("docprops/thumbnail") || name.starts_with("thumbnails/")) return false;
  const auto dot = name.rfind('.');
  return dot != name.npos &&
         std::ranges::find(kExtensions, std::string_view(name).substr(dot + 1)) !=
             std::end(kExtensions);
}

struct RelationshipHandler final : XmlHandler {
  RelationshipHandler(std::string_view of, const Limits& limits) : found(of, limits) {}

  void start(std::string_view name, const XmlAttributes& attributes) override {
    if (name == "Relationship") found.add(attributes);
  }
  void end(std::string_view) override {}
  void text(std::string_view) override {}

  Relationships found;
};

}  // namespace

std::uint64_t count_pictures(const ZipFile& zip) {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      zip.entries(), [](const ZipEntry& entry) { return is_picture(entry.name); }));
}

bool is_xml_part(std::string_view part) {
  const auto name = layout::to_lower(part);
  const bool xml = name.ends_with(".xml") || name.ends_with(".rels") || name.ends_with(".vml") ||
                   name.ends_with(".rdf");
  return xml && name.find("embeddings/") == name.npos;
}

Result<Package> Package::open(std::string_view bytes, const Limits& limits) {
  MR_TRY(auto zip, ZipFile::open(bytes, limits));
  return Package(std::move(zip), limits);
}

const ZipEntry* Package::find(std::string_view part) const {
  return is_xml_part(part) ? zip_.find(part) : nullptr;
}

Result<void> Package::read(std::string_view part, XmlHandler& handler) {
  const auto* entry = find(part);
  if (entry == nullptr) return ok();
  XmlReader reader(handler, limits_);
  MR_TRY_VOID(
      zip_.read(*entry, unpacked_, [&](std::string_view piece) { return reader.feed(piece); }));
  return reader.finish();
}

void Relationships::add(const XmlAttributes& attributes) {
  if (attributes.get("TargetMode") == "External" || links_.size() >= kLinksMax) return;
  auto target = resolve(part_, attributes.get("Target"));
  if (target.size() > target_bytes_max_) return;
  target.shrink_to_fit();  // Steps back may have left much room.
  const auto type = attributes.get("Type");
  const auto id = short_id(attributes.get("Id"));
  if (!id.empty()) by_id_.emplace(id, links_.size());
  links_.push_back({.kind = std::string(short_id(type.substr(type.rfind('/') + 1))),
                    .target = std::move(target)});
}

const std::string* Relationships::target(std::string_view id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &links_[found->second].target;
}

std::string Relationships::first(const Package& package, std::string_view kind,
                                 std::string_view usual) const {
  for (const auto& link : links_) {
    if (link.kind == kind && package.has(link.target)) return link.target;
  }
  return resolve(part_, usual);
}

Result<Relationships> relationships_of(Package& package, std::string_view part) {
  const auto folder = folder_of(part);
  RelationshipHandler handler(part, package.limits());
  MR_TRY_VOID(package.read(
      std::string(folder) + "_rels/" + std::string(part.substr(folder.size())) + ".rels", handler));
  return std::move(handler.found);
}

std::string main_part_of(Package& package, std::string_view usual) {
  // What cannot be read says nothing; a budget that is used up ends the next reading as well.
  const auto links = relationships_of(package, {});
  return links.has_value() ? links->first(package, "officeDocument", usual) : std::string(usual);
}

void RelationshipIds::note(const XmlAttributes& attributes) {
  constexpr std::string_view kDeclares = "xmlns:";
  constexpr std::string_view kNamespace = "officeDocument/relationships";
  constexpr std::string_view kTransitional =
      "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
  constexpr std::size_t kPrefixesMax = 16;
  attributes.each([&](std::string_view name, std::string_view value) {
    if (!name.starts_with(kDeclares) || prefixes_.size() >= kPrefixesMax) return;
    if (value != kTransitional && !value.ends_with(kNamespace)) return;
    const auto prefix = short_id(name.substr(kDeclares.size()));
    if (!prefix.empty()) prefixes_.emplace_back(prefix);
  });
}

std::string_view RelationshipIds::id(const XmlAttributes& attributes) const {
  std::string_view other;
  std::string_view found;
  attributes.each([&](std::string_view name, std::string_view value) {
    const auto colon = name.find(':');
    if (colon == name.npos || name.substr(colon + 1) != "id") return;
    const bool declared = std::ranges::find(prefixes_, name.substr(0, colon)) != prefixes_.end();
    auto& place = declared ? found : other;
    if (place.empty()) place = value;
  });
  // Declared somewhere in between: no other attribute of that name has a prefix.
  return found.empty() ? other : found;
}

}  // namespace millrace::document
