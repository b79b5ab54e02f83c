// A PDF gets the words of its scans: what can be seen of pages stays as it is, and under those that
// were read by recognition lies invisible text, in the place of any that they had. Those that were
// not read stay as they are, too.
#include "document/bounded/mapped_file.h"
#include "document/bounded/refusal.h"
#include "document/inspect/pdf_pages.h"
#include "document/write/hidden_text.h"
#include "document/write/pdf_writer.h"

#include <fmt/format.h>

#include <exception>
#include <qpdf/QPDFPageDocumentHelper.hh>
#include <qpdf/QPDFPageObjectHelper.hh>
#include <utility>
#include <vector>

namespace millrace::document {
namespace {

constexpr std::size_t kPiece = 1024 * 1024;

// Words of a page's own text layer are in the PDF already.
bool needs_words(const layout::PageInfo& info) { return !info.engine.starts_with("pdf-text"); }

// As it was seen when it was read.
PdfSpace space_of(QPDFPageObjectHelper& page) {
  const auto box =
      visible_box(page.getAttribute("/MediaBox", false), page.getAttribute("/CropBox", false));
  return {.x0 = box.x0, .y0 = box.y0, .width = box.x1 - box.x0, .height = box.y1 - box.y0};
}

// The name under which the font is known on this page.
std::string add_font(QPDFPageObjectHelper& page, QPDFObjectHandle font) {
  auto resources = page.getAttribute("/Resources", true);
  if (!resources.isDictionary()) {
    resources = QPDFObjectHandle::newDictionary();
    page.getObjectHandle().replaceKey("/Resources", resources);
  }
  auto fonts = resources.getKey("/Font");
  fonts = fonts.isDictionary() ? fonts.shallowCopy() : QPDFObjectHandle::newDictionary();
  std::string name(kTextFontName);
  for (int i = 1; fonts.hasKey(name); ++i) name = fmt::format("{}{}", kTextFontName, i);
  fonts.replaceKey(name, font);
  resources.replaceKey("/Font", fonts);
  return name;
}

Result<std::uint64_t> copy(std::string_view bytes, OpSink& sink) {
  const auto total = bytes.size();
  while (!bytes.empty()) {
    const auto piece = bytes.substr(0, kPiece);
    MR_TRY_VOID(sink.write({reinterpret_cast<const std::byte*>(piece.data()), piece.size()}));
    bytes.remove_prefix(piece.size());
  }
  return total;
}

struct Wanted {
  std::vector<std::size_t> pages = {};  // Indexes of those that get words.
  std::vector<int> rotations = {};
};

Result<Wanted> pages_wanting_words(const PageLines& pages) {
  Wanted out;
  for (std::size_t i = 0; i < pages.size(); ++i) {
    if (!pages.was_read(i)) continue;
    MR_TRY(const auto page, pages.page(i));
    if (!needs_words(page.info)) continue;
    out.pages.push_back(i);
    out.rotations.push_back(page.info.rotation_deg);
  }
  return out;
}

Result<void> add_words(QPDF& pdf, const PageLines& pages, const Wanted& wanted,
                       const TextCodes& codes, const std::shared_ptr<LateStreams>& streams,
                       OpSink& sink) {
  auto all = QPDFPageDocumentHelper(pdf).getAllPages();
  if (all.size() != pages.size()) {
    return fail(
        ErrorKind::invalid_argument,
        fmt::format("pages: there are {}, and the document has {}", pages.size(), all.size()));
  }
  const auto font = make_text_font(pdf, codes);
  HiddenText hidden(pdf, streams);
  for (std::size_t k = 0; k < wanted.pages.size(); ++k) {
    const auto i = wanted.pages[k];
    auto& page = all[i];
    const auto space = space_of(page);
    hidden.remove_from(page);
    const auto name = add_font(page, font);
    auto stream =
        streams->add(pdf, streams, [&pages, &codes, i, space, name]() -> Result<std::string> {
          MR_TRY(const auto map, pages.page(i));
          return text_stream(map, space, codes, name);
        });
    page.addPageContents(stream, true);  // First: nothing of the page's own state applies to it.
    page.getObjectHandle().replaceKey("/Rotate", QPDFObjectHandle::newInteger(wanted.rotations[k]));
    sink.progress(static_cast<int>(k + 1), static_cast<int>(wanted.pages.size()));
  }
  return ok();
}

}  // namespace

Result<json::Object> assemble_pdf(const PageLines& pages, int fd, const std::string& title,
                                  OpSink& sink) {
  (void)title;  // The document has its own.
  MR_TRY(const auto file, MappedFile::open(fd));
  MR_TRY(const auto wanted, pages_wanting_words(pages));
  if (wanted.pages.empty()) {
    MR_TRY(const auto bytes, copy(file.bytes(), sink));
    return assembled(pages.size(), bytes);
  }
  const auto codes = TextCodes::of(pages.bytes());
  const auto streams = std::make_shared<LateStreams>();
  QPDF pdf;
  pdf.setSuppressWarnings(true);
  try {
    pdf.processMemoryFile("document", file.bytes().data(), file.bytes().size());
    MR_TRY_VOID(add_words(pdf, pages, wanted, codes, streams, sink));
  } catch (const std::exception&) {
    return refuse("pdf_structure", "the PDF cannot be read");
  }
  MR_TRY(const auto bytes, write_pdf(pdf, sink, *streams));
  return assembled(pages.size(), bytes);
}

}  // namespace millrace::document
