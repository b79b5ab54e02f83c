// PgWakeSource: LISTEN on a direct connection of its own (a transaction pooler cannot carry it).
//
// Connects when first asked and again after a failure. Threading: one coroutine.
#pragma once

#include "pg/connection.h"
#include "store/wake_source.h"

#include <memory>

namespace millrace::store {

class PgWakeSource final : public WakeSource {
 public:
  explicit PgWakeSource(pg::ConnectOptions options) : options_(std::move(options)) {}

  Task<bool> wait(std::chrono::milliseconds timeout) override;

 private:
  Task<void> listen();

  pg::ConnectOptions options_;
  std::unique_ptr<pg::Connection> connection_;
};

}  // namespace millrace::store
