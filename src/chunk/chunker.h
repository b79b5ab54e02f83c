// Chunker: a normalised Markdown text, in pieces, to chunks (B-08, B-25).
//
//   ByteBound counter;
//   MR_TRY(auto chunker, Chunker::make({.max_tokens = 2048}, counter, sink));
//   for (each piece) MR_TRY_VOID(chunker.feed(piece));
//   MR_TRY_VOID(chunker.finish());
//
// The sink gets every chunk as soon as it is final, in order; an error of the sink ends the work.
// How the text is cut into pieces makes no difference. The slices tile the text; every embedding
// text is within max_tokens. An empty text has no chunks. Equal text, options and counter give
// equal chunks on every machine.
// Threading: one thread. Lifetime: counter outlives it. Memory: some bytes_max() and a block of
// 64 KiB, whatever the text.
#pragma once

#include "chunk/block_scanner.h"
#include "chunk/chunk.h"
#include "chunk/packer.h"
#include "chunk/window.h"

#include <cstdint>
#include <memory>
#include <string_view>

namespace millrace::chunk {

class Chunker {
 public:
  // invalid_argument for options that cannot be kept.
  static Result<Chunker> make(const ChunkOptions& options, const TokenCounter& counter,
                              ChunkSink sink);

  Result<void> feed(std::string_view piece);
  Result<void> finish();  // Call once, last.

 private:
  struct State {
    State(const ChunkOptions& options, const TokenCounter& counter, ChunkSink sink)
        : scanner(window, marks), packer(options, counter, {window, marks}, std::move(sink)) {}
    Window window;
    Marks marks;
    BlockScanner scanner;
    Packer packer;
    std::uint64_t line_begin = 0;  // Of the line, or part of one, that is not complete.
    std::uint64_t searched = 0;    // No line end before this.
    bool in_line = false;          // A part of the line was scanned.
  };

  explicit Chunker(std::unique_ptr<State> state) : state_(std::move(state)) {}
  Result<void> scan_lines();
  Result<void> scan_parts(std::uint64_t line_end);
  bool scan_end(std::uint64_t line_end);
  Result<void> scan_empty_lines();
  Result<void> pack();

  std::unique_ptr<State> state_;  // Its parts refer to each other: it does not move.
};

}  // namespace millrace::chunk
