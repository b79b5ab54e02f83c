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
constexpr std::uint16_t kFlags = 0x0808;  // Sizes behind the data; names are UTF-8.
constexpr std::uint16_t kDeflated = 8;
constexpr std::uint16_t kNoDate = 0x0021;  // 1980-01-01, the first day there is.
constexpr std::size_t kNameMaxBytes = 200;

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

ZipWriter::ZipWriter() : deflate_(std::make_unique<Deflate>()) {}
ZipWriter::~ZipWriter() = default;

std::string ZipWriter::unused_name(std::string_view name) const {
  const auto is_used = [this](std::string_view candidate) {
    return std::ranges::find(entries_, candidate, &Entry::name) != entries_.end();
  };
  std::string candidate(name);
  const auto dot = name.rfind('.');
  const auto stem = dot == name.npos || dot == 0 ? name : name.substr(0, dot);
  for (int number = 2; is_used(candidate); ++number) {
    candidate = fmt::format("{} ({}){}", stem, number, name.substr(stem.size()));
  }
  return candidate;
}

Result<std::string> ZipWriter::counted(std::string bytes) {
  written_bytes_ += bytes.size();
  if (written_bytes_ > kZipMaxBytes) {
    return fail(ErrorKind::invalid_argument, "the archive is larger than a ZIP file can be");
  }
  return bytes;
}

Result<std::string> ZipWriter::begin(std::string_view name) {
  if (entries_.size() == kZipMaxEntries) {
    return fail(ErrorKind::invalid_argument, "the archive has more entries than a ZIP file can");
  }
  entries_.push_back({.name = unused_name(zip_entry_name(name)), .offset = written_bytes_});
  deflate_->begin();
  std::string out;
  put32(out, 0x04034B50);
  put16(out, kVersion);
  put16(out, kFlags);
  put16(out, kDeflated);
  put16(out, 0);  // Time.
  put16(out, kNoDate);
  put32(out, 0);  // Checksum and sizes follow the data.
  put32(out, 0);
  put32(out, 0);
  put16(out, entries_.back().name.size());
  put16(out, 0);
  out += entries_.back().name;
  return counted(std::move(out));
}

Result<std::string> ZipWriter::write(std::string_view bytes) {
  MR_ASSERT(!entries_.empty());
  auto& entry = entries_.back();
  entry.crc = crc32(entry.crc, bytes);
  entry.plain_bytes += bytes.size();
  auto out = deflate_->pack(bytes, false);
  entry.packed_bytes += out.size();
  return counted(std::move(out));
}

Result<std::string> ZipWriter::end() {
  MR_ASSERT(!entries_.empty());
  auto& entry = entries_.back();
  auto out = deflate_->pack({}, true);
  entry.packed_bytes += out.size();
  if (entry.plain_bytes > kZipMaxBytes) {
    return fail(ErrorKind::invalid_argument, "a file is larger than one in a ZIP file can be");
  }
  put32(out, 0x08074B50);
  put32(out, entry.crc);
  put32(out, entry.packed_bytes);
  put32(out, entry.plain_bytes);
  return counted(std::move(out));
}

Result<std::string> ZipWriter::finish() {
  const auto directory_offset = written_bytes_;
  std::string out;
  for (const auto& entry : entries_) {
    put32(out, 0x02014B50);
    put16(out, kVersion);
    put16(out, kVersion);
    put16(out, kFlags);
    put16(out, kDeflated);
    put16(out, 0);
    put16(out, kNoDate);
    put32(out, entry.crc);
    put32(out, entry.packed_bytes);
    put32(out, entry.plain_bytes);
    put16(out, entry.name.size());
    put16(out, 0);  // Extra fields, comment, disk, attributes.
    put16(out, 0);
    put16(out, 0);
    put16(out, 0);
    put32(out, 0);
    put32(out, entry.offset);
    out += entry.name;
  }
  const auto directory_bytes = out.size();
  put32(out, 0x06054B50);
  put16(out, 0);
  put16(out, 0);
  put16(out, entries_.size());
  put16(out, entries_.size());
  put32(out, directory_bytes);
  put32(out, directory_offset);
  put16(out, 0);
  return counted(std::move(out));
}

std::string zip_entry_name(std::string_view name) {
  if (const auto slash = name.find_last_of("/\\"); slash != name.npos)
    name.remove_prefix(slash + 1);
  std::string out;
  for (const char c : name) {
    const bool special = static_cast<unsigned char>(c) < 0x20 || c == 0x7F ||
                         std::string_view("<>:\"|?*").contains(c);
    out += special ? '_' : c;
  }
  while (out.starts_with('.') || out.starts_with(' ')) out.erase(0, 1);
  if (out.size() > kNameMaxBytes) {
    // Not in the middle of a character.
    auto end = kNameMaxBytes;
    while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xC0U) == 0x80U) --end;
    out.resize(end);
  }
  return out.empty() ? "file" : out;
}

}  // namespace millrace::api
