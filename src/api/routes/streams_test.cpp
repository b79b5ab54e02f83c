#include "api/routes/streams.h"

#include "api/stream/stream_server_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace millrace::api {
namespace {

using namespace std::chrono_literals;
using identity::Role;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class StreamRoutes : public testing::Test {
 protected:
  static std::string job_path(int number = 1) {
    return "/api/v1/jobs/" + job_number(number).to_string() + "/events";
  }

  FakeLog log_;
  FakeJobs jobs_;
};

TEST_F(StreamRoutes, AJobIsWatchedFromItsStateToItsEnd) {  // H-05, K01
  StreamServer server(log_, jobs_);
  auto client = server.watch(job_path(), server.service());
  EXPECT_EQ(client.status(), 200);
  EXPECT_THAT(client.head(), HasSubstr("Content-Type: text/event-stream; charset=utf-8\r\n"));
  EXPECT_THAT(client.head(), HasSubstr("Cache-Control: no-store\r\n"));
  auto got = client.next();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->event, "snapshot");
  EXPECT_EQ(data_of(got).at("status"), json::Value("processing"));
  EXPECT_FALSE(got->id.empty());
  log_.add({.data = R"({"progress":60})"});
  got = client.next();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->event, "progress");
  EXPECT_EQ(data_of(got).at("progress"), json::Value(60));
  jobs_.set("completed", R"({"result_url":"exports/1.pdf"})");
  log_.add({.kind = "job.completed"});
  got = client.next();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->event, "completed");
  EXPECT_EQ(data_of(got).at("resultUrl"), json::Value("exports/1.pdf"));
  EXPECT_FALSE(client.next());
  // The end of a stream does not stop EventSource, this does.
  EXPECT_EQ(server.watch(job_path(), server.service(), got->id).status(), 204);
}

TEST_F(StreamRoutes, AJobThatHasEndedIsToldOnce) {
  StreamServer server(log_, jobs_);
  jobs_.set("failed", "null", R"({"message":"no paper"})");
  auto client = server.watch(job_path(), server.service());
  const auto got = client.next();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->event, "failed");
  EXPECT_EQ(data_of(got).at("error"), json::Value("no paper"));
  EXPECT_FALSE(client.next());
  EXPECT_EQ(server.watch(job_path(), server.service(), got->id).status(), 204);
}

TEST_F(StreamRoutes, WhoMissedTheEndStillGetsIt) {
  StreamServer server(log_, jobs_);
  std::string last;
  {
    auto client = server.watch(job_path(), server.service());
    EXPECT_EQ(client.next_name(), "snapshot");
    last = client.last_id();
  }
  jobs_.set("completed", R"({"result_url":"exports/1.pdf"})");
  log_.add({.data = R"({"progress":90})"});
  log_.add({.kind = "job.completed"});
  auto client = server.watch(job_path(), server.service(), last);
  EXPECT_EQ(client.next_name(), "progress");
  const auto got = client.next();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->event, "completed");
  EXPECT_EQ(data_of(got).at("resultUrl"), json::Value("exports/1.pdf"));
  EXPECT_FALSE(client.next());
  EXPECT_EQ(server.watch(job_path(), server.service(), got->id).status(), 204);
}

TEST_F(StreamRoutes, WhoComesBackSoonIsServedFromMemory) {
  StreamServer server(log_, jobs_);
  auto all = server.watch("/api/v1/events", server.service());
  std::string last;
  {
    auto client = server.watch(job_path(), server.service());
    EXPECT_EQ(client.next_name(), "snapshot");
    log_.add({.data = R"({"progress":1})"});
    EXPECT_EQ(client.next_name(), "progress");
    last = client.last_id();
  }
  log_.add({.data = R"({"progress":2})"});
  log_.add({.jobs = {job_number(2)}});
  log_.add({.data = R"({"progress":3})"});
  for (int i = 0; i < 4; ++i) EXPECT_EQ(all.next_name(), "job.progress");
  auto client = server.watch(job_path(), server.service(), last);
  EXPECT_EQ(data_of(client.next()).at("progress"), json::Value(2));
  EXPECT_EQ(data_of(client.next()).at("progress"), json::Value(3));
  log_.add({.data = R"({"progress":4})"});
  EXPECT_EQ(data_of(client.next()).at("progress"), json::Value(4));
  EXPECT_EQ(log_.questions, 0);
}

TEST_F(StreamRoutes, AnotherServerGoesOnWithoutGapOrDuplicate) {
  std::string last;
  {
    StreamServer first(log_, jobs_);
    auto client = first.watch(job_path(), first.service());
    EXPECT_EQ(client.next_name(), "snapshot");
    log_.add({.data = R"({"progress":1})"});
    EXPECT_EQ(client.next_name(), "progress");
    last = client.last_id();
  }
  log_.add({.data = R"({"progress":2})"});
  log_.add({.data = R"({"progress":3})"});
  // What happened before it began is in its memory, or else in the log.
  for (const int start_back : {100, 0}) {
    auto options = StreamServer::quick();
    options.start_back = start_back;
    StreamServer second(log_, jobs_, options);
    auto client = second.watch(job_path(), second.service(), last);
    for (int i = 2; i <= 3; ++i) {
      EXPECT_EQ(data_of(client.next()).at("progress"), json::Value(i));
    }
    log_.add({.data = R"({"progress":4})"});
    EXPECT_EQ(data_of(client.next()).at("progress"), json::Value(4));
    EXPECT_EQ(log_.questions, start_back == 0 ? 1 : 0);
    last = client.last_id();
    log_.add({.data = R"({"progress":2})"});
    log_.add({.data = R"({"progress":3})"});
  }
}

// Transaction `late` began before and ends after others that were seen.
TEST_F(StreamRoutes, ATransactionThatCommitsLateIsNotLostOnTheWayToAnotherServer) {
  StreamServer second(log_, jobs_);
  auto other = second.watch("/api/v1/events", second.service());
  std::string last;
  const auto late = log_.begin();
  log_.add_to(late, {.data = R"({"progress":7})"});
  {
    StreamServer first(log_, jobs_);
    auto client = first.watch(job_path(), first.service());
    EXPECT_EQ(client.next_name(), "snapshot");
    log_.add({.data = R"({"progress":8})"});
    EXPECT_EQ(data_of(client.next()).at("progress"), json::Value(8));
    last = client.last_id();
  }
  EXPECT_EQ(data_of(other.next()).at("data").at("progress"), json::Value(8));
  log_.commit(late);
  EXPECT_EQ(data_of(other.next()).at("data").at("progress"), json::Value(7));
  auto client = second.watch(job_path(), second.service(), last);
  EXPECT_EQ(data_of(client.next()).at("progress"), json::Value(7));
  log_.add({.data = R"({"progress":9})"});
  EXPECT_EQ(data_of(client.next()).at("progress"), json::Value(9));
}

TEST_F(StreamRoutes, WhoWasAwayTooLongGetsASnapshot) {
  StreamServer server(log_, jobs_);
  auto all = server.watch("/api/v1/events", server.service());
  std::string last;
  {
    auto client = server.watch(job_path(), server.service());
    EXPECT_EQ(client.next_name(), "snapshot");
    last = client.last_id();
  }
  log_.remove_all();
  // The server has lost its own place with it: whoever listens comes back.
  EXPECT_FALSE(all.next());
  auto client = server.watch(job_path(), server.service(), last);
  const auto got = client.next();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->event, "snapshot");
  EXPECT_EQ(data_of(got).at("missed"), json::Value(true));
  log_.add({.data = R"({"progress":5})"});
  EXPECT_EQ(data_of(client.next()).at("progress"), json::Value(5));
  auto tenant = server.watch("/api/v1/events", server.service(), last);
  EXPECT_EQ(data_of(tenant.next()).at("missed"), json::Value(true));
}

TEST_F(StreamRoutes, AnIdThatIsNotOursIsASnapshotAndNoError) {
  StreamServer server(log_, jobs_);
  auto client = server.watch(job_path(), server.service(), "nonsense");
  EXPECT_EQ(client.status(), 200);
  EXPECT_EQ(client.next_name(), "snapshot");
  auto in_query = server.watch(job_path() + "?last_event_id=nonsense", server.service());
  EXPECT_EQ(data_of(in_query.next()).at("missed"), json::Value(true));
}

TEST_F(StreamRoutes, NobodySeesAnothersJobs) {  // I08, I09, T-02
  StreamServer server(log_, jobs_);
  EXPECT_EQ(StreamClient(server.api().address(), job_path(), "").status(), 401);
  EXPECT_EQ(server.watch(job_path(), server.service(kOtherTenant)).status(), 404);
  EXPECT_EQ(server.watch(job_path(10), server.service()).status(), 404);
  EXPECT_EQ(server.watch(job_path(), server.person(1)).status(), 200);
  EXPECT_EQ(server.watch(job_path(), server.person(2)).status(), 404);
  EXPECT_EQ(server.watch(job_path(), server.person(1, kOtherTenant)).status(), 404);
}

TEST_F(StreamRoutes, TheStreamOfATenantHoldsNothingOfOthers) {
  StreamServer server(log_, jobs_);
  auto own = server.watch("/api/v1/events", server.service());
  auto other = server.watch("/api/v1/events", server.service(kOtherTenant));
  auto everything = server.watch("/api/v1/events", server.api().token(Role::service_role));
  log_.add({.kind = "job.enqueued"});
  log_.add({.kind = "job.enqueued", .tenant = kOtherTenant});
  log_.add({.kind = "job.claimed"});
  EXPECT_EQ(own.next_name(), "job.enqueued");
  EXPECT_EQ(own.next_name(), "job.claimed");
  EXPECT_EQ(data_of(other.next()).at("tenant_id"), json::Value(kOtherTenant.to_string()));
  for (const auto* kind : {"job.enqueued", "job.enqueued", "job.claimed"}) {
    EXPECT_EQ(everything.next_name(), kind);
  }
}

TEST_F(StreamRoutes, PeopleSeeTheirOwnJobsInTheStreamOfTheTenant) {  // T-02
  log_.owners = {{job_number(1), user_number(1)}, {job_number(2), user_number(2)}};
  StreamServer server(log_, jobs_);
  auto person = server.watch("/api/v1/events", server.person(1));
  log_.add({.jobs = {job_number(2)}});
  log_.add({.jobs = {job_number(1), job_number(2)}});
  const auto got = person.next();
  EXPECT_EQ(data_of(got).at("job_ids").as_array().size(), 1U);
  EXPECT_THAT(got->data, Not(HasSubstr(job_number(2).to_string())));
  // And when they come back.
  auto all = server.watch("/api/v1/events", server.service());
  log_.add({.jobs = {job_number(2)}});
  log_.add({.kind = "job.claimed", .jobs = {job_number(1)}});
  EXPECT_EQ(all.next_name(), "job.progress");
  EXPECT_EQ(all.next_name(), "job.claimed");
  auto again = server.watch("/api/v1/events", server.person(1), person.last_id());
  EXPECT_EQ(again.next_name(), "job.claimed");
}

TEST_F(StreamRoutes, QueuesAndBatchesAreNotForPeople) {
  StreamServer server(log_, jobs_);
  const auto batch = "/api/v1/batches/" + batch_number(1).to_string() + "/events";
  EXPECT_EQ(server.watch("/api/v1/queues/default/events", server.person(1)).status(), 403);
  EXPECT_EQ(server.watch(batch, server.person(1)).status(), 403);
  EXPECT_EQ(server.watch("/api/v1/queues/nowhere/events", server.service()).status(), 404);
  EXPECT_EQ(server.watch(batch, server.service(kOtherTenant)).status(), 404);
  auto queue = server.watch("/api/v1/queues/default/events", server.service());
  auto of_batch = server.watch(batch, server.service());
  EXPECT_EQ(of_batch.next_name(), "snapshot");
  log_.add({.queue = "slow"});
  log_.add({.kind = "job.claimed"});
  EXPECT_EQ(queue.next_name(), "job.claimed");
  const auto data = fmt::format(R"({{"batch_id":"{}","completed":1}})", batch_number(1));
  log_.add({.kind = "batch.progress", .jobs = {}, .data = data, .queue = ""});
  EXPECT_EQ(of_batch.next_name(), "progress");
  jobs_.set("completed");
  log_.add({.kind = "batch.finished", .jobs = {}, .data = data, .queue = ""});
  EXPECT_EQ(of_batch.next_name(), "finished");
  EXPECT_FALSE(of_batch.next());
  EXPECT_EQ(server.watch(batch, server.service(), of_batch.last_id()).status(), 204);
}

TEST_F(StreamRoutes, ATicketInTheUrlOpensItsOwnStreamOnly) {
  StreamServer server(log_, jobs_);
  auto& api = server.api();
  const auto ticket = api.tickets().make_ticket(
      identity::StreamTicket{.resource = job_path(),
                             .holder = {.role = Role::authenticated,
                                        .tenant = kStreamTenant,
                                        .subject = user_number(1).to_string(),
                                        .token_id = {}},
                             .expires_at = identity::instant_of(api.clock().wall()) + 60s});
  ASSERT_TRUE(ticket) << ticket.error().message;
  const auto query = "?token=" + ticket->reveal();
  EXPECT_EQ(StreamClient(api.address(), job_path() + query, "").next_name(), "snapshot");
  EXPECT_EQ(StreamClient(api.address(), job_path(2) + query, "").status(), 401);
  EXPECT_EQ(StreamClient(api.address(), "/api/v1/events" + query, "").status(), 401);
}

TEST_F(StreamRoutes, ManyStreamsCostNoQuestion) {  // K01
  StreamServer server(log_, jobs_);
  std::vector<std::unique_ptr<StreamClient>> clients;
  for (int i = 0; i < 50; ++i) {
    clients.push_back(
        std::make_unique<StreamClient>(server.watch("/api/v1/events", server.service())));
  }
  for (int i = 0; i < 10; ++i) log_.add({});
  for (const auto& client : clients) {
    for (int i = 0; i < 10; ++i) EXPECT_EQ(client->next_name(), "job.progress");
  }
  EXPECT_EQ(log_.questions, 0);
  EXPECT_EQ(jobs_.questions, 0);
}

TEST_F(StreamRoutes, AnEndThatManyWaitForIsLookedUpOnce) {
  StreamServer server(log_, jobs_);
  std::vector<std::unique_ptr<StreamClient>> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(std::make_unique<StreamClient>(server.watch(job_path(), server.service())));
    EXPECT_EQ(clients.back()->next_name(), "snapshot");
  }
  const int asked = jobs_.questions;
  jobs_.set("completed");
  log_.add({.kind = "job.completed"});
  for (const auto& client : clients) EXPECT_EQ(client->next_name(), "completed");
  EXPECT_EQ(jobs_.questions, asked + 1);
}

// An EventSource that is refused gives up for good.
TEST_F(StreamRoutes, WithoutADatabaseAnEventSourceIsToldToComeAgain) {
  StreamServer server(log_, jobs_, {.patience = 20ms});
  log_.away = true;
  const auto token = ApiFixture::bearer(server.service());
  EXPECT_EQ(server.api().get("/api/v1/events", token).status, 503);
  const auto ask = [&] {
    return server.api().get("/api/v1/events", token + "Accept: text/event-stream\r\n");
  };
  const auto told = ask();
  EXPECT_EQ(told.status, 200);
  EXPECT_EQ(told.header("content-type"), "text/event-stream; charset=utf-8");
  EXPECT_EQ(told.header("cache-control"), "no-store");
  EXPECT_THAT(told.body, MatchesRegex("retry: [3-6][0-9][0-9][0-9]\n\n"));
  // Nor can anybody say who it is.
  server.api().directory.away = true;
  EXPECT_THAT(ask().body, HasSubstr("retry: "));
  EXPECT_EQ(server.api().get("/api/v1/events", token).status, 503);
  EXPECT_EQ(server.api().get("/api/v1/events", "Accept: text/event-stream\r\n").status, 401);
}

TEST_F(StreamRoutes, OpenStreamsOutliveAnAbsenceOfTheDatabase) {
  StreamServer server(log_, jobs_);
  auto client = server.watch("/api/v1/events", server.service());
  EXPECT_EQ(client.status(), 200);
  log_.away = true;
  const int reads = log_.reads;
  while (log_.reads == reads) std::this_thread::yield();
  log_.add({});
  log_.away = false;
  EXPECT_EQ(client.next_name(), "job.progress");
}

TEST_F(StreamRoutes, AReaderThatTakesNothingIsClosedAndDisturbsNobody) {
  StreamServer server(log_, jobs_);
  auto good = server.watch("/api/v1/events", server.service());
  http::RawClient slow(server.api().address(), 4096);
  slow.send(http::get("/api/v1/events", ApiFixture::bearer(server.service())));
  slow.read_until("\r\n\r\n");
  const auto data = fmt::format(R"({{"text":"{}"}})", std::string(50'000, 'x'));
  int sent = 0;
  while (!server.metrics().contains("millrace_streams_cut_total 1\n")) {
    ASSERT_LT(++sent, 2000);
    log_.add({.data = data});
    EXPECT_EQ(good.next_name(), "job.progress");
  }
  while (slow.receive()) {
  }
}

TEST_F(StreamRoutes, SaysSoWhenTheClientWantsNoEvents) {
  StreamServer server(log_, jobs_);
  const auto reply = server.api().get(
      "/api/v1/events", ApiFixture::bearer(server.service()) + "Accept: application/json\r\n");
  EXPECT_EQ(reply.status, 406);
  EXPECT_EQ(reply.header("content-type"), "application/problem+json");
}

TEST_F(StreamRoutes, AnExportIsWatchedAsTheSourcesDo) {  // H-04, H-05
  StreamServer server(log_, jobs_);
  const auto path = [](int number) {
    return "/api/v1/export/job/" + job_number(number).to_string() + "/stream";
  };
  EXPECT_EQ(StreamClient(server.api().address(), path(1), "").status(), 401);
  auto client = server.watch(path(1), server.person(1));
  EXPECT_THAT(client.head(), HasSubstr("Cache-Control: no-cache\r\n"));
  EXPECT_THAT(client.head(), HasSubstr("Connection: keep-alive\r\n"));
  EXPECT_EQ(client.next_name(), "progress");
  auto missing = server.watch(path(10), server.person(1));
  const auto got = missing.next();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->event, "job_error");
  EXPECT_EQ(got->data, R"({"message":"Job not found"})");
  EXPECT_FALSE(missing.next());
  EXPECT_EQ(server.watch(path(10), server.person(1), got->id).status(), 204);
}

// As export.status and export.cancel, which find no export there.
TEST_F(StreamRoutes, AnotherJobThanAnExportIsNotWatchedAsOne) {  // H-04
  jobs_.type = "ocr";
  StreamServer server(log_, jobs_);
  auto client =
      server.watch("/api/v1/export/job/" + job_number(1).to_string() + "/stream", server.person(1));
  EXPECT_EQ(client.next_name(), "job_error");
  EXPECT_FALSE(client.next());
  EXPECT_EQ(server.watch(job_path(), server.person(1)).next_name(), "snapshot");
}

// H-05: a minute on this route, and the source's words; other streams go on.
TEST_F(StreamRoutes, h05_AnExportIsWatchedForAMinute) {
  ManualClock clock;
  clock.set_wall(SystemClock().wall());  // Of the tokens.
  StreamServer server(log_, jobs_, StreamServer::quick(), &clock);
  auto exported =
      server.watch(fmt::format("/api/v1/export/job/{}/stream", job_number(1)), server.person(1));
  auto other = server.watch(job_path(), server.person(1));
  EXPECT_EQ(exported.next_name(), "progress") << "as it is when the stream begins";
  EXPECT_EQ(other.next_name(), "snapshot");
  const auto pass = [&](std::chrono::seconds time) {
    run_blocking(clock.wait_for_sleepers(2));  // The reader of the log, and the hub's second hand.
    log_.add({.data = R"({"progress":50})"});
    clock.advance(time);
    EXPECT_EQ(other.next_name(), "progress");
  };
  pass(59s);
  EXPECT_EQ(exported.next_name(), "progress") << "the minute is not over";
  pass(1s);
  auto end = exported.next();
  while (end && end->event == "progress") end = exported.next();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->event, "timeout");
  EXPECT_EQ(end->data, R"({"message":"Stream timeout"})");
  EXPECT_FALSE(exported.next());
  pass(60s);
}

}  // namespace
}  // namespace millrace::api
