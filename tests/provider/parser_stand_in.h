// ParserStandIn: parsers outside on one loopback port: LlamaCloud's API v2 (INTEGRATIONS §2), and a
// parser that speaks the contract of the source (B-05, W-01 to W-05).
//
// Flow: what is asked for gets an id of the stand-in's own and goes on by its plan: pending and
// running for so many looks or so long, then completed, failed, cancelled, or never. Callbacks go
// out as the plan says, with three attempts and then silence. The text of a page is what the
// document holds between form feeds. Links that it is given are followed, links that it gives
// expire. It keeps its parses until it goes away; asking twice makes two of them, and both are
// charged. README.md lists what it enforces and what not.
//
// Threading: the thread that runs `io`. Lifetime: clock and io outlive it.
#pragma once

#include "base/clock.h"
#include "base/json.h"
#include "http/client.h"
#include "wire_server.h"

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace millrace::test {

// What becomes of one parse.
struct ParsePlan {
  enum class End { completed, failed, cancelled, never };
  enum class Create { normal, throttled, server_error, quota, auth, cut, reset_before };
  struct Callback {
    // `before`: before the answer to the ask is given; `after`: once it has ended.
    enum class When { before, after };
    When when = When::after;
    int times = 1;
    bool wrong_token = false;
    std::string type = {};  // Empty: by the end.
  };

  Create create = Create::normal;
  int polls_broken = 0;   // Looks that are answered with a 500, before any other.
  int polls_pending = 0;  // Looks that are answered PENDING, then RUNNING.
  int polls_running = 0;
  std::chrono::milliseconds takes{0};  // Not done before, however often it is looked at.
  End end = End::completed;
  std::string error = "the document could not be read";
  std::set<int> failed_pages = {};
  std::vector<Callback> callbacks = {Callback{}};
  bool all_members = false;  // Of a page: what does not apply is null or empty, not left out.
  std::string text = {};     // In place of the document's own.
  // Of the source's contract: what is wrong with the message.
  bool wrong_signature = false;
  bool wrong_hash = false;
  std::int64_t clock_shift = 0;  // Seconds that its clock is ahead.
};

struct ParserStandInOptions {
  std::uint16_t port = 0;
  std::string key = "llx-test";
  std::chrono::milliseconds retry_base{1'000};  // 1, 2 and 4 of it between attempts.
  std::chrono::milliseconds link_ttl{60'000};   // Of links to results.
};

struct StoodParse {
  std::string id;
  std::string source;  // "upload", "url" or "contract".
  json::Object configuration = {};
  std::string file_name = {};
  std::string content = {};
  bool fetched = true;  // False: the link could not be followed.
  int looks = 0;        // That were answered.
  int broken = 0;       // That were not.
  bool ended = false;
  ParsePlan plan = {};
  std::chrono::steady_clock::time_point began = {};
  // Of the contract.
  std::string job_id = {};
  std::string webhook_url = {};
  std::string webhook_secret = {};
};

struct SentCallback {
  std::string id;
  int attempt = 1;
  int status = 0;  // 0: no answer.
  std::string body = {};
};

class ParserStandIn {
 public:
  ParserStandIn(boost::asio::io_context& io, const Clock& clock, ParserStandInOptions options = {});
  ~ParserStandIn();
  ParserStandIn(const ParserStandIn&) = delete;
  ParserStandIn& operator=(const ParserStandIn&) = delete;

  std::uint16_t port() const;
  std::string url() const;

  // For the next parses, in order; then the default one.
  void push(ParsePlan plan);
  void set_default(ParsePlan plan);

  const std::deque<StoodParse>& parses() const;
  const std::deque<SentCallback>& callbacks() const;
  std::size_t requests() const;

 private:
  class Core;
  std::shared_ptr<Core> core_;  // Shared with exchanges and callbacks that end after it.
  std::unique_ptr<WireServer> server_;
};

}  // namespace millrace::test
