#include "api/routes/uploads.h"

#include "api/api_fixture.h"
#include "api/schemas.h"
#include "api/upload/checksum.h"
#include "api/upload/request_content.h"
#include "api/upload/upload_fixture.h"

#include <gmock/gmock.h>

namespace millrace::api {
namespace {

using identity::Role;
using testing::HasSubstr;

const TenantId kTenant = *TenantId::parse("11111111-1111-4111-8111-111111111111");
const identity::UserId kUser{*Uuid::parse("22222222-2222-4222-8222-222222222222")};
const std::string kPatient = "33333333-3333-4333-8333-333333333333";

std::string field(const std::string& name, const std::string& value) {
  return "--edge\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n";
}
std::string file_part(const std::string& name, const std::string& content) {
  return "--edge\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + name +
         "\"\r\nContent-Type: image/png\r\n\r\n" + content + "\r\n";
}
const std::string kEnd = "--edge--\r\n";

class UploadRoutes : public testing::Test {
 protected:
  std::string user() { return ApiFixture::bearer(api_.token(Role::authenticated, kTenant, kUser)); }
  std::string service() { return ApiFixture::bearer(api_.token(Role::service_role, kTenant)); }
  http::Reply form(const std::string& body, const std::string& headers,
                   const std::string& query = {}) {
    return api_.ask(http::post("/api/v1/uploads" + query, body,
                               "Content-Type: multipart/form-data; boundary=edge\r\n" + headers));
  }
  http::Reply send(const std::string& body, const std::string& headers,
                   const std::string& query = {}) {
    return api_.ask(http::post("/api/v1/uploads" + query, body, headers));
  }
  http::Reply put(const std::string& key, const std::string& body) {
    return api_.ask("PUT /api/v1/uploads/" + key + " HTTP/1.1\r\nHost: test\r\nContent-Length: " +
                    std::to_string(body.size()) + "\r\n" + user() + "\r\n" + body);
  }
  std::string content_of(const http::Reply& reply) {
    return blobs_.kept[text_of(object_of(reply), "storage_path")].bytes;
  }
  const store::NewUpload& announced() const { return uploads_.rows.begin()->second.announced; }
  void expect_nothing_left() {
    EXPECT_EQ(uploads_.reserved(), 0);
    EXPECT_EQ(blobs_.writers, 0U);
    EXPECT_TRUE(blobs_.kept.empty());
    EXPECT_TRUE(uploads_.files.empty());
  }

  SystemClock clock_;
  SeededRandom random_{11};
  Logger log_ = Logger::silent();
  MemoryBlobs blobs_{clock_};
  MemoryUploads uploads_{clock_, random_};
  UploadEngine engine_{
      {.uploads = uploads_, .blobs = blobs_, .clock = clock_, .random = random_, .log = log_}};
  ApiFixture api_{upload_operations(engine_, {}), {}, component_schemas()};
};

TEST_F(UploadRoutes, AFormBecomesAFileOfItsSender) {  // H-20, U-04, U-10
  const auto reply = form(field("patient_id", kPatient) + field("idempotency_key", "a_b_1_2") +
                              file_part("C:\\scans\\Befund.pdf", "%PDF-1.7 content") + kEnd,
                          user() + "x-correlation-id: order-17\r\n");
  ASSERT_EQ(reply.status, 201) << reply.body;
  const auto file = object_of(reply);
  EXPECT_EQ(reply.header("location"), "/api/v1/files/" + text_of(file, "id"));
  EXPECT_EQ(text_of(file, "content_type"), "application/pdf") << "by its content";
  EXPECT_EQ(content_of(reply), "%PDF-1.7 content");
  EXPECT_EQ(announced().user, kUser.value);
  EXPECT_EQ(announced().patient->to_string(), kPatient);
  EXPECT_EQ(announced().idempotency_key, "a_b_1_2");
  EXPECT_EQ(announced().file_name, "Befund.pdf");
  EXPECT_EQ(announced().correlation_id, "order-17");
  EXPECT_THAT(announced().traceparent, HasSubstr("00-"));
}

TEST_F(UploadRoutes, ABodyIsAFileToo) {
  const auto reply =
      send("%PDF-1.7 raw", user() +
                               "Content-Type: application/pdf\r\nContent-Disposition: "
                               "attachment; filename*=UTF-8''M%C3%A4rz.pdf\r\n");
  ASSERT_EQ(reply.status, 201) << reply.body;
  EXPECT_EQ(content_of(reply), "%PDF-1.7 raw");
  EXPECT_EQ(announced().size_bytes, 12);
  EXPECT_EQ(announced().file_name, "März.pdf");
  EXPECT_EQ(send("x", user(), "?file_name=a.txt").status, 201);
  EXPECT_EQ(send("", user()).status, 201) << "nothing is content, too";
}

TEST_F(UploadRoutes, ABodyOfUnknownLengthIsReadToItsEnd) {
  const auto reply = api_.ask("POST /api/v1/uploads HTTP/1.1\r\nHost: test\r\n" + user() +
                              "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n"
                              "0\r\n\r\n");
  ASSERT_EQ(reply.status, 201) << reply.body;
  EXPECT_EQ(content_of(reply), "hello world");
}

TEST_F(UploadRoutes, ARepeatGetsTheSameAnswerAndSaysSo) {  // U-03, F02
  const auto first = put("key-1", "content");
  const auto second = put("key-1", "content");
  ASSERT_EQ(first.status, 201) << first.body;
  EXPECT_EQ(second.status, 201);
  EXPECT_EQ(first.body, second.body);
  EXPECT_EQ(first.header("idempotent-replayed"), "");
  EXPECT_EQ(second.header("idempotent-replayed"), "true");
  EXPECT_EQ(put("key-1", "CONTENT").status, 422);
  const auto by_header = send("content", user() + "Idempotency-Key: \"key-1\"\r\n");
  EXPECT_EQ(by_header.body, first.body);
  const auto by_field =
      form(field("idempotency_key", "key-1") + file_part("a", "content") + kEnd, user());
  EXPECT_EQ(by_field.body, first.body);
  EXPECT_EQ(uploads_.files.size(), 1U);
}

TEST_F(UploadRoutes, AFormThatIsNotAsItMustBeLeavesNothing) {
  const auto file = file_part("a.pdf", "content");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {field("patient_id", kPatient) + kEnd, "no file"},
      {file + field("patient_id", kPatient) + kEnd, "before its file"},
      {file + file + kEnd, "one file"},
      {field("color", "blue") + file + kEnd, "color"},
      {field("patient_id", "me") + file + kEnd, "patient_id must be a uuid"},
      {field("patient_id", kPatient) + field("patient_id", kPatient) + file + kEnd, "twice"},
      {field("idempotency_key", std::string(9000, 'k')) + file + kEnd, "idempotency_key"},
      {field("idempotency_key", std::string("a\0b", 3)) + file + kEnd, "U+0000"},
      {file, "closing boundary"},
      {"not a form at all", ""}};
  for (const auto& [body, word] : cases) {
    const auto reply = form(body, user());
    EXPECT_EQ(reply.status, 400) << reply.body;
    EXPECT_THAT(reply.body, HasSubstr(word));
    expect_nothing_left();
  }
  EXPECT_EQ(
      form(field("idempotency_key", "a") + file + kEnd, user() + "Idempotency-Key: b\r\n").status,
      400)
      << "two keys";
}

TEST_F(UploadRoutes, PeopleUploadForThemselvesAndServicesForWhomTheyName) {  // T-02, U-10
  const auto other = "?owner_id=44444444-4444-4444-8444-444444444444";
  EXPECT_EQ(send("x", user(), other).status, 400);
  ASSERT_EQ(send("x", service(), other).status, 201);
  EXPECT_EQ(announced().user->to_string(), "44444444-4444-4444-8444-444444444444");
  EXPECT_EQ(send("x", {}).status, 401);
  EXPECT_EQ(send("x", ApiFixture::bearer(api_.token(Role::anon, kTenant))).status, 403);
  EXPECT_EQ(send("x", ApiFixture::bearer(api_.key(Role::reader, kTenant))).status, 403);
}

TEST_F(UploadRoutes, WhatDoesNotFitHasAStatusOfItsOwn) {  // H-16
  uploads_.quota_bytes = 4;
  EXPECT_EQ(send("12345", user()).status, 507);
  uploads_.quota_bytes = 1 << 20;
  uploads_.size_max_bytes = 4;
  EXPECT_EQ(send("12345", user()).status, 413);
  expect_nothing_left();
}

TEST_F(UploadRoutes, ADigestThatDoesNotFitIsRefused) {  // RFC 9530
  const std::string abc = "sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:";
  EXPECT_EQ(send("abc", user() + "Content-Digest: " + abc + "\r\n").status, 201);
  EXPECT_EQ(send("abd", user() + "Content-Digest: " + abc + "\r\n").status, 400);
  EXPECT_EQ(send("abc", user() + "Repr-Digest: nonsense\r\n").status, 400);
  EXPECT_EQ(uploads_.files.size(), 1U);
}

TEST_F(UploadRoutes, ADigestOfAFormIsThatOfItsWholeBody) {  // RFC 9530
  const auto body = file_part("a.txt", "abc") + kEnd + "behind the last boundary";
  const auto digest = [](const std::string& text) {
    return "Content-Digest: " + content_digest(blob::sha256(text).hex()) + "\r\n";
  };
  EXPECT_EQ(form(body, user() + digest(body)).status, 201);
  EXPECT_EQ(form(body, user() + digest("abc")).status, 400);
  EXPECT_EQ(uploads_.files.size(), 1U);
  EXPECT_EQ(uploads_.reserved(), 0);
}

TEST_F(UploadRoutes, DigestsThatContradictEachOtherAreRefused) {
  const auto digest = [](const char* name, const char* text) {
    return std::string(name) + ": " + content_digest(blob::sha256(text).hex()) + "\r\n";
  };
  const auto both = user() + digest("Content-Digest", "abd") + digest("Repr-Digest", "abc");
  EXPECT_EQ(send("abc", both).status, 400);
  expect_nothing_left();
  EXPECT_EQ(
      send("abc", user() + digest("Content-Digest", "abc") + digest("Repr-Digest", "abc")).status,
      201);
}

TEST_F(UploadRoutes, ARepeatWithAWrongDigestIsRefusedToo) {
  const auto key = user() + "Idempotency-Key: key-1\r\n";
  const auto wrong = "Content-Digest: " + content_digest(blob::sha256("x").hex()) + "\r\n";
  ASSERT_EQ(send("abc", key).status, 201);
  EXPECT_EQ(send("abc", key + wrong).status, 400);
  EXPECT_EQ(send("abc", key).header("idempotent-replayed"), "true");
}

TEST_F(UploadRoutes, APipelineIsNamed) {  // U-11
  ASSERT_EQ(send("x", user(), "?pipeline=ingest").status, 201);
  EXPECT_EQ(announced().pipeline, "ingest");
  uploads_.rows.clear();
  ASSERT_EQ(form(field("pipeline", "ingest") + file_part("a", "x") + kEnd, user()).status, 201);
  EXPECT_EQ(announced().pipeline, "ingest");
  // Whether it exists is the database's to say: see pipeline_pg_test.
  uploads_.rows.clear();
  ASSERT_EQ(send("x", user(), "?pipeline=letters-2").status, 201);
  EXPECT_EQ(announced().pipeline, "letters-2");
  EXPECT_EQ(send("x", user(), "?pipeline=Other").status, 400);
  const auto bad = form(field("pipeline", "no pipeline") + file_part("a", "x") + kEnd, user());
  EXPECT_EQ(bad.status, 400);
  EXPECT_THAT(bad.body, HasSubstr("pipeline must be a name"));
}

TEST_F(UploadRoutes, ACompressedBodyIsNotTakenForTheFile) {
  EXPECT_EQ(send("x", user() + "Content-Encoding: gzip\r\n").status, 415);
}

TEST(FileName, KeepsWhatPeopleReadAndNothingThatLeadsElsewhere) {  // U-06
  EXPECT_EQ(clean_file_name("../../etc/passwd"), "passwd");
  EXPECT_EQ(clean_file_name("C:\\a\\b.pdf"), "b.pdf");
  EXPECT_EQ(clean_file_name("a\r\nb\x7f.pdf"), "ab.pdf");
  EXPECT_EQ(clean_file_name(".."), "");
  EXPECT_EQ(clean_file_name("März.pdf"), "März.pdf");
  const auto cut = clean_file_name("x" + std::string(200, 'a') + std::string(60, '\xc3') + "\xbc");
  EXPECT_LE(cut.size(), 255U);
  std::string umlauts;
  for (int i = 0; i < 200; ++i) umlauts += "ü";
  EXPECT_EQ(clean_file_name(umlauts).size(), 254U) << "not in the middle of a letter";
}

}  // namespace
}  // namespace millrace::api
