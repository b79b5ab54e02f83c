#include "chunk/chunk.h"

#include "chunk/normalise.h"
#include "chunk/unicode_data.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::chunk {
namespace {

constexpr std::size_t kTokensMin = 64;  // Below, headings, fence and overlap would leave no room.
constexpr std::size_t kTokensMax = 1'000'000;
constexpr std::size_t kBytesMin = 256;
constexpr std::size_t kBytesMax = 4U << 20;
constexpr std::size_t kSharePercentMax = 25;
constexpr std::size_t kOverlapPercentMax = 15;

}  // namespace

std::string_view to_string(BlockKind kind) {
  switch (kind) {
    case BlockKind::heading:
      return "heading";
    case BlockKind::paragraph:
      return "paragraph";
    case BlockKind::list:
      return "list";
    case BlockKind::quote:
      return "quote";
    case BlockKind::code:
      return "code";
    case BlockKind::table:
      return "table";
    case BlockKind::html:
      return "html";
    case BlockKind::rule:
      return "rule";
    case BlockKind::page_marker:
      return "page_marker";
    case BlockKind::front_matter:
      return "front_matter";
    case BlockKind::blank:
      return "blank";
  }
  return "";
}

std::string Chunk::embedding_text() const {
  std::string out;
  out.reserve(prefix.size() + overlap.size() + text.size() + suffix.size());
  out.append(prefix).append(overlap).append(text).append(suffix);
  return out;
}

std::size_t ChunkOptions::bytes_max() const {
  return max_bytes != 0 ? max_bytes : std::clamp<std::size_t>(max_tokens * 16, 4096, kBytesMax);
}

Result<void> check_options(const ChunkOptions& options, const TokenCounter& counter) {
  const auto refuse = [](std::string message) {
    return fail(ErrorKind::invalid_argument, std::move(message));
  };
  if (options.max_tokens > kTokensMax || options.max_tokens < counter.overhead() + kTokensMin) {
    return refuse(fmt::format("max_tokens must be from {} (the counter {} adds {}) to {}, not {}",
                              counter.overhead() + kTokensMin, counter.name(), counter.overhead(),
                              kTokensMax, options.max_tokens));
  }
  if (options.target_tokens == 0 || options.target_tokens > options.max_tokens) {
    return refuse(fmt::format("target_tokens must be from 1 to max_tokens ({}), not {}",
                              options.max_tokens, options.target_tokens));
  }
  if (options.min_tokens > options.target_tokens / 2) {
    return refuse(fmt::format("min_tokens must be at most half of target_tokens ({}), not {}",
                              options.target_tokens, options.min_tokens));
  }
  if (options.max_bytes != 0 && (options.max_bytes < kBytesMin || options.max_bytes > kBytesMax)) {
    return refuse(fmt::format("max_bytes must be 0 or from {} to {}, not {}", kBytesMin, kBytesMax,
                              options.max_bytes));
  }
  if (options.prefix_share_percent > kSharePercentMax) {
    return refuse(fmt::format("prefix_share_percent must be at most {}, not {}", kSharePercentMax,
                              options.prefix_share_percent));
  }
  if (options.overlap_tokens * 100 > options.max_tokens * kOverlapPercentMax) {
    return refuse(fmt::format("overlap_tokens must be at most {} % of max_tokens ({}), not {}",
                              kOverlapPercentMax, options.max_tokens, options.overlap_tokens));
  }
  return {};
}

std::string params_text(const ChunkOptions& options, const TokenCounter& counter) {
  const auto first_page = options.first_page ? fmt::format("{}", *options.first_page) : "none";
  return fmt::format(
      "max_tokens={};target_tokens={};min_tokens={};max_bytes={};prefix_share_percent={};"
      "overlap_tokens={};first_page={};overhead={};normal={};unicode={};tokenizer={}",
      options.max_tokens, options.target_tokens, options.min_tokens, options.bytes_max(),
      options.prefix_share_percent, options.overlap_tokens, first_page, counter.overhead(),
      kNormalVersion, unicode_version(), counter.name());
}

Sha256Digest params_sha256(const ChunkOptions& options, const TokenCounter& counter) {
  return sha256_of(params_text(options, counter));
}

}  // namespace millrace::chunk
