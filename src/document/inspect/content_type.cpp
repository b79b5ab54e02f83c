#include "document/inspect/content_type.h"

#include "document/bounded/byte_reader.h"
#include "document/bounded/zip_file.h"
#include "document/office/charset_guess.h"
#include "document/office/text_encoding.h"
#include "layout/code_points.h"

#include <algorithm>
#include <string>

namespace millrace::document {

namespace {

using namespace std::string_view_literals;

constexpr std::size_t kPdfHeaderWithin = 1024;  // Readers of PDF look so far for the header.

struct Magic {
  std::string_view bytes;
  ContentType type;
};

constexpr Magic kMagic[] = {
    {"\x89PNG\r\n\x1a\n"sv, {"image", "image/png", "PNG"}},
    {"\xff\xd8\xff"sv, {"image", "image/jpeg", "JPEG"}},
    {"II*\0"sv, {"image", "image/tiff", "TIFF"}},
    {"MM\0*"sv, {"image", "image/tiff", "TIFF"}},
    {"II+\0"sv, {"image", "image/tiff", "TIFF"}},
    {"MM\0+"sv, {"image", "image/tiff", "TIFF"}},
    {"GIF87a"sv, {"image", "image/gif", "GIF"}},
    {"GIF89a"sv, {"image", "image/gif", "GIF"}},
    {"{\\rtf"sv, {"other", "application/rtf", "RTF"}},
    {"MZ"sv, {"other", "application/x-msdownload", "a Windows program"}},
    {"\x7f"
     "ELF"sv,
     {"other", "application/x-executable", "a Linux program"}},
    {"\xca\xfe\xba\xbe"sv, {"other", "application/x-mach-binary", "a Java or macOS program"}},
    {"\xcf\xfa\xed\xfe"sv, {"other", "application/x-mach-binary", "a macOS program"}},
    {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv,
     {"other", "application/x-ole-storage", "an old office file (OLE2: doc, xls, ppt, msg)"}},
    {"Rar!\x1a\x07"sv, {"other", "application/vnd.rar", "a RAR archive"}},
    {"7z\xbc\xaf\x27\x1c"sv, {"other", "application/x-7z-compressed", "a 7z archive"}},
    {"\x1f\x8b"sv, {"other", "application/gzip", "gzip data"}},
    {"BZh"sv, {"other", "application/x-bzip2", "bzip2 data"}},
    {"\xfd"
     "7zXZ\0"sv,
     {"other", "application/x-xz", "xz data"}},
    {"\x28\xb5\x2f\xfd"sv, {"other", "application/zstd", "zstd data"}},
    {"MSCF"sv, {"other", "application/vnd.ms-cab-compressed", "a CAB archive"}},
    {"ITSF"sv, {"other", "application/vnd.ms-htmlhelp", "Windows help"}},
    {"\0asm"sv, {"other", "application/wasm", "a WebAssembly program"}},
    {"SQLite format 3"sv, {"other", "application/vnd.sqlite3", "an SQLite database"}},
    {"L\0\0\0\x01\x14\x02\0"sv, {"other", "application/x-ms-shortcut", "a Windows shortcut"}},
    {"%!PS"sv, {"other", "application/postscript", "PostScript"}},
    {"AT&TFORM"sv, {"other", "image/vnd.djvu", "DjVu"}},
    {"\0\0\x01\0"sv, {"other", "image/x-icon", "an icon"}},
    {"8BPS"sv, {"other", "image/vnd.adobe.photoshop", "a Photoshop image"}},
    {"\0\0\0\x0cjP  "sv, {"other", "image/jp2", "JPEG 2000"}},
    {"FWS"sv, {"other", "application/x-shockwave-flash", "Flash"}},
    {"CWS"sv, {"other", "application/x-shockwave-flash", "Flash"}},
};

constexpr ContentType kPdf{"pdf", "application/pdf", "PDF"};
constexpr ContentType kText{"text", "text/plain", "text"};
constexpr ContentType kZip{"other", "application/zip", "a ZIP archive"};

struct OfficeType {
  std::string_view mark;  // In [Content_Types].xml, or all of the part "mimetype".
  ContentType type;
};

constexpr OfficeType kOpenXml[] = {
    {"wordprocessingml.document.main+xml",
     {"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "DOCX"}},
    {"wordprocessingml.template.main+xml",
     {"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.template", "DOCX"}},
    {"ms-word.document.macroEnabled.main+xml",
     {"docx", "application/vnd.ms-word.document.macroenabled.12", "DOCX with macros"}},
    {"ms-word.template.macroEnabledTemplate.main+xml",
     {"docx", "application/vnd.ms-word.template.macroenabled.12", "DOCX with macros"}},
    {"spreadsheetml.sheet.main+xml",
     {"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "XLSX"}},
    {"spreadsheetml.template.main+xml",
     {"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.template", "XLSX"}},
    {"ms-excel.sheet.macroEnabled.main+xml",
     {"xlsx", "application/vnd.ms-excel.sheet.macroenabled.12", "XLSX with macros"}},
    {"presentationml.presentation.main+xml",
     {"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation", "PPTX"}},
    {"presentationml.slideshow.main+xml",
     {"pptx", "application/vnd.openxmlformats-officedocument.presentationml.slideshow", "PPTX"}},
    {"ms-powerpoint.presentation.macroEnabled.main+xml",
     {"pptx", "application/vnd.ms-powerpoint.presentation.macroenabled.12", "PPTX with macros"}},
};

constexpr OfficeType kOpenDocument[] = {
    {"application/vnd.oasis.opendocument.text",
     {"odt", "application/vnd.oasis.opendocument.text", "ODT"}},
    {"application/vnd.oasis.opendocument.text-template",
     {"odt", "application/vnd.oasis.opendocument.text-template", "ODT"}},
    {"application/vnd.oasis.opendocument.spreadsheet",
     {"ods", "application/vnd.oasis.opendocument.spreadsheet", "ODS"}},
    {"application/vnd.oasis.opendocument.presentation",
     {"odp", "application/vnd.oasis.opendocument.presentation", "ODP"}},
};

// By the parts' names, when the archive cannot be opened: then it is a broken file of that type,
// which says more than "an archive".
ContentType type_of_names(std::string_view bytes) {
  const auto has = [&](std::string_view name) { return bytes.find(name) != bytes.npos; };
  for (const auto& office : kOpenDocument) {
    if (bytes.substr(0, 200).find(office.mark) != bytes.npos) return office.type;
  }
  if (!has("[Content_Types].xml")) return kZip;
  if (has("word/document.xml")) return kOpenXml[0].type;
  if (has("xl/workbook.xml")) return kOpenXml[4].type;
  if (has("ppt/presentation.xml")) return kOpenXml[7].type;
  return kZip;
}

ContentType type_of_zip(std::string_view bytes, const Limits& limits) {
  const auto zip = ZipFile::open(bytes, limits);
  if (!zip.has_value()) return type_of_names(bytes);
  constexpr std::uint64_t kTypesMax = 4 * kMiB;
  UnpackBudget budget(limits);
  if (const auto* part = zip->find("[Content_Types].xml")) {
    const auto types = zip->read_all(*part, budget, kTypesMax);
    if (!types.has_value()) return type_of_names(bytes);
    for (const auto& office : kOpenXml) {
      if (types->find(office.mark) != std::string::npos) return office.type;
    }
  }
  if (const auto* part = zip->find("mimetype")) {
    const auto mime = zip->read_all(*part, budget, 200);
    for (const auto& office : kOpenDocument) {
      if (mime.has_value() && *mime == office.mark) return office.type;
    }
  }
  return kZip;
}

bool is_bmp(std::string_view bytes) {
  ByteReader reader(bytes);
  const auto header = reader.u32(14);
  return bytes.starts_with("BM") && reader.ok() && reader.u32(10) < 0x10000 &&
         (header == 12 || (header >= 40 && header <= 124));
}

bool is_pnm(std::string_view bytes) {
  return bytes.size() > 3 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '6' &&
         (bytes[2] == '\n' || bytes[2] == ' ' || bytes[2] == '\r' || bytes[2] == '\t') &&
         (std::isdigit(static_cast<unsigned char>(bytes[3])) != 0 || bytes[3] == '#');
}

ContentType type_of_text(std::string_view bytes) {
  auto head = layout::to_lower(bytes.substr(0, 512));
  std::string_view start = head;
  if (start.starts_with("\xef\xbb\xbf")) start.remove_prefix(3);
  start.remove_prefix(std::min(start.find_first_not_of(" \t\r\n"), start.size()));
  if (start.starts_with("#!")) return {"other", "text/x-shellscript", "a script"};
  if (start.starts_with("<?php")) return {"other", "text/x-php", "a PHP script"};
  if (start.starts_with("@echo off")) return {"other", "text/x-msdos-batch", "a batch file"};
  if (start.starts_with("<svg") ||
      (start.starts_with("<?xml") && start.find("<svg") != start.npos)) {
    return {"other", "image/svg+xml", "SVG"};
  }
  if (start.starts_with("<!doctype html") || start.starts_with("<html") ||
      start.starts_with("<script") || start.starts_with("<head") || start.starts_with("<body")) {
    return {"other", "text/html", "a web page"};
  }
  if (start.starts_with("<?xml") || start.starts_with("<!doctype")) {
    return {"other", "application/xml", "XML"};
  }
  if (start.size() > 1 && start[0] == '<' &&
      std::isalpha(static_cast<unsigned char>(start[1])) != 0) {
    return {"other", "application/xml", "markup"};
  }
  return kText;
}

std::size_t pdf_header_at(std::string_view bytes) {
  return bytes.substr(0, kPdfHeaderWithin + 5).find("%PDF-");
}

// A byte order mark or white space that some writers leave before the header.
bool is_blank(std::string_view bytes) {
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  return bytes.size() <= 16 && bytes.find_first_not_of(" \t\r\n\0"sv) == bytes.npos;
}

}  // namespace

ContentType detect_type(std::string_view bytes, const Limits& limits) {
  const auto pdf_at = pdf_header_at(bytes);
  if (pdf_at != bytes.npos && is_blank(bytes.substr(0, pdf_at))) return kPdf;
  if (bytes.starts_with("PK\x03\x04")) return type_of_zip(bytes, limits);
  if (bytes.starts_with("PK\x05\x06") || bytes.starts_with("PK\x07\x08")) return kZip;
  if (bytes.size() >= 12 && bytes.starts_with("RIFF") && bytes.substr(8, 4) == "WEBP") {
    return {"image", "image/webp", "WebP"};
  }
  if (is_bmp(bytes)) return {"image", "image/bmp", "BMP"};
  if (is_pnm(bytes)) return {"image", "image/x-portable-anymap", "PNM"};
  for (const auto& magic : kMagic) {
    if (bytes.starts_with(magic.bytes)) return magic.type;
  }
  if (bytes.substr(0, 12).substr(4 < bytes.size() ? 4 : bytes.size()).starts_with("ftyp")) {
    const auto brand = bytes.substr(8, 4);
    static constexpr std::string_view kPhotos[] = {"heic", "heix", "heim", "heis", "hevc",
                                                   "mif1", "msf1", "avif", "avis"};
    const bool photo = std::ranges::find(kPhotos, brand) != std::end(kPhotos);
    return photo ? ContentType{"other", "image/heif", "a HEIF photograph (HEIC, AVIF)"}
                 : ContentType{"other", "video/mp4", "a film"};
  }
  if (bytes.substr(0, 262).ends_with("ustar"))
    return {"other", "application/x-tar", "a TAR archive"};
  if (!bytes.empty() && is_text(bytes)) return type_of_text(bytes);
  // Bytes of no type with a header of PDF in reach: readers of PDF will take it for one.
  if (pdf_at != bytes.npos) return kPdf;
  return {};
}

bool has_markup(std::string_view bytes) {
  const auto text = layout::to_lower(bytes.substr(0, kMiB));
  for (const auto mark : {"<script", "<html", "<?php", "<iframe", "<svg", "javascript:"}) {
    if (text.find(mark) != std::string::npos) return true;
  }
  return false;
}

namespace {

// Whether programs that read ZIP, which look from the end, would open this.
bool ends_as_zip(std::string_view bytes) {
  constexpr std::size_t kEndBytes = 22;
  const auto tail = bytes.substr(bytes.size() - std::min<std::size_t>(bytes.size(), 66'000));
  const auto begin = bytes.size() - tail.size();
  ByteReader reader(bytes);
  for (auto at = tail.rfind("PK\x05\x06"); at != tail.npos && at + kEndBytes <= tail.size();
       at = at == 0 ? tail.npos : tail.rfind("PK\x05\x06", at - 1)) {
    const auto end = begin + at;
    const auto directory_bytes = reader.u32(end + 12);
    if (directory_bytes <= end && bytes.substr(end - directory_bytes).starts_with("PK\x01\x02")) {
      const bool reaches_end = end + kEndBytes + reader.u16(end + 20) == bytes.size();
      const bool after_pdf = bytes.substr(end).find("%%EOF") == bytes.npos;
      if (reaches_end || after_pdf) return true;
    }
  }
  return false;
}

}  // namespace

std::string_view polyglot_reason(std::string_view bytes, const ContentType& type) {
  const auto pdf_at = pdf_header_at(bytes);
  if (type.kind == "pdf") {
    if (!is_blank(bytes.substr(0, std::min(pdf_at, bytes.size())))) {
      return "something else stands before the PDF";
    }
  } else if (pdf_at != bytes.npos && bytes.find("%%EOF") != bytes.npos) {
    return "the file is a PDF too";
  }
  const bool is_zip = type.kind != "pdf" && type.kind != "image" && type.kind != "text";
  if (!is_zip && ends_as_zip(bytes)) return "the file is a ZIP archive too";
  // Headers that are the start of a comment in JavaScript.
  if (type.mime == "image/gif" &&
      (bytes.substr(6).starts_with("/*") || bytes.substr(6).starts_with("=")))
    return "the file is a script too";
  if (type.mime == "image/bmp" &&
      (bytes.substr(2).starts_with("/*") || bytes.substr(2).starts_with("=")))
    return "the file is a script too";
  return {};
}

}  // namespace millrace::document
