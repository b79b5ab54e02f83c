// PDF: the text layer of each page in reading order; pages without one come from elsewhere or stay
// empty and are named in the report.
#include "document/bounded/mapped_file.h"
#include "document/bounded/refusal.h"
#include "document/markdown/draft_writer.h"
#include "document/markdown/readers.h"
#include "document/office/flow.h"
#include "document/read/text_source.h"
#include "layout/reading_order.h"
#include "layout/running_text.h"

#include <algorithm>

namespace millrace::document {
namespace {

// Left and right pages have headers of their own: each stands on half of the pages.
constexpr double kRunningShare = 0.4;

class PageCollector {
 public:
  explicit PageCollector(ReadContext& context) : context_(context), budget_(context.limits) {}

  Result<void> add(const layout::PageMap& map, const PdfPageContent* content) {
    MR_TRY_VOID(budget_.add_text(map.text.size()));
    drafts_.push_back(draft_of(map, content));
    MR_TRY(auto edges, edges_of(map));
    edges_.push_back(std::move(edges));
    return ok();
  }
  void add_empty(std::uint32_t page) {
    drafts_.push_back({.page = page});
    PageEdges none;
    none.map.info.page = page;
    edges_.push_back(std::move(none));
    context_.report.pages_without_text.push_back(page);
  }
  void note_without_text(std::uint32_t page) { context_.report.pages_without_text.push_back(page); }

  Result<void> write() {
    mark_running();
    return write_drafts(drafts_, context_);
  }

 private:
  void mark_running() {
    std::vector<layout::PageMap> maps;
    for (auto& edge : edges_) maps.push_back(std::move(edge.map));
    layout::mark_running_text(maps, {.pages_share = kRunningShare});
    const auto sizes = LetterSizes::of(drafts_);
    for (std::size_t p = 0; p < maps.size(); ++p) {
      for (std::size_t b = 0; b < maps[p].blocks.size(); ++b) {
        auto& block = drafts_[p].blocks[edges_[p].blocks[b]];
        // "Chapter 3" in large letters at the top of many pages is no running title.
        const bool large = std::ranges::any_of(block.lines, [&](const DraftTextLine& line) {
          return sizes.is_heading_size(line.size_pt);
        });
        if (!large) block.kind = maps[p].blocks[b].kind;
      }
    }
    edges_.clear();
  }

  ReadContext& context_;
  TextBudget budget_;
  std::vector<PageDraft> drafts_;
  std::vector<PageEdges> edges_;
};

// Letters that can be read, though they are not all that the page shows.
bool is_worth_keeping(std::string_view why_not) {
  return why_not == "a stamp on a scan" || why_not == "too little text";
}

Result<void> add_page(PdfFile& pdf, std::uint32_t page, const PageSource& recognised,
                      PageCollector& pages, ParseReport& report) {
  MR_TRY(const auto content, pdf.content(page));
  MR_TRY(auto raw, text_layer_page(content, page));
  const auto choice = choose_text_layer(content, raw);
  if (!choice.use) {
    MR_TRY(const auto map, recognised(page));
    if (map.has_value()) {
      report.pages_recognised.push_back(page);
      return pages.add(*map, nullptr);
    }
    if (!is_worth_keeping(choice.why_not)) {
      pages.add_empty(page);
      return ok();
    }
    pages.note_without_text(page);
  }
  MR_TRY(const auto map, layout::arrange(std::move(raw)));
  return pages.add(map, &content);
}

}  // namespace

Result<void> read_pdf_file(int fd, const PageSource& recognised, ReadContext& context) {
  MR_TRY(auto file, MappedFile::open(fd, context.limits));
  MR_TRY(auto pdf, PdfFile::open(std::move(file), context.limits));
  const auto count = pdf.page_count();
  if (count == 0) return refuse("no_pages", "the PDF has no pages");
  if (count > context.limits.pages_max) {
    return refuse("page_count", "the PDF has more pages than are allowed");
  }
  context.report.title = clean_title(pdf.title());
  context.report.has_pages = true;
  context.report.page_count = count;
  PageCollector pages(context);
  for (std::uint32_t page = 1; page <= count; ++page) {
    MR_TRY_VOID(add_page(pdf, page, recognised, pages, context.report));
    context.out.progress(static_cast<int>(page), static_cast<int>(count));
  }
  return pages.write();
}

Result<void> read_pictures(std::uint32_t count, const PageSource& recognised,
                           ReadContext& context) {
  context.report.has_pages = true;
  context.report.page_count = count;
  PageCollector pages(context);
  for (std::uint32_t page = 1; page <= count; ++page) {
    MR_TRY(const auto map, recognised(page));
    if (map.has_value()) {
      context.report.pages_recognised.push_back(page);
      MR_TRY_VOID(pages.add(*map, nullptr));
    } else {
      pages.add_empty(page);
    }
    context.out.progress(static_cast<int>(page), static_cast<int>(count));
  }
  return pages.write();
}

}  // namespace millrace::document
