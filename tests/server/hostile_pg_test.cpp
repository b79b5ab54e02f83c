// Requests that no client would send, by the thousand: never a 5xx, a leak or a hang.
//
// Every request is made of the server's own document, with paths, parameters, headers and bodies
// bent at random, in the name of nobody, of strangers and of people of another tenant, and asks for
// things of the first tenant. MILLRACE_SEED=n replays a run, MILLRACE_REQUESTS=n makes it longer.
#include "hostile.h"

#include "belongings.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace millrace::test {
namespace {

using identity::Role;

constexpr std::string_view kMarker = "only-for-the-eyes-of-the-first-tenant";
constexpr int kThreads = 3;
constexpr int kFailuresMax = 20;

// Words of this machine and of the functions inside, which no request here contains.
constexpr std::string_view kNeverSaid[] = {
    "PL/pgSQL", "pg_advisory", "search_path",    "/usr/",    "terminate called", "std::",
    "boost::",  "/tmp/",       "millrace_owner", "SET ROLE", "current_setting"};
// Words of PostgreSQL, which only the surface that speaks as PostgREST repeats in its refusals.
// What is handed out may hold them: an audit names the role that acted.
constexpr std::string_view kSqlWords[] = {
    "SQLSTATE", "pg_catalog",           "syntax error at or near",
    "violates", "invalid input syntax", "millrace_api"};

template <class Words>
std::string_view first_said(std::string_view text, const Words& words) {
  for (const auto word : words) {
    if (text.contains(word)) return word;
  }
  return {};
}

int number_of_requests() {
  const char* given = std::getenv("MILLRACE_REQUESTS");
  return given == nullptr ? 6000 : std::atoi(given);
}

class Hostile : public testing::Test {
 protected:
  Hostile() { make_strangers(); }

  void make_strangers() {
    tokens_ = {"", "nonsense", "a.b.c", "mr_0123456789abcdef_nothing", "sb_secret_nothing"};
    for (const auto role : {Role::service_role, Role::reader, Role::operator_, Role::admin}) {
      tokens_.push_back(world_.credentials(role, second_));
    }
    tokens_.push_back(world_.jwt(Role::anon));
    tokens_.push_back(world_.jwt(Role::authenticated, second_, world_.new_user()));
    tokens_.push_back(world_.jwt(Role::authenticated, second_, owner_));
    tokens_.push_back(world_.jwt(Role::authenticated, first_, world_.new_user()));
  }

  // What is wrong with an answer; empty when nothing is.
  std::string judge(const HostileRequest& request, const Heard& heard) {
    if (heard.quiet && !request.may_wait) return "no answer came";
    if (heard.quiet) return {};
    if (heard.status == 0) return "the connection ended without an answer";
    if (heard.status >= 500) return "an error of the server";
    auto said = heard.body;
    for (const auto& [name, value] : heard.headers) said += "\n" + name + ": " + value;
    if (said.contains(kMarker)) return "something of the first tenant";
    if (said.contains(ApiWorld::kSecret)) return "the secret";
    if (!request.operation->open()) {
      auto word = first_said(said, kNeverSaid);
      if (word.empty() && heard.status >= 400 && request.operation->access() != "database") {
        word = first_said(said, kSqlWords);
      }
      if (!word.empty()) return fmt::format("the word {}", word);
    }
    const Answered answered{.status = heard.status,
                            .headers = heard.headers,
                            .body = heard.body,
                            .streams = heard.streams,
                            .head_only = request.head_only};
    const std::lock_guard lock(mutex_);
    const auto type = answered.header("content-type");
    if (type == "application/problem+json") {
      return heard.body.empty() ? "" : contract_.judge_problem(answered);
    }
    return request.as_described ? contract_.judge(*request.operation, answered) : "";
  }

  void attack(std::uint64_t seed, int requests) {
    HostileRequests source(contract_, {.ids = ids_, .tokens = tokens_}, seed);
    std::unique_ptr<WireClient> client;
    for (int i = 0; i < requests && failures_ < kFailuresMax; ++i) {
      const auto request = source.next();
      const WireClient::Patience patience{
          .head_only = request.head_only,
          .wait = std::chrono::milliseconds(request.may_wait ? 40 : 20'000)};
      Heard heard;
      // A connection that the server closed in between is made again, once.
      for (int attempt = 0; attempt < 2; ++attempt) {
        const bool fresh = client == nullptr || !client->open();
        if (fresh) client = std::make_unique<WireClient>(world_.address());
        heard = client->ask(request.bytes, patience);
        if (heard.status != 0 || heard.quiet || fresh) break;
      }
      if (const auto wrong = judge(request, heard); !wrong.empty()) {
        // Without its database every request takes as long as it may: there is no more to learn.
        failures_ += heard.status == 503 ? kFailuresMax : 1;
        ADD_FAILURE() << "request " << i << " of seed " << seed << " for " << request.operation->id
                      << ": " << wrong << "\n"
                      << request.bytes.substr(0, 2000) << "\n-> " << heard.status << " "
                      << heard.body.substr(0, 2000);
      }
    }
  }

  void run(std::uint64_t seed) {
    const auto before = things_.rows();
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([this, seed, i] {
        attack(seed * kThreads + static_cast<std::uint64_t>(i), number_of_requests() / kThreads);
      });
    }
    threads.clear();
    EXPECT_EQ(things_.rows(), before) << "something of the first tenant was changed";
    EXPECT_EQ(world_.get("/readyz").status, 200);
    EXPECT_LT(resident_bytes(), 200 * 1024 * 1024);
  }

  std::int64_t resident_bytes() {
    std::ifstream status(fmt::format("/proc/{}/statm", world_.program().pid()));
    std::int64_t total = 0;
    std::int64_t resident = 0;
    status >> total >> resident;
    return resident * ::sysconf(_SC_PAGESIZE);
  }

  // Of others, by id and by name.
  static std::vector<std::string> pool_of(const Belongings& things) {
    auto pool = things.ids();
    pool.insert(pool.end(), things.names().begin(), things.names().end());
    return pool;
  }

  ApiWorld world_{Belongings::options()};
  TenantId first_ = world_.new_tenant();
  TenantId second_ = world_.new_tenant();
  identity::UserId owner_ = world_.new_user();
  // What the first tenant has. Nobody below may see any of it, or change it.
  Belongings things_{world_, first_, owner_, std::string(kMarker)};
  Contract& contract_ = world_.contract();
  std::vector<std::string> ids_ = pool_of(things_);
  std::vector<std::string> tokens_;
  std::mutex mutex_;  // Guards contract_, which compiles schemas on demand.
  std::atomic<int> failures_ = 0;
};

TEST_F(Hostile, NothingBreaksLeaksOrHangs) {  // T-02, T-08, H-23, K04
  run(1);
}

TEST_F(Hostile, NothingBreaksLeaksOrHangsWithANewSeed) {
  const char* given = std::getenv("MILLRACE_SEED");
  const auto seed =
      given != nullptr ? std::strtoull(given, nullptr, 10) : SystemRandom().next() % 1'000'000;
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  run(seed);
}

}  // namespace
}  // namespace millrace::test
