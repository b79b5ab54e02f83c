// ByteReader: numbers at offsets of untrusted bytes. Past the end everything is 0 and ok() is
// false.
#pragma once

#include <cstdint>
#include <string_view>

namespace millrace::document {

enum class Endian { little, big };

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes, Endian endian = Endian::little)
      : bytes_(bytes), endian_(endian) {}

  bool ok() const { return ok_; }
  std::uint64_t size() const { return bytes_.size(); }
  std::uint8_t u8(std::uint64_t at) { return static_cast<std::uint8_t>(number(at, 1)); }
  std::uint16_t u16(std::uint64_t at) { return static_cast<std::uint16_t>(number(at, 2)); }
  std::uint32_t u32(std::uint64_t at) { return static_cast<std::uint32_t>(number(at, 4)); }
  std::uint64_t u64(std::uint64_t at) { return number(at, 8); }

  bool has(std::uint64_t at, std::uint64_t count) const {
    return at <= bytes_.size() && count <= bytes_.size() - at;
  }
  std::string_view slice(std::uint64_t at, std::uint64_t count) {
    if (!has(at, count)) {
      ok_ = false;
      return {};
    }
    return bytes_.substr(at, count);
  }

 private:
  std::uint64_t number(std::uint64_t at, unsigned count) {
    if (!has(at, count)) {
      ok_ = false;
      return 0;
    }
    std::uint64_t value = 0;
    for (unsigned i = 0; i < count; ++i) {
      const auto byte = static_cast<std::uint8_t>(bytes_[at + i]);
      if (endian_ == Endian::big) {
        value = value << 8 | byte;
      } else {
        value |= std::uint64_t{byte} << (8 * i);
      }
    }
    return value;
  }

  std::string_view bytes_;
  Endian endian_;
  bool ok_ = true;
};

}  // namespace millrace::document
