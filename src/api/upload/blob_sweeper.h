// BlobSweeper: removes from the blob store what nothing refers to.
//
// Three kinds of leftovers, each by its own proof. Pieces of uploads that have ended, and content
// that lost its last row: the database names them. Content whose upload died between the write and
// the row: the store lists everything, and the database says what it does not know. Files in
// staging whose writer is dead: the store itself knows. Nothing younger than the database's grace
// is touched, because somebody may be about to refer to it; and where the store cannot compare the
// age and remove in one step, each removal is marked in the database before and ended after.
//
// Runs in every server, in any number; each step can be repeated, so dying anywhere costs nothing:
// marks that nobody ended lapse, and the next sweep takes them over. What cannot be removed is told
// to the log, and holds up nothing else.
// Threading: one run() at a time. Lifetime: what it refers to outlives it.
#pragma once

#include "base/cancel.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/task.h"
#include "base/uuid.h"
#include "blob/blob_store.h"
#include "store/api/blobs.h"
#include "store/api/uploads.h"

#include <chrono>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
  struct Options {
    std::chrono::milliseconds dead{60'000};            // Between looks at what the database names.
    std::chrono::milliseconds orphans{6 * 3'600'000};  // Between lists of the whole store.
    std::chrono::milliseconds staging_age{24 * 3'600'000};
    // Where the store cannot compare the age and remove in one step.
    bool marks = false;
  };
  struct Swept {
    std::size_t removed = 0;  // Blobs or staging files.
    std::size_t failed = 0;
    std::string error = {};  // The first of those.
  };

  BlobSweeper(Services services, Options options) : services_(services), options_(options) {}

  // Until told to stop: then what is under way at the store is given up, and at most one more call
  // to the database is made. Errors are logged, and the next round tries again.
  awaitable<void> run(CancelToken stop);

  Task<Swept> sweep_parts(CancelToken stop);
  Task<Swept> sweep_condemned(CancelToken stop);
  Task<Swept> sweep_lapsed(CancelToken stop);
  Task<Swept> sweep_orphans(CancelToken stop);
  Task<Swept> sweep_staging(CancelToken stop);

 private:
  enum class Fate { untried, gone, kept };
  struct Candidate {
    std::string store_key;
    Clock::Wall if_stored_before;
    Fate fate = Fate::untried;
  };

  // Finds out what becomes of those that are untried; some stay so where it was told to stop.
  Task<void> remove(std::vector<Candidate>& blobs, bool marked, Swept& swept, CancelToken stop);
  Task<void> remove_some(std::span<Candidate> blobs, bool marked, Swept& swept, CancelToken stop);
  Task<void> remove_unknown(blob::BlobPage page, Swept& swept, CancelToken stop);
  // Removals by their keys.
  Task<std::map<std::string, Uuid>> mark(std::span<const Candidate> blobs);
  Task<void> end(std::map<std::string, Uuid> marks);
  template <class T>
  static std::vector<T> those(const std::vector<T>& items, const std::vector<Candidate>& blobs,
                              Fate fate);
  void tell(std::string_view what, const Result<Swept>& swept) const;

  Services services_;
  Options options_;
};

}  // namespace millrace::api
