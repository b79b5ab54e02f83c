// HostileRequests: an endless row of requests that bend the rules of a document, from a seed.
//
// Each is made of a real operation: its path filled with ids of others and with nonsense, its
// parameters and headers bent or invented, its body a valid one with something replaced, cut or
// flipped. Framing stays right (Content-Length, no line breaks in headers), so that one request
// gets one answer; what breaks framing is the HTTP server's own tests' to send.
#pragma once

#include "base/json.h"
#include "base/random.h"
#include "contract.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::test {

struct HostileRequest {
  const ContractOperation* operation = nullptr;
  std::string bytes;
  bool head_only = false;
  bool may_wait = false;      // A stream or a long poll: it may go on without an answer.
  bool as_described = false;  // Its answer can be held against the operation.
};

class HostileRequests {
 public:
  struct Pool {
    std::vector<std::string> ids;     // Of others.
    std::vector<std::string> tokens;  // Of nobody who may see them.
  };

  // The contract outlives it.
  HostileRequests(const Contract& contract, Pool pool, std::uint64_t seed);

  HostileRequest next();

 private:
  bool chance(int percent) { return random_.below(100) < static_cast<std::uint64_t>(percent); }
  template <class Range>
  const auto& any_of(const Range& range) {
    return range[random_.below(std::size(range))];
  }

  std::string text();   // Anything, also bytes that are no text.
  std::string value();  // An id, a number or a text.
  std::string in_url(std::string_view text);
  std::string path_of(const ContractOperation& operation);
  std::string query_of(const ContractOperation& operation);
  std::string headers();
  std::string header_value();
  json::Value any_json(int depth);
  void bend(json::Value& value, int depth);
  std::string body_of(const ContractOperation& operation, const Ask& sample);

  const Contract& contract_;
  Pool pool_;
  SeededRandom random_;
};

}  // namespace millrace::test
