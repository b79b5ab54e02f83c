#include "chunk/marks.h"

#include "chunk/line_shapes.h"
#include "chunk/unicode.h"

#include <algorithm>

namespace millrace::chunk {
namespace {

constexpr std::size_t kTitleBytesMax = 1024;

// What a fence stands in, without what only its first line has: list markers become spaces.
std::string container_prefix(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '>' || c == '\t' ? c : ' ';
  return out;
}

}  // namespace

std::string title_of(const Window& window, const Marks::Heading& heading) {
  auto lines = window.view(heading.title_begin, heading.title_end);
  std::string title;
  while (!lines.empty()) {
    const auto end = std::min(lines.find('\n'), lines.size());
    if (!title.empty()) title += ' ';
    title += trim_blank(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  if (title.size() > kTitleBytesMax) title.resize(cluster_floor(title, 0, kTitleBytesMax));
  return title;
}

std::string header_of(const Window& window, const Marks::Table& table) {
  std::string rows(window.view(table.at, table.header_end));
  if (!rows.empty() && !rows.ends_with('\n')) rows += '\n';
  return rows;
}

FenceTexts::FenceTexts(const Window& window, const Marks::Fence& fence) {
  if (fence.text_begin == fence.text_end) return;
  const auto shape = fence_of(window.view(fence.content_begin, fence.text_end));
  if (!shape) return;
  closing = container_prefix(window.view(fence.text_begin, fence.content_begin));
  closing.append(shape->size, shape->c);
  text = closing;
  text.append(shape->info).append("\n");
  closing += '\n';
}

void FenceTexts::count(const TokenCounter& counter) {
  if (closing.empty()) return;
  text_tokens = counter.count(text);
  closing_tokens = counter.count(closing);
  line_closing_tokens = counter.count("\n" + closing);
}

}  // namespace millrace::chunk
