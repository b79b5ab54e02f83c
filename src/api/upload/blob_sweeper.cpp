#include "api/upload/blob_sweeper.h"

#include "base/either.h"
#include "base/fault.h"

#include <utility>
#include <vector>

namespace millrace::api {
namespace {

using namespace either;

constexpr int kBatch = 500;
constexpr double kJitter = 0.2;
// The grace is two hours at least: what is younger than this need not be asked about.
constexpr std::chrono::hours kYoung{1};

std::chrono::milliseconds some_of(std::chrono::milliseconds interval, Random& random) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(interval * random.uniform());
}

}  // namespace

awaitable<void> BlobSweeper::run(CancelToken stop) {
  auto& clock = services_.clock;
  // Servers that start together, or again and again, do not all list at once, or each time.
  auto next_list = clock.now() + some_of(intervals_.orphans, services_.random);
  while (!stop.cancelled()) {
    const auto pause = services_.random.jitter(intervals_.dead, kJitter);
    co_await (clock.sleep_for(pause) || stop.wait());
    if (stop.cancelled()) co_return;
    tell("parts", co_await sweep_parts());
    tell("condemned", co_await sweep_condemned());
    if (clock.now() < next_list) continue;
    tell("staging", co_await sweep_staging());
    tell("orphans", co_await sweep_orphans());
    next_list = clock.now() + services_.random.jitter(intervals_.orphans, kJitter);
  }
}

void BlobSweeper::tell(std::string_view what, const Result<std::size_t>& swept) const {
  if (!swept) {
    services_.log.warn("blob_sweep", {{"what", what}, {"error", swept.error().message}});
  } else if (*swept > 0) {
    services_.log.info("blob_sweep", {{"what", what}, {"removed", *swept}});
  }
}

// What is no key of this store was put there by another one: it is not ours to remove.
Task<bool> BlobSweeper::remove(std::string store_key, Clock::Wall if_stored_before) {
  const auto key = blob::BlobKey::parse(store_key);
  if (!key || !intervals_.removes_content) co_return false;
  MR_CO_TRY(const bool gone,
            co_await services_.blobs.remove(*key, {.if_modified_before = if_stored_before}));
  MR_FAULT("sweep.removed");
  co_return gone;
}

Task<std::size_t> BlobSweeper::sweep_parts() {
  std::size_t removed = 0;
  for (;;) {
    MR_CO_TRY(auto parts, co_await services_.uploads.expire_uploads(kBatch));
    const bool more = parts.size() == static_cast<std::size_t>(kBatch);
    for (const auto& part : parts) {
      MR_CO_TRY(const bool gone, co_await remove(part.handle, part.if_stored_before));
      removed += gone ? 1 : 0;
    }
    if (!parts.empty()) {
      MR_CO_TRY_VOID(co_await services_.uploads.forget_parts(std::move(parts)));
    }
    if (!more) co_return removed;
  }
}

Task<std::size_t> BlobSweeper::sweep_condemned() {
  std::size_t removed = 0;
  for (;;) {
    MR_CO_TRY(auto blobs, co_await services_.ledger.condemn_blobs(kBatch));
    if (blobs.empty()) co_return removed;
    for (const auto& blob : blobs) {
      if (!blob.removable) continue;
      MR_CO_TRY(const bool gone, co_await remove(blob.store_key, blob.if_stored_before));
      removed += gone ? 1 : 0;
    }
    const bool more = blobs.size() == static_cast<std::size_t>(kBatch);
    MR_CO_TRY(const int forgotten, co_await services_.ledger.forget_blobs(std::move(blobs)));
    if (!more || forgotten == 0) co_return removed;
  }
}

Task<std::size_t> BlobSweeper::sweep_orphans() {
  std::size_t removed = 0;
  std::string cursor;
  for (;;) {
    MR_CO_TRY(auto page, co_await services_.blobs.list({.cursor = std::move(cursor)}));
    cursor = std::move(page.cursor);
    MR_CO_TRY(const auto gone, co_await remove_unknown(std::move(page)));
    removed += gone;
    if (cursor.empty()) co_return removed;
  }
}

Task<std::size_t> BlobSweeper::remove_unknown(blob::BlobPage page) {
  const auto young = services_.clock.wall() - kYoung;
  std::vector<store::ListedBlob> listed;
  for (const auto& blob : page.blobs) {
    if (blob.modified >= young) continue;
    const auto& bytes = blob.key.sha256.bytes;
    listed.push_back({.store_key = blob.key.text(), .sha256 = {bytes.begin(), bytes.end()}});
  }
  std::size_t removed = 0;
  if (listed.empty()) co_return removed;
  MR_CO_TRY(const auto unknown, co_await services_.ledger.unknown_blobs(std::move(listed)));
  for (const auto& blob : unknown) {
    MR_CO_TRY(const bool gone, co_await remove(blob.store_key, blob.if_stored_before));
    removed += gone ? 1 : 0;
  }
  co_return removed;
}

Task<std::size_t> BlobSweeper::sweep_staging() {
  co_return co_await services_.blobs.sweep_staging(intervals_.staging_age);
}

}  // namespace millrace::api
