#include "api/upload/blob_sweeper.h"

#include "base/either.h"
#include "base/fault.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

namespace millrace::api {
namespace {

using namespace either;

constexpr int kBatch = 500;
// Few: whoever stores one of them at this moment waits until all are done.
constexpr std::size_t kMarkedAtOnce = 20;
constexpr double kJitter = 0.2;
// The grace is two hours at least: what is younger than this need not be asked about.
constexpr std::chrono::hours kYoung{1};

std::chrono::milliseconds some_of(std::chrono::milliseconds interval, Random& random) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(interval * random.uniform());
}

// A request that got no answer may still reach the store.
bool may_still_happen(const Error& error) {
  return error.kind == ErrorKind::unavailable || error.kind == ErrorKind::throttled ||
         error.kind == ErrorKind::in_doubt || error.kind == ErrorKind::cancelled;
}

// Nothing: told to stop, and the work was given up where it stood.
template <class T>
awaitable<std::optional<Result<T>>> unless_stopped(Task<T> work, CancelToken stop) {
  auto ended = co_await (std::move(work) || stop.wait());
  if (ended.index() == 1) co_return std::nullopt;
  co_return std::get<0>(std::move(ended));
}

}  // namespace

awaitable<void> BlobSweeper::run(CancelToken stop) {
  auto& clock = services_.clock;
  // Servers that start together, or again and again, do not all list at once, or each time.
  auto next_list = clock.now() + some_of(options_.orphans, services_.random);
  while (!stop.cancelled()) {
    const auto pause = services_.random.jitter(options_.dead, kJitter);
    co_await (clock.sleep_for(pause) || stop.wait());
    tell("lapsed", co_await sweep_lapsed(stop));
    tell("parts", co_await sweep_parts(stop));
    tell("condemned", co_await sweep_condemned(stop));
    if (clock.now() < next_list) continue;
    tell("staging", co_await sweep_staging(stop));
    tell("orphans", co_await sweep_orphans(stop));
    next_list = clock.now() + services_.random.jitter(options_.orphans, kJitter);
  }
}

void BlobSweeper::tell(std::string_view what, const Result<Swept>& swept) const {
  if (!swept) {
    services_.log.warn("blob_sweep", {{"what", what}, {"error", swept.error().message}});
    return;
  }
  if (swept->failed > 0) {
    services_.log.warn("blob_sweep",
                       {{"what", what}, {"failed", swept->failed}, {"error", swept->error}});
  }
  if (swept->removed > 0) {
    services_.log.info("blob_sweep", {{"what", what}, {"removed", swept->removed}});
  }
}

Task<void> BlobSweeper::remove(std::vector<Candidate>& blobs, bool marked, Swept& swept,
                               CancelToken stop) {
  std::span<Candidate> rest(blobs);
  while (!rest.empty() && !stop.cancelled()) {
    const auto some = rest.first(std::min(rest.size(), kMarkedAtOnce));
    rest = rest.subspan(some.size());
    MR_CO_TRY_VOID(co_await remove_some(some, marked, swept, stop));
  }
  co_return ok();
}

Task<void> BlobSweeper::remove_some(std::span<Candidate> blobs, bool marked, Swept& swept,
                                    CancelToken stop) {
  const auto last = services_.clock.now() + store::kRemoveWithin;  // Measured before the marks.
  std::map<std::string, Uuid> marks;
  if (marked) {
    MR_CO_TRY(marks, co_await mark(blobs));
    MR_FAULT("sweep.marked");
  }
  for (auto& blob : blobs) {
    if (blob.fate != Fate::untried) continue;
    const auto key = blob::BlobKey::parse(blob.store_key);
    if (!key) {  // Put there by another store: not ours to remove.
      blob.fate = Fate::gone;
      continue;
    }
    if (marked && !marks.contains(blob.store_key)) {
      blob.fate = Fate::kept;
      continue;
    }
    if (stop.cancelled() || (marked && services_.clock.now() >= last)) break;
    const auto removed = co_await unless_stopped(
        services_.blobs.remove(*key, {.if_modified_before = blob.if_stored_before}), stop);
    const bool over = removed && (*removed || !may_still_happen(removed->error()));
    if (!over) marks.erase(blob.store_key);  // It stays marked until it lapses.
    if (!removed) break;
    if (*removed) {
      MR_FAULT("sweep.removed");
      blob.fate = **removed ? Fate::gone : Fate::kept;
      swept.removed += **removed ? 1 : 0;
      continue;
    }
    blob.fate = Fate::kept;
    if (swept.failed++ == 0) swept.error = removed->error().message;
  }
  co_return co_await end(std::move(marks));
}

Task<std::map<std::string, Uuid>> BlobSweeper::mark(std::span<const Candidate> blobs) {
  std::vector<std::string> keys;
  for (const auto& blob : blobs) {
    if (blob.fate == Fate::untried && blob::BlobKey::parse(blob.store_key)) {
      keys.push_back(blob.store_key);
    }
  }
  std::map<std::string, Uuid> marks;
  if (keys.empty()) co_return marks;
  MR_CO_TRY(auto marked, co_await services_.ledger.mark_blobs(std::move(keys)));
  for (auto& blob : marked) marks[std::move(blob.store_key)] = blob.removal;
  co_return marks;
}

Task<void> BlobSweeper::end(std::map<std::string, Uuid> marks) {
  if (marks.empty()) co_return ok();
  std::vector<Uuid> removals;
  for (const auto& [key, removal] : marks) removals.push_back(removal);
  co_return co_await services_.ledger.end_removals(std::move(removals));
}

template <class T>
std::vector<T> BlobSweeper::those(const std::vector<T>& items, const std::vector<Candidate>& blobs,
                                  Fate fate) {
  std::vector<T> found;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (blobs[i].fate == fate) found.push_back(items[i]);
  }
  return found;
}

// Where it is told to stop, what is gone already is forgotten by the next sweep: it is gone twice.
Task<BlobSweeper::Swept> BlobSweeper::sweep_parts(CancelToken stop) {
  Swept swept;
  while (!stop.cancelled()) {
    MR_CO_TRY(const auto parts, co_await services_.uploads.expire_uploads(kBatch));
    std::vector<Candidate> blobs;
    for (const auto& part : parts) {
      blobs.push_back({.store_key = part.handle, .if_stored_before = part.if_stored_before});
    }
    MR_CO_TRY_VOID(co_await remove(blobs, options_.marks, swept, stop));
    if (stop.cancelled()) break;
    auto gone = those(parts, blobs, Fate::gone);
    auto kept = those(parts, blobs, Fate::kept);
    const bool more = parts.size() == static_cast<std::size_t>(kBatch) && !gone.empty();
    if (!gone.empty()) {
      MR_CO_TRY_VOID(co_await services_.uploads.forget_parts(std::move(gone)));
    }
    if (!kept.empty()) {
      MR_CO_TRY_VOID(co_await services_.uploads.delay_parts(std::move(kept)));
    }
    if (!more) break;
  }
  co_return swept;
}

Task<BlobSweeper::Swept> BlobSweeper::sweep_condemned(CancelToken stop) {
  Swept swept;
  while (!stop.cancelled()) {
    MR_CO_TRY(const auto condemned, co_await services_.ledger.condemn_blobs(kBatch));
    std::vector<Candidate> blobs;
    for (const auto& blob : condemned) {
      // Where another tenant has the same, the row goes and the bytes stay.
      blobs.push_back({.store_key = blob.store_key,
                       .if_stored_before = blob.if_stored_before,
                       .fate = blob.removable ? Fate::untried : Fate::gone});
    }
    MR_CO_TRY_VOID(co_await remove(blobs, options_.marks, swept, stop));
    if (stop.cancelled()) break;
    auto gone = those(condemned, blobs, Fate::gone);
    auto kept = those(condemned, blobs, Fate::kept);
    int forgotten = 0;
    if (!gone.empty()) {
      MR_CO_TRY(forgotten, co_await services_.ledger.forget_blobs(std::move(gone)));
    }
    if (!kept.empty()) {
      MR_CO_TRY_VOID(co_await services_.ledger.delay_blobs(std::move(kept)));
    }
    if (condemned.size() < static_cast<std::size_t>(kBatch) || forgotten == 0) break;
  }
  co_return swept;
}

// On every store: the marks may be from one that was used before.
Task<BlobSweeper::Swept> BlobSweeper::sweep_lapsed(CancelToken stop) {
  Swept swept;
  if (stop.cancelled()) co_return swept;
  MR_CO_TRY(const auto lapsed, co_await services_.ledger.lapsed_removals(kBatch));
  std::vector<Candidate> blobs;
  for (const auto& blob : lapsed) {
    blobs.push_back({.store_key = blob.store_key, .if_stored_before = blob.if_stored_before});
  }
  MR_CO_TRY_VOID(co_await remove(blobs, true, swept, stop));
  co_return swept;
}

Task<BlobSweeper::Swept> BlobSweeper::sweep_orphans(CancelToken stop) {
  Swept swept;
  std::string cursor;
  while (!stop.cancelled()) {
    auto listed =
        co_await unless_stopped(services_.blobs.list({.cursor = std::move(cursor)}), stop);
    if (!listed) break;
    MR_CO_TRY(auto page, *std::move(listed));
    cursor = std::move(page.cursor);
    MR_CO_TRY_VOID(co_await remove_unknown(std::move(page), swept, stop));
    if (cursor.empty()) break;
  }
  co_return swept;
}

Task<void> BlobSweeper::remove_unknown(blob::BlobPage page, Swept& swept, CancelToken stop) {
  const auto young = services_.clock.wall() - kYoung;
  std::vector<store::ListedBlob> listed;
  std::map<std::string, Clock::Wall> modified;
  for (const auto& blob : page.blobs) {
    if (blob.modified >= young) continue;
    const auto& bytes = blob.key.sha256.bytes;
    listed.push_back({.store_key = blob.key.text(), .sha256 = {bytes.begin(), bytes.end()}});
    modified[blob.key.text()] = blob.modified;
  }
  if (listed.empty()) co_return ok();
  MR_CO_TRY(const auto unknown, co_await services_.ledger.unknown_blobs(std::move(listed)));
  std::vector<Candidate> blobs;
  for (const auto& blob : unknown) {
    if (modified[blob.store_key] >= blob.if_stored_before) continue;
    blobs.push_back({.store_key = blob.store_key, .if_stored_before = blob.if_stored_before});
  }
  co_return co_await remove(blobs, options_.marks, swept, stop);
}

Task<BlobSweeper::Swept> BlobSweeper::sweep_staging(CancelToken stop) {
  Swept swept;
  if (stop.cancelled()) co_return swept;
  const auto removed =
      co_await unless_stopped(services_.blobs.sweep_staging(options_.staging_age), stop);
  if (!removed) co_return swept;
  MR_CO_TRY(swept.removed, *removed);
  co_return swept;
}

}  // namespace millrace::api
