#include "client/coalescer.h"
#include "client/convert.h"
#include "client/pg_sink.h"

#include <fmt/format.h>
#include <millrace/producer.h>

#include <atomic>
#include <exception>
#include <unistd.h>
#include <utility>

namespace millrace::client {
namespace {

constexpr int kConnectionsMax = 64;
constexpr int kBatchMax = 10'000;

std::unexpected<Error> refuse(ErrorKind kind, std::string message) {
  return std::unexpected(Error{kind, std::move(message), {}});
}

// In front of every member: what the library throws means that memory or threads ran out.
template <class Answer, class Function>
Answer without_exceptions(Function function) {
  try {
    return function();
  } catch (const std::exception& thrown) {
    return refuse(ErrorKind::unavailable, thrown.what());
  }
}

Result<void> check(const SharedProducerOptions& options) {
  const auto within = [](const char* name, auto value, auto low, auto high) -> Result<void> {
    if (value >= low && value <= high) return {};
    return refuse(ErrorKind::invalid_argument,
                  fmt::format("{} must be between {} and {}, got {}", name, low, high, value));
  };
  if (auto good = within("connections", options.connections, 1, kConnectionsMax); !good)
    return good;
  if (auto good = within("batch_max", options.batch_max, 1, kBatchMax); !good) return good;
  if (auto good = within("pending_max", options.pending_max, 1, 100'000'000); !good) return good;
  return within("retry_for in ms", options.retry_for.count(), 0, 86'400'000);
}

CoalescerOptions coalescer_options(const SharedProducerOptions& options) {
  CoalescerOptions made{.retry_for = options.retry_for};
  made.queue.batch_max = static_cast<std::size_t>(options.batch_max);
  made.queue.pending_max = static_cast<std::size_t>(options.pending_max);
  made.queue.pending_bytes_max = options.pending_bytes_max;
  return made;
}

// Calls of one thread keep their order, so they belong to one share; two threads seldom to the
// same.
unsigned thread_number() {
  static constinit std::atomic<unsigned> next = 0;
  thread_local const unsigned number = next++;
  return number;
}

std::future<CallAnswer> ready(CallAnswer answer) {
  std::promise<CallAnswer> promise;
  promise.set_value(std::move(answer));
  return promise.get_future();
}

}  // namespace

struct SharedProducer::Impl {
  Impl(const SharedProducerOptions& options, const pg::ConnectOptions& connect)
      : shares(static_cast<unsigned>(options.connections)),
        coalescer(coalescer_options(options), clock, make_sinks(options.connections, connect)) {}

  std::vector<std::unique_ptr<EnqueueSink>> make_sinks(int count,
                                                       const pg::ConnectOptions& connect) {
    std::vector<std::unique_ptr<EnqueueSink>> sinks;
    for (int i = 0; i < count; ++i) {
      auto sink = std::make_unique<PgSink>(connect, random);
      if (i == 0) first = sink.get();
      sinks.push_back(std::move(sink));
    }
    return sinks;
  }

  bool forked() const { return owner != ::getpid(); }

  const pid_t owner = ::getpid();
  const unsigned shares;
  SystemClock clock;
  SystemRandom random;
  PgSink* first = nullptr;
  Coalescer coalescer;  // Last: its threads use the rest.
};

void SharedProducer::Close::operator()(Impl* impl) const noexcept {
  // A forked child has neither the threads nor a right to the connections, and to take them apart
  // would end the sessions of its parent: there the object is left as it is.
  if (!impl->forked()) delete impl;
}

SharedProducer::SharedProducer(std::unique_ptr<Impl, Close> impl) : impl_(std::move(impl)) {}
SharedProducer::SharedProducer(SharedProducer&&) noexcept = default;
SharedProducer& SharedProducer::operator=(SharedProducer&&) noexcept = default;
SharedProducer::~SharedProducer() = default;

Result<SharedProducer> SharedProducer::connect(const std::string& database_url,
                                               const SharedProducerOptions& options) {
  return without_exceptions<Result<SharedProducer>>([&]() -> Result<SharedProducer> {
    if (auto good = check(options); !good) return std::unexpected(std::move(good).error());
    auto to = pg::connect_options(database_url);
    to.application_name = "millrace producer";
    std::unique_ptr<Impl, Close> impl(new Impl(options, to));
    // One now, so that a wrong url is told here; the others when there is work for them.
    if (const auto good = impl->first->connect(); !good) return fail_public(good.error());
    impl->coalescer.start();
    return SharedProducer(std::move(impl));
  });
}

Result<void> SharedProducer::usable() const {
  if (impl_ == nullptr) return refuse(ErrorKind::invalid_argument, "this producer was moved away");
  if (!impl_->forked()) return {};
  return refuse(ErrorKind::invalid_argument,
                "this producer belongs to the parent process: connect again after fork");
}

std::future<Result<Enqueued>> SharedProducer::submit(JobSpec job, bool wait) {
  if (auto good = usable(); !good) return ready(std::unexpected(std::move(good).error()));
  auto call = make_call(std::move(job), impl_->clock, impl_->random);
  if (!call) return ready(std::unexpected(std::move(call).error()));
  call->key.share = thread_number() % impl_->shares;
  return impl_->coalescer.submit(std::move(*call),
                                 wait ? CallQueue::WhenFull::wait : CallQueue::WhenFull::refuse);
}

Result<Enqueued> SharedProducer::enqueue(const JobSpec& job) {
  return without_exceptions<Result<Enqueued>>([&] { return submit(job, true).get(); });
}

std::future<Result<Enqueued>> SharedProducer::enqueue_async(JobSpec job) {
  try {
    return submit(std::move(job), false);
  } catch (const std::exception& thrown) {
    return ready(refuse(ErrorKind::unavailable, thrown.what()));
  }
}

void SharedProducer::flush() {
  if (usable()) impl_->coalescer.flush();
}

}  // namespace millrace::client
