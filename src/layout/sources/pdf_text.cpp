#include "layout/sources/pdf_text.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace millrace::layout {
namespace {

constexpr double kPointsPerInch = 72;

std::uint32_t to_pixels(double points, double dpi) {
  const auto pixels = std::round(points * dpi / kPointsPerInch);
  return static_cast<std::uint32_t>(std::clamp(pixels, 1.0, 1e9));
}

}  // namespace

Result<PageInfo> pdf_page_info(const PdfPage& page) {
  MR_TRY(const auto rotation, normal_rotation(page.rotate, "rotate"));
  MR_TRY_VOID(check_frame({.visible = page.crop, .rotation_deg = rotation}));
  if (!(page.dpi > 0 && page.dpi <= 10'000)) {
    return fail(ErrorKind::invalid_argument, "dpi must be greater than 0 and at most 10000");
  }
  PageInfo info{.page = page.page,
                .width_px = to_pixels(page.crop.width(), page.dpi),
                .height_px = to_pixels(page.crop.height(), page.dpi),
                .dpi = page.dpi,
                .rotation_deg = rotation,
                .engine = page.engine};
  if (rotation % 180 != 0) std::swap(info.width_px, info.height_px);
  MR_TRY_VOID(check_info(info));
  return info;
}

Result<RawPage> from_pdf_text(const PdfPage& page, std::span<const PdfTextWord> words) {
  MR_TRY(auto info, pdf_page_info(page));
  const Frame frame{.visible = page.crop, .origin = page.origin, .rotation_deg = info.rotation_deg};
  std::vector<RawWord> raw;
  raw.reserve(words.size());
  for (const auto& word : words) raw.push_back({.text = word.text, .box = word.box, .conf = 1.0});
  return to_raw_page(std::move(info), frame, std::move(raw));
}

}  // namespace millrace::layout
