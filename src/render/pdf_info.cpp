#include "render/pdf_info.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>

namespace millrace::render {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

// Takes one character off the front; what is not UTF-8 costs one byte and gives U+FFFD.
char32_t take_character(std::string_view& text) {
  const auto byte = [&text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  std::size_t length = 1;
  char32_t value = first;
  if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    value = first & 0x07U;
  } else if (first >= 0xE0) {
    length = 3;
    value = first & 0x0FU;
  } else if (first >= 0xC2) {
    length = 2;
    value = first & 0x1FU;
  }
  const bool is_lead = first < 0x80 || (first >= 0xC2 && first <= 0xF4);
  bool valid = is_lead && text.size() >= length;
  for (std::size_t i = 1; valid && i < length; ++i) {
    valid = (byte(i) & 0xC0U) == 0x80;
    value = (value << 6U) | (byte(i) & 0x3FU);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  valid = valid && value >= kSmallest[length] && value <= 0x10FFFF &&
          (value < 0xD800 || value > 0xDFFF);
  text.remove_prefix(valid ? length : 1);
  return valid ? value : kReplacement;
}

std::string utf16_hex(std::string_view utf8) {
  std::string out = "<FEFF";
  while (!utf8.empty()) {
    const char32_t c = take_character(utf8);
    if (c < 0x10000) {
      out += fmt::format("{:04X}", static_cast<unsigned>(c));
    } else {
      const auto rest = static_cast<unsigned>(c - 0x10000);
      out += fmt::format("{:04X}{:04X}", 0xD800 + (rest >> 10U), 0xDC00 + (rest & 0x3FFU));
    }
  }
  return out + ">";
}

std::string join(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

}  // namespace

std::string pdf_text(std::string_view utf8) {
  const bool plain = std::ranges::all_of(utf8, [](char c) { return c >= ' ' && c <= '~'; });
  if (!plain) return utf16_hex(utf8);
  std::string out = "(";
  for (const char c : utf8) {
    if (c == '(' || c == ')' || c == '\\') out += '\\';
    out += c;
  }
  return out + ")";
}

std::string make_info_update(const PdfShape& shape, const PdfMetadata& metadata, Clock::Wall now) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now);
  const std::string date = fmt::format("(D:{:%Y%m%d%H%M%S}Z)", seconds);
  std::string dictionary;
  const auto add = [&dictionary](std::string_view key, std::string_view value) {
    if (!value.empty()) dictionary += fmt::format("/{} {}\n", key, pdf_text(value));
  };
  add("Title", metadata.title);
  add("Author", metadata.author);
  add("Subject", metadata.subject);
  add("Keywords", join(metadata.keywords));
  add("Creator", metadata.creator);
  add("Producer", "Millrace with Chromium and Skia/PDF");
  const std::uint64_t info = shape.object_count;
  const std::uint64_t at = shape.bytes + 1;  // Behind a newline of our own.
  const std::string object = fmt::format("{} 0 obj\n<<{}/CreationDate {}\n/ModDate {}>>\nendobj\n",
                                         info, dictionary, date, date);
  return fmt::format(
      "\n{}xref\n{} 1\n{:010} 00000 n \ntrailer\n<</Size {}\n/Root {} 0 R\n/Info {} 0 R\n/Prev "
      "{}>>\nstartxref\n{}\n%%EOF\n",
      object, info, at, info + 1, shape.root_object, info, shape.xref_offset, at + object.size());
}

}  // namespace millrace::render
