// FakeLog, FakeJobs, FakeChannel, StreamClient: the event log, jobs and open streams from both
// ends. For tests only.
#pragma once

#include "api/stream/stream_event.h"
#include "http/sse_stream.h"
#include "store/api/jobs_read.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace millrace::api {

inline const TenantId kStreamTenant = *TenantId::parse("11111111-1111-4111-8111-111111111111");
inline const TenantId kOtherTenant = *TenantId::parse("22222222-2222-4222-8222-222222222222");

inline JobId job_number(int number) {
  return *JobId::parse(fmt::format("0190a000-0000-7000-8000-{:012}", number));
}
inline BatchId batch_number(int number) {
  return *BatchId::parse(fmt::format("0190b000-0000-7000-8000-{:012}", number));
}
inline Uuid user_number(int number) {
  return *Uuid::parse(fmt::format("0190c000-0000-4000-8000-{:012}", number));
}

struct NewEvent {
  std::string kind = "job.progress";
  std::vector<JobId> jobs = {job_number(1)};
  std::string data = {};
  std::string queue = "default";
  TenantId tenant = kStreamTenant;
};

// Reads as millrace.read_events does: transactions that run are passed by and come later.
class FakeLog final : public store::EventStore {
 public:
  std::uint64_t begin() {
    const std::lock_guard lock(mutex_);
    running_.push_back(++xid_);
    return xid_;
  }
  void add_to(std::uint64_t xid, NewEvent event) {
    const std::lock_guard lock(mutex_);
    insert(xid, std::move(event));
  }
  void commit(std::uint64_t xid) {
    const std::lock_guard lock(mutex_);
    std::erase(running_, xid);
  }
  void add(NewEvent event) {
    const std::lock_guard lock(mutex_);
    insert(++xid_, std::move(event));
  }
  // As retention does.
  void remove_all() {
    const std::lock_guard lock(mutex_);
    floor_ = xid_++;  // Its own transaction comes behind.
    events_.clear();
  }

  Task<store::EventPosition> event_start(int back) override {
    const std::lock_guard lock(mutex_);
    if (away) co_return fail(ErrorKind::unavailable, "the database is away");
    const store::EventSnapshot snapshot{.xmax = xid_ + 1, .running = running_};
    std::vector<const Row*> visible;
    for (const auto& row : events_) {
      if (!snapshot.runs(row.xid)) visible.push_back(&row);
    }
    if (back == 0 || visible.empty()) co_return store::EventPosition::tail(xid_, running_);
    const auto many = static_cast<std::size_t>(back);
    const auto* row = visible[visible.size() > many ? visible.size() - many - 1 : 0];
    store::EventPosition position{.xid = row->xid, .seq = row->id, .late = {}};
    for (const auto xid : running_) {
      if (xid < row->xid) position.late.push_back({.xid = xid, .seq = 0});
    }
    co_return position;
  }
  Task<store::EventBatch> read_events(store::EventPosition position, int limit, bool) override {
    const std::lock_guard lock(mutex_);
    ++reads;
    if (away) co_return fail(ErrorKind::unavailable, "the database is away");
    co_return read(std::move(position), static_cast<std::size_t>(limit), {});
  }
  Task<store::EventBatch> events_after(store::EventPosition position, store::EventScope scope,
                                       int scan_max) override {
    const std::lock_guard lock(mutex_);
    ++questions;
    if (away) co_return fail(ErrorKind::unavailable, "the database is away");
    auto batch = read(std::move(position), static_cast<std::size_t>(scan_max), scope);
    batch.too_old = batch.too_old || batch.more;
    co_return batch;
  }
  Task<std::vector<store::JobOwner>> job_owners(std::vector<JobId> jobs) override {
    const std::lock_guard lock(mutex_);
    owners_asked_most = std::max<std::size_t>(owners_asked_most, jobs.size());
    std::vector<store::JobOwner> found;
    for (const auto& job : jobs) {
      if (owners.contains(job)) found.push_back({.job = job, .owner = owners.at(job)});
    }
    co_return found;
  }

  Task<store::RevokedHolders> revoked_holders(std::vector<std::string> tokens,
                                              std::vector<TenantId> tenants) override {
    const std::lock_guard lock(mutex_);
    ++checks;
    store::RevokedHolders found;
    for (const auto& token : tokens) {
      if (revoked_.tokens.contains(token)) found.tokens.insert(token);
    }
    for (const auto& tenant : tenants) {
      if (revoked_.tenants.contains(tenant)) found.tenants.insert(tenant);
    }
    co_return found;
  }
  void revoke(store::RevokedHolders revoked) {
    const std::lock_guard lock(mutex_);
    revoked_ = std::move(revoked);
  }

  std::atomic<bool> away = false;
  std::atomic<int> reads = 0;
  std::atomic<int> questions = 0;                  // For clients that came back.
  std::atomic<int> checks = 0;                     // Of credentials.
  std::atomic<std::size_t> owners_asked_most = 0;  // At once.
  std::map<JobId, Uuid> owners = {};               // Set before anybody reads.

 private:
  struct Row {
    std::uint64_t xid;
    std::int64_t id;
    NewEvent event;
  };

  void insert(std::uint64_t xid, NewEvent event) {
    events_.push_back({.xid = xid, .id = ++id_, .event = std::move(event)});
    std::ranges::sort(events_, {}, [](const Row& row) { return std::pair(row.xid, row.id); });
  }

  static bool fits(const Row& row, const store::EventScope& scope) {
    const auto& event = row.event;
    if (scope.tenant && event.tenant != *scope.tenant) return false;
    if (scope.queue && event.queue != *scope.queue) return false;
    if (scope.job && std::ranges::find(event.jobs, *scope.job) == event.jobs.end()) return false;
    return !scope.batch || event.data.contains(scope.batch->to_string());
  }

  static store::StoredEvent stored(const Row& row, std::string position) {
    return {.xid = row.xid,
            .event_id = row.id,
            .position = std::move(position),
            .at = "2026-11-16T12:00:00+00:00",
            .tenant = row.event.tenant,
            .kind = row.event.kind,
            .queue = row.event.queue,
            .job_ids = row.event.jobs,
            .data_json = row.event.data};
  }

  store::EventBatch read(store::EventPosition position, std::size_t limit,
                         const store::EventScope& scope) const {
    store::EventBatch batch;
    batch.too_old = floor_ && *floor_ >= position.xid;
    const store::EventSnapshot snapshot{.xmax = xid_ + 1, .running = running_};
    std::vector<const Row*> late;
    std::vector<const Row*> behind;
    for (const auto& row : events_) {
      if (snapshot.runs(row.xid)) continue;
      const auto found =
          std::ranges::find(position.late, row.xid, &store::EventPosition::Late::xid);
      if (found != position.late.end() && row.id > found->seq) late.push_back(&row);
      if (std::pair(row.xid, row.id) > std::pair(position.xid, position.seq)) {
        behind.push_back(&row);
      }
    }
    if (late.size() + behind.size() > limit) batch.more = true;
    for (const auto* row : late) {
      if (!fits(*row, scope)) continue;
      position.pass_late(row->xid, row->id);
      batch.events.push_back(stored(*row, position.text()));
    }
    position.forget_ended(snapshot);
    for (const auto* row : behind) {
      if (batch.events.size() == limit) break;
      if (!fits(*row, scope)) continue;
      position.pass(row->xid, row->id, snapshot);
      batch.events.push_back(stored(*row, position.text()));
    }
    batch.next = std::move(position);
    return batch;
  }

  mutable std::mutex mutex_;  // Guards all below, and owners.
  std::uint64_t xid_ = 100;
  std::int64_t id_ = 0;
  std::vector<std::uint64_t> running_;
  std::vector<Row> events_;
  std::optional<std::uint64_t> floor_;
  store::RevokedHolders revoked_;
};

// Jobs 1 to 9 are there, of kStreamTenant and user 1.
class FakeJobs final : public store::JobReader {
 public:
  Task<std::string> job_status(store::CallContext caller, JobId job) override {
    ++questions;
    const auto missing = fail(
        Error{.kind = ErrorKind::not_found, .message = "job does not exist", .sqlstate = "MR009"});
    if (job > job_number(9) || (caller.tenant && *caller.tenant != kStreamTenant)) {
      co_return missing;
    }
    const bool person = caller.role == "authenticated";
    if (person && !caller.claims_json.contains(user_number(1).to_string())) co_return missing;
    if (away) co_return fail(ErrorKind::unavailable, "the database is away");
    const std::lock_guard lock(mutex_);
    const bool ended = status_ == "completed" || status_ == "failed" || status_ == "cancelled";
    const auto finished = fmt::format(R"("2026-11-16T12:00:{:02}+00:00")", ends_);
    co_return fmt::format(
        R"({{"job_id":"{}","job_type":"{}","status":"{}","progress":{},"progress_message":null,)"
        R"("result":{},"error":{},"finished_at":{}}})",
        job, type, status_, status_ == "completed" ? 100 : 40, result_, error_,
        ended ? finished : std::string("null"));
  }
  Task<std::string> get_batch(store::CallContext caller, BatchId batch) override {
    if (caller.tenant && *caller.tenant != kStreamTenant) {
      co_return fail(Error{.kind = ErrorKind::invalid_argument,
                           .message = "batch does not exist",
                           .sqlstate = "MR018"});
    }
    const std::lock_guard lock(mutex_);
    co_return fmt::format(R"({{"batch_id":"{}","total":2,"progress":50,"finished_at":{}}})", batch,
                          status_ == "completed" ? R"("2026-11-16T12:00:00+00:00")" : "null");
  }
  Task<std::string> job_detail(store::CallContext, JobId) override { co_return "{}"; }
  Task<std::string> list_jobs(store::CallContext, store::JobQuery) override { co_return "{}"; }
  Task<std::string> job_log_page(store::CallContext, JobId, std::int64_t, int) override {
    co_return "[]";
  }
  Task<std::string> list_batches(store::CallContext, std::optional<Uuid>, int) override {
    co_return "[]";
  }
  Task<std::string> dead_groups(store::CallContext, std::optional<std::string>,
                                std::optional<JobId>, int) override {
    co_return R"({"groups":[],"next":null})";
  }

  void set(std::string status, std::string result = "null", std::string error = "null") {
    const std::lock_guard lock(mutex_);
    status_ = std::move(status);
    ++ends_;  // Should it be one.
    result_ = std::move(result);
    error_ = std::move(error);
  }

  std::atomic<int> questions = 0;
  std::atomic<bool> away = false;
  std::string type = "export_pdf";  // Of all jobs; set before there is a stream.

 private:
  std::mutex mutex_;  // Guards all below.
  int ends_ = 0;
  std::string status_ = "processing";
  std::string result_ = "null";
  std::string error_ = "null";
};

// A stream that keeps what it gets.
class FakeChannel final : public http::SseChannel {
 public:
  explicit FakeChannel(Executor executor) : executor_(std::move(executor)) {}

  bool push(const http::SseFrame& frame) override {
    if (full) open_ = false;
    if (!open_) return false;
    frames.emplace_back(frame.text());
    return true;
  }
  Task<void> send(http::SseFrame frame) override {
    if (!push(frame)) co_return fail(ErrorKind::cancelled, "closed");
    co_return ok();
  }
  awaitable<void> closed() override { co_return; }
  void close() override { open_ = false; }
  bool is_open() const override { return open_; }
  std::size_t buffered_bytes() const override { return 0; }
  Executor executor() const override { return executor_; }

  std::vector<std::string> frames;
  bool full = false;

 private:
  Executor executor_;
  bool open_ = true;
};

}  // namespace millrace::api
