#include "ledger.h"

#include <algorithm>
#include <cmath>

namespace millrace::test {

using std::chrono::milliseconds;

void Ledger::set_limits(const std::string& key, KeyLimits limits) {
  auto& account = accounts_[key];
  account.limits = limits;
  const auto now = clock_.now();
  const auto full = [&](std::optional<std::uint64_t> limit) {
    return Bucket{
        .limit = limit, .level = static_cast<double>(limit.value_or(0)), .filled_at = now};
  };
  account.requests = full(limits.requests);
  account.tokens = full(limits.tokens);
}

void Ledger::fill(Bucket& bucket, Clock::Steady now) const {
  if (!bucket.limit) return;
  const auto limit = static_cast<double>(*bucket.limit);
  const auto passed = std::chrono::duration<double, std::milli>(now - bucket.filled_at).count();
  bucket.level =
      std::min(limit, bucket.level + limit * passed / static_cast<double>(window_.count()));
  bucket.filled_at = now;
}

milliseconds Ledger::wait_for(const Bucket& bucket, double amount) const {
  if (!bucket.limit || bucket.level >= amount) return milliseconds(0);
  const auto per_ms = static_cast<double>(*bucket.limit) / static_cast<double>(window_.count());
  return milliseconds(static_cast<std::int64_t>(std::ceil((amount - bucket.level) / per_ms)));
}

std::optional<BucketView> Ledger::view(const Bucket& bucket) const {
  if (!bucket.limit) return std::nullopt;
  return BucketView{.limit = *bucket.limit,
                    .remaining = static_cast<std::uint64_t>(std::max(0.0, bucket.level)),
                    .full_in = wait_for(bucket, static_cast<double>(*bucket.limit))};
}

void Ledger::note(Account& account, std::uint64_t tokens, Clock::Steady now) const {
  auto& [limits, request_bucket, token_bucket, events, event_tokens, use] = account;
  events.push_back({.at = now, .tokens = tokens});
  event_tokens += tokens;
  while (events.front().at <= now - window_) {
    event_tokens -= events.front().tokens;
    events.pop_front();
  }
  ++use.requests;
  use.tokens += tokens;
  use.window_requests_max = std::max<std::uint64_t>(use.window_requests_max, events.size());
  use.window_tokens_max = std::max(use.window_tokens_max, event_tokens);
  use.open_max = std::max(use.open_max, ++use.open);
}

Admission Ledger::open(const std::string& key, std::uint64_t tokens) {
  auto& account = accounts_[key];
  const auto now = clock_.now();
  note(account, tokens, now);
  open_max_ = std::max(open_max_, ++open_);
  fill(account.requests, now);
  fill(account.tokens, now);
  Admission out;
  const auto needed = static_cast<double>(tokens);
  if (account.limits.concurrency && account.use.open > *account.limits.concurrency) {
    out.refused = Admission::Refused::concurrency;
    out.wait = milliseconds(100);
  } else if (account.requests.limit && account.requests.level < 1) {
    out.refused = Admission::Refused::requests;
    out.wait = wait_for(account.requests, 1);
  } else if (account.tokens.limit && account.tokens.level < needed) {
    out.refused = Admission::Refused::tokens;
    out.wait = wait_for(account.tokens, needed);
  }
  if (out.refused == Admission::Refused::no) {
    account.tokens.level -= account.tokens.limit ? needed : 0;
  } else {
    ++account.use.refused;
  }
  // A refused request is a request too.
  account.requests.level = std::max(0.0, account.requests.level - 1);
  out.requests = view(account.requests);
  out.tokens = view(account.tokens);
  return out;
}

void Ledger::close(const std::string& key) {
  --accounts_[key].use.open;
  --open_;
}

const KeyUse& Ledger::use(const std::string& key) const {
  static const KeyUse kNone;
  const auto at = accounts_.find(key);
  return at == accounts_.end() ? kNone : at->second.use;
}

json::Object Ledger::report() const {
  json::Object keys;
  for (const auto& [key, account] : accounts_) {
    const auto& use = account.use;
    keys[key] = json::Object{{"requests", use.requests},
                             {"tokens", use.tokens},
                             {"refused", use.refused},
                             {"window_requests_max", use.window_requests_max},
                             {"window_tokens_max", use.window_tokens_max},
                             {"open", use.open},
                             {"open_max", use.open_max}};
  }
  return {{"keys", std::move(keys)}, {"open_max", open_max_}, {"window_ms", window_.count()}};
}

void Ledger::forget() {
  for (auto& [key, account] : accounts_) {
    const auto open = account.use.open;
    account.use = {};
    account.use.open = open;
    account.events.clear();
    account.event_tokens = 0;
    set_limits(key, account.limits);
  }
  open_max_ = open_;
}

}  // namespace millrace::test
