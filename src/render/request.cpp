#include "render/request.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace millrace::render {
namespace {

std::unexpected<Error> invalid(std::string message) {
  return fail(ErrorKind::invalid_argument, std::move(message));
}

Result<void> check_margin(std::string_view name, double value) {
  if (!std::isfinite(value) || value < 0 || value > 2) {
    return invalid(fmt::format("options.margins.{} must be 0 to 2 inches", name));
  }
  return ok();
}

Result<void> check_text(std::string_view name, std::string_view text, std::size_t max_bytes) {
  if (text.size() > max_bytes) {
    return invalid(fmt::format("metadata.{} has {} bytes, at most {} are allowed", name,
                               text.size(), max_bytes));
  }
  return ok();
}

Result<void> check_metadata(const PdfMetadata& metadata, std::size_t max_bytes) {
  MR_TRY_VOID(check_text("title", metadata.title, max_bytes));
  MR_TRY_VOID(check_text("author", metadata.author, max_bytes));
  MR_TRY_VOID(check_text("subject", metadata.subject, max_bytes));
  MR_TRY_VOID(check_text("creator", metadata.creator, max_bytes));
  std::size_t keywords = 0;
  for (const auto& keyword : metadata.keywords) keywords += keyword.size() + 2;
  if (keywords > max_bytes) {
    return invalid(fmt::format("metadata.keywords have {} bytes, at most {} are allowed", keywords,
                               max_bytes));
  }
  return ok();
}

}  // namespace

std::string_view to_string(PageSize size) {
  switch (size) {
    case PageSize::A4:
      return "A4";
    case PageSize::Letter:
      return "Letter";
    case PageSize::Legal:
      return "Legal";
  }
  std::unreachable();
}

std::string_view to_string(Quality quality) {
  switch (quality) {
    case Quality::draft:
      return "draft";
    case Quality::normal:
      return "normal";
    case Quality::high:
      return "high";
  }
  std::unreachable();
}

std::string_view to_string(ColorMode mode) {
  switch (mode) {
    case ColorMode::color:
      return "color";
    case ColorMode::grayscale:
      return "grayscale";
  }
  std::unreachable();
}

Result<PageSize> parse_page_size(std::string_view text) {
  for (const auto size : {PageSize::A4, PageSize::Letter, PageSize::Legal}) {
    if (text == to_string(size)) return size;
  }
  return invalid("pageSize must be A4, Letter or Legal");
}

Result<Quality> parse_quality(std::string_view text) {
  for (const auto quality : {Quality::draft, Quality::normal, Quality::high}) {
    if (text == to_string(quality)) return quality;
  }
  return invalid("quality must be draft, normal or high");
}

Result<ColorMode> parse_color_mode(std::string_view text) {
  for (const auto mode : {ColorMode::color, ColorMode::grayscale}) {
    if (text == to_string(mode)) return mode;
  }
  return invalid("colorMode must be color or grayscale");
}

Paper paper_of(const RenderOptions& options) {
  Paper paper{.width = 8.5, .height = 11};
  if (options.page_size == PageSize::A4) paper = {.width = 210 / 25.4, .height = 297 / 25.4};
  if (options.page_size == PageSize::Legal) paper.height = 14;
  if (options.landscape) std::swap(paper.width, paper.height);
  return paper;
}

Margins margins_of(const RenderOptions& options) {
  Margins margins = options.margins;
  if (options.bleed) margins.left = margins.right = 0;
  return margins;
}

Result<void> check_request(const RenderRequest& request, const RenderLimits& limits) {
  if (request.html.empty()) return invalid("html is empty");
  if (request.html.size() > limits.html_max_bytes) {
    return invalid(fmt::format("html has {} bytes, at most {} are allowed", request.html.size(),
                               limits.html_max_bytes));
  }
  const Margins& margins = request.options.margins;
  MR_TRY_VOID(check_margin("top", margins.top));
  MR_TRY_VOID(check_margin("bottom", margins.bottom));
  MR_TRY_VOID(check_margin("left", margins.left));
  MR_TRY_VOID(check_margin("right", margins.right));
  MR_TRY_VOID(check_metadata(request.metadata, limits.text_max_bytes));
  if (request.timeout <= std::chrono::milliseconds::zero() ||
      request.timeout > limits.timeout_max) {
    return invalid(
        fmt::format("timeout must be above zero and at most {} ms", limits.timeout_max.count()));
  }
  if (const auto width = request.preview_width_px;
      width && (*width < 16 || *width > kPreviewWidthMax)) {
    return invalid(fmt::format("preview_width_px must be 16 to {}", kPreviewWidthMax));
  }
  return ok();
}

}  // namespace millrace::render
