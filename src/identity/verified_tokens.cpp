#include "identity/verified_tokens.h"

#include <utility>

namespace millrace::identity {

std::shared_ptr<const Caller> VerifiedTokens::find(const Digest& token) const {
  std::shared_ptr<const Caller> caller;
  {
    const std::lock_guard lock(mutex_);
    const auto found = tokens_.find(token);
    if (found == tokens_.end() || clock_.now() >= found->second.until) return nullptr;
    caller = found->second.caller;
  }
  // How much a clock may be off is the verifier's to judge.
  if (caller->expires_at && instant_of(clock_.wall()) >= *caller->expires_at) return nullptr;
  return caller;
}

void VerifiedTokens::keep(const Digest& token, Caller caller) {
  auto kept = std::make_shared<const Caller>(std::move(caller));
  const auto now = clock_.now();
  const std::lock_guard lock(mutex_);
  if (tokens_.size() >= options_.tokens_max) {
    std::erase_if(tokens_, [now](const auto& entry) { return entry.second.until <= now; });
    if (tokens_.size() >= options_.tokens_max) tokens_.clear();
  }
  tokens_.insert_or_assign(token, Entry{.caller = std::move(kept), .until = now + options_.ttl});
}

std::size_t VerifiedTokens::size() const {
  const std::lock_guard lock(mutex_);
  return tokens_.size();
}

}  // namespace millrace::identity
