// kill -9 of the server at every step of an upload: the client's retry ends with one file, one job.
#include "base/file.h"
#include "doomed_server.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>
#include <thread>

namespace millrace::test {
namespace {

const std::string kContent = "%PDF-1.7\n" + std::string(40'000, 'p');

// --- Every place where a server can die that has an upload under way ---

using Points = std::vector<std::string>;

// Every step that lasts, in the order in which content in one request takes them.
const Points kWhole = {"api_upload_begin.before",  "api_upload_begin.after_send",
                       "api_upload_begin.after",   "upload.begun",
                       "blob_file.create",         "blob_file.write",
                       "upload.writing",           "blob_file.sync",
                       "blob_file.rename",         "blob_file.sync_shard",
                       "blob_file.done",           "upload.stored",
                       "api_upload_finish.before", "api_upload_finish.after_send",
                       "api_upload_finish.after",  "upload.finished"};
// In the first or in the second of two pieces.
const Points kPieces = {"api_upload_take.before",
                        "api_upload_take.after_send",
                        "api_upload_take.after",
                        "blob_file.write",
                        "blob_file.done",
                        "upload.piece_stored",
                        "api_upload_advance.before",
                        "api_upload_advance.after_send",
                        "api_upload_advance.after",
                        "upload.piece_noted",
                        "api_upload_parts.before",
                        "api_upload_parts.after_send",
                        "api_upload_parts.after",
                        "upload.assembled",
                        "api_upload_finish.after_send",
                        "api_upload_finish.after",
                        "upload.finished"};
// Where the length is said with the first piece.
const Points kLater = {"api_upload_grow.before", "api_upload_grow.after_send",
                       "api_upload_grow.after"};
// Where a client ends it.
const Points kEnded = {"api_upload_abort.before", "api_upload_abort.after_send",
                       "api_upload_abort.after"};
// The row that the sources' client writes when its content is stored.
const Points kRow = {"api_rest_write.before", "api_rest_write.after_send", "api_rest_write.after"};

// Not on the way of an upload, by what their names begin with, and why they need no trial here.
const std::map<std::string, std::string> kElsewhere = {
    {"api_upload_read.", "only reads"},
    {"api_upload_expire.", "a sweep: the next one begins anew"},
    {"api_upload_clear.", "after a sweep only: the next to store the same content asks again"},
    {"api_upload_delay.", "a sweep: the next one begins anew"},
    {"api_upload_forget.", "a sweep: the next one begins anew"},
    {"api_blob_", "a sweep: the next one begins anew"},
    {"sweep.", "a sweep: the next one begins anew"}};

class UploadDeath : public testing::Test {
 protected:
  static void SetUpTestSuite() { world_ = std::make_unique<UploadWorld>(); }
  static void TearDownTestSuite() { world_.reset(); }
  static UploadWorld& world() { return *world_; }
  static ApiWorld& api() { return world_->api(); }

  // The lease of a dead server ends by itself; nobody waits for it here.
  static void end_leases(const UploadWorld::Person& who) {
    auto sql = api().sql();
    must(
        sql.query("update millrace.upload set writer_until = now() - interval '1 second' "
                  "where user_id = $1 and writer is not null",
                  pg::params(who.user)));
  }
  static void expect_one_file(const UploadWorld::Person& who, const std::string& id) {
    world().expect_one_file(who, id, kContent);
  }
  // As clients do it: ask where it stands, go on, and ask again where that was not so. A commit
  // that was sent may come after the death of its sender.
  static void go_on(const UploadWorld::Person& who, const std::string& path,
                    const std::vector<http::Header>& more = {}) {
    EXPECT_TRUE(eventually([&] {
      end_leases(who);
      const auto head = api().ask(UploadWorld::tus("HEAD", path, who, {}));
      if (head.status != 200) return false;
      const auto offset = std::stoul(head.header("upload-offset"));
      if (offset == kContent.size()) return true;
      auto headers = more;
      headers.emplace_back("Upload-Offset", std::to_string(offset));
      const auto last =
          api().ask(UploadWorld::tus("PATCH", path, who, headers, kContent.substr(offset)));
      EXPECT_TRUE(last.status == 204 || last.status == 409) << last.status << last.body;
      return last.status == 204;
    }));
    const auto done = api().ask(UploadWorld::tus("GET", path, who, {}));
    ASSERT_EQ(done.status, 200) << done.body;
    EXPECT_EQ(text_of(done, "state"), "done");
    expect_one_file(who, std::string(done.json().at("file").at("id").as_string()));
  }

 private:
  static std::unique_ptr<UploadWorld> world_;
};

std::unique_ptr<UploadWorld> UploadDeath::world_;

// A new step is tried too, or it is said why not.
TEST_F(UploadDeath, NoPlaceToDieIsForgotten) {
  Points tried;
  for (const auto* points : {&kWhole, &kPieces, &kLater, &kEnded, &kRow}) {
    tried.insert(tried.end(), points->begin(), points->end());
  }
  std::istringstream list(
      must(read_file(std::filesystem::path(MILLRACE_SOURCE_DIR) / "tests/chaos/fault_points.txt")));
  Points known;
  std::string kind;
  std::string name;
  for (std::string line; std::getline(list, line);) {
    if (std::istringstream(line) >> kind >> name && kind == "point") known.push_back(name);
  }
  ASSERT_GT(known.size(), 100U);
  for (const auto& point : known) {
    if (!point.starts_with("upload.") && !point.starts_with("blob_") &&
        !point.starts_with("api_upload_") && !point.starts_with("api_blob_") &&
        !point.starts_with("sweep.")) {
      continue;
    }
    const bool elsewhere = std::ranges::any_of(
        kElsewhere, [&](const auto& entry) { return point.starts_with(entry.first); });
    EXPECT_NE(std::ranges::count(tried, point) > 0, elsewhere) << point;
  }
  for (const auto& point : tried) {
    EXPECT_GT(std::ranges::count(known, point), 0) << point << " is no more";
  }
}

TEST_F(UploadDeath, AWholeFileIsThereOnceAfterTheRetryWhereverTheServerDied) {
  for (const auto& point : kWhole) {
    SCOPED_TRACE(point);
    const auto who = world().person();
    const auto request = UploadWorld::raw(who, kContent, "key");
    {
      DoomedServer doomed(world(), point);
      EXPECT_TRUE(doomed.dies_of({request}));
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
      EXPECT_TRUE(doomed.dies_of({request}));
      ASSERT_TRUE(doomed.died());
    }
    const auto retried = api().ask(request);
    ASSERT_EQ(retried.status, 201) << retried.body;
    expect_one_file(who, text_of(retried, "id"));
  }
}

TEST_F(UploadDeath, AResumableUploadGoesOnWhereverTheServerDied) {
  const auto half = kContent.size() / 2;
  for (const auto& point : kPieces) {
    SCOPED_TRACE(point);
    const auto who = world().person();
    const auto path = world().begin(who, kContent.size());
    {
      DoomedServer doomed(world(), point);
      EXPECT_TRUE(doomed.dies_of(
          {UploadWorld::tus("PATCH", path, who, {{"Upload-Offset", "0"}}, kContent.substr(0, half)),
           UploadWorld::tus("PATCH", path, who, {{"Upload-Offset", std::to_string(half)}},
                            kContent.substr(half))}));
      ASSERT_TRUE(doomed.died());
    }
    go_on(who, path);
  }
}

TEST_F(UploadDeath, AResumableUploadOfUnknownLengthGoesOnToo) {
  for (const auto& point : kLater) {
    SCOPED_TRACE(point);
    const auto who = world().person();
    const auto begun =
        api().ask(UploadWorld::tus("POST", "/api/v1/tus", who, {{"Upload-Defer-Length", "1"}}));
    ASSERT_EQ(begun.status, 201) << begun.body;
    const auto path = begun.header("location");
    const http::Header length{"Upload-Length", std::to_string(kContent.size())};
    {
      DoomedServer doomed(world(), point);
      EXPECT_TRUE(doomed.dies_of(
          {UploadWorld::tus("PATCH", path, who, {{"Upload-Offset", "0"}, length}, kContent)}));
      ASSERT_TRUE(doomed.died());
    }
    go_on(who, path, {length});
  }
}

TEST_F(UploadDeath, AnUploadThatItsClientEndsIsGoneWhereverTheServerDied) {
  for (const auto& point : kEnded) {
    SCOPED_TRACE(point);
    const auto who = world().person();
    const auto path = world().begin(who, kContent.size());
    ASSERT_EQ(world().patch(path, who, 0, kContent.substr(0, 100)).status, 204);
    {
      DoomedServer doomed(world(), point);
      EXPECT_TRUE(doomed.dies_of({UploadWorld::tus("DELETE", path, who, {})}));
      ASSERT_TRUE(doomed.died());
    }
    // The client asks again; it may have been heard the first time.
    EXPECT_TRUE(eventually([&] {
      end_leases(who);
      const auto ended = api().ask(UploadWorld::tus("DELETE", path, who, {}));
      return ended.status == 204 || ended.status == 404 || ended.status == 410;
    }));
    EXPECT_GE(api().ask(UploadWorld::tus("HEAD", path, who, {})).status, 400);
    EXPECT_EQ(world().files_of(who), 0);
    EXPECT_EQ(world().count("select reserved_bytes from millrace.tenant_stored($1)",
                            pg::params(who.tenant)),
              0);
  }
}

// The sources' own way: the object first, under a name with the time in it, then its row with a
// key. Whoever repeats it stores the bytes again, under another name.
TEST_F(UploadDeath, AnObjectWithItsRowIsOneFileAfterTheRetry) {  // U-03, U-10
  auto points = kWhole;
  points.insert(points.end(), kRow.begin(), kRow.end());
  for (const auto& point : points) {
    SCOPED_TRACE(point);
    const auto who = world().person();
    const auto profile =
        text_of(api().post("/api/v1/profiles", who.token, R"({"display_name":"Ada"})"), "id");
    const auto attempt = [&](int number) {
      const auto name = fmt::format("{}/{}_scan.pdf", who.user, number);
      Ask object{.method = "POST",
                 .path = "/storage/v1/object/medical-docs/" + name,
                 .token = who.token,
                 .body = kContent,
                 .content_type = "application/pdf"};
      Ask row{.method = "POST",
              .path = "/rest/v1/shell_files?on_conflict=idempotency_key&select=id,job_id",
              .token = who.token,
              .body = fmt::format(R"({{"patient_id":"{}","storage_path":"{}",)"
                                  R"("idempotency_key":"key","status":"uploaded"}})",
                                  profile, name),
              .headers = {{"Prefer", "resolution=merge-duplicates,return=representation"},
                          {"Accept", "application/vnd.pgrst.object+json"}}};
      return std::vector<Ask>{std::move(object), std::move(row)};
    };
    {
      DoomedServer doomed(world(), point);
      EXPECT_TRUE(doomed.dies_of(attempt(1)));
      ASSERT_TRUE(doomed.died());
    }
    const auto requests = attempt(2);
    const auto stored = api().ask(requests[0]);
    ASSERT_EQ(stored.status, 200) << stored.body;
    const auto row = api().ask(requests[1]);
    ASSERT_EQ(row.status, 201) << row.body;
    expect_one_file(who, text_of(row, "id"));
    EXPECT_EQ(world().count("select count(*) from millrace.storage_object where owner_id = $1 and "
                            "claimed",
                            pg::params(who.user)),
              1);
  }
}

// Many at once, each at another step when the server dies: at the so-many-th step of them all.
TEST_F(UploadDeath, ClientsOfADeadServerAllEndWithOneFileEach) {
  constexpr int kRounds = 6;
  constexpr std::size_t kClients = 8;
  SeededRandom random(20'261'116);
  for (int round = 0; round < kRounds; ++round) {
    const auto time = random.below(3 * kClients) + 1;  // Each of them passes four, at least.
    SCOPED_TRACE(fmt::format("round {}, killed at step {}", round, time));
    std::vector<UploadWorld::Person> people;
    for (std::size_t i = 0; i < kClients; ++i) people.push_back(world().person());
    {
      DoomedServer doomed(world(), "upload.*", time);
      std::vector<std::jthread> clients;
      for (const auto& who : people) {
        clients.emplace_back([&doomed, &who] {
          static_cast<void>(doomed.ask(UploadWorld::raw(who, kContent, "key")));
        });
      }
      clients.clear();
      ASSERT_TRUE(doomed.died());
    }
    for (const auto& who : people) {
      const auto retried = api().ask(UploadWorld::raw(who, kContent, "key"));
      ASSERT_EQ(retried.status, 201) << retried.body;
      expect_one_file(who, text_of(retried, "id"));
    }
  }
}

// A client without a key cannot tell; but never is there a file without its content, or its job.
TEST_F(UploadDeath, WithoutAKeyThereIsAWholeFileOrNone) {
  for (const char* point : {"upload.stored", "api_upload_finish.after_send", "upload.finished"}) {
    SCOPED_TRACE(point);
    const auto who = world().person();
    {
      DoomedServer doomed(world(), point);
      EXPECT_TRUE(doomed.dies_of({UploadWorld::raw(who, kContent)}));
      ASSERT_TRUE(doomed.died());
    }
    // In one look: a commit that was sent may come after the death of its sender.
    EXPECT_EQ(world().count("select (select count(*) from millrace.shell_files where owner_id = $1)"
                            " - (select count(*) from millrace.job_fact where owner_id = $1)",
                            pg::params(who.user)),
              0);
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
