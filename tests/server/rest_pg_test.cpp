// Tables and functions for clients of Supabase, each under the caller's own role.
#include "rest_world.h"

#include <gmock/gmock.h>

namespace millrace::test {
namespace {

using identity::Role;
using testing::HasSubstr;

class Rest : public RestTest {};

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
  EXPECT_EQ(ask("PATCH", path, ada.token, R"({"status":"completed"})").status, 403);
  EXPECT_EQ(ask("PATCH", path, service, R"({"status":"cancelled"})").status, 403);
  EXPECT_EQ(ask("PATCH", path, service, R"({"user_id":"x"})").status, 403);
  for (const auto& token : {ada.token, service}) {
    EXPECT_EQ(ask("DELETE", path, token).status, 403);
  }
  const auto counted =
      ask("HEAD", fmt::format("/rest/v1/export_jobs?select=*&user_id=eq.{}", ada.id), ada.token, {},
          {{"Prefer", "count=exact"}});
  EXPECT_EQ(counted.status, 200);
  EXPECT_EQ(counted.header("content-range"), "0-0/1");
}

TEST_F(Rest, AServiceSettlesTheDeliveryThatIsUnderWayAndNoOther) {  // I06, B08
  const auto ada = person();
  const auto service = world().jwt(Role::service_role, tenant_);
  const auto made = ask("POST", "/rest/v1/export_jobs?select=id", service,
                        fmt::format(R"({{"user_id":"{}","document_id":"{}"}})", ada.id, kDocument),
                        {kRepresentation, kOne});
  ASSERT_EQ(made.status, 201) << made.body;
  const auto path = "/rest/v1/export_jobs?id=eq." + text(made, "id");
  const auto update = [&](const std::string& patch, const std::string& filter = {}) {
    return ask("PATCH", path + filter, service, patch, {kRepresentation, kOne});
  };
  const auto fetch = [&] {
    const auto fetched =
        ask("POST", "/rest/v1/rpc/fetch_next_export_job", service, "{}", {kRepresentation, kOne});
    EXPECT_EQ(fetched.status, 200) << fetched.body;
    return text(fetched, "locked_by");
  };
  const std::string done = R"({"status":"completed","progress":100,"result_url":"a/b.pdf",)"
                           R"("file_size":7,"page_count":1,"completed_at":"2026-01-01T00:00:00Z"})";
  // Nobody has begun it: nothing to settle.
  const auto early = update(done);
  EXPECT_EQ(early.status, 409) << early.body;
  EXPECT_EQ(text(early, "code"), "MR001");
  const auto first = fetch();
  const auto moved = update(R"({"progress":40})");
  ASSERT_EQ(moved.status, 200) << moved.body;
  EXPECT_EQ(moved.json().at("progress"), json::Value(40));
  EXPECT_EQ(update(R"({"progress":10})").json().at("progress"), json::Value(40));
  const auto later = update(
      R"({"status":"pending","error_message":"no paper","run_after":"2999-01-01T00:00:00Z"})");
  ASSERT_EQ(later.status, 200) << later.body;
  EXPECT_EQ(text(later, "status"), "pending");
  EXPECT_EQ(text(later, "error_message"), "no paper");
  // The next delivery is somebody else's. Whoever says which one it means cannot end it.
  auto sql = world().sql();
  must(sql.query("select millrace.run_now(array[$1]::uuid[])", pg::params(text(made, "id"))));
  const auto second = fetch();
  EXPECT_NE(second, first);
  EXPECT_EQ(update(done, "&locked_by=eq." + first).status, 406);
  const auto ended = update(done, "&locked_by=eq." + second);
  ASSERT_EQ(ended.status, 200) << ended.body;
  EXPECT_EQ(text(ended, "status"), "completed");
  EXPECT_EQ(text(ended, "result_url"), "a/b.pdf");
  // Again, because the answer was lost; but what has ended does not end otherwise.
  EXPECT_EQ(update(done).status, 200);
  EXPECT_EQ(update(R"({"status":"failed","error_message":"late"})").status, 409);
  EXPECT_EQ(text(ask("GET", path, ada.token, {}, {kOne}), "status"), "completed");
}

TEST_F(Rest, WhoWantsOneRowAndWouldWriteAnotherNumberWritesNone) {
  const auto ada = person();
  ASSERT_EQ(upload(ada, "a.pdf", R"({"n":1})").status, 200);
  ASSERT_EQ(upload(ada, "b.pdf", R"({"n":2})").status, 200);
  const auto row = [&](std::string_view name) {
    return fmt::format(R"({{"patient_id":"{}","storage_path":"{}","idempotency_key":"{}",)"
                       R"("status":"uploaded"}})",
                       ada.profile, ada.file(name), name);
  };
  const auto both = fmt::format("[{},{}]", row("a.pdf"), row("b.pdf"));
  const auto refused =
      ask("POST", "/rest/v1/shell_files", ada.token, both, {kRepresentation, kOne});
  EXPECT_EQ(refused.status, 406) << refused.body;
  EXPECT_EQ(text(refused, "code"), "PGRST116");
  EXPECT_THAT(text(refused, "details"), HasSubstr("2 rows"));
  EXPECT_EQ(ask("GET", "/rest/v1/shell_files", ada.token).body, "[]");
  EXPECT_EQ(jobs_of(ada), 0);
  ASSERT_EQ(ask("POST", "/rest/v1/shell_files", ada.token, both).status, 201);
  const std::string mine = "/rest/v1/shell_files?status=eq.uploaded";
  for (const auto& headers : {std::vector{kOne}, std::vector{kRepresentation, kOne}}) {
    EXPECT_EQ(ask("PATCH", mine, ada.token, R"({"file_name":"c.pdf"})", headers).status, 406);
    EXPECT_EQ(ask("DELETE", mine, ada.token, {}, headers).status, 406);
  }
  const auto left = ask("GET", "/rest/v1/shell_files?select=file_name&order=file_name", ada.token);
  ASSERT_EQ(left.json().as_array().size(), 2U) << left.body;
  EXPECT_EQ(left.json().as_array()[0].at("file_name"), json::Value("a.pdf"));
  EXPECT_EQ(left.json().as_array()[1].at("file_name"), json::Value("b.pdf"));
  const auto none = ask("POST", "/rest/v1/rpc/fetch_next_export_job",
                        world().jwt(Role::service_role, tenant_), "{}", {kOne});
  EXPECT_EQ(none.status, 406) << none.body;
  EXPECT_EQ(text(none, "code"), "PGRST116");
}

TEST_F(Rest, OneWriteChangesAThousandRowsAtMost) {
  const auto ada = person();
  const auto service = world().jwt(Role::service_role, tenant_);
  std::string rows;
  for (int i = 0; i < 1000; ++i) {
    rows += fmt::format(R"({}{{"user_id":"{}","file_name":"a","file_path":"{}","file_size":1}})",
                        i == 0 ? "[" : ",", ada.id, i);
  }
  ASSERT_EQ(ask("POST", "/rest/v1/export_history", service, rows + "]").status, 201);
  ASSERT_EQ(ask("POST", "/rest/v1/export_history", service,
                fmt::format(R"({{"user_id":"{}","file_name":"b","file_path":"b","file_size":1}})",
                            ada.id))
                .status,
            201);
  const auto all = fmt::format("/rest/v1/export_history?user_id=eq.{}", ada.id);
  const http::Header count{"Prefer", "count=exact"};
  const auto refused = ask("DELETE", all, service);
  EXPECT_EQ(refused.status, 400) << refused.body;
  EXPECT_EQ(text(refused, "code"), "PGRST124");
  EXPECT_EQ(ask("HEAD", all, service, {}, {count}).header("content-range"), "0-999/1001");
  const auto some = ask("DELETE", all + "&order=file_name&limit=1000", service, {}, {count});
  EXPECT_EQ(some.status, 204) << some.body;
  EXPECT_EQ(some.body, "");
  EXPECT_EQ(some.header("content-range"), "*/1000");
  EXPECT_EQ(text(ask("GET", all, service, {}, {kOne}), "file_name"), "b");
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

}  // namespace
}  // namespace millrace::test
