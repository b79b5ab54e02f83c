// ContentType: what a file is, judged by its bytes and nothing else.
#pragma once

#include "document/bounded/limits.h"

#include <string_view>

namespace millrace::document {

struct ContentType {
  // pdf, image, docx, odt, xlsx, ods, pptx, odp, text; "other" for what we do not read.
  std::string_view kind = "other";
  std::string_view mime = "application/octet-stream";
  std::string_view label = "something unknown";  // For people: "a Windows program".

  bool is_supported() const { return kind != "other"; }
  friend bool operator==(const ContentType&, const ContentType&) = default;
};

ContentType detect_type(std::string_view bytes, const Limits& limits = {});

// Whether a file could pass for two types, so that two programs would see two documents. Answers
// with the reason, or nothing.
std::string_view polyglot_reason(std::string_view bytes, const ContentType& type);

// Web pages and scripts have no business in images.
bool has_markup(std::string_view bytes);

}  // namespace millrace::document
