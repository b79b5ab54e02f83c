#include "http/server_state.h"

#include "base/either.h"
#include "http/server_listener.h"

#include <algorithm>
#include <array>

namespace millrace::http {
namespace {

constexpr std::size_t kSpareExchanges = 64;
constexpr std::size_t kScratchKeptBytes = 64 * 1024;

void append_two_digits(std::string& out, unsigned number) {
  out.push_back(static_cast<char>('0' + number / 10));
  out.push_back(static_cast<char>('0' + number % 10));
}

}  // namespace

void append_http_date(std::string& out, std::chrono::sys_seconds time) {
  constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed",
                                                     "Thu", "Fri", "Sat"};
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  out.append(kDays[std::chrono::weekday(day).c_encoding()]).append(", ");
  append_two_digits(out, static_cast<unsigned>(date.day()));
  out.append(" ").append(kMonths[static_cast<unsigned>(date.month()) - 1]).append(" ");
  out.append(std::to_string(static_cast<int>(date.year()))).append(" ");
  append_two_digits(out, static_cast<unsigned>(clock.hours().count()));
  out.push_back(':');
  append_two_digits(out, static_cast<unsigned>(clock.minutes().count()));
  out.push_back(':');
  append_two_digits(out, static_cast<unsigned>(clock.seconds().count()));
  out.append(" GMT");
}

bool PeerCounts::enter(const std::string& key, std::size_t max) {
  const std::lock_guard lock(mutex_);
  auto& count = counts_[key];
  if (count >= max) return false;
  ++count;
  return true;
}

void PeerCounts::leave(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = counts_.find(key);
  if (found != counts_.end() && --found->second == 0) counts_.erase(found);
}

Shard::Shard(ServerState& server, Executor executor, std::uint64_t seed)
    : server_(server), executor_(std::move(executor)), ids_(seed) {}

Shard::~Shard() = default;

awaitable<void> Shard::watch_time(std::shared_ptr<ServerState> keep_alive, Shard* shard) {
  using namespace either;
  auto& server = *keep_alive;
  while (!server.draining.load() || shard->first_ != nullptr) {
    if (server.draining.load()) {
      co_await (server.clock.sleep_for(server.tick) || server.empty.wait());
    } else {
      co_await (server.clock.sleep_for(server.tick) || server.stopping.wait());
    }
    shard->tick(server.clock.now());
  }
}

void Shard::tick(Clock::Steady now) {
  // A connection may leave the list only in its own coroutine, never inside tick().
  for (auto* connection = first_; connection != nullptr; connection = connection->next) {
    connection->tick(now);
  }
}

void Shard::drain() {
  for (auto* connection = first_; connection != nullptr; connection = connection->next) {
    connection->drain();
  }
}

void Shard::cut() {
  for (auto* connection = first_; connection != nullptr; connection = connection->next) {
    connection->cut();
  }
}

void Shard::enter(Connection& connection) {
  connection.next = first_;
  if (first_ != nullptr) first_->previous = &connection;
  first_ = &connection;
}

void Shard::leave(Connection& connection) {
  (connection.previous != nullptr ? connection.previous->next : first_) = connection.next;
  if (connection.next != nullptr) connection.next->previous = connection.previous;
  connection.previous = connection.next = nullptr;
}

std::unique_ptr<Exchange> Shard::take_exchange() {
  if (spare_.empty()) return std::make_unique<Exchange>(server_.options.limits.head);
  auto exchange = std::move(spare_.back());
  spare_.pop_back();
  return exchange;
}

void Shard::give_back(std::unique_ptr<Exchange> exchange) {
  if (spare_.size() < kSpareExchanges) spare_.push_back(std::move(exchange));
}

std::string& Shard::scratch() {
  if (scratch_.capacity() > kScratchKeptBytes) scratch_ = std::string();
  scratch_.clear();
  return scratch_;
}

std::string_view Shard::common_headers() {
  const auto now = std::chrono::floor<std::chrono::seconds>(server_.clock.wall());
  if (now != common_made_at_ || common_.empty()) {
    common_made_at_ = now;
    common_ = "Date: ";
    append_http_date(common_, now);
    common_.append("\r\n").append(server_.header_lines);
  }
  return common_;
}

ServerState::ServerState(Router router_in, ServerOptions options_in, Clock& clock_in,
                         Random& random_in, Logger& log_in)
    : router(std::move(router_in)),
      options(std::move(options_in)),
      clock(clock_in),
      random(random_in),
      log(log_in) {}

ServerState::~ServerState() = default;

void ServerState::connection_ended() {
  if (connections.fetch_sub(1) == 1 && draining.load()) empty.set();
}

}  // namespace millrace::http
