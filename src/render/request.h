// RenderRequest and Rendered: what is asked of the renderer and what it answers, as plain values.
//
// Names of the enums are those of the export options (pageSize, quality, colorMode).
#pragma once

#include "base/result.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::render {

enum class PageSize { A4, Letter, Legal };
enum class Quality { draft, normal, high };
enum class ColorMode { color, grayscale };

std::string_view to_string(PageSize size);
std::string_view to_string(Quality quality);
std::string_view to_string(ColorMode mode);
// Errors name the field and what is allowed.
Result<PageSize> parse_page_size(std::string_view text);
Result<Quality> parse_quality(std::string_view text);
Result<ColorMode> parse_color_mode(std::string_view text);

struct Margins {  // Inches, each 0 to 2.
  double top = 1;
  double bottom = 1;
  double left = 1;
  double right = 1;
};

struct RenderOptions {
  PageSize page_size = PageSize::Letter;
  Margins margins;
  Quality quality = Quality::normal;
  ColorMode color_mode = ColorMode::color;
  bool landscape = false;
  bool page_numbers = false;  // "2 / 5" in the bottom margin; a page's own CSS can do so as well.
  bool scripts = false;       // Whether scripts of the document run.
  bool bleed = false;         // Its paper goes from side to side; margins there are its own.
};

struct Paper {  // Inches, as the page lies.
  double width;
  double height;
};
Paper paper_of(const RenderOptions& options);
Margins margins_of(const RenderOptions& options);  // What is left white; none beside a bleed.

struct PdfMetadata {
  std::string title;
  std::string author;
  std::string subject = "Resume";
  std::vector<std::string> keywords;
  std::string creator = "ResumePair";
};

inline constexpr std::chrono::milliseconds kRenderTimeout{8000};
inline constexpr unsigned kPreviewWidthMax = 1200;

struct RenderRequest {
  std::string html;  // UTF-8.
  RenderOptions options;
  PdfMetadata metadata;
  // From the moment a browser takes the document; waiting in line does not count.
  std::chrono::milliseconds timeout = kRenderTimeout;
  std::optional<unsigned> preview_width_px;  // A picture of the first page as well.
};

struct RenderLimits {
  std::size_t html_max_bytes = std::size_t{8} * 1024 * 1024;
  std::uint64_t pdf_max_bytes = std::uint64_t{100} * 1024 * 1024;
  std::size_t text_max_bytes = 2000;  // Of each metadata field; keywords all together.
  std::size_t requests_max = 5000;    // That one document may try, in vain, to make.
  std::chrono::milliseconds timeout_max = std::chrono::minutes(5);
};

// The walls between a document and everything else, besides namespaces. All of them stand, but in
// tests that show what each one holds when it stands alone.
struct Walls {
  bool policy = true;        // The Content-Security-Policy in front of the document.
  bool interception = true;  // Requests are aborted, workers wait for ever.
  bool switches = true;      // The browser is started without a way to the network.
};

// invalid_argument, naming field and rule.
Result<void> check_request(const RenderRequest& request, const RenderLimits& limits);

struct Rendered {
  std::uint64_t page_count = 0;
  std::uint64_t bytes = 0;              // Of the PDF, all of which went to the sink.
  std::string preview_png;              // Empty unless it was asked for.
  std::map<std::string, int> anchors;   // On which page links within the document lead.
  std::uint64_t requests_refused = 0;   // What the document wanted from elsewhere.
  std::string missing_glyphs;           // Characters no font here can draw: some of them, UTF-8.
  std::chrono::milliseconds waited{0};  // In line for a browser.
  std::chrono::milliseconds took{0};
};

// Error::detail of what the renderer reports: how a document failed, for programs.
// All but too_large, navigated and those without a detail are worth another try.
namespace fault {
inline constexpr std::string_view kTimedOut = "render_timed_out";
inline constexpr std::string_view kCrashed = "render_crashed";  // Page or browser.
inline constexpr std::string_view kMemory = "render_out_of_memory";
inline constexpr std::string_view kTooLarge = "render_too_large";   // The PDF.
inline constexpr std::string_view kNavigated = "render_navigated";  // It left for another page.
inline constexpr std::string_view kFlooded = "render_flooded";      // Too many requests, messages.
inline constexpr std::string_view kNoBrowser = "no_browser";  // None starts: not the document's.
}  // namespace fault

}  // namespace millrace::render
