// Inflate with counters: deflate data goes through a small buffer and stops when it is told to.
//
// What a stream unpacks to is known only by unpacking it. Here nothing is kept: pieces go to the
// taker, and UnpackBudget says when there have been enough of them. A bomb costs the time until the
// limit and no memory.
#pragma once

#include "base/result.h"
#include "document/bounded/limits.h"

#include <cstdint>
#include <functional>
#include <string_view>

namespace millrace::document {

enum class Packing {
  zlib,  // With header and checksum: PDF, PNG.
  raw,   // Without: ZIP.
};

enum class InflateEnd {
  complete,   // The data said that it ends.
  truncated,  // The bytes ended before the data did.
  damaged,    // No deflate data, or none any more.
  stopped,    // The taker said so.
};

struct Inflated {
  InflateEnd end = InflateEnd::complete;
  std::uint64_t packed_bytes = 0;  // Consumed.
  std::uint64_t bytes = 0;         // Given to the taker.
};

// Given a piece and how many packed bytes have been read for all so far; returns false to stop.
using ByteTaker = std::function<bool(std::string_view piece, std::uint64_t packed_bytes)>;

Inflated inflate_bytes(std::string_view packed, Packing packing, const ByteTaker& take);

// Whether zlib data could begin here: the method, and the header's own check.
bool is_zlib_header(std::string_view bytes);

// What all streams of one file unpack to, together and each by itself.
class UnpackBudget {
 public:
  // `file_bytes`: what all of it comes from; 0 when that is not known.
  explicit UnpackBudget(const Limits& limits, std::uint64_t file_bytes = 0)
      : limits_(limits), file_bytes_(file_bytes) {}

  // Counts `bytes` more. unpacked_bytes or ratio when that is too much for the file.
  Result<void> add(std::uint64_t bytes);
  // ratio when `unpacked` is too much for what it came from.
  Result<void> check_ratio(std::uint64_t packed, std::uint64_t unpacked) const;
  std::uint64_t total() const { return total_; }

 private:
  const Limits& limits_;
  std::uint64_t file_bytes_;
  std::uint64_t total_ = 0;
};

}  // namespace millrace::document
