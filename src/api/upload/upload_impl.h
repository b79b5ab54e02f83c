// What the parts of UploadEngine share. Of this folder's sources only.
#pragma once

#include "api/upload/content_type.h"
#include "api/upload/upload_engine.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace millrace::api {

// Whose upload it is, in every call about it.
struct UploadName {
  store::CallContext caller;
  store::UploadId id;
  std::optional<Uuid> user;
};

// Bytes on their way. Small, because a thousand clients may send at once; an upload that turns out
// to be long gets more, so that it costs fewer trips to the disk pool.
class TransferBuffer {
 public:
  std::span<std::byte> space() { return {bytes_.get(), size_}; }
  void note(std::int64_t total_bytes) {
    if (size_ == kLargeBytes || total_bytes < kLongBytes) return;
    bytes_ = std::make_unique_for_overwrite<std::byte[]>(kLargeBytes);
    size_ = kLargeBytes;
  }

 private:
  static constexpr std::size_t kSmallBytes = 16 * 1024;
  static constexpr std::size_t kLargeBytes = 256 * 1024;
  static constexpr std::int64_t kLongBytes = 2 * 1024 * 1024;
  static_assert(kSmallBytes >= kSniffBytes);

  std::size_t size_ = kSmallBytes;
  std::unique_ptr<std::byte[]> bytes_ = std::make_unique_for_overwrite<std::byte[]>(kSmallBytes);
};

// The beginning of some content, for its type.
class ContentHead {
 public:
  void take(std::span<const std::byte> bytes) {
    const auto room = kSniffBytes - head_.size();
    const auto more = bytes.first(std::min(room, bytes.size()));
    head_.insert(head_.end(), more.begin(), more.end());
  }
  bool full() const { return head_.size() == kSniffBytes; }
  std::string type(std::string_view announced) const { return content_type_of(head_, announced); }

 private:
  std::vector<std::byte> head_;
};

struct UploadEngine::Impl {
  Impl(Services parts, Limits chosen);

  // upload_receive.cpp
  Task<UploadAnswer> receive(store::CallContext caller, store::NewUpload upload,
                             ContentSource& content, Expected expected);
  Task<store::StoredBlob> store_content(UploadName name, store::UploadState upload,
                                        ContentSource& content, Expected expected);
  Task<std::int64_t> pump(UploadName name, store::UploadState upload, ContentSource& content,
                          blob::BlobWriter& writer, TransferBuffer& buffer, std::size_t filled);
  Task<std::int64_t> grow(UploadName name, std::int64_t reserved, std::int64_t needed,
                          std::int64_t size_max);
  Task<blob::BlobInfo> finish_blob(UploadName name, blob::BlobWriter& writer);
  Task<UploadAnswer> compare(store::UploadBegun begun, std::optional<std::int64_t> size_bytes,
                             ContentSource& content, Expected expected);
  awaitable<void> keep_open(UploadName name);
  Task<void> renew(UploadName name);
  awaitable<void> give_up(UploadName name);

  // upload_append.cpp
  struct Place;
  struct Turn;
  struct Piece;
  Task<Appended> append(UploadName name, AppendRequest request, ContentSource& content);
  Task<Appended> append_pieces(UploadName name, store::UploadState upload, AppendRequest request,
                               ContentSource& content, Turn& turn);
  Task<void> say_size(UploadName name, store::UploadState& upload, std::int64_t size_bytes);
  Task<Piece> read_piece(UploadName name, store::UploadState& upload, const AppendRequest& request,
                         ContentSource& content, const Turn& turn);
  Task<void> note_piece(UploadName name, store::UploadState& upload, blob::BlobInfo info);
  Task<Appended> already_done(UploadName name, std::int64_t offset_bytes);
  // Says that somebody appends still. What may pass is let pass: who was replaced meanwhile is told
  // when its piece is noted.
  Task<void> keep_writer(UploadName name);
  // The next request may come to another server.
  Task<store::UploadState> release_writer(UploadName name);
  bool has_turn(store::UploadId id);

  // upload_complete.cpp
  struct Copying;
  // All pieces are there; `last` is one that was not noted.
  Task<void> complete(UploadName name, store::UploadState& upload,
                      std::optional<blob::BlobInfo> last);
  Task<store::StoredBlob> assemble(UploadName name, const store::UploadState& upload,
                                   std::optional<blob::BlobKey> last, std::string type);
  Task<void> copy_parts(UploadName name, const store::UploadState& upload, Copying& copying);
  Task<void> copy_part(UploadName name, blob::BlobKey key, Copying& copying);
  // By the first bytes of all, in however many pieces they came.
  Task<std::string> type_of(UploadName name, const store::UploadState& upload,
                            std::optional<blob::BlobKey> last);
  Task<void> read_head(blob::BlobKey key, ContentHead& head);
  awaitable<void> keep_writing(UploadName name);

  // upload_engine.cpp
  Task<store::FinishedUpload> finish(UploadName name, store::StoredBlob blob);
  // The call, and again while nobody knows whether it was done: a repeat finds its own success.
  // Once one was in doubt, only a definite answer takes that back.
  template <class T>
  Task<T> until_known(std::function<Task<T>()> call);
  // A sweep may have removed what was stored (MR037). Success: asking again may help; the content
  // is there still, or the sweep is at it.
  Task<void> look_for(Error stale);

  Services services;
  Limits limits;
  // This process as one who appends: its requests fence each other by their turns, those of other
  // processes by this.
  const Uuid own_writer;

  std::mutex turns_mutex;                                   // Guards turns.
  std::map<store::UploadId, std::shared_ptr<Place>> turns;  // Shared with the request it is of.
};

inline constexpr int kRenewalsInALease = 3;

// Whether trying again later may help: then an upload goes on without having been renewed.
bool may_pass(const Error& error);
// What was stored may have been removed.
bool is_stale(const Error& error);
bool has_ended_well(const Error& error);
std::unexpected<Error> must_be_sent_again();

template <class T>
Task<T> UploadEngine::Impl::until_known(std::function<Task<T>()> call) {
  constexpr std::chrono::milliseconds kLongestPause{2'000};
  const auto last = services.clock.now() + limits.finish_for;
  std::chrono::milliseconds pause{50};
  bool in_doubt = false;
  for (;;) {
    auto answer = co_await call();
    if (answer) co_return answer;
    auto& error = answer.error();
    const bool stale = is_stale(error);
    if (error.kind != ErrorKind::in_doubt && error.kind != ErrorKind::unavailable) co_return answer;
    in_doubt = !stale && (in_doubt || error.kind == ErrorKind::in_doubt);
    if (services.clock.now() + pause > last) {
      if (stale) co_return must_be_sent_again();
      if (in_doubt) error.kind = ErrorKind::in_doubt;
      co_return answer;
    }
    if (stale) {
      MR_CO_TRY_VOID(co_await look_for(error));
    }
    co_await services.clock.sleep_for(pause);
    pause = std::min(pause * 2, kLongestPause);
  }
}

// What it was announced with, or what an upload may have at all.
std::int64_t size_limit(const store::UploadState& upload);
std::unexpected<Error> too_large(std::int64_t size_max_bytes);
std::unexpected<Error> other_content();
store::StoredBlob stored_blob(const blob::BlobInfo& info, std::string content_type);

}  // namespace millrace::api
