#include "document/office/office.h"

#include "document/bounded/mapped_file.h"
#include "document/office/package.h"
#include "document/office/paper.h"
#include "document/office/text_encoding.h"

#include <fmt/format.h>

namespace millrace::document {

namespace {

using Reader = Result<std::vector<Flow>> (*)(Package&);

Reader reader_of(std::string_view kind) {
  if (kind == "docx") return read_docx;
  if (kind == "xlsx") return read_xlsx;
  if (kind == "pptx") return read_pptx;
  if (kind == "odt" || kind == "ods" || kind == "odp") return read_odf;
  return nullptr;
}

Result<std::vector<layout::RawPage>> text_pages(std::string_view bytes, const Limits& limits) {
  if (bytes.size() > limits.text_bytes_max) {
    return refuse("text_bytes", "the document has more text than is allowed");
  }
  const auto encoding = detect_encoding(bytes);
  if (!encoding.has_value()) return refuse("unsupported_type", "the file is no text");
  return lay_out_text(to_utf8(bytes, *encoding), limits);
}

}  // namespace

bool is_office_kind(std::string_view kind) { return kind == "text" || reader_of(kind) != nullptr; }

Result<std::vector<layout::RawPage>> office_pages_of(std::string_view kind, std::string_view bytes,
                                                     const Limits& limits) {
  if (kind == "text") return text_pages(bytes, limits);
  const auto reader = reader_of(kind);
  if (reader == nullptr) {
    return fail(ErrorKind::invalid_argument, fmt::format("no office document is a {}", kind));
  }
  MR_TRY(auto package, Package::open(bytes, limits));
  MR_TRY(const auto flows, reader(package));
  return lay_out(flows, limits);
}

Result<std::vector<layout::RawPage>> office_pages(std::string_view kind, int fd,
                                                  const Limits& limits) {
  MR_TRY(const auto file, MappedFile::open(fd, limits));
  return office_pages_of(kind, file.bytes(), limits);
}

Result<layout::RawPage> office_page(std::string_view kind, int fd, std::uint32_t page,
                                    const Limits& limits) {
  MR_TRY(auto pages, office_pages(kind, fd, limits));
  if (page == 0 || page > pages.size()) {
    return fail(ErrorKind::not_found, fmt::format("page {} of {}", page, pages.size()));
  }
  return std::move(pages[page - 1]);
}

}  // namespace millrace::document
