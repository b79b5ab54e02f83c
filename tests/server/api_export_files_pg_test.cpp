// The files of exports: links to them, under which name they are saved, until when they can be had,
// and the pictures of their first pages.
#include "export_fixture.h"
#include "identity/base64url.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace millrace::test {
namespace {

using identity::Role;
using testing::StartsWith;

class ApiExportFiles : public ExportFixture {};

TEST_F(ApiExportFiles, AFinishedExportIsFetchedByALinkThatIsMadeOnTheSpot) {  // H-02, X-07
  const auto job = start(document());
  complete(claim(), store("cv.pdf", "%PDF-1.7 the content"));
  const auto seen = status(job);
  EXPECT_EQ(seen.at("status"), json::Value("completed"));
  EXPECT_EQ(seen.at("progress"), json::Value(100));
  const std::string url(seen.at("resultUrl").as_string());
  const auto file = world().get(path_of(url));
  EXPECT_EQ(file.status, 200) << file.body;
  EXPECT_EQ(file.body, "%PDF-1.7 the content");
  // The link opens this file and nothing else, and is no credential.
  const auto token = url.substr(url.find("token=") + 6);
  EXPECT_EQ(
      world().get(fmt::format("/api/v1/export/file/{}/other.pdf?token={}", user_, token)).status,
      401);
  EXPECT_EQ(world().get("/api/v1/me", token).status, 401);
  EXPECT_EQ(world().get(path_of(url.substr(0, url.size() - 2))).status, 401);
}

// H-02, H-05, H-06, X-07: however the worker tells of the file, its owner gets a link to it: from
// the stream as soon as it is there, from a stream that is opened later, and by polling.
TEST_F(ApiExportFiles, AFinishedExportIsLinkedInItsStateAndAtTheEndOfItsStream) {
  const auto file = store("told.pdf", "%PDF-1.7 told");
  for (const auto& result :
       {fmt::format(R"({{"file_path":"{}"}})", file), fmt::format(R"({{"result_url":"{}"}})", file),
        fmt::format(R"({{"result_url":"exports/{}"}})", file)}) {
    const auto job = start(document());
    const auto path = "/api/v1/export/job/" + job + "/stream";
    auto live = watch(path);
    ASSERT_EQ(live.status(), 200) << live.head();
    EXPECT_EQ(live.next_name(), "progress");
    complete_with(claim(), result);
    const auto end_of = [](api::StreamClient& client) {
      for (auto got = client.next(); got; got = client.next()) {
        if (got->event == "completed") return must(parse_json_object(got->data));
      }
      ADD_FAILURE() << "the stream has no end";
      return json::Object();
    };
    auto late = watch(path);
    auto of_jobs = watch("/api/v1/jobs/" + job + "/events");
    std::set<std::string> urls = {std::string(status(job).at("resultUrl").as_string())};
    for (auto* client : {&live, &late, &of_jobs}) {
      const auto end = end_of(*client);
      EXPECT_EQ(end.at("jobId"), json::Value(job));
      ASSERT_TRUE(end.at("resultUrl").is_string()) << to_json(end);
      urls.insert(std::string(end.at("resultUrl").as_string()));
    }
    for (const auto& url : urls) {
      const auto got = world().get(path_of(url));
      EXPECT_EQ(got.status, 200) << result << " " << got.body;
      EXPECT_EQ(got.body, "%PDF-1.7 told");
    }
  }
}

// X-08, X-06: what is downloaded is called as its title, not as the place where it lies.
TEST_F(ApiExportFiles, AFileIsSavedUnderItsTitle) {
  const auto job = start(document());
  const auto path = store("1700000000000.pdf", "%PDF-1.7 named");
  complete_with(claim(), fmt::format(R"({{"file_path":"{}","file_name":"Zoë \"CV\".pdf"}})", path));
  const auto history = write_history(job, path, "Zoë \"CV\".pdf");
  const std::string named = R"(attachment; filename="Zo__ _CV_.pdf"; )"
                            "filename*=UTF-8''Zo%C3%AB%20%22CV%22.pdf";
  const auto linked = world().get(path_of(std::string(status(job).at("resultUrl").as_string())));
  EXPECT_EQ(linked.header("content-disposition"), named);
  EXPECT_EQ(linked.header("cache-control"), "private, max-age=3600");
  const auto found = world().get("/api/v1/export/download/" + history, token_);
  ASSERT_EQ(found.status, 302) << found.body;
  EXPECT_EQ(world().get(path_of(found.header("location"))).header("content-disposition"), named);
}

// X-08: whatever the title is, the whole of it, and a PDF.
TEST_F(ApiExportFiles, AnyTitleIsAFileName) {
  const std::string long_title(512, 'x');
  const std::vector<std::pair<std::string, std::string>> titles{
      {"Bericht 2025/26", R"(attachment; filename="Bericht 2025_26.pdf")"},
      {R"(..\..\etc)", R"(attachment; filename=".._.._etc.pdf")"},
      {long_title, fmt::format(R"(attachment; filename="{}.pdf")", long_title.substr(0, 251))},
      {"100 %; a",
       R"(attachment; filename="100 __ a.pdf"; filename*=UTF-8''100%20%25%3B%20a.pdf)"}};
  for (std::size_t i = 0; i < titles.size(); ++i) {
    const auto job = start(document());
    const auto path = store(fmt::format("odd{}.pdf", i), "%PDF-1.7 odd");
    complete_with(claim(), to_json(json::Object{{"file_path", path},
                                                {"file_name", titles[i].first + ".pdf"}}));
    const auto file = world().get(path_of(std::string(status(job).at("resultUrl").as_string())));
    EXPECT_EQ(file.status, 200) << file.body;
    EXPECT_EQ(file.header("content-disposition"), titles[i].second);
  }
}

// X-18, X-22: from the moment that it expires, whenever it is removed.
TEST_F(ApiExportFiles, WhatHasExpiredIsNowhereHandedOut) {
  const auto made = post("/api/v1/export/batch",
                         fmt::format(R"({{"documentIds":["{}","{}"]}})", document(), document()));
  ASSERT_EQ(made.status, 202) << made.body;
  const auto data = made.json().at("data");
  const auto batch = "/api/v1/export/batch/" + std::string(data.at("batchId").as_string());
  for (const auto* name : {"first.pdf", "second.pdf"}) {
    const auto held = claim();
    const auto path = store(name, std::string("%PDF-1.7 ") + name);
    complete(held, path);
    write_history(held.first, path);
  }
  const auto expire = [&](const json::Value& job) {
    const auto rows = must(
        sql_.query("update millrace.export_history set expires_at = millrace.now() - interval '1 "
                   "second' where job_id = $1::uuid returning id",
                   pg::params(std::string(job.at("jobId").as_string()))));
    return std::string(rows[0].text(0));
  };
  const auto history = expire(data.at("jobs").at(0));
  const auto gone = status(std::string(data.at("jobs").at(0).at("jobId").as_string()));
  EXPECT_EQ(gone.at("status"), json::Value("completed"));
  EXPECT_TRUE(gone.at("resultUrl").is_null());
  EXPECT_EQ(world().get("/api/v1/export/download/" + history, token_).status, 410);
  // X-16: it is no whole batch any more.
  for (const auto* what : {"/files", "/download"}) {
    const auto partial = world().get(batch + what, token_);
    EXPECT_EQ(partial.status, 409) << what << " " << partial.body;
    EXPECT_EQ(partial.json().at("message"), json::Value("Batch partially complete"));
    EXPECT_EQ(partial.json().at("details"),
              (json::Object{{"completedCount", 1},
                            {"totalCount", 2},
                            {"completedJobs", json::Array{data.at("jobs").at(1).at("jobId")}}}));
  }
  const auto files = world().get(batch + "/files?partial=true", token_);
  EXPECT_EQ(files.json().at("data").at("files").as_array().size(), 1U) << files.body;
  EXPECT_EQ(world().get(batch + "/download?partial=true", token_).status, 200);
  expire(data.at("jobs").at(1));
  EXPECT_EQ(world().get(batch + "/files", token_).status, 404);
  const auto zip = world().get(batch + "/download", token_);
  EXPECT_EQ(zip.status, 404);
  EXPECT_EQ(zip.json().at("message"), json::Value("Batch not found or incomplete"));  // X-15
}

// X-16: a batch whose jobs are all done, and one of whose files was deleted since.
TEST_F(ApiExportFiles, x16_ABatchWithoutOneOfItsFilesIsAPartOfOne) {
  const auto made = post("/api/v1/export/batch",
                         fmt::format(R"({{"documentIds":["{}","{}"]}})", document(), document()));
  ASSERT_EQ(made.status, 202) << made.body;
  const auto data = made.json().at("data");
  const auto batch = "/api/v1/export/batch/" + std::string(data.at("batchId").as_string());
  std::vector<std::pair<std::string, std::string>> exports;  // Jobs, and what the history has.
  for (const auto* name : {"kept.pdf", "deleted.pdf"}) {
    const auto held = claim();
    const auto path = store(name, std::string("%PDF-1.7 ") + name);
    complete(held, path);
    exports.emplace_back(held.first, write_history(held.first, path));
  }
  EXPECT_EQ(world().get(batch + "/download", token_).status, 200);
  EXPECT_EQ(world().get(batch + "/files", token_).status, 200);
  ASSERT_EQ(world()
                .ask({.method = "DELETE",
                      .path = "/api/v1/export/history/" + exports.at(1).second,
                      .token = token_})
                .status,
            200);
  EXPECT_EQ(world().get(batch, token_).json().at("data").at("completedCount"), json::Value(2));
  for (const auto* what : {"/download", "/files"}) {
    const auto partial = world().get(batch + what, token_);
    EXPECT_EQ(partial.status, 409) << what << " " << partial.body;
    EXPECT_EQ(partial.json().at("details").at("completedJobs"),
              (json::Array{json::Value(exports.at(0).first)}));
    EXPECT_EQ(world().get(batch + what + "?partial=true", token_).status, 200) << what;
  }
}

// X-14, X-18: who asks for the head of an archive gets it, and nothing is read: not even what is
// not there.
TEST_F(ApiExportFiles, x18_TheHeadOfAnArchiveReadsNoFile) {
  const auto made =
      post("/api/v1/export/batch", fmt::format(R"({{"documentIds":["{}"]}})", document()));
  ASSERT_EQ(made.status, 202) << made.body;
  const auto batch = std::string(made.json().at("data").at("batchId").as_string());
  const auto path = store("lost.pdf", "%PDF-1.7 lost");
  complete(claim(), path);
  must(
      sql_.query("update millrace.blob_object b set store_key = 'sha256/00/' || repeat('0', 64) "
                 "from millrace.storage_object o where o.name = $1 and o.tenant_id = b.tenant_id "
                 "and o.sha256 = b.sha256",
                 pg::params(path)));
  const auto head = ApiWorld::bytes_of(
      {.method = "HEAD", .path = "/api/v1/export/batch/" + batch + "/download", .token = token_});
  WireClient client(world().address());
  const auto heard = client.ask(head, {.head_only = true});
  EXPECT_EQ(heard.status, 200);
  EXPECT_EQ(heard.header("content-type"), "application/zip");
  // The connection is not cut, as that of who was promised bytes would be.
  ASSERT_TRUE(client.open());
  EXPECT_EQ(client.ask(head, {.head_only = true}).status, 200);
}

// X-07: a link that is made shortly before its file expires ends with it, wherever it is made; and
// what was made before opens nothing any more.
TEST_F(ApiExportFiles, x07_NoLinkOutlivesItsFile) {
  const auto made =
      post("/api/v1/export/batch", fmt::format(R"({{"documentIds":["{}"]}})", document()));
  ASSERT_EQ(made.status, 202) << made.body;
  const auto data = made.json().at("data");
  const auto job = std::string(data.at("jobs").at(0).at("jobId").as_string());
  const auto batch = "/api/v1/export/batch/" + std::string(data.at("batchId").as_string());
  const auto path = store("short.pdf", "%PDF-1.7 short");
  complete(claim(), path);
  const auto history = write_history(job, path);
  const auto expire = [&](const std::string& in) {
    must(sql_.query("update millrace.export_history set expires_at = millrace.now() + $1::interval",
                    pg::params(in)));
  };
  const auto links = [&] {
    const auto files = world().get(batch + "/files", token_).json().at("data");
    EXPECT_LE(files.at("expiresIn").as_int64(), 3600);
    const auto one =
        world().post("/storage/v1/object/sign/exports/" + path, token_, R"({"expiresIn":604800})");
    return std::vector<std::string>{
        path_of(std::string(status(job).at("resultUrl").as_string())),
        path_of(world().get("/api/v1/export/download/" + history, token_).header("location")),
        path_of(std::string(files.at("files").at(0).at("url").as_string())),
        "/storage/v1" + std::string(one.json().at("signedURL").as_string())};
  };
  const auto ends_at = [](const std::string& link) {
    const auto from = link.find("mru1_") + 5;
    const auto ticket = identity::base64url_decode(link.substr(from, link.find('.', from) - from));
    return ticket ? must(parse_json_object(*ticket)).at("e").as_int64() : 0;
  };
  const auto now = [&] {
    return must(sql_.query("select (extract(epoch from millrace.now()) * 1000)::bigint"))[0].i64(0);
  };
  const auto before = now();
  const auto long_lived = links();
  for (std::size_t i = 0; i < 3; ++i) EXPECT_GE(ends_at(long_lived[i]), before + 3'600'000) << i;

  expire("10 minutes");
  const auto short_lived = links();
  const auto after = now();
  for (const auto& link : short_lived) {
    EXPECT_GT(ends_at(link), after) << link;
    EXPECT_LE(ends_at(link), after + 600'000) << link;
    const auto file = world().get(link);
    EXPECT_EQ(file.status, 200) << file.body;
    // Nor does a copy that somebody keeps.
    const auto kept = file.header("cache-control");
    ASSERT_THAT(kept, StartsWith("private, max-age="));
    EXPECT_LE(std::stoi(kept.substr(17)), 600) << link;
  }
  expire("-1 second");
  for (const auto& link : long_lived) EXPECT_EQ(world().get(link).status / 100, 4) << link;
  EXPECT_EQ(world().get("/storage/v1/object/authenticated/exports/" + path, token_).status, 400);
  const auto late =
      world().post("/storage/v1/object/sign/exports/" + path, token_, R"({"expiresIn":60})");
  EXPECT_EQ(late.status, 400) << late.body;
}

// A picture of the first page, for whoever may see the export, until it expires or is deleted.
TEST_F(ApiExportFiles, TheFirstPageOfAnExportIsSeen) {
  const auto job = start(document());
  const auto path = "/api/v1/export/job/" + job + "/preview";
  EXPECT_EQ(world().get(path, token_).status, 404);
  store("picture.png", "%PDF-1.7 stands for a picture");
  must(sql_.query(
      "insert into millrace.artifact (id, job_id, tenant_id, kind, file_name, sha256, size_bytes, "
      "content_type, expires_at, created_at) select gen_random_uuid(), $1::uuid, o.tenant_id, "
      "'preview', 'preview.png', o.sha256, o.size_bytes, 'image/png', millrace.now() + interval "
      "'1 day', millrace.now() from millrace.storage_object o where o.tenant_id = $2 and o.name "
      "like '%picture.png'",
      pg::params(job, tenant_.value)));
  const auto seen = world().get(path, token_);
  ASSERT_EQ(seen.status, 200) << seen.body;
  EXPECT_EQ(seen.header("content-type"), "image/png");
  EXPECT_EQ(seen.body, "%PDF-1.7 stands for a picture");
  const auto stranger = world().jwt(Role::authenticated, tenant_, world().new_user());
  EXPECT_EQ(world().get(path, stranger).status, 404);
  must(
      sql_.query("update millrace.artifact set expires_at = millrace.now() - interval '1 second' "
                 "where job_id = $1::uuid",
                 pg::params(job)));
  EXPECT_EQ(world().get(path, token_).status, 404);
}

TEST_F(ApiExportFiles, ThePictureOfAnExportGoesWithIt) {  // X-26
  const auto job = start(document());
  const auto file = store("cv.pdf", "%PDF-1.7 the content");
  complete(claim(), file);
  const auto history = write_history(job, file);
  must(sql_.query(
      "insert into millrace.artifact (id, job_id, tenant_id, kind, file_name, sha256, size_bytes, "
      "content_type, expires_at, created_at) select gen_random_uuid(), $1::uuid, o.tenant_id, "
      "'preview', 'preview.png', o.sha256, o.size_bytes, 'image/png', millrace.now() + interval "
      "'1 day', millrace.now() from millrace.storage_object o where o.tenant_id = $2",
      pg::params(job, tenant_.value)));
  const auto path = "/api/v1/export/job/" + job + "/preview";
  EXPECT_EQ(world().get(path, token_).status, 200);
  const auto removed = world().ask(
      {.method = "DELETE", .path = "/api/v1/export/history/" + history, .token = token_});
  EXPECT_EQ(removed.status, 200) << removed.body;
  EXPECT_EQ(world().get(path, token_).status, 404);
}

}  // namespace
}  // namespace millrace::test
