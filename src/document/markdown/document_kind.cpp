#include "document/markdown/document_kind.h"

#include "document/bounded/refusal.h"
#include "document/inspect/content_type.h"
#include "document/markdown/mime.h"
#include "document/office/text_encoding.h"
#include "layout/code_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace millrace::document {
namespace {

constexpr auto kKinds =
    std::to_array<std::string_view>({"pdf", "image", "html", "markdown", "text", "mail", "docx",
                                     "odt", "pptx", "odp", "xlsx", "ods"});

// By what stands at its beginning, behind comments and declarations.
bool looks_like_html(std::string_view bytes) {
  constexpr std::size_t kHead = 1'024;
  auto head = layout::to_lower(bytes.substr(0, kHead));
  std::erase(head, '\0');  // UTF-16.
  std::string_view start = head;
  start.remove_prefix(std::min(start.find('<'), start.size()));
  if (start.data() - head.data() > 16) return false;
  if (start.starts_with("<!doctype html")) return true;
  for (const std::string_view tag : {"<html", "<head", "<body", "<title"}) {
    if (start.find(tag) != start.npos) return true;
  }
  return false;
}

std::string extension_of(std::string_view file_name) {
  const auto dot = file_name.rfind('.');
  return dot == file_name.npos ? std::string() : layout::to_lower(file_name.substr(dot + 1));
}

}  // namespace

bool is_document_kind(std::string_view kind) {
  return std::ranges::find(kKinds, kind) != kKinds.end();
}

Result<std::string> document_kind(std::string_view bytes, std::string_view file_name,
                                  bool is_text) {
  const auto type = detect_type(bytes);
  const auto extension = extension_of(file_name);
  const bool readable = is_text || type.kind == "text" || type.mime.starts_with("text/") ||
                        type.mime.ends_with("/xml") || type.mime.ends_with("+xml");
  if (type.is_supported() && type.kind != "text") return std::string(type.kind);
  if (looks_like_mail(bytes) || (readable && extension == "eml")) return "mail";
  if (looks_like_html(bytes)) return "html";
  if (!readable) {
    return refuse("unsupported_type",
                  fmt::format("the file is {}, which is not read here", type.label));
  }
  if (extension == "html" || extension == "htm" || extension == "xhtml") return "html";
  if (extension == "md" || extension == "markdown") return "markdown";
  return "text";
}

}  // namespace millrace::document
