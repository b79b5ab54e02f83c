#include "api/upload/content_type.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

namespace millrace::api {
namespace {

using std::string_view_literals::operator""sv;

struct Magic {
  std::size_t offset;
  std::string_view bytes;
  std::string_view type;
};

// The first that fits; longer ones of a family stand before shorter ones.
constexpr std::array kMagics{
    Magic{0, "%PDF-"sv, "application/pdf"},
    Magic{0, "\x89PNG\r\n\x1a\n"sv, "image/png"},
    Magic{0, "\xff\xd8\xff"sv, "image/jpeg"},
    Magic{0, "GIF87a"sv, "image/gif"},
    Magic{0, "GIF89a"sv, "image/gif"},
    Magic{0, "II*\0"sv, "image/tiff"},
    Magic{0, "MM\0*"sv, "image/tiff"},
    Magic{0, "\0\0\0\x0cjP  \r\n\x87\n"sv, "image/jp2"},
    Magic{0, "8BPS"sv, "image/vnd.adobe.photoshop"},
    Magic{128, "DICM"sv, "application/dicom"},
    Magic{0, "{\\rtf"sv, "application/rtf"},
    Magic{0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv, "application/x-ole-storage"},
    Magic{0, "7z\xbc\xaf\x27\x1c"sv, "application/x-7z-compressed"},
    Magic{0, "Rar!\x1a\x07"sv, "application/vnd.rar"},
    Magic{0, "\x1f\x8b"sv, "application/gzip"},
    Magic{0, "BZh"sv, "application/x-bzip2"},
    Magic{0,
          "\xfd"
          "7zXZ\0"sv,
          "application/x-xz"},
    Magic{0, "\x28\xb5\x2f\xfd"sv, "application/zstd"},
    Magic{257, "ustar"sv, "application/x-tar"},
    Magic{0,
          "\x7f"
          "ELF"sv,
          "application/x-executable"},
    Magic{0, "MZ"sv, "application/vnd.microsoft.portable-executable"},
    Magic{0, "\xca\xfe\xba\xbe"sv, "application/java-vm"},
    Magic{0, "\0asm"sv, "application/wasm"},
    Magic{0, "SQLite format 3\0"sv, "application/vnd.sqlite3"},
    Magic{0, "OggS"sv, "application/ogg"},
    Magic{0, "fLaC"sv, "audio/flac"},
    Magic{0, "ID3"sv, "audio/mpeg"},
    Magic{0, "\x1a\x45\xdf\xa3"sv, "video/webm"},
    Magic{0, "%!PS"sv, "application/postscript"},
};

bool has_at(std::string_view head, std::size_t offset, std::string_view bytes) {
  return head.size() >= offset + bytes.size() && head.substr(offset, bytes.size()) == bytes;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// "Text/CSV; charset=utf-8" → "text/csv"; empty for what is no type.
std::string plain_type(std::string_view announced) {
  auto type = announced.substr(0, announced.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  while (type.starts_with(' ')) type.remove_prefix(1);
  const bool clean = std::ranges::all_of(type, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '/' || c == '.' || c == '+' || c == '-';
  });
  if (!clean || type.size() > 100 || std::ranges::count(type, '/') != 1) return {};
  return lower(type);
}

// A container whose parts have fixed names at its beginning: Office and OpenDocument files.
std::string_view zip_type(std::string_view head) {
  constexpr std::string_view kMimetype = "mimetype";
  if (has_at(head, 30, kMimetype)) {
    const auto rest = head.substr(30 + kMimetype.size());
    for (const auto type :
         {"application/vnd.oasis.opendocument.text"sv,
          "application/vnd.oasis.opendocument.spreadsheet"sv,
          "application/vnd.oasis.opendocument.presentation"sv, "application/epub+zip"sv}) {
      if (rest.starts_with(type)) return type;
    }
  }
  if (head.contains("word/")) {
    return "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
  }
  if (head.contains("xl/")) {
    return "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
  }
  if (head.contains("ppt/")) {
    return "application/vnd.openxmlformats-officedocument.presentationml.presentation";
  }
  return "application/zip";
}

// The ISO base media family names its brand behind "ftyp".
std::string_view brand_type(std::string_view head) {
  const auto brand = head.substr(8, 4);
  if (brand == "heic" || brand == "heix" || brand == "mif1" || brand == "msf1") {
    return "image/heic";
  }
  if (brand == "avif" || brand == "avis") return "image/avif";
  if (brand == "qt  ") return "video/quicktime";
  if (brand.starts_with("M4A")) return "audio/mp4";
  return "video/mp4";
}

std::optional<std::string_view> riff_type(std::string_view head) {
  if (!has_at(head, 0, "RIFF") || head.size() < 12) return std::nullopt;
  const auto kind = head.substr(8, 4);
  if (kind == "WEBP") return "image/webp";
  if (kind == "WAVE") return "audio/wav";
  if (kind == "AVI ") return "video/x-msvideo";
  return std::nullopt;
}

// Whether all of it is UTF-8 without control characters; a letter that the end cuts is none.
bool is_text(std::string_view head) {
  std::size_t i = 0;
  while (i < head.size()) {
    const auto c = static_cast<unsigned char>(head[i]);
    if (c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1b) return false;
    if (c == 0x7f) return false;
    const std::size_t more = c < 0x80             ? 0
                             : (c & 0xe0) == 0xc0 ? 1
                             : (c & 0xf0) == 0xe0 ? 2
                             : (c & 0xf8) == 0xf0 ? 3
                                                  : 4;
    if (more == 4) return false;
    for (std::size_t k = 1; k <= more; ++k) {
      if (i + k == head.size()) return true;
      if ((static_cast<unsigned char>(head[i + k]) & 0xc0) != 0x80) return false;
    }
    i += more + 1;
  }
  return true;
}

bool is_text_type(std::string_view type) {
  return type.starts_with("text/") || type == "application/json" || type == "application/xml" ||
         type == "application/x-ndjson" || type == "application/yaml" ||
         type == "application/javascript" || type.ends_with("+json") || type.ends_with("+xml");
}

// Markup is what it is: a page that is called a text would run in a browser all the same.
std::string_view markup_type(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos) return {};
  const auto start = lower(text.substr(begin, 256));
  const bool page = start.starts_with("<!doctype html") || start.starts_with("<html") ||
                    start.starts_with("<head") || start.starts_with("<body") ||
                    start.starts_with("<script") || start.starts_with("<iframe");
  if (page) return "text/html";
  if (start.starts_with("<svg")) return "image/svg+xml";
  if (!start.starts_with("<?xml")) return {};
  return start.contains("<svg")    ? "image/svg+xml"
         : start.contains("<html") ? "application/xhtml+xml"
                                   : "application/xml";
}

std::string text_type(std::string_view head, const std::string& announced) {
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  const auto markup = markup_type(head);
  if (markup == "application/xml" && announced.ends_with("+xml") && announced != "image/svg+xml") {
    return announced;
  }
  if (!markup.empty()) return std::string(markup);
  const bool active = announced == "text/html" || announced.ends_with("+xml");
  if (is_text_type(announced) && !active) return announced;
  return "text/plain";
}

bool is_ole_document(std::string_view type) {
  return type == "application/msword" || type == "application/vnd.ms-excel" ||
         type == "application/vnd.ms-powerpoint" || type == "application/vnd.ms-outlook";
}

}  // namespace

std::string content_type_of(std::span<const std::byte> bytes, std::string_view announced) {
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()),
                              std::min(bytes.size(), kSniffBytes));
  const auto said = plain_type(announced);
  const bool text = is_text(head);
  for (const auto& magic : kMagics) {
    if (!has_at(head, magic.offset, magic.bytes)) continue;
    if (text && magic.bytes.size() <= 3) continue;  // A letter that begins with "MZ".
    if (magic.type == "application/x-ole-storage" && is_ole_document(said)) return said;
    return std::string(magic.type);
  }
  if (has_at(head, 0, "PK\x03\x04"sv)) return std::string(zip_type(head));
  if (has_at(head, 0, "PK\x05\x06"sv)) return "application/zip";
  if (has_at(head, 4, "ftyp") && head.size() >= 12) return std::string(brand_type(head));
  if (const auto riff = riff_type(head)) return std::string(*riff);
  if (head.size() > 14 && has_at(head, 0, "BM") && has_at(head, 6, "\0\0\0\0"sv)) {
    return "image/bmp";
  }
  if (has_at(head, 0, "\xff\xfe"sv) || has_at(head, 0, "\xfe\xff"sv)) return "text/plain";
  if (head.empty() || !text) return "application/octet-stream";
  return text_type(head, said);
}

}  // namespace millrace::api
