// ZipWriter: a ZIP archive, piece by piece, in constant memory.
//
// Flow: begin() an entry, write() its bytes as they come, end() it; after the last one finish().
// Each call gives the bytes of the archive that can be sent now. Deflate, level 6; sizes follow
// behind the data of an entry, so nothing has to be known before it is read. Whatever does not fit
// into 32 bits is written as ZIP64 has it: a file of more than 4 GiB, one that begins behind the
// first 4 GiB, more than 65 534 of them. The same entries give the same archive: no times are kept.
// Threading: one at a time.
#pragma once

#include "api/file_name.h"
#include "base/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::api {

struct ZipOptions {
  // From here on numbers are written in 64 bits. Some room is left below 32 bits, because what
  // cannot be packed takes a little more than it is.
  std::uint64_t wide_from = 0xF000'0000;
  std::size_t wide_from_entries = 0xFFFF;
};

class ZipWriter {
 public:
  explicit ZipWriter(ZipOptions options = {});
  ~ZipWriter();
  ZipWriter(const ZipWriter&) = delete;
  ZipWriter& operator=(const ZipWriter&) = delete;

  // The name is made safe, and one that is there already gets a number: "a.pdf", "a (2).pdf".
  // `plain_bytes`: how many will come, where that is known; otherwise there may be any number.
  std::string begin(std::string_view name, std::optional<std::uint64_t> plain_bytes = {});
  // internal when there come more bytes than were announced and their number does not fit.
  Result<std::string> write(std::string_view bytes);
  Result<std::string> end();
  std::string finish();

 private:
  struct Entry {
    std::string name;
    std::uint32_t crc = 0;
    std::uint64_t packed_bytes = 0;
    std::uint64_t plain_bytes = 0;
    std::uint64_t offset = 0;  // Of its header in the archive.
    bool wide = false;         // Its sizes have 64 bits.
  };
  class Deflate;

  std::string counted(std::string bytes);
  std::string directory_entry(const Entry& entry) const;

  ZipOptions options_;
  std::unique_ptr<Deflate> deflate_;
  FileNames names_;
  std::vector<Entry> entries_;
  std::uint64_t written_bytes_ = 0;
};

}  // namespace millrace::api
