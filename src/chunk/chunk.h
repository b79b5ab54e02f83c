// Chunk: a slice of a normalised document and all that is known of it; ChunkOptions: how to cut.
//
// `text` is source[start_byte, end_byte), byte for byte; the slices of consecutive chunks tile the
// document. What an embedding needs besides (headings, a repeated table header, a reopened fence,
// overlap) stands in fields of its own: embedding_text() puts them together.
#pragma once

#include "base/result.h"
#include "chunk/digest.h"
#include "chunk/token_counter.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::chunk {

inline constexpr std::string_view kChunkerName = "markdown-simple";
inline constexpr std::string_view kChunkerVersion = "1";
inline constexpr std::string_view kChunksVersion = "markdown-simple@1";

enum class BlockKind : std::uint8_t {
  heading,
  paragraph,
  list,
  quote,
  code,
  table,
  html,
  rule,
  page_marker,
  front_matter,
  blank,  // Never in block_kinds.
};
std::string_view to_string(BlockKind kind);

struct Chunk {
  std::uint64_t ordinal = 0;  // From 0.
  std::uint64_t start_byte = 0;
  std::uint64_t end_byte = 0;
  std::uint64_t start_code_point = 0;
  std::uint64_t end_code_point = 0;
  std::string_view text;  // Valid while the sink runs.

  std::string prefix;   // Heading lines, table header, reopened fence; ends with a line end.
  std::string suffix;   // The fence closed again.
  std::string overlap;  // The end of the chunk before, whole sentences.
  std::size_t overlap_bytes = 0;

  std::vector<std::string> heading_path;  // The headings that all of the slice stands under.
  std::size_t headings_dropped = 0;       // Outermost ones that had no room in the prefix.
  bool table_header_dropped = false;      // Too long to be repeated.
  bool fence_dropped = false;             // Too long to be reopened.
  std::optional<std::uint32_t> page_start;
  std::optional<std::uint32_t> page_end;
  std::vector<BlockKind> block_kinds;  // In the order they first appear.

  std::size_t token_count = 0;  // Of embedding_text(), with the overhead of the counter.
  std::string_view tokenizer;
  Sha256Digest sha256{};  // Of the slice.

  std::string embedding_text() const;  // prefix + overlap + text + suffix
};

struct ChunkOptions {
  std::size_t max_tokens = 2048;     // Hard, of embedding_text().
  std::size_t target_tokens = 1536;  // Soft: a chunk ends at the first good place after it.
  std::size_t min_tokens = 256;      // Smaller ones are joined with siblings if that fits.
  // Of a slice, because some tokenizers count a megabyte as one token. 0: 16 bytes a token.
  std::size_t max_bytes = 0;
  // Of max_tokens, for the headings; as much again for a table header or fence.
  std::size_t prefix_share_percent = 25;
  std::size_t overlap_tokens = 0;           // At most 15 % of max_tokens.
  std::optional<std::uint32_t> first_page;  // Of the text before the first page marker.

  std::size_t bytes_max() const;
};

// invalid_argument names the field and the rule.
Result<void> check_options(const ChunkOptions& options, const TokenCounter& counter);
// All that decides where a text is cut, in one line; its hash is part of content_id.
std::string params_text(const ChunkOptions& options, const TokenCounter& counter);
Sha256Digest params_sha256(const ChunkOptions& options, const TokenCounter& counter);

}  // namespace millrace::chunk
