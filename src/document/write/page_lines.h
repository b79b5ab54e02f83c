// PageLines: a file of spatial/1 pages, one per line, of which only one is in memory at a time.
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
  // Reads nothing but where lines begin. invalid_argument for more lines than pages may be.
  static Result<PageLines> open(int fd);

  std::size_t size() const { return lines_.size(); }
  // invalid_argument with the line when it is no page, or not the page of that number.
  Result<layout::PageMap> page(std::size_t index) const;
  std::string_view line(std::size_t index) const { return lines_[index]; }
  std::string_view bytes() const { return file_.bytes(); }

 private:
  explicit PageLines(MappedFile file) : file_(std::move(file)) {}

  MappedFile file_;
  std::vector<std::string_view> lines_;
};

}  // namespace millrace::document
