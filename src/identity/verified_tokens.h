// VerifiedTokens: JWTs that were found good a moment ago, so that a client that asks often is not
// checked from the first byte each time.
//
// Flow: Authenticator looks here before it verifies, and puts here what it has verified. A token is
// known by the digest of all its bytes; it is remembered for `ttl` and never past its own expiry:
// longer only a key counts that was taken out of service meanwhile. Bad tokens are not remembered,
// so nobody fills the memory with inventions. Whether a token was revoked is not known here and is
// asked each time. Threading: any. Lifetime: the clock outlives it.
#pragma once

#include "base/clock.h"
#include "identity/caller.h"
#include "identity/digest.h"

#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace millrace::identity {

class VerifiedTokens {
 public:
  struct Options {
    std::chrono::milliseconds ttl{5'000};
    std::size_t tokens_max = 10'000;
  };

  explicit VerifiedTokens(const Clock& clock) : VerifiedTokens(clock, Options()) {}
  VerifiedTokens(const Clock& clock, Options options) : clock_(clock), options_(options) {}

  // Null: it has to be verified.
  std::shared_ptr<const Caller> find(const Digest& token) const;
  void keep(const Digest& token, Caller caller);

  std::size_t size() const;

 private:
  struct Hash {
    std::size_t operator()(const Digest& digest) const noexcept {
      std::size_t value = 0;
      std::memcpy(&value, digest.data(), sizeof value);
      return value;
    }
  };
  struct Entry {
    std::shared_ptr<const Caller> caller;  // Shared with requests under way.
    Clock::Steady until;
  };

  const Clock& clock_;
  const Options options_;
  mutable std::mutex mutex_;  // Guards tokens_.
  std::unordered_map<Digest, Entry, Hash> tokens_;
};

}  // namespace millrace::identity
