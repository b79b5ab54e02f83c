// MadeZip: ZIP archives for tests, honest ones and liars. For tests only.
//
// Every number that an archive says about itself can be set to something else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include <zlib.h>

namespace millrace::document {

inline char byte_of(std::uint64_t value, int place) {
  return place < 8 ? static_cast<char>(value >> (8 * place) & 0xff) : '\0';
}

// Least significant byte first.
inline std::string little(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += byte_of(value, i);
  return text;
}

inline std::string big(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += byte_of(value, i);
  return text;
}

// `raw`: without zlib's header and checksum, as ZIP has it.
inline std::string deflated(std::string_view text, bool raw = false, int level = 9) {
  z_stream stream = {};
  deflateInit2(&stream, level, Z_DEFLATED, raw ? -MAX_WBITS : MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// The deflate data of `bytes` zeros, made of one megabyte of them over and over.
inline std::string deflated_zeros(std::uint64_t bytes, bool raw = false) {
  constexpr std::uint64_t kBlock = 1024 * 1024;
  const auto flushed = [](std::uint64_t size) {
    const std::string zeros(size, '\0');
    z_stream stream = {};
    deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
    std::string out(deflateBound(&stream, size) + 64, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(zeros.data()));
    stream.avail_in = static_cast<uInt>(size);
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    deflate(&stream, Z_FULL_FLUSH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
  };
  static const auto block = flushed(kBlock);
  std::string packed = raw ? "" : "\x78\x9c";
  for (std::uint64_t i = 0; i < bytes / kBlock; ++i) packed += block;
  if (bytes % kBlock != 0) packed += flushed(bytes % kBlock);
  packed += std::string("\x03\0", 2);                      // An empty last block.
  if (!raw) packed += big(bytes % 65'521, 2) + big(1, 2);  // Adler's checksum of zeros.
  return packed;
}

// The checksum of that many zeros.
inline std::uint32_t crc_of_zeros(std::uint64_t bytes) {
  constexpr std::uint64_t kBlock = 1024 * 1024;
  static const std::string zeros(kBlock, '\0');
  const auto crc_of = [](std::uint64_t size) {
    return crc32_z(0, reinterpret_cast<const Bytef*>(zeros.data()), size);
  };
  static const auto block = crc_of(kBlock);
  uLong crc = 0;
  for (std::uint64_t i = 0; i < bytes / kBlock; ++i) crc = crc32_combine(crc, block, kBlock);
  return static_cast<std::uint32_t>(
      crc32_combine(crc, crc_of(bytes % kBlock), static_cast<z_off_t>(bytes % kBlock)));
}

struct MadeEntry {
  std::string name;
  std::string content;
  bool packed = true;
  // Lies.
  std::optional<std::string> packed_bytes = {};      // Instead of the content, packed.
  std::optional<std::uint64_t> declared_bytes = {};  // In the directory and here.
  std::optional<std::uint32_t> crc = {};
  std::optional<std::string> local_name = {};
  std::optional<std::uint64_t> header_offset = {};  // In the directory.
  std::uint16_t flags = 0;
  std::uint16_t method = 0xffff;  // 0xffff: as `packed` says.
};

struct MadeZip {
  std::vector<MadeEntry> entries;
  std::string prefix = {};  // Before the first entry.
  std::string suffix = {};  // Behind the end.
  std::optional<std::uint64_t> count = {};
  std::optional<std::uint64_t> directory_offset = {};

  MadeZip& add(std::string name, std::string content, bool packed = true) {
    entries.push_back({.name = std::move(name), .content = std::move(content), .packed = packed});
    return *this;
  }

  std::string bytes() const {
    std::string file = prefix;
    std::string directory;
    for (const auto& entry : entries) {
      const auto data =
          entry.packed_bytes.value_or(entry.packed ? deflated(entry.content, true) : entry.content);
      const auto plain = entry.declared_bytes.value_or(entry.content.size());
      const auto crc = entry.crc.value_or(static_cast<std::uint32_t>(
          crc32_z(0, reinterpret_cast<const Bytef*>(entry.content.data()), entry.content.size())));
      const std::uint64_t method = entry.method != 0xffff ? entry.method : entry.packed ? 8 : 0;
      const auto offset = entry.header_offset.value_or(file.size());
      const auto sizes = little(crc, 4) + little(data.size(), 4) + little(plain, 4);
      const auto& local = entry.local_name.value_or(entry.name);
      file += "PK\x03\x04" + little(20, 2) + little(entry.flags, 2) + little(method, 2) +
              little(0, 4) + sizes + little(local.size(), 2) + little(0, 2) + local + data;
      directory += "PK\x01\x02" + little(20, 2) + little(20, 2) + little(entry.flags, 2) +
                   little(method, 2) + little(0, 4) + sizes + little(entry.name.size(), 2) +
                   little(0, 2) + little(0, 2) + little(0, 2) + little(0, 2) + little(0, 4) +
                   little(offset, 4) + entry.name;
    }
    const auto begin = directory_offset.value_or(file.size());
    const auto number = count.value_or(entries.size());
    return file + directory + "PK\x05\x06" + little(0, 4) + little(number, 2) + little(number, 2) +
           little(directory.size(), 4) + little(begin, 4) + little(0, 2) + suffix;
  }
};

}  // namespace millrace::document
