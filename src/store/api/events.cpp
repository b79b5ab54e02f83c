#include "store/api/events.h"

#include "base/json.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <span>
#include <utility>

namespace millrace::store {
namespace {

constexpr std::string_view kColumns =
    "snapshot, too_old, late, xid, event_id, to_json(at) #>> '{}' as at, tenant_id, kind, queue,"
    " job_ids, data";

void add_position(pg::Params& params, const EventPosition& position) {
  std::vector<std::string> xids;
  std::vector<std::int64_t> seqs;
  for (const auto& late : position.late) {
    xids.push_back(std::to_string(late.xid));
    seqs.push_back(late.seq);
  }
  params.add(std::to_string(position.xid)).add(position.seq);
  params.add_array(xids).add_int_array(seqs);
}

Result<std::uint64_t> read_xid(std::string_view text) {
  std::uint64_t xid = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), xid);
  if (read.ec != std::errc()) return fail(ErrorKind::internal, "an event has no transaction id");
  return xid;
}

Result<StoredEvent> read_event(const pg::Row& row, std::uint64_t xid) {
  StoredEvent event{.xid = xid,
                    .event_id = row.i64("event_id"),
                    .position = {},
                    .at = std::string(row.text("at")),
                    .tenant = row.id<TenantId>("tenant_id"),
                    .kind = std::string(row.text("kind")),
                    .queue = row.opt_text("queue").value_or(""),
                    .job_ids = {},
                    .data_json = row.opt_text("data").value_or("")};
  for (const auto& text : row.text_array("job_ids")) {
    MR_TRY(const auto id, JobId::parse(text));
    event.job_ids.push_back(id);
  }
  return event;
}

// Rows as millrace.read_events gives them: the snapshot, late events, events behind the position.
// `limit`: how many there can be; fewer means all.
Result<EventBatch> read_batch(const pg::ResultSet& rows, EventPosition position,
                              std::size_t limit) {
  EventBatch batch;
  EventSnapshot snapshot;
  bool late_done = false;
  for (const auto row : rows) {
    batch.too_old = batch.too_old || row.boolean("too_old");
    if (!row.is_null("snapshot")) {
      MR_TRY(snapshot, EventSnapshot::parse(row.text("snapshot")));
    }
    if (row.is_null("event_id")) continue;
    MR_TRY(const auto xid, read_xid(row.text("xid")));
    MR_TRY(auto event, read_event(row, xid));
    if (row.boolean("late")) {
      position.pass_late(xid, event.event_id);
    } else {
      if (!late_done) position.forget_ended(snapshot);
      late_done = true;
      // Too many transactions run below it: it comes when some have ended.
      if (!position.pass(xid, event.event_id, snapshot)) {
        batch.next = std::move(position);
        return batch;
      }
    }
    event.position = position.text();
    batch.events.push_back(std::move(event));
  }
  batch.more = batch.events.size() >= limit;
  if (!late_done && !batch.more) position.forget_ended(snapshot);
  batch.next = std::move(position);
  return batch;
}

std::string scope_json(const EventScope& scope) {
  json::Object object;
  if (scope.tenant) object["tenant_id"] = scope.tenant->to_string();
  if (scope.queue) object["queue"] = *scope.queue;
  if (scope.job) object["job_id"] = scope.job->to_string();
  if (scope.batch) object["batch_id"] = scope.batch->to_string();
  return to_json(object);
}

class PgEventStore final : public EventStore {
 public:
  explicit PgEventStore(ApiSession& session) : session_(session) {}

  Task<EventPosition> event_start(int back) override {
    MR_CO_TRY(
        const auto rows,
        co_await session_.own(MR_POINT("api_event_start"), Access::read,
                              {.sql = "select xid, seq, late_xids from millrace.event_start($1)",
                               .params = pg::params(back),
                               .name = "mr_api_event_start"}));
    MR_CO_TRY(const auto last, read_xid(rows[0].text("xid")));
    std::vector<std::uint64_t> running;
    for (const auto& text : rows[0].text_array("late_xids")) {
      MR_CO_TRY(const auto xid, read_xid(text));
      running.push_back(xid);
    }
    const auto seq = rows[0].i64("seq");
    if (seq == std::numeric_limits<std::int64_t>::max()) {
      co_return EventPosition::tail(last, running);
    }
    EventPosition position{.xid = last, .seq = seq, .late = {}};
    for (const auto xid : running) position.late.push_back({.xid = xid, .seq = 0});
    co_return position;
  }

  Task<EventBatch> read_events(EventPosition position, int limit, bool expand) override {
    pg::Params params;
    add_position(params, position);
    params.add(limit).add(expand);
    MR_CO_TRY(const auto rows,
              co_await session_.own(
                  MR_POINT("api_event_read"), Access::read,
                  {.sql = fmt::format("select {} from millrace.read_events($1, $2, $3, $4, $5, $6)",
                                      kColumns),
                   .params = std::move(params),
                   .name = "mr_api_read_events"}));
    co_return read_batch(rows, std::move(position), static_cast<std::size_t>(limit));
  }

  Task<EventBatch> events_after(EventPosition position, EventScope scope, int scan_max) override {
    pg::Params params;
    add_position(params, position);
    params.add(scope_json(scope)).add(scan_max);
    MR_CO_TRY(const auto rows,
              co_await session_.own(
                  MR_POINT("api_event_after"), Access::read,
                  {.sql = fmt::format(
                       "select {} from millrace.events_after($1, $2, $3, $4, $5, $6)", kColumns),
                   .params = std::move(params),
                   .name = "mr_api_events_after"}));
    co_return read_batch(rows, std::move(position), static_cast<std::size_t>(scan_max));
  }

  Task<std::vector<JobOwner>> job_owners(std::vector<JobId> jobs) override {
    pg::Params params;
    params.add_id_array(std::span<const JobId>(jobs));
    MR_CO_TRY(
        const auto rows,
        co_await session_.own(MR_POINT("api_event_owners"), Access::read,
                              {.sql = "select job_id, owner_id from millrace.job_fact"
                                      " where job_id = any ($1::uuid[]) and owner_id is not null",
                               .params = std::move(params),
                               .name = "mr_api_event_owners"}));
    std::vector<JobOwner> owners;
    owners.reserve(rows.rows());
    for (const auto row : rows) {
      owners.push_back({.job = row.id<JobId>("job_id"), .owner = row.uuid("owner_id")});
    }
    co_return owners;
  }

  Task<RevokedHolders> revoked_holders(std::vector<std::string> tokens,
                                       std::vector<TenantId> tenants) override {
    pg::Params params;
    params.add_array(tokens).add_id_array(std::span<const TenantId>(tenants));
    MR_CO_TRY(const auto rows,
              co_await session_.own(
                  MR_POINT("api_event_holders"), Access::read,
                  {.sql = "select token, tenant_id from millrace.revoked_holders($1, $2)",
                   .params = std::move(params),
                   .name = "mr_api_revoked_holders"}));
    RevokedHolders revoked;
    for (const auto row : rows) {
      if (auto token = row.opt_text("token")) revoked.tokens.insert(*std::move(token));
      if (!row.is_null("tenant_id")) revoked.tenants.insert(row.id<TenantId>("tenant_id"));
    }
    co_return revoked;
  }

 private:
  ApiSession& session_;
};

}  // namespace

std::unique_ptr<EventStore> make_event_store(ApiSession& session) {
  return std::make_unique<PgEventStore>(session);
}

}  // namespace millrace::store
