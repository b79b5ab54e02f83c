#include "app/demo/workload.h"

#include "app/handlers.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace millrace::app {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr int kLimitPerWindow = 40;
constexpr auto kLimitWindow = 3s;
constexpr int kChain = 3;
constexpr int kSerialKeys = 10;
constexpr std::int64_t kCronRuns = 6;

json::Object spec(const std::string& job_type, json::Object payload) {
  return {{"job_type", job_type}, {"payload", std::move(payload)}};
}

std::int64_t wall_ms(Clock::Wall time) {
  return std::chrono::duration_cast<milliseconds>(time.time_since_epoch()).count();
}

}  // namespace

Workload::Workload(Context& context, const Ledger& ledger, Options options)
    : context_(context), ledger_(ledger), options_(std::move(options)) {
  kinds_ = {
      {"instant", "demo.instant", size(3000), "enqueued with COPY"},
      {"slow", "demo.slow", size(60), "half a second each, with progress"},
      {"flaky", "demo.flaky", size(200), "fail once or twice, then succeed"},
      {"rate-limited", "demo.limited", size(120),
       fmt::format("at most {} in any {} s", kLimitPerWindow, kLimitWindow.count())},
      {"poison", "demo.poison", size(4), "crash every time: dead letters"},
      {"broken", "demo.broken", size(6), "can never work: dead letters at once"},
      {"cancelled", "demo.cancelled", size(12), "cancelled half-way by the operator"},
      {"scheduled", "demo.scheduled", size(60), "due 1 to 6 s from now"},
      {"cron", "demo.cron", 0, "every second, for a while"},
      {"batch", "demo.batch", size(100), "one batch ..."},
      {"batch end", "demo.batch_end", 1, "... and the job at its end"},
      {"dependent", "demo.dependent", size(10) * kChain, "chains of three"},
      {"serial", "demo.serial", size(10) * kSerialKeys, "ten keys, in order within each"},
  };
  if (!options_.examples.empty()) {
    kinds_.push_back({"exec python", "thumbnail", size(12), "examples/exec/thumbnail.py"});
    kinds_.push_back({"exec bash", "checksum", size(12), "of the thumbnails, once they are there"});
  }
  kinds_.push_back({"http", "demo.http", size(40), "POST to a service; every fifth is sent away"});
}

std::int64_t Workload::size(std::int64_t usual) const {
  return std::max<std::int64_t>(1, std::llround(static_cast<double>(usual) * options_.scale));
}

Result<void> Workload::prepare(store::AdminStore& store) {
  const json::Object quick{{"max_attempts", 6},
                           {"backoff_base", "300 milliseconds"},
                           {"backoff_cap", "2 seconds"},
                           {"jitter_low", 1},
                           {"jitter_high", 1.5}};
  MR_TRY_VOID(store.set_queue("demo", quick));
  MR_TRY_VOID(store.set_queue("demo-bulk", quick));
  MR_TRY_VOID(store.set_limit("demo", "api",
                              {{"requests_per_minute", kLimitPerWindow},
                               {"minute_window", fmt::format("{} s", kLimitWindow.count())},
                               {"concurrent_requests", 20}}));
  for (const auto& kind : kinds_) {
    json::Object policy{{"queue", kind.job_type == "demo.instant" ? "demo-bulk" : "demo"}};
    if (kind.job_type == "demo.limited") policy["provider"] = "demo:api";
    MR_TRY_VOID(store.set_job_type(kind.job_type, policy));
  }
  return {};
}

std::vector<worker::QueueChoice> Workload::queues() const {
  return {{.name = "demo", .weight = 3}, {.name = "demo-bulk", .weight = 1}};
}

Result<worker::HandlerRegistry> Workload::registry(http::Client& client) {
  worker::HandlerRegistry registry;
  MR_TRY_VOID(add_functions(registry));
  MR_TRY_VOID(add_programs(registry, client));
  return registry;
}

Result<void> Workload::add_programs(worker::HandlerRegistry& registry, http::Client& client) {
  const auto add = [&](const std::string& type, HandlerConfig config) {
    config.type = type;
    config.env["LEDGER"] = std::filesystem::absolute(ledger_.path()).string();
    return registry.add(type, make_handler(config, context_.environment, client, false),
                        {.timeout = 30s, .queue = "demo"});
  };
  HandlerConfig crash;
  crash.kind = HandlerConfig::Kind::exec;
  crash.argv = {"/bin/sh", "-c", "kill -s SEGV $$"};
  MR_TRY_VOID(add("demo.poison", crash));
  HandlerConfig post;
  post.kind = HandlerConfig::Kind::http;
  post.url = options_.http_url;
  MR_TRY_VOID(add("demo.http", post));
  if (options_.examples.empty()) return {};
  for (const auto& [type, program] :
       {std::pair{"thumbnail", "thumbnail.py"}, std::pair{"checksum", "checksum.sh"}}) {
    HandlerConfig exec;
    exec.kind = HandlerConfig::Kind::exec;
    exec.argv = {(options_.examples / program).string()};
    exec.memory_bytes = 1ULL << 30;
    exec.cpu_seconds = 20;
    MR_TRY_VOID(add(type, exec));
  }
  return {};
}

Result<void> Workload::send(store::AdminStore& store, const json::Array& jobs) {
  MR_TRY_VOID(store.enqueue_jobs(jobs));
  for (const auto& job : jobs) ++enqueued_[text_member(job.as_object(), "job_type")];
  return {};
}

Result<void> Workload::enqueue(store::AdminStore& store) {
  const auto count = [this](const std::string& type) {
    const auto kind = std::ranges::find(kinds_, type, &DemoKind::job_type);
    return kind == kinds_.end() ? 0 : kind->total;
  };
  json::Array jobs;
  for (int i = 0; i < count("demo.cancelled"); ++i) {
    jobs.emplace_back(spec("demo.cancelled", {{"number", i}}));
  }
  for (int i = 0; i < count("demo.limited"); ++i) {
    jobs.emplace_back(spec("demo.limited", {{"number", i}}));
  }
  for (int i = 0; i < count("demo.poison"); ++i) {
    jobs.emplace_back(spec("demo.poison", {{"number", i}}));
  }
  for (int i = 0; i < count("demo.broken"); ++i) {
    jobs.emplace_back(spec("demo.broken", {{"number", i}}));
  }
  for (int i = 0; i < count("demo.scheduled"); ++i) {
    const auto delay = 1000 + 5000 * i / count("demo.scheduled");
    auto job = spec("demo.scheduled", {{"due_ms", wall_ms(context_.clock.wall()) + delay}});
    job["delay_seconds"] = static_cast<double>(delay) / 1000;
    jobs.emplace_back(std::move(job));
  }
  for (int i = 0; i < count("demo.serial"); ++i) {
    const auto key = fmt::format("key-{}", i % kSerialKeys);
    auto job = spec("demo.serial", {{"note", fmt::format("{} {}", key, i / kSerialKeys)}});
    job["serial_key"] = key;
    jobs.emplace_back(std::move(job));
  }
  for (int i = 0; i < count("demo.slow"); ++i) {
    jobs.emplace_back(spec("demo.slow", {{"number", i}}));
  }
  for (int i = 0; i < count("demo.flaky"); ++i) {
    jobs.emplace_back(spec("demo.flaky", {{"failures", 1 + i % 2}}));
  }
  for (int i = 0; i < count("demo.http"); ++i) {
    jobs.emplace_back(spec("demo.http", {{"number", i}}));
  }
  MR_TRY_VOID(send(store, jobs));
  MR_TRY_VOID(enqueue_dependents(store));
  MR_TRY_VOID(enqueue_programs(store));

  json::Array members;
  for (int i = 0; i < count("demo.batch"); ++i) {
    members.emplace_back(spec("demo.batch", {{"number", i}}));
  }
  MR_TRY_VOID(store.create_batch(
      members, {{"name", "demo"}, {"callback", spec("demo.batch_end", {{"note", "batch"}})}}));
  enqueued_["demo.batch"] = count("demo.batch");
  enqueued_["demo.batch_end"] = 1;
  MR_TRY_VOID(store.set_cron("demo", "* * * * * *", spec("demo.cron", {{"note", "tick"}}), {}));
  cron_set_ = true;
  MR_TRY(enqueued_["demo.instant"],
         store.copy_jobs("demo.instant", "demo-bulk", count("demo.instant"),
                         [](std::int64_t i) { return fmt::format(R"({{"number": {}}})", i); }));
  return {};
}

Result<void> Workload::enqueue_dependents(store::AdminStore& store) {
  json::Array jobs;
  for (std::int64_t chain = 0; chain < size(10); ++chain) {
    std::string before;
    for (int link = 0; link < kChain; ++link) {
      const auto id = context_.random.uuid().to_string();
      auto job = spec("demo.dependent", {{"note", fmt::format("chain-{} {}", chain, link)}});
      job["id"] = id;
      if (!before.empty()) job["after"] = json::Object{{"jobs", json::Array{before}}};
      jobs.emplace_back(std::move(job));
      before = id;
    }
  }
  return send(store, jobs);
}

Result<void> Workload::enqueue_programs(store::AdminStore& store) {
  if (options_.examples.empty()) return {};
  json::Array jobs;
  const auto folder = std::filesystem::absolute(options_.folder);
  for (std::int64_t i = 0; i < size(12); ++i) {
    const auto target = (folder / fmt::format("thumbnail-{:02}.png", i)).string();
    const auto id = context_.random.uuid().to_string();
    auto thumbnail = spec(
        "thumbnail",
        {{"source", fmt::format("pattern:240x160:{}", i + 1)}, {"width", 48}, {"target", target}});
    thumbnail["id"] = id;
    jobs.emplace_back(std::move(thumbnail));
    auto checksum = spec("checksum", {{"path", target}});
    checksum["after"] = json::Object{{"jobs", json::Array{id}}};
    jobs.emplace_back(std::move(checksum));
  }
  return send(store, jobs);
}

Result<bool> Workload::nudge(store::AdminStore& store,
                             const std::vector<store::TypeCounts>& counts) {
  std::int64_t cron_runs = 0;
  std::int64_t cancellable = 0;
  for (const auto& row : counts) {
    if (row.job_type == "demo.cron") cron_runs = row.total();
    if (row.job_type == "demo.cancelled") cancellable = row.live();
  }
  for (auto& kind : kinds_) {
    if (kind.job_type == "demo.cron") kind.total = std::max(kind.total, cron_runs);
  }
  if (cron_set_ && cron_runs >= kCronRuns) {
    MR_TRY_VOID(store.delete_cron("demo"));
    cron_set_ = false;
  }
  if (cancellable > 0) MR_TRY_VOID(cancel_halfway(store));
  return cron_set_ || cancellable > 0;
}

Result<void> Workload::cancel_halfway(store::AdminStore& store) {
  MR_TRY(const auto rows, store.list_jobs({.job_type = "demo.cancelled", .status = "processing"}));
  std::vector<JobId> ids;
  for (const auto& row : rows) {
    const auto& job = row.as_object();
    const auto id = text_member(job, "job_id");
    if (int_member(job, "progress") < 40 || cancelled_.contains(id)) continue;
    MR_TRY(const auto parsed, JobId::parse(id));
    ids.push_back(parsed);
    cancelled_.insert(id);
  }
  if (ids.empty()) return {};
  MR_TRY_VOID(store.cancel_jobs(ids, "the demo's operator changed his mind"));
  return {};
}

std::vector<std::string> Workload::types_without_ledger() const { return {"demo.poison"}; }

}  // namespace millrace::app
