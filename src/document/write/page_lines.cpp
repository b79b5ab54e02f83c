#include "document/write/page_lines.h"

#include "layout/page_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace millrace::document {
namespace {

constexpr std::size_t kPagesMax = 5'000;

}  // namespace

Result<PageLines> PageLines::open(int fd) {
  Limits limits;
  limits.file_bytes_max = 4096 * kMiB;  // Text of five thousand pages, with a box for every word.
  MR_TRY(auto file, MappedFile::open(fd, limits));
  PageLines out(std::move(file));
  auto rest = out.file_.bytes();
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    out.lines_.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (out.lines_.size() > kPagesMax) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("pages: more lines than the limit of {}", kPagesMax));
    }
  }
  if (std::ranges::all_of(out.lines_, &std::string_view::empty)) {
    return fail(ErrorKind::invalid_argument, "pages: there must be at least one");
  }
  return out;
}

Result<layout::PageMap> PageLines::page(std::size_t index) const {
  auto page = layout::parse_page_json(lines_[index]);
  if (!page.has_value()) {
    return fail_with_context(fmt::format("pages: line {}", index + 1), page.error());
  }
  if (page->info.page != index + 1) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("pages: line {} must be page {}", index + 1, index + 1));
  }
  return page;
}

}  // namespace millrace::document
