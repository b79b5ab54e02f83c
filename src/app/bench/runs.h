// BenchRun: the measurements themselves.
#pragma once

#include "app/bench/bench.h"
#include "app/context.h"
#include "app/database.h"
#include "app/engine.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace millrace::app {

class BenchRun {
 public:
  BenchRun(Context& context, const Database& database, const BenchOptions& options)
      : context_(context), database_(database), options_(options) {}

  // One call per job, array calls with one and several clients, COPY.
  Result<std::vector<Measured>> enqueue();
  // A backlog of noop jobs until none is unsettled, by the worker of this process.
  Result<std::vector<Measured>> drain();
  // From enqueue to the start of the handler, one job at a time.
  Result<std::vector<Measured>> latency();
  // A fixed number of jobs from the head of backlogs of different depth.
  Result<std::vector<Measured>> depth();

 private:
  class Tally;    // How many jobs were handled.
  struct Pickup;  // When each job's handler started.

  Result<store::AdminStore> connect();
  std::string payload(std::int64_t number) const;
  Result<void> fill(store::AdminStore& store, std::int64_t jobs);
  Result<void> set_up(store::AdminStore& store);
  std::unique_ptr<Engine> make_engine(Tally& tally, Pickup* pickup);
  Result<void> await_jobs(Engine& engine, const Tally& tally);
  // Jobs a second from the worker's registration until `jobs` more are completed.
  Result<double> time_worker(store::AdminStore& store, std::int64_t jobs);
  Result<void> empty_queue(store::AdminStore& store);
  Result<double> enqueue_with_clients(
      int clients, std::int64_t jobs,
      const std::function<Result<void>(store::AdminStore&, std::int64_t)>& send);
  void tell(const std::string& name, double value, const std::string& unit) const;

  Context& context_;
  const Database& database_;
  const BenchOptions& options_;
};

}  // namespace millrace::app
