#include "chunk/heading_path.h"

#include "base/assert.h"

#include <algorithm>

namespace millrace::chunk {

HeadingPath::HeadingPath(const std::vector<Outline::Heading>& headings) {
  for (const auto& heading : headings) push({.level = heading.level, .passed = &heading});
}

// Levels rise from step to step: there are never more steps than levels.
void HeadingPath::push(Step step) {
  MR_ASSERT(now_.size < kLevelsMax);
  now_.steps[now_.size++] = step;
}

void HeadingPath::share(Path& path, std::size_t kept) const {
  if (path.known) {
    path.size = std::min(path.size, kept);
  } else {
    path = now_;
    path.known = true;
  }
}

void HeadingPath::enter(const Marks::Heading& heading) {
  while (now_.size > 0 && now_.steps[now_.size - 1].level >= heading.level) --now_.size;
  const auto kept = now_.size;
  push({.level = heading.level, .ahead = &heading});
  text_kept_ = std::min(text_kept_, kept);
  if (!with_text_.known) share(bare_, kept);
}

void HeadingPath::take_text() {
  share(with_text_, text_kept_);
  text_kept_ = now_.size;
}

void HeadingPath::write_titles(const Window& window, std::vector<std::string>& titles) const {
  const auto& found = with_text_.known ? with_text_ : bare_.known ? bare_ : now_;
  titles.resize(found.size);
  for (std::size_t i = 0; i < found.size; ++i) {
    const auto& step = found.steps[i];
    titles[i] = step.passed != nullptr ? step.passed->title : title_of(window, *step.ahead);
  }
}

}  // namespace millrace::chunk
