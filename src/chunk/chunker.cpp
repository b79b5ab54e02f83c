#include "chunk/chunker.h"

#include "chunk/unicode.h"

#include <algorithm>
#include <cstring>

namespace millrace::chunk {
namespace {

constexpr std::size_t kBlockSize = 64U << 10;  // Stays in the cache from copy to cut.
constexpr std::size_t kLinesMax = 256;         // That are scanned before they are packed.

}  // namespace

Result<Chunker> Chunker::make(const ChunkOptions& options, const TokenCounter& counter,
                              ChunkSink sink) {
  MR_TRY_VOID(check_options(options, counter));
  return Chunker(std::make_unique<State>(options, counter, std::move(sink)));
}

Result<void> Chunker::feed(std::string_view piece) {
  while (!piece.empty()) {
    const auto block = piece.substr(0, kBlockSize);
    piece.remove_prefix(block.size());
    state_->window.append(block);
    MR_TRY_VOID(scan_lines());
  }
  return {};
}

Result<void> Chunker::scan_lines() {
  auto& state = *state_;
  for (;;) {
    if (!state.in_line && state.scanner.takes_empty_lines()) scan_empty_lines();
    const auto rest = state.window.view(state.searched, state.window.end());
    const auto* found = static_cast<const char*>(std::memchr(rest.data(), '\n', rest.size()));
    const auto line_end = found != nullptr
                              ? state.searched + static_cast<std::uint64_t>(found - rest.data()) + 1
                              : state.window.end();
    // Where a long line is cut depends on the line alone, never on the pieces it came in; four
    // bytes more than the part tell where its last character ends.
    while (line_end - state.line_begin > BlockScanner::kLinePartMax + 4) {
      const auto part = state.window.view(state.line_begin, line_end);
      const auto size = code_point_floor(part, BlockScanner::kLinePartMax);
      MR_TRY_VOID(scan(state.line_begin + size, false));
    }
    state.searched = line_end;
    if (found == nullptr) return pack(state.scanner.lines.size());
    MR_TRY_VOID(scan(line_end, true));
  }
}

Result<void> Chunker::scan(std::uint64_t end, bool line_ends) {
  using enum BlockScanner::Part;
  auto& state = *state_;
  const auto part = state.in_line ? (line_ends ? last : more) : (line_ends ? whole : first);
  const auto lines_before = state.scanner.lines.size();
  state.scanner.scan(state.line_begin, end, part);
  state.in_line = !line_ends;
  state.line_begin = end;
  // What a mark says of the lines before it must not be known while these are packed: the result
  // would depend on how many lines are packed in one go.
  const bool now = lines_before >= kLinesMax || !state.scanner.marks.empty();
  return now ? pack(lines_before) : Result<void>();
}

void Chunker::scan_empty_lines() {
  auto& state = *state_;
  const auto rest = state.window.view(state.line_begin, state.window.end());
  const auto size = std::min(rest.find_first_not_of('\n'), rest.size());
  if (size == 0) return;
  state.scanner.scan_empty_lines(state.line_begin, state.line_begin + size);
  state.line_begin += size;
  state.searched = state.line_begin;
}

Result<void> Chunker::pack(std::size_t lines_before_marks) {
  auto& state = *state_;
  auto& lines = state.scanner.lines;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i == lines_before_marks) state.packer.add_marks(state.scanner.marks);
    MR_TRY_VOID(state.packer.add(lines[i]));
  }
  state.packer.add_marks(state.scanner.marks);
  lines.clear();
  return {};
}

Result<void> Chunker::finish() {
  auto& state = *state_;
  if (state.line_begin < state.window.end()) MR_TRY_VOID(scan(state.window.end(), true));
  const auto lines_before = state.scanner.lines.size();
  state.scanner.finish();
  MR_TRY_VOID(pack(lines_before));
  return state.packer.finish();
}

}  // namespace millrace::chunk
