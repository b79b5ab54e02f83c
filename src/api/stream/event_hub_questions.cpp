// What the hub asks for others: what a client missed, and whether credentials are still good.
#include "api/stream/event_hub.h"
#include "api/stream/hub_state.h"
#include "base/either.h"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <variant>

namespace millrace::api {
namespace {

namespace asio = boost::asio;
using namespace either;

constexpr std::size_t kAtOnce = 5000;  // Jobs, or tokens, in one question.

using Owners = std::unordered_map<JobId, Uuid>;

template <class T>
std::vector<T> piece_of(const std::vector<T>& all, std::size_t first) {
  const auto begin = std::min(first, all.size());
  const auto end = std::min(first + kAtOnce, all.size());
  return std::vector<T>(all.begin() + static_cast<std::ptrdiff_t>(begin),
                        all.begin() + static_cast<std::ptrdiff_t>(end));
}

// The jobs of a claim are named as long as the claim is kept: then nobody can say whose they are.
bool names_no_jobs(const store::StoredEvent& event) {
  return event.job_ids.empty() && event.data_json.contains("\"claim\"");
}

Task<Owners> owners_of(store::EventStore& events, std::vector<JobId> jobs) {
  Owners owners;
  for (std::size_t first = 0; first < jobs.size(); first += kAtOnce) {
    MR_CO_TRY(const auto found, co_await events.job_owners(piece_of(jobs, first)));
    for (const auto& [job, owner] : found) owners.emplace(job, owner);
  }
  co_return owners;
}

}  // namespace

Task<EventHub::Missed> EventHub::missed(store::EventPosition after, StreamScope scope) {
  MR_CO_TRY(
      auto batch,
      co_await parts_.events.events_after(
          std::move(after),
          store::EventScope{
              .tenant = scope.tenant, .queue = scope.queue, .job = scope.job, .batch = scope.batch},
          options_.missed_scan_max));
  if (batch.too_old) co_return Missed{.events = {}, .too_old = true};
  Owners owners;
  if (scope.owner) {
    std::vector<JobId> jobs;
    for (const auto& event : batch.events) {
      if (names_no_jobs(event) || jobs.size() + event.job_ids.size() > options_.missed_jobs_max) {
        co_return Missed{.events = {}, .too_old = true};
      }
      jobs.insert(jobs.end(), event.job_ids.begin(), event.job_ids.end());
    }
    MR_CO_TRY(owners, co_await owners_of(parts_.events, std::move(jobs)));
  }
  Missed out;
  std::size_t bytes = 0;
  for (auto& event : batch.events) {
    std::vector<Uuid> owned;
    for (const auto& job : event.job_ids) {
      if (!scope.owner) break;
      const auto owner = owners.find(job);
      owned.push_back(owner == owners.end() ? Uuid() : owner->second);
    }
    MR_CO_TRY(auto made, make_stream_event(std::move(event), 0, std::move(owned)));
    if (!in_scope(made, scope)) continue;
    bytes += made.size_bytes();
    if (bytes > options_.missed_bytes_max) co_return Missed{.events = {}, .too_old = true};
    out.events.push_back(lend(state_, std::move(made)));
    // Clients that read slowly must not fill the memory: whoever comes now comes again.
    if (state_->lent_bytes > options_.missed_bytes_all_max) {
      co_return fail(ErrorKind::unavailable, "too many are being told what they missed");
    }
  }
  co_return out;
}

// Credentials are looked at when a stream begins; those that were taken back since end theirs here,
// with one question for thousands.
awaitable<void> EventHub::check_holders() {
  std::vector<std::string> tokens;
  std::vector<TenantId> tenants;
  {
    const std::lock_guard lock(state_->mutex);
    for (const auto& [token, count] : state_->tokens) tokens.push_back(token);
    for (const auto& [tenant, count] : state_->by_tenant) tenants.push_back(tenant);
  }
  const auto most = std::max(tokens.size(), tenants.size());
  for (std::size_t first = 0; first < most; first += kAtOnce) {
    auto asked = co_await (
        parts_.events.revoked_holders(piece_of(tokens, first), piece_of(tenants, first)) ||
        stopping_.token().wait());
    auto* revoked = std::get_if<0>(&asked);
    if (revoked == nullptr) break;
    if (!revoked->has_value()) {
      // In a minute again.
      parts_.log.debug("stream_credentials", {{"error", revoked->error().describe()}});
      break;
    }
    if ((*revoked)->tokens.empty() && (*revoked)->tenants.empty()) continue;
    for (const auto& shard : state_->shards()) {
      asio::post(shard->executor(), [shard, ended = **revoked] { shard->close_holders(ended); });
    }
  }
  checking_ = false;
}

}  // namespace millrace::api
