// StreamServer: the routes of streams on a real server, over a log and jobs in memory. For tests
// only.
#pragma once

#include "api/api_fixture.h"
#include "api/routes/streams.h"
#include "api/schemas.h"
#include "api/stream/stream_client.h"
#include "api/stream/stream_fixture.h"
#include "base/run.h"
#include "http/server_threads.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::api {

// The queue `default` is there.
class FakeOperations final : public store::OperationStore {
 public:
  Task<store::Versioned> get_queue(store::CallContext, std::string queue) override {
    if (queue == "default") co_return store::Versioned{.json = "{}", .version = "v"};
    co_return fail(Error{
        .kind = ErrorKind::not_found, .message = "queue does not exist", .sqlstate = "MR007"});
  }
  Task<std::string> list_queues(store::CallContext) override { co_return "[]"; }
  Task<void> set_queue(store::CallContext, std::string, std::string,
                       store::WantedVersions) override {
    co_return ok();
  }
  Task<void> pause_queue(store::CallContext, std::string, std::optional<std::string>) override {
    co_return ok();
  }
  Task<void> resume_queue(store::CallContext, std::string) override { co_return ok(); }
  Task<std::string> list_job_types(store::CallContext) override { co_return "[]"; }
  Task<void> set_job_type(store::CallContext, std::string, std::string) override { co_return ok(); }
  Task<std::string> list_limits(store::CallContext) override { co_return "[]"; }
  Task<store::Versioned> get_limit(store::CallContext, store::ProviderName) override {
    co_return store::Versioned();
  }
  Task<void> set_limit(store::CallContext, store::ProviderName, std::string,
                       store::WantedVersions) override {
    co_return ok();
  }
  Task<void> override_limit(store::CallContext, store::ProviderName,
                            store::LimitOverride) override {
    co_return ok();
  }
  Task<void> clear_override(store::CallContext, store::ProviderName) override { co_return ok(); }
  Task<void> reset_breaker(store::CallContext, store::ProviderName) override { co_return ok(); }
  Task<std::string> list_cron(store::CallContext) override { co_return "[]"; }
  Task<store::Versioned> get_cron(store::CallContext, std::string) override {
    co_return store::Versioned();
  }
  Task<Uuid> set_cron(store::CallContext, store::CronEntry, store::WantedVersions) override {
    co_return Uuid();
  }
  Task<void> delete_cron(store::CallContext, std::string, store::WantedVersions) override {
    co_return ok();
  }
  Task<std::string> cron_now(store::CallContext, std::string, store::RequestKey) override {
    co_return "{}";
  }
  Task<std::string> list_workers(store::CallContext) override { co_return "[]"; }
  Task<std::string> list_configuration(store::CallContext) override { co_return "[]"; }
  Task<void> set_configuration(store::CallContext, std::string, std::string) override {
    co_return ok();
  }
};

// One server process over a log that it may share with others.
class StreamServer {
 public:
  // `clock`: the hub's; requests live in real time.
  StreamServer(FakeLog& log, FakeJobs& jobs, EventHubOptions options = quick(),
               ManualClock* clock = nullptr)
      : hub_(threads_.executors().front(),
             EventHub::Parts{.tail = log,
                             .events = log,
                             .jobs = jobs,
                             .clock = clock != nullptr ? static_cast<Clock&>(*clock) : clock_,
                             .random = random_,
                             .log = silent_,
                             .registry = registry_},
             options),
        api_(std::in_place,
             stream_operations({.hub = hub_, .jobs = jobs, .operations = operations_}),
             PipelineOptions(), component_schemas()) {
    hub_.start();
  }
  ~StreamServer() {
    run_blocking(hub_.stop());
    api_.reset();
  }

  static EventHubOptions quick() {
    return {.poll = std::chrono::milliseconds(2), .quiet_poll = std::chrono::milliseconds(5)};
  }

  StreamClient watch(std::string_view path, const std::string& token,
                     const std::string& last_id = {}, const std::string& more = {}) {
    auto headers = "Accept: text/event-stream\r\n" + ApiFixture::bearer(token) + more;
    if (!last_id.empty()) headers += "Last-Event-ID: " + last_id + "\r\n";
    return {api_->address(), path, headers};
  }
  std::string service(TenantId tenant = kStreamTenant) {
    return api_->token(identity::Role::service_role, tenant);
  }
  std::string person(int number, TenantId tenant = kStreamTenant) {
    return api_->token(identity::Role::authenticated, tenant,
                       identity::UserId{user_number(number)});
  }
  ApiFixture& api() { return *api_; }
  std::string metrics() const { return registry_.render(); }

 private:
  SystemClock clock_;
  SystemRandom random_;
  Logger silent_ = Logger::silent();
  MetricRegistry registry_;
  FakeOperations operations_;
  http::ServerThreads threads_{1};
  EventHub hub_;
  std::optional<ApiFixture> api_;
};

inline json::Object data_of(const std::optional<StreamClient::Got>& got) {
  if (!got) {
    ADD_FAILURE() << "the stream has ended";
    return {};
  }
  auto parsed = parse_json_object(got->data);
  EXPECT_TRUE(parsed) << got->data;
  return parsed ? *std::move(parsed) : json::Object();
}

}  // namespace millrace::api
