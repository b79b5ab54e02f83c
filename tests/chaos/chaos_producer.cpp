// A producer for chaos runs: enqueues a seeded mix of jobs at a steady rate, repeats every call
// whose fate it does not know under the same idempotency keys, and writes all of it into the
// history.
//
// usage: chaos_producer DATABASE_URL PREFIX SEED RATE SECONDS [BATCH [raw]]
// SECONDS 0: until SIGTERM. Keys are PREFIX-number. raw: in transactions of its own, on a
// connection of libpq. Ends with exit code 0 when all calls are known.
#include "base/fault.h"
#include "base/history.h"
#include "base/json.h"
#include "base/random.h"

#include <fmt/format.h>
#include <libpq-fe.h>
#include <millrace/producer.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using millrace::client::Enqueued;
using millrace::client::JobSpec;
using millrace::client::Producer;
using Clock = std::chrono::steady_clock;

struct Made {
  std::string key;
  std::string kind;
  JobSpec spec;
};

Made make_job(const std::string& prefix, long n, millrace::Random& random) {
  Made made{.key = fmt::format("{}-{}", prefix, n), .kind = "plain", .spec = {}};
  const auto dice = random.below(100);
  constexpr long kTimes[] = {0, 0, 0, 5, 20, 50, 100, 200};
  millrace::json::Object payload{
      {"key_id", made.key}, {"n", n}, {"ms", kTimes[random.below(8)]}, {"expect", "completed"}};
  auto& spec = made.spec;
  spec.priority = static_cast<int>(random.below(10));
  if (dice < 50) {
    if (dice < 4) {  // Long enough for leases to be extended, and talkative.
      payload["steps"] = 4;
      payload["ms"] = 1800;
    }
  } else if (dice < 60) {
    made.kind = "flaky";
  } else if (dice < 64) {
    made.kind = "permanent";
    payload["expect"] = "failed";
  } else if (dice < 70) {
    made.kind = "delayed";
    spec.delay = std::chrono::milliseconds(random.below(3000));
  } else if (dice < 82) {
    made.kind = "serial";
    const auto serial = fmt::format("{}-s{}", prefix, random.below(12));
    payload["serial"] = serial;
    payload["ms"] = random.below(20);
    spec.serial_key = serial;
    spec.priority = 5;
  } else if (dice < 92) {
    made.kind = "stage";
    payload["left"] = 4;
    payload["ms"] = random.below(20);
  } else {
    made.kind = "cancel";
    payload["ms"] = 500;
    payload["expect"] = "any";
  }
  payload["kind"] = made.kind;
  spec.job_type = "chaos";
  spec.queue = "chaos";
  spec.idempotency_key = made.key;
  spec.payload = millrace::to_json(payload);
  return made;
}

volatile std::sig_atomic_t stop_asked = 0;

void wait_until(Clock::time_point time) {
  const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(time - Clock::now());
  if (left <= 0ns) return;
  timespec rest{.tv_sec = left.count() / 1'000'000'000, .tv_nsec = left.count() % 1'000'000'000};
  ::nanosleep(&rest, nullptr);  // A signal ends it early: that is wanted.
}

class Load {
 public:
  Load(std::string url, std::string prefix, std::uint64_t seed, bool raw)
      : url_(std::move(url)), prefix_(std::move(prefix)), random_(seed), raw_(raw) {}

  // False: told to stop while the fate of the call was unknown.
  bool send(long count) {
    std::vector<Made> jobs;
    millrace::json::Array keys;
    for (long i = 0; i < count; ++i) {
      jobs.push_back(make_job(prefix_, next_++, random_));
      keys.emplace_back(jobs.back().key);
    }
    std::vector<JobSpec> specs;
    for (const auto& job : jobs) specs.push_back(job.spec);
    while (true) {
      const millrace::history::Call call("enqueue", {{"keys", keys}});
      const auto answers = try_once(specs);
      if (answers) {
        call.ok({{"jobs", note(jobs, *answers)}});
        return true;
      }
      using Kind = millrace::client::ErrorKind;
      const bool unknown = answers.error().kind == Kind::in_doubt;
      call.failed(
          {.kind = unknown ? millrace::ErrorKind::in_doubt : millrace::ErrorKind::unavailable,
           .message = answers.error().message});
      if (stop_asked != 0) return false;
      producer_.reset();
      connection_.reset();
      wait_until(Clock::now() + 50ms);
    }
  }

  // Cancels what was meant to be cancelled and has had some time to start.
  void cancel_due() {
    while (!to_cancel_.empty() && to_cancel_.front().due <= Clock::now()) {
      const auto id = to_cancel_.front().id;
      to_cancel_.pop_front();
      if (!producer_) return;
      const millrace::history::Call call("cancel", {{"job", id}});
      const auto answer = producer_->cancel(id, "chaos");
      if (answer) {
        call.ok({{"answer", *answer}});
      } else {
        using Kind = millrace::client::ErrorKind;
        call.failed(
            {.kind = answer.error().kind == Kind::conflict || answer.error().kind == Kind::not_found
                         ? millrace::ErrorKind::unavailable
                         : millrace::ErrorKind::in_doubt,
             .message = answer.error().message});
      }
    }
  }

  long sent() const { return next_; }

 private:
  struct Due {
    std::string id;
    Clock::time_point due;
  };

  millrace::client::Result<std::vector<Enqueued>> try_once(const std::vector<JobSpec>& specs) {
    if (raw_) return in_own_transaction(specs);
    if (!producer_) {
      auto connected = Producer::connect(url_);
      if (!connected) return std::unexpected(connected.error());
      producer_.emplace(std::move(*connected));
    }
    return producer_->enqueue(specs);
  }

  // As an application does it: begin, enqueue beside its own rows, commit.
  millrace::client::Result<std::vector<Enqueued>> in_own_transaction(
      const std::vector<JobSpec>& specs) {
    using millrace::client::Error;
    using millrace::client::ErrorKind;
    if (!connection_) connection_.reset(PQconnectdb(url_.c_str()));
    if (!run("begin")) return std::unexpected(Error{ErrorKind::unavailable, "no begin", ""});
    auto answers = millrace::client::enqueue(connection_.get(), specs);
    if (!answers) return answers;
    if (!run("commit")) return std::unexpected(Error{ErrorKind::in_doubt, "no answer", ""});
    return answers;
  }

  bool run(const char* sql) const {
    PGresult* result = PQexec(connection_.get(), sql);
    const bool good = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    return good;
  }

  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };

  millrace::json::Array note(const std::vector<Made>& jobs, const std::vector<Enqueued>& answers) {
    millrace::json::Array list;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      list.emplace_back(millrace::json::Object{
          {"key", jobs[i].key}, {"job", answers[i].job_id}, {"created", answers[i].created}});
      if (jobs[i].kind == "cancel") {
        to_cancel_.push_back(
            {answers[i].job_id, Clock::now() + std::chrono::milliseconds(random_.below(600))});
      }
    }
    return list;
  }

  std::string url_;
  std::string prefix_;
  millrace::SeededRandom random_;
  bool raw_;
  std::optional<Producer> producer_;
  std::unique_ptr<PGconn, Finish> connection_;
  std::deque<Due> to_cancel_;
  long next_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6 || argc > 8) {
    std::fputs("usage: chaos_producer DATABASE_URL PREFIX SEED RATE SECONDS [BATCH [raw]]\n",
               stderr);
    return 2;
  }
  struct sigaction action{};
  action.sa_handler = [](int) { stop_asked = 1; };
  ::sigaction(SIGTERM, &action, nullptr);
  if (const char* directory = std::getenv("MILLRACE_HISTORY")) {
    if (!millrace::history::open_history(directory, "producer")) return 2;
  }
  if (const char* plan = std::getenv("MILLRACE_FAULT")) {
    if (!millrace::fault::arm(plan)) return 2;
  }
  const double rate = std::atof(argv[4]);
  const auto length = std::chrono::duration<double>(std::atof(argv[5]));
  const long batch_max = argc >= 7 ? std::atol(argv[6]) : 50;
  Load load(argv[1], argv[2], std::strtoull(argv[3], nullptr, 10), argc == 8);
  const auto begun = Clock::now();
  while (stop_asked == 0 && (length.count() == 0 || Clock::now() - begun < length)) {
    const double elapsed = std::chrono::duration<double>(Clock::now() - begun).count();
    const long due = static_cast<long>(elapsed * rate) - load.sent();
    if (due > 0 && !load.send(std::min(due, batch_max))) return 3;
    load.cancel_due();
    if (due <= batch_max) wait_until(Clock::now() + 20ms);
  }
  return 0;
}
