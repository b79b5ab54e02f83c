#include "document/read/pdf_file.h"

#include "document/bounded/refusal.h"
#include "document/read/pdf_page_output.h"
#include "document/read/symbol_font.h"
#include "layout/code_points.h"

#include <fmt/format.h>

#include <Annot.h>
#include <Form.h>
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
#include <string_view>

namespace millrace::document {
namespace {

constexpr double kPointsPerInch = 72;
constexpr double kRenderPixelsMax = 50e6;
constexpr double kCoversPage = 0.85;  // Share of the page from which an image is the page.

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

// What a letter is, in the font that it is shown with.
char32_t code_at(const TextWord& word, int i) {
  const auto* const font = word.getFontInfo(i);
  const auto* const name = font == nullptr ? nullptr : font->getFontName();
  const auto symbols = name == nullptr ? SymbolFont::none : symbol_font(name->toStr());
  return symbol_of(symbols, static_cast<char32_t>(*word.getChar(i)));
}

// Letters from `first` to before `end`; the box of all of them is that of the word.
PdfWord part_of(const TextWord& word, int first, int end) {
  PdfWord out{.direction_deg = direction_of(word)};
  for (int i = first; i < end; ++i) layout::append_utf8(out.text, code_at(word, i));
  if (end - first == word.getLength()) {
    word.getBBox(&out.box.x0, &out.box.y0, &out.box.x1, &out.box.y1);
    return out;
  }
  for (int i = first; i < end; ++i) {
    layout::Box letter;
    word.getCharBBox(i, &letter.x0, &letter.y0, &letter.x1, &letter.y1);
    out.box = i == first ? letter : layout::unite(out.box, letter);
  }
  return out;
}

void describe_font(const TextWord& word, int letter, PdfWord& out) {
  out.font_size_pt = word.getFontSize();
  if (word.getLength() <= letter) return;
  const auto* const font = word.getFontInfo(letter);
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
    out.pictures.push_back(placement.box());
  }
  out.images = static_cast<int>(output.placements().size());
  out.drawings = output.drawings();
  out.visible_chars = output.visible_chars();
  out.invisible_chars = output.invisible_chars();
  out.image_share = std::min(1.0, covered / (out.width_pt * out.height_pt));
  out.one_image = out.images == 1 && out.image_share >= kCoversPage && out.drawings == 0 &&
                  output.others() == 0 && out.visible_chars == 0;
}

// What is shown counts, where the file says it (Poppler says Off where it does not); else what the
// field has for its value.
bool is_ticked(FormWidgetButton& button) {
  const auto state = button.getObj()->dictLookup("AS");
  if (state.isName()) return std::string_view(state.getName()) != "Off";
  if (button.getButtonType() == formButtonRadio) return button.getState();
  const auto* const value =
      static_cast<const FormFieldButton*>(button.getField())->getAppearanceState();
  return value != nullptr && std::string_view(value) != "Off";
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
    const int length = word.getLength();
    // A box is a word by itself, also where its label follows without a space.
    const int label = length > 1 && is_box_sign(code_at(word, 0)) ? 1 : 0;
    for (const auto& [first, end] : {std::pair(0, label), std::pair(label, length)}) {
      if (first == end) continue;
      auto one = part_of(word, first, end);
      describe_font(word, first, one);
      out.words.push_back(std::move(one));
    }
  }
  out.ink = std::move(output.ink());
  return out;
}

std::vector<PdfField> PdfFile::fields(std::uint32_t page) {
  std::vector<PdfField> out;
  auto* const p = state_->document->getCatalog()->getPage(static_cast<int>(page));
  if (p == nullptr || !p->getAnnotsObject().isArray()) return out;
  std::array<double, 6> shown{};
  p->getDefaultCTM(shown.data(), kPointsPerInch, kPointsPerInch, 0, false, true);
  const auto place = [&shown](double x, double y) {
    return layout::Point{.x = shown[0] * x + shown[2] * y + shown[4],
                         .y = shown[1] * x + shown[3] * y + shown[5]};
  };
  const auto widgets = p->getFormWidgets();
  for (int i = 0; i < widgets->getNumWidgets(); ++i) {
    auto* const widget = widgets->getWidget(i);
    auto* const shape = widget->getWidgetAnnotation();
    if (widget->getType() != formButton || shape == nullptr) continue;
    if ((shape->getFlags() & (Annot::flagHidden | Annot::flagNoView)) != 0) continue;
    auto& button = *static_cast<FormWidgetButton*>(widget);
    if (button.getButtonType() == formButtonPush) continue;
    double x0 = 0;
    double y0 = 0;
    double x1 = 0;
    double y1 = 0;
    shape->getRect(&x0, &y0, &x1, &y1);
    const auto a = place(x0, y0);
    const auto b = place(x1, y1);
    const bool checked = is_ticked(button);
    out.push_back({.box = {.x0 = std::min(a.x, b.x),
                           .y0 = std::min(a.y, b.y),
                           .x1 = std::max(a.x, b.x),
                           .y1 = std::max(a.y, b.y)},
                   .checked = checked});
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
