// Parsers outside, through the real programs: the server, a worker, PostgreSQL, and a stand-in for
// the parsers. B-02, B-05, B-06, T-13; F08, H05.
#include "integration/documents_world.h"
#include "parser_stand_in.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <future>
#include <thread>

namespace millrace::test {
namespace {

using testing::HasSubstr;
using End = ParsePlan::End;
using Create = ParsePlan::Create;
using When = ParsePlan::Callback::When;
using namespace std::chrono_literals;

const std::string kMaster = "a master secret for parsers outside, long enough";
const std::string kParserKey = "llx-parser-key";

constexpr std::string_view kPipelines = R"(
name = "{0}"
version = "1.0.0"

[[queue]]
name = "parse_{0}"
max_attempts = 2
backoff_base = "1s"
backoff_cap = "1s"

[[stage]]
name = "{0}_parse"
run = "parse"
queue = "parse_{0}"
provider = "{1}"

[[stage]]
name = "{0}_validate"
run = "validate"
queue = "parse_{0}"
)";

// The stand-in on a thread of its own.
class StandInThread {
 public:
  StandInThread() : guard_(io_.get_executor()), thread_([this] { io_.run(); }) {
    on([this] {
      stand_in_ = std::make_unique<ParserStandIn>(
          io_, clock_, ParserStandInOptions{.key = kParserKey, .retry_base = 100ms});
    });
  }
  ~StandInThread() {
    on([this] { stand_in_.reset(); });
    guard_.reset();
    io_.stop();
    thread_.join();
  }
  // Does it there, and waits for it.
  template <class Work>
  std::invoke_result_t<Work> on(Work work) {
    std::packaged_task<std::invoke_result_t<Work>()> task(std::move(work));
    auto done = task.get_future();
    boost::asio::post(io_, [&task] { task(); });
    return done.get();
  }
  void push(ParsePlan plan) {
    on([&] { stand_in_->push(std::move(plan)); });
  }
  std::string url() {
    return on([this] { return stand_in_->url(); });
  }
  std::size_t parses() {
    return on([this] { return stand_in_->parses().size(); });
  }
  StoodParse last() {
    return on([this] { return stand_in_->parses().back(); });
  }
  std::deque<SentCallback> callbacks() {
    return on([this] { return stand_in_->callbacks(); });
  }

 private:
  boost::asio::io_context io_{1};
  SystemClock clock_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_;
  std::thread thread_;
  std::unique_ptr<ParserStandIn> stand_in_;
};

class RemoteParses : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    parsers_ = std::make_unique<StandInThread>();
    world_ = std::make_unique<UploadWorld>(
        std::map<std::string, std::string>{{"MILLRACE_WEBHOOK_SECRET", kMaster}});
    folder_ = std::make_unique<TempFolder>();
    must(write_file_atomically(folder_->path() / "cloud.toml",
                               fmt::format(fmt::runtime(kPipelines), "cloud", "llamaparse"), 0644));
    must(write_file_atomically(folder_->path() / "hook.toml",
                               fmt::format(fmt::runtime(kPipelines), "hook", "webhook"), 0644));
    worker_ = std::make_unique<DocumentWorker>(*world_, environment());
  }
  static void TearDownTestSuite() {
    worker_.reset();
    world_.reset();
    parsers_.reset();
    folder_.reset();
  }
  static std::map<std::string, std::string> environment() {
    const auto at = api().address().to_string();
    return {{"MILLRACE_PIPELINE_DIR", folder_->path().string()},
            {"MILLRACE_AUTH_JWT_SECRET", ApiWorld::kSecret},
            {"MILLRACE_SERVER_PUBLIC_URL", "http://" + at},
            {"MILLRACE_WEBHOOK_SECRET", kMaster},
            {"MILLRACE_LLAMAPARSE_BASE_URL", parsers().url()},
            {"MILLRACE_LLAMAPARSE_API_KEY", kParserKey},
            {"MILLRACE_LLAMAPARSE_VERSION", "2026-01-08"},
            {"MILLRACE_LLAMAPARSE_PRICE_PAGE", "0.003"},
            {"MILLRACE_PARSER_URL", parsers().url()},
            {"MILLRACE_PARSER_TOKEN", kParserKey},
            {"MILLRACE_PARSE_DEADLINE", "6s"}};
  }
  static ApiWorld& api() { return world_->api(); }
  static StandInThread& parsers() { return *parsers_; }

  std::string upload(const std::string& content, const std::string& pipeline) {
    auto ask = UploadWorld::raw(who_, content, {}, "letter.pdf");
    ask.path += "&pipeline=" + pipeline;
    const auto made = api().ask(ask);
    EXPECT_EQ(made.status, 201) << made.body;
    return text_of(made, "id");
  }
  std::string value(const std::string& query, pg::Params params = {}) {
    auto sql = api().sql();
    const auto rows = must(sql.query(query, std::move(params)));
    return rows.empty() ? "(none)" : rows[0].opt_text(0).value_or("(null)");
  }
  std::string state(const std::string& id) {
    return value("select status from millrace.shell_files where id = $1::uuid", pg::params(id));
  }
  std::string ended(const std::string& id) {
    eventually([&] { return state(id) != "uploaded" && state(id) != "processing"; });
    return state(id);
  }
  std::string request(const std::string& id, const std::string& column) {
    return value("select " + column + "::text from millrace.parse_request where file_id = $1::uuid",
                 pg::params(id));
  }
  // What the parse made, as it is stored.
  std::string parsed(const std::string& id) {
    const auto key = value(
        "select b.store_key from millrace.page_result r join millrace.blob_object b using "
        "(tenant_id, sha256) where r.file_id = $1::uuid and r.page = 0 and r.stage like '%parse'",
        pg::params(id));
    for (const auto& entry : fs::recursive_directory_iterator(world_->blobs())) {
      if (!entry.is_regular_file()) continue;
      const auto content = must(read_file(entry.path()));
      if (blob::sha256(content).hex() ==
          value("select encode(r.sha256, 'hex') from millrace.page_result r where r.file_id = "
                "$1::uuid and r.page = 0 and r.stage like '%parse'",
                pg::params(id))) {
        return content;
      }
    }
    return "(nothing under " + key + ")";
  }
  std::string calls(const std::string& id) {
    return value(
        "select string_agg(c.state || ' ' || coalesce(c.cost_micros::text, '?'), ', ' order by "
        "c.started_at) from millrace.provider_call c join millrace.parse_request r using (job_id) "
        "where r.file_id = $1::uuid",
        pg::params(id));
  }
  std::string charged(const std::string& id) {
    return value(
        "select count(*) from millrace.attempt a join millrace.parse_request r using (job_id) "
        "where r.file_id = $1::uuid and a.charged",
        pg::params(id));
  }

  UploadWorld::Person who_ = world_->person();

  static std::unique_ptr<StandInThread> parsers_;
  static std::unique_ptr<UploadWorld> world_;
  static std::unique_ptr<TempFolder> folder_;
  static std::unique_ptr<DocumentWorker> worker_;
};

std::unique_ptr<StandInThread> RemoteParses::parsers_;
std::unique_ptr<UploadWorld> RemoteParses::world_;
std::unique_ptr<TempFolder> RemoteParses::folder_;
std::unique_ptr<DocumentWorker> RemoteParses::worker_;

TEST_F(RemoteParses, LlamaParseIsAskedOnceAndLookedAfterWithoutCallbacks) {  // B-02
  parsers().push({.polls_pending = 1, .polls_running = 1, .callbacks = {}});
  const auto before = parsers().parses();
  const auto id = upload("# One\n\nwater\f# Two\n\nwheel", "cloud");
  ASSERT_EQ(ended(id), "completed");
  EXPECT_EQ(parsed(id), "<!-- page 1 -->\n\n# One\n\nwater\n\n<!-- page 2 -->\n\n# Two\n\nwheel\n");
  EXPECT_EQ(parsers().parses(), before + 1);
  EXPECT_EQ(parsers().last().source, "upload");
  EXPECT_EQ(parsers().last().configuration.at("version"), "2026-01-08");
  EXPECT_EQ(request(id, "state") + " " + request(id, "asks"), "arrived 1");
  EXPECT_EQ(request(id, "remote_id"), parsers().last().id);
  // Two pages, paid for once; waiting was free.
  EXPECT_EQ(calls(id), "answered 6000");
  EXPECT_EQ(charged(id), "0");
}

// As many as the queue allows attempts: what is paid for is not given up for them.
TEST_F(RemoteParses, f08_LooksThatFailCostNoAttempt) {
  parsers().push({.polls_broken = 2, .callbacks = {}});
  const auto before = parsers().parses();
  const auto id = upload("# One\n\nwater", "cloud");
  ASSERT_EQ(ended(id), "completed");
  EXPECT_EQ(parsers().last().broken, 2);
  EXPECT_EQ(parsers().parses(), before + 1);
  EXPECT_EQ(calls(id), "answered 3000");
  EXPECT_EQ(charged(id), "0");
}

TEST_F(RemoteParses, ACallbackWakesTheJobAndIsTakenOnce) {
  parsers().push({.takes = 100ms, .callbacks = {{.times = 2}}});
  const auto id = upload("text", "cloud");
  ASSERT_EQ(ended(id), "completed");
  EXPECT_EQ(value("select string_agg(effect, ' ') from millrace.webhook_inbox w join "
                  "millrace.parse_request r on w.source = 'parse:' || r.job_id where r.file_id = "
                  "$1::uuid",
                  pg::params(id)),
            "woken");
}

TEST_F(RemoteParses, ACallbackWithAWrongTokenIsRefusedAndNotNeeded) {
  parsers().push({.callbacks = {{.wrong_token = true}}});
  const auto id = upload("text", "cloud");
  ASSERT_EQ(ended(id), "completed");
  eventually([&] { return parsers().callbacks().back().attempt == 3; });
  EXPECT_EQ(parsers().callbacks().back().status, 401);
}

TEST_F(RemoteParses, PagesThatFailedMakeTheDocumentPartial) {
  parsers().push({.failed_pages = {2}});
  const auto id = upload("one\ftwo\fthree", "cloud");
  ASSERT_EQ(ended(id), "partial");
  EXPECT_EQ(parsed(id), "<!-- page 1 -->\n\none\n\n<!-- page 3 -->\n\nthree\n");
}

// Pages that are parsed and blank are charged, and are no document.
TEST_F(RemoteParses, PagesWithoutTextFailTheDocument) {
  parsers().push({.text = " \f\n"});
  const auto id = upload("x", "cloud");
  ASSERT_EQ(ended(id), "failed");
  EXPECT_THAT(request(id, "reason"), HasSubstr("no page of the document has a text"));
  EXPECT_EQ(calls(id), "answered 6000");
  parsers().push({.text = "<!-- page 1 -->\n"});
  const auto delivered = upload("x", "hook");
  ASSERT_EQ(ended(delivered), "failed");
}

TEST_F(RemoteParses, AParseThatFailedFailsTheDocumentWithItsReason) {  // H05
  parsers().push({.end = End::failed, .error = "the file is encrypted"});
  const auto id = upload("x", "cloud");
  ASSERT_EQ(ended(id), "failed");
  EXPECT_EQ(request(id, "state"), "failed");
  EXPECT_THAT(request(id, "reason"), HasSubstr("the file is encrypted"));
  EXPECT_EQ(calls(id), "failed 0");
}

TEST_F(RemoteParses, f08_AnAskWhoseAnswerWasLostIsAskedAgainAndStaysOnTheAccount) {
  parsers().push({.create = Create::cut, .callbacks = {}});
  parsers().push({.callbacks = {}});
  const auto before = parsers().parses();
  const auto id = upload("text", "cloud");
  ASSERT_EQ(ended(id), "completed");
  EXPECT_EQ(parsers().parses(), before + 2);
  EXPECT_EQ(request(id, "asks"), "2");
  EXPECT_EQ(calls(id), "unknown ?, answered 3000");
}

TEST_F(RemoteParses, WhatWasCertainlyNotDoneIsNotCounted) {
  parsers().push({.create = Create::throttled});
  parsers().push({.callbacks = {}});
  const auto id = upload("text", "cloud");
  ASSERT_EQ(ended(id), "completed");
  EXPECT_EQ(request(id, "asks"), "1");
  EXPECT_EQ(charged(id), "0");
}

// The worst moment to die: the service has taken it, and nobody has written down its id.
TEST_F(RemoteParses, f08_AWorkerThatDiesBetweenAskAndNoteCostsOneAsk) {
  worker_.reset();
  const auto before = parsers().parses();
  auto doomed = environment();
  doomed["MILLRACE_FAULT"] = "note_parse.before=kill";
  auto dying = std::make_unique<DocumentWorker>(*world_, doomed);
  const auto id = upload("text", "cloud");
  ASSERT_TRUE(dying->dies());
  dying.reset();
  EXPECT_EQ(request(id, "state") + " " + request(id, "asks"), "asked 1");
  worker_ = std::make_unique<DocumentWorker>(*world_, environment());
  ASSERT_EQ(ended(id), "completed");
  EXPECT_EQ(parsers().parses(), before + 2);
  EXPECT_EQ(request(id, "asks"), "2");
  EXPECT_EQ(calls(id), "unknown ?, answered 3000");
}

TEST_F(RemoteParses, b05_AParserThatAnswersByWebhookFetchesTheDocumentAndDelivers) {  // T-13
  parsers().push({.takes = 100ms});
  const auto id = upload("# From the link\n\nwater\n", "hook");
  ASSERT_EQ(ended(id), "completed");
  const auto asked = parsers().last();
  EXPECT_TRUE(asked.fetched);
  EXPECT_EQ(asked.content, "# From the link\n\nwater\n");
  EXPECT_EQ(asked.job_id, request(id, "job_id"));
  EXPECT_THAT(asked.webhook_url, HasSubstr("/webhooks/llamaparse"));
  EXPECT_EQ(parsed(id), "# From the link\n\nwater\n");
  EXPECT_EQ(charged(id), "0");
}

// No secret of a job is in a row, an event or an audit (H03).
TEST_F(RemoteParses, h03_TheSecretOfAJobIsKeptNowhere) {
  parsers().push({.takes = 50ms});
  const auto id = upload("secretive", "hook");
  ASSERT_EQ(ended(id), "completed");
  const auto secret = parsers().last().webhook_secret;
  ASSERT_EQ(secret.size(), 64U);
  for (const auto* table : {"parse_request", "event", "audit", "attempt", "webhook_inbox",
                            "provider_call", "job_fact"}) {
    EXPECT_EQ(
        value(fmt::format("select count(*) from millrace.{} t where t::text like '%' || $1 || "
                          "'%'",
                          table),
              pg::params(secret)),
        "0")
        << table;
  }
}

TEST_F(RemoteParses, ADeliveryThatOvertakesTheAnswerIsTaken) {
  parsers().push({.callbacks = {{.when = When::before}}, .text = "early"});
  const auto id = upload("late", "hook");
  ASSERT_EQ(ended(id), "completed");
  EXPECT_EQ(parsed(id), "early");
}

TEST_F(RemoteParses, b02_AParserThatNeverDeliversIsGivenUpAtTheDeadline) {
  parsers().push({.end = End::never});
  const auto id = upload("x", "hook");
  ASSERT_EQ(ended(id), "failed");
  EXPECT_EQ(request(id, "state"), "failed");
  // It may still have done it.
  EXPECT_EQ(calls(id), "unknown ?");
}

// It came after the deadline, and is paid for: whoever begins the document anew has it.
TEST_F(RemoteParses, f08_TextThatCameTooLateIsThatOfTheDocumentBegunAnew) {
  parsers().push({.takes = 8'000ms, .text = "late, and paid for"});
  const auto before = parsers().parses();
  const auto id = upload("x", "hook");
  ASSERT_EQ(ended(id), "failed");
  ASSERT_TRUE(eventually([&] { return request(id, "state") == "arrived"; }));
  ASSERT_EQ(api().post("/api/v1/documents/" + id + "/retry", who_.token, "").status / 100, 2);
  ASSERT_EQ(ended(id), "completed");
  EXPECT_EQ(parsed(id), "late, and paid for");
  EXPECT_EQ(parsers().parses(), before + 1);
  EXPECT_EQ(value("select count(*) from millrace.provider_call c join millrace.job_fact j using "
                  "(job_id) where j.payload ->> 'shell_file_id' = $1",
                  pg::params(id)),
            "1");
}

TEST_F(RemoteParses, DeliveriesThatAreForgedLeaveTheJobWaiting) {
  parsers().push({.wrong_signature = true});
  const auto id = upload("x", "hook");
  ASSERT_EQ(ended(id), "failed");
  EXPECT_EQ(parsers().callbacks().back().status, 401);
}

TEST_F(RemoteParses, AFailureIsDeliveredLikeAResult) {  // H05
  parsers().push({.end = End::failed, .error = "unreadable"});
  const auto id = upload("x", "hook");
  ASSERT_EQ(ended(id), "failed");
  EXPECT_EQ(request(id, "reason"), "unreadable");
  EXPECT_EQ(parsers().callbacks().back().status, 200);
}

}  // namespace
}  // namespace millrace::test
