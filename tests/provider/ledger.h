// Ledger: who asked how much when; the limits of the stand-in and the proof that they were kept.
//
// Each key has a bucket of requests and one of tokens, filled evenly over the window as the real
// services do it, and a bound on calls at once. Besides, and whatever was answered, it keeps the
// most that a key asked for in any window and the most calls that it had open at once: a client
// that is said to keep a limit is judged by those.
#pragma once

#include "base/clock.h"
#include "base/json.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

namespace millrace::test {

struct KeyLimits {
  std::optional<std::uint64_t> requests = {};     // In a window; nothing: unlimited.
  std::optional<std::uint64_t> tokens = {};       // In a window.
  std::optional<std::uint64_t> concurrency = {};  // At once.
};

struct BucketView {
  std::uint64_t limit = 0;
  std::uint64_t remaining = 0;
  std::chrono::milliseconds full_in{0};
};

struct Admission {
  enum class Refused { no, requests, tokens, concurrency };
  Refused refused = Refused::no;
  std::chrono::milliseconds wait{0};  // Until it would be admitted.
  std::optional<BucketView> requests = {};
  std::optional<BucketView> tokens = {};
};

struct KeyUse {
  std::uint64_t requests = 0;  // All that came, refused ones included.
  std::uint64_t tokens = 0;
  std::uint64_t refused = 0;
  std::uint64_t window_requests_max = 0;  // The most in any window, by what came.
  std::uint64_t window_tokens_max = 0;
  std::uint64_t open = 0;
  std::uint64_t open_max = 0;
};

class Ledger {
 public:
  Ledger(const Clock& clock, std::chrono::milliseconds window) : clock_(clock), window_(window) {}

  void set_window(std::chrono::milliseconds window) { window_ = window; }
  void set_limits(const std::string& key, KeyLimits limits);
  bool knows(const std::string& key) const { return accounts_.contains(key); }

  // A call begins: it is counted in any case. close() ends it.
  Admission open(const std::string& key, std::uint64_t tokens);
  void close(const std::string& key);

  const KeyUse& use(const std::string& key) const;
  std::uint64_t open_max() const { return open_max_; }  // Of all keys together.
  json::Object report() const;
  void forget();  // What happened; limits stay.

 private:
  struct Bucket {
    std::optional<std::uint64_t> limit = {};
    double level = 0;  // What is free.
    Clock::Steady filled_at = {};
  };
  struct Event {
    Clock::Steady at;
    std::uint64_t tokens;
  };
  struct Account {
    KeyLimits limits = {};
    Bucket requests = {};
    Bucket tokens = {};
    std::deque<Event> events = {};
    std::uint64_t event_tokens = 0;
    KeyUse use = {};
  };

  void fill(Bucket& bucket, Clock::Steady now) const;
  std::chrono::milliseconds wait_for(const Bucket& bucket, double amount) const;
  std::optional<BucketView> view(const Bucket& bucket) const;
  void note(Account& account, std::uint64_t tokens, Clock::Steady now) const;

  const Clock& clock_;
  std::chrono::milliseconds window_;
  std::map<std::string, Account> accounts_;
  std::uint64_t open_ = 0;
  std::uint64_t open_max_ = 0;
};

}  // namespace millrace::test
