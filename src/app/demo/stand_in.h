// StandIn: a small HTTP service for the demo's http jobs, in this process.
//
// Answers POST with {"length": ...} of what it got; every fifth job is told once to come back in a
// second (503 with Retry-After), so that the queue has something to handle. Its own thread.
#pragma once

#include "app/demo/ledger.h"
#include "base/result.h"

#include <memory>
#include <string>

namespace millrace::app {

class StandIn {
 public:
  // `ledger` outlives it.
  static Result<std::unique_ptr<StandIn>> start(const Ledger& ledger);
  ~StandIn();  // Stops it.

  std::string url() const;  // http://127.0.0.1:PORT/measure

 private:
  struct Parts;
  explicit StandIn(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace millrace::app
