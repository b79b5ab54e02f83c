// Live streams of the real program over the real event log: two servers, long transactions, tenants
// and people.
#include "api/stream/stream_client.h"
#include "api_world.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace millrace::test {
namespace {

using api::StreamClient;
using identity::Role;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// A second server on the same database.
class Replica {
 public:
  explicit Replica(const ApiWorld& world) {
    const auto ready = folder_.path() / "ready.json";
    program_ = std::make_unique<BackgroundProgram>(
        std::vector<std::string>{"serve", "--listen", "127.0.0.1:0", "--ready-file",
                                 ready.string()},
        RunOptions{.env = {{"DATABASE_URL", world.database().url("millrace_api")},
                           {"MILLRACE_AUTH_JWT_SECRET", ApiWorld::kSecret},
                           {"MILLRACE_KEEPER_ENABLED", "false"},
                           {"MILLRACE_SERVER_REQUESTS_PER_MINUTE", "0"}},
                   .stdin_text = {},
                   .cwd = {}});
    const auto content = program_->wait_for_ready(ready);
    const std::string url(content.at("http_url").as_string());
    address_ = must(http::parse_listen(url.substr(url.rfind('/') + 1)));
  }
  ~Replica() {
    if (!leaving_) leave();
    EXPECT_EQ(program_->wait(), 0) << program_->err();
  }
  // Begins to stop.
  void leave() {
    leaving_ = true;
    program_->signal(SIGTERM);
  }

  const http::ListenAddress& address() const { return address_; }

 private:
  TempFolder folder_;
  std::unique_ptr<BackgroundProgram> program_;
  http::ListenAddress address_;
  bool leaving_ = false;
};

// A worker over HTTP that has a tenant's jobs of the queue `default` for itself.
class Remote {
 public:
  Remote(ApiWorld& world, std::string token) : world_(world), token_(std::move(token)) {
    const auto made = world_.post("/api/v1/work/register", token_, R"({"queues":["default"]})");
    EXPECT_EQ(made.status, 201) << made.body;
    id_ = fmt::format(R"("worker_id":{},"process":{})", to_json(made.json().at("worker_id")),
                      to_json(made.json().at("process")));
  }
  // Each as job_id and token, in JSON.
  std::vector<std::string> claim(int wait_seconds) const {
    const auto got = world_.post("/api/v1/work/claim", token_,
                                 fmt::format(R"({{{},"queues":["default"],"job_types":["noop"],)"
                                             R"("credit":5,"wait_seconds":{},"held":[]}})",
                                             id_, wait_seconds));
    EXPECT_EQ(got.status, 200) << got.body;
    const auto body = got.json();
    std::vector<std::string> out;
    for (const auto& job : body.at("jobs").as_array()) {
      out.push_back(fmt::format(R"("job_id":{},"token":{})", to_json(job.at("job_id")),
                                to_json(job.at("token"))));
    }
    return out;
  }
  std::string settle(const std::string& claimed, const std::string& outcome) const {
    const auto got =
        world_.post("/api/v1/work/settle", token_,
                    fmt::format(R"({{{},"settlements":[{{{},{}}}]}})", id_, claimed, outcome));
    EXPECT_EQ(got.status, 200) << got.body;
    return std::string(got.json().at("items").at(0).at("answer").as_string());
  }

 private:
  ApiWorld& world_;
  std::string token_;
  std::string id_;
};

class Streams : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    world_ = std::make_unique<ApiWorld>();
    replica_ = std::make_unique<Replica>(*world_);
  }
  static void TearDownTestSuite() {
    replica_.reset();
    world_.reset();
  }
  static ApiWorld& world() { return *world_; }

  Streams() : tenant_(world().new_tenant()), service_(world().jwt(Role::service_role, tenant_)) {}

  // Server 0 or 1.
  static StreamClient watch(int server, const std::string& path, const std::string& token,
                            const std::string& last_id = {}) {
    auto headers = fmt::format("Accept: text/event-stream\r\nAuthorization: Bearer {}\r\n", token);
    if (!last_id.empty()) headers += fmt::format("Last-Event-ID: {}\r\n", last_id);
    return {server == 0 ? world_->address() : replica_->address(), path, headers};
  }

  std::string enqueue(const std::string& more = {}) {
    const auto made = world().post("/api/v1/jobs", service_,
                                   R"({"job_type":"noop","payload":{"n":1})" + more + "}");
    EXPECT_EQ(made.status, 201) << made.body;
    return std::string(made.json().at("job_id").as_string());
  }
  static std::string path_of(const std::string& job) { return "/api/v1/jobs/" + job + "/events"; }

  // An event of this tenant with a number.
  void tell(pg::SyncConnection& sql, int number) const {
    must(
        sql.query("insert into millrace.event (tenant_id, kind, data)"
                  " values ($1, 'test.number', jsonb_build_object('n', $2::integer))",
                  pg::params(tenant_.value, number)));
  }
  // What comes until an event speaks of `text`: a new stream may begin a moment ago.
  static std::string read_until(StreamClient& client, const std::string& text) {
    std::string all;
    while (!all.contains(text)) {
      const auto got = client.next();
      if (!got) {
        ADD_FAILURE() << "no event speaks of " << text;
        break;
      }
      all += got->data;
    }
    return all;
  }
  // The names of what comes, without `claimed`, which a new stream may begin before; at last the
  // whole end.
  static std::vector<std::string> rest_of(StreamClient& client) {
    std::vector<std::string> all;
    while (const auto got = client.next()) {
      if (got->event == "completed") {
        all.push_back(got->data);
      } else if (got->event != "claimed") {
        all.push_back(got->event);
      }
    }
    EXPECT_TRUE(client.ended());
    return all;
  }
  static int number_in(const std::optional<StreamClient::Got>& got) {
    if (!got) return -1;
    const auto data = must(parse_json_object(got->data));
    return static_cast<int>(data.at("data").at("n").as_int64());
  }

  TenantId tenant_;
  std::string service_;

  static std::unique_ptr<ApiWorld> world_;
  static std::unique_ptr<Replica> replica_;
};

std::unique_ptr<ApiWorld> Streams::world_;
std::unique_ptr<Replica> Streams::replica_;

TEST_F(Streams, AJobIsFollowedToItsEndAndThenThereIsNothingMore) {  // H-05, K01
  const auto job = enqueue();
  auto client = watch(0, path_of(job), service_);
  ASSERT_EQ(client.status(), 200) << client.head();
  const auto first = client.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->event, "snapshot");
  EXPECT_THAT(first->data, HasSubstr("\"status\":\"pending\""));
  EXPECT_EQ(world().post("/api/v1/jobs/" + job + "/cancel", service_, "{}").status, 200);
  const auto last = client.next();
  ASSERT_TRUE(last);
  EXPECT_EQ(last->event, "cancelled");
  EXPECT_THAT(last->data, HasSubstr("\"status\":\"cancelled\""));
  EXPECT_FALSE(client.next());
  EXPECT_EQ(watch(0, path_of(job), service_, last->id).status(), 204);
  EXPECT_EQ(watch(1, path_of(job), service_, last->id).status(), 204);
  // Whoever stopped at the snapshot still gets the end, on any server.
  auto late = watch(1, path_of(job), service_, first->id);
  EXPECT_EQ(late.next_name(), "cancelled");
  EXPECT_FALSE(late.next());
}

TEST_F(Streams, ATransactionThatCommitsLateIsDeliveredWhereverTheClientIsThen) {
  auto slow = world().sql();
  auto quick = world().sql();
  auto client = watch(0, "/api/v1/events", service_);
  ASSERT_EQ(client.status(), 200);
  must(slow.query("begin"));
  tell(slow, 1);
  tell(quick, 2);
  // Nobody waits for the slow one.
  EXPECT_EQ(number_in(client.next()), 2);
  must(slow.query("commit"));
  tell(quick, 3);
  auto other = watch(1, "/api/v1/events", service_, client.last_id());
  std::set<int> seen{number_in(other.next()), number_in(other.next())};
  EXPECT_EQ(seen, (std::set{1, 3}));
  tell(quick, 4);
  EXPECT_EQ(number_in(other.next()), 4);
}

// Several transactions are open at any time and end in any order, while the client changes servers.
TEST_F(Streams, NothingIsLostOrDoubledUnderConcurrentTransactions) {  // K01
  constexpr int kEvents = 60;
  SeededRandom random(20'261'116);
  std::vector<pg::SyncConnection> writers;
  for (int i = 0; i < 4; ++i) writers.push_back(world().sql());
  std::vector<std::vector<int>> open(writers.size());
  std::multiset<int> seen;
  std::size_t committed = 0;
  int server = 0;
  auto client = std::make_unique<StreamClient>(watch(server, "/api/v1/events", service_));
  ASSERT_EQ(client->status(), 200);
  const auto read = [&](std::size_t most) {
    while (seen.size() < std::min(committed, seen.size() + most) && most-- > 0) {
      const auto got = client->next();
      ASSERT_TRUE(got);
      seen.insert(number_in(got));
    }
  };
  int next = 0;
  while (next < kEvents || committed < kEvents) {
    const auto who = random.below(writers.size());
    if (next < kEvents && random.below(3) > 0) {
      if (open[who].empty()) must(writers[who].query("begin"));
      tell(writers[who], next);
      open[who].push_back(next++);
    } else if (!open[who].empty()) {
      must(writers[who].query("commit"));
      committed += open[who].size();
      open[who].clear();
      read(random.below(4));
    }
    // Before the first event there is no id to go on from.
    if (random.below(6) == 0 && !client->last_id().empty()) {
      const auto last = client->last_id();
      server = 1 - server;
      client = std::make_unique<StreamClient>(watch(server, "/api/v1/events", service_, last));
      ASSERT_EQ(client->status(), 200);
    }
  }
  read(kEvents);
  tell(writers.front(), kEvents);
  EXPECT_EQ(number_in(client->next()), kEvents);  // And nothing before it.
  for (int i = 0; i < kEvents; ++i) EXPECT_EQ(seen.count(i), 1U) << "event " << i;
}

TEST_F(Streams, AnotherTenantAndAnotherUserSeeNothing) {  // T-02, I08, I09
  const auto owner = world().new_user();
  const auto job = enqueue(fmt::format(R"(,"owner_id":"{}")", owner));
  const auto other_tenant = world().new_tenant();
  EXPECT_EQ(watch(0, path_of(job), "").status(), 401);
  EXPECT_EQ(watch(0, path_of(job), world().jwt(Role::service_role, other_tenant)).status(), 404);
  EXPECT_EQ(watch(0, path_of(job), world().jwt(Role::authenticated, tenant_, world().new_user()))
                .status(),
            404);
  EXPECT_EQ(watch(0, path_of(job), world().jwt(Role::authenticated, other_tenant, owner)).status(),
            404);
  auto own = watch(0, path_of(job), world().jwt(Role::authenticated, tenant_, owner));
  EXPECT_EQ(own.next_name(), "snapshot");

  auto stranger = watch(0, "/api/v1/events", world().jwt(Role::service_role, other_tenant));
  auto person = watch(0, "/api/v1/events", world().jwt(Role::authenticated, tenant_, owner));
  auto service = watch(0, "/api/v1/events", service_);
  ASSERT_EQ(stranger.status(), 200);
  ASSERT_EQ(person.status(), 200);
  const auto nobodys = enqueue();
  const auto mine = enqueue(fmt::format(R"(,"owner_id":"{}")", owner));
  EXPECT_THAT(read_until(service, mine), HasSubstr(nobodys));
  EXPECT_THAT(read_until(person, mine), Not(HasSubstr(nobodys)));
  // The first thing that the stranger gets is its own.
  tenant_ = other_tenant;
  auto sql = world().sql();
  tell(sql, 17);
  EXPECT_EQ(number_in(stranger.next()), 17);
}

TEST_F(Streams, ATokenInTheUrlOpensOneStream) {
  const auto job = enqueue();
  const auto made = world().post("/api/v1/stream-tokens", service_,
                                 fmt::format(R"({{"path":"{}"}})", path_of(job)));
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string url(made.json().at("url").as_string());
  EXPECT_EQ(StreamClient(world().address(), url, "").next_name(), "snapshot");
  EXPECT_EQ(StreamClient(replica_->address(), url, "").next_name(), "snapshot");
  const std::string token(made.json().at("token").as_string());
  EXPECT_EQ(StreamClient(world().address(), "/api/v1/events?token=" + token, "").status(), 401);
  EXPECT_EQ(StreamClient(world().address(), "/api/v1/jobs?token=" + token, "").status(), 401);
}

TEST_F(Streams, ABatchIsFollowedFromItsSnapshotOn) {
  const auto made =
      world().post("/api/v1/batches", service_,
                   R"({"name":"two","jobs":[{"job_type":"noop","payload":{"n":1}}]})");
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string id(made.json().at("batch_id").as_string());
  auto client = watch(0, "/api/v1/batches/" + id + "/events", service_);
  EXPECT_EQ(client.next_name(), "snapshot");
  auto sql = world().sql();
  must(
      sql.query("insert into millrace.event (tenant_id, kind, data) values"
                " ($1, 'batch.progress', jsonb_build_object('batch_id', $2::text, 'total', 1))",
                pg::params(tenant_.value, id)));
  EXPECT_EQ(client.next_name(), "progress");
  const auto stranger = world().jwt(Role::service_role, world().new_tenant());
  EXPECT_EQ(watch(0, "/api/v1/batches/" + id + "/events", stranger).status(), 404);
}

TEST_F(Streams, AQueueShowsTheJobsOfTheCallersTenant) {
  auto client = watch(0, "/api/v1/queues/default/events", service_);
  ASSERT_EQ(client.status(), 200);
  const auto other_tenant = world().new_tenant();
  auto stranger =
      watch(0, "/api/v1/queues/default/events", world().jwt(Role::service_role, other_tenant));
  const auto job = enqueue();
  const auto got = client.next();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->event, "job.enqueued");
  EXPECT_THAT(got->data, HasSubstr(job));
  service_ = world().jwt(Role::service_role, other_tenant);
  const auto own = enqueue();
  EXPECT_THAT(stranger.next()->data, HasSubstr(own));
  EXPECT_EQ(watch(0, "/api/v1/queues/nowhere/events", service_).status(), 404);
}

TEST_F(Streams, ManyStreamsShareOneReaderAndOneListener) {  // K01
  std::vector<std::unique_ptr<StreamClient>> clients;
  for (int i = 0; i < 100; ++i) {
    clients.push_back(std::make_unique<StreamClient>(watch(0, "/api/v1/events", service_)));
    ASSERT_EQ(clients.back()->status(), 200);
  }
  auto sql = world().sql();
  for (int i = 0; i < 5; ++i) tell(sql, i);
  for (const auto& client : clients) {
    for (int i = 0; i < 5; ++i) EXPECT_EQ(number_in(client->next()), i);
  }
  // A long poll wants to be woken as well.
  const Remote remote(world(), service_);
  EXPECT_TRUE(remote.claim(1).empty());
  // Of each of the two servers. A session that listens has asked for nothing else since.
  const auto sessions = must(sql.query(
      "select count(*) filter (where application_name = 'millrace-events') as readers,"
      " count(*) filter (where application_name like '%listen%' or query ilike 'listen %')"
      " as listeners"
      " from pg_stat_activity where datname = current_database()"));
  EXPECT_LE(sessions[0].i64("readers"), 2);
  EXPECT_GE(sessions[0].i64("readers"), 1);
  EXPECT_LE(sessions[0].i64("listeners"), 2);
  EXPECT_GE(sessions[0].i64("listeners"), 1);
}

TEST_F(Streams, WhatAHandlerAddsComesBeforeTheEndOfItsJob) {  // H-05
  const auto job = enqueue();
  const Remote remote(world(), service_);
  const auto claimed = remote.claim(0);
  ASSERT_EQ(claimed.size(), 1U);
  auto client = watch(0, path_of(job), service_);
  const auto first = client.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->event, "snapshot");
  EXPECT_EQ(
      remote.settle(claimed[0], R"("outcome":"ok","result":{"result_url":"exports/1.pdf"},)"
                                R"("effects":{"events":[{"kind":"page.done","data":{"page":1}}]})"),
      "settled");
  EXPECT_THAT(rest_of(client), ElementsAre("page.done", HasSubstr("exports/1.pdf")));
  for (const int server : {0, 1}) {
    EXPECT_EQ(watch(server, path_of(job), service_, client.last_id()).status(), 204);
    auto late = watch(server, path_of(job), service_, first->id);
    EXPECT_THAT(rest_of(late), ElementsAre("page.done", HasSubstr("exports/1.pdf")));
  }
}

// A job that ends while its stream is opened, told by a server that has not read of it yet.
TEST_F(Streams, AJobThatHasEndedIsToldOnceWhereverTheClientIsThen) {
  for (int i = 0; i < 5; ++i) {
    const auto job = enqueue();
    EXPECT_EQ(world().post("/api/v1/jobs/" + job + "/cancel", service_, "{}").status, 200);
    auto client = watch(i % 2, path_of(job), service_);
    EXPECT_EQ(client.next_name(), "cancelled");
    EXPECT_FALSE(client.next());
    EXPECT_EQ(watch(0, path_of(job), service_, client.last_id()).status(), 204);
    EXPECT_EQ(watch(1, path_of(job), service_, client.last_id()).status(), 204);
  }
}

TEST_F(Streams, AServerThatHasJustStartedKnowsWhatHappenedBefore) {
  auto sql = world().sql();
  auto client = watch(0, "/api/v1/events", service_);
  ASSERT_EQ(client.status(), 200);
  tell(sql, 1);
  EXPECT_EQ(number_in(client.next()), 1);
  for (int i = 2; i <= 4; ++i) tell(sql, i);
  const Replica fresh(world());
  StreamClient again(
      fresh.address(), "/api/v1/events",
      fmt::format("Authorization: Bearer {}\r\nLast-Event-ID: {}\r\n", service_, client.last_id()));
  for (int i = 2; i <= 4; ++i) EXPECT_EQ(number_in(again.next()), i);
  // From memory, or from the log where a transaction of anybody in this cluster was under way then.
  http::RawClient metrics(fresh.address());
  EXPECT_THAT(metrics.ask(http::get("/metrics")).body,
              AnyOf(HasSubstr(R"(millrace_streams_opened_total{from="memory"} 1)"),
                    HasSubstr(R"(millrace_streams_opened_total{from="log"} 1)")));
}

TEST_F(Streams, AServerThatStopsEndsItsStreamsAndAnotherGoesOn) {
  auto sql = world().sql();
  std::string last;
  {
    Replica leaving(world());
    const auto headers = fmt::format("Authorization: Bearer {}\r\n", service_);
    StreamClient client(leaving.address(), "/api/v1/events", headers);
    ASSERT_EQ(client.status(), 200);
    tell(sql, 1);
    EXPECT_EQ(number_in(client.next()), 1);
    leaving.leave();
    EXPECT_FALSE(client.next());
    EXPECT_TRUE(client.ended());
    last = client.last_id();
  }
  tell(sql, 2);
  auto client = watch(0, "/api/v1/events", service_, last);
  EXPECT_EQ(number_in(client.next()), 2);
}

}  // namespace
}  // namespace millrace::test
