// Uploads and files over HTTP: the real server, PostgreSQL and a folder.
#include "upload_world.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <array>
#include <csignal>
#include <fstream>
#include <latch>
#include <thread>

namespace millrace::test {
namespace {

using identity::Role;
using testing::HasSubstr;

const std::string kPdf = "%PDF-1.7\n" + std::string(50'000, 'p');

class ApiUploads : public testing::Test {
 protected:
  static void SetUpTestSuite() { world_ = std::make_unique<UploadWorld>(); }
  static void TearDownTestSuite() { world_.reset(); }
  static UploadWorld& world() { return *world_; }
  static ApiWorld& api() { return world_->api(); }

 private:
  static std::unique_ptr<UploadWorld> world_;
};

std::unique_ptr<UploadWorld> ApiUploads::world_;

TEST_F(ApiUploads, EveryFormMakesAFileWithItsFirstJob) {  // U-01…U-07, H-20
  const auto who = world().person();
  std::vector<Answered> answers = {api().ask(UploadWorld::raw(who, kPdf)),
                                   api().ask(UploadWorld::form(who, kPdf))};
  auto put = UploadWorld::raw(who, kPdf);
  put.method = "PUT";
  put.path = "/api/v1/uploads/put-key?file_name=scan.pdf";
  answers.push_back(api().ask(put));
  const auto path = world().begin(who, kPdf.size(), {{"Upload-Metadata", "filename c2Nhbi5wZGY="}});
  EXPECT_EQ(world().patch(path, who, 0, kPdf.substr(0, 20'000)).header("upload-offset"), "20000");
  const auto last = world().patch(path, who, 20'000, kPdf.substr(20'000));
  EXPECT_EQ(last.status, 204) << last.body;
  answers.push_back(api().get(last.header("content-location"), who.token));
  auto sql = api().sql();
  for (const auto& answered : answers) {
    ASSERT_LE(answered.status, 201) << answered.body;
    const auto id = text_of(answered, "id");
    EXPECT_EQ(text_of(answered, "content_type"), "application/pdf");
    EXPECT_EQ(text_of(answered, "status"), "uploaded");
    EXPECT_EQ(text_of(answered, "owner_id"), who.user.to_string());
    EXPECT_EQ(answered.json().at("size_bytes").as_int64(), static_cast<std::int64_t>(kPdf.size()));
    EXPECT_EQ(world().content_of(who, id), kPdf);
    const auto job = must(sql.query(
        "select millrace.get_job($1) ->> 'job_type' as type, millrace.get_job($1) ->> 'job_name' "
        "as name, millrace.get_job($1) #>> '{payload,shell_file_id}' as file",
        pg::params(text_of(answered, "job_id"))));
    EXPECT_EQ(job[0].text("type"), "fast_queue_security");
    EXPECT_EQ(job[0].text("name"), "Process scan.pdf");
    EXPECT_EQ(job[0].text("file"), id);
  }
  EXPECT_EQ(world().files_of(who), 4);
  EXPECT_EQ(world().jobs_of(who), 4);
  EXPECT_EQ(world().staged(), 0U);
}

TEST_F(ApiUploads, ARepeatWithTheSameKeyAnswersTheSame) {  // U-03, U-05, F02
  const auto who = world().person();
  const auto first = api().ask(UploadWorld::raw(who, kPdf, "key-1"));
  const auto second = api().ask(UploadWorld::raw(who, kPdf, "key-1"));
  const auto by_form = api().ask(UploadWorld::form(who, kPdf, "key-1"));
  ASSERT_EQ(first.status, 201) << first.body;
  EXPECT_EQ(second.status, 201);
  EXPECT_EQ(second.header("idempotent-replayed"), "true");
  EXPECT_EQ(text_of(second, "id"), text_of(first, "id"));
  EXPECT_EQ(text_of(by_form, "id"), text_of(first, "id"));
  EXPECT_EQ(text_of(second, "job_id"), text_of(first, "job_id"));
  EXPECT_EQ(api().ask(UploadWorld::raw(who, kPdf + "x", "key-1")).status, 422);
  EXPECT_EQ(world().files_of(who), 1);
  EXPECT_EQ(world().jobs_of(who), 1);
  // The key is the owner's: somebody else's is another.
  const auto other = world().person_of(who.tenant);
  const auto theirs = api().ask(UploadWorld::raw(other, kPdf, "key-1"));
  ASSERT_EQ(theirs.status, 201);
  EXPECT_NE(text_of(theirs, "id"), text_of(first, "id"));
}

// What a client sends in pieces is compared when it is all there, and never dropped unread.
TEST_F(ApiUploads, AKeyAnswersForTheSameContentInPiecesOnly) {  // F01, F02
  const auto who = world().person();
  const auto first = api().ask(UploadWorld::raw(who, kPdf, "key-1"));
  ASSERT_EQ(first.status, 201) << first.body;
  const std::vector<http::Header> key = {{"Upload-Metadata", "idempotency_key a2V5LTE="}};
  const auto same = world().begin(who, kPdf.size(), key);
  ASSERT_EQ(world().patch(same, who, 0, kPdf.substr(0, 20'000)).status, 204);
  const auto done = world().patch(same, who, 20'000, kPdf.substr(20'000));
  EXPECT_EQ(done.status, 204) << done.body;
  EXPECT_EQ(done.header("idempotent-replayed"), "true");
  EXPECT_EQ(done.header("content-location"), "/api/v1/files/" + text_of(first, "id"));
  auto other_content = kPdf;
  other_content.back() = 'q';
  const auto other = world().begin(who, kPdf.size(), key);
  EXPECT_EQ(world().patch(other, who, 0, other_content).status, 422);
  EXPECT_EQ(world().files_of(who), 1);
  EXPECT_EQ(world().jobs_of(who), 1);
}

TEST_F(ApiUploads, AKeyIsOfOnePatient) {  // F02
  const auto who = world().person();
  const auto child = api().post("/api/v1/profiles", who.token, R"({"display_name":"A child"})");
  ASSERT_EQ(child.status, 201) << child.body;
  ASSERT_EQ(api().ask(UploadWorld::raw(who, kPdf, "key-1")).status, 201);
  auto ask = UploadWorld::raw(who, kPdf, "key-1");
  ask.path += "&patient_id=" + text_of(child, "id");
  EXPECT_EQ(api().ask(ask).status, 422);
  EXPECT_EQ(world().files_of(who), 1);
}

TEST_F(ApiUploads, ADocumentToIngestStartsAsUploaded) {  // U-11
  const auto who = world().person();
  auto raw = UploadWorld::raw(who, kPdf);
  raw.path += "&pipeline=ingest";
  const auto file = api().ask(raw);
  ASSERT_EQ(file.status, 201) << file.body;
  auto sql = api().sql();
  const auto jobs = must(
      sql.query("select status, document_id::text as document, raw_path from millrace.upload_jobs "
                "where user_id = $1",
                pg::params(who.user)));
  ASSERT_EQ(jobs.rows(), 1U);
  EXPECT_EQ(jobs[0].text("status"), "uploaded");
  EXPECT_EQ(jobs[0].text("document"), text_of(file, "id"));
  EXPECT_EQ(jobs[0].text("raw_path"), text_of(file, "storage_path"));
  world().begin(who, 10, {{"Upload-Metadata", "pipeline aW5nZXN0"}});
  EXPECT_EQ(world().count("select count(*) from millrace.upload where user_id = $1 and state = "
                          "'open' and pipeline = 'ingest'",
                          pg::params(who.user)),
            1);
}

TEST_F(ApiUploads, RequestsWithOneKeyAtOnceMakeOneFile) {  // F03
  const auto who = world().person();
  constexpr int kClients = 8;
  std::vector<std::string> ids(kClients);
  std::latch start(kClients);
  std::vector<std::jthread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&, i] {
      http::RawClient client(api().address());
      start.arrive_and_wait();
      const auto reply = client.ask(ApiWorld::bytes_of(UploadWorld::raw(who, kPdf, "same")));
      if (reply.status == 201) ids[static_cast<std::size_t>(i)] = reply.body;
    });
  }
  clients.clear();
  for (const auto& body : ids) {
    EXPECT_EQ(parse_json(body)->at("id"), parse_json(ids.front())->at("id")) << body;
  }
  EXPECT_EQ(world().files_of(who), 1);
  EXPECT_EQ(world().jobs_of(who), 1);
}

TEST_F(ApiUploads, ATypeIsFoundInTheContentAndNotInTheName) {
  const auto who = world().person();
  const auto program = api().ask(UploadWorld::raw(who, std::string("MZ\x90\0\x03\0", 6), "exe"));
  EXPECT_EQ(text_of(program, "content_type"), "application/vnd.microsoft.portable-executable");
  const auto page =
      api().ask(UploadWorld::raw(who, "<html><script>alert(1)</script>", "html", "picture.png"));
  EXPECT_EQ(text_of(page, "content_type"), "text/html");
  const auto sent = api().get("/api/v1/files/" + text_of(page, "id") + "/content", who.token);
  EXPECT_THAT(sent.header("content-disposition"), HasSubstr("attachment"));
  EXPECT_THAT(sent.header("content-security-policy"), HasSubstr("sandbox"));
  EXPECT_EQ(sent.header("x-content-type-options"), "nosniff");
}

TEST_F(ApiUploads, NamesThatLeadElsewhereStayNames) {  // U-06, T-04
  const auto who = world().person();
  const auto file =
      api().ask(UploadWorld::raw(who, "x", "name", "..%2F..%2Fetc%2Fpass%20wd%23.pdf"));
  ASSERT_EQ(file.status, 201) << file.body;
  const auto path = text_of(file, "storage_path");
  EXPECT_TRUE(path.starts_with(who.user.to_string() + "/")) << path;
  EXPECT_FALSE(path.contains(".."));
  EXPECT_EQ(text_of(file, "file_name"), "pass wd#.pdf");
}

TEST_F(ApiUploads, OthersSeeNeitherFileNorUpload) {  // T-02, T-12
  const auto who = world().person();
  const auto file = text_of(api().ask(UploadWorld::raw(who, kPdf)), "id");
  const auto upload = world().begin(who, 10);
  const auto link = api().post("/api/v1/files/" + file + "/link", who.token, "{}");
  ASSERT_EQ(link.status, 201) << link.body;
  for (const auto& other : {world().person(), world().person_of(who.tenant)}) {
    for (const auto* rest : {"", "/content"}) {
      EXPECT_EQ(api().get("/api/v1/files/" + file + rest, other.token).status, 404);
    }
    EXPECT_EQ(api().post("/api/v1/files/" + file + "/link", other.token, "{}").status, 404);
    EXPECT_EQ(api()
                  .ask({.method = "DELETE", .path = "/api/v1/files/" + file, .token = other.token})
                  .status,
              404);
    EXPECT_EQ(api().ask(UploadWorld::tus("HEAD", upload, other, {})).status, 404);
    EXPECT_EQ(world().patch(upload, other, 0, "stolen").status, 404);
    EXPECT_EQ(api().ask(UploadWorld::tus("DELETE", upload, other, {})).status, 404);
    EXPECT_THAT(api().get("/api/v1/files", other.token).body, HasSubstr("\"items\":[]"));
    // The same content is no way to another's file.
    const auto mine = api().ask(UploadWorld::raw(other, kPdf));
    EXPECT_NE(text_of(mine, "id"), file);
  }
  EXPECT_EQ(api().ask(UploadWorld::tus("HEAD", upload, who, {})).header("upload-offset"), "0");
  EXPECT_EQ(world().content_of(who, file), kPdf);
}

TEST_F(ApiUploads, AServiceUploadsForTheOwnerOfAProfile) {  // U-10
  const auto who = world().person();
  const auto profile =
      api().post("/api/v1/profiles", who.token, R"({"display_name":"Ada's mother"})");
  ASSERT_EQ(profile.status, 201) << profile.body;
  UploadWorld::Person service = who;
  service.token = api().jwt(Role::service_role, who.tenant);
  auto ask = UploadWorld::raw(service, kPdf);
  EXPECT_EQ(api().ask(ask).status, 400) << "for whom?";
  ask.path += "&patient_id=" + text_of(profile, "id");
  const auto file = api().ask(ask);
  ASSERT_EQ(file.status, 201) << file.body;
  EXPECT_EQ(text_of(file, "owner_id"), who.user.to_string());
  EXPECT_EQ(text_of(file, "patient_id"), text_of(profile, "id"));
  EXPECT_EQ(world().content_of(who, text_of(file, "id")), kPdf);
  // Another's profile is nobody's here.
  const auto other = world().person_of(who.tenant);
  auto stolen = UploadWorld::raw(other, kPdf);
  stolen.path += "&patient_id=" + text_of(profile, "id");
  EXPECT_EQ(api().ask(stolen).status, 404);
}

TEST_F(ApiUploads, TheQuotaHoldsHoweverManyAskAtOnce) {  // E12
  const auto who = world().person();
  auto sql = api().sql();
  must(sql.query("select millrace.create_tenant('clinic', $1, '{\"quota_bytes\": 250000}')",
                 pg::params(who.tenant)));
  constexpr int kClients = 10;  // Of 50 000 bytes each: five fit.
  std::vector<int> statuses(kClients);
  const auto content = kPdf.substr(0, 50'000);
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < kClients; ++i) {
      clients.emplace_back([&, i] {
        http::RawClient client(api().address());
        statuses[static_cast<std::size_t>(i)] =
            client.ask(ApiWorld::bytes_of(UploadWorld::raw(who, content))).status;
      });
    }
  }
  EXPECT_EQ(std::ranges::count(statuses, 201), 5);
  EXPECT_EQ(std::ranges::count(statuses, 507), 5);
  const auto refused =
      world().api().ask(UploadWorld::tus("POST", "/api/v1/tus", who, {{"Upload-Length", "1"}}));
  EXPECT_EQ(refused.status, 507) << refused.body;
  // What is deleted makes room.
  const auto rows = must(sql.query("select id::text from millrace.shell_files where owner_id = $1",
                                   pg::params(who.user)));
  const std::string file(rows[0].text(0));
  EXPECT_EQ(
      api().ask({.method = "DELETE", .path = "/api/v1/files/" + file, .token = who.token}).status,
      204);
  EXPECT_EQ(api().ask(UploadWorld::form(who, content.substr(0, 49'000))).status, 201);
}

TEST_F(ApiUploads, AClientThatGoesAwayLeavesNothing) {  // U-08
  const auto who = world().person();
  for (const auto& ask : {UploadWorld::raw(who, kPdf), UploadWorld::form(who, kPdf)}) {
    http::RawClient client(api().address());
    const auto bytes = ApiWorld::bytes_of(ask);
    ASSERT_TRUE(client.send(bytes.substr(0, bytes.size() / 2)));
    EXPECT_TRUE(eventually([&] {
      return world().count(
                 "select count(*) from millrace.upload where user_id = $1 and state = "
                 "'open'",
                 pg::params(who.user)) == 1;
    }));
    client.close_with_reset();
    EXPECT_TRUE(eventually([&] {
      return world().count(
                 "select count(*) from millrace.upload where user_id = $1 and state = "
                 "'open'",
                 pg::params(who.user)) == 0 &&
             world().staged() == 0;
    }));
  }
  EXPECT_EQ(world().files_of(who), 0);
  EXPECT_EQ(world().count("select reserved_bytes from millrace.tenant_stored($1)",
                          pg::params(who.tenant)),
            0);
}

TEST_F(ApiUploads, WhatCameBeforeAConnectionBrokeIsKept) {  // tus
  const auto who = world().person();
  const auto path = world().begin(who, kPdf.size());
  {
    http::RawClient client(api().address());
    const auto bytes =
        ApiWorld::bytes_of(UploadWorld::tus("PATCH", path, who, {{"Upload-Offset", "0"}}, kPdf));
    ASSERT_TRUE(client.send(bytes.substr(0, bytes.size() - 10'000)));
    client.finish_sending();
    client.close();
  }
  const auto offset = [&] {
    return api().ask(UploadWorld::tus("HEAD", path, who, {})).header("upload-offset");
  };
  EXPECT_TRUE(eventually([&] { return offset() == std::to_string(kPdf.size() - 10'000); }))
      << offset();
  const auto last =
      world().patch(path, who, kPdf.size() - 10'000, kPdf.substr(kPdf.size() - 10'000));
  EXPECT_EQ(last.status, 204) << last.body;
  const auto file = api().get(last.header("content-location"), who.token);
  EXPECT_EQ(world().content_of(who, text_of(file, "id")), kPdf);
}

TEST_F(ApiUploads, NobodyEndsTheRequestOfAnother) {  // I08
  const auto who = world().person();
  const auto path = world().begin(who, kPdf.size());
  const auto bytes =
      ApiWorld::bytes_of(UploadWorld::tus("PATCH", path, who, {{"Upload-Offset", "0"}}, kPdf));
  http::RawClient client(api().address());
  ASSERT_TRUE(client.send(bytes.substr(0, bytes.size() - 10'000)));
  ASSERT_TRUE(eventually([&] {
    return world().count(
               "select count(*) from millrace.upload where user_id = $1 and writer is not null",
               pg::params(who.user)) == 1;
  }));
  EXPECT_EQ(world().patch(path, world().person(), 0, "stolen").status, 404);
  EXPECT_EQ(world().patch(path, who, 1, "at a wrong place").status, 409);
  const auto reply = client.ask(bytes.substr(bytes.size() - 10'000));
  EXPECT_EQ(reply.status, 204) << reply.body;
  EXPECT_EQ(world().files_of(who), 1);
}

TEST_F(ApiUploads, ALengthThatNobodySaidIsNoWayRoundTheQuota) {  // E12
  const auto who = world().person();
  auto sql = api().sql();
  must(sql.query("select millrace.create_tenant('small', $1, '{\"quota_bytes\": 30000}')",
                 pg::params(who.tenant)));
  const auto begun =
      api().ask(UploadWorld::tus("POST", "/api/v1/tus", who, {{"Upload-Defer-Length", "1"}}));
  ASSERT_EQ(begun.status, 201) << begun.body;
  const auto path = begun.header("location");
  EXPECT_EQ(world().patch(path, who, 0, kPdf).status, 507);
  EXPECT_EQ(world().count("select count(*) from millrace.upload_part p join millrace.upload u on "
                          "u.upload_id = p.upload_id where u.user_id = $1",
                          pg::params(who.user)),
            0);
  EXPECT_TRUE(eventually([&] { return world().staged() == 0; }));
  EXPECT_EQ(world().patch(path, who, 0, kPdf.substr(0, 30'000)).header("upload-offset"), "30000");
}

TEST_F(ApiUploads, ContentComesInRangesAndByLinksThatEnd) {  // T-13
  const auto who = world().person();
  const auto file = text_of(api().ask(UploadWorld::raw(who, kPdf)), "id");
  Ask range{.path = "/api/v1/files/" + file + "/content",
            .token = who.token,
            .headers = {{"Range", "bytes=0-7"}}};
  const auto part = api().ask(range);
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "%PDF-1.7");
  range.method = "HEAD";
  range.headers.clear();
  const auto head = api().ask(range);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.header("content-length"), std::to_string(kPdf.size()));
  const auto link = api().post("/api/v1/files/" + file + "/link", who.token, R"({"expires_in":1})");
  ASSERT_EQ(link.status, 201) << link.body;
  const auto url = text_of(link, "url");
  const auto path = url.substr(url.find("/api/"));
  EXPECT_EQ(api().get(path).body, kPdf);
  EXPECT_TRUE(eventually([&] { return api().get(path).status == 401; }));
  EXPECT_THAT(api().program().err(), testing::Not(HasSubstr(path.substr(path.find("mru1_")))));
  EXPECT_EQ(
      world().count("select count(*) from millrace.audit where new_values::text like '%mru1_%'"),
      0);
}

TEST_F(ApiUploads, DeletingAFileCancelsItsJobAndFreesItsRoom) {
  const auto who = world().person();
  const auto file = api().ask(UploadWorld::raw(who, kPdf));
  const auto path = "/api/v1/files/" + text_of(file, "id");
  EXPECT_EQ(api().ask({.method = "DELETE", .path = path, .token = who.token}).status, 204);
  EXPECT_EQ(api().get(path, who.token).status, 404);
  EXPECT_EQ(text_of(api().get("/api/v1/jobs/" + text_of(file, "job_id"), who.token), "status"),
            "cancelled");
}

// The sweeps of a server that looks often: what no row knows goes when it is old, the rest stays.
TEST(ApiSweeps, OrphansGoAndContentStays) {  // U-08
  UploadWorld world({{"MILLRACE_STORAGE_SWEEP_INTERVAL", "100ms"},
                     {"MILLRACE_STORAGE_ORPHAN_INTERVAL", "200ms"}});
  const auto who = world.person();
  const auto file = world.api().ask(UploadWorld::raw(who, kPdf));
  ASSERT_EQ(file.status, 201) << file.body;
  const auto digest = text_of(file, "sha256");
  const auto shard = world.blobs() / "sha256" / digest.substr(0, 2);
  const auto old = std::filesystem::file_time_type::clock::now() - std::chrono::days(3);
  std::filesystem::last_write_time(shard / digest, old);
  const auto orphan_name = std::string(digest.substr(0, 2)) + std::string(62, '0');
  std::ofstream(shard / orphan_name) << "an orphan";
  std::filesystem::last_write_time(shard / orphan_name, old);
  const auto young_name = std::string(digest.substr(0, 2)) + std::string(62, '1');
  std::ofstream(shard / young_name) << "a young one";
  EXPECT_TRUE(eventually([&] { return !std::filesystem::exists(shard / orphan_name); }));
  EXPECT_TRUE(std::filesystem::exists(shard / young_name));
  EXPECT_EQ(world.content_of(who, text_of(file, "id")), kPdf);
}

// A request that is not answered is given up with the process, not waited for.
TEST(ApiSweeps, AServerThatStopsDoesNotWaitForItsStore) {
  using boost::asio::ip::tcp;
  boost::asio::io_context io;
  // Takes requests, and says nothing.
  tcp::acceptor silent(io, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
  const TempFolder spool;
  UploadWorld world({{"MILLRACE_STORAGE_KIND", "s3"},
                     {"MILLRACE_STORAGE_S3_ENDPOINT",
                      fmt::format("http://127.0.0.1:{}", silent.local_endpoint().port())},
                     {"MILLRACE_STORAGE_S3_REGION", "us-east-1"},
                     {"MILLRACE_STORAGE_S3_BUCKET", "docs"},
                     {"MILLRACE_STORAGE_S3_ACCESS_KEY_ID", "id"},
                     {"MILLRACE_STORAGE_S3_SECRET_ACCESS_KEY", "secret"},
                     {"MILLRACE_STORAGE_SPOOL_FOLDER", spool.path().string()},
                     {"MILLRACE_STORAGE_SWEEP_INTERVAL", "100ms"},
                     {"MILLRACE_STORAGE_ORPHAN_INTERVAL", "100ms"}});
  auto connection = silent.accept();
  std::array<char, 1> first;
  ASSERT_EQ(connection.read_some(boost::asio::buffer(first)), 1U);
  const auto asked = std::chrono::steady_clock::now();
  world.api().program().signal(SIGTERM);
  EXPECT_EQ(world.api().program().wait(), 0) << world.api().program().err();
  EXPECT_LT(std::chrono::steady_clock::now() - asked, std::chrono::seconds(15));
}

// Its piece stays, and counts, until it is old enough to be removed.
TEST(ApiSweeps, AnUploadThatExpiredIsGoneAndItsRoomIsFree) {  // E12
  UploadWorld world({{"MILLRACE_STORAGE_SWEEP_INTERVAL", "100ms"}});
  const auto who = world.person();
  const auto path = world.begin(who, 10);
  ASSERT_EQ(world.patch(path, who, 0, "12345").status, 204);
  auto sql = world.api().sql();
  must(sql.query("update millrace.upload set expires_at = now() - interval '1 minute'"));
  EXPECT_TRUE(eventually([&] {
    return world.count("select count(*) from millrace.upload where state = 'open'") == 0;
  }));
  EXPECT_EQ(world.count("select count(*) from millrace.upload_part"), 1);
  const auto rows = must(sql.query("select handle from millrace.upload_part"));
  const auto piece = world.blobs() / rows[0].text(0);
  std::filesystem::last_write_time(
      piece, std::filesystem::file_time_type::clock::now() - std::chrono::hours(3));
  must(sql.query("update millrace.upload_part set created_at = now() - interval '3 hours'"));
  EXPECT_TRUE(
      eventually([&] { return world.count("select count(*) from millrace.upload_part") == 0; }));
  EXPECT_FALSE(std::filesystem::exists(piece));
  const auto late = world.api().ask(UploadWorld::tus("HEAD", path, who, {})).status;
  EXPECT_TRUE(late == 410 || late == 404) << late;
}

}  // namespace
}  // namespace millrace::test
