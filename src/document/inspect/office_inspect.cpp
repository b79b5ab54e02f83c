// Office and text files: their parts, then their pages as `read` will show them.
#include "document/bounded/sha256.h"
#include "document/bounded/zip_file.h"
#include "document/inspect/inspection.h"
#include "document/inspect/office_parts.h"
#include "document/office/office.h"
#include "layout/code_points.h"

#include <cmath>

namespace millrace::document {

namespace {

InspectedPage inspected(const layout::RawPage& page) {
  InspectedPage result{.width_pt = std::round(page.info.width_px * 72 / page.info.dpi),
                       .height_pt = std::round(page.info.height_px * 72 / page.info.dpi)};
  Sha256 digest;
  digest.add_number(page.info.width_px);
  digest.add_number(page.info.height_px);
  for (const auto& word : page.words) {
    result.text_chars += layout::count_code_points(word.text);
    digest.add_piece(word.text);
    for (const auto value : {word.box.x0, word.box.y0, word.box.x1, word.box.y1}) {
      digest.add_number(static_cast<std::uint64_t>(std::lround(value * 100'000)));
    }
  }
  result.content_sha256 = digest.hex();
  return result;
}

Result<void> take_pages(std::string_view bytes, std::string_view kind, Inspection& inspection) {
  const auto pages = office_pages_of(kind, bytes, inspection.limits);
  if (!pages.has_value()) return inspection.findings.take(pages.error());
  for (const auto& page : *pages) inspection.pages.push_back(inspected(page));
  return ok();
}

}  // namespace

Result<void> inspect_office(std::string_view bytes, std::string_view kind, Inspection& inspection) {
  const auto zip = ZipFile::open(bytes, inspection.limits);
  if (!zip.has_value()) return inspection.findings.take(zip.error());
  const auto checked = check_office_parts(*zip, inspection.findings, inspection.limits);
  if (!checked.has_value()) return inspection.findings.take(checked.error());
  return take_pages(bytes, kind, inspection);
}

Result<void> inspect_text(std::string_view bytes, Inspection& inspection) {
  return take_pages(bytes, "text", inspection);
}

}  // namespace millrace::document
