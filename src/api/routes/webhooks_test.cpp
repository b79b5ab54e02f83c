#include "api/routes/webhooks.h"

#include "api/api_fixture.h"
#include "api/storage/storage_fixture.h"
#include "api/webhook/parser_signature.h"
#include "identity/digest.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <thread>

namespace millrace::api {
namespace {

using testing::HasSubstr;

// Nobody whose body is not signed gets here.
class NoParses final : public store::WebhookStore {
 public:
  Task<std::optional<std::string>> parse_awaited(JobId) override { return nobody(); }
  Task<store::WebhookEffect> receive_parse(
      store::WebhookDelivery, std::variant<store::StoredBlob, store::ParseFailed>) override {
    co_return fail(ErrorKind::internal, "asked");
  }
  Task<store::WebhookEffect> wake_parse(std::string, std::string) override {
    co_return fail(ErrorKind::internal, "asked");
  }

 private:
  static Task<std::optional<std::string>> nobody() { co_return fail(ErrorKind::internal, "asked"); }
};

const Secret<std::string> kMaster(std::string(32, 'k'));
const JobId kJob = *JobId::parse("0190a000-0000-7000-8000-000000000001");

class WebhookBodies : public testing::Test {
 protected:
  static constexpr std::uint64_t kRoom = 128 * 1024;

  static WebhookOptions options() {
    return {.parser_keys = {.masters = {kMaster}},
            .body_max_bytes = 1024 * 1024,
            .bodies_max_bytes = kRoom};
  }
  double counted(std::string_view answer) const {
    const auto page = registry_.render();
    const auto line =
        fmt::format("millrace_webhooks_total{{source=\"llamaparse\",answer=\"{}\"}} ", answer);
    const auto at = page.find(line);
    return at == page.npos ? 0 : std::stod(page.substr(at + line.size()));
  }
  // A message of the job with these members, signed over its bytes as they are sent.
  http::Reply signed_message(std::string_view members) {
    const auto body = fmt::format(R"({{"job_id":"{}",{}}})", kJob.to_string(), members);
    const auto at = std::chrono::floor<std::chrono::seconds>(clock_.wall()).time_since_epoch();
    return api_.post(
        "/webhooks/llamaparse", body,
        fmt::format("X-LlamaParse-Signature: {}\r\nX-LlamaParse-Timestamp: {}\r\n"
                    "X-LlamaParse-Webhook-Id: w\r\n",
                    identity::to_hex(identity::hmac_sha256(job_secret(kMaster, kJob), body)),
                    at.count()));
  }
  static std::string head(std::string_view more) {
    return fmt::format(
        "POST /webhooks/llamaparse HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
        "{}\r\n\r\n",
        more);
  }

  SystemClock clock_;
  NoParses store_;
  TextBlobs blobs_;
  MetricRegistry registry_;
  WebhookMetrics metrics_{registry_};
  ApiFixture api_{webhook_operations(
      {.store = store_, .blobs = blobs_, .clock = clock_, .metrics = metrics_}, options())};
};

TEST_F(WebhookBodies, w12_ABodyInManyPiecesIsChargedForItsBytes) {
  std::string request = head("Transfer-Encoding: chunked");
  http::RawClient client(api_.address());
  ASSERT_TRUE(client.send(request));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(client.send("a\r\n0123456789\r\n"));
  const auto reply = client.ask("0\r\n\r\n");
  EXPECT_EQ(reply.status, 401) << reply.body;
  EXPECT_EQ(counted("bad_signature"), 1);
}

// Its sender looks for what is wrong with the message, and not with the secret.
TEST_F(WebhookBodies, w02_WhatIsSignedAndCannotBeReadIsNoForgery) {
  const std::pair<std::string, const char*> messages[] = {
      {R"("artifacts":[],"artifacts":[])", "appears twice"},
      {"\"artifacts\":" + std::string(40, '[') + std::string(40, ']'), "nested deeper than 32"},
      {R"("artifacts":[)", "invalid JSON at byte"}};
  for (const auto& [members, why] : messages) {
    const auto reply = signed_message(members);
    EXPECT_EQ(reply.status, 400) << reply.body;
    EXPECT_THAT(reply.body, HasSubstr(why));
    EXPECT_THAT(reply.body, HasSubstr("invalid_body"));
  }
  EXPECT_EQ(counted("bad_message"), 3);
  EXPECT_EQ(counted("bad_signature"), 0);
  // Nobody else learns how it was read.
  const auto reply = api_.post("/webhooks/llamaparse", R"({"job_id":"x","job_id":"y"})");
  EXPECT_EQ(reply.status, 401) << reply.body;
  EXPECT_EQ(counted("bad_signature"), 1);
}

TEST_F(WebhookBodies, w02_HalfASurrogatePairIsReadAndSignedAsItWasSent) {
  const auto reply = signed_message(R"("artifacts":[],"note":"cut \ud83d")");
  EXPECT_EQ(reply.status, 400) << reply.body;
  EXPECT_THAT(reply.body, HasSubstr("No processable artifacts"));
  EXPECT_EQ(counted("no_artifact"), 1);
}

// What is announced takes nothing from others.
TEST_F(WebhookBodies, w12_WhoeverAnnouncesMuchAndSendsLittleKeepsNobodyOut) {
  std::vector<http::RawClient> slow;
  for (int i = 0; i < 4; ++i) {
    slow.emplace_back(api_.address());
    ASSERT_TRUE(slow.back().send(head("Content-Length: 120000\r\nExpect: 100-continue")));
    ASSERT_THAT(slow.back().read_until("\r\n\r\n"), HasSubstr("100"));
  }
  for (int i = 0; i < 3; ++i) EXPECT_EQ(api_.post("/webhooks/llamaparse", "{}").status, 401);
}

TEST_F(WebhookBodies, w12_WhatFindsNoRoomOrDoesNotComeIsCounted) {
  const auto refused = api_.post("/webhooks/llamaparse", std::string(kRoom + 1, ' '));
  EXPECT_EQ(refused.status, 503) << refused.body;
  EXPECT_EQ(refused.header("retry-after"), "1");
  EXPECT_EQ(counted("no_room"), 1);
  http::RawClient cut(api_.address());
  ASSERT_TRUE(cut.send(head("Content-Length: 1000") + "{\"job_id\":"));
  cut.close();
  while (counted("bad_body") < 1) std::this_thread::yield();
  EXPECT_EQ(counted("bad_body"), 1);
}

}  // namespace
}  // namespace millrace::api
