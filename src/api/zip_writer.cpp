#include "api/zip_writer.h"

#include "base/assert.h"

#include <boost/beast/zlib/deflate_stream.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace millrace::api {
namespace {

namespace zlib = boost::beast::zlib;

constexpr std::size_t kPieceBytes = 64 * 1024;
constexpr std::uint16_t kVersion = 20;
constexpr std::uint16_t kWideVersion = 45;  // ZIP64.
constexpr std::uint16_t kWideField = 0x0001;
constexpr std::uint64_t kElsewhere = 0xFFFF'FFFF;  // The number stands in the wide field.
constexpr std::uint16_t kFlags = 0x0808;           // Sizes behind the data; names are UTF-8.
constexpr std::uint16_t kDeflated = 8;
constexpr std::uint16_t kNoDate = 0x0021;  // 1980-01-01, the first day there is.

constexpr std::array<std::uint32_t, 256> kCrcTable = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit)
      value = (value & 1U) != 0 ? 0xEDB88320U ^ (value >> 1) : value >> 1;
    table[i] = value;
  }
  return table;
}();

std::uint32_t crc32(std::uint32_t crc, std::string_view bytes) {
  crc = ~crc;
  for (const char c : bytes) {
    crc = kCrcTable[(crc ^ static_cast<unsigned char>(c)) & 0xFFU] ^ (crc >> 8);
  }
  return ~crc;
}

void put16(std::string& out, std::uint64_t value) {
  for (int shift = 0; shift < 16; shift += 8) out += static_cast<char>((value >> shift) & 0xFFU);
}

void put32(std::string& out, std::uint64_t value) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>((value >> shift) & 0xFFU);
}

void put64(std::string& out, std::uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8) out += static_cast<char>((value >> shift) & 0xFFU);
}

}  // namespace

// Raw deflate, as ZIP has it.
class ZipWriter::Deflate {
 public:
  void begin() { stream_.reset(6, 15, 8, zlib::Strategy::normal); }

  std::string pack(std::string_view bytes, bool last) {
    std::string out;
    std::array<char, kPieceBytes> piece;
    zlib::z_params state;
    state.next_in = bytes.empty() ? "" : bytes.data();
    state.avail_in = bytes.size();
    for (;;) {
      state.next_out = piece.data();
      state.avail_out = piece.size();
      boost::beast::error_code error;
      stream_.write(state, last ? zlib::Flush::finish : zlib::Flush::none, error);
      out.append(piece.data(), piece.size() - state.avail_out);
      // need_buffers: it has taken everything and has nothing more to give.
      if (error == zlib::error::end_of_stream || error == zlib::error::need_buffers) return out;
      MR_ASSERT(!error);
      if (!last && state.avail_in == 0 && state.avail_out > 0) return out;
    }
  }

 private:
  zlib::deflate_stream stream_;
};

ZipWriter::ZipWriter(ZipOptions options)
    : options_(options), deflate_(std::make_unique<Deflate>()) {}
ZipWriter::~ZipWriter() = default;

std::string ZipWriter::counted(std::string bytes) {
  written_bytes_ += bytes.size();
  return bytes;
}

std::string ZipWriter::begin(std::string_view name, std::optional<std::uint64_t> plain_bytes) {
  entries_.push_back({.name = names_.add(name),
                      .offset = written_bytes_,
                      .wide = !plain_bytes || *plain_bytes >= options_.wide_from});
  const auto& entry = entries_.back();
  deflate_->begin();
  std::string out;
  put32(out, 0x04034B50);
  put16(out, entry.wide ? kWideVersion : kVersion);
  put16(out, kFlags);
  put16(out, kDeflated);
  put16(out, 0);  // Time.
  put16(out, kNoDate);
  put32(out, 0);  // Checksum and sizes follow the data.
  put32(out, entry.wide ? kElsewhere : 0);
  put32(out, entry.wide ? kElsewhere : 0);
  put16(out, entry.name.size());
  put16(out, entry.wide ? 20 : 0);
  out += entry.name;
  if (entry.wide) {  // Says that the sizes behind the data have 64 bits.
    put16(out, kWideField);
    put16(out, 16);
    put64(out, 0);
    put64(out, 0);
  }
  return counted(std::move(out));
}

Result<std::string> ZipWriter::write(std::string_view bytes) {
  MR_ASSERT(!entries_.empty());
  auto& entry = entries_.back();
  entry.crc = crc32(entry.crc, bytes);
  entry.plain_bytes += bytes.size();
  auto out = deflate_->pack(bytes, false);
  entry.packed_bytes += out.size();
  if (!entry.wide && std::max(entry.plain_bytes, entry.packed_bytes) >= kElsewhere) {
    return fail(ErrorKind::internal, "a file has grown while it was packed");
  }
  return counted(std::move(out));
}

Result<std::string> ZipWriter::end() {
  MR_ASSERT(!entries_.empty());
  auto& entry = entries_.back();
  auto out = deflate_->pack({}, true);
  entry.packed_bytes += out.size();
  if (!entry.wide && entry.packed_bytes >= kElsewhere) {
    return fail(ErrorKind::internal, "a file has grown while it was packed");
  }
  const auto put_size = entry.wide ? put64 : put32;
  put32(out, 0x08074B50);
  put32(out, entry.crc);
  put_size(out, entry.packed_bytes);
  put_size(out, entry.plain_bytes);
  return counted(std::move(out));
}

std::string ZipWriter::directory_entry(const Entry& entry) const {
  const bool far = entry.offset >= options_.wide_from;
  std::string wide;
  if (entry.wide) {
    put64(wide, entry.plain_bytes);
    put64(wide, entry.packed_bytes);
  }
  if (far) put64(wide, entry.offset);
  std::string out;
  put32(out, 0x02014B50);
  put16(out, wide.empty() ? kVersion : kWideVersion);
  put16(out, wide.empty() ? kVersion : kWideVersion);
  put16(out, kFlags);
  put16(out, kDeflated);
  put16(out, 0);
  put16(out, kNoDate);
  put32(out, entry.crc);
  put32(out, entry.wide ? kElsewhere : entry.packed_bytes);
  put32(out, entry.wide ? kElsewhere : entry.plain_bytes);
  put16(out, entry.name.size());
  put16(out, wide.empty() ? 0 : wide.size() + 4);
  put16(out, 0);  // Comment, disk, attributes.
  put16(out, 0);
  put16(out, 0);
  put32(out, 0);
  put32(out, far ? kElsewhere : entry.offset);
  out += entry.name;
  if (!wide.empty()) {
    put16(out, kWideField);
    put16(out, wide.size());
    out += wide;
  }
  return out;
}

std::string ZipWriter::finish() {
  const auto directory_offset = written_bytes_;
  std::string out;
  for (const auto& entry : entries_) out += directory_entry(entry);
  const auto directory_bytes = out.size();
  const bool many = entries_.size() >= options_.wide_from_entries;
  const bool far = directory_offset >= options_.wide_from;
  if (many || far) {
    const auto record_offset = directory_offset + directory_bytes;
    put32(out, 0x06064B50);
    put64(out, 44);  // Of what follows.
    put16(out, kWideVersion);
    put16(out, kWideVersion);
    put32(out, 0);
    put32(out, 0);
    put64(out, entries_.size());
    put64(out, entries_.size());
    put64(out, directory_bytes);
    put64(out, directory_offset);
    put32(out, 0x07064B50);  // Where to find that.
    put32(out, 0);
    put64(out, record_offset);
    put32(out, 1);
  }
  put32(out, 0x06054B50);
  put16(out, 0);
  put16(out, 0);
  put16(out, many ? 0xFFFF : entries_.size());
  put16(out, many ? 0xFFFF : entries_.size());
  put32(out, directory_bytes);
  put32(out, far ? kElsewhere : directory_offset);
  put16(out, 0);
  return counted(std::move(out));
}

}  // namespace millrace::api
