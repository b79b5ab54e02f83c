// Chunks of a text, kept, and what must hold of any of them.
#pragma once

#include "base/random.h"
#include "chunk/chunker.h"
#include "chunk/unicode.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::chunk::testing {

struct KeptChunk : Chunk {
  explicit KeptChunk(const Chunk& chunk) : Chunk(chunk), slice(chunk.text) {}
  std::string slice;  // `text` is gone by now.
  std::string embedded() const { return prefix + overlap + slice + suffix; }
};
using Kept = std::vector<KeptChunk>;

inline Result<Kept> try_chunks(std::string_view text, const ChunkOptions& options,
                               const TokenCounter& counter, Random* pieces = nullptr,
                               std::size_t piece_max = 1 << 20) {
  Kept kept;
  MR_TRY(auto chunker, Chunker::make(options, counter, [&](const Chunk& chunk) {
           kept.emplace_back(chunk);
           return Result<void>();
         }));
  while (!text.empty()) {
    const auto size = pieces == nullptr ? piece_max : pieces->below(piece_max + 1);
    const auto piece = text.substr(0, size);
    text.remove_prefix(piece.size());
    MR_TRY_VOID(chunker.feed(piece));
  }
  MR_TRY_VOID(chunker.finish());
  return kept;
}

inline Kept chunks_of(std::string_view text, const ChunkOptions& options = {},
                      const TokenCounter& counter = ByteBound()) {
  auto kept = try_chunks(text, options, counter);
  EXPECT_TRUE(kept.has_value()) << kept.error().message;
  return kept ? std::move(*kept) : Kept{};
}

// Everything of a chunk in one text, for comparison.
inline std::string all_of(const KeptChunk& chunk) {
  std::string out =
      fmt::format("{} {} {} {} {} {} {} {} {} {} {}\n", chunk.ordinal, chunk.start_byte,
                  chunk.end_byte, chunk.start_code_point, chunk.end_code_point, chunk.overlap_bytes,
                  chunk.headings_dropped, chunk.token_count, chunk.page_start.value_or(0),
                  chunk.page_end.value_or(0), to_hex(chunk.sha256));
  for (const auto kind : chunk.block_kinds) out += std::string(to_string(kind)) + " ";
  for (const auto& title : chunk.heading_path) out += "/" + title;
  return out + "\n[" + chunk.prefix + "][" + chunk.overlap + "][" + chunk.slice + "][" +
         chunk.suffix + "]\n";
}

inline std::string all_of(const Kept& kept) {
  std::string out;
  for (const auto& chunk : kept) out += all_of(chunk);
  return out;
}

// What is promised of every text; empty when it holds.
inline std::string broken_promise(std::string_view text, const Kept& kept,
                                  const ChunkOptions& options, const TokenCounter& counter) {
  std::uint64_t byte = 0;
  std::uint64_t code_point = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const auto& chunk = kept[i];
    const auto where = fmt::format("chunk {}: ", i);
    if (chunk.ordinal != i) return where + "ordinal";
    if (chunk.start_byte != byte || chunk.end_byte <= byte) return where + "tiling";
    if (chunk.slice != text.substr(byte, chunk.end_byte - byte)) return where + "slice";
    if (chunk.start_code_point != code_point) return where + "code points";
    byte = chunk.end_byte;
    code_point += count_code_points(chunk.slice);
    if (chunk.end_code_point != code_point) return where + "end code point";
    if (chunk.sha256 != sha256_of(chunk.slice)) return where + "hash";
    if (chunk.slice.size() > options.bytes_max()) return where + "bytes";
    const auto tokens = counter.overhead() + counter.count(chunk.embedded());
    if (tokens > options.max_tokens || tokens != chunk.token_count) return where + "tokens";
    if (chunk.overlap_bytes != chunk.overlap.size()) return where + "overlap size";
    if (counter.count(chunk.overlap) > options.overlap_tokens) return where + "overlap";
    const auto before = text.substr(chunk.start_byte - chunk.overlap_bytes, chunk.overlap_bytes);
    if (before != chunk.overlap) return where + "overlap is not what stands before";
    if (chunk.page_start && chunk.page_end == std::nullopt) return where + "pages";
    if (!is_cluster_boundary(text, byte)) {
      // Allowed only where the chunk has no boundary inside.
      const auto slice = std::string_view(chunk.slice);
      for (std::size_t at = 1; at < slice.size(); ++at) {
        if (is_cluster_boundary(slice, at)) return where + "cuts a grapheme cluster";
      }
    }
  }
  return byte == text.size() ? "" : "text lost at the end";
}

}  // namespace millrace::chunk::testing
