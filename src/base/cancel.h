// CancelSource and CancelToken: one side says "stop, because …", the other side asks, waits or is
// called.
//
// Flow: whoever starts work keeps the source and hands tokens down; the work polls cancelled(),
// awaits wait(), or registers a CancelCallback. Cancelling happens once: the first reason stays.
// Threading: everything may be used from any thread. Lifetime: tokens and sources are handles on
// shared state; a token outlives its source and then simply never changes any more.
#pragma once

#include "base/task.h"

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace millrace {

class CancelToken {
 public:
  CancelToken() = default;  // A token that is never cancelled.

  bool cancelled() const;
  std::string reason() const;  // Empty until cancelled.

  // Ends when cancelled. Honours Asio cancellation: `work() || token.wait()` ends with the work.
  awaitable<void> wait() const;

 private:
  friend class CancelSource;
  friend class CancelCallback;
  struct State;
  explicit CancelToken(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;  // Shared by the source, its tokens and waits under way.
};

class CancelSource {
 public:
  CancelSource();

  // True when this call did it. Callbacks have been called when it returns; waiters are woken on
  // their own executors.
  bool cancel(std::string reason);
  bool cancelled() const { return token_.cancelled(); }
  CancelToken token() const { return token_; }
  // Not cancelled, and no token of it is left: it can serve somebody else.
  bool untouched() const;

 private:
  CancelToken token_;
};

// Calls `call` once, on the cancelling thread, or at once in the constructor when the token is
// already cancelled. `call` must not throw. After the destructor has returned it does not run any
// more.
class CancelCallback {
 public:
  CancelCallback(const CancelToken& token, std::function<void()> call);
  CancelCallback(const CancelCallback&) = delete;
  CancelCallback& operator=(const CancelCallback&) = delete;

 private:
  std::optional<std::stop_callback<std::function<void()>>> callback_;
};

}  // namespace millrace
