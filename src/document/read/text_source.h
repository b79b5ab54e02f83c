// The text layer of a PDF page as a page of ours, and whether it may be used.
#pragma once

#include "base/result.h"
#include "document/read/pdf_file.h"
#include "layout/form.h"
#include "layout/raw_page.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace millrace::document {

// Words in their places; a page whose text mostly runs in another direction is turned upright.
Result<layout::RawPage> text_layer_page(const PdfPageContent& content, std::uint32_t page);

// Its check boxes, those of `fields` and those that it draws, on the page of text_layer_page().
std::vector<layout::DrawnBox> text_layer_boxes(const PdfPageContent& content,
                                               std::span<const PdfField> fields);

struct TextLayerChoice {
  bool use = false;
  std::string_view why_not = {};
};
TextLayerChoice choose_text_layer(const PdfPageContent& content, const layout::RawPage& page);

}  // namespace millrace::document
