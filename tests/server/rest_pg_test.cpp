// The Supabase-compatible surface on the real server and database: rows, functions, objects and
// signed URLs, each under the caller's own role.
#include "api_world.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::test {
namespace {

using identity::Role;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const http::Header kRepresentation{"Prefer", "return=representation"};
const http::Header kOne{"Accept", "application/vnd.pgrst.object+json"};
constexpr auto kDocument = "0190a000-0000-7000-8000-0000000000d0";

class Rest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TempFolder>();
    world_ = std::make_unique<ApiWorld>(
        ApiWorld::Options{.env = {{"MILLRACE_STORAGE_FOLDER", folder_->path().string()}}});
  }
  static void TearDownTestSuite() {
    world_.reset();
    folder_.reset();
  }

  static ApiWorld& world() { return *world_; }

  // A person with a profile.
  struct Person {
    identity::UserId id;
    std::string token;
    std::string profile;

    std::string file(std::string_view name) const { return fmt::format("{}/{}", id, name); }
  };
  Person person(std::optional<TenantId> tenant = {}) {
    Person out{.id = world().new_user(), .token = {}, .profile = {}};
    out.token = world().jwt(Role::authenticated, tenant ? tenant : tenant_, out.id);
    const auto made = world().post("/api/v1/profiles", out.token, R"({"display_name":"Ada"})");
    EXPECT_EQ(made.status, 201) << made.body;
    out.profile = std::string(made.json().at("id").as_string());
    return out;
  }

  static Answered ask(std::string method, std::string path, const std::string& token,
                      std::optional<std::string> body = {},
                      std::vector<http::Header> headers = {}) {
    return world().ask({.method = std::move(method),
                        .path = std::move(path),
                        .token = token,
                        .body = std::move(body),
                        .headers = std::move(headers)});
  }
  static std::string text(const Answered& answered, std::string_view member) {
    return std::string(answered.json().at(member).as_string());
  }

  static Answered upload(const Person& who, const std::string& name, const std::string& content,
                         std::string_view bucket = "medical-docs") {
    return ask("POST", fmt::format("/storage/v1/object/{}/{}", bucket, who.file(name)), who.token,
               content);
  }
  static Answered upsert(const Person& who, const std::string& path, const std::string& key) {
    return ask("POST", "/rest/v1/shell_files?on_conflict=idempotency_key&select=id,job_id",
               who.token,
               fmt::format(R"({{"patient_id":"{}","storage_path":"{}","idempotency_key":"{}",)"
                           R"("status":"uploaded"}})",
                           who.profile, path, key),
               {{"Prefer", "resolution=merge-duplicates,return=representation"}, kOne});
  }
  std::int64_t jobs_of(const Person& who) {
    auto sql = world().sql();
    return must(sql.query("select count(*) from millrace.job_fact f where f.owner_id = $1",
                          pg::params(who.id.value)))[0]
        .i64(0);
  }

  TenantId tenant_ = world().new_tenant();

 private:
  static std::unique_ptr<TempFolder> folder_;
  static std::unique_ptr<ApiWorld> world_;
};

std::unique_ptr<TempFolder> Rest::folder_;
std::unique_ptr<ApiWorld> Rest::world_;

TEST_F(Rest, ARowOfAFileEnqueuesItsFirstJobOnceHoweverOftenItIsSent) {  // U-03, U-05, U-10
  const auto ada = person();
  ASSERT_EQ(upload(ada, "1_scan.pdf", R"({"page":1})").status, 200);
  const auto first = upsert(ada, ada.file("1_scan.pdf"), "key-1");
  ASSERT_EQ(first.status, 201) << first.body;
  EXPECT_FALSE(first.json().at("job_id").is_null());
  // The retry of a client stores its bytes a second time, under another name.
  ASSERT_EQ(upload(ada, "2_scan.pdf", R"({"page":1})").status, 200);
  const auto again = upsert(ada, ada.file("2_scan.pdf"), "key-1");
  ASSERT_EQ(again.status, 201) << again.body;
  EXPECT_EQ(text(again, "id"), text(first, "id"));
  EXPECT_EQ(jobs_of(ada), 1);
  // Other content under the same key is nobody's retry.
  ASSERT_EQ(upload(ada, "3_scan.pdf", R"({"page":2})").status, 200);
  const auto other = upsert(ada, ada.file("3_scan.pdf"), "key-1");
  EXPECT_EQ(other.status, 409) << other.body;
  EXPECT_EQ(text(other, "code"), "23505");
}

TEST_F(Rest, AFileIsMadeOfAnObjectOfTheCallerAndOfNoOther) {  // I05, T-04
  const auto ada = person();
  const auto eve = person();
  ASSERT_EQ(upload(ada, "a.pdf", "{}").status, 200);
  for (const auto& path : {ada.file("a.pdf"), std::string("nowhere/a.pdf"), std::string()}) {
    const auto stolen = upsert(eve, path, "k");
    EXPECT_EQ(stolen.status, 403) << stolen.body;
    EXPECT_EQ(text(stolen, "code"), "42501");
  }
  // The key of one owner is not that of another.
  ASSERT_EQ(upsert(ada, ada.file("a.pdf"), "the-key").status, 201);
  ASSERT_EQ(upload(eve, "a.pdf", "{}").status, 200);
  EXPECT_EQ(upsert(eve, eve.file("a.pdf"), "the-key").status, 201);
  EXPECT_EQ(jobs_of(eve), 1);
}

TEST_F(Rest, RowsOfOthersAreNeitherSeenNorChanged) {  // T-02, T-11, V-07
  const auto ada = person();
  ASSERT_EQ(upload(ada, "a.pdf", "{}").status, 200);
  const auto made = upsert(ada, ada.file("a.pdf"), "k");
  const auto id = text(made, "id");
  const auto path = "/rest/v1/shell_files?id=eq." + id;
  const std::vector<std::string> strangers = {
      person().token, person(world().new_tenant()).token,
      world().jwt(Role::service_role, world().new_tenant())};
  for (const auto& token : strangers) {
    const auto seen = ask("GET", path, token);
    EXPECT_EQ(seen.status, 200) << seen.body;
    EXPECT_EQ(seen.body, "[]");
    EXPECT_EQ(ask("GET", path, token, {}, {kOne}).status, 406);
    const auto changed =
        ask("PATCH", path, token, R"({"file_name":"stolen.pdf"})", {kRepresentation});
    EXPECT_EQ(changed.status, 200) << changed.body;
    EXPECT_EQ(changed.body, "[]");
    EXPECT_EQ(ask("DELETE", path, token, {}, {kRepresentation}).body, "[]");
  }
  const auto own = ask("GET", path + "&select=file_name,status", ada.token, {}, {kOne});
  ASSERT_EQ(own.status, 200) << own.body;
  EXPECT_EQ(text(own, "file_name"), "a.pdf");
  // The owner changes listed columns, and no others.
  EXPECT_EQ(ask("PATCH", path, ada.token, R"({"file_name":"b.pdf"})").status, 204);
  const auto forged = ask("PATCH", path, ada.token, R"({"status":"completed"})");
  EXPECT_EQ(forged.status, 403) << forged.body;
  EXPECT_EQ(text(ask("GET", path, ada.token, {}, {kOne}), "file_name"), "b.pdf");
  EXPECT_EQ(ask("DELETE", path, ada.token).status, 204);
  EXPECT_EQ(ask("GET", path, ada.token).body, "[]");
}

TEST_F(Rest, PeopleReadTheirExportsAndWriteNone) {  // I06
  const auto ada = person();
  const auto service = world().jwt(Role::service_role, tenant_);
  const auto row = fmt::format(
      R"({{"user_id":"{}","document_id":"{}","format":"pdf","options":{{}},"status":"pending"}})",
      ada.id, kDocument);
  const auto refused = ask("POST", "/rest/v1/export_jobs", ada.token, row);
  EXPECT_EQ(refused.status, 403) << refused.body;
  EXPECT_EQ(text(refused, "code"), "42501");
  EXPECT_EQ(text(refused, "message"), "permission denied for table export_jobs");
  const auto made =
      ask("POST", "/rest/v1/export_jobs?select=*", service, row, {kRepresentation, kOne});
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(text(made, "status"), "pending");
  const auto id = text(made, "id");
  const auto path = fmt::format("/rest/v1/export_jobs?select=*&id=eq.{}&user_id=eq.{}", id, ada.id);
  const auto polled = ask("GET", path, ada.token, {}, {kOne});
  ASSERT_EQ(polled.status, 200) << polled.body;
  EXPECT_EQ(text(polled, "id"), id);
  EXPECT_EQ(ask("GET", path, person().token, {}, {kOne}).status, 406);
  for (const auto& token : {ada.token, service}) {
    EXPECT_EQ(ask("PATCH", path, token, R"({"status":"completed"})").status, 403);
    EXPECT_EQ(ask("DELETE", path, token).status, 403);
  }
  const auto counted =
      ask("HEAD", fmt::format("/rest/v1/export_jobs?select=*&user_id=eq.{}", ada.id), ada.token, {},
          {{"Prefer", "count=exact"}});
  EXPECT_EQ(counted.status, 200);
  EXPECT_EQ(counted.header("content-range"), "0-0/1");
}

TEST_F(Rest, HistoryIsFilteredCountedAndDeletedAsTheSourcesDo) {  // X-18, X-22
  const auto ada = person();
  const auto service = world().jwt(Role::service_role, tenant_);
  for (const auto* const expires : {"2020-01-01T00:00:00Z", "2099-01-01T00:00:00Z"}) {
    const auto made = ask("POST", "/rest/v1/export_history", service,
                          fmt::format(R"({{"user_id":"{}","document_id":"{}","file_name":"a.pdf",)"
                                      R"("file_path":"{}/a.pdf","file_size":7,"expires_at":"{}"}})",
                                      ada.id, kDocument, ada.id, expires));
    ASSERT_EQ(made.status, 201) << made.body;
  }
  const auto now = "2026-01-01T00:00:00.000Z";
  const auto old =
      ask("GET", fmt::format("/rest/v1/export_history?select=id,file_path&expires_at=lt.{}", now),
          service);
  ASSERT_EQ(old.status, 200) << old.body;
  ASSERT_EQ(old.json().as_array().size(), 1U) << old.body;
  const auto live = ask("GET",
                        fmt::format("/rest/v1/export_history?select=id,file_size,download_count"
                                    "&user_id=eq.{}&expires_at=gte.{}&order=created_at.desc",
                                    ada.id, now),
                        ada.token, {}, {{"Prefer", "count=exact"}});
  ASSERT_EQ(live.json().as_array().size(), 1U) << live.body;
  EXPECT_EQ(live.header("content-range"), "0-0/1");
  const std::string id(live.json().as_array()[0].at("id").as_string());
  // Two who count at once are both counted, whatever number they send (K10).
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(
        ask("PATCH", "/rest/v1/export_history?id=eq." + id, ada.token, R"({"download_count":1})")
            .status,
        204);
  }
  const auto after = ask("GET", "/rest/v1/export_history?id=eq." + id, ada.token, {}, {kOne});
  EXPECT_EQ(after.json().at("download_count"), json::Value(2)) << after.body;
  const std::string dead(old.json().as_array()[0].at("id").as_string());
  EXPECT_EQ(ask("DELETE", "/rest/v1/export_history?id=eq." + dead, service).status, 204);
  EXPECT_EQ(ask("GET", "/rest/v1/export_history?id=eq." + dead, service).body, "[]");
}

TEST_F(Rest, FunctionsAreForWhomTheyAreGranted) {  // U-10, V-06
  const auto ada = person();
  const auto service = world().jwt(Role::service_role, tenant_);
  const auto job = R"({"job_type":"fast_queue_ocr","job_name":"Process a.pdf",)"
                   R"("job_payload":{"shell_file_id":"x","storage_path":"y"}})";
  const auto refused = ask("POST", "/rest/v1/rpc/enqueue_job_v3", ada.token, job);
  EXPECT_EQ(refused.status, 403) << refused.body;
  EXPECT_EQ(text(refused, "code"), "42501");
  const auto nobody = ask("POST", "/rest/v1/rpc/enqueue_job_v3", world().jwt(Role::anon), job);
  EXPECT_EQ(nobody.status, 401) << nobody.body;
  const auto made = ask("POST", "/rest/v1/rpc/enqueue_job_v3", service, job);
  ASSERT_EQ(made.status, 200) << made.body;
  EXPECT_TRUE(made.json().is_string());
  const auto claimed = ask("POST", "/rest/v1/rpc/claim_next_job_v3", service,
                           R"({"worker_id":"w1","job_types":["fast_queue_ocr"]})");
  ASSERT_EQ(claimed.status, 200) << claimed.body;
  ASSERT_EQ(claimed.json().as_array().size(), 1U) << claimed.body;
  const auto beat = ask("POST", "/rest/v1/rpc/update_job_heartbeat", service,
                        fmt::format(R"({{"p_job_id":{},"p_worker_id":"w1"}})", made.body));
  EXPECT_EQ(beat.status, 200) << beat.body;
  const auto done =
      ask("POST", "/rest/v1/rpc/complete_job", service,
          fmt::format(R"({{"p_job_id":{},"p_worker_id":"w1","p_job_result":{{}}}})", made.body));
  ASSERT_EQ(done.status, 200) << done.body;
  EXPECT_EQ(done.body, "true");
  // A worker that does not hold it changes nothing, and is told so.
  const auto stale = ask("POST", "/rest/v1/rpc/complete_job", service,
                         fmt::format(R"({{"p_job_id":{},"p_worker_id":"w2"}})", made.body));
  EXPECT_EQ(stale.body, "false");
  const auto wrong = ask("POST", "/rest/v1/rpc/complete_job", service, R"({"job":1})");
  EXPECT_EQ(wrong.status, 404);
  EXPECT_EQ(text(wrong, "code"), "PGRST202");
}

TEST_F(Rest, HostileQueriesNeverBreakAnythingAndShowNothing) {
  const auto ada = person();
  const std::string token = ada.token;
  const std::vector<std::string> queries = {"id=eq.'%20or%20true--",
                                            "id=eq.%22;drop%20table%20millrace.shell_files",
                                            "select=*%3B%20select%20pg_sleep(9)",
                                            "select=tenant_id",
                                            "id%22%20or%20true%20--=eq.1",
                                            "order=id);drop%20table%20x",
                                            "id=in.(1,2,%27%27)",
                                            "id=like.%25",
                                            "created_at=gte.yesterday-ish",
                                            "size_bytes=gt.99999999999999999999999",
                                            "status=is.maybe",
                                            "processing_error=eq.%7B",
                                            "limit=1e9",
                                            "offset=9223372036854775807",
                                            "id=eq.%EF%BF%BF",
                                            "a=eq.%00"};
  for (const auto& query : queries) {
    const auto answered = ask("GET", "/rest/v1/shell_files?" + query, token);
    EXPECT_LT(answered.status, 500) << query << " " << answered.body;
    if (answered.status < 300) {
      EXPECT_EQ(answered.body, "[]") << query;
    } else {
      EXPECT_FALSE(text(answered, "code").empty()) << query;
    }
  }
  EXPECT_EQ(ask("GET", "/rest/v1/job_fact", token).status, 404);
  EXPECT_EQ(ask("GET", "/rest/v1/api_token", token).status, 404);
  EXPECT_EQ(ask("GET", "/rest/v1/shell_files", world().jwt(Role::anon)).status, 401);
}

TEST_F(Rest, AnObjectIsStoredReadListedAndRemovedByItsOwnerAlone) {  // T-04
  const auto ada = person();
  const auto eve = person();
  const auto path = fmt::format("exports/{}/sub/a%20file.json", ada.id);
  const auto made = ask("POST", "/storage/v1/object/" + path, ada.token, R"({"n":1})");
  ASSERT_EQ(made.status, 200) << made.body;
  EXPECT_EQ(text(made, "Key"), fmt::format("exports/{}/sub/a file.json", ada.id));
  const auto again = ask("POST", "/storage/v1/object/" + path, ada.token, R"({"n":2})");
  EXPECT_EQ(again.status, 400);
  EXPECT_EQ(text(again, "statusCode"), "409");
  EXPECT_EQ(text(again, "error"), "Duplicate");
  EXPECT_EQ(ask("PUT", "/storage/v1/object/" + path, ada.token, R"({"n":3})").status, 200);
  const auto read = ask("GET", "/storage/v1/object/" + path, ada.token);
  EXPECT_EQ(read.status, 200);
  EXPECT_EQ(read.body, R"({"n":3})");
  const auto range = ask("GET", "/storage/v1/object/authenticated/" + path, ada.token, {},
                         {{"Range", "bytes=1-3"}});
  EXPECT_EQ(range.status, 206);
  EXPECT_EQ(range.body, "\"n\"");
  for (const auto& token : {eve.token, world().jwt(Role::service_role, world().new_tenant())}) {
    const auto other = ask("GET", "/storage/v1/object/" + path, token);
    EXPECT_EQ(other.status, 400);
    EXPECT_EQ(text(other, "statusCode"), "404");
    EXPECT_EQ(ask("DELETE", "/storage/v1/object/exports", token,
                  fmt::format(R"({{"prefixes":["{}"]}})", ada.file("sub/a file.json")))
                  .body,
              "[]");
  }
  const auto listed = ask("POST", "/storage/v1/object/list/exports", ada.token,
                          fmt::format(R"({{"prefix":"{}"}})", ada.id));
  ASSERT_EQ(listed.json().as_array().size(), 1U) << listed.body;
  EXPECT_EQ(listed.json().as_array()[0].at("name"), json::Value("sub"));
  EXPECT_EQ(ask("POST", "/storage/v1/object/list/exports", eve.token,
                fmt::format(R"({{"prefix":"{}"}})", ada.id))
                .body,
            "[]");
  const auto removed = ask("DELETE", "/storage/v1/object/exports", ada.token,
                           fmt::format(R"({{"prefixes":["{}"]}})", ada.file("sub/a file.json")));
  EXPECT_EQ(removed.json().as_array().size(), 1U) << removed.body;
  EXPECT_EQ(text(ask("GET", "/storage/v1/object/" + path, ada.token), "statusCode"), "404");
}

TEST_F(Rest, NamesOutsideTheOwnFolderAndStrangeNamesAreRefused) {  // T-04
  const auto ada = person();
  const auto eve = person();
  const auto post = [&](const std::string& path) {
    return ask("POST", "/storage/v1/object/" + path, ada.token, "{}");
  };
  const auto foreign = post(fmt::format("exports/{}/a.pdf", eve.id));
  EXPECT_EQ(text(foreign, "statusCode"), "403") << foreign.body;
  EXPECT_EQ(text(foreign, "code"), "AccessDenied");
  EXPECT_EQ(text(post(fmt::format("exports/{}/caf%C3%A9.pdf", ada.id)), "code"), "InvalidKey");
  EXPECT_EQ(text(post(fmt::format("exports/{}//a.pdf", ada.id)), "code"), "InvalidKey");
  EXPECT_EQ(text(post(fmt::format("no-such-bucket/{}/a.pdf", ada.id)), "code"), "NoSuchBucket");
  EXPECT_EQ(post(fmt::format("exports/{}/%2e%2e/a.pdf", ada.id)).status, 400);
  EXPECT_EQ(ask("POST", fmt::format("/storage/v1/object/exports/{}/a.pdf", ada.id),
                world().jwt(Role::anon), "{}")
                .status,
            403);
}

TEST_F(Rest, ASignedUrlOpensOneObjectForWhoeverHasItAndIsNeverLogged) {  // T-13, I11
  const auto ada = person();
  ASSERT_EQ(upload(ada, "a.pdf", R"({"n":1})", "exports").status, 200);
  ASSERT_EQ(upload(ada, "b.pdf", R"({"n":2})", "exports").status, 200);
  const auto sign = fmt::format("/storage/v1/object/sign/exports/{}", ada.file("a.pdf"));
  const auto made = ask("POST", sign, ada.token, R"({"expiresIn":3600})");
  ASSERT_EQ(made.status, 200) << made.body;
  const auto url = text(made, "signedURL");
  const auto token = url.substr(url.find("token="));
  const auto opened = ask("GET", "/storage/v1" + url, "");
  EXPECT_EQ(opened.status, 200);
  EXPECT_EQ(opened.body, R"({"n":1})");
  const auto other = ask(
      "GET", fmt::format("/storage/v1/object/sign/exports/{}?{}", ada.file("b.pdf"), token), "");
  EXPECT_EQ(other.status, 400);
  EXPECT_EQ(text(ask("POST", sign, person().token, R"({"expiresIn":3600})"), "statusCode"), "404");
  EXPECT_THAT(world().program().err(), Not(HasSubstr(token.substr(6, 40))));
}

TEST_F(Rest, NamesThatPeopleGaveAreInNoLog) {  // T-08
  const auto ada = person();
  const auto path = fmt::format("medical-docs/{}/1_Lovelace_biopsy.pdf", ada.id);
  ASSERT_EQ(ask("POST", "/storage/v1/object/" + path, ada.token, "{}").status, 200);
  ASSERT_EQ(upsert(ada, ada.file("1_Lovelace_biopsy.pdf"), "Lovelace-key").status, 201);
  EXPECT_EQ(ask("GET", "/rest/v1/shell_files?file_name=eq.Lovelace_biopsy.pdf", ada.token).status,
            200);
  EXPECT_EQ(ask("GET", "/storage/v1/object/" + path, ada.token).status, 200);
  // The line of a request is written behind its answer.
  ASSERT_TRUE(eventually([&] {
    return world().program().err().contains(R"("method":"GET","route":"/storage/v1/object/)");
  }));
  EXPECT_THAT(world().program().err(), Not(HasSubstr("Lovelace")));
}

TEST_F(Rest,
       WhatAServiceStoresForAUserTheUserFinds) {  // X-17: the worker uploads, the user downloads
  const auto ada = person();
  const auto service = world().jwt(Role::service_role, tenant_);
  const auto path = fmt::format("exports/{}/{}_1.pdf", ada.id, kDocument);
  ASSERT_EQ(ask("POST", "/storage/v1/object/" + path, service, "{}").status, 200);
  EXPECT_EQ(ask("GET", "/storage/v1/object/" + path, ada.token).status, 200);
  const auto info = ask("GET", "/storage/v1/object/info/" + path, ada.token);
  EXPECT_EQ(info.status, 200) << info.body;
  EXPECT_THAT(info.body, Not(HasSubstr("store_key")));
  EXPECT_THAT(text(info, "etag"), StartsWith("\""));
}

}  // namespace
}  // namespace millrace::test
