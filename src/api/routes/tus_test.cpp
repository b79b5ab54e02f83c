#include "api/routes/tus.h"

#include "api/api_fixture.h"
#include "api/schemas.h"
#include "api/upload/upload_fixture.h"

#include <gmock/gmock.h>

namespace millrace::api {
namespace {

using identity::Role;
using testing::HasSubstr;

const TenantId kTenant = *TenantId::parse("11111111-1111-4111-8111-111111111111");
const identity::UserId kUser{*Uuid::parse("22222222-2222-4222-8222-222222222222")};
const std::string kPiece = "Content-Type: application/offset+octet-stream\r\n";

class TusRoutes : public testing::Test {
 protected:
  std::string user() { return ApiFixture::bearer(api_.token(Role::authenticated, kTenant, kUser)); }
  http::Reply ask(const std::string& method, const std::string& path, const std::string& headers,
                  const std::string& body = {}, const std::string& version = "1.0.0") {
    auto bytes = method + " " + path + " HTTP/1.1\r\nHost: test\r\n" + user() + headers;
    if (!version.empty()) bytes += "Tus-Resumable: " + version + "\r\n";
    if (method != "HEAD" && method != "GET") {
      bytes += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    }
    return http::RawClient(api_.address()).ask(bytes + "\r\n" + body, method == "HEAD");
  }
  std::string create(const std::string& headers, const std::string& body = {}) {
    const auto reply = ask("POST", "/api/v1/tus", headers, body);
    EXPECT_EQ(reply.status, 201) << reply.body;
    return reply.header("location");
  }
  http::Reply patch(const std::string& path, int offset, const std::string& body,
                    const std::string& headers = {}) {
    return ask("PATCH", path,
               kPiece + "Upload-Offset: " + std::to_string(offset) + "\r\n" + headers, body);
  }

  SystemClock clock_;
  SeededRandom random_{13};
  Logger log_ = Logger::silent();
  MemoryBlobs blobs_{clock_};
  MemoryUploads uploads_{clock_, random_};
  UploadEngine engine_{
      {.uploads = uploads_, .blobs = blobs_, .clock = clock_, .random = random_, .log = log_}};
  ApiFixture api_{tus_operations(engine_, {}), {}, component_schemas()};
};

TEST_F(TusRoutes, AnUploadGoesOnWhereItStands) {
  const auto path = create("Upload-Length: 11\r\nUpload-Metadata: filename aGVsbG8udHh0\r\n");
  EXPECT_THAT(path, HasSubstr("/api/v1/tus/"));
  const auto first = patch(path, 0, "hello ");
  EXPECT_EQ(first.status, 204) << first.body;
  EXPECT_EQ(first.header("upload-offset"), "6");
  EXPECT_EQ(first.header("tus-resumable"), "1.0.0");
  EXPECT_THAT(first.header("upload-expires"), HasSubstr("GMT"));
  const auto head = ask("HEAD", path, {});
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.header("upload-offset"), "6");
  EXPECT_EQ(head.header("upload-length"), "11");
  EXPECT_EQ(head.header("cache-control"), "no-store");
  EXPECT_EQ(head.header("upload-metadata"), "filename aGVsbG8udHh0");
  const auto last = patch(path, 6, "world");
  EXPECT_EQ(last.status, 204) << last.body;
  EXPECT_EQ(last.header("upload-offset"), "11");
  ASSERT_EQ(uploads_.files.size(), 1U);
  const auto file = uploads_.files.begin()->second;
  EXPECT_EQ(last.header("content-location"), "/api/v1/files/" + MemoryUploads::member(file, "id"));
  EXPECT_EQ(blobs_.kept[MemoryUploads::member(file, "storage_path")].bytes, "hello world");
  EXPECT_EQ(MemoryUploads::member(file, "file_name"), "hello.txt");
  const auto shown = object_of(ask("GET", path, {}));
  EXPECT_EQ(text_of(shown, "state"), "done");
  EXPECT_EQ(ask("HEAD", path, {}).header("upload-offset"), "11");
}

TEST_F(TusRoutes, FirstBytesMayComeWithTheAnnouncement) {
  const auto all = ask("POST", "/api/v1/tus", kPiece + "Upload-Length: 5\r\n", "hello");
  EXPECT_EQ(all.status, 201) << all.body;
  EXPECT_EQ(all.header("upload-offset"), "5");
  EXPECT_EQ(uploads_.files.size(), 1U);
  const auto some = ask("POST", "/api/v1/tus", kPiece + "Upload-Length: 5\r\n", "he");
  EXPECT_EQ(some.header("upload-offset"), "2");
  EXPECT_EQ(ask("POST", "/api/v1/tus", "Upload-Length: 0\r\n").status, 201);
  EXPECT_EQ(uploads_.files.size(), 2U) << "an empty file is a file";
}

TEST_F(TusRoutes, WhatIsWrongHasTheStatusThatTusGivesIt) {
  const auto path = create("Upload-Length: 6\r\n");
  EXPECT_EQ(patch(path, 1, "x").status, 409);
  EXPECT_EQ(ask("PATCH", path, "Upload-Offset: 0\r\nContent-Type: text/plain\r\n", "x").status,
            415);
  EXPECT_EQ(ask("PATCH", path, "Upload-Offset: 0\r\n", "x").status, 415);
  EXPECT_EQ(ask("PATCH", path, kPiece, "x").status, 400) << "no offset";
  EXPECT_EQ(patch(path, 0, "1234567").status, 413);
  const auto version = ask("HEAD", path, {}, {}, "0.2.2");
  EXPECT_EQ(version.status, 412);
  EXPECT_EQ(version.header("tus-version"), "1.0.0");
  EXPECT_EQ(ask("HEAD", path, {}, {}, "").status, 412);
  const auto unknown = "/api/v1/tus/0190a000-0000-7000-8000-00000000ffff";
  EXPECT_EQ(ask("HEAD", unknown, {}).status, 404);
  EXPECT_EQ(patch(unknown, 0, "x").status, 404);
  EXPECT_EQ(ask("POST", "/api/v1/tus", {}).status, 400) << "no length";
  EXPECT_EQ(ask("POST", "/api/v1/tus", "Upload-Length: 1\r\nUpload-Defer-Length: 1\r\n").status,
            400);
  EXPECT_EQ(ask("POST", "/api/v1/tus", "Upload-Length: -1\r\n").status, 400);
  EXPECT_EQ(ask("POST", "/api/v1/tus", "Upload-Length: 1\r\nUpload-Metadata: a !\r\n").status, 400);
}

TEST_F(TusRoutes, AChecksumIsHeldAgainstThePiece) {
  const auto path = create("Upload-Length: 6\r\n");
  const std::string of_abc = "Upload-Checksum: sha1 qZk+NkcGgWq6PiVxeFDCbJzQ2J0=\r\n";
  EXPECT_EQ(patch(path, 0, "abd", of_abc).status, 460);
  EXPECT_EQ(ask("HEAD", path, {}).header("upload-offset"), "0");
  EXPECT_EQ(patch(path, 0, "abc", of_abc).status, 204);
  EXPECT_EQ(patch(path, 3, "abc", "Upload-Checksum: crc32 AAAA\r\n").status, 400);
  EXPECT_EQ(patch(path, 3, "abc", of_abc).header("upload-offset"), "6");
}

TEST_F(TusRoutes, WhatWasGivenUpIsGone) {
  const auto path = create("Upload-Length: 6\r\n");
  EXPECT_EQ(ask("DELETE", path, {}).status, 204);
  EXPECT_EQ(ask("HEAD", path, {}).status, 410);
  EXPECT_EQ(patch(path, 0, "x").status, 410);
  EXPECT_EQ(ask("GET", path, {}).status, 410);
  const auto done = create(kPiece + "Upload-Length: 1\r\n", "x");
  EXPECT_EQ(ask("DELETE", done, {}).status, 409) << "it is a file now";
}

TEST_F(TusRoutes, ALengthMayBeSaidLater) {
  const auto path = create("Upload-Defer-Length: 1\r\n");
  EXPECT_EQ(ask("HEAD", path, {}).header("upload-defer-length"), "1");
  EXPECT_EQ(patch(path, 0, "abc").header("upload-offset"), "3");
  EXPECT_EQ(patch(path, 3, "def", "Upload-Length: 6\r\n").status, 204);
  EXPECT_EQ(uploads_.files.size(), 1U);
}

// A client that lost its list of uploads begins anew, with the key it had before.
TEST_F(TusRoutes, AKeyThatHasItsFileGivesItAgainForTheSameContentOnly) {  // F01, F02
  const std::string key = "Upload-Metadata: idempotency_key a2V5LTE=\r\n";
  const auto first = ask("POST", "/api/v1/tus", kPiece + key + "Upload-Length: 5\r\n", "hello");
  ASSERT_EQ(first.status, 201) << first.body;
  EXPECT_EQ(first.header("idempotent-replayed"), "");
  const auto same = create(key + "Upload-Length: 5\r\n");
  const auto done = patch(same, 0, "hello");
  EXPECT_EQ(done.status, 204) << done.body;
  EXPECT_EQ(done.header("idempotent-replayed"), "true");
  EXPECT_EQ(done.header("content-location"), first.header("content-location"));
  EXPECT_EQ(ask("HEAD", same, {}).header("upload-offset"), "5");
  // As long as the first, and of a length that nobody said.
  const auto other = create(key + "Upload-Length: 5\r\n");
  EXPECT_EQ(patch(other, 0, "HELLO").status, 422);
  const auto deferred = create(key + "Upload-Defer-Length: 1\r\n");
  EXPECT_EQ(patch(deferred, 0, "HELLO", "Upload-Length: 5\r\n").status, 422);
  EXPECT_EQ(ask("POST", "/api/v1/tus", kPiece + key + "Upload-Length: 5\r\n", "HELLO").status, 422);
  EXPECT_EQ(ask("POST", "/api/v1/tus", key + "Upload-Length: 6\r\n").status, 422);
  EXPECT_EQ(uploads_.files.size(), 1U);
}

TEST_F(TusRoutes, AskingWhereAnUploadStandsMakesNobodyWork) {
  const auto path = create("Upload-Defer-Length: 1\r\n");
  ASSERT_EQ(patch(path, 0, "abc").status, 204);
  uploads_.refusals.push_back({.kind = ErrorKind::internal, .message = "the server died"});
  EXPECT_EQ(patch(path, 3, "", "Upload-Length: 3\r\n").status, 500);
  const auto finishes = uploads_.finishes;
  const auto opened = blobs_.opened;
  for (const auto* method : {"HEAD", "GET"}) {
    EXPECT_EQ(ask(method, path, {}).status, 200);
  }
  EXPECT_EQ(ask("HEAD", path, {}).header("upload-defer-length"), "1") << "it is not done";
  EXPECT_EQ(uploads_.finishes, finishes);
  EXPECT_EQ(blobs_.opened, opened);
  EXPECT_EQ(patch(path, 3, "", "Upload-Length: 3\r\n").status, 204);
  EXPECT_EQ(uploads_.files.size(), 1U);
}

TEST_F(TusRoutes, MetadataMayNameThePipeline) {  // U-11
  create("Upload-Length: 6\r\nUpload-Metadata: pipeline aW5nZXN0\r\n");
  EXPECT_EQ(uploads_.rows.begin()->second.announced.pipeline, "ingest");
  EXPECT_EQ(
      ask("POST", "/api/v1/tus", "Upload-Length: 6\r\nUpload-Metadata: pipeline WCBY\r\n").status,
      400);
}

TEST_F(TusRoutes, DiscoveryNamesWhatCanBeDone) {
  const auto reply = ask("OPTIONS", "/api/v1/tus", {}, {}, "");
  EXPECT_EQ(reply.status, 204) << reply.body;
  EXPECT_EQ(reply.header("tus-version"), "1.0.0");
  EXPECT_THAT(reply.header("tus-extension"), HasSubstr("creation-with-upload"));
  EXPECT_THAT(reply.header("tus-checksum-algorithm"), HasSubstr("sha1"));
}

TEST(TusMetadata, IsNamesAndBase64) {
  const auto metadata = parse_tus_metadata("filename aGVsbG8udHh0, is_confidential,empty ");
  ASSERT_TRUE(metadata) << metadata.error().message;
  EXPECT_EQ(metadata->at("filename"), "hello.txt");
  EXPECT_EQ(metadata->at("is_confidential"), "");
  EXPECT_EQ(metadata->at("empty"), "");
  EXPECT_TRUE(parse_tus_metadata("")->empty());
  for (const auto* bad : {"a !", "a YQ==,a YQ==", ",", "a b c", "n\xc3\xa4me YQ==", "a AA=="}) {
    EXPECT_FALSE(parse_tus_metadata(bad)) << bad;
  }
}

}  // namespace
}  // namespace millrace::api
