#include "document/bounded/zip_file.h"

#include "document/bounded/byte_reader.h"
#include "document/bounded/refusal.h"

#include <fmt/format.h>

#include <algorithm>
#include <zlib.h>

namespace millrace::document {

namespace {

constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kDirectoryHeader = 0x02014b50;
constexpr std::uint32_t kEnd = 0x06054b50;
constexpr std::uint32_t kEnd64 = 0x06064b50;
constexpr std::uint32_t kEnd64Locator = 0x07064b50;
constexpr std::uint64_t kEndBytes = 22;
constexpr std::uint64_t kEnd64LocatorBytes = 20;
constexpr std::uint64_t kCommentMax = 65'535;
constexpr std::uint16_t kEncrypted = 1;
constexpr std::uint16_t kSizesFollow = 8;  // In a descriptor behind the data.
constexpr std::uint16_t kZip64Extra = 1;

bool is_plain_name(std::string_view name) {
  if (name.empty() || name.front() == '/') return false;
  const bool odd = std::ranges::any_of(
      name, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\\' || c == 0x7f; });
  if (odd || name.find(':') == 1) return false;
  return name != ".." && !name.starts_with("../") && !name.ends_with("/..") &&
         name.find("/../") == name.npos;
}

}  // namespace

// Reads the directory; what it finds goes into a ZipFile.
class ZipDirectory {
 public:
  ZipDirectory(ZipFile& file, const Limits& limits)
      : file_(file), limits_(limits), reader_(file.bytes_) {}

  Result<void> read() {
    MR_TRY_VOID(find_end());
    MR_TRY_VOID(read_entries());
    MR_TRY_VOID(check_sizes());
    return check_overlap();
  }

 private:
  Result<void> find_end() {
    const auto size = reader_.size();
    const auto lowest = size > kEndBytes + kCommentMax ? size - kEndBytes - kCommentMax : 0;
    if (size < kEndBytes) return refuse("truncated", "the archive has no directory");
    for (auto at = size - kEndBytes;; --at) {
      if (reader_.u32(at) == kEnd) {
        if (at + kEndBytes + reader_.u16(at + 20) != size) {
          return refuse("zip_structure", "bytes follow the end of the archive's directory");
        }
        return take_end(at);
      }
      if (at == lowest) return refuse("truncated", "the archive has no directory");
    }
  }

  Result<void> take_end(std::uint64_t at) {
    auto end = at;
    count_ = reader_.u16(at + 10);
    auto bytes = std::uint64_t{reader_.u32(at + 12)};
    begin_ = reader_.u32(at + 16);
    if (reader_.u16(at + 4) != 0 || reader_.u16(at + 6) != 0) {
      return refuse("zip_structure", "the archive is one of several parts");
    }
    const bool large = count_ == 0xffff || bytes == 0xffffffff || begin_ == 0xffffffff;
    if (large && at >= kEnd64LocatorBytes &&
        reader_.u32(at - kEnd64LocatorBytes) == kEnd64Locator) {
      end = reader_.u64(at - kEnd64LocatorBytes + 8);
      if (!reader_.has(end, 56) || reader_.u32(end) != kEnd64) {
        return refuse("zip_structure",
                      "the archive's large directory end is not where it should be");
      }
      count_ = reader_.u64(end + 32);
      bytes = reader_.u64(end + 40);
      begin_ = reader_.u64(end + 48);
    }
    if (count_ > limits_.archive_entries_max) {
      return refuse("archive_entries",
                    fmt::format("{} entries, more than {}", count_, limits_.archive_entries_max));
    }
    if (!reader_.has(begin_, bytes) || begin_ + bytes != end) {
      return refuse("zip_structure", "the archive's directory is not where it should be");
    }
    end_ = end;
    return ok();
  }

  Result<void> read_entries() {
    auto at = begin_;
    for (std::uint64_t i = 0; i < count_; ++i) {
      MR_TRY(auto next, read_entry(at));
      at = next;
    }
    if (at != end_) return refuse("zip_structure", "the directory has more than its entries");
    return ok();
  }

  Result<std::uint64_t> read_entry(std::uint64_t at) {
    if (reader_.u32(at) != kDirectoryHeader || !reader_.ok()) {
      return refuse("zip_structure", "an entry of the directory is none");
    }
    const std::uint64_t name_bytes = reader_.u16(at + 28);
    const std::uint64_t extra_bytes = reader_.u16(at + 30);
    const std::uint64_t comment_bytes = reader_.u16(at + 32);
    const auto next = at + 46 + name_bytes + extra_bytes + comment_bytes;
    if (next > end_) return refuse("zip_structure", "an entry reaches beyond the directory");
    ZipEntry entry{.name = std::string(reader_.slice(at + 46, name_bytes)),
                   .method = reader_.u16(at + 10),
                   .flags = reader_.u16(at + 8),
                   .crc = reader_.u32(at + 16),
                   .packed_bytes = reader_.u32(at + 20),
                   .bytes = reader_.u32(at + 24),
                   .header_offset = reader_.u32(at + 42)};
    take_large_sizes(entry, reader_.slice(at + 46 + name_bytes, extra_bytes));
    MR_TRY_VOID(check_entry(entry));
    MR_TRY_VOID(check_local_header(entry));
    if (!file_.by_name_.emplace(entry.name, file_.entries_.size()).second) {
      return refuse("zip_duplicate", "two entries have the same name");
    }
    file_.entries_.push_back(std::move(entry));
    return next;
  }

  static void take_large_sizes(ZipEntry& entry, std::string_view extra) {
    ByteReader reader(extra);
    for (std::uint64_t at = 0; reader.has(at, 4); at += 4 + reader.u16(at + 2)) {
      if (reader.u16(at) != kZip64Extra) continue;
      auto field = at + 4;
      for (auto* value : {&entry.bytes, &entry.packed_bytes, &entry.header_offset}) {
        if (*value != 0xffffffff) continue;
        *value = reader.u64(field);
        field += 8;
      }
      return;
    }
  }

  Result<void> check_entry(const ZipEntry& entry) const {
    if (entry.name.size() > limits_.entry_name_bytes_max || !is_plain_name(entry.name)) {
      return refuse("archive_entry_name", "an entry's name is too long or no plain path");
    }
    if ((entry.flags & kEncrypted) != 0) return refuse("encrypted", "the archive is encrypted");
    if (entry.method != 0 && entry.method != 8) {
      return refuse("zip_method", "an entry is packed in a way that office files are not");
    }
    if (entry.method == 0 && entry.packed_bytes != entry.bytes) {
      return refuse("zip_structure", "an entry that is not packed has two sizes");
    }
    return ok();
  }

  Result<void> check_local_header(ZipEntry& entry) {
    const auto at = entry.header_offset;
    if (!reader_.has(at, 30) || reader_.u32(at) != kLocalHeader) {
      return refuse("zip_structure", "an entry is not where the directory says");
    }
    const std::uint64_t name_bytes = reader_.u16(at + 26);
    if (reader_.slice(at + 30, name_bytes) != entry.name || reader_.u16(at + 8) != entry.method ||
        ((reader_.u16(at + 6) ^ entry.flags) & 9) != 0) {
      return refuse("zip_structure", "an entry and the directory contradict each other");
    }
    const bool sizes_here = (entry.flags & kSizesFollow) == 0 && reader_.u32(at + 18) != 0xffffffff;
    if (sizes_here &&
        (reader_.u32(at + 18) != entry.packed_bytes || reader_.u32(at + 14) != entry.crc)) {
      return refuse("zip_structure", "an entry and the directory contradict each other");
    }
    entry.data_offset = at + 30 + name_bytes + reader_.u16(at + 28);
    if (!reader_.has(entry.data_offset, entry.packed_bytes)) {
      return refuse("truncated", "an entry reaches beyond the archive");
    }
    return ok();
  }

  Result<void> check_sizes() const {
    UnpackBudget budget(limits_);
    for (const auto& entry : file_.entries_) {
      MR_TRY_VOID(budget.add(entry.bytes));
      MR_TRY_VOID(budget.check_ratio(entry.packed_bytes, entry.bytes));
    }
    return budget.check_ratio(file_.bytes_.size(), budget.total());
  }

  Result<void> check_overlap() const {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
    for (const auto& entry : file_.entries_) {
      ranges.emplace_back(entry.header_offset, entry.data_offset + entry.packed_bytes);
    }
    ranges.emplace_back(begin_, file_.bytes_.size());
    std::ranges::sort(ranges);
    if (ranges.front().first != 0) {
      return refuse("polyglot", "the archive begins in the middle of the file");
    }
    for (std::size_t i = 1; i < ranges.size(); ++i) {
      if (ranges[i].first < ranges[i - 1].second) {
        return refuse("zip_overlap", "entries of the archive share bytes");
      }
    }
    return ok();
  }

  ZipFile& file_;
  const Limits& limits_;
  ByteReader reader_;
  std::uint64_t count_ = 0;
  std::uint64_t begin_ = 0;  // Of the directory.
  std::uint64_t end_ = 0;
};

Result<ZipFile> ZipFile::open(std::string_view bytes, const Limits& limits) {
  ZipFile file(bytes);
  MR_TRY_VOID(ZipDirectory(file, limits).read());
  return file;
}

const ZipEntry* ZipFile::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &entries_[found->second];
}

Result<void> ZipFile::read(const ZipEntry& entry, UnpackBudget& budget,
                           const PieceTaker& take) const {
  const auto packed = bytes_.substr(entry.data_offset, entry.packed_bytes);
  std::uint64_t taken = 0;
  uLong crc = crc32(0, nullptr, 0);
  Result<void> outcome = ok();
  const auto piece_taken = [&](std::string_view piece, std::uint64_t) {
    taken += piece.size();
    outcome = taken > entry.bytes ? refuse("zip_size", "an entry is larger than it says")
                                  : budget.add(piece.size());
    if (!outcome.has_value()) return false;
    crc = crc32_z(crc, reinterpret_cast<const Bytef*>(piece.data()), piece.size());
    outcome = take(piece);
    return outcome.has_value();
  };
  if (entry.method == 0) {
    constexpr std::size_t kPiece = std::size_t{256} * 1024;
    for (std::size_t at = 0; at < packed.size(); at += kPiece) {
      if (!piece_taken(packed.substr(at, kPiece), at)) return outcome;
    }
  } else {
    const auto inflated = inflate_bytes(packed, Packing::raw, piece_taken);
    if (inflated.end == InflateEnd::stopped) return outcome;
    if (inflated.end != InflateEnd::complete) {
      return refuse("damaged", "an entry of the archive cannot be unpacked");
    }
  }
  if (taken != entry.bytes) return refuse("zip_size", "an entry is smaller than it says");
  if (crc != entry.crc) return refuse("damaged", "an entry's checksum is wrong");
  return ok();
}

Result<std::string> ZipFile::read_all(const ZipEntry& entry, UnpackBudget& budget,
                                      std::uint64_t bytes_max) const {
  if (entry.bytes > bytes_max) {
    return refuse("embedded_size", fmt::format("a part has more than {} bytes", bytes_max));
  }
  std::string text;
  text.reserve(entry.bytes);
  MR_TRY_VOID(read(entry, budget, [&](std::string_view piece) {
    text += piece;
    return ok();
  }));
  return text;
}

}  // namespace millrace::document
