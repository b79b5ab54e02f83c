#include "api/upload/blob_sweeper.h"

#include "api/upload/upload_fixture.h"
#include "base/event.h"

#include <gmock/gmock.h>

#include <set>

namespace millrace::api {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class MemoryLedger final : public store::BlobLedger {
 public:
  explicit MemoryLedger(Random& random) : random_(random) {}

  Task<std::vector<store::CondemnedBlob>> condemn_blobs(int) override { co_return condemned; }
  Task<int> forget_blobs(std::vector<store::CondemnedBlob> blobs) override {
    for (const auto& blob : blobs) {
      forgotten.insert(blob.store_key);
      std::erase_if(condemned,
                    [&](const auto& other) { return other.store_key == blob.store_key; });
    }
    co_return static_cast<int>(blobs.size());
  }
  Task<void> delay_blobs(std::vector<store::CondemnedBlob> blobs) override {
    for (const auto& blob : blobs) delayed.insert(blob.store_key);
    co_return ok();
  }
  Task<std::vector<store::UnknownBlob>> unknown_blobs(
      std::vector<store::ListedBlob> listed) override {
    std::vector<store::UnknownBlob> unknown;
    for (const auto& blob : listed) {
      asked.insert(blob.store_key);
      if (!known.contains(blob.store_key)) {
        unknown.push_back({.store_key = blob.store_key, .if_stored_before = before});
      }
    }
    co_return unknown;
  }
  Task<std::vector<store::MarkedBlob>> mark_blobs(std::vector<std::string> store_keys) override {
    std::vector<store::MarkedBlob> marked;
    for (const auto& key : store_keys) {
      if (known.contains(key) || marks.contains(key)) continue;
      marks[key] = random_.uuid();
      marked.push_back({.store_key = key, .removal = marks[key]});
    }
    co_return marked;
  }
  Task<void> end_removals(std::vector<Uuid> removals) override {
    for (const auto& removal : removals) {
      std::erase_if(marks, [&](const auto& mark) { return mark.second == removal; });
    }
    co_return ok();
  }
  Task<std::vector<store::UnknownBlob>> lapsed_removals(int) override { co_return lapsed; }
  Task<int> sweep_objects(int) override { co_return 0; }

  std::vector<store::CondemnedBlob> condemned;
  std::vector<store::UnknownBlob> lapsed;
  std::set<std::string> known;  // Referred to.
  std::set<std::string> asked;
  std::set<std::string> forgotten;
  std::set<std::string> delayed;
  std::map<std::string, Uuid> marks;  // Not ended.
  Clock::Wall before;

 private:
  Random& random_;
};

// What a store does where a test tells it to.
Task<void> refuse(ErrorKind kind) { co_return fail(kind, "not this one"); }
Task<void> go_on() { co_return ok(); }
Task<void> stop_and_hang(CancelSource& stop, Event never) {
  stop.cancel("stopping");
  co_await never.wait();
  co_return fail(ErrorKind::cancelled, "given up");
}

class BlobSweeperTest : public testing::Test {
 protected:
  BlobSweeperTest() { ledger_.before = clock_.wall() - 2h; }

  std::string put(const std::string& bytes, Clock::Duration age) {
    const auto key = blobs_.put(bytes);
    blobs_.kept[key].modified -= std::chrono::duration_cast<Clock::Wall::duration>(age);
    return key;
  }
  std::vector<std::string> put_several(int count) {
    std::vector<std::string> keys;
    for (int i = 0; i < count; ++i) keys.push_back(put("blob " + std::to_string(i), 48h));
    return keys;
  }
  void make_parts(const std::vector<std::string>& keys) {
    for (const auto& key : keys) {
      uploads_.dead.push_back({.upload = {}, .handle = key, .if_stored_before = ledger_.before});
    }
  }
  void make_condemned(const std::vector<std::string>& keys) {
    for (const auto& key : keys) {
      ledger_.condemned.push_back({.tenant = {},
                                   .sha256 = {},
                                   .store_key = key,
                                   .removable = true,
                                   .if_stored_before = ledger_.before});
    }
  }
  BlobSweeper sweeper(bool marks = false) {
    return {{.uploads = uploads_,
             .ledger = ledger_,
             .blobs = blobs_,
             .clock = clock_,
             .random = random_,
             .log = log_},
            {.marks = marks}};
  }
  static BlobSweeper::Swept must(const Result<BlobSweeper::Swept>& swept) {
    EXPECT_TRUE(swept) << swept.error().message;
    return swept.value_or(BlobSweeper::Swept{.removed = 999});
  }

  ManualClock clock_;
  SeededRandom random_{3};
  Logger log_ = Logger::silent();
  MemoryBlobs blobs_{clock_};
  MemoryUploads uploads_{clock_, random_};
  MemoryLedger ledger_{random_};
};

TEST_F(BlobSweeperTest, RemovesOldContentThatNoRowKnowsAndNothingElse) {  // U-08
  const auto orphan = put("orphan", 48h);
  const auto known = put("known", 48h);
  const auto young = put("young", 10min);
  const auto in_grace = put("in grace", 90min);
  ledger_.known = {known};
  EXPECT_EQ(must(run_blocking(sweeper().sweep_orphans({}))).removed, 1U);
  EXPECT_FALSE(blobs_.kept.contains(orphan));
  EXPECT_TRUE(blobs_.kept.contains(known));
  EXPECT_TRUE(blobs_.kept.contains(in_grace));
  EXPECT_TRUE(blobs_.kept.contains(young));
  EXPECT_FALSE(ledger_.asked.contains(young)) << "nothing of it is decided yet";
}

TEST_F(BlobSweeperTest, LooksAtEveryPage) {
  blobs_.page_max = 3;
  put_several(10);
  EXPECT_EQ(must(run_blocking(sweeper().sweep_orphans({}))).removed, 10U);
  EXPECT_TRUE(blobs_.kept.empty());
}

// What is not removed is not forgotten: it lies there, and counts.
TEST_F(BlobSweeperTest, ForgetsPiecesThatAreGoneAndPutsOffTheOthers) {  // E12
  const auto old = put("piece", 3h);
  const auto young = put("piece that is being stored again", 1min);
  make_parts({old, young, "../elsewhere"});
  EXPECT_EQ(must(run_blocking(sweeper().sweep_parts({}))).removed, 1U);
  EXPECT_FALSE(blobs_.kept.contains(old));
  EXPECT_TRUE(blobs_.kept.contains(young));
  EXPECT_EQ(uploads_.forgotten, 2U) << "what is no key of this store is not ours to remove";
  EXPECT_EQ(uploads_.delayed, 1U);
  ASSERT_THAT(uploads_.dead, SizeIs(1));
  EXPECT_EQ(uploads_.dead[0].handle, young);
}

TEST_F(BlobSweeperTest, KeepsContentThatAnotherTenantHasToo) {  // T-12
  const auto gone = put("mine alone", 48h);
  const auto shared = put("ours", 48h);
  make_condemned({gone, shared});
  ledger_.condemned[1].removable = false;
  EXPECT_EQ(must(run_blocking(sweeper().sweep_condemned({}))).removed, 1U);
  EXPECT_FALSE(blobs_.kept.contains(gone));
  EXPECT_TRUE(blobs_.kept.contains(shared));
  EXPECT_THAT(ledger_.forgotten, UnorderedElementsAre(gone, shared));
}

TEST_F(BlobSweeperTest, OneThatCannotBeRemovedHoldsUpNoOther) {
  const auto keys = put_several(3);
  blobs_.at_remove = [&](const std::string& key) {
    return key == keys[0] ? refuse(ErrorKind::internal) : go_on();
  };
  make_parts(keys);
  const auto parts = must(run_blocking(sweeper().sweep_parts({})));
  EXPECT_EQ(parts.removed, 2U);
  EXPECT_EQ(parts.failed, 1U);
  EXPECT_EQ(parts.error, "not this one");
  EXPECT_EQ(uploads_.forgotten, 2U);
  EXPECT_EQ(uploads_.delayed, 1U);

  put("blob 1", 48h);
  make_condemned({keys[0], keys[1]});
  EXPECT_EQ(must(run_blocking(sweeper().sweep_condemned({}))).failed, 1U);
  EXPECT_THAT(ledger_.forgotten, ElementsAre(keys[1]));
  EXPECT_THAT(ledger_.delayed, ElementsAre(keys[0]));
  EXPECT_EQ(must(run_blocking(sweeper().sweep_orphans({}))).failed, 1U);
  EXPECT_THAT(blobs_.kept, SizeIs(1));
}

// --- Stores that cannot compare the age and remove in one step ---

TEST_F(BlobSweeperTest, MarksWhatItRemovesBeforeAndEndsThatAfter) {  // U-08
  const auto keys = put_several(50);
  make_parts({keys.begin(), keys.begin() + 25});
  make_condemned({keys.begin() + 25, keys.begin() + 49});
  std::size_t marked = 0;
  blobs_.at_remove = [&](const std::string& key) {
    marked += ledger_.marks.contains(key) ? 1 : 0;
    return go_on();
  };
  auto careful = sweeper(true);
  EXPECT_EQ(must(run_blocking(careful.sweep_parts({}))).removed, 25U);
  EXPECT_EQ(must(run_blocking(careful.sweep_condemned({}))).removed, 24U);
  EXPECT_EQ(must(run_blocking(careful.sweep_orphans({}))).removed, 1U);
  EXPECT_EQ(marked, 50U);
  EXPECT_THAT(ledger_.marks, IsEmpty());
}

TEST_F(BlobSweeperTest, RemovesNothingThatItCouldNotMark) {  // U-08
  const auto keys = put_several(2);
  make_condemned(keys);
  ledger_.known = {keys[1]};  // Since it was condemned, somebody has referred to it.
  EXPECT_EQ(must(run_blocking(sweeper(true).sweep_condemned({}))).removed, 1U);
  EXPECT_TRUE(blobs_.kept.contains(keys[1]));
  EXPECT_THAT(ledger_.forgotten, ElementsAre(keys[0]));
}

// The store may act on a request that got no answer, however late: who stores the same waits.
TEST_F(BlobSweeperTest, LeavesTheMarkWhereTheStoreDidNotAnswer) {
  const auto keys = put_several(3);
  make_parts(keys);
  blobs_.at_remove = [&](const std::string& key) {
    if (key == keys[0]) return refuse(ErrorKind::unavailable);
    return key == keys[1] ? refuse(ErrorKind::internal) : go_on();
  };
  EXPECT_EQ(must(run_blocking(sweeper(true).sweep_parts({}))).failed, 2U);
  ASSERT_THAT(ledger_.marks, SizeIs(1));
  EXPECT_EQ(ledger_.marks.begin()->first, keys[0]);
}

TEST_F(BlobSweeperTest, TakesOverWhatAnotherSweepMarkedAndNeverEnded) {
  const auto gone = put("gone", 48h);
  const auto stored_again = put("stored again", 1min);
  ledger_.lapsed = {{.store_key = gone, .if_stored_before = ledger_.before},
                    {.store_key = stored_again, .if_stored_before = ledger_.before}};
  for (const bool marks : {true, false}) {
    put("gone", 48h);
    std::size_t marked = 0;
    blobs_.at_remove = [&](const std::string& key) {
      marked += ledger_.marks.contains(key) ? 1 : 0;
      return go_on();
    };
    EXPECT_EQ(must(run_blocking(sweeper(marks).sweep_lapsed({}))).removed, 1U);
    EXPECT_EQ(marked, 1U);
    EXPECT_FALSE(blobs_.kept.contains(gone));
    EXPECT_TRUE(blobs_.kept.contains(stored_again));
    EXPECT_THAT(ledger_.marks, IsEmpty());
  }
}

// By then its marks may be another's.
TEST_F(BlobSweeperTest, BeginsNoRemovalLongAfterItsMark) {
  const auto keys = put_several(3);
  make_parts(keys);
  blobs_.at_remove = [&](const std::string&) {
    clock_.advance(store::kRemoveWithin);
    return go_on();
  };
  EXPECT_EQ(must(run_blocking(sweeper(true).sweep_parts({}))).removed, 1U);
  EXPECT_THAT(blobs_.kept, SizeIs(2));
  EXPECT_EQ(uploads_.forgotten, 1U);
  EXPECT_EQ(uploads_.delayed, 0U) << "they were not tried";
  EXPECT_THAT(ledger_.marks, IsEmpty());
}

// --- Stopping ---

TEST_F(BlobSweeperTest, StopsInTheMiddleAndDoesNotWaitForTheStore) {
  CancelSource stop;
  const auto keys = put_several(3);
  make_parts(keys);
  blobs_.at_remove = [&](const std::string& key) {
    return key == keys[1] ? stop_and_hang(stop, Event()) : go_on();
  };
  auto careful = sweeper(true);
  EXPECT_EQ(must(run_blocking(careful.sweep_parts(stop.token()))).removed, 1U);
  EXPECT_THAT(blobs_.kept, SizeIs(2));
  ASSERT_THAT(ledger_.marks, SizeIs(1)) << "of the request that was given up";
  EXPECT_EQ(ledger_.marks.begin()->first, keys[1]);
  EXPECT_EQ(uploads_.forgotten + uploads_.delayed, 0U);
  // And nothing begins any more.
  blobs_.at_remove = {};
  make_condemned(keys);
  EXPECT_EQ(must(run_blocking(careful.sweep_condemned(stop.token()))).removed, 0U);
  EXPECT_EQ(must(run_blocking(careful.sweep_orphans(stop.token()))).removed, 0U);
  EXPECT_THAT(blobs_.kept, SizeIs(2));
}

}  // namespace
}  // namespace millrace::api
