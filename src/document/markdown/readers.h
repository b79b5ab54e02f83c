// Readers: one function per format, document in, Markdown out.
//
// Each takes the document's bytes (or its text as UTF-8 where that says so), writes blocks in
// reading order and notes what it learns in the report. Refusals are errors with the rule in
// `constraint`; what can be left out with a clear conscience is a warning instead.
#pragma once

#include "base/result.h"
#include "document/bounded/limits.h"
#include "document/markdown/markdown_writer.h"
#include "document/markdown/parse_report.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::layout {
struct PageMap;
}

namespace millrace::document {

struct ReadContext {
  MarkdownWriter& out;
  ParseReport& report;
  const Limits& limits;
};

// `html`, `text` and `markdown` are UTF-8.
Result<void> read_html(std::string_view html, ReadContext& context);
Result<void> read_plain_text(std::string_view text, ReadContext& context);
Result<void> read_markdown(std::string_view markdown, ReadContext& context);
Result<void> read_mail(std::string_view bytes, ReadContext& context);
// docx odt pptx odp xlsx ods
Result<void> read_office_file(std::string_view kind, std::string_view bytes, ReadContext& context);

// What the caller knows of a page that has no text layer: its words by recognition. Nothing: it
// stays without text.
using PageSource = std::function<Result<std::optional<layout::PageMap>>(std::uint32_t page)>;
Result<void> read_pdf_file(int fd, const PageSource& recognised, ReadContext& context);
// Pages that are pictures: everything comes from the source.
Result<void> read_pictures(std::uint32_t pages, const PageSource& recognised, ReadContext& context);

}  // namespace millrace::document
