// Made images: small files of every format that is read, for tests only. Structure as the formats
// say; pixels mostly white.
#pragma once

#include "document/inspect/made_zip.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::document {

inline std::string png_chunk(std::string_view kind, std::string_view data) {
  auto checked = std::string(kind).append(data);
  const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(checked.data()), checked.size());
  return big(data.size(), 4) + checked + big(crc, 4);
}

inline std::string png_header(std::uint32_t width, std::uint32_t height) {
  return "\x89PNG\r\n\x1a\n" +
         png_chunk("IHDR", big(width, 4) + big(height, 4) + std::string("\x08\0\0\0\0", 5));
}

// Eight bits of grey. The pixels may be those of another size.
inline std::string made_png(std::uint32_t width, std::uint32_t height,
                            std::string_view extra_chunks = {}, bool with_pixels = true) {
  std::string rows;
  for (std::uint32_t y = 0; with_pixels && y < height; ++y) {
    rows += '\0';
    rows.append(width, '\xff');
  }
  return png_header(width, height)
      .append(extra_chunks)
      .append(png_chunk("IDAT", deflated(rows)))
      .append(png_chunk("IEND", {}));
}

inline std::string jpeg_segment(unsigned marker, std::string_view data) {
  return std::string("\xff") + static_cast<char>(marker) + big(data.size() + 2, 2) +
         std::string(data);
}

// Grey, all coefficients zero, for sizes up to 8 by 8; larger sizes only claim to be.
inline std::string made_jpeg(std::uint32_t width, std::uint32_t height,
                             std::string_view extra_segments = {}, std::string_view rest = {}) {
  const std::string sizes =
      "\x08" + big(height, 2) + big(width, 2) + std::string("\x01\x01\x11\0", 4);
  const std::string table = std::string("\0", 1) + std::string(64, '\x01');
  const std::string lengths = std::string("\x01", 1) + std::string(15, '\0') + std::string(1, '\0');
  return std::string("\xff\xd8")
      .append(jpeg_segment(0xe0, std::string("JFIF\0\x01\x01\x01\0\x96\0\x96\0\0", 14)))
      .append(extra_segments)
      .append(jpeg_segment(0xdb, table))
      .append(jpeg_segment(0xc0, sizes))
      .append(jpeg_segment(0xc4, std::string(1, '\0') + lengths))
      .append(jpeg_segment(0xc4, std::string(1, '\x10') + lengths))
      .append(jpeg_segment(0xda, std::string("\x01\x01\0\0\x3f\0", 6)))
      .append("\x3f")
      .append("\xff\xd9")
      .append(rest);
}

struct TiffField {
  std::uint16_t tag = 0;
  std::uint16_t type = 4;  // 3: 16 bits, 4: 32 bits.
  std::uint32_t count = 1;
  std::uint32_t value = 0;
};

// A directory and the link to the next.
inline std::string tiff_directory(const std::vector<TiffField>& fields, std::uint32_t next) {
  std::string text = little(fields.size(), 2);
  for (const auto& field : fields) {
    text += little(field.tag, 2) + little(field.type, 2) + little(field.count, 4) +
            little(field.value, 4);
  }
  return text + little(next, 4);
}

// Pages of bits, one strip each, not packed.
inline std::string made_tiff(std::uint32_t width, std::uint32_t height, std::uint32_t pages = 1) {
  const auto strip = (width + 7) / 8 * height;
  const std::uint32_t fields = 9;
  const std::uint32_t directory = 2 + fields * 12 + 4;
  std::string file = std::string("II*\0", 4) + little(8, 4);
  for (std::uint32_t page = 0; page < pages; ++page) {
    const auto begin = static_cast<std::uint32_t>(file.size());
    const auto data = begin + directory;
    file += tiff_directory({{256, 4, 1, width},
                            {257, 4, 1, height},
                            {258, 3, 1, 1},
                            {259, 3, 1, 1},
                            {262, 3, 1, 0},
                            {273, 4, 1, data},
                            {277, 3, 1, 1},
                            {278, 4, 1, height},
                            {279, 4, 1, strip}},
                           page + 1 == pages ? 0 : data + strip);
    file.append(strip, static_cast<char>(page));
  }
  return file;
}

inline std::string gif_frame(std::uint32_t width, std::uint32_t height) {
  return "," + little(0, 4) + little(width, 2) + little(height, 2) +
         std::string("\0\x02\x02\x4c\x01\0", 6);
}

inline std::string made_gif(std::uint32_t width, std::uint32_t height, std::uint32_t frames = 1) {
  std::string file = "GIF89a" + little(width, 2) + little(height, 2) + std::string("\x80\0\0", 3) +
                     std::string("\xff\xff\xff\0\0\0", 6);
  for (std::uint32_t i = 0; i < frames; ++i) file += gif_frame(width, height);
  return file + ";";
}

inline std::string made_bmp(std::int32_t width, std::int32_t height, bool with_pixels = true) {
  const auto row = static_cast<std::size_t>((width * 24LL + 31) / 32 * 4);
  const auto rows =
      static_cast<std::size_t>(height < 0 ? -static_cast<std::int64_t>(height) : height);
  std::string pixels = with_pixels ? std::string(row * rows, '\xff') : std::string();
  return "BM" + little(54 + pixels.size(), 4) + little(0, 4) + little(54, 4) + little(40, 4) +
         little(static_cast<std::uint32_t>(width), 4) +
         little(static_cast<std::uint32_t>(height), 4) + little(1, 2) + little(24, 2) +
         little(0, 4) + little(pixels.size(), 4) + little(2835, 4) + little(2835, 4) +
         little(0, 8) + pixels;
}

inline std::string made_webp(std::uint32_t width, std::uint32_t height) {
  const auto bits = (width - 1) | (height - 1) << 14;
  const auto data = "\x2f" + little(bits, 4) + std::string("\x88\x88\x08", 3);
  return "RIFF" + little(4 + 8 + data.size(), 4) + "WEBPVP8L" + little(data.size(), 4) + data;
}

inline std::string made_pgm(std::uint32_t width, std::uint32_t height, bool with_pixels = true) {
  return "P5\n" + std::to_string(width) + " " + std::to_string(height) + "\n255\n" +
         (with_pixels ? std::string(std::size_t{width} * height, '\xff') : std::string());
}

}  // namespace millrace::document
