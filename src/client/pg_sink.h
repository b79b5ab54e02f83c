// PgSink: an EnqueueSink on a connection of its own, which it opens when it is needed and again
// when it was lost. One thread at a time.
#pragma once

#include "base/random.h"
#include "client/enqueue_sink.h"
#include "pg/connect_options.h"

#include <optional>

namespace millrace::client {

class PgSink final : public EnqueueSink {
 public:
  // `random` outlives the sink.
  PgSink(pg::ConnectOptions options, Random& random);

  // Nothing to do when it is connected.
  millrace::Result<void> connect();

  Answers enqueue_array(const JobKind& kind, const std::vector<std::string>& payloads) override;
  Answers enqueue_jobs(const json::Array& jobs) override;
  void pause(std::chrono::milliseconds time) override;

 private:
  template <class Call>
  Answers on_connection(Call call);

  pg::ConnectOptions options_;
  Random& random_;
  std::optional<store::AdminStore> store_;
};

}  // namespace millrace::client
