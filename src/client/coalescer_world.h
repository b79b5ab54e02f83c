// CoalescerTest: a Coalescer on a FakeDatabase, and the words its tests are made of.
#pragma once

#include "base/random.h"
#include "client/coalescer.h"
#include "client/fake_enqueue_sink.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace millrace::client {

class CoalescerTest : public ::testing::Test {
 protected:
  void start(CoalescerOptions options = {}, int sinks = 1) {
    std::vector<std::unique_ptr<EnqueueSink>> made;
    for (int i = 0; i < sinks; ++i) made.push_back(std::make_unique<FakeSink>(database));
    coalescer = std::make_unique<Coalescer>(options, database.clock, std::move(made));
    coalescer->start();
  }

  static JobSpec plain(int n, std::string type = "t") {
    return {.job_type = std::move(type), .payload = payload(n)};
  }
  static JobSpec keyed(int n) {
    auto job = plain(n);
    job.idempotency_key = fmt::format("key-{}", n);
    return job;
  }
  static std::string random_id() { return SystemRandom().uuid().to_string(); }
  static std::string payload(int n) { return fmt::format(R"({{"n":{}}})", n); }
  static std::vector<std::string> payloads(int first, int last) {
    std::vector<std::string> made;
    for (int n = first; n <= last; ++n) made.push_back(payload(n));
    return made;
  }

  std::future<CallAnswer> submit(JobSpec job,
                                 CallQueue::WhenFull when_full = CallQueue::WhenFull::wait) {
    auto call = make_call(std::move(job), database.clock, random);
    if (!call) throw std::runtime_error(call.error().message);
    return coalescer->submit(std::move(*call), when_full);
  }
  std::vector<std::future<CallAnswer>> submit_plain(int first, int last) {
    std::vector<std::future<CallAnswer>> futures;
    for (int n = first; n <= last; ++n) futures.push_back(submit(plain(n)));
    return futures;
  }
  // The database has this call in its hands and stands still: what is submitted now gathers.
  std::future<CallAnswer> occupy(JobSpec job) {
    database.hold();
    auto first = submit(std::move(job));
    database.wait_for_held(1);
    return first;
  }

  static bool holds(const SentBatch& batch, const std::string& text) {
    for (const auto& job : batch.jobs) {
      if (job.contains(text)) return true;
    }
    return false;
  }
  static millrace::Error refusal(std::string sqlstate, std::string message = "no") {
    return {.kind = millrace::ErrorKind::invalid_argument,
            .message = std::move(message),
            .sqlstate = std::move(sqlstate)};
  }
  static millrace::Error away() {
    return {.kind = millrace::ErrorKind::unavailable, .message = "no connection"};
  }
  static millrace::Error doubt() {
    return {.kind = millrace::ErrorKind::in_doubt, .message = "the answer is lost"};
  }

  FakeDatabase database;
  SystemRandom random;
  std::unique_ptr<Coalescer> coalescer;  // Last: it uses the rest.
};

}  // namespace millrace::client
