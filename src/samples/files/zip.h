// Zip: a small ZIP archive in memory, without times, so that equal entries give equal bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::samples {

std::string zlib_packed(std::string_view bytes);  // As PDF's FlateDecode has it.

class Zip {
 public:
  void add(std::string_view name, std::string_view bytes);
  std::string finish() &&;

 private:
  struct Entry {
    std::string name;
    std::uint32_t crc = 0;
    std::uint32_t packed_bytes = 0;
    std::uint32_t plain_bytes = 0;
    std::uint32_t offset = 0;
  };
  void put(std::uint32_t value, int bytes);
  void put_facts(const Entry& entry);

  std::string out_ = {};
  std::vector<Entry> entries_ = {};
};

}  // namespace millrace::samples
