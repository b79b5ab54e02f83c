// image: a page as a picture, upright, with boxes around what somebody is to look at.
//
// {"op":"image","kind":"pdf","page":1,"width_px_max":1600,"format":"png|jpeg","turn_deg":0,
//  "boxes":[{"bbox":[x0,y0,x1,y1],"color":"#d33","label":"Metformin"}]}
// turn_deg is the page's rotation_deg, counted from the page as it is stored; without it the page
// is drawn as it is shown elsewhere (its /Rotate, the camera's note).
#include "document/bounded/mapped_file.h"
#include "document/office/office.h"
#include "document/op.h"
#include "document/read/pdf_file.h"
#include "document/read/picture.h"
#include "document/read/request.h"
#include "document/write/page_drawing.h"
#include "layout/geometry.h"
#include "layout/reading_order.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <leptonica/allheaders.h>
#include <optional>
#include <utility>

namespace millrace::document {
namespace {

constexpr double kPointsPerInch = 72;
constexpr std::size_t kBoxesMax = 5'000;
constexpr std::size_t kLabelBytesMax = 200;
constexpr int kJpegQuality = 85;

struct ImageRequest {
  std::string kind;
  std::string format;
  std::uint32_t page = 1;
  int width_px_max = 1600;
  std::optional<int> turn_deg = {};
  std::vector<DrawnBox> boxes = {};
};

std::unexpected<Error> wrong_box(std::size_t i, std::string_view rule) {
  return fail(ErrorKind::invalid_argument, fmt::format("boxes[{}]{}", i, rule));
}

// #rgb or #rrggbb.
std::optional<std::uint32_t> parse_colour(std::string_view text) {
  if (!text.starts_with('#') || (text.size() != 4 && text.size() != 7)) return std::nullopt;
  std::uint32_t value = 0;
  const auto [end, code] = std::from_chars(text.data() + 1, text.data() + text.size(), value, 16);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (text.size() == 7) return value;
  const auto r = value >> 8 & 0xf;
  const auto g = value >> 4 & 0xf;
  const auto b = value & 0xf;
  return (r * 17) << 16 | (g * 17) << 8 | b * 17;
}

Result<DrawnBox> parse_box(const json::Value& value, std::size_t i) {
  if (!value.is_object()) return wrong_box(i, " must be an object");
  const auto& object = value.get_object();
  const auto* bbox = object.if_contains("bbox");
  if (bbox == nullptr || !bbox->is_array() || bbox->get_array().size() != 4) {
    return wrong_box(i, ".bbox must be an array of 4 numbers");
  }
  std::array<double, 4> numbers{};
  for (std::size_t k = 0; k < 4; ++k) {
    const auto& number = bbox->get_array()[k];
    if (!number.is_number()) return wrong_box(i, ".bbox must be an array of 4 numbers");
    numbers[k] = number.to_number<double>();
    if (!(numbers[k] >= 0 && numbers[k] <= 1)) {
      return wrong_box(i, ".bbox must be between 0 and 1");
    }
  }
  DrawnBox out{.box = {.x0 = numbers[0], .y0 = numbers[1], .x1 = numbers[2], .y1 = numbers[3]}};
  MR_TRY(const auto colour, string_member(object, "color", "#d33"));
  MR_TRY(out.label, string_member(object, "label"));
  const auto parsed = parse_colour(colour);
  if (!parsed) return wrong_box(i, ".color must be #rgb or #rrggbb");
  if (out.label.size() > kLabelBytesMax) {
    return wrong_box(i, fmt::format(".label must have at most {} bytes", kLabelBytesMax));
  }
  out.colour = *parsed;
  return out;
}

Result<ImageRequest> parse(const json::Object& request) {
  ImageRequest out;
  MR_TRY(out.kind, string_member(request, "kind"));
  MR_TRY(out.format, string_member(request, "format", "png"));
  MR_TRY(out.page, page_member(request));
  MR_TRY(const auto width, number_member(request, "width_px_max", 16, 8'192, 1'600));
  out.width_px_max = static_cast<int>(width);
  if (out.format != "png" && out.format != "jpeg") {
    return fail(ErrorKind::invalid_argument, "format must be png or jpeg");
  }
  if (request.contains("turn_deg")) {
    MR_TRY(const auto turn, number_member(request, "turn_deg", -270, 360, 0));
    MR_TRY(out.turn_deg, layout::normal_rotation(turn, "turn_deg"));
  }
  if (const auto* boxes = request.if_contains("boxes"); boxes != nullptr) {
    if (!boxes->is_array() || boxes->get_array().size() > kBoxesMax) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("boxes must be an array of at most {}", kBoxesMax));
    }
    for (std::size_t i = 0; i < boxes->get_array().size(); ++i) {
      MR_TRY(auto box, parse_box(boxes->get_array()[i], i));
      out.boxes.push_back(std::move(box));
    }
  }
  return out;
}

int turn_still_needed(const ImageRequest& request, int shown_turn_deg) {
  const int wanted = request.turn_deg.value_or(shown_turn_deg);
  return ((wanted - shown_turn_deg) % 360 + 360) % 360;
}

Result<PixPtr> pdf_picture(const ImageRequest& request, int fd) {
  MR_TRY(auto file, MappedFile::open(fd));
  MR_TRY(auto pdf, PdfFile::open(std::move(file)));
  MR_TRY(const auto size, pdf.size(request.page));
  const int turn = turn_still_needed(request, size.rotate_deg);
  const double width_pt = turn % 180 == 0 ? size.width_pt : size.height_pt;
  // A hair less, so that rounding up does not add a pixel.
  const double dpi = std::min(300.0, (request.width_px_max - 0.01) / width_pt * kPointsPerInch);
  MR_TRY(auto picture, pdf.render_colour(request.page, dpi));
  if (turn != 0) picture.pix.reset(pixRotateOrth(picture.pix.get(), turn / 90));
  return std::move(picture.pix);
}

Result<PixPtr> image_picture(const ImageRequest& request, int fd) {
  MR_TRY(const auto file, MappedFile::open(fd));
  MR_TRY(auto picture, decode_colour_picture(file.bytes(), request.page));
  const int turn = turn_still_needed(request, picture.turn_deg);
  if (turn != 0) picture.pix.reset(pixRotateOrth(picture.pix.get(), turn / 90));
  return std::move(picture.pix);
}

Result<PixPtr> office_picture(const ImageRequest& request, int fd) {
  MR_TRY(auto raw, office_page(request.kind, fd, request.page));
  MR_TRY(const auto page, layout::arrange(std::move(raw)));
  return draw_words(page, request.width_px_max);
}

Result<void> write(const ImageRequest& request, Pix* pix, OpSink& sink) {
  l_uint8* bytes = nullptr;
  std::size_t size = 0;
  const auto bad = request.format == "png" ? pixWriteMemPng(&bytes, &size, pix, 0)
                                           : pixWriteMemJpeg(&bytes, &size, pix, kJpegQuality, 0);
  if (bad != 0) return fail(ErrorKind::internal, "the image cannot be written");
  const auto written = sink.write({reinterpret_cast<const std::byte*>(bytes), size});
  lept_free(bytes);
  return written;
}

}  // namespace

Result<json::Object> image(const json::Object& request, const OpFiles& files, OpSink& sink) {
  MR_TRY(const auto asked, parse(request));
  if (files.fds.empty()) return fail(ErrorKind::invalid_argument, "there must be a file");
  const int fd = files.fds.front();
  PixPtr pix;
  if (asked.kind == "pdf") {
    MR_TRY(pix, pdf_picture(asked, fd));
  } else if (asked.kind == "image") {
    MR_TRY(pix, image_picture(asked, fd));
  } else if (is_office_kind(asked.kind)) {
    MR_TRY(pix, office_picture(asked, fd));
  } else {
    return fail(ErrorKind::invalid_argument, "kind must be one that inspect answers");
  }
  if (pixGetWidth(pix.get()) > asked.width_px_max) {
    pix.reset(pixScaleToSize(pix.get(), asked.width_px_max, 0));
  }
  if (!asked.boxes.empty()) {
    MR_TRY(pix, with_boxes(pix.get(), asked.boxes));
  }
  if (pix == nullptr) return fail(ErrorKind::internal, "the image cannot be made");
  MR_TRY_VOID(write(asked, pix.get(), sink));
  json::Object out;
  out["width_px"] = pixGetWidth(pix.get());
  out["height_px"] = pixGetHeight(pix.get());
  return out;
}

}  // namespace millrace::document
