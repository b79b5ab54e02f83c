#include "samples/files/zip.h"

#include "base/assert.h"

#include <array>
#include <leptonica/allheaders.h>

namespace millrace::samples {
namespace {

std::uint32_t crc32(std::string_view bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> made = {};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t c = i;
      for (int k = 0; k < 8; ++k) c = (c & 1U) != 0 ? 0xEDB88320U ^ (c >> 1U) : c >> 1U;
      made[i] = c;
    }
    return made;
  }();
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char c : bytes) {
    crc = table[(crc ^ static_cast<unsigned char>(c)) & 0xFFU] ^ (crc >> 8U);
  }
  return ~crc;
}

}  // namespace

std::string zlib_packed(std::string_view bytes) {
  std::size_t size = 0;
  l_uint8* packed =
      zlibCompress(reinterpret_cast<const l_uint8*>(bytes.data()), bytes.size(), &size);
  MR_ASSERT(packed != nullptr);
  std::string result(reinterpret_cast<const char*>(packed), size);
  lept_free(packed);
  return result;
}

void Zip::put(std::uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out_ += static_cast<char>((value >> (8 * i)) & 0xFFU);
}

void Zip::put_facts(const Entry& entry) {
  put(20, 2);      // Version that can read it.
  put(0x0800, 2);  // Names are UTF-8.
  put(8, 2);       // Deflate.
  put(0, 2);       // Time.
  put(0x0021, 2);  // Day: the first that the format knows.
  put(entry.crc, 4);
  put(entry.packed_bytes, 4);
  put(entry.plain_bytes, 4);
  put(static_cast<std::uint32_t>(entry.name.size()), 2);
  put(0, 2);  // Extra field.
}

void Zip::add(std::string_view name, std::string_view bytes) {
  std::string packed = zlib_packed(bytes);
  // ZIP has the bare deflate stream: without the two bytes before and the checksum after it.
  packed = packed.substr(2, packed.size() - 6);
  Entry entry = {std::string(name), crc32(bytes), static_cast<std::uint32_t>(packed.size()),
                 static_cast<std::uint32_t>(bytes.size()), static_cast<std::uint32_t>(out_.size())};
  put(0x04034B50, 4);
  put_facts(entry);
  out_ += entry.name;
  out_ += packed;
  entries_.push_back(std::move(entry));
}

std::string Zip::finish() && {
  const auto start = static_cast<std::uint32_t>(out_.size());
  for (const Entry& entry : entries_) {
    put(0x02014B50, 4);
    put(20, 2);  // Version that made it.
    put_facts(entry);
    put(0, 2);  // Comment.
    put(0, 2);  // Disk.
    put(0, 2);  // Internal attributes.
    put(0, 4);  // External attributes.
    put(entry.offset, 4);
    out_ += entry.name;
  }
  const auto end = static_cast<std::uint32_t>(out_.size());
  put(0x06054B50, 4);
  put(0, 4);  // Disks.
  put(static_cast<std::uint32_t>(entries_.size()), 2);
  put(static_cast<std::uint32_t>(entries_.size()), 2);
  put(end - start, 4);
  put(start, 4);
  put(0, 2);
  return std::move(out_);
}

}  // namespace millrace::samples
