#include "chunk/chunker.h"

#include "chunk/unicode.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace millrace::chunk {
namespace {

constexpr std::size_t kBlockSize = 64U << 10;  // Stays in the cache from copy to cut.
// Four bytes more than a part tell where its last character ends.
constexpr std::size_t kLineSizeMax = BlockScanner::kLinePartMax + 4;

// The first line of a text with its line end; 0: it has none. Many lines are tiny: what is not in
// the first eight bytes is worth a call.
std::size_t line_size(std::string_view text) {
  std::size_t searched = 0;
  if constexpr (std::endian::native == std::endian::little) {
    if (text.size() >= 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, text.data(), 8);
      word ^= 0x0a0a0a0a0a0a0a0aULL;
      const auto found = (word - 0x0101010101010101ULL) & ~word & 0x8080808080808080ULL;
      if (found != 0) return static_cast<std::size_t>(std::countr_zero(found)) / 8 + 1;
      searched = 8;
    }
  }
  const auto* at = std::memchr(text.data() + searched, '\n', text.size() - searched);
  return at == nullptr ? 0
                       : static_cast<std::size_t>(static_cast<const char*>(at) - text.data()) + 1;
}

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
  const auto text_end = state.window.end();
  for (;;) {
    if (!state.in_line && state.scanner.takes_empty_lines()) MR_TRY_VOID(scan_empty_lines());
    const auto size = line_size(state.window.view(state.searched, text_end));
    const auto line_end = size > 0 ? state.searched + size : text_end;
    if (line_end - state.line_begin > kLineSizeMax) MR_TRY_VOID(scan_parts(line_end));
    state.searched = line_end;
    if (size == 0) return {};
    if (!scan_end(line_end)) MR_TRY_VOID(pack());
  }
}

// Where a long line is cut depends on the line alone, never on the pieces it came in.
Result<void> Chunker::scan_parts(std::uint64_t line_end) {
  using enum BlockScanner::Part;
  auto& state = *state_;
  while (line_end - state.line_begin > kLineSizeMax) {
    const auto rest = state.window.view(state.line_begin, line_end);
    const auto end = state.line_begin + code_point_floor(rest, BlockScanner::kLinePartMax);
    state.scanner.scan_part(state.line_begin, end, state.in_line ? more : first);
    state.in_line = true;
    state.line_begin = end;
    MR_TRY_VOID(pack());
  }
  return {};
}

// The line that ends here, or what is left of it. False: there is something to pack.
bool Chunker::scan_end(std::uint64_t line_end) {
  auto& state = *state_;
  if (state.in_line) {
    state.scanner.scan_part(state.line_begin, line_end, BlockScanner::Part::last);
  } else {
    state.scanner.scan(state.line_begin, line_end);
  }
  state.in_line = false;
  state.line_begin = line_end;
  // This line, and those that it lets go of: seldom does one of them fill a chunk.
  auto& lines = state.scanner.lines;
  auto line = lines.begin();
  while (line != lines.end() && state.packer.take(*line)) ++line;
  const bool all = line == lines.end();
  if (all) {
    lines.clear();
  } else {
    lines.erase(lines.begin(), line);
  }
  return all;
}

// Before the next line is scanned: what a mark says of the lines before it must not be known while
// these are packed, or the result would depend on how many are packed in one go.
Result<void> Chunker::pack() {
  auto& state = *state_;
  for (const auto& line : state.scanner.lines) {
    if (!state.packer.take(line)) MR_TRY_VOID(state.packer.add(line));
  }
  state.scanner.lines.clear();
  return {};
}

Result<void> Chunker::scan_empty_lines() {
  auto& state = *state_;
  const auto rest = state.window.view(state.line_begin, state.window.end());
  const auto size = std::min(rest.find_first_not_of('\n'), rest.size());
  if (size == 0) return {};
  state.scanner.scan_empty_lines(state.line_begin, state.line_begin + size);
  state.line_begin += size;
  state.searched = state.line_begin;
  return pack();
}

Result<void> Chunker::finish() {
  auto& state = *state_;
  if (state.line_begin < state.window.end() && !scan_end(state.window.end())) MR_TRY_VOID(pack());
  state.scanner.finish();
  MR_TRY_VOID(pack());
  return state.packer.finish();
}

}  // namespace millrace::chunk
