// ZipFile: the entries of a ZIP archive in memory, read strictly and by name.
//
// Programs disagree about ambiguous archives, and attackers live on that: one sees the local
// headers, the other the directory. So this reads only what leaves no choice: it begins with an
// entry and ends with the directory's end, local headers agree with the directory, entries do not
// share bytes, no name comes twice, no encryption, methods "stored" and "deflate". Sizes that are
// declared are checked before anything is unpacked, real ones while it is.
//
// The bytes must outlive it.
#pragma once

#include "base/result.h"
#include "document/bounded/inflate.h"
#include "document/bounded/limits.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::document {

struct ZipEntry {
  std::string name;
  std::uint16_t method = 0;
  std::uint16_t flags = 0;
  std::uint32_t crc = 0;
  std::uint64_t packed_bytes = 0;
  std::uint64_t bytes = 0;          // As declared.
  std::uint64_t header_offset = 0;  // Of the local header.
  std::uint64_t data_offset = 0;
};

class ZipFile {
 public:
  // Refusals: zip_structure, zip_overlap, zip_duplicate, zip_method, encrypted, truncated,
  // polyglot, archive_entries, archive_entry_name, unpacked_bytes, ratio.
  static Result<ZipFile> open(std::string_view bytes, const Limits& limits);

  std::uint64_t size() const { return bytes_.size(); }  // Of the archive.
  const std::vector<ZipEntry>& entries() const { return entries_; }
  const ZipEntry* find(std::string_view name) const;  // Null when there is none.

  // Unpacks in pieces; stops with the taker's error. Refusals: zip_size, damaged, and the budget's.
  using PieceTaker = std::function<Result<void>(std::string_view)>;
  Result<void> read(const ZipEntry& entry, UnpackBudget& budget, const PieceTaker& take) const;
  // Into memory: embedded_size when it has more than `bytes_max`.
  Result<std::string> read_all(const ZipEntry& entry, UnpackBudget& budget,
                               std::uint64_t bytes_max) const;

 private:
  explicit ZipFile(std::string_view bytes) : bytes_(bytes) {}

  std::string_view bytes_;
  std::vector<ZipEntry> entries_;
  std::map<std::string, std::size_t, std::less<>> by_name_;

  friend class ZipDirectory;
};

}  // namespace millrace::document
