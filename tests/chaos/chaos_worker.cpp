// A worker for chaos runs. Its handler takes as long as the payload says and leaves one row in a
// plain table, public.ledger, in the transaction that settles the job: the ledger counts effects
// without asking the engine.
#include "base/json.h"

#include <millrace/worker.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>

namespace {

using millrace::client::Context;
using millrace::client::Job;
using millrace::client::Outcome;

// Waits in small steps because cancellation can only be polled from here.
bool work_for(std::chrono::milliseconds duration, const Context& context) {
  static std::mutex mutex;
  static std::condition_variable never;
  const auto end = std::chrono::steady_clock::now() + duration;
  std::unique_lock lock(mutex);
  while (std::chrono::steady_clock::now() < end) {
    if (context.cancelled()) return false;
    never.wait_until(
        lock, std::min(end, std::chrono::steady_clock::now() + std::chrono::milliseconds(20)));
  }
  return !context.cancelled();
}

Outcome run(const Job& job, Context& context) {
  const auto parsed = millrace::parse_json_object(job.payload);
  if (!parsed) return Outcome::permanent("payload", parsed.error().message);
  const auto& payload = *parsed;
  const std::string kind(payload.at("kind").as_string());
  const auto n = payload.at("n").to_number<long>();
  if (!work_for(std::chrono::milliseconds(payload.at("ms").to_number<long>()), context)) {
    return Outcome::cancelled("stopped");
  }
  if (kind == "flaky" && job.attempt == 1)
    return Outcome::retry("flaky", "fails the first time", std::chrono::milliseconds(50));
  if (kind == "permanent") return Outcome::permanent("bad", "never works");
  const auto* key = payload.if_contains("key");
  context.run_with_result(
      "insert into public.ledger (job_id, n, key, delivery) values ($1, $2, $3, $4)",
      {job.id, std::to_string(n),
       key != nullptr ? std::optional(std::string(key->as_string())) : std::nullopt,
       std::to_string(job.delivery_count)});
  return Outcome::ok("{\"n\": " + std::to_string(n) + "}");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: chaos_worker DATABASE_URL SLOTS LEASE_MS\n", stderr);
    return 2;
  }
  millrace::client::Worker worker({.database_url = argv[1],
                                   .queues = {"chaos"},
                                   .slots = std::atoi(argv[2]),
                                   .lease = std::chrono::milliseconds(std::atoi(argv[3]))});
  worker.handle("chaos", run, "chaos");
  const auto ran = worker.run();
  if (!ran) std::fprintf(stderr, "chaos_worker: %s\n", ran.error().message.c_str());
  return ran ? 0 : 1;
}
