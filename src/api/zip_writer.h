// ZipWriter: a ZIP archive, piece by piece, in constant memory.
//
// Flow: begin() an entry, write() its bytes as they come, end() it; after the last one finish().
// Each call gives the bytes of the archive that can be sent now. Deflate, level 6; sizes follow
// behind the data of an entry, so nothing has to be known before it is read. The same entries give
// the same archive: no times are kept. Threading: one at a time.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::api {

inline constexpr std::uint64_t kZipMaxBytes = 0xFFFF'FFFF;  // Without the extensions for more.
inline constexpr std::size_t kZipMaxEntries = 0xFFFF;

class ZipWriter {
 public:
  ZipWriter();
  ~ZipWriter();
  ZipWriter(const ZipWriter&) = delete;
  ZipWriter& operator=(const ZipWriter&) = delete;

  // A name that is there already gets a number: "a.pdf", "a (2).pdf".
  Result<std::string> begin(std::string_view name);
  // invalid_argument when the archive becomes larger than a ZIP file can be.
  Result<std::string> write(std::string_view bytes);
  Result<std::string> end();
  Result<std::string> finish();

 private:
  struct Entry {
    std::string name;
    std::uint32_t crc = 0;
    std::uint64_t packed_bytes = 0;
    std::uint64_t plain_bytes = 0;
    std::uint64_t offset = 0;  // Of its header in the archive.
  };
  class Deflate;

  std::string unused_name(std::string_view name) const;
  Result<std::string> counted(std::string bytes);

  std::unique_ptr<Deflate> deflate_;
  std::vector<Entry> entries_;
  std::uint64_t written_bytes_ = 0;
};

// The name of an entry: the last component, without what a file system or an unpacker could take
// for something else. Never empty.
std::string zip_entry_name(std::string_view name);

}  // namespace millrace::api
