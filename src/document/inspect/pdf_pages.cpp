#include "document/inspect/pdf_pages.h"

#include "document/bounded/refusal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

namespace millrace::document {

namespace {

std::optional<PdfBox> rectangle_of(QPDFObjectHandle value) {
  if (!value.isArray() || value.getArrayNItems() != 4) return std::nullopt;
  double numbers[4];
  for (int i = 0; i < 4; ++i) {
    auto item = value.getArrayItem(i);
    if (!item.isNumber()) return std::nullopt;
    numbers[i] = item.getNumericValue();
    if (!std::isfinite(numbers[i])) return std::nullopt;
  }
  const PdfBox box{.x0 = std::min(numbers[0], numbers[2]),
                   .y0 = std::min(numbers[1], numbers[3]),
                   .x1 = std::max(numbers[0], numbers[2]),
                   .y1 = std::max(numbers[1], numbers[3])};
  if (box.x1 - box.x0 <= 0 || box.y1 - box.y0 <= 0) return std::nullopt;
  return box;
}

struct Inherited {
  QPDFObjectHandle media_box = QPDFObjectHandle::newNull();
  QPDFObjectHandle crop_box = QPDFObjectHandle::newNull();
  QPDFObjectHandle rotate = QPDFObjectHandle::newNull();
  QPDFObjectHandle resources = QPDFObjectHandle::newNull();

  void take(QPDFObjectHandle node) {
    const auto one = [&](QPDFObjectHandle& value, const char* key) {
      auto own = node.getKey(key);
      if (!own.isNull()) value = own;
    };
    one(media_box, "/MediaBox");
    one(crop_box, "/CropBox");
    one(rotate, "/Rotate");
    one(resources, "/Resources");
  }
};

struct Node {
  QPDFObjectHandle object;
  Inherited inherited;
  std::uint32_t depth = 0;
};

int rotation_of(QPDFObjectHandle rotate) {
  if (!rotate.isInteger()) return 0;
  const auto degrees = rotate.getIntValue() % 360;
  return degrees % 90 == 0 ? static_cast<int>((degrees + 360) % 360) : 0;
}

class PageWalk {
 public:
  PageWalk(QPDF& pdf, Findings& findings, const Limits& limits)
      : pdf_(pdf), findings_(findings), limits_(limits) {}

  Result<std::vector<PdfPage>> walk() {
    auto root = pdf_.getRoot().getKey("/Pages");
    if (!root.isDictionary()) return refuse("no_pages", "the document has no pages");
    stack_.push_back({.object = root});
    while (!stack_.empty()) {
      auto node = std::move(stack_.back());
      stack_.pop_back();
      MR_TRY_VOID(visit(std::move(node)));
    }
    if (pages_.empty()) return refuse("no_pages", "the document has no pages");
    MR_TRY_VOID(check_declared(root.getKey("/Count")));
    return std::move(pages_);
  }

 private:
  Result<void> visit(Node node) {
    if (!node.object.isDictionary()) return ok();
    node.inherited.take(node.object);
    auto kids = node.object.getKey("/Kids");
    if (!kids.isArray()) return add_page(node);
    if (node.depth >= limits_.pdf_tree_depth_max) {
      return refuse("pdf_page_tree",
                    fmt::format("the page tree is deeper than {}", limits_.pdf_tree_depth_max));
    }
    if (node.object.isIndirect() && !seen_.insert(node.object.getObjGen()).second) {
      return refuse("pdf_page_tree", "the page tree leads in a circle");
    }
    const auto count = kids.getArrayNItems();
    if (stack_.size() + static_cast<std::size_t>(count) > 10 * std::size_t{limits_.pages_max}) {
      return refuse("page_count", fmt::format("more than {} pages", limits_.pages_max));
    }
    for (int i = count - 1; i >= 0; --i) {
      stack_.push_back(
          {.object = kids.getArrayItem(i), .inherited = node.inherited, .depth = node.depth + 1});
    }
    return ok();
  }

  Result<void> add_page(Node& node) {
    if (pages_.size() >= limits_.pages_max) {
      return refuse("page_count", fmt::format("more than {} pages", limits_.pages_max));
    }
    const auto box = visible_box(node.inherited.media_box, node.inherited.crop_box);
    PdfPage page{.object = node.object,
                 .resources = node.inherited.resources,
                 .left = box.x0,
                 .bottom = box.y0,
                 .rotation_deg = rotation_of(node.inherited.rotate)};
    auto unit = node.object.getKey("/UserUnit");
    if (unit.isNumber() && unit.getNumericValue() > 0) page.user_unit = unit.getNumericValue();
    page.width_pt = (box.x1 - box.x0) * page.user_unit;
    page.height_pt = (box.y1 - box.y0) * page.user_unit;
    if (!(std::max(page.width_pt, page.height_pt) <= limits_.page_side_pt_max)) {
      return refuse("page_size",
                    fmt::format("a page is longer than {} points", limits_.page_side_pt_max));
    }
    pages_.push_back(std::move(page));
    return ok();
  }

  Result<void> check_declared(QPDFObjectHandle count) {
    if (!count.isInteger()) return ok();
    const auto declared = count.getIntValue();
    if (declared == static_cast<long long>(pages_.size())) return ok();
    if (declared > static_cast<long long>(limits_.pages_max)) {
      return refuse("page_count", fmt::format("declares more than {} pages", limits_.pages_max));
    }
    findings_.flag("pdf_page_count", "the document declares another number of pages than it has");
    return ok();
  }

  QPDF& pdf_;
  Findings& findings_;
  const Limits& limits_;
  std::vector<Node> stack_;
  std::set<QPDFObjGen> seen_;
  std::vector<PdfPage> pages_;
};

}  // namespace

PdfBox visible_box(QPDFObjectHandle media_box, QPDFObjectHandle crop_box) {
  const auto media = rectangle_of(media_box).value_or(PdfBox{});
  auto crop = rectangle_of(crop_box).value_or(media);
  if (crop.x1 - crop.x0 > media.x1 - media.x0) {
    crop.x0 = media.x0;
    crop.x1 = media.x1;
  }
  if (crop.y1 - crop.y0 > media.y1 - media.y0) {
    crop.y0 = media.y0;
    crop.y1 = media.y1;
  }
  const PdfBox box{.x0 = std::max(crop.x0, media.x0),
                   .y0 = std::max(crop.y0, media.y0),
                   .x1 = std::min(crop.x1, media.x1),
                   .y1 = std::min(crop.y1, media.y1)};
  return box.x1 <= box.x0 || box.y1 <= box.y0 ? media : box;
}

Result<std::vector<PdfPage>> pages_of(QPDF& pdf, Findings& findings, const Limits& limits) {
  return PageWalk(pdf, findings, limits).walk();
}

}  // namespace millrace::document
