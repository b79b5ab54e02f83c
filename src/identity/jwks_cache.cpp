#include "identity/jwks_cache.h"

#include "http/request_check.h"
#include "identity/refusal.h"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <utility>

namespace millrace::identity {
namespace {

namespace asio = boost::asio;
using std::chrono::seconds;

// "http://127.0.0.1:8080" and its kind: nobody else can listen or answer there.
bool is_this_machine(std::string_view origin) {
  constexpr std::string_view kHttp = "http://";
  if (!origin.starts_with(kHttp)) return false;
  const auto host = origin.substr(kHttp.size(), origin.rfind(':') - kHttp.size());
  return host == "127.0.0.1" || host == "[::1]" || host == "localhost";
}

http::Request request_for(const JwksOptions& options) {
  return {.url = options.url,
          .headers = {{"Accept", "application/jwk-set+json, application/json"}},
          .connect_timeout = options.fetch_timeout,
          .total_timeout = options.fetch_timeout,
          .response_max_bytes = kKeySetMaxBytes,
          .service = "jwks"};
}

Result<KeySet> read_answer(const http::Response& response) {
  if (response.status != 200) {
    return fail(ErrorKind::unavailable,
                fmt::format("the key set's server answered {}", response.status));
  }
  if (response.body_truncated) {
    return invalid(fmt::format("the key set is larger than {} bytes", kKeySetMaxBytes));
  }
  return KeySet::parse_jwks(response.body);
}

}  // namespace

Result<void> check_jwks_options(const JwksOptions& options) {
  auto origin = http::check_request(request_for(options));
  if (!origin) return fail_with_context("the URL of the key set", std::move(origin).error());
  if (!origin->starts_with("https://") && !is_this_machine(*origin)) {
    return invalid("the URL of the key set must be https, or http to this machine");
  }
  if (options.fetch_timeout <= seconds(0) || options.fetch_timeout > seconds(60)) {
    return invalid("the timeout for fetching the key set must be up to 60 seconds");
  }
  if (options.refresh_interval < seconds(1) || options.refresh_interval > seconds(3600)) {
    return invalid("the interval for refreshing the key set must be 1 second to 1 hour");
  }
  const auto& bounds = options.freshness;
  if (bounds.least < seconds(1) || bounds.most < bounds.least || bounds.unsaid < bounds.least ||
      bounds.unsaid > bounds.most || bounds.most > seconds(7 * 86'400)) {
    return invalid("the bounds for the age of the key set must be 1 second to 7 days, in order");
  }
  if (options.stale_max < seconds(0) || options.stale_max > seconds(30 * 86'400)) {
    return invalid("an old key set may be used for 0 seconds to 30 days");
  }
  return ok();
}

JwksCache::JwksCache(Executor executor, http::Client& client, const Clock& clock, Logger& log,
                     JwksOptions options)
    : client_(client),
      clock_(clock),
      log_(log),
      options_(std::move(options)),
      tasks_(std::move(executor), log_) {}

void JwksCache::start() {
  const std::lock_guard lock(mutex_);
  fetch_if_due(clock_.now());
}

awaitable<void> JwksCache::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  stopping_.cancel("stopping");
  co_await tasks_.join();
}

Task<KeySetPtr> JwksCache::keys() {
  std::optional<Event> landed;
  {
    const std::lock_guard lock(mutex_);
    const auto now = clock_.now();
    const auto age = now - fetched_at_;
    if (keys_ && age < max_age_) co_return keys_;
    fetch_if_due(now);
    const bool patient = keys_ && (age < 2 * max_age_ || attempt_failed_);
    if (!patient || !usable_at(now)) landed = flight_;
  }
  co_return co_await keys_after(std::move(landed));
}

Task<KeySetPtr> JwksCache::newer_keys(KeySetPtr seen) {
  std::optional<Event> landed;
  {
    const std::lock_guard lock(mutex_);
    if (keys_ == seen) {
      fetch_if_due(clock_.now());
      landed = flight_;
    }
  }
  co_return co_await keys_after(std::move(landed));
}

bool JwksCache::usable_at(Clock::Steady now) const {
  return keys_ && now - fetched_at_ < max_age_ + options_.stale_max;
}

// Under the lock, so that stop() either sees the task or keeps it from starting.
void JwksCache::fetch_if_due(Clock::Steady now) {
  if (stopped_ || flight_) return;
  if (attempted_at_ && now - *attempted_at_ < options_.refresh_interval) return;
  attempted_at_ = now;
  tasks_.add("jwks fetch", fetch(flight_.emplace()));
}

Task<KeySetPtr> JwksCache::keys_after(std::optional<Event> landed) {
  if (landed) {
    const bool ended = co_await landed->wait();
    if (!ended) co_return fail(ErrorKind::cancelled, "nobody waits for the key set any more");
  }
  const std::lock_guard lock(mutex_);
  if (usable_at(clock_.now())) co_return keys_;
  co_return fail(ErrorKind::unavailable, "the keys for checking tokens cannot be fetched now");
}

awaitable<void> JwksCache::fetch(Event landed) {
  co_await asio::post(asio::use_awaitable);  // Whoever started us holds the lock.
  const auto asked_at = clock_.now();
  note(co_await download(), asked_at);
  landed.set();
}

Task<JwksCache::Fetched> JwksCache::download() {
  MR_CO_TRY(const auto response, co_await client_.send(request_for(options_), stopping_.token()));
  MR_CO_TRY(auto keys, read_answer(response));
  co_return Fetched{.keys = std::make_shared<const KeySet>(std::move(keys)),
                    .max_age = freshness_of(response.headers, options_.freshness)};
}

void JwksCache::note(Result<Fetched> fetched, Clock::Steady asked_at) {
  if (!fetched) {
    const bool told_to = fetched.error().kind == ErrorKind::cancelled;
    if (!told_to) log_.warn("jwks_fetch_failed", {{"error", fetched.error().message}});
  } else {
    log_.info("jwks_fetched",
              {{"keys", fetched->keys->size()}, {"max_age_s", fetched->max_age.count()}});
    for (const auto& why : fetched->keys->skipped()) {
      log_.info("jwks_key_skipped", {{"reason", why}});
    }
  }
  const std::lock_guard lock(mutex_);
  flight_.reset();
  attempt_failed_ = !fetched.has_value();
  if (!fetched) return;
  keys_ = std::move(fetched->keys);
  fetched_at_ = asked_at;  // Not when it came: it may have been under way for long.
  max_age_ = fetched->max_age;
}

}  // namespace millrace::identity
