// Twin: the model and PostgreSQL side by side. Every call goes to both; their answers, and after
// each call what they hold, must be the same.
//
// Jobs have the same ids on both sides, tokens and nonces are paired. Time stands still except when
// the test moves it. Policies have no jitter, so that chance decides nothing.
#pragma once

#include "pg/pool.h"
#include "sim/model.h"
#include "sql/session.h"
#include "store/pg_job_store.h"
#include "store/pg_keeper_store.h"
#include "support/database.h"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace millrace::sim {

// A delivery as both sides know it.
struct Held {
  JobId id;
  std::string worker_id;
  LeaseToken pg_token;
  LeaseToken model_token;
};

struct TwinWorker {
  std::string worker_id;
  Uuid pg_process;
  Uuid model_process;
  std::map<std::string, store::Marks> pg_marks;  // By queue.
  std::map<std::string, store::Marks> model_marks;
};

class Twin {
 public:
  explicit Twin(Policies policies);
  ~Twin();

  void pass(Time time);
  Time now() const { return now_; }

  bool enqueue(const JobSpec& spec);
  void cancel(JobId id);
  void redrive(JobId id);
  void run_now(JobId id);

  void register_worker(const std::string& worker_id, Time lease);
  void beat(const TwinWorker& worker);
  void retire(const TwinWorker& worker);
  void unheld_leases(const TwinWorker& worker, const std::vector<Held>& held);
  void hand_back_process(const TwinWorker& worker);
  struct ClaimChoice {
    int queue = 0;
    int limit = 1;
    std::vector<std::string> types;
    bool marked = false;
    bool alone = false;
  };
  void claim(TwinWorker& worker, const ClaimChoice& choice);
  void extend(const std::string& worker_id, const std::vector<Held>& held, Time by);
  void settle(const std::string& worker_id, const std::vector<Held>& held,
              const std::vector<Outcome>& outcomes);
  void settle_with(const std::string& worker_id, const Held& held, const Outcome& outcome);
  void progress(const std::string& worker_id, const Held& held);
  void log(const std::string& worker_id, const Held& held);

  enum class Duty { reclaim, promote_due, advance, expire_waiting, expire_slots };
  void duty(Duty duty, int limit);
  void elect(const std::string& holder, Time ttl);
  void resign(const std::string& holder);

  void compare();  // What both hold. Throws at the first difference.

  Model model;
  std::vector<TwinWorker> workers;
  std::vector<Held> deliveries;  // All there ever were.
  std::string last_call;         // For messages.
  // How often each call was answered in which way: a path that was never taken was not compared.
  static std::map<std::string, int>& seen();

 private:
  template <class T>
  T run(awaitable<T> task);
  template <class T>
  void same(const T& pg, const T& modelled, std::string_view what) const;
  void see(std::string_view what) const;  // After the name of the last call.
  void install();
  void compare_jobs();
  void adopt_order();
  void compare_limits();
  void compare_workers();

  Policies policies_;
  Dice dice_{1};
  ModelWatch nobody_;
  Time now_;
  test::TestDatabase database_;
  test::Session sql_;
  boost::asio::io_context io_{1};
  SystemRandom random_;
  pg::Pool work_;
  pg::Pool beats_;
  store::PgJobStore jobs_;
  store::PgKeeperStore keeper_;
  std::vector<JobId> ready_before_;
};

}  // namespace millrace::sim
