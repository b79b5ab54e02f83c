// A worker for chaos runs. Its handler takes as long as the payload says and leaves one row in a
// plain table, public.ledger, in the transaction that settles the job: the ledger counts effects
// without asking the engine.
//
// Payload: kind (plain, flaky, permanent, stage), key_id, ms; a stage also has `left`, the number
// of stages to come: each enqueues the next one with its own result.
#include "base/fault.h"
#include "base/history.h"
#include "base/json.h"

#include <fmt/format.h>
#include <millrace/worker.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

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

std::string text(const millrace::json::Object& payload, const char* name) {
  const auto* value = payload.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

long number(const millrace::json::Object& payload, const char* name) {
  const auto* value = payload.if_contains(name);
  return value != nullptr && value->is_number() ? value->to_number<long>() : 0;
}

// The next stage of a document: its key follows from its parent's, so that the checker knows it.
void enqueue_next_stage(const Job& job, const millrace::json::Object& payload, Context& context) {
  const auto left = number(payload, "left");
  if (left == 0) return;
  auto next = payload;
  const auto key = text(payload, "key_id") + "+";
  next["key_id"] = key;
  next["left"] = left - 1;
  context.enqueue_with_result({.job_type = job.job_type,
                               .payload = millrace::to_json(next),
                               .queue = job.queue,
                               .idempotency_key = key});
}

Outcome run(const Job& job, Context& context) {
  const auto parsed = millrace::parse_json_object(job.payload);
  if (!parsed) return Outcome::permanent("payload", parsed.error().message);
  const auto& payload = *parsed;
  const auto kind = text(payload, "kind");
  const auto steps = std::max(1L, number(payload, "steps"));
  for (long step = 1; step <= steps; ++step) {
    if (!work_for(std::chrono::milliseconds(number(payload, "ms") / steps), context)) {
      return Outcome::cancelled("stopped");
    }
    if (steps == 1) continue;
    context.progress(static_cast<int>(100 * step / steps), "at work");
    context.log(millrace::client::LogLevel::info, fmt::format("step {} of {}", step, steps));
  }
  if (kind == "flaky" && job.attempt == 1)
    return Outcome::retry("flaky", "fails the first time", std::chrono::milliseconds(50));
  if (kind == "permanent") return Outcome::permanent("bad", "never works");
  if (kind == "stage") enqueue_next_stage(job, payload, context);
  const auto serial = text(payload, "serial");
  context.run_with_result(
      "insert into public.ledger (job_id, key_id, token, delivery, serial, n) values ($1, $2, $3, "
      "$4, $5, $6)",
      {job.id, text(payload, "key_id"), job.lease_token, std::to_string(job.delivery_count),
       serial.empty() ? std::nullopt : std::optional(serial),
       std::to_string(number(payload, "n"))});
  return Outcome::ok("{}");
}

// Before any thread is started: all of them inherit it.
sigset_t block_sigterm() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return set;
}

// SIGTERM drains: waited for on a thread of its own, since a signal handler may do next to nothing.
void stop_on_sigterm(millrace::client::Worker& worker, sigset_t set) {
  std::thread([&worker, set] {
    int number = 0;
    ::sigwait(&set, &number);
    worker.stop();
  }).detach();
}

int begin_experiment() {
  if (const char* directory = std::getenv("MILLRACE_HISTORY")) {
    if (!millrace::history::open_history(directory, "worker")) return 2;
  }
  if (const char* plan = std::getenv("MILLRACE_FAULT")) {
    if (const auto armed = millrace::fault::arm(plan); !armed) {
      std::fprintf(stderr, "chaos_worker: %s\n", armed.error().message.c_str());
      return 2;
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) {
    std::fputs("usage: chaos_worker DATABASE_URL SLOTS LEASE_MS [keeper]\n", stderr);
    return 2;
  }
  if (const int code = begin_experiment(); code != 0) return code;
  const auto sigterm = block_sigterm();
  millrace::client::WorkerOptions options{.database_url = argv[1],
                                          .queues = {"chaos"},
                                          .slots = std::atoi(argv[2]),
                                          .lease = std::chrono::milliseconds(std::atoi(argv[3])),
                                          .keeper = argc == 5};
  if (const char* drain = std::getenv("CHAOS_DRAIN_MS"); drain != nullptr) {
    options.drain_timeout = std::chrono::milliseconds(std::atoi(drain));
  }
  millrace::client::Worker worker(options);
  worker.handle("chaos", run, "chaos");
  stop_on_sigterm(worker, sigterm);
  const auto ran = worker.run();
  if (!ran) std::fprintf(stderr, "chaos_worker: %s\n", ran.error().message.c_str());
  std::fflush(stderr);
  std::_Exit(ran ? 0 : 1);  // The thread that waits for a signal still refers to the worker.
}
