#include "document/read/pdf_file.h"

#include "document/bounded/refusal.h"
#include "layout/code_points.h"

#include <fmt/format.h>

#include <GfxState.h>
#include <GlobalParams.h>
#include <PDFDoc.h>
#include <Page.h>
#include <SplashOutputDev.h>
#include <Stream.h>
#include <TextOutputDev.h>
#include <UTF.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <leptonica/allheaders.h>
#include <optional>
#include <splash/SplashBitmap.h>

namespace millrace::document {
namespace {

constexpr double kPointsPerInch = 72;
constexpr double kRenderPixelsMax = 50e6;
constexpr double kCoversPage = 0.85;  // Share of the page from which an image is the page.

// Where an image lies on the page: the corners of its unit square in points from the top left.
struct Placement {
  std::array<double, 6> matrix = {};
  int width_px = 0;
  int height_px = 0;

  layout::Box box() const {
    const auto& m = matrix;
    const auto xs = std::minmax({m[4], m[4] + m[0], m[4] + m[2], m[4] + m[0] + m[2]});
    const auto ys = std::minmax({m[5], m[5] + m[1], m[5] + m[3], m[5] + m[1] + m[3]});
    return {.x0 = xs.first, .y0 = ys.first, .x1 = xs.second, .y1 = ys.second};
  }
};

// Text as TextOutputDev finds it, and on the way everything else that the page shows.
class PageOutput final : public TextOutputDev {
 public:
  PageOutput() : TextOutputDev(nullptr, false, 0, false, false) {}

  bool needNonText() override { return true; }
  bool interpretType3Chars() override { return false; }

  void drawImage(GfxState* state, Object* ref, Stream* stream, int width, int height,
                 GfxImageColorMap* colours, bool interpolate, const int* mask_colours,
                 bool inline_image) override {
    add(state, width, height);
    if (wants_pixels()) keep(stream, width, height, colours, false);
    if (inline_image) {
      OutputDev::drawImage(state, ref, stream, width, height, colours, interpolate, mask_colours,
                           inline_image);
    }
  }
  void drawImageMask(GfxState* state, Object* ref, Stream* stream, int width, int height,
                     bool invert, bool interpolate, bool inline_image) override {
    add(state, width, height);
    if (wants_pixels()) keep(stream, width, height, nullptr, invert);
    if (inline_image) {
      OutputDev::drawImageMask(state, ref, stream, width, height, invert, interpolate,
                               inline_image);
    }
  }
  void drawMaskedImage(GfxState* state, Object*, Stream*, int width, int height, GfxImageColorMap*,
                       bool, Stream*, int, int, bool, bool) override {
    add(state, width, height);
    ++others_;  // What it shows depends on what lies under it.
  }
  void drawSoftMaskedImage(GfxState* state, Object*, Stream*, int width, int height,
                           GfxImageColorMap*, bool, Stream*, int, int, GfxImageColorMap*,
                           bool) override {
    add(state, width, height);
    ++others_;
  }
  void stroke(GfxState*) override { ++drawings_; }
  void fill(GfxState* state) override {
    if (!is_white_fill(state)) ++drawings_;
  }
  void eoFill(GfxState* state) override { fill(state); }
  void drawChar(GfxState* state, double x, double y, double dx, double dy, double origin_x,
                double origin_y, CharCode code, int bytes, const Unicode* unicode,
                int length) override {
    if (state->getRender() != 3) ++visible_chars_;
    TextOutputDev::drawChar(state, x, y, dx, dy, origin_x, origin_y, code, bytes, unicode, length);
  }

  void want_pixels_of(std::uint64_t pixels_max) { pixels_max_ = pixels_max; }
  const std::vector<Placement>& placements() const { return placements_; }
  int drawings() const { return drawings_; }
  int others() const { return others_; }
  int visible_chars() const { return visible_chars_; }
  std::optional<Gray>& pixels() { return pixels_; }

 private:
  std::vector<Placement> placements_;
  std::optional<Gray> pixels_;
  std::uint64_t pixels_max_ = 0;
  int drawings_ = 0;
  int others_ = 0;
  int visible_chars_ = 0;

  static bool is_white_fill(GfxState* state) {
    GfxGray gray = 0;
    state->getFillGray(&gray);
    return gray >= gfxColorComp1;
  }
  void add(GfxState* state, int width, int height) {
    Placement placement{.width_px = width, .height_px = height};
    const auto& matrix = state->getCTM();
    std::copy_n(&matrix[0], 6, placement.matrix.begin());
    placements_.push_back(placement);
  }
  bool wants_pixels() const { return pixels_max_ > 0 && !pixels_; }

  // Grey values of the stored samples.
  void keep(Stream* stream, int width, int height, GfxImageColorMap* colours, bool invert) {
    const auto count = static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height);
    if (width < 1 || height < 1 || count > pixels_max_) return;
    const int components = colours == nullptr ? 1 : colours->getNumPixelComps();
    const int bits = colours == nullptr ? 1 : colours->getBits();
    ImageStream lines(stream, width, components, bits);
    lines.reset();
    Gray out(width, height);
    for (int y = 0; y < height; ++y) {
      auto* in = lines.getLine();
      if (in == nullptr) break;
      auto* row = out.row(y);
      if (colours == nullptr) {
        for (int x = 0; x < width; ++x) row[x] = (in[x] != 0) == invert ? 0 : 255;
      } else {
        colours->getGrayLine(in, row, width);
      }
    }
    lines.close();
    pixels_ = std::move(out);
  }
};

// How the stored image must be turned to be as it is shown; nothing when it lies askew or mirrored.
std::optional<int> turn_of(const Placement& placement) {
  const auto& m = placement.matrix;  // Of the unit square, whose top is the image's first row.
  const double side = std::max({std::abs(m[0]), std::abs(m[1]), std::abs(m[2]), std::abs(m[3])});
  const auto none = [&](double value) { return std::abs(value) < 0.002 * side; };
  if (none(m[1]) && none(m[2])) {
    if (m[0] > 0 && m[3] < 0) return 0;
    if (m[0] < 0 && m[3] > 0) return 180;
  }
  if (none(m[0]) && none(m[3])) {
    if (m[1] > 0 && m[2] > 0) return 90;
    if (m[1] < 0 && m[2] < 0) return 270;
  }
  return std::nullopt;
}

int direction_of(const TextWord& word) {
  constexpr std::array<int, 4> kDegrees = {0, 90, 180, 270};
  return kDegrees[static_cast<std::size_t>(word.getRotation() & 3)];
}

std::string text_of(const TextWord& word) {
  std::string out;
  for (int i = 0; i < word.getLength(); ++i) {
    layout::append_utf8(out, static_cast<char32_t>(*word.getChar(i)));
  }
  return out;
}

void describe_font(const TextWord& word, PdfWord& out) {
  out.font_size_pt = word.getFontSize();
  if (word.getLength() < 1) return;
  const auto* const font = word.getFontInfo(0);
  if (font == nullptr) return;
  // Many writers leave the flags out; the name of the font says it as well.
  const auto* const name = font->getFontName();
  const auto label = name == nullptr ? std::string() : layout::to_lower(name->toStr());
  const auto has = [&](std::string_view part) { return label.find(part) != std::string::npos; };
  out.bold = font->isBold() || has("bold") || has("black") || has("heavy");
  out.fixed_width = font->isFixedWidth() || has("courier") || has("mono") || has("consol");
}

layout::Box clipped(const layout::Box& box, double width, double height) {
  return {.x0 = std::clamp(box.x0, 0.0, width),
          .y0 = std::clamp(box.y0, 0.0, height),
          .x1 = std::clamp(box.x1, 0.0, width),
          .y1 = std::clamp(box.y1, 0.0, height)};
}

double dpi_of(const Placement& placement) {
  const auto box = placement.box();
  const bool sideways = turn_of(placement).value_or(0) % 180 != 0;
  const double width = std::max(1e-3, sideways ? box.height() : box.width());
  return placement.width_px / width * kPointsPerInch;
}

void describe_images(const PageOutput& output, PdfPageContent& out) {
  double covered = 0;
  double largest = 0;
  for (const auto& placement : output.placements()) {
    const double area = clipped(placement.box(), out.width_pt, out.height_pt).area();
    covered += area;
    if (area > largest) {
      largest = area;
      out.image_dpi = dpi_of(placement);
    }
  }
  out.images = static_cast<int>(output.placements().size());
  out.drawings = output.drawings();
  out.image_share = std::min(1.0, covered / (out.width_pt * out.height_pt));
  out.one_image = out.images == 1 && out.image_share >= kCoversPage && out.drawings == 0 &&
                  output.others() == 0 && output.visible_chars() == 0;
}

}  // namespace

struct PdfFile::State {
  MappedFile file;
  std::unique_ptr<PDFDoc> document;
  Limits limits;

  double dpi_within_limits(std::uint32_t page, double dpi) const {
    const auto* const p = document->getCatalog()->getPage(static_cast<int>(page));
    const double area = p->getCropWidth() * p->getCropHeight() / (kPointsPerInch * kPointsPerInch);
    return std::max(1.0, std::min(dpi, std::sqrt(kRenderPixelsMax / std::max(area, 1e-6))));
  }
};

PdfFile::PdfFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
PdfFile::~PdfFile() = default;
PdfFile::PdfFile(PdfFile&&) noexcept = default;
PdfFile& PdfFile::operator=(PdfFile&&) noexcept = default;

void PdfFile::warm_up() {
  if (globalParams != nullptr) return;
  globalParams = std::make_unique<GlobalParams>();
  globalParams->setErrQuiet(true);
}

Result<PdfFile> PdfFile::open(MappedFile file, const Limits& limits) {
  warm_up();
  auto state = std::make_unique<State>(State{.file = std::move(file), .limits = limits});
  const auto bytes = state->file.bytes();
  auto* const stream = new MemStream(bytes.data(), 0, static_cast<Goffset>(bytes.size()),
                                     Object(objNull));  // The document takes it.
  state->document = std::make_unique<PDFDoc>(stream);
  if (!state->document->isOk()) return refuse("pdf_structure", "the PDF cannot be opened");
  return PdfFile(std::move(state));
}

std::uint32_t PdfFile::page_count() const {
  return static_cast<std::uint32_t>(std::max(0, state_->document->getNumPages()));
}

std::string PdfFile::title() const {
  const auto raw = state_->document->getDocInfoTitle();
  if (raw == nullptr) return {};
  std::string out;
  Unicode* codes = nullptr;
  const int count = TextStringToUCS4(raw->toStr(), &codes);
  for (int i = 0; i < count; ++i) layout::append_utf8(out, static_cast<char32_t>(codes[i]));
  gfree(codes);
  return out;
}

Result<PdfPageSize> PdfFile::size(std::uint32_t page) {
  if (page < 1 || page > page_count()) {
    return fail(ErrorKind::not_found, fmt::format("the document has no page {}", page));
  }
  auto* const p = state_->document->getCatalog()->getPage(static_cast<int>(page));
  if (p == nullptr) return refuse("pdf_page_tree", "a page of the PDF cannot be found");
  PdfPageSize out{.width_pt = p->getCropWidth(), .height_pt = p->getCropHeight()};
  const double side_max = state_->limits.page_side_pt_max;
  const bool sized = out.width_pt > 0 && out.height_pt > 0 && out.width_pt <= side_max &&
                     out.height_pt <= side_max;
  if (!sized) return refuse("page_size", "a page of the PDF has no size, or too large a one");
  out.rotate_deg = ((p->getRotate() % 360) + 360) % 360;
  if (out.rotate_deg % 180 != 0) std::swap(out.width_pt, out.height_pt);
  return out;
}

Result<PdfPageContent> PdfFile::content(std::uint32_t page) {
  MR_TRY(const auto shown, size(page));
  PdfPageContent out{
      .width_pt = shown.width_pt, .height_pt = shown.height_pt, .rotate_deg = shown.rotate_deg};
  PageOutput output;
  state_->document->displayPage(&output, static_cast<int>(page), kPointsPerInch, kPointsPerInch, 0,
                                false, true, false);
  describe_images(output, out);
  const auto words = output.makeWordList();
  for (int i = 0; words != nullptr && i < words->getLength(); ++i) {
    const auto& word = *words->get(i);
    PdfWord one{.text = text_of(word), .direction_deg = direction_of(word)};
    describe_font(word, one);
    word.getBBox(&one.box.x0, &one.box.y0, &one.box.x1, &one.box.y1);
    out.words.push_back(std::move(one));
  }
  return out;
}

Result<std::optional<Picture>> PdfFile::stored_image(std::uint32_t page,
                                                     const PdfPageContent& content) {
  if (!content.one_image) return std::nullopt;
  PageOutput output;
  output.want_pixels_of(state_->limits.pixels_max);
  state_->document->displayPage(&output, static_cast<int>(page), kPointsPerInch, kPointsPerInch, 0,
                                false, true, false);
  if (output.placements().size() != 1 || !output.pixels()) return std::nullopt;
  const auto& placement = output.placements().front();
  const auto turn = turn_of(placement);
  if (!turn) return std::nullopt;
  Gray image = turned(*std::move(output.pixels()), *turn);
  const auto box = placement.box();
  const double scale_x = image.width / box.width();
  const double scale_y = image.height / box.height();
  if (std::abs(scale_x / scale_y - 1) > 0.02) return std::nullopt;  // A fax: pixels not square.
  const double dpi = scale_x * kPointsPerInch;
  if (dpi < 70 || dpi > 1200) return std::nullopt;
  Picture out{.dpi = dpi, .turn_deg = content.rotate_deg};
  const int width = static_cast<int>(std::lround(content.width_pt * scale_x));
  const int height = static_cast<int>(std::lround(content.height_pt * scale_y));
  const int left = static_cast<int>(std::lround(box.x0 * scale_x));
  const int top = static_cast<int>(std::lround(box.y0 * scale_y));
  if (std::abs(left) <= 1 && std::abs(top) <= 1 && std::abs(width - image.width) <= 2 &&
      std::abs(height - image.height) <= 2) {
    out.gray = std::move(image);
    return out;
  }
  const auto count = static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height);
  if (width < 1 || height < 1 || count > state_->limits.pixels_max) return std::nullopt;
  out.gray = Gray(width, height);
  for (int y = std::max(0, top); y < std::min(height, top + image.height); ++y) {
    const int from = std::max(0, left);
    const int to = std::min(width, left + image.width);
    if (from < to)
      std::copy_n(image.row(y - top) + (from - left), to - from, out.gray.row(y) + from);
  }
  return out;
}

Result<Picture> PdfFile::render(std::uint32_t page, double dpi) {
  MR_TRY(const auto shown, size(page));
  dpi = state_->dpi_within_limits(page, dpi);
  SplashColor paper = {255, 255, 255};
  SplashOutputDev output(splashModeMono8, 4, false, paper);
  output.setFontAntialias(true);
  output.setVectorAntialias(true);
  output.startDoc(state_->document.get());
  state_->document->displayPage(&output, static_cast<int>(page), dpi, dpi, 0, false, true, false);
  auto* const bitmap = output.getBitmap();
  if (bitmap == nullptr || bitmap->getWidth() < 1 || bitmap->getHeight() < 1) {
    return refuse("pdf_structure", "a page of the PDF cannot be rendered");
  }
  Picture out{.gray = Gray(bitmap->getWidth(), bitmap->getHeight()),
              .dpi = dpi,
              .turn_deg = shown.rotate_deg};
  for (int y = 0; y < out.gray.height; ++y) {
    std::copy_n(bitmap->getDataPtr() + static_cast<std::ptrdiff_t>(y) * bitmap->getRowSize(),
                out.gray.width, out.gray.row(y));
  }
  return out;
}

Result<ColourPicture> PdfFile::render_colour(std::uint32_t page, double dpi) {
  MR_TRY(const auto shown, size(page));
  dpi = state_->dpi_within_limits(page, dpi);
  SplashColor paper = {255, 255, 255};
  SplashOutputDev output(splashModeRGB8, 4, false, paper);
  output.setFontAntialias(true);
  output.setVectorAntialias(true);
  output.startDoc(state_->document.get());
  state_->document->displayPage(&output, static_cast<int>(page), dpi, dpi, 0, false, true, false);
  auto* const bitmap = output.getBitmap();
  if (bitmap == nullptr || bitmap->getWidth() < 1 || bitmap->getHeight() < 1) {
    return refuse("pdf_structure", "a page of the PDF cannot be rendered");
  }
  ColourPicture out{.pix = PixPtr(pixCreate(bitmap->getWidth(), bitmap->getHeight(), 32)),
                    .dpi = dpi,
                    .turn_deg = shown.rotate_deg};
  auto* line = pixGetData(out.pix.get());
  for (int y = 0; y < bitmap->getHeight(); ++y, line += pixGetWpl(out.pix.get())) {
    const auto* in = bitmap->getDataPtr() + static_cast<std::ptrdiff_t>(y) * bitmap->getRowSize();
    for (int x = 0; x < bitmap->getWidth(); ++x, in += 3) {
      composeRGBPixel(in[0], in[1], in[2], line + x);
    }
  }
  return out;
}

}  // namespace millrace::document
