// An image file becomes a PDF: each frame a page, its pixels as they are stored where PDF knows the
// form (JPEG), packed without loss where it does not.
#include "document/bounded/mapped_file.h"
#include "document/bounded/refusal.h"
#include "document/read/picture.h"
#include "document/write/pdf_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <leptonica/allheaders.h>
#include <qpdf/QPDFPageDocumentHelper.hh>
#include <utility>

namespace millrace::document {
namespace {

constexpr double kPointsPerInch = 72;
constexpr double kUsualDpi = 150;  // Of images that do not say; a page stays a page by it.
constexpr double kPageSideMax = 14'400;

enum class Form { jpeg, bits, gray, rgb };

struct StoredImage {
  FrameHeader header = {};
  Form form = Form::rgb;
  int width = 0;
  int height = 0;
  int components = 3;
};

Result<StoredImage> stored_form(std::string_view bytes, std::uint32_t frame) {
  StoredImage out;
  MR_TRY(out.header, frame_header(bytes, frame, {}));
  const auto& header = out.header;
  out.width = header.width;
  out.height = header.height;
  if (header.codec == Codec::jpeg) {
    out.form = Form::jpeg;
    out.components = header.samples;
  } else if (header.samples == 1 && header.bits == 1 && !header.palette) {
    out.form = Form::bits;
    out.components = 1;
  } else if (header.samples == 1 && !header.palette) {
    out.form = Form::gray;
    out.components = 1;
  }
  if (header.turns_sideways()) std::swap(out.width, out.height);
  return out;
}

// Pixels of a decoded frame as PDF stores them, before packing.
Result<std::string> samples_of(std::string_view bytes, const FrameHeader& header, Form form) {
  MR_TRY(const auto pix, decode_stored_pixels(bytes, header));
  const bool gray = form != Form::rgb;
  PixPtr converted(gray ? pixConvertTo8(pix.get(), 0) : pixConvertTo32(pix.get()));
  if (converted == nullptr) return refuse("damaged", "the image cannot be converted");
  const int width = pixGetWidth(converted.get());
  const int height = pixGetHeight(converted.get());
  std::string out;
  const auto* line = pixGetData(converted.get());
  for (int y = 0; y < height; ++y, line += pixGetWpl(converted.get())) {
    if (form == Form::bits) {
      for (int x = 0; x < width; x += 8) {
        unsigned byte = 0;
        for (int i = 0; i < 8; ++i) {
          const bool bright = x + i < width && GET_DATA_BYTE(line, x + i) >= 128;
          byte = byte << 1 | (bright ? 1U : 0U);
        }
        out.push_back(static_cast<char>(byte));
      }
      continue;
    }
    for (int x = 0; x < width; ++x) {
      if (gray) {
        out.push_back(static_cast<char>(GET_DATA_BYTE(line, x)));
        continue;
      }
      out.push_back(static_cast<char>(line[x] >> L_RED_SHIFT & 0xff));
      out.push_back(static_cast<char>(line[x] >> L_GREEN_SHIFT & 0xff));
      out.push_back(static_cast<char>(line[x] >> L_BLUE_SHIFT & 0xff));
    }
  }
  return out;
}

QPDFObjectHandle image_object(QPDF& pdf, std::string_view bytes, const StoredImage& image,
                              const std::shared_ptr<LateStreams>& streams) {
  // The bytes are the file's own, mapped for as long as the document is written.
  auto stream = streams->add(
      pdf, streams, [bytes, header = image.header, form = image.form]() -> Result<std::string> {
        if (form == Form::jpeg) return std::string(bytes);
        return samples_of(bytes, header, form);
      });
  auto dictionary = stream.getDict();
  dictionary.replaceKey("/Type", QPDFObjectHandle::newName("/XObject"));
  dictionary.replaceKey("/Subtype", QPDFObjectHandle::newName("/Image"));
  dictionary.replaceKey("/Width", QPDFObjectHandle::newInteger(image.width));
  dictionary.replaceKey("/Height", QPDFObjectHandle::newInteger(image.height));
  dictionary.replaceKey("/BitsPerComponent",
                        QPDFObjectHandle::newInteger(image.form == Form::bits ? 1 : 8));
  const auto* const colours = image.components == 1   ? "/DeviceGray"
                              : image.components == 4 ? "/DeviceCMYK"
                                                      : "/DeviceRGB";
  dictionary.replaceKey("/ColorSpace", QPDFObjectHandle::newName(colours));
  if (image.form == Form::jpeg) {
    dictionary.replaceKey("/Filter", QPDFObjectHandle::newName("/DCTDecode"));
    if (image.header.inverted) {
      dictionary.replaceKey("/Decode", QPDFObjectHandle::parse("[1 0 1 0 1 0 1 0]"));
    }
  }
  return stream;
}

// `read_dpi` is what the reader of the page knew, for files that do not say.
PdfSpace size_of(const StoredImage& image, double read_dpi) {
  const double otherwise = read_dpi > 0 ? read_dpi : kUsualDpi;
  // Of a fax, pixels are not square.
  double x = image.header.dpi_x > 0 ? image.header.dpi_x : otherwise;
  double y = image.header.dpi_y > 0 ? image.header.dpi_y : otherwise;
  if (image.header.turns_sideways()) std::swap(x, y);
  const double width = image.width * kPointsPerInch / x;
  const double height = image.height * kPointsPerInch / y;
  const double shrink = std::min(1.0, kPageSideMax / std::max(width, height));
  return {.width = width * shrink, .height = height * shrink};
}

struct Parts {
  QPDF& pdf;
  const PageLines& pages;
  std::string_view bytes;  // Of the image file.
  QPDFObjectHandle font;
  const TextCodes& codes;
  const std::shared_ptr<LateStreams>& streams;
};

void add_page(Parts& to, const PdfSpace& space, int rotation_deg, QPDFObjectHandle content,
              QPDFObjectHandle resources) {
  auto page = QPDFObjectHandle::newDictionary();
  page.replaceKey("/Type", QPDFObjectHandle::newName("/Page"));
  page.replaceKey("/MediaBox", QPDFObjectHandle::parse(
                                   fmt::format("[0 0 {:.3f} {:.3f}]", space.width, space.height)));
  page.replaceKey("/Rotate", QPDFObjectHandle::newInteger(rotation_deg));
  page.replaceKey("/Contents", content);
  page.replaceKey("/Resources", resources);
  QPDFPageDocumentHelper(to.pdf).addPage(to.pdf.makeIndirectObject(page), false);
}

QPDFObjectHandle resources_of(QPDFObjectHandle picture) {
  auto images = QPDFObjectHandle::newDictionary();
  images.replaceKey("/Im", picture);
  auto resources = QPDFObjectHandle::newDictionary();
  resources.replaceKey("/XObject", images);
  return resources;
}

std::string drawing_of(const PdfSpace& space) {
  return fmt::format("q {:.3f} 0 0 {:.3f} 0 0 cm /Im Do Q\n", space.width, space.height);
}

Result<void> add_read_page(Parts& to, std::size_t index) {
  MR_TRY(const auto map, to.pages.page(index));
  MR_TRY(const auto image, stored_form(to.bytes, static_cast<std::uint32_t>(index + 1)));
  const auto space = size_of(image, map.info.dpi);
  auto resources = resources_of(image_object(to.pdf, to.bytes, image, to.streams));
  auto content = to.streams->add(
      to.pdf, to.streams,
      [&pages = to.pages, &codes = to.codes, index, space]() -> Result<std::string> {
        MR_TRY(const auto page, pages.page(index));
        return text_stream(page, space, codes, kTextFontName) + drawing_of(space);
      });
  auto fonts = QPDFObjectHandle::newDictionary();
  fonts.replaceKey(std::string(kTextFontName), to.font);
  resources.replaceKey("/Font", fonts);
  add_page(to, space, map.info.rotation_deg, content, resources);
  return ok();
}

void add_blank_page(Parts& to) {
  add_page(to, {.width = 595, .height = 842}, 0, to.pdf.newStream(""),
           QPDFObjectHandle::newDictionary());
}

// What cannot be decoded keeps its place, with nothing on it.
void add_unread_page(Parts& to, std::size_t index) {
  const auto image = stored_form(to.bytes, static_cast<std::uint32_t>(index + 1));
  if (!image.has_value() || !decode_stored_pixels(to.bytes, image->header).has_value()) {
    return add_blank_page(to);
  }
  const auto space = size_of(*image, 0);
  const auto stored = image_object(to.pdf, to.bytes, *image, to.streams);
  add_page(to, space, image->header.turn_deg, to.pdf.newStream(drawing_of(space)),
           resources_of(stored));
}

}  // namespace

Result<json::Object> assemble_image(const PageLines& pages, int fd, const std::string& title,
                                    bool show_unread, OpSink& sink) {
  MR_TRY(const auto file, MappedFile::open(fd));
  const auto codes = TextCodes::of(pages.bytes());
  const auto streams = std::make_shared<LateStreams>();
  QPDF pdf;
  pdf.emptyPDF();
  try {
    Parts to{.pdf = pdf,
             .pages = pages,
             .bytes = file.bytes(),
             .font = make_text_font(pdf, codes),
             .codes = codes,
             .streams = streams};
    for (std::size_t i = 0; i < pages.size(); ++i) {
      if (pages.was_read(i)) {
        MR_TRY_VOID(add_read_page(to, i));
      } else if (show_unread) {
        add_unread_page(to, i);
      } else {
        add_blank_page(to);
      }
      sink.progress(static_cast<int>(i + 1), static_cast<int>(pages.size()));
    }
    if (!title.empty()) {
      auto info = QPDFObjectHandle::newDictionary();
      info.replaceKey("/Title", QPDFObjectHandle::newUnicodeString(title));
      pdf.getTrailer().replaceKey("/Info", pdf.makeIndirectObject(info));
    }
  } catch (const std::exception&) {
    return fail(ErrorKind::internal, "the PDF cannot be made");
  }
  MR_TRY(const auto bytes, write_pdf(pdf, sink, *streams));
  return assembled(pages.size(), bytes);
}

}  // namespace millrace::document
