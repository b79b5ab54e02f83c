#include "chunk/outline.h"

namespace millrace::chunk {

void close_headings(std::vector<OpenHeading>& headings, std::uint32_t level) {
  while (!headings.empty() && headings.back().level >= level) headings.pop_back();
}

std::optional<std::uint32_t> Outline::next_page(std::optional<std::uint32_t> page,
                                                const Mark& mark) {
  if (mark.number != 0) return mark.number;
  return page.value_or(1) + 1;
}

void Outline::pass(const Mark& mark) {
  switch (mark.kind) {
    case Mark::Kind::heading:
      close_headings(headings_, mark.number);
      headings_.push_back({mark.at, mark.number, mark.text});
      break;
    case Mark::Kind::fence_open:
      fence_ = mark;
      break;
    case Mark::Kind::fence_close:
      fence_.reset();
      break;
    case Mark::Kind::table_open:
      table_ = mark;
      break;
    case Mark::Kind::table_close:
      table_.reset();
      break;
    case Mark::Kind::page:
      page_ = next_page(page_, mark);
      break;
  }
}

}  // namespace millrace::chunk
