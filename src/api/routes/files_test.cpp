#include "api/routes/files.h"

#include "api/api_fixture.h"
#include "api/schemas.h"
#include "api/upload/content_reply.h"
#include "api/upload/upload_fixture.h"

#include <gmock/gmock.h>

namespace millrace::api {
namespace {

using identity::Role;
using testing::HasSubstr;
using testing::Not;

const TenantId kTenant = *TenantId::parse("11111111-1111-4111-8111-111111111111");
const identity::UserId kUser{*Uuid::parse("22222222-2222-4222-8222-222222222222")};
const identity::UserId kOther{*Uuid::parse("44444444-4444-4444-8444-444444444444")};
const std::string kContent = "%PDF-1.7 0123456789";  // 19 bytes.

class FileRoutes : public testing::Test {
 protected:
  FileRoutes() {
    const Secret<std::string> secret(identity::kTestSecret);
    tickets_.emplace(*identity::TicketMaker::make({secret}, clock_));
    links_.emplace(
        SignedLinks::Services{
            .tickets = *tickets_, .directory = directory_, .policies = policies_, .clock = clock_},
        "");
    api_.emplace(file_operations({.files = files_, .blobs = blobs_, .links = *links_}, {}),
                 PipelineOptions{}, component_schemas());
    file_ = files_.put(blobs_, kContent, kUser.to_string(), random_).to_string();
  }

  std::string user(identity::UserId who = kUser) {
    return ApiFixture::bearer(api_->token(Role::authenticated, kTenant, who));
  }
  http::Reply content(const std::string& headers = {}) {
    return api_->get("/api/v1/files/" + file_ + "/content", user() + headers);
  }
  // The path of a fresh link.
  std::string link(const std::string& body = "{}") {
    const auto reply = api_->post("/api/v1/files/" + file_ + "/link", body, user());
    EXPECT_EQ(reply.status, 201) << reply.body;
    EXPECT_EQ(reply.header("cache-control"), "no-store");
    const auto url = text_of(object_of(reply), "url");
    EXPECT_THAT(url, HasSubstr("http://test/api/v1/files/"));
    return url.substr(std::string("http://test").size());
  }

  ManualClock clock_;
  SeededRandom random_{17};
  MemoryBlobs blobs_{clock_};
  MemoryFiles files_;
  MemoryDirectory directory_;
  MemoryPolicies policies_;
  std::optional<identity::TicketMaker> tickets_;
  std::optional<SignedLinks> links_;
  std::optional<ApiFixture> api_;
  std::string file_;
};

TEST_F(FileRoutes, ContentComesWithItsDigestAndInASandbox) {
  const auto reply = content();
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(reply.body, kContent);
  EXPECT_EQ(reply.header("content-type"), "application/pdf");
  EXPECT_EQ(reply.header("content-length"), "19");
  EXPECT_EQ(reply.header("accept-ranges"), "bytes");
  EXPECT_EQ(reply.header("etag"), "\"" + blob::sha256(kContent).hex() + "\"");
  EXPECT_THAT(reply.header("repr-digest"), HasSubstr("sha-256=:"));
  EXPECT_THAT(reply.header("content-security-policy"), HasSubstr("sandbox"));
  EXPECT_THAT(reply.header("content-disposition"), HasSubstr("attachment"));
  EXPECT_THAT(reply.header("content-disposition"), HasSubstr("M%C3%A4rz"));
  EXPECT_THAT(reply.header("cache-control"), HasSubstr("private"));
}

TEST_F(FileRoutes, TheTypeIsWhatWasFoundAndNotWhatSomebodySaid) {  // J06
  files_.files.begin()->second.object.content_type = "image/png";
  EXPECT_EQ(content().header("content-type"), "application/pdf");
}

TEST_F(FileRoutes, AskingForTheHeadReadsNoContent) {
  const auto request =
      "HEAD /api/v1/files/" + file_ + "/content HTTP/1.1\r\nHost: test\r\n" + user() + "\r\n";
  const auto head = http::RawClient(api_->address()).ask(request, true);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.header("content-length"), "19");
  EXPECT_EQ(head.header("etag"), "\"" + blob::sha256(kContent).hex() + "\"");
  EXPECT_EQ(blobs_.opened, 0U);
  blobs_.kept.clear();
  EXPECT_EQ(http::RawClient(api_->address()).ask(request, true).status, 500);
}

TEST_F(FileRoutes, ARangeIsARange) {
  const auto part = content("Range: bytes=9-12\r\n");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "0123");
  EXPECT_EQ(part.header("content-range"), "bytes 9-12/19");
  EXPECT_EQ(content("Range: bytes=-4\r\n").body, "6789");
  EXPECT_EQ(content("Range: bytes=15-\r\n").body, "6789");
  EXPECT_EQ(content("Range: bytes=15-1000\r\n").body, "6789");
  const auto none = content("Range: bytes=19-\r\n");
  EXPECT_EQ(none.status, 416);
  EXPECT_EQ(none.header("content-range"), "bytes */19");
  for (const auto* odd : {"bytes=4-2", "bytes=a-b", "lines=1-2", "bytes=0-1,3-4", "bytes=-"}) {
    const auto all = content("Range: " + std::string(odd) + "\r\n");
    EXPECT_EQ(all.status, 200) << odd;
    EXPECT_EQ(all.body, kContent) << odd;
  }
}

TEST_F(FileRoutes, WhoHasItAlreadyIsToldSo) {
  const auto tag = "\"" + blob::sha256(kContent).hex() + "\"";
  EXPECT_EQ(content("If-None-Match: " + tag + "\r\n").status, 304);
  EXPECT_EQ(content("If-None-Match: \"other\"\r\n").status, 200);
  EXPECT_EQ(content("If-Match: \"other\"\r\n").status, 412);
  EXPECT_EQ(content("Range: bytes=0-3\r\nIf-Range: " + tag + "\r\n").status, 206);
  EXPECT_EQ(content("Range: bytes=0-3\r\nIf-Range: \"other\"\r\n").status, 200);
}

TEST_F(FileRoutes, OthersSeeNothing) {  // T-02
  for (const auto* rest : {"", "/content"}) {
    EXPECT_EQ(api_->get("/api/v1/files/" + file_ + rest, user(kOther)).status, 404) << rest;
  }
  EXPECT_EQ(api_->post("/api/v1/files/" + file_ + "/link", "{}", user(kOther)).status, 404);
  EXPECT_EQ(api_->ask("DELETE /api/v1/files/" + file_ + " HTTP/1.1\r\nHost: test\r\n" +
                      user(kOther) + "\r\n")
                .status,
            404);
  EXPECT_EQ(files_.files.size(), 1U);
}

TEST_F(FileRoutes, ALinkOpensItsFileForAWhileAndNothingElse) {  // T-13
  const auto path = link(R"({"expires_in":60})");
  const auto reply = api_->get(path);
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(reply.body, kContent);
  EXPECT_EQ(api_->get(path, "Range: bytes=0-3\r\n").body, "%PDF");
  // Not for another file, not altered, not on another route.
  const auto other = files_.put(blobs_, "other", kUser.to_string(), random_).to_string();
  const auto token = path.substr(path.find("?token="));
  EXPECT_EQ(api_->get("/api/v1/files/" + other + "/download" + token).status, 401);
  EXPECT_EQ(api_->get(path + "x").status, 401);
  EXPECT_EQ(api_->get(path.substr(0, path.size() - 1)).status, 401);
  EXPECT_EQ(api_->get("/api/v1/files/" + file_ + "/download").status, 400);
  EXPECT_NE(api_->get("/api/v1/files/" + file_ + "/content" + token).status, 200);
  clock_.advance(std::chrono::seconds(61));
  const auto late = api_->get(path);
  EXPECT_EQ(late.status, 401);
  EXPECT_THAT(late.body, HasSubstr("expired"));
}

TEST_F(FileRoutes, ALinkEndsWithTheTokenItWasMadeWithAndWithItsTenant) {
  const auto path = link();
  policies_.policies[kTenant].disabled = true;
  EXPECT_EQ(api_->get(path).status, 403);
  policies_.policies[kTenant].disabled = false;
  EXPECT_EQ(api_->get(path).status, 200);
  directory_.revoked.insert(api_->last_token_id);
  EXPECT_EQ(api_->get(path).status, 401);
}

TEST_F(FileRoutes, AStoreWithLinksOfItsOwnGivesThose) {
  blobs_.signs = true;
  const auto reply = api_->post("/api/v1/files/" + file_ + "/link", R"({"expires_in":60})", user());
  EXPECT_EQ(reply.status, 201) << reply.body;
  EXPECT_THAT(reply.body, HasSubstr("https://objects.example/sha256/"));
  for (const auto* bad : {R"({"expires_in":0})", R"({"expires_in":604801})", R"({"path":"/"})"}) {
    EXPECT_EQ(api_->post("/api/v1/files/" + file_ + "/link", bad, user()).status, 400) << bad;
  }
}

TEST_F(FileRoutes, AFileWithALongNameHasALinkToo) {
  files_.files.begin()->second.file_name = std::string(1000, 'n') + ".pdf";
  EXPECT_EQ(api_->get(link()).status, 200);
  blobs_.signs = true;
  EXPECT_EQ(api_->post("/api/v1/files/" + file_ + "/link", "{}", user()).status, 201);
}

TEST_F(FileRoutes, AFileWhoseContentIsMissingIsOurFaultAndSaysNothingOfWhere) {  // T-08
  blobs_.kept.clear();
  const auto reply = content();
  EXPECT_EQ(reply.status, 500);
  EXPECT_THAT(reply.body, Not(HasSubstr("sha256/")));
}

TEST_F(FileRoutes, ListsComeInPages) {
  for (int i = 0; i < 4; ++i) files_.put(blobs_, "x" + std::to_string(i), "somebody", random_);
  const auto first = api_->get("/api/v1/files?limit=2", user());
  ASSERT_EQ(first.status, 200) << first.body;
  EXPECT_EQ(files_.last_list.limit, 3);
  const auto cursor = text_of(object_of(first), "next_cursor");
  ASSERT_FALSE(cursor.empty());
  EXPECT_EQ(api_->get("/api/v1/files?limit=2&cursor=" + cursor, user()).status, 200);
  EXPECT_TRUE(files_.last_list.before.has_value());
  EXPECT_EQ(api_->get("/api/v1/files?patient_id=me", user()).status, 400);
}

TEST_F(FileRoutes, AFileThatHasChangedIsNotRemovedByWhatWasReadBefore) {
  const auto remove = [&](const std::string& tag) {
    return api_
        ->ask("DELETE /api/v1/files/" + file_ + " HTTP/1.1\r\nHost: test\r\nIf-Match: " + tag +
              "\r\n" + user() + "\r\n")
        .status;
  };
  const auto read = [&] { return api_->get("/api/v1/files/" + file_, user()).header("etag"); };
  const auto seen = read();
  files_.version = "v2";
  EXPECT_EQ(remove(seen), 412);
  EXPECT_EQ(remove(read()), 204);
}

TEST_F(FileRoutes, DeletingTakesItAway) {
  const auto request =
      "DELETE /api/v1/files/" + file_ + " HTTP/1.1\r\nHost: test\r\n" + user() + "\r\n";
  EXPECT_EQ(api_->ask(request).status, 204);
  EXPECT_EQ(api_->ask(request).status, 404);
  EXPECT_EQ(content().status, 404);
}

TEST(ReadRange, OfNothingHasNoPart) {
  using Kind = RangeAnswer::Kind;
  EXPECT_EQ(read_range("bytes=0-0", 0).kind, Kind::none);
  EXPECT_EQ(read_range("bytes=-5", 0).kind, Kind::none);
  EXPECT_EQ(read_range("bytes=-0", 10).kind, Kind::none);
  EXPECT_EQ(read_range("bytes=0-18446744073709551615", 10).last, 9U);
  EXPECT_EQ(read_range("bytes=0-18446744073709551616", 10).kind, Kind::whole);
}

}  // namespace
}  // namespace millrace::api
