#include "output/plain_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::output {
namespace {

std::string mark_of(std::uint32_t page, TextOptions options, std::string_view note) {
  if (options.mark != PageMark::line) return {};
  if (options.page_count == 0) return fmt::format("--- page {}{} ---\n", page, note);
  return fmt::format("--- page {} of {}{} ---\n", page, options.page_count, note);
}

}  // namespace

std::string page_text(const layout::PageMap& page) { return page.text; }

std::string page_text(const layout::PageMap& page, TextOptions options) {
  auto out = mark_of(page.info.page, options, "");
  out += page.text;
  if (!page.text.empty()) out += '\n';
  if (options.mark == PageMark::form_feed) out += '\f';
  return out;
}

std::string missing_page_text(std::uint32_t page, TextOptions options) {
  return mark_of(page, options, ": not read");
}

std::string document_text(const layout::SpatialMap& map, TextOptions options) {
  std::string out;
  std::uint32_t next = 1;
  const auto missing_up_to = [&](std::uint32_t end) {
    for (; options.page_count != 0 && next < end; ++next) out += missing_page_text(next, options);
  };
  for (const auto& page : map.pages) {
    missing_up_to(page.info.page);
    out += page_text(page, options);
    next = page.info.page + 1;
  }
  missing_up_to(options.page_count + 1);
  return out;
}

}  // namespace millrace::output
