#include "api/upload/blob_sweeper.h"

#include "api/upload/upload_fixture.h"

#include <set>

namespace millrace::api {
namespace {

using namespace std::chrono_literals;

class MemoryLedger final : public store::BlobLedger {
 public:
  Task<std::vector<store::CondemnedBlob>> condemn_blobs(int) override { co_return condemned; }
  Task<int> forget_blobs(std::vector<store::CondemnedBlob> blobs) override {
    forgotten += blobs.size();
    condemned.clear();
    co_return static_cast<int>(blobs.size());
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
  Task<int> sweep_objects(int) override { co_return 0; }
  Task<int> expire_exports(int) override { co_return 0; }

  std::vector<store::CondemnedBlob> condemned;
  std::set<std::string> known;
  std::set<std::string> asked;
  Clock::Wall before;
  std::size_t forgotten = 0;
};

class BlobSweeperTest : public testing::Test {
 protected:
  BlobSweeperTest() { ledger_.before = clock_.wall() - 2h; }

  std::string put(const std::string& bytes, Clock::Duration age) {
    const auto key = blobs_.put(bytes);
    blobs_.kept[key].modified -= std::chrono::duration_cast<Clock::Wall::duration>(age);
    return key;
  }
  static std::size_t count(const Result<std::size_t>& swept) {
    EXPECT_TRUE(swept) << swept.error().message;
    return swept.value_or(999);
  }

  ManualClock clock_;
  SeededRandom random_{3};
  Logger log_ = Logger::silent();
  MemoryBlobs blobs_{clock_};
  MemoryUploads uploads_{clock_, random_};
  MemoryLedger ledger_;
  BlobSweeper sweeper_{{.uploads = uploads_,
                        .ledger = ledger_,
                        .blobs = blobs_,
                        .clock = clock_,
                        .random = random_,
                        .log = log_},
                       {}};
};

TEST_F(BlobSweeperTest, RemovesOldContentThatNoRowKnowsAndNothingElse) {  // U-08
  const auto orphan = put("orphan", 48h);
  const auto known = put("known", 48h);
  const auto young = put("young", 10min);
  const auto in_grace = put("in grace", 90min);
  ledger_.known = {known};
  EXPECT_EQ(count(run_blocking(sweeper_.sweep_orphans())), 1U);
  EXPECT_FALSE(blobs_.kept.contains(orphan));
  EXPECT_TRUE(blobs_.kept.contains(known));
  EXPECT_TRUE(blobs_.kept.contains(in_grace));
  EXPECT_TRUE(blobs_.kept.contains(young));
  EXPECT_FALSE(ledger_.asked.contains(young)) << "nothing of it is decided yet";
}

TEST_F(BlobSweeperTest, RemovesNothingWhereContentStoredInBetweenCouldBeLost) {  // U-08
  BlobSweeper careful{{.uploads = uploads_,
                       .ledger = ledger_,
                       .blobs = blobs_,
                       .clock = clock_,
                       .random = random_,
                       .log = log_},
                      {.removes_content = false}};
  const auto orphan = put("orphan", 48h);
  const auto piece = put("piece", 48h);
  uploads_.dead.push_back({.upload = {}, .handle = piece, .if_stored_before = ledger_.before});
  EXPECT_EQ(count(run_blocking(careful.sweep_orphans())), 0U);
  EXPECT_EQ(count(run_blocking(careful.sweep_parts())), 0U);
  EXPECT_TRUE(blobs_.kept.contains(orphan));
  EXPECT_TRUE(blobs_.kept.contains(piece));
}

TEST_F(BlobSweeperTest, LooksAtEveryPage) {
  blobs_.page_max = 3;
  for (int i = 0; i < 10; ++i) put("orphan " + std::to_string(i), 48h);
  EXPECT_EQ(count(run_blocking(sweeper_.sweep_orphans())), 10U);
  EXPECT_TRUE(blobs_.kept.empty());
}

TEST_F(BlobSweeperTest, RemovesPiecesOfUploadsThatEndedUnlessTheyAreYoungAgain) {
  const auto old = put("piece", 3h);
  const auto young = put("piece that is being stored again", 1min);
  for (const auto& key : {old, young}) {
    uploads_.dead.push_back({.upload = {}, .handle = key, .if_stored_before = ledger_.before});
  }
  uploads_.dead.push_back(
      {.upload = {}, .handle = "../elsewhere", .if_stored_before = ledger_.before});
  EXPECT_EQ(count(run_blocking(sweeper_.sweep_parts())), 1U);
  EXPECT_FALSE(blobs_.kept.contains(old));
  EXPECT_TRUE(blobs_.kept.contains(young));
  EXPECT_EQ(uploads_.forgotten, 3U);
}

TEST_F(BlobSweeperTest, KeepsContentThatAnotherTenantHasToo) {  // T-12
  const auto gone = put("mine alone", 48h);
  const auto shared = put("ours", 48h);
  for (const auto& key : {gone, shared}) {
    ledger_.condemned.push_back({.tenant = {},
                                 .sha256 = {},
                                 .store_key = key,
                                 .removable = key == gone,
                                 .if_stored_before = ledger_.before});
  }
  EXPECT_EQ(count(run_blocking(sweeper_.sweep_condemned())), 1U);
  EXPECT_FALSE(blobs_.kept.contains(gone));
  EXPECT_TRUE(blobs_.kept.contains(shared));
  EXPECT_EQ(ledger_.forgotten, 2U);
}

}  // namespace
}  // namespace millrace::api
