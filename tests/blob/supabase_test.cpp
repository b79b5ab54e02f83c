// What is Supabase's own: errors that hide behind 400, resumable uploads, keys. INTEGRATIONS 3.3.
#include "base/run.h"
#include "blob/digest.h"
#include "blob/supabase_store.h"
#include "child_server.h"
#include "conformance.h"
#include "supabase_stand_in.h"
#include "support/must.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

namespace millrace::test {
namespace {

using namespace blob;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class SupabaseBlobs : public testing::Test {
 protected:
  SupabaseBlobs() { make({}); }

  void make(Secret<std::string> bearer, std::string api_key = "sb_secret_abc") {
    store_ = must(SupabaseStore::make(
        {.url = server_.url(),
         .bucket = "docs",
         .prefix = "p",
         .api_key = Secret(std::move(api_key)),
         .bearer = std::move(bearer),
         .limits = {.request_timeout = 5s, .attempts_max = 3, .spool_folder = spool_.path()}},
        RemoteServices{ground_.client, ground_.disk.get_executor(), ground_.clock,
                       ground_.random}));
  }

  template <class T>
  Result<T> run(Task<T> task) {
    return run_blocking(ground_.io, std::move(task));
  }
  Result<BlobInfo> put(std::string text) { return run(put_task(store_.get(), std::move(text))); }
  static Task<BlobInfo> put_task(BlobStore* store, std::string text) {
    MR_CO_TRY(const auto writer, co_await store->create({.content_type = "text/plain"}));
    MR_CO_TRY_VOID(co_await writer->write(std::as_bytes(std::span(text))));
    co_return co_await writer->finish();
  }
  std::size_t count(const std::string& start) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        server_.requests(), [&](const auto& request) { return request.starts_with(start); }));
  }
  static std::string error_body(int status, const std::string& code) {
    return fmt::format(R"({{"statusCode":"{}","error":"x","code":"{}","message":"secret text"}})",
                       status, code);
  }

  Ground ground_;
  TemporaryFolder spool_;
  SupabaseStandIn server_{ground_.io, {}};
  std::unique_ptr<BlobStore> store_;
};

TEST_F(SupabaseBlobs, TrueStatusIsFoundInTheBody) {
  const auto key = must(put("abc")).key;
  const std::tuple<int, std::string, ErrorKind> cases[] = {
      {400, error_body(404, "NoSuchKey"), ErrorKind::not_found},
      {400, error_body(404, "NoSuchBucket"), ErrorKind::internal},
      {400, error_body(403, "InvalidJWT"), ErrorKind::internal},
      {400, error_body(400, "ExpiredToken"), ErrorKind::internal},
      {403, error_body(403, "AccessDenied"), ErrorKind::internal},
      {400, error_body(413, "EntityTooLarge"), ErrorKind::invalid_argument},
      {400, error_body(415, "InvalidMimeType"), ErrorKind::invalid_argument},
      // Servers before there were codes.
      {400, R"({"statusCode":"404","error":"not_found","message":"Object not found"})",
       ErrorKind::not_found},
      {400, R"({"statusCode":"404","error":"Bucket not found","message":"Bucket not found"})",
       ErrorKind::internal},
      {400, "not JSON", ErrorKind::internal},
  };
  for (const auto& [status, body, kind] : cases) {
    server_.fail_next(status, body);
    const auto reader = run(store_->open(key, {}));
    ASSERT_FALSE(reader.has_value()) << body;
    EXPECT_EQ(reader.error().kind, kind) << body;
    EXPECT_THAT(reader.error().describe(), Not(HasSubstr("secret text")));
  }
}

TEST_F(SupabaseBlobs, BusyAndFailingServersAreAskedAgain) {
  for (const auto& [status, code] : {std::pair<int, std::string>(429, "SlowDown"),
                                     {544, "DatabaseTimeout"},
                                     {500, "InternalError"},
                                     {400, "ResourceLocked"}}) {
    server_.fail_next(status, error_body(status == 400 ? 423 : status, code));
    EXPECT_TRUE(put("abc " + code).has_value()) << code;
  }
}

// Upload-then-lose: the repeat finds its own object, which upsert makes no error.
TEST_F(SupabaseBlobs, UploadWhoseAnswerWasLostIsRepeated) {
  server_.lose_answer_to("POST");
  const auto stored = put("abc");
  ASSERT_TRUE(stored.has_value()) << stored.error().describe();
  EXPECT_EQ(count("POST /storage/v1/object/docs/p/sha256/"), 2U);
  EXPECT_TRUE(server_.has("p/" + stored->key.text()));
}

TEST_F(SupabaseBlobs, LargeContentGoesInPiecesAndGoesOnAfterALostAnswer) {
  const auto text = content(13 << 20);
  server_.lose_answer_to("PATCH");
  const auto stored = put(text);
  ASSERT_TRUE(stored.has_value()) << stored.error().describe();
  EXPECT_EQ(stored->size_bytes, text.size());
  // The lost one, its repeat (refused: the bytes are there), a question where it stands, and two.
  EXPECT_EQ(count("PATCH "), 4U);
  EXPECT_EQ(count("HEAD /storage/v1/upload/resumable/"), 1U);
  EXPECT_EQ(count("POST /storage/v1/object/docs"), 0U);
  // The server told a host that cannot be reached; only our endpoint was asked.
  EXPECT_THAT(server_.requests(), Contains(StartsWith("PATCH /storage/v1/upload/resumable/")));
}

TEST_F(SupabaseBlobs, UploadThatSomebodyElseHoldsIsWaitedFor) {
  server_.lock_uploads(2);
  EXPECT_TRUE(put(content(7 << 20)).has_value());
  server_.lock_uploads(1000);
  const auto stuck = put(content(7 << 20, 2));
  ASSERT_FALSE(stuck.has_value());
  EXPECT_EQ(stuck.error().kind, ErrorKind::unavailable);
}

TEST_F(SupabaseBlobs, ContentAboveTheBucketsLimitIsRefusedBothWays) {
  SupabaseStandIn strict(ground_.io, {.size_max_bytes = 1000});
  const auto made = must(SupabaseStore::make(
      {.url = strict.url(),
       .bucket = "docs",
       .api_key = Secret<std::string>("sb_secret_abc"),
       .limits = {.attempts_max = 2, .spool_folder = spool_.path()}},
      RemoteServices{ground_.client, ground_.disk.get_executor(), ground_.clock, ground_.random}));
  EXPECT_EQ(run(put_task(made.get(), content(1001))).error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(run(put_task(made.get(), content(7 << 20))).error().kind, ErrorKind::invalid_argument);
  EXPECT_TRUE(run(put_task(made.get(), content(1000))).has_value());
}

// INTEGRATIONS 3.1: a newer key as a bearer token is refused; a legacy key must be both.
TEST_F(SupabaseBlobs, KeysAreSentWhereTheyBelong) {
  EXPECT_TRUE(put("newer key alone").has_value());
  make({}, "eyJhbGciOi.service.role");
  EXPECT_TRUE(put("legacy key twice").has_value());
  make(Secret<std::string>("eyJhbGciOi.service.role"));
  EXPECT_TRUE(put("newer key and a token").has_value());
  make(Secret<std::string>("sb_secret_abc"));
  EXPECT_FALSE(put("newer key as a token").has_value());
}

TEST_F(SupabaseBlobs, SignedUrlOfSomethingElseIsNotPassedOn) {
  const auto key = must(put("abc")).key;
  for (const auto& body : {std::string(R"({"signedURL":"https://evil.example/?token=1"})"),
                           std::string(R"({"signedURL":"/object/sign/docs/other?token=1"})"),
                           std::string("{}"), std::string("[]")}) {
    server_.fail_next(200, body);
    EXPECT_FALSE(run(store_->signed_url(key, {})).has_value()) << body;
  }
  EXPECT_EQ(run(store_->signed_url({sha256("missing")}, {})).error().kind, ErrorKind::not_found);
}

TEST_F(SupabaseBlobs, ListThatIsNotOneIsAnError) {
  for (const std::string body :
       {"{}", "[1]", R"([{"id":null}])", R"([{"name":"ab","id":"x","updated_at":"yesterday"}])"}) {
    server_.fail_next(200, body);
    EXPECT_EQ(run(store_->list({})).error().kind, ErrorKind::internal) << body;
  }
  EXPECT_EQ(run(store_->list({.cursor = "nonsense"})).error().kind, ErrorKind::invalid_argument);
}

}  // namespace
}  // namespace millrace::test
