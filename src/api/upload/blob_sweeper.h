// BlobSweeper: removes from the blob store what nothing refers to.
//
// Three kinds of leftovers, each by its own proof. Pieces of uploads that have ended, and content
// that lost its last row: the database names them. Content whose upload died between the write and
// the row: the store lists everything, and the database says what it does not know. Files in
// staging whose writer is dead: the store itself knows. Nothing younger than the database's grace
// is touched, because somebody may be about to refer to it.
//
// Runs in every server, in any number; each step can be repeated, so dying anywhere costs nothing.
// Threading: one run() at a time. Lifetime: what it refers to outlives it.
#pragma once

#include "base/cancel.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/task.h"
#include "blob/blob_store.h"
#include "store/api/blobs.h"
#include "store/api/uploads.h"

#include <chrono>
#include <cstddef>

namespace millrace::api {

class BlobSweeper {
 public:
  struct Services {
    store::UploadStore& uploads;
    store::BlobLedger& ledger;
    blob::BlobStore& blobs;
    Clock& clock;
    Random& random;
    const Logger& log;
  };
  struct Intervals {
    std::chrono::milliseconds dead{60'000};            // Between looks at what the database names.
    std::chrono::milliseconds orphans{6 * 3'600'000};  // Between lists of the whole store.
    std::chrono::milliseconds staging_age{24 * 3'600'000};
    // False where the store cannot compare the age and remove in one step: content that is
    // uploaded again in between would be lost, so all of it stays.
    bool removes_content = true;
  };

  BlobSweeper(Services services, Intervals intervals)
      : services_(services), intervals_(intervals) {}

  // Until told to stop. Errors are logged, and the next round tries again.
  awaitable<void> run(CancelToken stop);

  // How many blobs or staging files were removed.
  Task<std::size_t> sweep_parts();
  Task<std::size_t> sweep_condemned();
  Task<std::size_t> sweep_orphans();
  Task<std::size_t> sweep_staging();

 private:
  Task<bool> remove(std::string store_key, Clock::Wall if_stored_before);
  Task<std::size_t> remove_unknown(blob::BlobPage page);
  void tell(std::string_view what, const Result<std::size_t>& swept) const;

  Services services_;
  Intervals intervals_;
};

}  // namespace millrace::api
