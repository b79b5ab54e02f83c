#include "template/font.h"

#include <fmt/format.h>

#include <array>

namespace millrace::templates {
namespace {

struct FontType {
  std::string_view suffix, magic, media_type, format;
};

using std::string_view_literals::operator""sv;

constexpr auto kTypes = std::to_array<FontType>({
    {".woff2", "wOF2", "font/woff2", "woff2"},
    {".woff", "wOFF", "font/woff", "woff"},
    {".otf", "OTTO", "font/otf", "opentype"},
    {".ttf", "\0\1\0\0"sv, "font/ttf", "truetype"},
});

}  // namespace

std::string base64(std::string_view bytes) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8U | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      const bool beyond = k > bytes.size() - i;
      out += beyond ? '=' : kLetters[group >> (18 - 6 * k) & 63U];
    }
  }
  return out;
}

Result<std::string> font_address(std::string_view name, std::string_view bytes) {
  for (const auto& type : kTypes) {
    if (!name.ends_with(type.suffix)) continue;
    if (!bytes.starts_with(type.magic)) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("{} does not begin as a {} font does", name, type.format));
    }
    if (bytes.size() > kFontMaxBytes) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("{} must have at most {} bytes", name, kFontMaxBytes));
    }
    return fmt::format("url(\"data:{};base64,{}\") format(\"{}\")", type.media_type, base64(bytes),
                       type.format);
  }
  return fail(ErrorKind::invalid_argument,
              fmt::format("{} is no font: expected .woff2, .woff, .otf or .ttf", name));
}

}  // namespace millrace::templates
