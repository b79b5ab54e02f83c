// Exports, as the source's client asks for them: its paths, its names, its words.
#include "base/file.h"
#include "export_fixture.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace millrace::test {
namespace {

using identity::Role;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class ApiExports : public ExportFixture {};

TEST_F(ApiExports, ADocumentIsExportedOnceWhileItIsUnderWay) {  // H-01, X-21
  const auto id = document();
  const auto job = start(id);
  EXPECT_EQ(start(id), job);
  EXPECT_EQ(start(id, R"(,"options":{"pageSize":"Letter","margins":{"top":1}})"), job)
      << "what is chosen is what is the default anyway";
  EXPECT_NE(start(id, R"(,"options":{"pageSize":"A4"})"), job);
  EXPECT_NE(start(id, R"(,"templateSlug":"modern")"), job);
  EXPECT_EQ(start(id, R"(,"templateSlug":"minimal")"), job) << "it is the document's own";
  const auto seen = status(job);
  EXPECT_EQ(seen.at("status"), json::Value("pending"));
  EXPECT_TRUE(seen.at("resultUrl").is_null());
}

// X-02, H-07: among the options, where the source's jobs have it and its batches can say it.
TEST_F(ApiExports, ATemplateIsOrderedAmongTheOptions) {
  const auto id = document();
  const auto job = start(id, R"(,"templateSlug":"modern")");
  EXPECT_EQ(start(id, R"(,"options":{"templateSlug":"modern"})"), job);
  EXPECT_EQ(start(id, R"(,"templateSlug":"modern","options":{"templateSlug":"minimal"})"), job)
      << "the order's own word counts";
  const auto batch = [&](const std::string& slug) {
    return post(
        "/api/v1/export/batch",
        fmt::format(R"({{"documentIds":["{}"],"options":{{"templateSlug":"{}"}}}})", id, slug));
  };
  const auto made = batch("modern");
  ASSERT_EQ(made.status, 202) << made.body;
  EXPECT_EQ(made.json().at("data").at("jobs").at(0).at("jobId"), json::Value(job));
  const auto unknown = batch("brochure");
  EXPECT_EQ(unknown.status, 400) << unknown.body;
  EXPECT_EQ(unknown.json().at("details").at(0).at("pointer"),
            json::Value("#/options/templateSlug"));
  const auto misfit = batch("invoice");
  EXPECT_EQ(misfit.status, 400) << misfit.body;
  EXPECT_EQ(misfit.json().at("details").at(0).at("pointer"), json::Value("#/documentIds/0"));
  EXPECT_EQ(batch("A B").status, 400);
}

TEST_F(ApiExports, BadWishesAreRefusedInTheEnvelope) {  // H-01, H-12
  const auto bad = post("/api/v1/export/pdf", R"({"documentId":"x","options":{"quality":"best"}})");
  EXPECT_EQ(bad.status, 400);
  EXPECT_EQ(bad.json().at("message"), json::Value("Invalid request"));
  EXPECT_EQ(bad.json().at("details").as_array().size(), 2U) << bad.body;
  const auto nobody = world().post("/api/v1/export/pdf", "", "{}");
  EXPECT_EQ(nobody.status, 401);
  EXPECT_EQ(nobody.json().at("status"), json::Value(401));
  std::string many;
  for (int i = 0; i < 11; ++i) many += fmt::format("{}\"{}\"", i == 0 ? "" : ",", document());
  const auto batch = post("/api/v1/export/batch", fmt::format(R"({{"documentIds":[{}]}})", many));
  EXPECT_EQ(batch.status, 400);
  EXPECT_EQ(batch.json().at("message"), json::Value("Maximum 10 documents per batch"));
  // X-09: there is no batch of none either.
  EXPECT_EQ(post("/api/v1/export/batch", R"({"documentIds":[]})").status, 400);
}

// X-09: one and ten are batches; the jobs come in the order of the documents.
TEST_F(ApiExports, x09_ABatchHasOneToTenDocuments) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{10}}) {
    std::vector<std::string> documents;
    std::string list;
    for (std::size_t i = 0; i < count; ++i) {
      documents.push_back(document());
      list += fmt::format("{}\"{}\"", i == 0 ? "" : ",", documents.back());
    }
    const auto made = post("/api/v1/export/batch", fmt::format(R"({{"documentIds":[{}]}})", list));
    ASSERT_EQ(made.status, 202) << made.body;
    const auto jobs = made.json().at("data").at("jobs").as_array();
    ASSERT_EQ(jobs.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(jobs.at(i).at("documentId"), json::Value(documents[i]));
    }
  }
}

// H-11: newest first, page by page, each once.
TEST_F(ApiExports, h11_TheHistoryHasPages) {
  std::vector<std::string> made;
  for (int i = 0; i < 5; ++i) {
    made.push_back(std::string(
        must(sql_.query("select id from millrace.create_export_history(jsonb_build_object("
                        "'user_id', $1::text, 'file_name', 'a.pdf', 'file_path', $2::text, "
                        "'file_size', 1))",
                        pg::params(user_.to_string(), fmt::format("{}/{}.pdf", user_, i))))[0]
            .text(0)));
  }
  std::vector<std::string> seen;
  std::string cursor;
  int pages = 0;
  do {
    ASSERT_LT(++pages, 5);
    const auto page = world().get(
        "/api/v1/export/history?limit=2" + (cursor.empty() ? "" : "&cursor=" + cursor), token_);
    ASSERT_EQ(page.status, 200) << page.body;
    const auto data = page.json().at("data");
    for (const auto& item : data.at("items").as_array()) {
      seen.emplace_back(item.at("id").as_string());
    }
    cursor = data.at("next_cursor").is_string() ? data.at("next_cursor").as_string().c_str() : "";
  } while (!cursor.empty());
  EXPECT_EQ(pages, 3);
  // By their ids, which begin with the time.
  std::ranges::sort(made, std::greater<>());
  EXPECT_EQ(seen, made);
  const auto stranger = world().jwt(Role::authenticated, tenant_, world().new_user());
  EXPECT_TRUE(world()
                  .get("/api/v1/export/history", stranger)
                  .json()
                  .at("data")
                  .at("items")
                  .as_array()
                  .empty());
}

TEST_F(ApiExports, OthersSeeNothingOfIt) {  // H-02, T-02
  const auto job = start(document());
  const auto stranger = world().jwt(Role::authenticated, tenant_, world().new_user());
  for (const auto* method : {"GET", "DELETE"}) {
    const auto got =
        world().ask({.method = method, .path = "/api/v1/export/job/" + job, .token = stranger});
    EXPECT_EQ(got.status, 404);
    EXPECT_EQ(got.json().at("message"), json::Value("Job not found"));
  }
}

TEST_F(ApiExports, AUserEndsAnExport) {  // H-03, X-20
  const auto job = start(document());
  const Ask cancel{.method = "DELETE", .path = "/api/v1/export/job/" + job, .token = token_};
  const auto ended = world().ask(cancel);
  EXPECT_EQ(ended.body, R"({"data":{"message":"Job cancelled"}})");
  EXPECT_EQ(status(job).at("status"), json::Value("cancelled"));
  EXPECT_EQ(world().ask(cancel).status, 409);
}

TEST_F(ApiExports, ThreeAtATimeRunAndTheNextIsToldToWait) {  // X-11
  for (int i = 0; i < 3; ++i) start(document());
  std::vector<std::pair<std::string, std::string>> running;
  for (int i = 0; i < 3; ++i) running.push_back(claim());
  const auto full = post("/api/v1/export/pdf", fmt::format(R"({{"documentId":"{}"}})", document()));
  EXPECT_EQ(full.status, 429);
  EXPECT_EQ(full.json().at("message"), json::Value("Export queue full, please wait"));
  const auto batch =
      post("/api/v1/export/batch", fmt::format(R"({{"documentIds":["{}"]}})", document()));
  EXPECT_EQ(batch.status, 429);
  EXPECT_EQ(batch.json().at("message"),
            json::Value("Export queue full. Please wait for current exports to complete."));
  for (const auto& held : running) complete(held, "nowhere");
}

TEST_F(ApiExports, AnOrderWithAKeyIsMadeOnce) {  // F02, F03, G11
  const std::vector<http::Header> key{{"Idempotency-Key", "\"order-1\""}};
  const auto body = fmt::format(R"({{"documentId":"{}"}})", document());
  const auto first = world().post("/api/v1/export/pdf", token_, body, key);
  ASSERT_EQ(first.status, 202) << first.body;
  complete(claim(), "nowhere");
  // It is not under way any more: without the key this would be another job.
  const auto again = world().post("/api/v1/export/pdf", token_, body, key);
  EXPECT_EQ(again.status, 202);
  EXPECT_EQ(again.header("idempotent-replayed"), "true");
  EXPECT_EQ(again.json(), first.json());

  const auto documents = fmt::format(R"({{"documentIds":["{}","{}"]}})", document(), document());
  const auto batch = world().post("/api/v1/export/batch", token_, documents, key);
  ASSERT_EQ(batch.status, 202) << batch.body;
  const auto same = world().post("/api/v1/export/batch", token_, documents, key);
  EXPECT_EQ(same.json(), batch.json());
  EXPECT_EQ(world().post("/api/v1/export/batch", token_, R"({"documentIds":[]})", key).status, 400);
  EXPECT_EQ(world()
                .post("/api/v1/export/batch", token_,
                      fmt::format(R"({{"documentIds":["{}"]}})", document()), key)
                .status,
            422);
  EXPECT_EQ(must(sql_.query("select count(*) from millrace.batch where tenant_id = $1",
                            pg::params(tenant_.value)))[0]
                .i64(0),
            1);
}

TEST_F(ApiExports, AnOrderLeavesTheIdsOfItsRequestWithItsJob) {  // A-07, H-24
  const std::vector<http::Header> ids{
      {"x-correlation-id", "export-17"},
      {"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}};
  const auto made = world().post("/api/v1/export/pdf", token_,
                                 fmt::format(R"({{"documentId":"{}"}})", document()), ids);
  ASSERT_EQ(made.status, 202) << made.body;
  const auto batch = world().post("/api/v1/export/batch", token_,
                                  fmt::format(R"({{"documentIds":["{}"]}})", document()), ids);
  ASSERT_EQ(batch.status, 202) << batch.body;
  const auto rows = must(
      sql_.query("select correlation_id, traceparent from millrace.job_fact where owner_id = $1",
                 pg::params(user_)));
  ASSERT_EQ(rows.rows(), 2U);
  for (const auto row : rows) {
    EXPECT_EQ(row.text(0), "export-17");
    EXPECT_THAT(std::string(row.text(1)), StartsWith("00-0af7651916cd43dd8448eb211c80319c-"));
  }
}

TEST_F(ApiExports, AServiceClearsWhatHasExpiredInItsTenant) {  // H-10, X-22
  must(
      sql_.query("select millrace.create_export_history(jsonb_build_object('user_id', $1::text, "
                 "'file_name', 'a.pdf', 'file_path', 'a', 'file_size', 1, 'expires_at', "
                 "'2020-01-01T00:00:00Z'))",
                 pg::params(user_)));
  const std::string path = "/functions/v1/cleanup-exports";
  EXPECT_EQ(world().post(path, token_, "").status, 403);
  EXPECT_EQ(world().post(path, "", "").status, 401);
  const auto elsewhere = world().jwt(Role::service_role, world().new_tenant());
  EXPECT_EQ(world().post(path, elsewhere, "{}").body, R"({"deleted":0})");
  const auto service = world().jwt(Role::service_role, tenant_);
  EXPECT_EQ(world().post(path, service, "").body, R"({"deleted":1})");
}

TEST_F(ApiExports, AQuotaThatIsUsedUpIsSaidInNumbers) {  // X-19
  must(
      sql_.query("select millrace.create_export_history(jsonb_build_object('user_id', $1::text, "
                 "'file_name', 'a.pdf', 'file_path', 'a', 'file_size', 104857600))",
                 pg::params(user_)));
  const auto full = post("/api/v1/export/pdf", fmt::format(R"({{"documentId":"{}"}})", document()));
  EXPECT_EQ(full.status, 507);
  EXPECT_THAT(std::string(full.json().at("message").as_string()),
              StartsWith("Storage quota exceeded (100"));
  EXPECT_THAT(std::string(full.json().at("message").as_string()),
              EndsWith("MB / 100MB). Delete old exports to continue."));
}

TEST_F(ApiExports, HistoryIsListedDownloadedAndDeleted) {  // H-09, H-11, X-18, X-26
  const auto path = store("old.pdf", "%PDF-1.7 old");
  const auto add = [&](const std::string& file, const std::string& expires) {
    return std::string(
        must(sql_.query("select id from millrace.create_export_history(jsonb_build_object("
                        "'user_id', $1::text, 'file_name', 'old.pdf', 'file_path', $2::text, "
                        "'file_size', 12, 'expires_at', (millrace.now() + $3::interval)::text))",
                        pg::params(user_, file, expires)))[0]
            .text(0));
  };
  const auto id = add(path, "1 day");
  const auto expired = add("gone/" + path, "-1 day");
  const auto missing = add(fmt::format("{}/missing.pdf", user_), "1 day");
  const auto list = world().get("/api/v1/export/history", token_);
  EXPECT_EQ(list.json().at("data").at("items").as_array().size(), 3U) << list.body;

  const auto download = [&](const std::string& which) {
    return world().get("/api/v1/export/download/" + which, token_);
  };
  const auto found = download(id);
  ASSERT_EQ(found.status, 302) << found.body;
  EXPECT_EQ(world().get(path_of(found.header("location"))).body, "%PDF-1.7 old");
  const auto gone = download(expired);
  EXPECT_EQ(gone.status, 410);
  EXPECT_EQ(gone.json().at("message"), json::Value("Export expired and has been deleted"));
  EXPECT_EQ(download(missing).json().at("message"), json::Value("File not found in storage"));
  EXPECT_EQ(download(world().new_user().to_string()).json().at("message"),
            json::Value("Export not found"));
  const auto counted = [&](const std::string& which) {
    return must(sql_.query("select download_count from millrace.export_history where id = $1::uuid",
                           pg::params(which)))[0]
        .i64(0);
  };
  // Who only looks at the head is told the same, and has downloaded nothing.
  const auto looked = [&](const std::string& which, const std::string& token) {
    return world().ask(
        {.method = "HEAD", .path = "/api/v1/export/download/" + which, .token = token});
  };
  EXPECT_EQ(looked(id, token_).status, 302);
  EXPECT_NE(looked(id, token_).header("location"), "");
  EXPECT_EQ(looked(id, world().key(Role::reader)).status, 302);
  EXPECT_EQ(looked(expired, token_).status, 410);
  EXPECT_EQ(looked(missing, token_).status, 404);
  EXPECT_EQ(looked(id, world().jwt(Role::authenticated, tenant_, world().new_user())).status, 404);
  EXPECT_EQ(counted(id), 1);
  EXPECT_EQ(counted(expired), 0);
  EXPECT_EQ(counted(missing), 0) << "nobody has got anything";
  const Ask remove{.method = "DELETE", .path = "/api/v1/export/history/" + id, .token = token_};
  EXPECT_EQ(world().ask(remove).status, 200);
  EXPECT_EQ(world().ask(remove).status, 404);
  const auto cleaned =  // X-23
      world().post("/api/v1/export/cleanup", world().key(Role::admin), "");
  EXPECT_EQ(cleaned.status, 200) << cleaned.body;
  EXPECT_GE(cleaned.json().at("data").at("deletedCount").as_int64(), 1);
  EXPECT_EQ(world().post("/api/v1/export/cleanup", token_, "").status, 403);
}

TEST_F(ApiExports, ABatchHoldsWhatWasUnderWayAlready) {  // X-10, X-21, H-08
  const auto shared = document();
  const auto job = start(shared);
  const auto made =
      post("/api/v1/export/batch",
           fmt::format(R"({{"documentIds":["{0}","{1}","{0}"]}})", shared, document()));
  ASSERT_EQ(made.status, 202) << made.body;
  const auto data = made.json().at("data");
  ASSERT_EQ(data.at("jobs").as_array().size(), 2U) << made.body;
  EXPECT_EQ(data.at("jobs").at(0).at("jobId"), json::Value(job));
  EXPECT_EQ(data.at("jobs").at(0).at("documentId"), json::Value(shared));
  const auto path = "/api/v1/export/batch/" + std::string(data.at("batchId").as_string());
  // By the source's word for it, too.
  complete_with(claim(),
                fmt::format(R"({{"result_url":"{}"}})", store("shared.pdf", "%PDF-1.7 s")));
  complete(claim(), store("own.pdf", "%PDF-1.7 own"));
  EXPECT_EQ(world().get(path, token_).json().at("data").at("completedCount"), json::Value(2));
  const auto zip = world().get(path + "/download", token_);
  ASSERT_EQ(zip.status, 200) << zip.body;
  EXPECT_THAT(zip.body, HasSubstr("shared.pdf"));
  EXPECT_THAT(zip.body, HasSubstr("CV.pdf"));
}

TEST_F(ApiExports, ABatchIsFetchedAsOneZipFile) {  // H-07, H-08, X-10, X-12, X-14, X-15, X-16
  const auto made = post("/api/v1/export/batch",
                         fmt::format(R"({{"documentIds":["{}","{}"]}})", document(), document()));
  ASSERT_EQ(made.status, 202) << made.body;
  const auto data = made.json().at("data");
  const auto path = "/api/v1/export/batch/" + std::string(data.at("batchId").as_string());
  EXPECT_EQ(data.at("jobs").as_array().size(), 2U);
  const auto nothing = world().get(path + "/download", token_);
  EXPECT_EQ(nothing.status, 404);
  EXPECT_EQ(nothing.json().at("message"), json::Value("Batch not found or incomplete"));

  complete(claim(), store("one.pdf", "%PDF-1.7 one"));
  const auto half = world().get(path, token_).json().at("data");
  EXPECT_EQ(half.at("progress"), json::Value(50));
  const auto partial = world().get(path + "/download", token_);
  EXPECT_EQ(partial.status, 409);
  EXPECT_EQ(partial.json().at("message"), json::Value("Batch partially complete"));
  EXPECT_EQ(partial.json().at("details"),
            (json::Object{{"completedCount", 1},
                          {"totalCount", 2},
                          {"completedJobs", json::Array{data.at("jobs").at(0).at("jobId")}}}));
  EXPECT_EQ(world().get(path + "/download?partial=true", token_).status, 200);

  complete(claim(), store("two.pdf", "%PDF-1.7 two"));
  const auto zip = world().get(path + "/download", token_);
  ASSERT_EQ(zip.status, 200);
  EXPECT_EQ(zip.header("content-type"), "application/zip");
  EXPECT_EQ(zip.header("content-disposition"),
            fmt::format(R"(attachment; filename="resumes-{}.zip")",
                        std::string_view(data.at("batchId").as_string())));
  const TempFolder folder;
  const auto file = folder.write("batch.zip", zip.body);
  const auto tested = run_command({"/usr/bin/python3", "-c",
                                   "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); "
                                   "assert z.testzip() is None; print(sorted(z.namelist()))",
                                   file.string()});
  EXPECT_EQ(tested.code, 0) << tested.err;
  EXPECT_EQ(tested.out, "['CV (2).pdf', 'CV.pdf']\n");
  const auto stranger = world().jwt(Role::authenticated, tenant_, world().new_user());
  EXPECT_EQ(world().get(path, stranger).status, 404);
  EXPECT_EQ(world().get(path + "/download", stranger).status, 404);
}

// X-18: one for each file that an archive holds, each time that one is sent; refusals count
// nothing.
TEST_F(ApiExports, x18_AnArchiveCountsAsADownloadOfEachOfItsFiles) {
  const auto counts = [&] {
    return std::string(
        must(sql_.query("select coalesce(string_agg(download_count::text, ' ' order by file_path), "
                        "'none') from millrace.export_history where user_id = $1",
                        pg::params(user_)))[0]
            .text(0));
  };
  const auto made = post("/api/v1/export/batch",
                         fmt::format(R"({{"documentIds":["{}","{}"]}})", document(), document()));
  ASSERT_EQ(made.status, 202) << made.body;
  const auto path = "/api/v1/export/batch/" +
                    std::string(made.json().at("data").at("batchId").as_string()) + "/download";
  const auto finish = [&](const std::string& name) {
    const auto held = claim();
    const auto file = store(name, "%PDF-1.7 " + name);
    complete(held, file);
    must(
        sql_.query("select millrace.create_export_history(jsonb_build_object('user_id', $1::text, "
                   "'file_name', 'CV.pdf', 'file_path', $2::text, 'file_size', 12, 'job_id', "
                   "$3::text))",
                   pg::params(user_.to_string(), file, held.first)));
  };
  finish("one.pdf");
  EXPECT_EQ(world().get(path, token_).status, 409);
  EXPECT_EQ(counts(), "0");
  EXPECT_EQ(world().get(path + "?partial=true", token_).status, 200);
  EXPECT_EQ(counts(), "1");
  finish("two.pdf");
  EXPECT_EQ(world().get(path, token_).status, 200);
  EXPECT_EQ(counts(), "2 1");
  const auto stranger = world().jwt(Role::authenticated, tenant_, world().new_user());
  EXPECT_EQ(world().get(path, stranger).status, 404);
  EXPECT_EQ(counts(), "2 1");
  // Whoever may read everything counts too.
  EXPECT_EQ(world().get(path, world().key(Role::reader)).status, 200);
  EXPECT_EQ(counts(), "3 2");
  // Who only looks at the head has downloaded nothing.
  world().ask({.method = "HEAD", .path = path, .token = token_});
  EXPECT_EQ(counts(), "3 2");
}

// X-17: instead of an archive, a link for each file, made on the spot.
TEST_F(ApiExports, TheFilesOfABatchAreLinkedOneByOne) {
  const auto made = post("/api/v1/export/batch",
                         fmt::format(R"({{"documentIds":["{}","{}"]}})", document(), document()));
  ASSERT_EQ(made.status, 202) << made.body;
  const auto data = made.json().at("data");
  const auto path = "/api/v1/export/batch/" + std::string(data.at("batchId").as_string());
  EXPECT_EQ(world().get(path + "/files", token_).status, 404);
  complete(claim(), store("first.pdf", "%PDF-1.7 first"));
  const auto partial = world().get(path + "/files", token_);
  EXPECT_EQ(partial.status, 409);
  EXPECT_EQ(partial.json().at("message"), json::Value("Batch partially complete"));
  EXPECT_EQ(world()
                .get(path + "/files?partial=true", token_)
                .json()
                .at("data")
                .at("files")
                .as_array()
                .size(),
            1U);
  complete(claim(), store("second.pdf", "%PDF-1.7 second"));
  const auto all = world().get(path + "/files", token_);
  ASSERT_EQ(all.status, 200) << all.body;
  EXPECT_EQ(all.json().at("data").at("expiresIn"), json::Value(3600));
  std::set<std::string> contents;
  std::set<std::string> documents;
  for (const auto& file : all.json().at("data").at("files").as_array()) {
    contents.insert(world().get(path_of(std::string(file.at("url").as_string()))).body);
    documents.insert(std::string(file.at("documentId").as_string()));
  }
  EXPECT_EQ(contents, (std::set<std::string>{"%PDF-1.7 first", "%PDF-1.7 second"}));
  EXPECT_EQ(documents.size(), 2U);
  const auto stranger = world().jwt(Role::authenticated, tenant_, world().new_user());
  EXPECT_EQ(world().get(path + "/files", stranger).status, 404);
}

// X-13, K01: both kinds of progress, live, in events that have ids; who comes back is told what is
// new, once, and after the end nothing.
TEST_F(ApiExports, ABatchIsFollowedLiveToItsEnd) {
  const auto shared = document();
  start(shared);  // Under way already: a member all the same.
  const auto made = post("/api/v1/export/batch",
                         fmt::format(R"({{"documentIds":["{}","{}"]}})", shared, document()));
  ASSERT_EQ(made.status, 202) << made.body;
  const auto path = "/api/v1/export/batch/" +
                    std::string(made.json().at("data").at("batchId").as_string()) + "/stream";
  auto live = watch(path);
  ASSERT_EQ(live.status(), 200) << live.head();
  auto got = live.next();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->event, "snapshot");
  EXPECT_EQ(must(parse_json_object(got->data)).at("progress"), json::Value(0));
  const auto first_id = got->id;

  const auto held = claim();
  must(sql_.query("select millrace.update_job_progress($1::uuid, 50)", pg::params(held.first)));
  const auto until = [&live](const auto& wanted) {
    for (auto next = live.next(); next; next = live.next()) {
      auto state = must(parse_json_object(next->data));
      if (wanted(next->event, state)) return std::pair(*next, state);
    }
    ADD_FAILURE() << "the stream has ended";
    return std::pair(api::StreamClient::Got(), json::Object());
  };
  const auto half = until([](const std::string& event, const json::Object& state) {
    return event == "progress" && state.at("meanProgress") == json::Value(25);
  });
  EXPECT_EQ(half.second.at("progress"), json::Value(0)) << "none is completed";
  complete(held, store("live.pdf", "%PDF-1.7 live"));
  const auto one = until([](const std::string&, const json::Object& state) {
    return state.at("completedCount") == json::Value(1);
  });
  EXPECT_EQ(one.second.at("progress"), json::Value(50));
  EXPECT_EQ(one.second.at("finished"), json::Value(false));

  // Somebody who was away since the snapshot is told the present state at once.
  auto back = api::StreamClient(
      world().address(), path,
      fmt::format("Accept: text/event-stream\r\nAuthorization: Bearer {}\r\nLast-Event-ID: {}\r\n",
                  token_, first_id));
  const auto told = back.next();
  ASSERT_TRUE(told);
  EXPECT_EQ(must(parse_json_object(told->data)).at("completedCount"), json::Value(1));

  complete(claim(), store("last.pdf", "%PDF-1.7 last"));
  const auto end =
      until([](const std::string& event, const json::Object&) { return event == "finished"; });
  EXPECT_EQ(end.second.at("completedCount"), json::Value(2));
  EXPECT_FALSE(live.next()) << "nothing follows the end";
  EXPECT_TRUE(live.ended());
  // After the end there is nothing to come back for.
  const auto over =
      world().ask({.path = path,
                   .token = token_,
                   .headers = {{"Accept", "text/event-stream"}, {"Last-Event-ID", end.first.id}}});
  EXPECT_EQ(over.status, 204);
  const auto stranger = world().jwt(Role::authenticated, tenant_, world().new_user());
  EXPECT_EQ(world().get(path, stranger).status, 404);
  EXPECT_EQ(world().get(path).status, 401);  // H-04
}

TEST_F(ApiExports, TheStreamOfAnExportSpeaksTheSourcesWords) {  // H-04, H-05
  auto none = watch("/api/v1/export/job/" + world().new_user().to_string() + "/stream");
  EXPECT_THAT(none.head(), HasSubstr("text/event-stream"));
  EXPECT_THAT(none.head(), HasSubstr("no-cache"));
  const auto got = none.next();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->event, "job_error");
  EXPECT_EQ(must(parse_json_object(got->data)).at("message"), json::Value("Job not found"));
  EXPECT_FALSE(none.next());

  const auto job = start(document());
  auto live = watch("/api/v1/export/job/" + job + "/stream");
  EXPECT_EQ(live.next_name(), "progress");
  const Ask cancel{.method = "DELETE", .path = "/api/v1/export/job/" + job, .token = token_};
  EXPECT_EQ(world().ask(cancel).status, 200);
  auto end = live.next();
  while (end && end->event != "cancelled") end = live.next();
  ASSERT_TRUE(end);
  EXPECT_EQ(must(parse_json_object(end->data)).at("status"), json::Value("cancelled"));
  EXPECT_FALSE(live.next());
}

// Q-05, H-05: an attempt that failed is no word of the source's; H-02 says pending, too.
TEST_F(ApiExports, AnExportThatIsTriedAgainIsPendingInItsStream) {
  const auto job = start(document());
  auto live = watch("/api/v1/export/job/" + job + "/stream");
  auto engine = watch("/api/v1/jobs/" + job + "/events");
  EXPECT_EQ(live.next_name(), "progress");
  EXPECT_EQ(engine.next_name(), "snapshot");
  const auto held = claim();
  must(sql_.query("select millrace.fail_job($1::uuid, $2, '{\"message\": \"browser crashed\"}')",
                  pg::params(held.first, held.second)));
  // With the first: the event of the order itself may come behind it, and says the same.
  std::vector<std::string> statuses = {"pending"};
  while (statuses.size() < 2 || statuses.back() != "pending") {
    const auto got = live.next();
    ASSERT_TRUE(got);
    EXPECT_EQ(got->event, "progress");
    const auto data = must(parse_json_object(got->data));
    EXPECT_EQ(data.at("progress"), json::Value(0));
    const std::string told(data.at("status").as_string());
    if (told != statuses.back()) statuses.push_back(told);
  }
  EXPECT_EQ(statuses, (std::vector<std::string>{"pending", "processing", "pending"}));
  EXPECT_EQ(status(job).at("status"), json::Value("pending"));
  auto name = engine.next_name();
  if (name == "enqueued") name = engine.next_name();
  EXPECT_EQ(name, "claimed") << "in its own words, to others";
  EXPECT_EQ(engine.next_name(), "retried");
  auto late = watch("/api/v1/export/job/" + job + "/stream");
  const auto first = late.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->event, "progress");
  EXPECT_EQ(must(parse_json_object(first->data)).at("status"), json::Value("pending"));
}

// From now on the most that the process has had is what it has.
void forget_peak(pid_t pid) { std::ofstream(fmt::format("/proc/{}/clear_refs", pid)) << "5"; }

// In KiB, the most that the process has had.
std::int64_t peak_kib(pid_t pid) {
  const auto status = must(read_file(fmt::format("/proc/{}/status", pid), std::size_t{64} * 1024));
  const auto at = status.find("VmHWM:");
  return at == status.npos ? 0 : std::stoll(status.substr(at + 6));
}

// X-14, X-28: an archive each file of which is larger than what the server may grow by.
TEST_F(ApiExports, AnArchiveIsSentInConstantMemory) {
  constexpr std::size_t kFileBytes = 48 * 1024 * 1024;
  std::string noise(kFileBytes, '\0');
  std::uint64_t state = 88172645463325252ULL;
  for (auto& c : noise) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    c = static_cast<char>(state);
  }
  noise.replace(0, 8, "%PDF-1.7");
  const auto path = store("large.pdf", noise);
  std::string ids;
  for (int i = 0; i < 2; ++i) ids += fmt::format("{}\"{}\"", i == 0 ? "" : ",", document());
  const auto made = post("/api/v1/export/batch", fmt::format(R"({{"documentIds":[{}]}})", ids));
  ASSERT_EQ(made.status, 202) << made.body;
  for (int i = 0; i < 2; ++i) complete(claim(), path);
  forget_peak(world().program().pid());
  const auto before = peak_kib(world().program().pid());
  ASSERT_GT(before, 0);
  const auto zip =
      world().get("/api/v1/export/batch/" +
                      std::string(made.json().at("data").at("batchId").as_string()) + "/download",
                  token_);
  ASSERT_EQ(zip.status, 200);
  EXPECT_GT(zip.body.size(), 2 * kFileBytes) << "noise cannot be packed";
  EXPECT_LT(peak_kib(world().program().pid()) - before, 16 * 1024);
}

}  // namespace
}  // namespace millrace::test
