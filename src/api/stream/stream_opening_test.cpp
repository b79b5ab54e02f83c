// How streams begin and end: once, with all that belongs to it, whoever was away in between.
#include "api/stream/stream_opening.h"

#include "api/stream/stream_server_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace millrace::api {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

class StreamOpening : public testing::Test {
 protected:
  static std::string job_path(int number = 1) {
    return "/api/v1/jobs/" + job_number(number).to_string() + "/events";
  }
  // Of a job that is watched from now on.
  static std::string snapshot_id(StreamServer& server) {
    auto client = server.watch(job_path(), server.service());
    EXPECT_EQ(client.next_name(), "snapshot");
    return client.last_id();
  }
  static std::vector<std::string> names(StreamClient client) {
    std::vector<std::string> all;
    while (const auto got = client.next()) all.push_back(got->event);
    EXPECT_TRUE(client.ended());
    return all;
  }

  FakeLog log_;
  FakeJobs jobs_;
};

// The server has not read the end yet when it tells it.
TEST_F(StreamOpening, AJobThatHasJustEndedIsToldOnce) {
  StreamServer server(log_, jobs_, {.poll = 1h, .quiet_poll = 1h});
  snapshot_id(server);
  jobs_.set("completed");
  log_.add({.kind = "job.completed"});
  auto client = server.watch(job_path(), server.service());
  EXPECT_EQ(client.next_name(), "completed");
  EXPECT_FALSE(client.next());
  EXPECT_EQ(server.watch(job_path(), server.service(), client.last_id()).status(), 204);
}

TEST_F(StreamOpening, AnEndStaysToldHoweverMuchHasHappenedSince) {
  StreamServer server(log_, jobs_, {.poll = 2ms, .quiet_poll = 5ms, .missed_scan_max = 3});
  auto client = server.watch(job_path(), server.service());
  EXPECT_EQ(client.next_name(), "snapshot");
  jobs_.set("completed");
  log_.add({.kind = "job.completed"});
  EXPECT_EQ(client.next_name(), "completed");
  for (int i = 0; i < 10; ++i) log_.add({.jobs = {job_number(2)}});
  EXPECT_EQ(server.watch(job_path(), server.service(), client.last_id()).status(), 204);
  EXPECT_EQ(log_.questions, 0);
}

TEST_F(StreamOpening, AJobThatWasStartedAgainIsWatchedAgain) {
  StreamServer server(log_, jobs_);
  auto client = server.watch(job_path(), server.service());
  EXPECT_EQ(client.next_name(), "snapshot");
  jobs_.set("completed");
  log_.add({.kind = "job.completed"});
  EXPECT_EQ(client.next_name(), "completed");
  const auto told = client.last_id();
  jobs_.set("processing");
  log_.add({.kind = "job.redriven"});
  auto again = server.watch(job_path(), server.service(), told);
  EXPECT_EQ(again.next_name(), "redriven");
  jobs_.set("failed");
  log_.add({.kind = "job.failed"});
  EXPECT_EQ(again.next_name(), "failed");
  EXPECT_THAT(names(server.watch(job_path(), server.service(), told)),
              ElementsAre("redriven", "failed"));
  EXPECT_EQ(server.watch(job_path(), server.service(), again.last_id()).status(), 204);
}

// As events lie in logs that were written when handlers' own ones came behind the end.
TEST_F(StreamOpening, WhatLiesBehindTheEndChangesNothingOfIt) {
  StreamServer server(log_, jobs_);
  const auto before = snapshot_id(server);
  jobs_.set("completed", R"({"result_url":"exports/1.pdf"})");
  log_.add({.kind = "page.done"});
  log_.add({.kind = "job.completed"});
  log_.add({.kind = "page.late"});
  auto client = server.watch(job_path(), server.service(), before);
  EXPECT_EQ(client.next_name(), "page.done");
  const auto end = client.next();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->event, "completed");
  EXPECT_EQ(data_of(end).at("resultUrl"), json::Value("exports/1.pdf"));
  EXPECT_TRUE(data_of(end).contains("job"));
  EXPECT_FALSE(client.next());
  EXPECT_EQ(server.watch(job_path(), server.service(), end->id).status(), 204);
  // Also with an id as servers gave it that did not say which end it was.
  const auto position = end->id.substr(0, end->id.find(kEndSign));
  ASSERT_LT(position.size(), end->id.size());
  EXPECT_EQ(server.watch(job_path(), server.service(), position).status(), 204);
}

// Nothing is better than "completed, without a result" of a job that has one.
TEST_F(StreamOpening, AnEndThatCannotBeLookedUpIsToldLater) {
  StreamServer server(log_, jobs_);
  auto client = server.watch(job_path(), server.service());
  EXPECT_EQ(client.next_name(), "snapshot");
  jobs_.set("completed", R"({"result_url":"exports/1.pdf"})");
  jobs_.away = true;
  log_.add({.kind = "job.completed"});
  EXPECT_FALSE(client.next());
  EXPECT_TRUE(client.ended());
  jobs_.away = false;
  auto again = server.watch(job_path(), server.service(), client.last_id());
  const auto end = again.next();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->event, "completed");
  EXPECT_EQ(data_of(end).at("resultUrl"), json::Value("exports/1.pdf"));
}

TEST_F(StreamOpening, WhoMissedMoreThanMemoryIsForGetsASnapshot) {
  StreamServer server(log_, jobs_, {.poll = 2ms, .start_back = 0, .missed_bytes_max = 50'000});
  const auto before = snapshot_id(server);
  StreamServer other(log_, jobs_, {.poll = 2ms, .start_back = 0, .missed_bytes_max = 50'000});
  const auto data = R"({"text":")" + std::string(20'000, 'x') + R"("})";
  log_.add({.data = data});
  log_.add({.data = data});
  auto client = other.watch(job_path(), other.service(), before);
  EXPECT_EQ(data_of(client.next()).at("missed"), json::Value(true));
}

TEST_F(StreamOpening, WhereTooManyAreToldWhatTheyMissedOneComesAgain) {
  StreamServer server(log_, jobs_, {.poll = 2ms, .start_back = 0, .missed_bytes_all_max = 1});
  const auto before = snapshot_id(server);
  log_.add({});
  StreamServer other(log_, jobs_, {.poll = 2ms, .start_back = 0, .missed_bytes_all_max = 1});
  const auto headers = ApiFixture::bearer(other.service()) + "Last-Event-ID: " + before + "\r\n";
  EXPECT_EQ(other.api().get(job_path(), headers).status, 503);
  EXPECT_THAT(other.api().get(job_path(), headers + "Accept: text/event-stream\r\n").body,
              HasSubstr("retry: "));
}

TEST_F(StreamOpening, NobodyTakesAllTheStreamsThereAre) {
  StreamServer server(log_, jobs_,
                      {.poll = 2ms, .streams_per_user_max = 2, .streams_per_tenant_max = 3});
  const auto person = server.person(1);
  std::vector<StreamClient> open;
  for (int i = 0; i < 2; ++i) {
    open.push_back(server.watch(job_path(), person));
    EXPECT_EQ(open.back().status(), 200);
  }
  EXPECT_EQ(server.watch(job_path(), person).status(), 429);
  EXPECT_EQ(server.watch("/api/v1/events", person).status(), 429);
  open.push_back(server.watch("/api/v1/events", server.service()));
  EXPECT_EQ(open.back().status(), 200);
  EXPECT_EQ(server.watch("/api/v1/events", server.service()).status(), 429);
  EXPECT_EQ(server.watch("/api/v1/events", server.service(kOtherTenant)).status(), 200);
}

TEST_F(StreamOpening, AStreamOpenedWithATicketEndsWithTheTokenOfItsHolder) {
  ManualClock clock;
  StreamServer server(log_, jobs_, StreamServer::quick(), &clock);
  auto& api = server.api();
  const auto ticket = api.tickets().make_ticket(
      identity::StreamTicket{.resource = job_path(),
                             .holder = {.role = identity::Role::authenticated,
                                        .tenant = kStreamTenant,
                                        .subject = user_number(1).to_string(),
                                        .token_id = {}},
                             .expires_at = identity::instant_of(api.clock().wall()) + 60s,
                             .holder_expires_at = identity::instant_of(clock.wall()) + 10min});
  ASSERT_TRUE(ticket) << ticket.error().message;
  StreamClient client(api.address(), job_path() + "?token=" + ticket->reveal(), "");
  EXPECT_EQ(client.next_name(), "snapshot");
  // The reader of the log and the hub's second hand sleep.
  run_blocking(clock.wait_for_sleepers(2));
  log_.add({});
  clock.advance(9min);
  EXPECT_EQ(client.next_name(), "progress");
  run_blocking(clock.wait_for_sleepers(2));
  clock.advance(2min);
  EXPECT_FALSE(client.next());
  EXPECT_TRUE(client.ended());
}

}  // namespace
}  // namespace millrace::api
