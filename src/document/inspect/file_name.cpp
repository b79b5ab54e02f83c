#include "document/inspect/file_name.h"

#include "document/inspect/signatures.h"
#include "layout/code_points.h"

#include <algorithm>
#include <string>

namespace millrace::document {

namespace {

struct Extension {
  std::string_view extension;
  std::string_view expects;  // A kind, or the start of a media type.
};

constexpr Extension kExtensions[] = {
    {"pdf", "pdf"},
    {"png", "image/png"},
    {"jpg", "image/jpeg"},
    {"jpeg", "image/jpeg"},
    {"jfif", "image/jpeg"},
    {"tif", "image/tiff"},
    {"tiff", "image/tiff"},
    {"bmp", "image/bmp"},
    {"gif", "image/gif"},
    {"webp", "image/webp"},
    {"docx", "docx"},
    {"docm", "docx"},
    {"dotx", "docx"},
    {"xlsx", "xlsx"},
    {"xlsm", "xlsx"},
    {"pptx", "pptx"},
    {"pptm", "pptx"},
    {"odt", "odt"},
    {"ods", "ods"},
    {"odp", "odp"},
    {"txt", "text"},
    {"csv", "text"},
    {"tsv", "text"},
    {"md", "text"},
    {"log", "text"},
    {"json", "text"},
    {"pnm", "image/x-portable"},
    {"pbm", "image/x-portable"},
    {"pgm", "image/x-portable"},
    {"ppm", "image/x-portable"},
    {"zip", "application/zip"},
    {"rtf", "application/rtf"},
    {"doc", "application/x-ole"},
    {"xls", "application/x-ole"},
    {"html", "text/html"},
    {"htm", "text/html"},
    {"svg", "image/svg"},
    {"xml", "application/xml"},
};

bool agrees(std::string_view expects, const ContentType& type) {
  return type.kind == expects ||
         (expects.find('/') != expects.npos && type.mime.starts_with(expects));
}

bool is_deceiving(char32_t code) {
  // Marks that turn the direction of writing or have no width.
  return (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
         (code >= 0x200b && code <= 0x200f) || code == 0xfeff || code == layout::kReplacement ||
         code < 0x20 || code == 0x7f;
}

bool has_trick(std::string_view name) {
  for (std::size_t at = 0; at < name.size();) {
    const auto decoded = layout::decode_at(name, at);
    if (!decoded.valid || is_deceiving(decoded.code)) return true;
    at += decoded.bytes;
  }
  const bool is_path = name.find_first_of("/\\") != name.npos;
  const bool hides_ending =
      name.find("      ") != name.npos || name.ends_with('.') || name.ends_with(' ');
  return is_path || hides_ending;
}

}  // namespace

void check_file_name(std::string_view name, const ContentType& type, Findings& findings) {
  if (name.empty()) return;
  if (has_trick(name))
    findings.flag("name_trick", "the file's name shows something else than it is");
  if (is_program_name(name)) {
    findings.flag("name_mismatch", "the file's name is one of a program");
    return;
  }
  const auto dot = name.rfind('.');
  if (dot == name.npos) return;
  const auto extension = layout::to_lower(name.substr(dot + 1));
  const auto* found = std::ranges::find(kExtensions, extension, &Extension::extension);
  if (found == std::end(kExtensions) || agrees(found->expects, type)) return;
  findings.flag("name_mismatch",
                std::string("the file's name promises another type, it is ").append(type.label));
}

}  // namespace millrace::document
