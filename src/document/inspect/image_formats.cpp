// What the formats share, and the simple ones: GIF, BMP, WebP, PNM.
#include "document/inspect/image_formats.h"

#include "document/bounded/byte_reader.h"
#include "document/bounded/refusal.h"
#include "document/bounded/sha256.h"
#include "document/inspect/content_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace millrace::document {

namespace {

std::unexpected<Error> truncated() { return refuse("truncated", "the image ends too early"); }

std::string digest_of(std::string_view bytes) {
  Sha256 digest;
  digest.add(bytes);
  return digest.hex();
}

// Of blocks with a length each, up to an empty one. Answers with where they end; 0: never.
std::uint64_t skip_blocks(ByteReader& reader, std::uint64_t at) {
  while (reader.has(at, 1)) {
    const auto size = reader.u8(at);
    at += 1 + std::uint64_t{size};
    if (size == 0) return at;
  }
  return 0;
}

}  // namespace

Result<void> check_size(ImageSize size, const Limits& limits) {
  if (size.width == 0 || size.height == 0) {
    return refuse("image_structure", "an image without a size");
  }
  if (size.width > limits.pixels_max || size.height > limits.pixels_max / size.width) {
    return refuse("pixels", fmt::format("an image of {} by {} pixels, more than {} in all",
                                        size.width, size.height, limits.pixels_max));
  }
  return ok();
}

Result<void> check_rest(std::string_view rest) {
  // Cameras put previews and films behind a picture; archives, programs and pages nobody does.
  for (const auto mark : {"PK\x03\x04", "PK\x05\x06", "%PDF-", "Rar!\x1a", "7z\xbc\xaf"}) {
    if (rest.find(mark) != rest.npos) {
      return refuse("polyglot", "another file follows the end of the image");
    }
  }
  if (rest.starts_with("MZ") || has_markup(rest)) {
    return refuse("polyglot", "a program or a web page follows the end of the image");
  }
  return ok();
}

int turn_of_orientation(std::uint32_t orientation) {
  switch (orientation) {
    case 3:
      return 180;
    case 6:
      return 90;
    case 8:
      return 270;
    default:
      return 0;
  }
}

Result<ImageFrames> read_gif(std::string_view bytes, const Limits& limits) {
  ByteReader reader(bytes);
  ImageFrame frame{.width = reader.u16(6), .height = reader.u16(8)};
  MR_TRY_VOID(check_size({frame.width, frame.height}, limits));
  const auto flags = reader.u8(10);
  std::uint64_t at = 13 + ((flags & 0x80) != 0 ? std::uint64_t{3} << ((flags & 7) + 1) : 0);
  std::uint32_t frames = 0;
  for (;;) {
    if (!reader.has(at, 1)) return truncated();
    const auto kind = reader.u8(at);
    if (kind == 0x3b) break;
    if (kind == 0x21) {
      at = skip_blocks(reader, at + 2);
    } else if (kind == 0x2c) {
      MR_TRY_VOID(check_size({reader.u16(at + 5), reader.u16(at + 7)}, limits));
      if (++frames > limits.image_frames_max) {
        return refuse("page_count", "the image has more frames than are allowed");
      }
      const auto local = reader.u8(at + 9);
      const auto palette = (local & 0x80) != 0 ? std::uint64_t{3} << ((local & 7) + 1) : 0;
      at = skip_blocks(reader, at + 10 + palette + 1);
    } else {
      return refuse("image_structure", "the image has a block of no known kind");
    }
    if (at == 0) return truncated();
  }
  if (frames == 0) return refuse("image_structure", "the image has no frame");
  MR_TRY_VOID(check_rest(bytes.substr(at + 1)));
  frame.content_sha256 = digest_of(bytes);
  return ImageFrames{frame};  // Of a film the first: that is what is read.
}

Result<ImageFrames> read_bmp(std::string_view bytes, const Limits& limits) {
  ByteReader reader(bytes);
  const auto header = reader.u32(14);
  const bool old = header == 12;
  const auto width =
      old ? std::int64_t{reader.u16(18)} : std::int64_t{static_cast<std::int32_t>(reader.u32(18))};
  const auto height =
      old ? std::int64_t{reader.u16(20)} : std::int64_t{static_cast<std::int32_t>(reader.u32(22))};
  if (width <= 0 || height == 0) return refuse("image_structure", "an image without a size");
  ImageFrame frame{.width = static_cast<std::uint64_t>(width),
                   .height = static_cast<std::uint64_t>(std::llabs(height))};
  MR_TRY_VOID(check_size({frame.width, frame.height}, limits));
  const std::uint64_t bits = reader.u16(old ? 24 : 28);
  const auto packing = old ? 0 : reader.u32(30);
  static constexpr std::uint64_t kDepths[] = {1, 4, 8, 16, 24, 32};
  if (std::ranges::find(kDepths, bits) == std::end(kDepths)) {
    return refuse("image_structure", "an image of no known depth");
  }
  const std::uint64_t data = reader.u32(10);
  const auto row = (frame.width * bits + 31) / 32 * 4;
  const bool packed = packing == 1 || packing == 2;
  if (!reader.ok() || data >= bytes.size() || (!packed && !reader.has(data, row * frame.height))) {
    return truncated();
  }
  if (!old) {
    frame.dpi_x = reader.u32(38) * 0.0254;
    frame.dpi_y = reader.u32(42) * 0.0254;
  }
  if (!packed) MR_TRY_VOID(check_rest(bytes.substr(data + row * frame.height)));
  frame.content_sha256 = digest_of(bytes);
  return ImageFrames{frame};
}

namespace {

std::optional<ImageSize> webp_size(std::string_view kind, std::string_view data) {
  ByteReader reader(data);
  ImageSize size;
  if (kind == "VP8X") {
    const auto three = [&](std::uint64_t at) {
      return reader.u16(at) | std::uint64_t{reader.u8(at + 2)} << 16;
    };
    size = {.width = three(4) + 1, .height = three(7) + 1};
  } else if (kind == "VP8L") {
    const auto bits = reader.u32(1);
    size = {.width = (bits & 0x3fff) + 1, .height = (bits >> 14 & 0x3fff) + 1};
  } else if (kind == "VP8 ") {
    size = {.width = reader.u16(6) & 0x3fffU, .height = reader.u16(8) & 0x3fffU};
  } else {
    return std::nullopt;
  }
  return reader.ok() ? size : ImageSize{};
}

}  // namespace

Result<ImageFrames> read_webp(std::string_view bytes, const Limits& limits) {
  ByteReader reader(bytes);
  const auto end = 8 + std::uint64_t{reader.u32(4)};
  if (end > bytes.size()) return truncated();
  std::optional<ImageSize> size;
  std::uint32_t chunks = 0;
  for (std::uint64_t at = 12; at + 8 <= end;) {
    const auto kind = reader.slice(at, 4);
    const std::uint64_t length = reader.u32(at + 4);
    if (length > end - at - 8) return truncated();
    if (++chunks > limits.image_segments_max) {
      return refuse("image_segments", "the image has more parts than are allowed");
    }
    const auto data = reader.slice(at + 8, length);
    if (const auto found = webp_size(kind, data)) {
      MR_TRY_VOID(check_size(*found, limits));
      if (!size.has_value()) size = found;
    }
    if ((kind == "EXIF" || kind == "XMP ") && has_markup(data)) {
      return refuse("polyglot", "a web page within the image");
    }
    at += 8 + length + (length & 1);
  }
  if (!size.has_value()) return refuse("image_structure", "the image has no frame");
  MR_TRY_VOID(check_rest(bytes.substr(end)));
  return ImageFrames{
      {.width = size->width, .height = size->height, .content_sha256 = digest_of(bytes)}};
}

namespace {

// Numbers of a PNM header, with comments between them.
class PnmHeader {
 public:
  explicit PnmHeader(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t number() {
    while (at_ < bytes_.size()) {
      if (bytes_[at_] == '#') {
        at_ = std::min(bytes_.find('\n', at_), bytes_.size());
      } else if (std::isspace(static_cast<unsigned char>(bytes_[at_])) != 0) {
        ++at_;
      } else {
        break;
      }
    }
    std::uint64_t value = 0;
    while (at_ < bytes_.size() && std::isdigit(static_cast<unsigned char>(bytes_[at_])) != 0) {
      value = std::min<std::uint64_t>(value * 10 + static_cast<std::uint64_t>(bytes_[at_] - '0'),
                                      std::uint64_t{1} << 40);
      ++at_;
    }
    return value;
  }
  std::uint64_t end() const { return at_ + 1; }  // One blank ends the header.

 private:
  std::string_view bytes_;
  std::size_t at_ = 2;
};

}  // namespace

Result<ImageFrames> read_pnm(std::string_view bytes, const Limits& limits) {
  const char kind = bytes.at(1);
  PnmHeader header(bytes);
  ImageFrame frame{.width = header.number(), .height = header.number()};
  MR_TRY_VOID(check_size({frame.width, frame.height}, limits));
  const bool bits = kind == '1' || kind == '4';
  const auto depth = bits ? 1 : header.number();
  if (depth == 0 || depth > 65'535) return refuse("image_structure", "an image of no known depth");
  const std::uint64_t samples = kind == '3' || kind == '6' ? 3 : 1;
  // Written as text each sample takes two bytes, a digit and a blank; bits need no blank.
  std::uint64_t needed = frame.width * frame.height * samples;
  if (kind == '2' || kind == '3') needed = needed * 2 - 1;
  if (kind == '4') needed = (frame.width + 7) / 8 * frame.height;
  if (kind >= '5' && depth > 255) needed *= 2;
  if (header.end() > bytes.size() || needed > bytes.size() - header.end()) return truncated();
  if (kind >= '4') MR_TRY_VOID(check_rest(bytes.substr(header.end() + needed)));
  frame.content_sha256 = digest_of(bytes);
  return ImageFrames{frame};
}

}  // namespace millrace::document
