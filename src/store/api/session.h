// ApiSession: how the stores of the API server talk to the database.
//
// A call that acts for a caller is one round trip and one transaction: the settings of its
// CallContext, then its statements. Duties of the server itself are plain prepared calls. Nothing
// keeps session state, so a transaction pooler may sit in between. Errors carry the kind that their
// SQLSTATE stands for; `in_doubt` where a call that writes was sent and no answer came.
// Threading: any. Lifetime: the pool outlives it.
#pragma once

#include "base/fault.h"
#include "base/log.h"
#include "base/task.h"
#include "pg/pool.h"
#include "store/api/call_context.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace millrace::store {

enum class Access { write, read };  // What a lost answer means: in_doubt, or unavailable.

class ApiSession {
 public:
  struct Timeouts {
    std::chrono::milliseconds acquire{5'000};  // Waiting for a connection.
    std::chrono::milliseconds call{30'000};
  };

  explicit ApiSession(pg::Pool& pool) : ApiSession(pool, Timeouts()) {}
  // `log` is for what runs beside requests: calls that several of them share.
  ApiSession(pg::Pool& pool, Timeouts timeouts, Logger log = Logger::silent())
      : pool_(pool), timeouts_(timeouts), log_(std::move(log)) {}

  // For a caller; the result of the last statement. `reading`: the transaction may not write.
  Task<pg::ResultSet> as(CallContext context, fault::Point point, Access access,
                         std::vector<pg::Statement> statements);
  Task<pg::ResultSet> as(CallContext context, fault::Point point, Access access,
                         pg::Statement statement);
  // The first column of the first row as text: JSON, mostly. Null gives an empty text.
  Task<std::string> text_as(CallContext context, fault::Point point, Access access,
                            pg::Statement statement);

  // For the server itself.
  Task<pg::ResultSet> own(fault::Point point, Access access, pg::Statement statement);

  const Executor& executor() const { return pool_.executor(); }
  Logger& log() { return log_; }

 private:
  pg::Pool& pool_;
  Timeouts timeouts_;
  Logger log_;
};

// `select` as one JSON array of its rows: {"sql", params, name}.
pg::Statement rows_as_json(std::string name, std::string_view select, pg::Params params);

}  // namespace millrace::store
