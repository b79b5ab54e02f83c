// MockAppServer: an app server for tests and first steps (J-12). It says that it is one.
//
// POST /gh/{definition}:{version}/solve with inputs gives outputs (H-22). Inputs are held against
// their contract, the answer is computed. `simulate` in the inputs, where the contract has it,
// makes it misbehave as real ones do: 429 once, an answer that is cut off, outputs that break their
// contract, slowness. GET /livez answers without a word. For internal traffic: it asks nobody who
// they are (T-05). Threading: any. Lifetime: what it refers to outlives it.
#pragma once

#include "api/compute/contract_directory.h"
#include "base/clock.h"
#include "base/log.h"
#include "http/response.h"
#include "http/router.h"

#include <chrono>
#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace millrace::app {

class MockAppServer {
 public:
  struct Options {
    std::chrono::milliseconds timeout{240'000};
    bool throttle_once = false;  // 429 to the first delivery of every job, whatever it asks.
    bool exit_on_crash = false;  // A crash is the end of this process, not of the connection.
  };

  MockAppServer(const api::ContractDirectory& contracts, Clock& clock, const Logger& log,
                Options options)
      : contracts_(contracts), clock_(clock), log_(log), options_(options) {}

  std::vector<http::Route> routes();

 private:
  struct Question;
  struct Answer;

  Task<void> serve(http::ServerRequest& request, http::ResponseWriter& response);
  Task<void> reply(const Question& question, const http::ServerRequest& request,
                   http::ResponseWriter& response);
  Answer answer_to(const Question& question) const;
  // The first time that this key is seen; only so many are remembered.
  bool is_first(const std::string& key);

  const api::ContractDirectory& contracts_;
  Clock& clock_;
  const Logger& log_;
  const Options options_;

  std::mutex mutex_;  // Guards the following.
  std::set<std::string> seen_;
  std::deque<std::string> seen_in_order_;
};

}  // namespace millrace::app
