// What is S3's own: the requests a multipart upload is made of, and answers that are not what they
// seem. Everything that all stores promise is tried in tests/blob against real servers.
#include "blob/s3_store.h"

#include "blob/store_world.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace millrace::blob {
namespace {

using namespace std::chrono_literals;
using http::answer;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

class S3Blobs : public StoreWorld {
 protected:
  void serve(std::vector<http::Step> steps, bool checksums = true) {
    script(std::move(steps));
    auto made =
        S3Store::make({.endpoint = server_->url(""),
                       .region = "eu-central-1",
                       .bucket = "docs",
                       .prefix = "p",
                       .credentials = {.access_key_id = "AKID",
                                       .secret_access_key = Secret<std::string>("topsecret")},
                       .part_bytes = 5 << 20,
                       .checksums = checksums,
                       .limits = limits()},
                      services());
    ASSERT_TRUE(made.has_value()) << made.error().message;
    store_ = *std::move(made);
  }

  static http::Step error(int status, const std::string& code) {
    return answer(status,
                  fmt::format("<?xml version=\"1.0\"?><Error><Code>{}</Code><Message>topsecret "
                              "https://h/?X-Amz-Signature=1</Message></Error>",
                              code));
  }
  static http::Step started() {
    return answer(200,
                  "<InitiateMultipartUploadResult><UploadId>up/1</UploadId>"
                  "</InitiateMultipartUploadResult>");
  }
  static http::Step part_done(int number) {
    return answer(200, "", fmt::format("ETag: \"e{}\"\r\n", number));
  }
  static http::Step completed() { return answer(200, "<CompleteMultipartUploadResult/>"); }
  static http::Step head(std::size_t size, std::string_view day = "Tue, 01 Jan 2030") {
    return {.reply = fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n"
                                 "Last-Modified: {} 00:00:00 GMT\r\n\r\n",
                                 size, day)};
  }
  static http::Step old_head() { return head(3, "Sat, 01 Dec 2029"); }

  const std::string large_ = std::string(5 << 20, 'a') + "tail";
  const std::string path_ = "/docs/p/" + BlobKey{sha256(large_)}.text();
};

TEST_F(S3Blobs, SmallContentIsOnePutUnderItsNameWithItsDigest) {
  serve({answer(200, "")});
  ASSERT_TRUE(put("abc", {.content_type = "text/plain"}).has_value());
  EXPECT_EQ(line(0),
            "PUT /docs/p/sha256/ba/"
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_THAT(
      request(0),
      AllOf(HasSubstr("x-amz-content-sha256: ba7816bf8f01cfea4141"),
            HasSubstr("x-amz-checksum-sha256: ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="),
            HasSubstr("Content-Type: text/plain\r\n"), HasSubstr("x-amz-date: 20300101T"),
            HasSubstr("SignedHeaders=content-type;host;x-amz-checksum-sha256;"),
            EndsWith("\r\n\r\nabc"), Not(HasSubstr("topsecret"))));
  EXPECT_THAT(server_->requests(), SizeIs(1));
}

TEST_F(S3Blobs, LargeContentIsAMultipartUploadToTheFinalName) {
  serve({started(), part_done(1), part_done(2), completed(), head(large_.size())});
  const auto stored = put(large_);
  ASSERT_TRUE(stored.has_value()) << stored.error().message;
  EXPECT_EQ(stored->size_bytes, large_.size());
  EXPECT_EQ(line(0), "POST " + path_ + "?uploads=");
  EXPECT_THAT(request(0), HasSubstr("x-amz-checksum-algorithm: SHA256\r\n"));
  EXPECT_EQ(line(1), "PUT " + path_ + "?partNumber=1&uploadId=up%2F1");
  EXPECT_EQ(body(1), large_.substr(0, 5 << 20));
  EXPECT_EQ(line(2), "PUT " + path_ + "?partNumber=2&uploadId=up%2F1");
  EXPECT_EQ(body(2), "tail");
  EXPECT_THAT(request(2), HasSubstr("x-amz-content-sha256: " + sha256("tail").hex()));
  EXPECT_EQ(line(3), "POST " + path_ + "?uploadId=up%2F1");
  EXPECT_EQ(body(3),
            fmt::format("<CompleteMultipartUpload>"
                        "<Part><PartNumber>1</PartNumber><ETag>&quot;e1&quot;</ETag>"
                        "<ChecksumSHA256>{}</ChecksumSHA256></Part>"
                        "<Part><PartNumber>2</PartNumber><ETag>&quot;e2&quot;</ETag>"
                        "<ChecksumSHA256>{}</ChecksumSHA256></Part>"
                        "</CompleteMultipartUpload>",
                        sha256(large_.substr(0, 5 << 20)).base64(), sha256("tail").base64()));
  EXPECT_EQ(line(4), "HEAD " + path_);
}

TEST_F(S3Blobs, ChecksumsCanBeLeftOutForServersThatRefuseThem) {
  serve({started(), part_done(1), part_done(2), completed(), head(large_.size())}, false);
  ASSERT_TRUE(put(large_).has_value());
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_THAT(request(i), AllOf(Not(HasSubstr("x-amz-checksum")), Not(HasSubstr("Checksum"))));
  }
}

TEST_F(S3Blobs, APartIsSentAgainFromTheSpool) {
  serve({started(),
         error(503, "SlowDown"),
         {.cut = 0},
         part_done(1),
         part_done(2),
         completed(),
         head(large_.size())});
  ASSERT_TRUE(put(large_).has_value());
  EXPECT_EQ(body(1), body(2));
  EXPECT_EQ(body(2), body(3));
  EXPECT_EQ(line(3), line(1));
}

TEST_F(S3Blobs, AFailedUploadIsAborted) {
  serve({started(), part_done(1), error(403, "AccessDenied"), answer(204, "")});
  const auto stored = put(large_);
  ASSERT_FALSE(stored.has_value());
  EXPECT_EQ(stored.error().kind, ErrorKind::internal);
  EXPECT_THAT(stored.error().message, StartsWith("s3: put part 2 of sha256/"));
  EXPECT_EQ(line(3), "DELETE " + path_ + "?uploadId=up%2F1");
}

// INTEGRATIONS 4.4: completing can answer 200 with an error inside.
TEST_F(S3Blobs, CompletedWithAnErrorInsideIsNotCompleted) {
  serve({started(), part_done(1), part_done(2), error(200, "InternalError"), completed(),
         head(large_.size())});
  EXPECT_TRUE(put(large_).has_value());
  EXPECT_EQ(line(3), line(4));
  serve({started(), part_done(1), part_done(2), error(200, "InternalError")});
  EXPECT_EQ(put(large_).error().kind, ErrorKind::unavailable);
}

TEST_F(S3Blobs, CompletedWhoseAnswerWasLostIsFoundByTheObject) {
  serve({started(),
         part_done(1),
         part_done(2),
         {.cut = 0},
         error(404, "NoSuchUpload"),
         head(large_.size())});
  EXPECT_TRUE(put(large_).has_value());
  serve({started(),
         part_done(1),
         part_done(2),
         {.cut = 0},
         error(404, "NoSuchUpload"),
         {.reply = "HTTP/1.1 404 Not Found\r\n\r\n", .close = true}});
  EXPECT_EQ(put(large_).error().kind, ErrorKind::unavailable) << "somebody aborted it";
}

TEST_F(S3Blobs, StoredWithAnotherSizeIsAnError) {
  serve({started(), part_done(1), part_done(2), completed(), head(7)});
  EXPECT_EQ(put(large_).error().kind, ErrorKind::internal);
}

TEST_F(S3Blobs, RefusalsAreSortedByWhatToDo) {
  const std::pair<http::Step, ErrorKind> cases[] = {
      {error(404, "NoSuchKey"), ErrorKind::not_found},
      {error(404, "NoSuchBucket"), ErrorKind::internal},
      {error(503, "SlowDown"), ErrorKind::throttled},
      {error(429, "Whatever"), ErrorKind::throttled},
      {error(500, "InternalError"), ErrorKind::unavailable},
      {error(400, "RequestTimeout"), ErrorKind::unavailable},
      {error(400, "XAmzContentSHA256Mismatch"), ErrorKind::unavailable},
      {error(400, "EntityTooLarge"), ErrorKind::invalid_argument},
      {error(403, "SignatureDoesNotMatch"), ErrorKind::internal},
      {error(403, "RequestTimeTooSkewed"), ErrorKind::internal},
      {answer(502, "<html>bad gateway</html>"), ErrorKind::unavailable},
  };
  for (const auto& [step, kind] : cases) {
    serve({step});
    const auto stored = put("abc");
    ASSERT_FALSE(stored.has_value());
    EXPECT_EQ(stored.error().kind, kind) << stored.error().message;
    EXPECT_THAT(stored.error().describe(),
                AllOf(Not(HasSubstr("topsecret")), Not(HasSubstr("Signature=")),
                      Not(HasSubstr("https://"))));
  }
}

TEST_F(S3Blobs, SweepAbortsUploadsThatAreOldAndOurs) {
  const auto key = BlobKey{sha256("x")}.text();
  const auto upload = [](const std::string& name, const std::string& id, const std::string& time) {
    return fmt::format(
        "<Upload><Key>{}</Key><UploadId>{}</UploadId><Initiated>{}</Initiated></Upload>", name, id,
        time);
  };
  serve({answer(200,
                "<ListMultipartUploadsResult><IsTruncated>true</IsTruncated>"
                "<NextKeyMarker>k</NextKeyMarker><NextUploadIdMarker>i</NextUploadIdMarker>" +
                    upload("p/" + key, "old", "2029-12-30T00:00:00.000Z") +
                    upload("p/" + key, "young", "2029-12-31T12:00:00.000Z") +
                    upload("p/sha256/notes", "foreign", "2029-01-01T00:00:00.000Z") +
                    "</ListMultipartUploadsResult>"),
         answer(204, ""),
         answer(200, "<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>" +
                         upload("p/" + key, "older", "2029-01-01T00:00:00.000Z") +
                         "</ListMultipartUploadsResult>"),
         error(404, "NoSuchUpload")});
  EXPECT_EQ(run(store_->sweep_staging(24h)).value(), 2U);
  EXPECT_EQ(line(0), "GET /docs?uploads=&max-uploads=1000&prefix=p%2Fsha256%2F");
  EXPECT_EQ(line(1), "DELETE /docs/p/" + key + "?uploadId=old");
  EXPECT_THAT(line(2), EndsWith("&key-marker=k&upload-id-marker=i"));
  EXPECT_EQ(line(3), "DELETE /docs/p/" + key + "?uploadId=older");
}

TEST_F(S3Blobs, ListTakesNothingButBlobs) {
  const auto key = BlobKey{sha256("x")}.text();
  serve({answer(200,
                "<ListBucketResult><IsTruncated>true</IsTruncated>"
                "<NextContinuationToken>to/ken</NextContinuationToken>"
                "<Contents><Key>p/" +
                    key +
                    "</Key><Size>17</Size>"
                    "<LastModified>2029-12-30T00:00:00.000Z</LastModified></Contents>"
                    "<Contents><Key>p/sha256/README</Key></Contents></ListBucketResult>"),
         answer(200, "<ListBucketResult/>")});
  const auto page = run(store_->list({.limit = 2}));
  ASSERT_TRUE(page.has_value()) << page.error().message;
  ASSERT_THAT(page->blobs, SizeIs(1));
  EXPECT_EQ(page->blobs[0].key.text(), key);
  EXPECT_EQ(page->blobs[0].size_bytes, 17U);
  EXPECT_EQ(page->cursor, "to/ken");
  EXPECT_EQ(run(store_->list({.cursor = page->cursor}))->cursor, "");
  EXPECT_THAT(line(1), EndsWith("&continuation-token=to%2Fken"));
}

TEST_F(S3Blobs, AmazonsBucketsAreNamedByTheHost) {
  const auto made =
      S3Store::make({.region = "eu-central-1",
                     .bucket = "docs",
                     .credentials = {.access_key_id = "AKID",
                                     .secret_access_key = Secret<std::string>("topsecret")},
                     .limits = limits()},
                    services());
  ASSERT_TRUE(made.has_value());
  const BlobKey key{sha256("abc")};
  const auto url = run((*made)->signed_url(key, {.ttl = 60s, .file_name = "a.pdf"}));
  EXPECT_THAT(
      url->value().url.reveal(),
      AllOf(StartsWith("https://docs.s3.eu-central-1.amazonaws.com/" + key.text() + "?"),
            HasSubstr("&X-Amz-Expires=60&"),
            HasSubstr("response-content-disposition=attachment%3B%20filename%3D%22a.pdf%22")));
  EXPECT_EQ(url->value().expires_at, clock_.wall() + 60s);
}

TEST_F(S3Blobs, ARemovalIsRepeatedOnlyAfterAnotherLookAtTheAge) {  // U-08
  const BlobKey key{sha256("abc")};
  const auto before = clock_.wall() - 2h;
  serve({old_head(), error(503, "SlowDown"), head(3)});  // Stored again in the pause.
  const auto kept = run(store_->remove(key, {.if_modified_before = before}));
  ASSERT_TRUE(kept.has_value()) << kept.error().message;
  EXPECT_FALSE(*kept);
  EXPECT_THAT(server_->requests(), SizeIs(3));
  EXPECT_THAT(line(1), StartsWith("DELETE "));
  EXPECT_THAT(line(2), StartsWith("HEAD "));

  serve({old_head(), {.cut = 0}, old_head(), answer(204, "")});
  EXPECT_TRUE(run(store_->remove(key, {.if_modified_before = before})).value());
  EXPECT_THAT(line(3), StartsWith("DELETE "));
}

TEST_F(S3Blobs, ARemovalWithoutAnAnswerThatWasDoneIsDone) {
  serve({old_head(), {.cut = 0}, {.reply = "HTTP/1.1 404 Not Found\r\n\r\n", .close = true}});
  const auto removed =
      run(store_->remove(BlobKey{sha256("abc")}, {.if_modified_before = clock_.wall() - 2h}));
  ASSERT_TRUE(removed.has_value()) << removed.error().message;
  EXPECT_TRUE(*removed);
  EXPECT_THAT(server_->requests(), SizeIs(3));
}

TEST_F(S3Blobs, OptionsThatCannotWorkAreRefusedByName) {
  const auto refused = [this](auto change) {
    S3Options options{
        .bucket = "docs",
        .credentials = {.access_key_id = "AKID", .secret_access_key = Secret<std::string>("s")},
        .limits = limits()};
    change(options);
    const auto made = S3Store::make(std::move(options), services());
    return made ? std::string("accepted") : made.error().message;
  };
  EXPECT_THAT(refused([](S3Options& o) { o.bucket = "a/b"; }), StartsWith("bucket must be"));
  EXPECT_THAT(refused([](S3Options& o) { o.region = ""; }), StartsWith("region must be"));
  EXPECT_THAT(refused([](S3Options& o) { o.endpoint = "s3.example.com"; }),
              StartsWith("endpoint must"));
  EXPECT_THAT(refused([](S3Options& o) { o.public_endpoint = "x"; }),
              StartsWith("public_endpoint must"));
  EXPECT_THAT(refused([](S3Options& o) { o.prefix = "../x"; }), StartsWith("prefix must be"));
  EXPECT_THAT(refused([](S3Options& o) { o.part_bytes = 1; }), StartsWith("part_bytes must be"));
  EXPECT_THAT(refused([](S3Options& o) { o.credentials.access_key_id = ""; }),
              StartsWith("access_key_id is not set"));
  EXPECT_THAT(refused([](S3Options& o) { o.credentials.secret_access_key = {}; }),
              StartsWith("secret_access_key is not set"));
  EXPECT_THAT(refused([](S3Options& o) { o.limits.spool_folder = ""; }),
              StartsWith("spool_folder"));
}

}  // namespace
}  // namespace millrace::blob
