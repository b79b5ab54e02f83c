// JPEG: markers up to the end of the image; scans are stepped over, not decoded. And the sizes of
// the other codecs that PDF uses.
#include "document/bounded/byte_reader.h"
#include "document/bounded/refusal.h"
#include "document/bounded/sha256.h"
#include "document/inspect/content_type.h"
#include "document/inspect/image_formats.h"

#include <algorithm>

namespace millrace::document {

namespace {

using namespace std::string_view_literals;

constexpr std::uint8_t kStartOfScan = 0xda;
constexpr std::uint8_t kEndOfImage = 0xd9;
constexpr std::uint8_t kApplication = 0xe0;
constexpr std::uint8_t kComment = 0xfe;
constexpr std::uint32_t kScansMax = 200;

bool is_frame_header(std::uint8_t marker) {
  return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

bool stands_alone(std::uint8_t marker) {
  return marker == 0x01 || (marker >= 0xd0 && marker <= 0xd8);
}

// Where the next marker after entropy-coded data begins; the size when there is none.
std::uint64_t after_scan(std::string_view bytes, std::uint64_t at) {
  for (;;) {
    at = bytes.find('\xff', at);
    if (at == bytes.npos || at + 1 >= bytes.size()) return bytes.size();
    const auto next = static_cast<std::uint8_t>(bytes[at + 1]);
    // A stuffed zero, a filler, a restart: still the scan.
    if (next != 0 && next != 0xff && !(next >= 0xd0 && next <= 0xd7)) return at;
    at += next == 0xff ? 1 : 2;
  }
}

// What a segment adds to the frame: size, resolution, rotation.
void take_segment(std::uint8_t marker, std::string_view data, ImageFrame& frame) {
  ByteReader reader(data, Endian::big);
  if (is_frame_header(marker) && frame.width == 0) {
    frame.height = reader.u16(1);
    frame.width = reader.u16(3);
  } else if (marker == kApplication && data.starts_with("JFIF\0"sv)) {
    const double unit = reader.u8(7) == 1 ? 1 : reader.u8(7) == 2 ? 2.54 : 0;
    frame.dpi_x = unit * reader.u16(8);
    frame.dpi_y = unit * reader.u16(10);
  } else if (marker == kApplication + 1 && data.starts_with("Exif\0\0"sv)) {
    frame.rotation_deg = turn_of_orientation(exif_orientation(data.substr(6)));
  } else if (marker == kApplication + 14 && data.starts_with("Adobe"sv)) {
    frame.adobe = true;
  }
}

bool is_shown(std::uint8_t marker, std::string_view data) {
  if (marker == kComment) return false;
  if (marker < kApplication || marker > kApplication + 15) return true;
  // Colour profiles and Adobe's colour transform change what is seen; all else is about the image.
  return data.starts_with("ICC_PROFILE") || data.starts_with("Adobe");
}

}  // namespace

Result<ImageFrames> read_jpeg(std::string_view bytes, const Limits& limits) {
  ByteReader reader(bytes, Endian::big);
  ImageFrame frame;
  Sha256 digest;
  std::uint32_t segments = 0;
  std::uint32_t scans = 0;
  std::uint64_t at = 2;
  for (;;) {
    while (reader.has(at, 2) && reader.u8(at) == 0xff && reader.u8(at + 1) == 0xff) ++at;
    if (!reader.has(at, 2)) return refuse("truncated", "the image ends too early");
    if (reader.u8(at) != 0xff)
      return refuse("damaged", "the image has bytes where a marker belongs");
    const auto marker = reader.u8(at + 1);
    at += 2;
    if (marker == kEndOfImage) break;
    if (stands_alone(marker)) continue;
    const std::uint64_t length = reader.u16(at);
    if (length < 2) return refuse("damaged", "a segment of the image has no length");
    if (!reader.has(at, length)) return refuse("truncated", "the image ends too early");
    if (++segments > limits.image_segments_max) {
      return refuse("image_segments", "the image has more parts than are allowed");
    }
    const auto data = reader.slice(at + 2, length - 2);
    take_segment(marker, data, frame);
    if (is_frame_header(marker)) MR_TRY_VOID(check_size({frame.width, frame.height}, limits));
    const bool hides_page = marker == kComment || (marker & 0xf0) == kApplication;
    if (hides_page && has_markup(data)) return refuse("polyglot", "a web page within the image");
    if (is_shown(marker, data)) {
      digest.add_number(marker);
      digest.add_piece(data);
    }
    at += length;
    if (marker == kStartOfScan) {
      const auto end = after_scan(bytes, at);
      digest.add_piece(bytes.substr(at, end - at));
      at = end;
      // Every scan of a progressive image is decoded over the whole of it.
      if (++scans > kScansMax) return refuse("image_segments", "the image has too many scans");
    }
  }
  if (scans == 0 || frame.width == 0) return refuse("image_structure", "the image has no pixels");
  MR_TRY_VOID(check_rest(bytes.substr(at)));
  digest.add_number(static_cast<std::uint64_t>(frame.rotation_deg));
  frame.content_sha256 = digest.hex();
  return ImageFrames{frame};
}

std::optional<ImageSize> jpeg_size(std::string_view bytes) {
  ByteReader reader(bytes, Endian::big);
  for (std::uint64_t at = 2; reader.has(at, 9) && reader.u8(at) == 0xff;) {
    const auto marker = reader.u8(at + 1);
    if (is_frame_header(marker)) return ImageSize{reader.u16(at + 7), reader.u16(at + 5)};
    if (marker == 0xff) {
      ++at;
    } else {
      at += stands_alone(marker) ? 2 : 2 + std::uint64_t{reader.u16(at + 2)};
    }
  }
  return std::nullopt;
}

std::optional<ImageSize> jpeg2000_size(std::string_view bytes) {
  // The codestream's own size, which is the one that is decoded; a box around it may say another.
  const auto at = bytes.find("\xff\x4f\xff\x51"sv);
  if (at == bytes.npos) return std::nullopt;
  ByteReader reader(bytes.substr(at + 4), Endian::big);
  const std::uint64_t right = reader.u32(4);
  const std::uint64_t bottom = reader.u32(8);
  const std::uint64_t left = reader.u32(12);
  const std::uint64_t top = reader.u32(16);
  if (!reader.ok() || right < left || bottom < top) return std::nullopt;
  return ImageSize{right - left, bottom - top};
}

std::optional<ImageSize> jbig2_size(std::string_view bytes) {
  // The segment "page information" stands first in a PDF's stream: number, flags, references, page,
  // length.
  ByteReader reader(bytes, Endian::big);
  for (std::uint64_t at = 0, n = 0; reader.has(at, 11) && n < 64; ++n) {
    const auto flags = reader.u8(at + 4);
    const std::uint64_t references = reader.u8(at + 5) >> 5;
    if (references > 4) return std::nullopt;
    const auto page_bytes = (flags & 0x40) != 0 ? 4U : 1U;
    const auto length_at = at + 6 + references + page_bytes;
    const std::uint64_t length = reader.u32(length_at);
    if ((flags & 0x3f) == 48) {
      const ImageSize size{reader.u32(length_at + 4), reader.u32(length_at + 8)};
      if (!reader.ok()) return std::nullopt;
      // A height that is not known yet; stripes follow.
      return ImageSize{size.width, size.height == 0xffffffff ? 1 : size.height};
    }
    if (length == 0xffffffff) return std::nullopt;
    at = length_at + 4 + length;
  }
  return std::nullopt;
}

}  // namespace millrace::document
