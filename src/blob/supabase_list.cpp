// Listing a bucket that can only be listed folder by folder and by offset.
#include "base/json.h"
#include "blob/supabase_store.h"
#include "blob/wire_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace millrace::blob {
namespace {

constexpr std::size_t kFolderMax = 1000;
constexpr std::size_t kAnswerMaxBytes = 8 * 1024 * 1024;

std::unexpected<Error> unreadable() {
  return fail(ErrorKind::internal, "supabase: a list is not as expected");
}

std::uint64_t to_size(const json::Object& metadata) {
  const auto* size = metadata.if_contains("size");
  if (size == nullptr) return 0;
  if (size->is_int64())
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, size->get_int64()));
  if (size->is_uint64()) return size->get_uint64();
  return 0;
}

// "sha256/ab/ab… 17": the last key of the page before, and how many of its folder were seen.
struct Cursor {
  std::string shard;
  std::string name;
  std::uint64_t offset = 0;
};

Result<Cursor> read_cursor(std::string_view text) {
  if (text.empty()) return Cursor{};
  const auto blank = text.find(' ');
  const auto key = BlobKey::parse(text.substr(0, blank));
  Cursor cursor;
  bool good = key.has_value() && blank != std::string_view::npos;
  if (good) {
    const auto number = text.substr(blank + 1);
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), cursor.offset);
    good = error == std::errc() && end == number.data() + number.size();
  }
  if (!good) return fail(ErrorKind::invalid_argument, "cursor is not one of this store");
  cursor.shard = key->shard();
  cursor.name = key->sha256.hex();
  return cursor;
}

}  // namespace

Task<std::vector<SupabaseStore::Entry>> SupabaseStore::entries(std::string path,
                                                               std::uint64_t offset,
                                                               std::size_t limit) {
  const json::Object body = {{"prefix", path},
                             {"limit", limit},
                             {"offset", offset},
                             {"sortBy", {{"column", "name"}, {"order", "asc"}}}};
  Call call{.what = "list",
            .method = "POST",
            .path = fmt::format("/object/list/{}", options_.bucket),
            .headers = {{"Content-Type", "application/json"}},
            .body = to_json(body)};
  MR_CO_TRY(const auto answer, co_await remote_.send(std::move(call)));
  MR_CO_TRY(const auto root, parse_json(answer.body, {.max_bytes = kAnswerMaxBytes}));
  if (!root.is_array()) co_return unreadable();
  std::vector<Entry> found;
  for (const auto& value : root.get_array()) {
    if (!value.is_object()) co_return unreadable();
    const auto& object = value.get_object();
    const auto* name = object.if_contains("name");
    const auto* id = object.if_contains("id");
    if (name == nullptr || !name->is_string()) co_return unreadable();
    Entry entry{.name = std::string(name->get_string()), .folder = id == nullptr || id->is_null()};
    const auto* metadata = object.if_contains("metadata");
    const auto* updated = object.if_contains("updated_at");
    if (!entry.folder) {
      const auto modified = updated != nullptr && updated->is_string()
                                ? parse_iso_time(std::string_view(updated->get_string()))
                                : std::nullopt;
      if (!modified || metadata == nullptr || !metadata->is_object()) co_return unreadable();
      entry.modified = *modified;
      entry.size_bytes = to_size(metadata->get_object());
    }
    found.push_back(std::move(entry));
  }
  co_return found;
}

// The next entries of a folder. Offsets move when entries before them are removed: so the entry
// before the offset is looked at too, and while it is not one that was seen, the search goes back.
Task<std::vector<SupabaseStore::Entry>> SupabaseStore::entries_after(Folder* folder) {
  const auto limit = std::min(kFolderMax, folder->limit + 1);
  auto start = folder->offset - std::min<std::uint64_t>(folder->offset, 1);
  bool anchored = start == 0;
  for (std::uint64_t step = 1;;) {
    MR_CO_TRY(auto found, co_await entries(folder->path, start, limit));
    anchored = anchored || (!found.empty() && found.front().name <= folder->after);
    if (!anchored) {
      start -= std::min(start, step);
      step *= 2;
      anchored = start == 0;
      continue;
    }
    const auto first = std::ranges::upper_bound(found, folder->after, {}, &Entry::name);
    const auto known = static_cast<std::size_t>(first - found.begin());
    start += known;
    if (known == limit) continue;  // All of it was seen: what follows is behind it.
    folder->ended = found.size() < limit;
    found.erase(found.begin(), first);
    if (found.size() > folder->limit) {
      found.resize(folder->limit);
      folder->ended = false;
    }
    folder->offset = start + found.size();
    co_return found;
  }
}

Task<BlobPage> SupabaseStore::list(ListOptions options) {
  MR_CO_TRY_VOID(check_options(options));
  MR_CO_TRY(const auto cursor, read_cursor(options.cursor));
  const auto root = fmt::format("{}sha256", options_.prefix);
  MR_CO_TRY(const auto shards, co_await entries(root, 0, kFolderMax));
  BlobPage page;
  for (const auto& shard : shards) {
    if (!shard.folder || shard.name < cursor.shard) continue;
    const bool resumed = shard.name == cursor.shard;
    Folder folder{.path = fmt::format("{}/{}", root, shard.name),
                  .after = resumed ? cursor.name : std::string(),
                  .offset = resumed ? cursor.offset : 0};
    while (!folder.ended) {
      folder.limit = options.limit - page.blobs.size();
      MR_CO_TRY(const auto found, co_await entries_after(&folder));
      for (const auto& entry : found) {
        folder.after = entry.name;
        const auto key = BlobKey::parse(fmt::format("{}{}/{}", kKeyRoot, shard.name, entry.name));
        if (entry.folder || !key) continue;  // Not ours.
        page.blobs.push_back(
            {.key = *key, .size_bytes = entry.size_bytes, .modified = entry.modified});
      }
      if (page.blobs.size() < options.limit) continue;
      page.cursor = fmt::format("{} {}", page.blobs.back().key.text(), folder.offset);
      co_return page;
    }
  }
  co_return page;
}

}  // namespace millrace::blob
