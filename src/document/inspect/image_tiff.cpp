// TIFF: a chain of directories, one per page, each with the places of its strips or tiles.
#include "document/bounded/byte_reader.h"
#include "document/bounded/refusal.h"
#include "document/bounded/sha256.h"
#include "document/inspect/image_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace millrace::document {

namespace {

constexpr std::uint64_t kEntriesMax = 4'096;     // Of one directory.
constexpr std::uint64_t kStripsMax = 1'000'000;  // Of one page.
constexpr std::uint64_t kNoPage = 1 | 4;         // Kinds: a smaller copy, a mask.

enum Tag : std::uint16_t {
  kKind = 254,
  kWidth = 256,
  kHeight = 257,
  kDescription = 270,
  kStripOffsets = 273,
  kOrientation = 274,
  kStripBytes = 279,
  kResolutionX = 282,
  kResolutionY = 283,
  kResolutionUnit = 296,
  kSoftware = 305,
  kTime = 306,
  kTileOffsets = 324,
  kTileBytes = 325,
};

struct Entry {
  std::uint16_t type = 0;
  std::uint64_t count = 0;
  std::uint64_t data = 0;  // Where its values are.
};

std::uint64_t type_bytes(std::uint16_t type) {
  switch (type) {
    case 1:
    case 2:
    case 6:
    case 7:
      return 1;
    case 3:
    case 8:
      return 2;
    case 4:
    case 9:
    case 11:
    case 13:
      return 4;
    case 5:
    case 10:
    case 12:
    case 16:
    case 17:
    case 18:
      return 8;
    default:
      return 0;
  }
}

class TiffFile {
 public:
  explicit TiffFile(std::string_view bytes)
      : bytes_(bytes),
        reader_(bytes, bytes.starts_with('M') ? Endian::big : Endian::little),
        large_(reader_.u16(2) == 43) {}

  std::uint64_t first() { return large_ ? reader_.u64(8) : reader_.u32(4); }

  struct Directory {
    std::map<std::uint16_t, Entry> entries;
  };

  struct Extent {
    std::uint64_t begin = 0;  // Of the entries.
    std::uint64_t count = 0;
    std::uint64_t entry_bytes = 0;
    std::uint64_t next = 0;  // The directory behind this one; 0: none.
  };

  Result<Extent> extent(std::uint64_t at) {
    Extent out{.begin = at + (large_ ? 8 : 2),
               .count = large_ ? reader_.u64(at) : reader_.u16(at),
               .entry_bytes = large_ ? 20U : 12U};
    if (!reader_.ok()) return refuse("truncated", "a directory of the image lies outside the file");
    if (out.count == 0 || out.count > kEntriesMax) {
      return refuse("image_structure", "a directory of the image has no sensible length");
    }
    const auto link = out.begin + out.count * out.entry_bytes;
    if (!reader_.has(out.begin, link - out.begin)) {
      return refuse("truncated", "the image ends too early");
    }
    // Some writers leave out the last link.
    if (reader_.has(link, large_ ? 8 : 4)) {
      out.next = large_ ? reader_.u64(link) : reader_.u32(link);
    }
    return out;
  }

  Result<Directory> directory(std::uint64_t at) {
    MR_TRY(const auto extent, this->extent(at));
    Directory directory;
    for (std::uint64_t i = 0; i < extent.count; ++i) {
      const auto entry_at = extent.begin + i * extent.entry_bytes;
      Entry entry{.type = reader_.u16(entry_at + 2),
                  .count = large_ ? reader_.u64(entry_at + 4) : reader_.u32(entry_at + 4)};
      const auto width = type_bytes(entry.type);
      if (width == 0) continue;
      if (entry.count > bytes_.size() / width) {
        return refuse("truncated", "a field of the image lies outside the file");
      }
      const auto inside = entry.count * width <= (large_ ? 8 : 4);
      const auto value_at = entry_at + (large_ ? 12 : 8);
      entry.data = inside ? value_at : large_ ? reader_.u64(value_at) : reader_.u32(value_at);
      if (!reader_.has(entry.data, entry.count * width)) {
        return refuse("truncated", "a field of the image lies outside the file");
      }
      directory.entries.emplace(reader_.u16(entry_at), entry);
    }
    return directory;
  }

  std::uint64_t value(const Entry& entry, std::uint64_t i) {
    switch (type_bytes(entry.type)) {
      case 1:
        return reader_.u8(entry.data + i);
      case 2:
        return reader_.u16(entry.data + i * 2);
      case 4:
        return reader_.u32(entry.data + i * 4);
      default:
        return reader_.u64(entry.data + i * 8);
    }
  }

  std::uint64_t first_value(const Directory& directory, Tag tag, std::uint64_t otherwise = 0) {
    const auto found = directory.entries.find(tag);
    if (found == directory.entries.end() || found->second.count == 0) return otherwise;
    return value(found->second, 0);
  }

  // Dots per inch; 0: the file does not say.
  double resolution(const Directory& directory, Tag tag) {
    const auto found = directory.entries.find(tag);
    if (found == directory.entries.end() || found->second.type != 5) return 0;
    const auto below = reader_.u32(found->second.data + 4);
    if (below == 0) return 0;
    const double unit = first_value(directory, kResolutionUnit, 2) == 3 ? 2.54 : 1;
    return unit * reader_.u32(found->second.data) / below;
  }

  std::uint32_t orientation(const Directory& directory) {
    return static_cast<std::uint32_t>(first_value(directory, kOrientation, 1));
  }

  struct Place {
    std::uint64_t at = 0;
    std::uint32_t directory = 0;  // Of the chain.
  };

  // Where the directories are that are pages; all of them when none says so. One index for whoever
  // counts pages and whoever reads one: it looks at nothing but links and kinds.
  Result<std::vector<Place>> pages(const Limits& limits) {
    std::vector<Place> pages;
    std::vector<Place> others;
    std::set<std::uint64_t> seen;
    for (auto at = first(); at != 0;) {
      if (!seen.insert(at).second) {
        return refuse("image_structure", "the image's pages lead in a circle");
      }
      if (pages.size() >= limits.pages_max || others.size() >= limits.pages_max) {
        return refuse("page_count", fmt::format("more than {} pages", limits.pages_max));
      }
      MR_TRY(const auto extent, this->extent(at));
      std::uint64_t kind = 0;
      for (std::uint64_t i = 0; i < extent.count; ++i) {
        const auto entry_at = extent.begin + i * extent.entry_bytes;
        const auto value_at = entry_at + (large_ ? 12 : 8);
        if (reader_.u16(entry_at) != kKind) continue;
        kind = reader_.u16(entry_at + 2) == 3 ? reader_.u16(value_at) : reader_.u32(value_at);
      }
      auto& list = (kind & kNoPage) != 0 ? others : pages;
      list.push_back({.at = at, .directory = static_cast<std::uint32_t>(seen.size() - 1)});
      at = extent.next;
    }
    return pages.empty() ? others : pages;
  }

  // The digest of what is shown; refuses strips that are not there.
  Result<std::string> digest(const Directory& directory) {
    Sha256 digest;
    for (const auto& [tag, entry] : directory.entries) {
      const bool about = tag == kDescription || tag == kSoftware || tag == kTime || tag > 32'767;
      const bool place = tag == kStripOffsets || tag == kTileOffsets;
      if (about || place) continue;
      digest.add_number(tag);
      digest.add_piece(bytes_.substr(entry.data, entry.count * type_bytes(entry.type)));
    }
    const bool tiled = directory.entries.contains(kTileOffsets);
    const auto offsets = directory.entries.find(tiled ? kTileOffsets : kStripOffsets);
    const auto sizes = directory.entries.find(tiled ? kTileBytes : kStripBytes);
    if (offsets == directory.entries.end() || sizes == directory.entries.end()) {
      return refuse("image_structure", "a page of the image has no pixels");
    }
    const auto count = std::min(offsets->second.count, sizes->second.count);
    if (count == 0 || count > kStripsMax || offsets->second.count != sizes->second.count) {
      return refuse("image_structure", "a page of the image has no sensible number of strips");
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto at = value(offsets->second, i);
      const auto size = value(sizes->second, i);
      if (!reader_.has(at, size)) return refuse("truncated", "the image ends too early");
      // Strips that share their bytes make a small file long to hash and to read.
      strip_bytes_ += size;
      if (strip_bytes_ > 2 * bytes_.size())
        return refuse("image_structure", "strips share their bytes");
      digest.add_piece(bytes_.substr(at, size));
    }
    return digest.hex();
  }

 private:
  std::string_view bytes_;
  ByteReader reader_;
  bool large_;
  std::uint64_t strip_bytes_ = 0;  // Of all pages.
};

}  // namespace

std::uint32_t exif_orientation(std::string_view tiff) {
  TiffFile file(tiff);
  const auto directory = file.directory(file.first());
  if (!directory.has_value()) return 1;
  return file.orientation(*directory);
}

Result<ImageFrames> read_tiff(std::string_view bytes, const Limits& limits) {
  TiffFile file(bytes);
  MR_TRY(const auto pages, file.pages(limits));
  ImageFrames frames;
  for (const auto& page : pages) {
    MR_TRY(const auto directory, file.directory(page.at));
    ImageFrame frame{.width = file.first_value(directory, kWidth),
                     .height = file.first_value(directory, kHeight)};
    MR_TRY_VOID(check_size({frame.width, frame.height}, limits));
    frame.dpi_x = file.resolution(directory, kResolutionX);
    frame.dpi_y = file.resolution(directory, kResolutionY);
    frame.rotation_deg = turn_of_orientation(file.orientation(directory));
    MR_TRY(frame.content_sha256, file.digest(directory));
    frames.push_back(std::move(frame));
  }
  if (frames.empty()) return refuse("truncated", "the image has no page");
  return frames;
}

std::optional<TiffPage> tiff_page(std::string_view bytes, std::uint32_t page,
                                  const Limits& limits) {
  TiffFile file(bytes);
  const auto pages = file.pages(limits);
  if (!pages.has_value() || page == 0 || page > pages->size()) return std::nullopt;
  const auto& place = (*pages)[page - 1];
  const auto directory = file.directory(place.at);
  if (!directory.has_value()) return std::nullopt;
  return TiffPage{.directory = place.directory,
                  .orientation = file.orientation(*directory),
                  .dpi_x = file.resolution(*directory, kResolutionX),
                  .dpi_y = file.resolution(*directory, kResolutionY)};
}

}  // namespace millrace::document
