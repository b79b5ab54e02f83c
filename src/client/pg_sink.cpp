#include "client/pg_sink.h"

#include <boost/json/object.hpp>

#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>

namespace millrace::client {

PgSink::PgSink(pg::ConnectOptions options, Random& random)
    : options_(std::move(options)), random_(random) {}

millrace::Result<void> PgSink::connect() {
  if (store_ && store_->connection().healthy()) return {};
  store_.reset();
  MR_TRY(auto store, store::AdminStore::connect(options_));
  store_.emplace(std::move(store));
  return {};
}

template <class Call>
EnqueueSink::Answers PgSink::on_connection(Call call) {
  if (auto connected = connect(); !connected) {
    auto error = std::move(connected).error();
    error.kind = millrace::ErrorKind::unavailable;  // Whatever it is, nothing was sent.
    return millrace::fail(std::move(error));
  }
  try {
    auto answers = call(*store_);
    // Another server may be the primary now: only a new connection finds it.
    if (!answers && answers.error().sqlstate == "25006") store_.reset();
    return answers;
  } catch (const std::exception& thrown) {
    store_.reset();
    return millrace::fail(millrace::ErrorKind::in_doubt, thrown.what());
  }
}

EnqueueSink::Answers PgSink::enqueue_array(const JobKind& kind,
                                           const std::vector<std::string>& payloads) {
  json::Object options;
  if (!kind.queue.empty()) options["queue"] = kind.queue;
  if (kind.priority) options["priority"] = *kind.priority;
  return on_connection([&](store::AdminStore& store) -> Answers {
    MR_TRY(const auto ids, store.enqueue_array(kind.job_type, payloads, options));
    std::vector<store::EnqueueAnswer> answers;
    answers.reserve(ids.size());
    for (const auto& id : ids) answers.push_back({.id = id, .created = true});
    return answers;
  });
}

EnqueueSink::Answers PgSink::enqueue_jobs(const json::Array& jobs) {
  return on_connection([&](store::AdminStore& store) { return store.enqueue_jobs(jobs); });
}

void PgSink::pause(std::chrono::milliseconds time) {
  // Nobody ends it early: whoever waits for the calls wants them tried until their time is up.
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable never;
  never.wait_for(lock, random_.jitter(time, 0.2));
}

}  // namespace millrace::client
