// kill -9 of the server at every step of an upload: the client's retry ends with one file, one job.
#include "upload_world.h"

#include <gmock/gmock.h>

namespace millrace::test {
namespace {

const std::string kContent = "%PDF-1.7\n" + std::string(40'000, 'p');

// Another server on the same database and folder, which dies at a fault point.
class DoomedServer {
 public:
  DoomedServer(const UploadWorld& world, const std::string& point) {
    auto env = world.other_env();
    env["MILLRACE_FAULT"] = point + "=kill";
    const auto ready = folder_.path() / "ready.json";
    program_ = std::make_unique<BackgroundProgram>(
        std::vector<std::string>{"serve", "--listen", "127.0.0.1:0", "--ready-file",
                                 ready.string()},
        RunOptions{.env = std::move(env), .stdin_text = {}, .cwd = {}});
    const auto content = program_->wait_for_ready(ready);
    const std::string url(content.at("http_url").as_string());
    address_ = must(http::parse_listen(url.substr(url.rfind('/') + 1)));
  }

  http::Reply ask(const Ask& request) {
    return http::RawClient(address_).ask(ApiWorld::bytes_of(request), request.method == "HEAD");
  }
  // False: it lives, because the point was not on the way.
  bool died() { return program_->wait() == 128 + SIGKILL; }

 private:
  TempFolder folder_;
  std::unique_ptr<BackgroundProgram> program_;
  http::ListenAddress address_;
};

class UploadDeath : public testing::Test {
 protected:
  static void SetUpTestSuite() { world_ = std::make_unique<UploadWorld>(); }
  static void TearDownTestSuite() { world_.reset(); }
  static UploadWorld& world() { return *world_; }
  static ApiWorld& api() { return world_->api(); }

  static void expect_one_file(const UploadWorld::Person& who, const std::string& id) {
    EXPECT_EQ(world().files_of(who), 1);
    EXPECT_EQ(world().jobs_of(who), 1);
    EXPECT_EQ(world().content_of(who, id), kContent);
  }

 private:
  static std::unique_ptr<UploadWorld> world_;
};

std::unique_ptr<UploadWorld> UploadDeath::world_;

// K: every step that lasts, in the order in which an upload takes them.
TEST_F(UploadDeath, AWholeFileIsThereOnceAfterTheRetryWhereverTheServerDied) {
  for (const char* point :
       {"api_upload_begin.before", "api_upload_begin.after_send", "api_upload_begin.after",
        "upload.begun", "blob_file.create", "blob_file.write", "upload.writing", "blob_file.sync",
        "blob_file.rename", "blob_file.sync_shard", "blob_file.done", "upload.stored",
        "api_upload_finish.before", "api_upload_finish.after_send", "api_upload_finish.after",
        "upload.finished"}) {
    SCOPED_TRACE(point);
    const auto who = world().person();
    const auto request = UploadWorld::raw(who, kContent, "key");
    {
      DoomedServer doomed(world(), point);
      EXPECT_EQ(doomed.ask(request).status, 0);
      ASSERT_TRUE(doomed.died());
    }
    const auto retried = api().ask(request);
    ASSERT_EQ(retried.status, 201) << retried.body;
    expect_one_file(who, text_of(retried, "id"));
    const auto again = api().ask(request);
    EXPECT_EQ(text_of(again, "id"), text_of(retried, "id"));
  }
}

TEST_F(UploadDeath, AFormIsNoOtherThanABody) {
  for (const char* point : {"upload.writing", "upload.stored", "upload.finished"}) {
    SCOPED_TRACE(point);
    const auto who = world().person();
    const auto request = UploadWorld::form(who, kContent, "key");
    {
      DoomedServer doomed(world(), point);
      EXPECT_EQ(doomed.ask(request).status, 0);
      ASSERT_TRUE(doomed.died());
    }
    const auto retried = api().ask(request);
    ASSERT_EQ(retried.status, 201) << retried.body;
    expect_one_file(who, text_of(retried, "id"));
  }
}

// A resumable upload in two pieces; the server dies in the first or in the second one.
TEST_F(UploadDeath, AResumableUploadGoesOnWhereverTheServerDied) {
  const auto half = kContent.size() / 2;
  for (const char* point :
       {"api_upload_take.after", "blob_file.write", "blob_file.done", "upload.piece_stored",
        "api_upload_advance.before", "api_upload_advance.after_send", "api_upload_advance.after",
        "upload.piece_noted", "upload.assembled", "api_upload_finish.after_send",
        "api_upload_finish.after", "upload.finished"}) {
    SCOPED_TRACE(point);
    const auto who = world().person();
    const auto path = world().begin(who, kContent.size());
    {
      DoomedServer doomed(world(), point);
      const auto first = doomed.ask(
          UploadWorld::tus("PATCH", path, who, {{"Upload-Offset", "0"}}, kContent.substr(0, half)));
      if (first.status != 0) {
        EXPECT_EQ(
            doomed
                .ask(UploadWorld::tus("PATCH", path, who, {{"Upload-Offset", std::to_string(half)}},
                                      kContent.substr(half)))
                .status,
            0);
      }
      ASSERT_TRUE(doomed.died());
    }
    // The lease of the dead server ends by itself; nobody waits for it here.
    auto sql = api().sql();
    must(
        sql.query("update millrace.upload set writer_until = now() - interval '1 second' "
                  "where user_id = $1 and writer is not null",
                  pg::params(who.user)));
    // As clients do it: ask where it stands, go on, and ask again where that was not so. A commit
    // that was sent may come after the death of its sender.
    EXPECT_TRUE(eventually([&] {
      const auto head = api().ask(UploadWorld::tus("HEAD", path, who, {}));
      if (head.status != 200) return false;
      const auto offset = std::stoul(head.header("upload-offset"));
      if (offset == kContent.size()) return true;
      const auto last = world().patch(path, who, offset, kContent.substr(offset));
      EXPECT_TRUE(last.status == 204 || last.status == 409) << last.status << last.body;
      return last.status == 204;
    }));
    const auto done = api().ask(UploadWorld::tus("GET", path, who, {}));
    ASSERT_EQ(done.status, 200) << done.body;
    EXPECT_EQ(text_of(done, "state"), "done");
    expect_one_file(who, std::string(done.json().at("file").at("id").as_string()));
  }
}

// A client without a key cannot tell; but never is there a file without its content, or its job.
TEST_F(UploadDeath, WithoutAKeyThereIsAWholeFileOrNone) {
  for (const char* point : {"upload.stored", "api_upload_finish.after_send", "upload.finished"}) {
    SCOPED_TRACE(point);
    const auto who = world().person();
    {
      DoomedServer doomed(world(), point);
      EXPECT_EQ(doomed.ask(UploadWorld::raw(who, kContent)).status, 0);
      ASSERT_TRUE(doomed.died());
    }
    // A commit that was sent may come after the death of its sender.
    EXPECT_TRUE(eventually([&] {
      return world().count(
                 "select count(*) from pg_stat_activity where datname = "
                 "current_database() and application_name = 'millrace-api' and state = "
                 "'active'") == 0;
    }));
    EXPECT_EQ(world().files_of(who), world().jobs_of(who));
    auto sql = api().sql();
    for (const auto row :
         must(sql.query("select id::text from millrace.shell_files where owner_id = $1",
                        pg::params(who.user)))) {
      EXPECT_EQ(world().content_of(who, std::string(row.text(0))), kContent);
    }
  }
}

}  // namespace
}  // namespace millrace::test
