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
#include <charconv>
#include <map>
#include <optional>

namespace millrace::document {
namespace {

// Left and right pages have headers of their own: each stands on half of the pages.
constexpr double kRunningShare = 0.4;

// The dots that lead from a title to its page are no words; a page full of them would look like one
// whose text layer is broken.
void drop_leaders(layout::RawPage& page) {
  const auto is_dots = [](const layout::RawWord& word) {
    return word.text.find_first_not_of('.') == std::string::npos;
  };
  constexpr std::ptrdiff_t kFew = 10;
  if (std::ranges::count_if(page.words, is_dots) > kFew) std::erase_if(page.words, is_dots);
}

// The number with which a line begins or ends, as headers and footers have it.
std::optional<std::int64_t> page_number_in(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  const auto last = text.find_last_not_of(kDigits);
  const auto first = std::min(text.find_first_not_of(kDigits), text.size());
  std::string_view number;
  if (last != text.npos && last + 1 < text.size() && text[last] == ' ') {
    number = text.substr(last + 1);
  } else if (first > 0 && (first == text.size() || text[first] == ' ')) {
    number = text.substr(0, first);
  }
  if (number.empty() || number.size() > 5) return std::nullopt;
  std::int64_t value = 0;
  std::from_chars(number.data(), number.data() + number.size(), value);
  return value;
}

// Lines at the edges whose number goes up with the pages, whatever else they say: the titles of
// chapters change too often to be found by their words.
void mark_numbered_lines(std::vector<PageEdges>& edges) {
  struct Sighting {
    std::size_t page = 0;
    std::size_t block = 0;
  };
  constexpr std::size_t kPagesMin = 3;
  std::map<std::int64_t, std::vector<Sighting>> by_offset;
  for (std::size_t p = 0; p < edges.size(); ++p) {
    const auto& map = edges[p].map;
    for (std::size_t b = 0; b < map.blocks.size(); ++b) {
      const auto& block = map.blocks[b];
      if (block.first_line != block.last_line) continue;
      if (const auto number = page_number_in(map.text_of(block.words))) {
        by_offset[static_cast<std::int64_t>(p) - *number].push_back({.page = p, .block = b});
      }
    }
  }
  for (const auto& [offset, sightings] : by_offset) {
    if (sightings.size() < kPagesMin || sightings.size() * 4 < edges.size()) continue;
    for (const auto& sighting : sightings) {
      auto& block = edges[sighting.page].map.blocks[sighting.block];
      block.kind =
          block.box.centre_y() < 0.5 ? layout::BlockKind::header : layout::BlockKind::footer;
    }
  }
}

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
    mark_numbered_lines(edges_);
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

// Letters that can be read, though they are not all that the page shows, or not what it shows.
bool is_worth_keeping(std::string_view why_not) {
  return why_not == "a stamp on a scan" || why_not == "too little text" ||
         why_not == "invisible text on a scan";
}

Result<void> add_page(PdfFile& pdf, std::uint32_t page, const PageSource& recognised,
                      PageCollector& pages, ParseReport& report) {
  MR_TRY(const auto content, pdf.content(page));
  MR_TRY(auto raw, text_layer_page(content, page));
  drop_leaders(raw);
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
