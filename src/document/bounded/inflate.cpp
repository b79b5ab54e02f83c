#include "document/bounded/inflate.h"

#include "base/assert.h"
#include "document/bounded/refusal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <zlib.h>

namespace millrace::document {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{64} * 1024;

struct EndInflate {
  void operator()(z_stream* stream) const {
    inflateEnd(stream);
    delete stream;
  }
};

std::unique_ptr<z_stream, EndInflate> start(Packing packing) {
  auto stream = std::make_unique<z_stream>();
  *stream = {};
  const int bits = packing == Packing::raw ? -MAX_WBITS : MAX_WBITS;
  if (inflateInit2(stream.get(), bits) != Z_OK) throw std::bad_alloc();
  return std::unique_ptr<z_stream, EndInflate>(stream.release());
}

}  // namespace

Inflated inflate_bytes(std::string_view packed, Packing packing, const ByteTaker& take) {
  auto stream = start(packing);
  auto buffer = std::make_unique_for_overwrite<std::array<char, kBufferBytes>>();
  Inflated result;
  for (;;) {
    if (stream->avail_in == 0 && result.packed_bytes < packed.size()) {
      const auto rest = packed.substr(result.packed_bytes);
      const auto size = std::min<std::size_t>(rest.size(), std::numeric_limits<uInt>::max());
      stream->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));
      stream->avail_in = static_cast<uInt>(size);
    }
    stream->next_out = reinterpret_cast<Bytef*>(buffer->data());
    stream->avail_out = kBufferBytes;
    const auto in_before = stream->avail_in;
    const int code = inflate(stream.get(), Z_NO_FLUSH);
    result.packed_bytes += in_before - stream->avail_in;
    const auto made = kBufferBytes - stream->avail_out;
    result.bytes += made;
    if (made > 0 && !take({buffer->data(), made}, result.packed_bytes)) {
      result.end = InflateEnd::stopped;
      return result;
    }
    if (code == Z_STREAM_END) return result;
    if (code == Z_BUF_ERROR || (code == Z_OK && made == 0 && stream->avail_in == 0 &&
                                result.packed_bytes == packed.size())) {
      result.end = InflateEnd::truncated;
      return result;
    }
    if (code != Z_OK) {
      result.end = InflateEnd::damaged;
      return result;
    }
  }
}

bool is_zlib_header(std::string_view bytes) {
  if (bytes.size() < 2) return false;
  const auto method = static_cast<unsigned char>(bytes[0]);
  const auto flags = static_cast<unsigned char>(bytes[1]);
  return (method & 0x0f) == 8 && (method >> 4) <= 7 && (method * 256 + flags) % 31 == 0 &&
         (flags & 0x20) == 0;
}

Result<void> UnpackBudget::add(std::uint64_t bytes) {
  if (bytes > limits_.unpacked_bytes_max - total_) {
    total_ = limits_.unpacked_bytes_max;
    return refuse("unpacked_bytes",
                  fmt::format("unpacks to more than {} bytes", limits_.unpacked_bytes_max));
  }
  total_ += bytes;
  return file_bytes_ == 0 ? ok() : check_ratio(file_bytes_, total_);
}

Result<void> UnpackBudget::check_ratio(std::uint64_t packed, std::uint64_t unpacked) const {
  if (unpacked <= limits_.ratio_floor_bytes) return ok();
  if (unpacked / limits_.ratio_max < packed) return ok();
  return refuse("ratio", fmt::format("unpacks to more than {} times its size", limits_.ratio_max));
}

}  // namespace millrace::document
