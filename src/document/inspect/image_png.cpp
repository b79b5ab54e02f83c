// PNG: chunks with checksums. What is packed in chunks of text is counted, pixels are not unpacked.
#include "document/bounded/byte_reader.h"
#include "document/bounded/inflate.h"
#include "document/bounded/refusal.h"
#include "document/bounded/sha256.h"
#include "document/inspect/content_type.h"
#include "document/inspect/image_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <zlib.h>

namespace millrace::document {

namespace {

constexpr std::string_view kShown[] = {"IHDR", "PLTE", "tRNS", "IDAT", "gAMA",
                                       "cHRM", "sRGB", "iCCP", "pHYs"};

// The packed part of a chunk with text or a profile; nothing for others.
std::string_view packed_part(std::string_view kind, std::string_view data) {
  auto at = data.find('\0');
  if (at == data.npos) return {};
  if (kind == "zTXt" || kind == "iCCP") return data.substr(std::min(at + 2, data.size()));
  if (kind != "iTXt" || data.size() < at + 3 || data[at + 1] != 1) return {};
  at = data.find('\0', at + 3);  // Behind the language.
  if (at != data.npos) at = data.find('\0', at + 1);
  return at == data.npos ? std::string_view() : data.substr(at + 1);
}

Result<void> check_text(std::string_view kind, std::string_view data) {
  constexpr std::uint64_t kTextMax = 8 * kMiB;
  if (kind == "tEXt" && has_markup(data)) return refuse("polyglot", "a web page within the image");
  const auto packed = packed_part(kind, data);
  if (packed.empty()) return ok();
  std::uint64_t total = 0;
  const auto result =
      inflate_bytes(packed, Packing::zlib, [&](std::string_view piece, std::uint64_t) {
        total += piece.size();
        return total <= kTextMax;
      });
  if (result.end == InflateEnd::stopped) {
    return refuse("ratio", fmt::format("a text in the image unpacks to more than {}", kTextMax));
  }
  return ok();
}

}  // namespace

bool png_has_clear_colours(std::string_view bytes) {
  ByteReader reader(bytes, Endian::big);
  for (std::uint64_t at = 8; reader.has(at, 12);) {
    const auto kind = reader.slice(at + 4, 4);
    if (kind == "tRNS") return true;
    if (kind == "IDAT") return false;
    at += 12 + std::uint64_t{reader.u32(at)};
  }
  return false;
}

Result<ImageFrames> read_png(std::string_view bytes, const Limits& limits) {
  ByteReader reader(bytes, Endian::big);
  ImageFrame frame;
  Sha256 digest;
  std::uint32_t chunks = 0;
  bool has_pixels = false;
  std::uint64_t at = 8;
  for (;;) {
    if (!reader.has(at, 12)) return refuse("truncated", "the image ends too early");
    const std::uint64_t length = reader.u32(at);
    const auto kind = reader.slice(at + 4, 4);
    if (!reader.has(at + 8, length + 4)) return refuse("truncated", "the image ends too early");
    if (++chunks > limits.image_segments_max) {
      return refuse("image_segments", "the image has more parts than are allowed");
    }
    const auto data = reader.slice(at + 8, length);
    const auto checked = reader.slice(at + 4, length + 4);
    const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(checked.data()), checked.size());
    if (crc != reader.u32(at + 8 + length)) {
      return refuse("damaged", "a checksum of the image is wrong");
    }
    if (chunks == 1) {
      if (kind != "IHDR" || length != 13)
        return refuse("image_structure", "the image has no header");
      frame.width = reader.u32(at + 8);
      frame.height = reader.u32(at + 12);
      MR_TRY_VOID(check_size({frame.width, frame.height}, limits));
    }
    if (kind == "fcTL") {
      MR_TRY_VOID(check_size({reader.u32(at + 12), reader.u32(at + 16)}, limits));
    }
    if (kind == "pHYs" && length == 9 && data[8] == 1) {
      frame.dpi_x = reader.u32(at + 8) * 0.0254;
      frame.dpi_y = reader.u32(at + 12) * 0.0254;
    }
    MR_TRY_VOID(check_text(kind, data));
    has_pixels = has_pixels || kind == "IDAT";
    if (std::ranges::find(kShown, kind) != std::end(kShown)) digest.add_piece(checked);
    at += 12 + length;
    if (kind == "IEND") break;
  }
  if (!has_pixels) return refuse("image_structure", "the image has no pixels");
  MR_TRY_VOID(check_rest(bytes.substr(at)));
  frame.content_sha256 = digest.hex();
  return ImageFrames{frame};
}

}  // namespace millrace::document
