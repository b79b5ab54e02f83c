// kill -9 of a server whose content lies in a store in the network: real servers that speak S3 and
// Azure, from packages.
#include "doomed_server.h"
#include "world.h"

#include <gtest/gtest.h>

namespace millrace::test {
namespace {

// More than one piece of a transfer.
const std::string kContent = "%PDF-1.7\n" + std::string(300'000, 'p');

class RemoteUploadDeath : public testing::TestWithParam<Backend> {
 protected:
  Ground ground_;
  std::unique_ptr<World> store_ = make_world(GetParam(), ground_);
  UploadWorld world_{store_->environment()};
};

TEST_P(RemoteUploadDeath, AWholeFileIsThereOnceAfterTheRetry) {
  for (const char* point :
       {"upload.writing", "upload.stored", "api_upload_finish.after_send", "upload.finished"}) {
    SCOPED_TRACE(point);
    const auto who = world_.person();
    const auto request = UploadWorld::raw(who, kContent, "key");
    {
      DoomedServer doomed(world_, point);
      EXPECT_TRUE(doomed.dies_of({request}));
      ASSERT_TRUE(doomed.died());
    }
    const auto retried = world_.api().ask(request);
    ASSERT_EQ(retried.status, 201) << retried.body;
    world_.expect_one_file(who, text_of(retried, "id"), kContent);
  }
}

TEST_P(RemoteUploadDeath, AResumableUploadGoesOn) {
  const auto half = kContent.size() / 2;
  for (const char* point :
       {"upload.piece_stored", "upload.piece_noted", "upload.assembled", "upload.finished"}) {
    SCOPED_TRACE(point);
    const auto who = world_.person();
    const auto path = world_.begin(who, kContent.size());
    {
      DoomedServer doomed(world_, point);
      EXPECT_TRUE(doomed.dies_of(
          {UploadWorld::tus("PATCH", path, who, {{"Upload-Offset", "0"}}, kContent.substr(0, half)),
           UploadWorld::tus("PATCH", path, who, {{"Upload-Offset", std::to_string(half)}},
                            kContent.substr(half))}));
      ASSERT_TRUE(doomed.died());
    }
    EXPECT_TRUE(eventually([&] {
      // The lease of a dead server ends by itself; nobody waits for it here.
      auto sql = world_.api().sql();
      must(
          sql.query("update millrace.upload set writer_until = now() - interval '1 second' "
                    "where user_id = $1 and writer is not null",
                    pg::params(who.user)));
      const auto head = world_.api().ask(UploadWorld::tus("HEAD", path, who, {}));
      if (head.status != 200) return false;
      const auto offset = std::stoul(head.header("upload-offset"));
      return offset == kContent.size() ||
             world_.patch(path, who, offset, kContent.substr(offset)).status == 204;
    }));
    const auto done = world_.api().ask(UploadWorld::tus("GET", path, who, {}));
    ASSERT_EQ(done.status, 200) << done.body;
    world_.expect_one_file(who, std::string(done.json().at("file").at("id").as_string()), kContent);
  }
}

// --- Sweeps of a store that cannot compare the age and remove in one step ---

class RemoteSweepDeath : public testing::Test {
 protected:
  static std::map<std::string, std::string> with_interval(std::map<std::string, std::string> env,
                                                          const char* interval) {
    env["MILLRACE_STORAGE_SWEEP_INTERVAL"] = interval;
    return env;
  }
  // By the clock of the database: content of the store grows old by it, or young again.
  void pass(const char* interval) {
    auto sql = world_.api().sql();
    must(sql.query("update millrace.test_clock set shift = shift + $1::interval",
                   pg::params(interval)));
  }
  std::int64_t under_way() {
    return world_.count("select count(*) from millrace.blob_removal where ended_at is null");
  }

  Ground ground_;
  std::unique_ptr<World> store_ = make_world(Backend::s3rver, ground_);
  UploadWorld world_{with_interval(store_->environment(), "1h")};  // Its own never comes.
  const std::map<std::string, std::string> sweeps_ = with_interval({}, "100ms");
};

// Whether the bytes were removed or not: nobody refers to them before another sweep has ended it.
TEST_F(RemoteSweepDeath, WhatItMarkedIsTakenOverAndTheSameContentCanBeStoredAgain) {  // U-08
  for (const char* point : {"sweep.marked", "sweep.removed", "api_blob_removed.before"}) {
    SCOPED_TRACE(point);
    const auto who = world_.person();
    const auto content = kContent + point;
    const auto path = world_.begin(who, content.size() + 1);
    ASSERT_EQ(world_.patch(path, who, 0, content).status, 204);
    ASSERT_EQ(world_.api().ask(UploadWorld::tus("DELETE", path, who, {})).status, 204);
    pass("3 hours");
    {
      DoomedServer doomed(world_, point, 1, sweeps_);
      ASSERT_TRUE(doomed.died());
    }
    EXPECT_EQ(under_way(), 1);
    pass("11 minutes");
    {
      DoomedServer heir(world_, "upload.begun", 1, sweeps_);
      EXPECT_TRUE(eventually([&] {
        return under_way() == 0 && world_.count("select count(*) from millrace.upload_part") == 0;
      }));
    }
    pass("-191 minutes");
    const auto stored = world_.api().ask(UploadWorld::raw(who, content, "key"));
    ASSERT_EQ(stored.status, 201) << stored.body;
    world_.expect_one_file(who, text_of(stored, "id"), content);
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, RemoteUploadDeath,
                         testing::Values(Backend::s3rver, Backend::azurite),
                         [](const auto& info) { return to_string(info.param); });

}  // namespace
}  // namespace millrace::test
