// Webhooks over HTTP: the real server, the real database. Every W of the requirements has its test
// here; the table is in docs/webhooks.md.
#include "identity/base64url.h"
#include "identity/digest.h"
#include "identity/standard_webhook.h"
#include "support/document_script.h"
#include "upload_world.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <thread>

namespace millrace::test {
namespace {

using testing::HasSubstr;

const std::string kMaster = "a master secret for the tests of webhooks";
const std::string kPrevious = "the master secret before it, still accepted";
const std::string kSigningKey = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const std::string kOldSigningKey = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

std::map<std::string, std::string> with(std::map<std::string, std::string> more) {
  std::map<std::string, std::string> env{
      {"MILLRACE_WEBHOOK_SECRET", kMaster},
      {"MILLRACE_WEBHOOK_PREVIOUS_SECRET", kPrevious},
      {"MILLRACE_WEBHOOK_SIGNING_KEYS", kSigningKey + "," + kOldSigningKey},
      {"MILLRACE_WEBHOOK_BODY_MAX_BYTES", "200000"}};
  for (auto& [name, value] : more) env[name] = value;
  return env;
}

// As docs/webhooks.md says it, and without the code that says so too.
std::string hex_hmac(const std::string& key, const std::string& bytes) {
  return identity::to_hex(identity::hmac_sha256(key, bytes));
}
std::string hex_sha256(const std::string& bytes) {
  return identity::to_hex(identity::sha256(bytes));
}

std::int64_t unix_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(SystemClock().wall().time_since_epoch())
      .count();
}

// One server, and documents whose parse is awaited.
class Webhooks {
 public:
  explicit Webhooks(std::map<std::string, std::string> more = {}) : world(with(std::move(more))) {}

  struct Awaited {
    std::string file;
    std::string job;
    std::string capability;
  };
  // A document whose first job has asked a parser, and waits for its next look in an hour.
  Awaited awaited() {
    const auto made =
        api().ask(UploadWorld::raw(who, "%PDF-1.7 number " + std::to_string(++count_)));
    EXPECT_EQ(made.status, 201) << made.body;
    Awaited out{.file = text_of(made, "id"), .job = {}, .capability = {}};
    DocumentScript script(api().database(), out.file);
    script.begin();
    out.job = script.first_job();
    SystemRandom random;
    out.capability = identity::base64url_encode(random.uuid().to_string());
    auto sql = api().sql();
    must(sql.query(
        "insert into millrace.parse_request (file_id, run, tenant_id, job_id, parser, "
        "capability_sha256, asked_at, deadline, state, remote_id) select file_id, run, tenant_id, "
        "job_id, 'webhook', decode($2, 'hex'), now(), now() + interval '1 hour', 'waiting', 'r-1' "
        "from millrace.document where file_id = $1::uuid",
        pg::params(out.file, hex_sha256(out.capability))));
    must(sql.query("select millrace.reschedule_jobs(array[$1::uuid], now() + interval '1 hour')",
                   pg::params(out.job)));
    return out;
  }

  static std::string body(const std::string& job, const std::string& content = "# Title\n") {
    json::Array artifacts;
    artifacts.push_back(json::Object{{"type", "markdown"},
                                     {"content", content},
                                     {"sha256", hex_sha256(content)},
                                     {"bytes", content.size()}});
    return to_json(json::Object{{"job_id", job}, {"artifacts", std::move(artifacts)}});
  }
  static std::string secret_of(const std::string& job, const std::string& master = kMaster) {
    return hex_hmac(master, job);
  }
  static std::string sign(const std::string& key, const std::string& body) {
    return hex_hmac(key, body);
  }

  struct Delivery {
    std::string body;
    std::string signature;
    std::string id = "wh-1";
    std::string timestamp = std::to_string(unix_now());
    std::vector<http::Header> more = {};
  };
  static Ask request(const Delivery& delivery) {
    Ask ask{.method = "POST", .path = "/webhooks/llamaparse", .body = delivery.body};
    const auto add = [&](const char* name, const std::string& value) {
      if (!value.empty()) ask.headers.emplace_back(name, value);
    };
    add("X-LlamaParse-Signature", delivery.signature);
    add("X-LlamaParse-Timestamp", delivery.timestamp);
    add("X-LlamaParse-Webhook-Id", delivery.id);
    for (const auto& one : delivery.more) ask.headers.push_back(one);
    return ask;
  }
  Answered deliver(const Delivery& delivery) { return api().ask(request(delivery)); }
  static Delivery good(const std::string& job, const std::string& content = "# Title\n") {
    auto text = body(job, content);
    auto signature = sign(secret_of(job), text);
    return {.body = std::move(text), .signature = std::move(signature)};
  }

  std::string value(const std::string& query, pg::Params params = {}) {
    auto sql = api().sql();
    const auto rows = must(sql.query(query, std::move(params)));
    return rows.empty() ? "(none)" : rows[0].opt_text(0).value_or("(null)");
  }
  std::string state(const Awaited& parse) {
    return value("select state from millrace.parse_request where file_id = $1::uuid",
                 pg::params(parse.file));
  }
  std::string place(const Awaited& parse) {
    return value("select millrace.place_of($1::uuid)", pg::params(parse.job));
  }
  std::string inbox(const std::string& job) {
    return value("select count(*) from millrace.webhook_inbox where source like '%' || $1",
                 pg::params(job));
  }
  double counted(const std::string& source, const std::string& answer) {
    const auto page = api().get("/metrics").body;
    const auto line =
        fmt::format("millrace_webhooks_total{{source=\"{}\",answer=\"{}\"}} ", source, answer);
    const auto at = page.find(line);
    return at == page.npos ? 0 : std::stod(page.substr(at + line.size()));
  }

  ApiWorld& api() { return world.api(); }

  UploadWorld world;
  UploadWorld::Person who = world.person();

 private:
  int count_ = 0;
};

class ParserWebhook : public testing::Test {
 protected:
  static void SetUpTestSuite() { shared_ = std::make_unique<Webhooks>(); }
  static void TearDownTestSuite() { shared_.reset(); }
  static Webhooks& hooks() { return *shared_; }

 private:
  static std::unique_ptr<Webhooks> shared_;
};
std::unique_ptr<Webhooks> ParserWebhook::shared_;

TEST_F(ParserWebhook, w01_w08_MarkdownIsStoredAndTheJobIsWoken) {  // H-17
  const auto parse = hooks().awaited();
  ASSERT_EQ(hooks().place(parse), "delayed");
  const auto answered = hooks().deliver(Webhooks::good(parse.job, "# Héllo\n"));
  ASSERT_EQ(answered.status, 200) << answered.body;
  EXPECT_EQ(answered.json(),
            (json::Object{{"status", "ok"}, {"message", "Processed successfully"}}));
  EXPECT_EQ(hooks().state(parse), "arrived");
  EXPECT_EQ(hooks().place(parse), "ready");
  EXPECT_EQ(hooks().value("select encode(sha256, 'hex') from millrace.parse_request where file_id "
                          "= $1::uuid",
                          pg::params(parse.file)),
            hex_sha256("# Héllo\n"));
  EXPECT_EQ(hooks().value("select count(*) from millrace.event where kind = "
                          "'document.parse_arrived' and $1::uuid = any (job_ids)",
                          pg::params(parse.job)),
            "1");
}

// Signed as it is sent, stored as what it can mean: halves of surrogate pairs are no characters.
TEST_F(ParserWebhook, w03_ATextThatWasCutInsideOfACharacterIsTaken) {
  const auto parse = hooks().awaited();
  Webhooks::Delivery delivery{
      .body = R"({"job_id":")" + parse.job +
              R"(","artifacts":[{"type":"markdown","content":"a \\ud83d \ud83d\ude00 \ud83d"}]})",
      .signature = {}};
  delivery.signature = Webhooks::sign(Webhooks::secret_of(parse.job), delivery.body);
  const auto answered = hooks().deliver(delivery);
  ASSERT_EQ(answered.status, 200) << answered.body;
  EXPECT_EQ(hooks().state(parse), "arrived");
  EXPECT_EQ(hooks().value("select encode(sha256, 'hex') from millrace.parse_request where file_id "
                          "= $1::uuid",
                          pg::params(parse.file)),
            hex_sha256("a \\ud83d 😀 \xef\xbf\xbd"));
}

TEST_F(ParserWebhook, w02_ABadSignatureIsRefusedInTheWordsOfTheSource) {
  const auto parse = hooks().awaited();
  auto delivery = Webhooks::good(parse.job);
  for (const auto& signature :
       {std::string(), std::string("nonsense"), std::string(64, '0'),
        Webhooks::sign(kMaster, delivery.body), Webhooks::sign("", delivery.body)}) {
    delivery.signature = signature;
    const auto answered = hooks().deliver(delivery);
    EXPECT_EQ(answered.status, 401) << answered.body;
    EXPECT_EQ(text_of(answered, "detail"), "Invalid signature");
  }
  EXPECT_EQ(hooks().state(parse), "waiting");
  EXPECT_EQ(hooks().inbox(parse.job), "0");
}

// The bar: whichever byte of the body or of the signature is another, nothing happens.
TEST_F(ParserWebhook, w02_AnAlteredByteAtAnyPositionIsRefused) {
  const auto parse = hooks().awaited();
  const auto good = Webhooks::good(parse.job, "#");
  for (std::size_t i = 0; i < good.body.size(); ++i) {
    auto altered = good;
    altered.body[i] = static_cast<char>(altered.body[i] ^ 1);
    EXPECT_EQ(hooks().deliver(altered).status, 401) << "body " << i;
  }
  for (std::size_t i = 0; i < good.signature.size(); ++i) {
    auto altered = good;
    altered.signature[i] = altered.signature[i] == '0' ? '1' : '0';
    EXPECT_EQ(hooks().deliver(altered).status, 401) << "signature " << i;
  }
  EXPECT_EQ(hooks().state(parse), "waiting");
}

TEST_F(ParserWebhook, w03_TheBytesAreSignedAndNotWhatTheyMean) {  // H01
  const auto parse = hooks().awaited();
  auto delivery = Webhooks::good(parse.job);
  const auto other = "{ " + delivery.body.substr(1);
  delivery.signature = Webhooks::sign(Webhooks::secret_of(parse.job), other);
  EXPECT_EQ(hooks().deliver(delivery).status, 401);
  delivery.body = other;
  EXPECT_EQ(hooks().deliver(delivery).status, 200);
}

TEST_F(ParserWebhook, w04_TheSecretOfAnotherJobOpensNothing) {  // H03, H04
  const auto parse = hooks().awaited();
  const auto other = hooks().awaited();
  auto delivery = Webhooks::good(parse.job);
  delivery.signature = Webhooks::sign(Webhooks::secret_of(other.job), delivery.body);
  EXPECT_EQ(hooks().deliver(delivery).status, 401);
  EXPECT_EQ(hooks().state(parse) + hooks().state(other), "waitingwaiting");
}

TEST_F(ParserWebhook, w04_TheMasterSecretBeforeIsStillAccepted) {  // Rotation.
  const auto parse = hooks().awaited();
  auto delivery = Webhooks::good(parse.job);
  delivery.signature = Webhooks::sign(Webhooks::secret_of(parse.job, kPrevious), delivery.body);
  EXPECT_EQ(hooks().deliver(delivery).status, 200);
}

TEST_F(ParserWebhook, w05_ATimeThatIsNotNowIsRefused) {
  const auto parse = hooks().awaited();
  auto delivery = Webhooks::good(parse.job);
  for (const auto& timestamp :
       {std::string(), std::string("soon"), std::to_string(unix_now() - 310),
        std::to_string(unix_now() + 310), "-" + std::to_string(unix_now())}) {
    delivery.timestamp = timestamp;
    const auto answered = hooks().deliver(delivery);
    EXPECT_EQ(answered.status, 401) << timestamp << answered.body;
    EXPECT_EQ(text_of(answered, "code"), "invalid_timestamp");
  }
  delivery.timestamp = std::to_string(unix_now() - 290);
  EXPECT_EQ(hooks().deliver(delivery).status, 200);
}

TEST_F(ParserWebhook, w05_AnIdIsTakenOnceAndIsNeeded) {
  const auto parse = hooks().awaited();
  auto delivery = Webhooks::good(parse.job);
  delivery.id = "";
  EXPECT_EQ(hooks().deliver(delivery).status, 400);
  delivery.id = "wh-7";
  EXPECT_EQ(hooks().deliver(delivery).status, 200);
  EXPECT_EQ(hooks().inbox(parse.job), "1");
  const auto again = hooks().deliver(delivery);
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(text_of(again, "message"), "Already processed");
}

TEST_F(ParserWebhook, w07_AJobThatDoesNotWaitAnswersAlreadyProcessed) {
  const auto parse = hooks().awaited();
  ASSERT_EQ(hooks().deliver(Webhooks::good(parse.job)).status, 200);
  auto later = Webhooks::good(parse.job, "# Something else\n");
  later.id = "wh-2";
  const auto answered = hooks().deliver(later);
  EXPECT_EQ(answered.status, 200);
  EXPECT_EQ(answered.json(), (json::Object{{"status", "ok"}, {"message", "Already processed"}}));
  EXPECT_EQ(hooks().value("select encode(sha256, 'hex') from millrace.parse_request where file_id "
                          "= $1::uuid",
                          pg::params(parse.file)),
            hex_sha256("# Title\n"));
}

TEST_F(ParserWebhook, w07_AJobThatWasCancelledAnswersAlreadyProcessed) {
  const auto parse = hooks().awaited();
  hooks().value("select count(*) from millrace.cancel_jobs(array[$1::uuid], 'enough')",
                pg::params(parse.job));
  ASSERT_EQ(hooks().place(parse), "final");
  const auto answered = hooks().deliver(Webhooks::good(parse.job, "# Too late\n"));
  EXPECT_EQ(answered.status, 200);
  EXPECT_EQ(answered.json(), (json::Object{{"status", "ok"}, {"message", "Already processed"}}));
  EXPECT_EQ(hooks().place(parse), "final");
  EXPECT_EQ(hooks().state(parse), "waiting");
  EXPECT_EQ(hooks().value("select count(*) from millrace.event where kind = "
                          "'document.parse_arrived' and $1::uuid = any (job_ids)",
                          pg::params(parse.job)),
            "0");
}

TEST_F(ParserWebhook, w09_WithoutMarkdownThereIsNothingToProcess) {
  const auto parse = hooks().awaited();
  for (const auto* artifacts :
       {"[]", R"([{"type":"json","content":"{}"}])", R"([{"type":"markdown","content":""}])",
        R"([],"error":"")", R"([],"status":"done","error":{})"}) {
    Webhooks::Delivery delivery{
        .body = R"({"job_id":")" + parse.job + R"(","artifacts":)" + artifacts + "}",
        .signature = {}};
    delivery.signature = Webhooks::sign(Webhooks::secret_of(parse.job), delivery.body);
    const auto answered = hooks().deliver(delivery);
    EXPECT_EQ(answered.status, 400) << answered.body;
    EXPECT_EQ(text_of(answered, "detail"), "No processable artifacts");
  }
  EXPECT_EQ(hooks().state(parse), "waiting");
}

TEST_F(ParserWebhook, w09_AJobThatNobodyKnowsIsNotFound) {
  const std::string job = "0190a000-0000-7000-8000-00000000ffff";
  const auto answered = hooks().deliver(Webhooks::good(job));
  EXPECT_EQ(answered.status, 404) << answered.body;
  EXPECT_EQ(hooks().inbox(job), "0");
}

TEST_F(ParserWebhook, w10_HashAndLengthAreHeldAgainstTheContent) {
  const auto parse = hooks().awaited();
  const auto content = Webhooks::body(parse.job);
  for (auto [from, to] : {std::pair<std::string, std::string>{"\"bytes\":8", "\"bytes\":9"},
                          {hex_sha256("# Title\n"), std::string(64, 'e')}}) {
    Webhooks::Delivery delivery{.body = content, .signature = {}};
    const auto at = delivery.body.find(from);
    ASSERT_NE(at, delivery.body.npos);
    delivery.body.replace(at, from.size(), to);
    delivery.signature = Webhooks::sign(Webhooks::secret_of(parse.job), delivery.body);
    const auto answered = hooks().deliver(delivery);
    EXPECT_EQ(answered.status, 400) << answered.body;
    EXPECT_THAT(text_of(answered, "detail"), HasSubstr("artifacts[0]."));
  }
  EXPECT_EQ(hooks().state(parse), "waiting");
}

TEST_F(ParserWebhook, h05_AFailureIsKeptAndAnsweredWithSuccess) {
  const auto parse = hooks().awaited();
  Webhooks::Delivery delivery{
      .body = R"({"job_id":")" + parse.job + R"(","status":"failed","error":"torn"})",
      .signature = {}};
  delivery.signature = Webhooks::sign(Webhooks::secret_of(parse.job), delivery.body);
  EXPECT_EQ(hooks().deliver(delivery).status, 200);
  EXPECT_EQ(hooks().state(parse), "failed");
  EXPECT_EQ(hooks().place(parse), "ready");
  EXPECT_EQ(hooks().deliver(delivery).status, 200);
}

TEST_F(ParserWebhook, ABodyThatIsTooLargeIsRefusedBeforeItIsRead) {
  const auto parse = hooks().awaited();
  const auto answered = hooks().deliver(Webhooks::good(parse.job, std::string(200'001, 'x')));
  EXPECT_EQ(answered.status, 413) << answered.body;
  EXPECT_EQ(hooks().state(parse), "waiting");
}

TEST_F(ParserWebhook, w12_WhatIsRefusedIsCounted) {
  const auto parse = hooks().awaited();
  auto delivery = Webhooks::good(parse.job);
  const auto bad = hooks().counted("llamaparse", "bad_signature");
  const auto late = hooks().counted("llamaparse", "bad_time");
  const auto done = hooks().counted("llamaparse", "processed");
  const auto signature = std::exchange(delivery.signature, std::string(64, '0'));
  hooks().deliver(delivery);
  delivery.signature = signature;
  delivery.timestamp = "1";
  hooks().deliver(delivery);
  delivery.timestamp = std::to_string(unix_now());
  hooks().deliver(delivery);
  EXPECT_EQ(hooks().counted("llamaparse", "bad_signature"), bad + 1);
  EXPECT_EQ(hooks().counted("llamaparse", "bad_time"), late + 1);
  EXPECT_EQ(hooks().counted("llamaparse", "processed"), done + 1);
}

// Many connections, one id: one effect. MILLRACE_WEBHOOK_DELIVERIES says how many deliveries.
TEST_F(ParserWebhook, h02_AnyNumberOfDeliveriesAtOnceHaveOneEffect) {
  const auto parse = hooks().awaited();
  const auto ask = ApiWorld::bytes_of(Webhooks::request(Webhooks::good(parse.job)));
  const char* chosen = std::getenv("MILLRACE_WEBHOOK_DELIVERIES");
  const int deliveries = chosen == nullptr ? 1'000 : std::atoi(chosen);
  constexpr int kConnections = 100;
  std::atomic<int> left = deliveries;
  std::atomic<int> processed = 0;
  std::atomic<int> already = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kConnections; ++i) {
    threads.emplace_back([&] {
      WireClient client(hooks().api().address());
      while (left.fetch_sub(1) > 0) {
        const auto heard = client.ask(ask, {});
        if (heard.status != 200) continue;
        if (heard.body.contains("Processed successfully")) ++processed;
        if (heard.body.contains("Already processed")) ++already;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(processed, 1);
  EXPECT_EQ(processed + already, deliveries);
  EXPECT_EQ(hooks().inbox(parse.job), "1");
  EXPECT_EQ(hooks().value("select count(*) from millrace.event where kind = "
                          "'document.parse_arrived' and $1::uuid = any (job_ids)",
                          pg::params(parse.job)),
            "1");
  EXPECT_EQ(hooks().place(parse), "ready");
}

// --- Thin callbacks ---

class CallbackWebhook : public ParserWebhook {
 protected:
  static Ask callback(const std::string& capability, const std::string& token,
                      const std::string& body = R"({"event_id":"e-1","event_type":"parse.success",)"
                                                R"("timestamp":1753985275.11,"data":{"id":"x"}})") {
    Ask ask{.method = "POST", .path = "/webhooks/parse/" + capability, .body = body};
    if (!token.empty()) ask.headers.emplace_back("X-Millrace-Callback", token);
    return ask;
  }
  static std::string token_of(const std::string& capability, const std::string& master = kMaster) {
    return hex_hmac(master, "callback." + capability);
  }
  static Ask standard(const std::string& capability, const std::string& id,
                      const std::string& timestamp, const std::string& signature,
                      const std::string& body) {
    Ask ask{.method = "POST", .path = "/webhooks/parse/" + capability, .body = body};
    ask.headers = {
        {"webhook-id", id}, {"webhook-timestamp", timestamp}, {"webhook-signature", signature}};
    return ask;
  }
  const std::string event_ = R"({"event_type":"parse.done"})";
};

TEST_F(CallbackWebhook, WakesTheJobAndSaysNothingOfTheResult) {
  const auto parse = hooks().awaited();
  const auto answered = hooks().api().ask(callback(parse.capability, token_of(parse.capability)));
  ASSERT_EQ(answered.status, 200) << answered.body;
  EXPECT_EQ(hooks().place(parse), "ready");
  EXPECT_EQ(hooks().state(parse), "waiting");
  // Delivered three times, taken once.
  const auto again = hooks().api().ask(callback(parse.capability, token_of(parse.capability)));
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(text_of(again, "message"), "Already processed");
  EXPECT_EQ(hooks().inbox(parse.job), "1");
}

TEST_F(CallbackWebhook, ACapabilityAloneIsNotEnough) {  // H03
  const auto parse = hooks().awaited();
  for (const auto& token : {std::string(), std::string("wrong"), token_of("another"),
                            token_of(parse.capability, "a master secret that nobody has here")}) {
    EXPECT_EQ(hooks().api().ask(callback(parse.capability, token)).status, 401);
  }
  EXPECT_EQ(hooks().place(parse), "delayed");
  EXPECT_EQ(
      hooks().api().ask(callback(parse.capability, token_of(parse.capability, kPrevious))).status,
      200);
}

TEST_F(CallbackWebhook, ACapabilityThatNobodyHandedOutIsNotFound) {
  EXPECT_EQ(hooks().api().ask(callback("nothing", token_of("nothing"))).status, 404);
}

TEST_F(CallbackWebhook, OnlyEventsOfParsesAreTaken) {
  const auto parse = hooks().awaited();
  const auto token = token_of(parse.capability);
  EXPECT_EQ(hooks().api().ask(callback(parse.capability, token, "{}")).status, 400);
  EXPECT_EQ(hooks()
                .api()
                .ask(callback(parse.capability, token, R"({"event_type":"extract.done"})"))
                .status,
            400);
  for (const auto* type : {"parse.partial_success", "parse.failure", "parse.pending"}) {
    EXPECT_EQ(hooks()
                  .api()
                  .ask(callback(parse.capability, token,
                                R"({"event_id":")" + std::string(type) + R"(","event_type":")" +
                                    type + "\"}"))
                  .status,
              200)
        << type;
  }
}

TEST_F(CallbackWebhook, StandardWebhooksAreAcceptedWithEitherKey) {  // T-10
  for (const auto& key : {kSigningKey, kOldSigningKey}) {
    const auto parse = hooks().awaited();
    const auto signature = must(
        identity::sign_webhook(Secret<std::string>(key), "msg_1", SystemClock().wall(), event_));
    const auto answered = hooks().api().ask(
        standard(parse.capability, "msg_1", std::to_string(unix_now()), signature, event_));
    EXPECT_EQ(answered.status, 200) << answered.body;
    EXPECT_EQ(hooks().place(parse), "ready");
  }
}

TEST_F(CallbackWebhook, StandardWebhooksAreRefusedWhereAnyByteIsAnother) {
  const auto parse = hooks().awaited();
  const auto now = SystemClock().wall();
  const auto stamp =
      std::to_string(std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count());
  const std::string id = "msg_1";
  const auto signature =
      must(identity::sign_webhook(Secret<std::string>(kSigningKey), id, now, event_));
  const auto status = [&](const std::string& of_id, const std::string& of_stamp,
                          const std::string& of_signature, const std::string& of_body) {
    return hooks()
        .api()
        .ask(standard(parse.capability, of_id, of_stamp, of_signature, of_body))
        .status;
  };
  const auto altered = [](std::string text, std::size_t at) {
    text[at] = static_cast<char>(text[at] ^ 1);
    return text;
  };
  for (std::size_t i = 0; i < id.size(); ++i) {
    EXPECT_EQ(status(altered(id, i), stamp, signature, event_), 401) << i;
  }
  for (std::size_t i = 0; i < stamp.size(); ++i) {
    EXPECT_EQ(status(id, altered(stamp, i), signature, event_), 401) << i;
  }
  for (std::size_t i = 0; i < signature.size(); ++i) {
    EXPECT_EQ(status(id, stamp, altered(signature, i), event_), 401) << i;
  }
  for (std::size_t i = 0; i < event_.size(); ++i) {
    EXPECT_EQ(status(id, stamp, signature, altered(event_, i)), 401) << i;
  }
  EXPECT_EQ(hooks().place(parse), "delayed");
  EXPECT_EQ(status(id, stamp, signature, event_), 200);
}

TEST_F(CallbackWebhook, StandardWebhooksOfAnotherTimeAreRefused) {
  const auto parse = hooks().awaited();
  for (const auto shift : {-400, 400}) {
    const auto at = SystemClock().wall() + std::chrono::seconds(shift);
    const auto signature =
        must(identity::sign_webhook(Secret<std::string>(kSigningKey), "msg_1", at, event_));
    const auto answered = hooks().api().ask(
        standard(parse.capability, "msg_1", std::to_string(unix_now() + shift), signature, event_));
    EXPECT_EQ(answered.status, 401) << answered.body;
    EXPECT_EQ(text_of(answered, "code"), "invalid_timestamp");
  }
}

// The capability is in no log.
TEST_F(CallbackWebhook, TheCapabilityIsInNoLog) {
  const auto parse = hooks().awaited();
  hooks().api().ask(callback(parse.capability, token_of(parse.capability)));
  EXPECT_THAT(hooks().api().program().err(), testing::Not(HasSubstr(parse.capability)));
}

// --- Settings ---

TEST(WebhookSettings, w06_OnlyAddressesOfTheListMayDeliver) {  // H06
  Webhooks hooks({{"MILLRACE_WEBHOOK_ALLOWED_ADDRESSES", "203.0.113.0/24,2001:db8::/32"},
                  {"MILLRACE_SERVER_TRUSTED_PROXIES", "127.0.0.1"}});
  const auto parse = hooks.awaited();
  const auto from = [&](const std::string& forwarded) {
    auto delivery = Webhooks::good(parse.job);
    if (!forwarded.empty()) delivery.more = {{"X-Forwarded-For", forwarded}};
    return hooks.deliver(delivery).status;
  };
  EXPECT_EQ(from(""), 403);
  EXPECT_EQ(from("198.51.100.7"), 403);
  // What a client writes into the header itself does not count.
  EXPECT_EQ(from("203.0.113.9, 198.51.100.7"), 403);
  EXPECT_EQ(hooks.state(parse), "waiting");
  EXPECT_EQ(from("198.51.100.7, 203.0.113.9"), 200);
  EXPECT_EQ(hooks.counted("llamaparse", "bad_address"), 3);
}

TEST(WebhookSettings, w06_WithoutTrustedProxiesTheHeaderCountsForNothing) {
  Webhooks hooks({{"MILLRACE_WEBHOOK_ALLOWED_ADDRESSES", "203.0.113.0/24"}});
  const auto parse = hooks.awaited();
  auto delivery = Webhooks::good(parse.job);
  delivery.more = {{"X-Forwarded-For", "203.0.113.9"}};
  EXPECT_EQ(hooks.deliver(delivery).status, 403);
}

TEST(WebhookSettings, w11_SwitchedOffThereIsNothing) {
  Webhooks hooks({{"MILLRACE_WEBHOOK_ENABLED", "false"}});
  const auto parse = hooks.awaited();
  EXPECT_EQ(hooks.deliver(Webhooks::good(parse.job)).status, 404);
  EXPECT_EQ(hooks.state(parse), "waiting");
}

TEST(WebhookSettings, w03_w04_CompatibilityIsASettingEach) {
  const std::string global = "one secret for every job of this parser here";
  Webhooks hooks(
      {{"MILLRACE_WEBHOOK_GLOBAL_SECRET", global}, {"MILLRACE_WEBHOOK_CANONICAL_JSON", "true"}});
  const auto parse = hooks.awaited();
  Webhooks::Delivery delivery{
      .body = "{ \"status\": \"failed\",\n  \"job_id\": \"" + parse.job + "\" }", .signature = {}};
  delivery.signature =
      Webhooks::sign(global, R"({"job_id":")" + parse.job + R"(","status":"failed"})");
  EXPECT_EQ(hooks.deliver(delivery).status, 200);
  EXPECT_EQ(hooks.state(parse), "failed");
}

}  // namespace
}  // namespace millrace::test
