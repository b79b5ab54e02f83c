// FakeDatabase and its sinks: for tests of what becomes of batches, without a database.
//
// It stores what it is sent, all or none, unless a rule of the test says otherwise; it finds jobs
// again by id, idempotency key or dedupe key; and it can be made to stand still while it has a
// batch in its hands. Thread-safe. Rules run under its lock.
#pragma once

#include "base/clock.h"
#include "client/enqueue_sink.h"

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace millrace::client {

struct SentBatch {
  JobKind kind;
  std::vector<std::string> jobs;  // Payloads, or whole specs, as JSON.
};

class FakeDatabase {
 public:
  using Rule = std::function<std::optional<millrace::Error>(const SentBatch&)>;

  void refuse(Rule rule) {
    set(before_, std::move(rule));
  }  // Nothing is stored, and the error told.
  void lose(Rule rule) { set(after_, std::move(rule)); }  // Stored, and yet the error told.
  // Batches for which this is true stay here, until the next hold() or release().
  void hold(std::function<bool(const SentBatch&)> which = [](const SentBatch&) { return true; }) {
    const std::lock_guard lock(mutex_);
    held_ = std::move(which);
    changed_.notify_all();
  }
  void release() { hold({}); }
  void wait_for_held(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ >= count; });
  }

  std::vector<SentBatch> sent() const {
    const std::lock_guard lock(mutex_);
    return sent_;
  }
  std::vector<std::size_t> sizes() const {
    std::vector<std::size_t> sizes;
    for (const auto& batch : sent()) sizes.push_back(batch.jobs.size());
    return sizes;
  }
  std::vector<std::string> stored() const {
    const std::lock_guard lock(mutex_);
    return stored_;
  }
  bool kinds_overlapped() const {
    const std::lock_guard lock(mutex_);
    return overlapped_;
  }

  EnqueueSink::Answers send(SentBatch batch, const std::vector<std::string>& keys) {
    std::unique_lock lock(mutex_);
    sent_.push_back(batch);
    overlapped_ = overlapped_ || ++under_way_[batch.kind] > 1;
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !held_ || !held_(batch); });
    --waiting_;
    --under_way_[batch.kind];
    if (before_) {
      if (auto error = before_(batch)) return millrace::fail(std::move(*error));
    }
    std::vector<store::EnqueueAnswer> answers;
    for (std::size_t i = 0; i < batch.jobs.size(); ++i)
      answers.push_back(store(batch.jobs[i], keys[i]));
    if (after_) {
      if (auto error = after_(batch)) return millrace::fail(std::move(*error));
    }
    return answers;
  }

  ManualClock clock;

 private:
  store::EnqueueAnswer store(const std::string& job, const std::string& key) {
    if (const auto found = by_key_.find(key); !key.empty() && found != by_key_.end()) {
      return {.id = found->second, .created = false};
    }
    stored_.push_back(job);
    JobId id;
    if (const auto own = JobId::parse(key)) {
      id = *own;
    } else {
      id.value.bytes[14] = static_cast<std::uint8_t>(stored_.size() >> 8U);
      id.value.bytes[15] = static_cast<std::uint8_t>(stored_.size());
    }
    if (!key.empty()) by_key_.emplace(key, id);
    return {.id = id, .created = true};
  }
  void set(Rule& place, Rule rule) {
    const std::lock_guard lock(mutex_);
    place = std::move(rule);
  }

  mutable std::mutex mutex_;  // Guards everything below.
  std::condition_variable changed_;
  Rule before_;
  Rule after_;
  std::function<bool(const SentBatch&)> held_;
  std::size_t waiting_ = 0;
  std::map<JobKind, int> under_way_;
  bool overlapped_ = false;
  std::vector<SentBatch> sent_;
  std::vector<std::string> stored_;
  std::map<std::string, JobId> by_key_;
};

class FakeSink final : public EnqueueSink {
 public:
  explicit FakeSink(FakeDatabase& database) : database_(database) {}

  Answers enqueue_array(const JobKind& kind, const std::vector<std::string>& payloads) override {
    return database_.send({kind, payloads}, std::vector<std::string>(payloads.size()));
  }
  Answers enqueue_jobs(const json::Array& jobs) override {
    SentBatch batch;
    std::vector<std::string> keys;
    for (const auto& job : jobs) {
      batch.jobs.push_back(to_json(job));
      keys.push_back(key_of(job.as_object()));
    }
    return database_.send(std::move(batch), keys);
  }
  void pause(std::chrono::milliseconds time) override { database_.clock.advance(time); }

 private:
  static std::string key_of(const json::Object& job) {
    for (const auto* name : {"id", "idempotency_key", "dedupe_key"}) {
      if (const auto* key = job.if_contains(name)) return std::string(key->as_string());
    }
    return {};
  }

  FakeDatabase& database_;
};

}  // namespace millrace::client
