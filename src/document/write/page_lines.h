// PageLines: a file of spatial/1 pages, one per line, of which only one is in memory at a time.
// Line N is page N; the line of a page that was not read is empty.
#pragma once

#include "base/result.h"
#include "document/bounded/mapped_file.h"
#include "layout/page.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace millrace::document {

class PageLines {
 public:
  // Reads nothing but where lines begin. invalid_argument for more lines than pages may be, or when
  // no page was read.
  static Result<PageLines> open(int fd);

  std::size_t size() const { return lines_.size(); }  // Pages of the document, read or not.
  bool was_read(std::size_t index) const { return !lines_[index].empty(); }
  // invalid_argument with the line when it is no page, or not the page of that number.
  Result<layout::PageMap> page(std::size_t index) const;
  std::string_view bytes() const { return file_.bytes(); }

 private:
  explicit PageLines(MappedFile file) : file_(std::move(file)) {}

  MappedFile file_;
  std::vector<std::string_view> lines_;
};

}  // namespace millrace::document
