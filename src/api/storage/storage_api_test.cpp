#include "api/storage/storage_api.h"

#include "api/api_fixture.h"
#include "api/schemas.h"
#include "api/storage/storage_fixture.h"
#include "identity/base64url.h"

#include <boost/json/array.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>

namespace millrace::api {
namespace {

using identity::Role;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const TenantId kTenant = *TenantId::parse("11111111-1111-4111-8111-111111111111");
const identity::UserId kUser = *identity::UserId::parse("22222222-2222-4222-8222-222222222222");
const std::string kObject = "/storage/v1/object/exports/user/a%20file.pdf";
const std::string kSign = "/storage/v1/object/sign/exports/user/a%20file.pdf";

std::map<std::string, std::string> schemas() {
  SchemaMap all;
  add_common_schemas(all);
  add_supabase_schemas(all);
  return all;
}

class StorageApiTest : public testing::Test {
 protected:
  StorageApiTest() { files_.tenant = kTenant; }

  std::string headers(Role role = Role::authenticated) {
    const auto user = role == Role::authenticated ? std::optional(kUser) : std::nullopt;
    return ApiFixture::bearer(api_.token(
        role, role == Role::authenticated ? std::optional(kTenant) : std::nullopt, user));
  }
  http::Reply sign(std::string_view body = R"({"expiresIn":60})", Role role = Role::authenticated) {
    return api_.post(kSign, body, headers(role));
  }
  // As a browser would follow it.
  std::string signed_path() {
    auto url = text_of(object_of(sign()), "signedURL");
    if (const auto space = url.find(' '); space != url.npos) url.replace(space, 1, "%20");
    return "/storage/v1" + url;
  }
  static std::string code_of(const http::Reply& reply) { return text_of(object_of(reply), "code"); }

  SystemClock clock_;
  SeededRandom random_{7};
  Logger log_ = Logger::silent();
  FakeFiles files_;
  FakeUploads uploads_;
  TextBlobs blobs_;
  MemoryDirectory directory_;
  MemoryPolicies policies_;
  identity::TicketMaker tickets_ =
      *identity::TicketMaker::make({Secret<std::string>(identity::kTestSecret)}, clock_);
  SignedLinks links_{
      {.tickets = tickets_, .directory = directory_, .policies = policies_, .clock = clock_}, ""};
  UploadEngine engine_{
      {.uploads = uploads_, .blobs = blobs_, .clock = clock_, .random = random_, .log = log_}};
  ApiFixture api_{storage_operations(
                      {.files = files_, .uploads = engine_, .blobs = blobs_, .links = links_}, {}),
                  {},
                  schemas()};
};

TEST_F(StorageApiTest, AnObjectIsSentAsItsOwnerMaySeeIt) {
  const auto reply = api_.get(kObject, headers());
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, kContent);
  EXPECT_EQ(reply.header("content-type"), "application/pdf");
  EXPECT_EQ(reply.header("cache-control"), "private, max-age=3600");
  EXPECT_THAT(reply.header("content-security-policy"), HasSubstr("sandbox"));
  EXPECT_EQ(files_.last_caller.role, "authenticated");
  const auto named = api_.get(kObject + "?download=report.pdf", headers());
  EXPECT_THAT(named.header("content-disposition"), HasSubstr("report.pdf"));
  const auto missing = api_.get("/storage/v1/object/exports/user/none", headers());
  EXPECT_EQ(missing.status, 400);
  EXPECT_EQ(code_of(missing), "NoSuchKey");
  EXPECT_EQ(api_.get(kObject).status, 401);
}

TEST_F(StorageApiTest, ASignedUrlOpensItsObjectWithoutCredentials) {  // T-13
  const auto reply = sign();
  ASSERT_EQ(reply.status, 200) << reply.body;
  EXPECT_THAT(text_of(object_of(reply), "signedURL"),
              HasSubstr("/object/sign/exports/user/a file.pdf?token=mru1_"));
  EXPECT_EQ(reply.header("cache-control"), "no-store");
  const auto content = api_.get(signed_path());
  EXPECT_EQ(content.status, 200);
  EXPECT_EQ(content.body, kContent);
  // With the view of whoever made it.
  EXPECT_EQ(files_.last_caller.role, "authenticated");
  EXPECT_EQ(files_.last_caller.tenant, kTenant);
  EXPECT_THAT(files_.last_caller.claims_json, HasSubstr(kUser.to_string()));
}

TEST_F(StorageApiTest, ASignedUrlCannotBeWidened) {  // bar: cannot be widened
  const auto path = signed_path();
  const auto token = path.substr(path.find("token=") + 6);
  for (const auto& other : {"/storage/v1/object/sign/exports/user/another.pdf",
                            "/storage/v1/object/sign/medical-docs/user/a%20file.pdf",
                            "/storage/v1/object/sign/exports/user/a%20file.pdf/more"}) {
    const auto reply = api_.get(fmt::format("{}?token={}", other, token));
    EXPECT_EQ(reply.status, 400) << other;
    EXPECT_EQ(code_of(reply), "InvalidSignature") << other;
  }
  auto altered = token;
  altered[altered.size() / 2] = altered[altered.size() / 2] == 'A' ? 'B' : 'A';
  EXPECT_EQ(api_.get(kSign + "?token=" + altered).status, 400);
  EXPECT_EQ(api_.get(kSign + "?token=" + token + "x").status, 400);
  EXPECT_EQ(api_.get(kSign).status, 400);
  // It is no token for anything else.
  EXPECT_EQ(api_.get(kObject, ApiFixture::bearer(token)).status, 401);
  EXPECT_EQ(api_.get(kObject + "?token=" + token).status, 401);
}

TEST_F(StorageApiTest, ASignedUrlEndsWithItsTimeItsTokenAndItsObject) {  // bar: expire
  const auto ticket = [&](std::chrono::seconds ttl) {
    auto made = tickets_.make_ticket(identity::UrlTicket{
        .operation = identity::UrlOperation::download,
        .resource = "storage/exports/user/a file.pdf",
        .holder = {.role = Role::service_role, .tenant = kTenant, .subject = {}, .token_id = "t1"},
        .expires_at = identity::instant_of(clock_.wall()) + ttl});
    return made ? made->reveal() : std::string("none");
  };
  const auto good = ticket(std::chrono::seconds(60));
  EXPECT_EQ(api_.get(kSign + "?token=" + good).status, 200);
  // Made an hour ago, for a minute.
  ManualClock past;
  past.set_wall(clock_.wall() - std::chrono::hours(1));
  const auto old_maker =
      *identity::TicketMaker::make({Secret<std::string>(identity::kTestSecret)}, past);
  const auto old = old_maker.make_ticket(identity::UrlTicket{
      .operation = identity::UrlOperation::download,
      .resource = "storage/exports/user/a file.pdf",
      .holder = {.role = Role::service_role, .tenant = kTenant, .subject = {}, .token_id = {}},
      .expires_at = identity::instant_of(past.wall()) + std::chrono::seconds(60)});
  ASSERT_TRUE(old) << old.error().message;
  const auto expired = api_.get(kSign + "?token=" + old->reveal());
  EXPECT_EQ(expired.status, 400);
  EXPECT_EQ(code_of(expired), "ExpiredToken");
  EXPECT_THAT(expired.body, Not(HasSubstr(old->reveal())));
  directory_.revoked.insert("t1");
  EXPECT_EQ(code_of(api_.get(kSign + "?token=" + good)), "InvalidJWT");
  directory_.revoked.clear();
  files_.object_key = "gone";
  EXPECT_EQ(code_of(api_.get(kSign + "?token=" + good)), "NoSuchKey");
}

TEST_F(StorageApiTest, AServiceOfAllTenantsSignsForTheTenantOfTheObject) {
  const auto reply = sign(R"({"expiresIn":60})", Role::service_role);
  ASSERT_EQ(reply.status, 200) << reply.body;
  const auto url = text_of(object_of(reply), "signedURL");
  const auto opened =
      tickets_.open_url_ticket(url.substr(url.find("token=") + 6), identity::UrlOperation::download,
                               "storage/exports/user/a file.pdf");
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->holder.tenant, kTenant);
}

TEST_F(StorageApiTest, OnlyWhatIsSeenIsSigned) {
  files_.object_key = "another";
  EXPECT_EQ(code_of(sign()), "NoSuchKey");
  EXPECT_EQ(sign(R"({"expiresIn":0})").status, 400);
  EXPECT_EQ(sign(R"({"expiresIn":604801})").status, 400);
  EXPECT_EQ(sign(R"({"expiresIn":60,"transform":{"width":1}})").status, 400);
}

TEST_F(StorageApiTest, SeveralUrlsHaveAnEntryEach) {
  const auto reply =
      api_.post("/storage/v1/object/sign/exports",
                R"({"expiresIn":60,"paths":["user/a file.pdf","user/none"]})", headers());
  ASSERT_EQ(reply.status, 200) << reply.body;
  const auto entries = parse_json(reply.body)->as_array();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_TRUE(entries[0].at("error").is_null());
  EXPECT_TRUE(entries[0].at("signedURL").is_string());
  EXPECT_TRUE(entries[1].at("error").is_string());
  EXPECT_TRUE(entries[1].at("signedURL").is_null());
}

TEST_F(StorageApiTest, ListsLookAsStorageShowsThem) {
  files_.rows_json =
      R"([{"name":"folder","id":null},
          {"name":"a.pdf","id":"0190a000-0000-7000-8000-000000000001",
           "created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-02T00:00:00Z","size_bytes":7,
           "content_type":"application/pdf","cache_control":"60","sha256":"ab"}])";
  const auto reply = api_.post(
      "/storage/v1/object/list/exports",
      R"({"prefix":"user","limit":2,"offset":1,"sortBy":{"column":"created_at","order":"desc"}})",
      headers());
  ASSERT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(files_.last_list.prefix, "user");
  EXPECT_EQ(files_.last_list.limit, 2);
  EXPECT_EQ(files_.last_list.offset, 1);
  EXPECT_EQ(files_.last_list.sort, "created_at");
  EXPECT_TRUE(files_.last_list.descending);
  const auto entries = parse_json(reply.body)->as_array();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_TRUE(entries[0].at("id").is_null());
  EXPECT_TRUE(entries[0].at("metadata").is_null());
  EXPECT_EQ(entries[1].at("metadata").at("size"), json::Value(7));
  EXPECT_EQ(entries[1].at("metadata").at("mimetype"), json::Value("application/pdf"));
}

TEST_F(StorageApiTest, OurOwnKeysAreShownToNobody) {
  files_.rows_json =
      R"([{"name":"user/a.pdf","id":"0190a000-0000-7000-8000-000000000001","bucket":"exports",
           "tenant_id":"11111111-1111-4111-8111-111111111111","store_key":"sha256/ab/abc"}])";
  files_.object_json = files_.rows_json.substr(1, files_.rows_json.size() - 2);
  const auto removed =
      api_.ask(fmt::format("DELETE /storage/v1/object/exports HTTP/1.1\r\nHost: test\r\n{}"
                           "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
                           headers(), 27, R"({"prefixes":["user/a.pdf"]})"));
  EXPECT_EQ(removed.status, 200) << removed.body;
  EXPECT_THAT(files_.removed, ElementsAre("user/a.pdf"));
  for (const auto& reply :
       {removed, api_.get("/storage/v1/object/info/exports/user/a%20file.pdf", headers())}) {
    EXPECT_EQ(reply.status, 200) << reply.body;
    EXPECT_THAT(reply.body, Not(HasSubstr("store_key")));
    EXPECT_THAT(reply.body, Not(HasSubstr("tenant_id")));
    EXPECT_THAT(reply.body, HasSubstr("exports"));
  }
}

TEST_F(StorageApiTest, AnUploadIsAnnouncedWithWhatTheHeadersSay) {
  const auto body = std::string("%PDF-1.7");
  const auto reply = api_.ask(http::post(
      fmt::format("/storage/v1/object/exports/{}/a.pdf", kUser), body,
      headers() + "Content-Type: application/pdf\r\ncache-control: max-age=60\r\nx-upsert: true\r\n"
                  "x-metadata: eyJhIjoxfQ==\r\n"));
  EXPECT_EQ(reply.status, 400) << reply.body;  // What is there already, says the store.
  EXPECT_EQ(code_of(reply), "KeyAlreadyExists");
  EXPECT_EQ(uploads_.begun.kind, store::UploadKind::object);
  EXPECT_EQ(uploads_.begun.bucket, "exports");
  EXPECT_EQ(uploads_.begun.object_name, kUser.to_string() + "/a.pdf");
  EXPECT_EQ(uploads_.begun.user, kUser.value);
  EXPECT_EQ(uploads_.begun.cache_control, "60");
  EXPECT_EQ(uploads_.begun.content_type, "application/pdf");
  EXPECT_EQ(uploads_.begun.metadata_json, R"({"a":1})");
  EXPECT_TRUE(uploads_.begun.replace);
}

TEST_F(StorageApiTest, AFormAsSupabaseJsSendsABlobSaysTheSame) {
  const std::string form =
      "--b\r\nContent-Disposition: form-data; name=\"cacheControl\"\r\n\r\n3600\r\n"
      "--b\r\nContent-Disposition: form-data; name=\"\"; filename=\"scan.pdf\"\r\n"
      "Content-Type: application/pdf\r\n\r\n%PDF-1.7\r\n--b--\r\n";
  const auto reply = api_.ask(
      http::post(fmt::format("/storage/v1/object/medical-docs/{}/1_scan.pdf", kUser), form,
                 headers(Role::service_role) + "Content-Type: multipart/form-data; boundary=b\r\n"
                                               "x-upsert: false\r\n"));
  EXPECT_EQ(code_of(reply), "KeyAlreadyExists") << reply.body;
  EXPECT_EQ(uploads_.begun.content_type, "application/pdf");
  EXPECT_EQ(uploads_.begun.cache_control, "3600");
  EXPECT_FALSE(uploads_.begun.replace);
  // A service stores for the user whose folder it is.
  EXPECT_EQ(uploads_.begun.user, kUser.value);
}

TEST_F(StorageApiTest, BucketsAreListedAndNamedAndNoneIsPublic) {
  const auto all = api_.get("/storage/v1/bucket", headers());
  ASSERT_EQ(all.status, 200) << all.body;
  EXPECT_EQ(files_.last_caller.role, "authenticated");
  const auto one = api_.get("/storage/v1/bucket/exports", headers());
  ASSERT_EQ(one.status, 200) << one.body;
  EXPECT_EQ(all.body, "[" + one.body + "]");
  const auto bucket = object_of(one);
  EXPECT_EQ(text_of(bucket, "id"), "exports");
  EXPECT_EQ(text_of(bucket, "name"), "exports");
  EXPECT_EQ(bucket.at("public"), json::Value(false));
  EXPECT_EQ(bucket.at("file_size_limit"), json::Value(1048576));
  EXPECT_EQ(code_of(api_.get("/storage/v1/bucket/nowhere", headers())), "NoSuchBucket");
  // What cannot be done is said and not left out.
  EXPECT_EQ(api_.get("/storage/v1/bucket?search=ex", headers()).status, 400);
  EXPECT_EQ(api_.get("/storage/v1/bucket").status, 401);
}

// X-07, X-18: neither a URL nor a copy that a client keeps outlives the object.
TEST_F(StorageApiTest, NothingOfAnObjectOutlivesIt) {
  files_.expires_in = std::chrono::seconds(40);
  EXPECT_EQ(api_.get(kObject, headers()).header("cache-control"), "private, max-age=40");
  const auto before = identity::instant_of(clock_.wall());
  const auto url = text_of(object_of(sign(R"({"expiresIn":86400})")), "signedURL");
  const auto sealed = url.substr(url.find("mru1_") + 5);
  const auto ticket = identity::base64url_decode(sealed.substr(0, sealed.find('.')));
  ASSERT_TRUE(ticket);
  const auto until = parse_json_object(*ticket)->at("e").as_int64();
  const auto left = identity::Instant{std::chrono::milliseconds(until)} - before;
  EXPECT_GE(left, std::chrono::seconds(40));
  EXPECT_LT(left, std::chrono::seconds(3600));
  files_.expires_in = std::chrono::seconds(0);
  EXPECT_EQ(code_of(sign()), "NoSuchKey");
}

TEST_F(StorageApiTest, CacheTimesAreSecondsOrNothing) {
  EXPECT_EQ(cache_seconds("3600"), "3600");
  EXPECT_EQ(cache_seconds("max-age=60"), "60");
  for (const auto* const other : {"", "no-store", "-1", "1e9", "99999999999", "60\r\nX: y"}) {
    EXPECT_EQ(cache_seconds(other), "") << other;
  }
}

}  // namespace
}  // namespace millrace::api
