// BlobLedger: which content is referred to, and what may be removed from the blob store.
//
// Two sweeps, by any server, in any number, each repeatable at any point:
//   condemn_blobs -> remove the bytes of what is removable, but only where they are older than
//     `if_stored_before` -> forget_blobs what is gone, delay_blobs what is not.
//   list the blob store -> unknown_blobs -> remove those, by the same rule.
// The age is what keeps content that is on its way into a row: finish_upload refuses what was
// stored more than an hour ago, and the grace is two hours at least (storage.orphan_grace_seconds).
// Where the store cannot compare the age and remove in one step, each removal lies between
// mark_blobs and end_removals: rows refuse content that is marked, or was a moment ago.
// Threading and lifetime: as ApiSession, which outlives it.
#pragma once

#include "base/clock.h"
#include "base/task.h"
#include "base/uuid.h"
#include "store/api/session.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace millrace::store {

struct CondemnedBlob {
  TenantId tenant;
  std::vector<std::uint8_t> sha256;
  std::string store_key;
  bool removable = false;  // No other tenant has the same content.
  Clock::Wall if_stored_before;
};

struct UnknownBlob {
  std::string store_key;
  Clock::Wall if_stored_before;
};

// A key that may be removed now, until end_removals.
struct MarkedBlob {
  std::string store_key;
  Uuid removal;
};

// A key that the blob store listed.
struct ListedBlob {
  std::string store_key;
  std::vector<std::uint8_t> sha256;
};

// A fifth of the time after which a mark lapses: requests that were sent then have long ended.
inline constexpr std::chrono::minutes kRemoveWithin{2};

class BlobLedger {
 public:
  virtual ~BlobLedger() = default;

  virtual Task<std::vector<CondemnedBlob>> condemn_blobs(int limit) = 0;
  virtual Task<int> forget_blobs(std::vector<CondemnedBlob> blobs) = 0;
  // They could not be removed: others come first.
  virtual Task<void> delay_blobs(std::vector<CondemnedBlob> blobs) = 0;
  virtual Task<std::vector<UnknownBlob>> unknown_blobs(std::vector<ListedBlob> listed) = 0;

  // Those of the keys that nothing refers to and nobody else is removing. Whoever has marked them
  // begins no removal later than kRemoveWithin; what is not ended then lapses, and is told to
  // whoever asks for it, to be marked and removed anew.
  virtual Task<std::vector<MarkedBlob>> mark_blobs(std::vector<std::string> store_keys) = 0;
  virtual Task<void> end_removals(std::vector<Uuid> removals) = 0;
  virtual Task<std::vector<UnknownBlob>> lapsed_removals(int limit) = 0;

  // Documents that never became a file (U-08). The keeper does it too.
  virtual Task<int> sweep_objects(int limit) = 0;
};

std::unique_ptr<BlobLedger> make_blob_ledger(ApiSession& session);

}  // namespace millrace::store
