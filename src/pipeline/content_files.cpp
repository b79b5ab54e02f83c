#include "pipeline/content_files.h"

#include "base/event.h"
#include "blob/disk.h"
#include "store/api/values.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <list>
#include <map>
#include <mutex>
#include <span>
#include <unistd.h>
#include <utility>
#include <vector>

namespace millrace::pipeline {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{256} * 1024;

std::string reason(int error) { return std::strerror(error); }

Result<void> write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      return fail(ErrorKind::unavailable,
                  fmt::format("cannot write a scratch file: {}", reason(errno)));
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

struct ContentFiles::State {
  State(blob::BlobStore& store, Executor threads, Options chosen)
      : blobs(store), disk(std::move(threads)), options(std::move(chosen)) {}

  // One content: being fetched until `done` is set, then there, or failed and forgotten.
  struct Entry {
    Event done;
    std::optional<Error> failed;
    sandbox::UniqueFd file;
    std::uint64_t bytes = 0;
    std::list<std::string>::iterator place;  // In `recent`.
  };

  // Whoever fetches ends it, also when it is thrown out of it: others wait.
  struct Fetching {
    State& state;
    Entry& entry;
    std::string sha256;
    bool ended = false;

    ~Fetching() {
      if (!ended) end(fail(ErrorKind::unavailable, "fetching was broken off"), 0);
    }
    void end(Result<sandbox::UniqueFd> fetched, std::int64_t size_bytes);
  };

  Task<sandbox::UniqueFd> fetch(store::ContentRef content);
  void forget_oldest();  // Under `mutex`.

  blob::BlobStore& blobs;
  Executor disk;
  Options options;
  std::mutex mutex;  // Guards all below; never held while waiting.
  std::map<std::string, std::shared_ptr<Entry>, std::less<>> entries;
  std::list<std::string> recent;  // The last used one last.
  std::uint64_t bytes = 0;
};

Result<sandbox::UniqueFd> ContentFiles::scratch() const {
  sandbox::UniqueFd file(
      ::open(state_->options.folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file.valid()) {
    return fail(ErrorKind::unavailable,
                fmt::format("cannot make a scratch file in {}: {}", state_->options.folder.string(),
                            reason(errno)));
  }
  return file;
}

// Through /proc, so that it has an offset of its own and cannot be written.
Result<sandbox::UniqueFd> ContentFiles::reopened(const sandbox::UniqueFd& file) {
  sandbox::UniqueFd again(
      ::open(fmt::format("/proc/self/fd/{}", file.get()).c_str(), O_RDONLY | O_CLOEXEC));
  if (!again.valid()) {
    return fail(ErrorKind::unavailable,
                fmt::format("cannot open a scratch file again: {}", reason(errno)));
  }
  return again;
}

Task<sandbox::UniqueFd> ContentFiles::State::fetch(store::ContentRef content) {
  MR_CO_TRY(const auto key, blob::BlobKey::parse(content.store_key));
  MR_CO_TRY(auto reader, co_await blobs.open(key, {}));
  sandbox::UniqueFd file(::open(options.folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file.valid()) {
    co_return fail(ErrorKind::unavailable, fmt::format("cannot make a scratch file in {}: {}",
                                                       options.folder.string(), reason(errno)));
  }
  std::vector<std::byte> buffer(kChunkBytes);
  for (;;) {
    MR_CO_TRY(const auto read, co_await reader->read(buffer));
    if (read == 0) break;
    const int fd = file.get();
    MR_CO_TRY_VOID(
        co_await blob::on_disk(disk, [fd, piece = std::span<const std::byte>(buffer).first(read)] {
          return write_all(fd, piece);
        }));
  }
  co_return file;
}

void ContentFiles::State::Fetching::end(Result<sandbox::UniqueFd> fetched,
                                        std::int64_t size_bytes) {
  const std::lock_guard lock(state.mutex);
  ended = true;
  if (fetched) {
    entry.file = *std::move(fetched);
    entry.bytes = static_cast<std::uint64_t>(size_bytes);
    state.bytes += entry.bytes;
  } else {
    entry.failed = std::move(fetched).error();
    state.recent.erase(entry.place);
    state.entries.erase(sha256);
  }
  entry.done.set();
  state.forget_oldest();
}

void ContentFiles::State::forget_oldest() {
  while (entries.size() > 1 && (bytes > options.bytes_max || entries.size() > options.files_max)) {
    auto oldest = recent.begin();
    // What is still being fetched stays: somebody waits for it.
    while (oldest != recent.end() && !entries[*oldest]->done.is_set()) ++oldest;
    if (oldest == recent.end()) return;
    const auto found = entries.find(*oldest);
    bytes -= found->second->bytes;
    entries.erase(found);
    recent.erase(oldest);
  }
}

ContentFiles::ContentFiles(blob::BlobStore& blobs, Executor disk, Options options)
    : state_(std::make_shared<State>(blobs, std::move(disk), std::move(options))) {}

ContentFiles::~ContentFiles() = default;

Task<sandbox::UniqueFd> ContentFiles::open(store::ContentRef content) {
  const auto state = state_;
  std::shared_ptr<State::Entry> entry;
  bool mine = false;
  {
    const std::lock_guard lock(state->mutex);
    auto& found = state->entries[content.sha256];
    if (found == nullptr) {
      mine = true;
      found = std::make_shared<State::Entry>();
      found->place = state->recent.insert(state->recent.end(), content.sha256);
    } else {
      state->recent.splice(state->recent.end(), state->recent, found->place);
    }
    entry = found;
  }
  if (mine) {
    State::Fetching fetching{.state = *state, .entry = *entry, .sha256 = content.sha256};
    fetching.end(co_await state->fetch(content), content.size_bytes);
  } else {
    co_await entry->done.wait();
  }
  if (entry->failed) co_return fail(*entry->failed);
  co_return reopened(entry->file);
}

Task<sandbox::UniqueFd> ContentFiles::with_bytes(std::string bytes) {
  MR_CO_TRY(auto file, scratch());
  const int fd = file.get();
  MR_CO_TRY_VOID(co_await blob::on_disk(
      state_->disk, [fd, &bytes] { return write_all(fd, std::as_bytes(std::span(bytes))); }));
  co_return reopened(file);
}

Task<std::string> read_content(blob::BlobStore& blobs, store::ContentRef content,
                               std::uint64_t bytes_max) {
  MR_CO_TRY(const auto key, blob::BlobKey::parse(content.store_key));
  blob::ByteRange range;
  if (content.offset) {
    range = {.offset = static_cast<std::uint64_t>(*content.offset),
             .length = static_cast<std::uint64_t>(content.size_bytes)};
  }
  MR_CO_TRY(auto reader, co_await blobs.open(key, range));
  const auto size =
      content.offset ? static_cast<std::uint64_t>(content.size_bytes) : reader->info().size_bytes;
  if (size > bytes_max) {
    co_return fail(ErrorKind::internal, fmt::format("content {} has {} bytes, more than {}",
                                                    content.sha256, size, bytes_max));
  }
  std::string bytes(size, '\0');
  auto rest = std::as_writable_bytes(std::span(bytes));
  while (!rest.empty()) {
    MR_CO_TRY(const auto read, co_await reader->read(rest));
    if (read == 0) co_return fail(ErrorKind::internal, "content ended early");
    rest = rest.subspan(read);
  }
  // The store answers for whole contents only.
  if (content.offset && blob::sha256(bytes).hex() != content.sha256) {
    co_return fail(ErrorKind::internal, fmt::format("content {} is damaged", content.sha256));
  }
  co_return bytes;
}

json::Object describe_content(const blob::BlobInfo& info, std::string_view content_type) {
  json::Object object;
  object["sha256"] = info.key.sha256.hex();
  object["size_bytes"] = info.size_bytes;
  object["content_type"] = content_type;
  object["store_key"] = info.key.text();
  object["stored_at"] = store::iso_time(info.modified);
  return object;
}

Task<json::Object> keep_again(blob::BlobStore& blobs, std::string store_key,
                              std::string content_type) {
  constexpr std::size_t kPieceBytes = std::size_t{1024} * 1024;
  MR_CO_TRY(const auto key, blob::BlobKey::parse(store_key));
  MR_CO_TRY(auto reader, co_await blobs.open(key, {}));
  MR_CO_TRY(const auto writer, co_await blobs.create({.content_type = content_type}));
  std::vector<std::byte> piece(kPieceBytes);
  for (;;) {
    MR_CO_TRY(const auto read, co_await reader->read(piece));
    if (read == 0) break;
    MR_CO_TRY_VOID(co_await writer->write(std::span<const std::byte>(piece).first(read)));
  }
  MR_CO_TRY(const auto info, co_await writer->finish());
  co_return describe_content(info, content_type);
}

Task<json::Object> keep_content(blob::BlobStore& blobs, std::string bytes,
                                std::string content_type) {
  co_return co_await keep_bytes(blobs, bytes, std::move(content_type));
}

Task<json::Object> keep_bytes(blob::BlobStore& blobs, std::string_view bytes,
                              std::string content_type) {
  MR_CO_TRY(const auto writer,
            co_await blobs.create({.content_type = content_type, .size_bytes = bytes.size()}));
  if (!bytes.empty()) {
    MR_CO_TRY_VOID(co_await writer->write(std::as_bytes(std::span(bytes))));
  }
  MR_CO_TRY(const auto info, co_await writer->finish());
  co_return describe_content(info, content_type);
}

}  // namespace millrace::pipeline
