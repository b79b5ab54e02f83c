// Properties of the limiter: no sliding window above its limit, at least 95 % of the limit usable,
// nothing leaked, with many clients, random costs and clients that are killed.
//
// Every grant is logged by a trigger in the transaction that made it, with the instant the limiter
// dated it; the windows are then checked here, independently of the limiter's buckets.
#include "base/random.h"
#include "sql/limit_world.h"

#include <atomic>
#include <chrono>
#include <deque>
#include <limits>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace millrace::test {
namespace {

using Micros = std::int64_t;
constexpr Micros kSecond = 1'000'000;

struct Grant {
  Micros at;
  std::int64_t tokens;
};

struct Peak {
  std::int64_t requests = 0;
  std::int64_t tokens = 0;
};

// The fullest of all windows (t - length, t]. It ends at a grant.
Peak peak(const std::vector<Grant>& grants, Micros length) {
  Peak peak;
  std::int64_t tokens = 0;
  std::size_t first = 0;
  for (std::size_t last = 0; last < grants.size(); ++last) {
    tokens += grants[last].tokens;
    while (grants[first].at <= grants[last].at - length) tokens -= grants[first++].tokens;
    peak.requests = std::max(peak.requests, static_cast<std::int64_t>(last - first + 1));
    peak.tokens = std::max(peak.tokens, tokens);
  }
  return peak;
}

// Tokens per window on average, over the windows that lie wholly inside the run.
double mean_tokens(const std::vector<Grant>& grants, Micros length, Micros begin, Micros end) {
  double sum = 0;
  int windows = 0;
  for (Micros t = begin + length; t <= end; t += length / 30) {
    for (const auto& grant : grants) {
      if (grant.at > t - length && grant.at <= t) sum += static_cast<double>(grant.tokens);
    }
    ++windows;
  }
  return windows == 0 ? 0 : sum / windows;
}

class LimitWindows : public LimitWorld {
 protected:
  LimitWindows() {
    db_.script(R"(
      create table grant_log (at timestamptz, tokens bigint, held bigint);
      create function log_grant() returns trigger language plpgsql security definer as $$
      begin
        insert into public.grant_log
        select new.acquired_at, new.estimated_tokens, count(*) from millrace.provider_slot s
         where s.provider_id = new.provider_id and s.lease_until > new.acquired_at;
        return new;
      end $$;
      create trigger log_grant after insert on millrace.provider_slot
        for each row execute function log_grant();)");
  }

  std::vector<Grant> grants() {
    std::vector<Grant> result;
    for (const auto row : db_.rows("select (extract(epoch from g.at) * 1000000)::bigint, g.tokens"
                                   "  from grant_log g order by g.at")) {
      result.push_back({row.i64(0), row.i64(1)});
    }
    return result;
  }
  Micros now() {
    return db_.number("select (extract(epoch from millrace.now()) * 1000000)::bigint");
  }

  // Simulates `steps` steps of the clock on the server, with `tries` requests of random cost in
  // [1, cost_max] at each.
  void simulate(int steps, std::string_view step, int tries, std::int64_t cost_max) {
    db_.run(fmt::format(R"(
      do $$
      declare
        v_cost integer;
      begin
        perform setseed(0.42);
        for v_step in 1..{} loop
          update millrace.test_clock set shift = shift + interval '{}' * (0.5 + random());
          for v_try in 1..{} loop
            v_cost := 1 + floor(random() * {});
            perform millrace.acquire_api_capacity('p', 'e', v_cost);
          end loop;
          commit;
        end loop;
      end $$)",
                        steps, step, tries, cost_max));
  }
};

TEST_F(LimitWindows, e01_e02_AMinuteUsesNinetyFivePercentAndNeverMoreThanItsLimit) {
  limit(R"({"tokens_per_minute": 1000, "slot_lease": "1s"})");
  const auto begin = now();
  simulate(250, "1 second", 60, 500);
  const auto log = grants();
  EXPECT_LE(peak(log, 60 * kSecond).tokens, 1000);
  EXPECT_GE(mean_tokens(log, 60 * kSecond, begin, now()), 950);
}

TEST_F(LimitWindows, e01_e02_AnHourUsesNinetyFivePercentAndNeverMoreThanItsLimit) {
  limit(R"({"tokens_per_hour": 1000, "requests_per_minute": 1000, "slot_lease": "1s"})");
  const auto begin = now();
  simulate(250, "1 minute", 60, 500);
  const auto log = grants();
  EXPECT_LE(peak(log, 3600 * kSecond).tokens, 1000);
  EXPECT_GE(mean_tokens(log, 3600 * kSecond, begin, now()), 950);
}

TEST_F(LimitWindows, e01_AWindowThatSixtyDoesNotDivideStaysExact) {
  limit(R"({"requests_per_minute": 50, "minute_window": "1s", "hour_window": "7s",
            "requests_per_hour": 300, "slot_lease": "1s"})");
  simulate(1500, "17 milliseconds", 3, 1);
  const auto log = grants();
  EXPECT_EQ(peak(log, 1 * kSecond).requests, 50);
  EXPECT_EQ(peak(log, 7 * kSecond).requests, 300);
}

// Clients hammer one provider while the test lasts; now and then one kills another's connection,
// which then connects again. What a client was told is kept with its own clock.
class Hammer {
 public:
  struct Told {
    Micros sent;
    Micros received;
    std::int64_t tokens;
  };
  struct Options {
    int clients = 64;
    std::int64_t cost_max = 10;
    std::string step;  // How far an eighth of the calls move the test's clock; empty: real time.
    std::uint64_t seed = 1;
  };

  Hammer(const TestDatabase& database, Options options)
      : database_(database), options_(std::move(options)) {}

  // Until `done`, which the calling thread asks all the time, says so or a client fails.
  void run(const std::function<bool()>& done) {
    std::vector<std::jthread> clients;
    clients.reserve(static_cast<std::size_t>(options_.clients));
    for (int i = 0; i < options_.clients; ++i) clients.emplace_back([this, i] { client(i); });
    while (!done() && failure().empty()) {
    }
    stop_ = true;
    clients.clear();
  }

  std::string failure() {
    const std::lock_guard lock(mutex_);
    return failure_;
  }
  const std::vector<Told>& told() const { return told_; }
  int kills() const { return kills_; }

 private:
  static Micros clock() {
    return std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  pg::SyncConnection connect() {
    auto options = pg::connect_options(database_.url());
    options.application_name = "hammer";
    return must(pg::SyncConnection::connect(options));
  }

  void client(int number) try {
    SeededRandom random(options_.seed * 1000 + static_cast<std::uint64_t>(number));
    auto connection = connect();
    std::deque<std::int64_t> held;
    while (!stop_) {
      if (!connection.healthy()) connection = connect();
      const auto cost = random.between(1, options_.cost_max);
      const auto sent = clock();
      const auto answer = connection.query(
          "select millrace.acquire_api_capacity('p', 'e', $1::integer)", pg::params(cost));
      const auto received = clock();
      if (answer && (*answer)[0].boolean(0)) {
        held.push_back(cost);
        const std::lock_guard lock(mutex_);
        told_.push_back({sent, received, cost});
      } else if (!answer && connection.healthy()) {
        throw std::runtime_error(answer.error().describe());
      }
      if (held.size() > 3) {
        static_cast<void>(
            connection.query("select millrace.release_api_capacity('p', 'e', $1::integer)",
                             pg::params(held.front())));
        held.pop_front();
      }
      if (!options_.step.empty() && random.below(8) == 0) {
        static_cast<void>(connection.query(
            "update millrace.test_clock set shift = shift + $1::interval * random()",
            pg::params(options_.step)));
      }
      if (random.below(60) == 0 &&
          connection.query("select pg_terminate_backend(a.pid) from pg_stat_activity a"
                           " where a.application_name = 'hammer' and a.pid <> pg_backend_pid()"
                           " and a.datname = current_database() order by random() limit 1")) {
        ++kills_;
      }
    }
  } catch (const std::exception& error) {
    const std::lock_guard lock(mutex_);
    failure_ = error.what();
  }

  const TestDatabase& database_;
  const Options options_;
  std::atomic<bool> stop_ = false;
  std::atomic<int> kills_ = 0;
  std::mutex mutex_;  // Guards told_ and failure_ while clients run.
  std::vector<Told> told_;
  std::string failure_;
};

TEST_F(LimitWindows, e01_e04_l04_l20_ManyClientsUnderTheTestClockStayWithinEveryLimit) {
  limit(R"({"requests_per_minute": 60, "tokens_per_minute": 400, "requests_per_hour": 900,
            "tokens_per_hour": 4000, "concurrent_requests": 150})");
  db_.run("update millrace.test_clock set frozen_at = null");
  Hammer hammer(database_, {.cost_max = 100, .step = "30 seconds", .seed = 7});
  const auto end = now() + 3 * 3600 * kSecond;
  hammer.run([&] { return now() >= end; });
  ASSERT_EQ(hammer.failure(), "");
  EXPECT_GT(hammer.kills(), 0);
  const auto log = grants();
  EXPECT_LE(peak(log, 60 * kSecond).requests, 60);
  EXPECT_LE(peak(log, 60 * kSecond).tokens, 400);
  EXPECT_LE(peak(log, 3600 * kSecond).requests, 900);
  EXPECT_LE(peak(log, 3600 * kSecond).tokens, 4000);
  EXPECT_GE(peak(log, 3600 * kSecond).tokens, 3800) << "the hammer was too weak to prove anything";
  EXPECT_LE(db_.number("select max(g.held) from grant_log g"), 150);
}

TEST_F(LimitWindows, e01_e04_l11_ManyClientsInRealTimeWithKillsStayWithinAndLeakNothing) {
  limit(R"({"requests_per_minute": 200, "tokens_per_minute": 1000, "minute_window": "3s",
            "concurrent_requests": 500, "slot_lease": "60s"})");
  db_.run("update millrace.test_clock set frozen_at = null");
  Hammer hammer(database_, {.cost_max = 10, .step = "", .seed = 11});
  const auto end = now() + 10 * kSecond;
  hammer.run([&] { return now() >= end; });
  ASSERT_EQ(hammer.failure(), "");
  EXPECT_GT(hammer.kills(), 0);

  const auto log = grants();
  EXPECT_LE(peak(log, 3 * kSecond).requests, 200);
  EXPECT_LE(peak(log, 3 * kSecond).tokens, 1000);
  EXPECT_GE(peak(log, 3 * kSecond).tokens, 950) << "the hammer was too weak to prove anything";

  // By the clients' own clock: grants that were asked for and answered within less than a window
  // certainly lie in one.
  const auto& told = hammer.told();
  std::int64_t most = 0;
  for (const auto& last : told) {
    std::int64_t tokens = 0;
    for (const auto& grant : told) {
      if (grant.received <= last.received && grant.sent > last.received - 3 * kSecond) {
        tokens += grant.tokens;
      }
    }
    most = std::max(most, tokens);
  }
  EXPECT_LE(most, 1000);
  EXPECT_LE(told.size(), log.size()) << "a client was told of a grant that does not exist";

  advance("60 seconds");
  while (db_.number("select millrace.expire_slots(50)") == 50) {
  }
  EXPECT_EQ(db_.number("select count(*) from millrace.provider_slot"), 0);
  EXPECT_EQ(row("active_requests"), "0");
}

TEST_F(LimitWindows, e04_AClientKilledInItsTransactionLeavesNothing) {
  limit(R"({"requests_per_minute": 1, "concurrent_requests": 1})");
  Session client(database_);
  client.run("begin");
  EXPECT_TRUE(client.yes("select millrace.acquire_api_capacity('p', 'e', 1)"));
  db_.run("select pg_terminate_backend($1::integer, 10000)",
          pg::params(client.connection().backend_pid()));
  EXPECT_EQ(used(), "0/0 0/0");
  EXPECT_TRUE(acquire());
}

}  // namespace
}  // namespace millrace::test
