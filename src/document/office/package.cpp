#include "document/office/package.h"

#include "layout/code_points.h"

#include <algorithm>

namespace millrace::document {

namespace {

// "word/document.xml" and "../media/a.png" → "media/a.png". A leading slash means the root.
std::string resolve(std::string_view part, std::string_view target) {
  std::string path;
  if (target.starts_with('/')) {
    target.remove_prefix(1);
  } else {
    const auto slash = part.rfind('/');
    if (slash != part.npos) path = part.substr(0, slash + 1);
  }
  while (target.starts_with("../") && !path.empty()) {
    target.remove_prefix(3);
    path.pop_back();
    const auto slash = path.rfind('/');
    path.resize(slash == path.npos ? 0 : slash + 1);
  }
  return path.append(target);
}

bool is_picture(std::string_view part) {
  static constexpr std::string_view kExtensions[] = {
      "png", "jpg", "jpeg", "jpe", "jfif", "jp2", "gif", "bmp", "dib", "tif", "tiff", "webp",
      "wdp", "jxr", "heic", "emf", "wmf",  "emz", "wmz", "svm", "svg", "eps", "pct",  "pict"};
  const auto name = layout::to_lower(part);
  if (name.find("thumbnail") != name.npos) return false;
  const auto dot = name.rfind('.');
  return dot != name.npos &&
         std::ranges::find(kExtensions, std::string_view(name).substr(dot + 1)) !=
             std::end(kExtensions);
}

struct RelationshipHandler final : XmlHandler {
  explicit RelationshipHandler(std::string_view of) : part(of) {}

  void start(std::string_view name, const XmlAttributes& attributes) override {
    if (name != "Relationship" || attributes.get("TargetMode") == "External") return;
    targets.emplace(attributes.get("Id"), resolve(part, attributes.get("Target")));
  }
  void end(std::string_view) override {}
  void text(std::string_view) override {}

  std::string_view part;
  std::map<std::string, std::string, std::less<>> targets;
};

}  // namespace

std::uint64_t count_pictures(const ZipFile& zip) {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      zip.entries(), [](const ZipEntry& entry) { return is_picture(entry.name); }));
}

Result<Package> Package::open(std::string_view bytes, const Limits& limits) {
  MR_TRY(auto zip, ZipFile::open(bytes, limits));
  return Package(std::move(zip), limits);
}

Result<void> Package::read(std::string_view part, XmlHandler& handler) {
  const auto* entry = zip_.find(part);
  if (entry == nullptr) return ok();
  XmlReader reader(handler, limits_);
  MR_TRY_VOID(
      zip_.read(*entry, unpacked_, [&](std::string_view piece) { return reader.feed(piece); }));
  return reader.finish();
}

Result<std::map<std::string, std::string, std::less<>>> relationships_of(Package& package,
                                                                         std::string_view part) {
  const auto slash = part.rfind('/');
  const auto folder = slash == part.npos ? std::string_view() : part.substr(0, slash + 1);
  const auto file = slash == part.npos ? part : part.substr(slash + 1);
  RelationshipHandler handler(part);
  MR_TRY_VOID(package.read(std::string(folder) + "_rels/" + std::string(file) + ".rels", handler));
  return std::move(handler.targets);
}

}  // namespace millrace::document
