// kill -9 of a server whose content lies in a store in the network: real servers that speak S3 and
// Azure, from packages.
#include "doomed_server.h"
#include "world.h"

#include <gtest/gtest.h>

namespace millrace::test {
namespace {

// Two spools, and more than one piece of a transfer.
const std::string kContent = "%PDF-1.7\n" + std::string(300'000, 'p');

class RemoteUploadDeath : public testing::TestWithParam<Backend> {
 protected:
  Ground ground_;
  std::unique_ptr<World> store_ = make_world(GetParam(), ground_);
  UploadWorld world_{store_->environment()};
};

TEST_P(RemoteUploadDeath, AWholeFileIsThereOnceAfterTheRetry) {
  for (const char* point :
       {"api_upload_begin.after", "upload.begun", "upload.writing", "upload.stored",
        "api_upload_finish.before", "api_upload_finish.after_send", "api_upload_finish.after",
        "upload.finished"}) {
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
       {"upload.piece_stored", "upload.piece_noted", "api_upload_parts.after", "upload.assembled",
        "api_upload_finish.after_send", "upload.finished"}) {
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

INSTANTIATE_TEST_SUITE_P(Stores, RemoteUploadDeath,
                         testing::Values(Backend::s3rver, Backend::azurite),
                         [](const auto& info) { return to_string(info.param); });

}  // namespace
}  // namespace millrace::test
