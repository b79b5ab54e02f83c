// BlobLedger: which content is referred to, and what may be removed from the blob store.
//
// Two sweeps, by any server, in any number, each repeatable at any point:
//   condemn_blobs -> remove the bytes of what is removable, but only where they are older than
//     `if_stored_before` -> forget_blobs.
//   list the blob store -> unknown_blobs -> remove those, by the same rule.
// The age is what keeps content that is on its way into a row: finish_upload refuses what was
// stored more than an hour ago, and the grace is two hours at least (storage.orphan_grace_seconds).
// Threading and lifetime: as ApiSession, which outlives it.
#pragma once

#include "base/clock.h"
#include "base/task.h"
#include "store/api/session.h"

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

// A key that the blob store listed.
struct ListedBlob {
  std::string store_key;
  std::vector<std::uint8_t> sha256;
};

class BlobLedger {
 public:
  virtual ~BlobLedger() = default;

  virtual Task<std::vector<CondemnedBlob>> condemn_blobs(int limit) = 0;
  virtual Task<int> forget_blobs(std::vector<CondemnedBlob> blobs) = 0;
  virtual Task<std::vector<UnknownBlob>> unknown_blobs(std::vector<ListedBlob> listed) = 0;
  // Documents that never became a file (U-08), and exports past their time. The keeper does
  // both too.
  virtual Task<int> sweep_objects(int limit) = 0;
  virtual Task<int> expire_exports(int limit) = 0;
};

std::unique_ptr<BlobLedger> make_blob_ledger(ApiSession& session);

}  // namespace millrace::store
