#include "pipeline/virus_check.h"

#include "provider/clamd.h"

#include <gtest/gtest.h>

#include <chrono>

namespace millrace::pipeline {
namespace {

using Kind = Outcome::Kind;
using provider::CallFailure;

Outcome of(std::string_view error_type, CallFailure::Kind kind = CallFailure::Kind::retry) {
  return not_looked({.kind = kind, .error_type = std::string(error_type), .message = "clamd: why"});
}

TEST(VirusCheck, AScannerThatIsAwayCostsNoAttempt) {
  for (const auto* why : {"connection", "connect_timeout"}) {
    const auto outcome = of(why);
    EXPECT_EQ(outcome.kind, Kind::throttled) << why;
    EXPECT_EQ(outcome.retry_after, std::chrono::seconds(15)) << why;
    EXPECT_NE(outcome.error_json.find(R"("asked":false)"), std::string::npos) << why;
    EXPECT_NE(outcome.error_json.find("clamd: why"), std::string::npos) << why;
  }
}

// A scanner that dies or hangs over a file may do so each time.
TEST(VirusCheck, WhatTheFileMayHaveDoneCostsOne) {
  for (const auto* why :
       {"connection_lost", "scan_timeout", "scan_error", "bad_answer", "source"}) {
    EXPECT_EQ(of(why).kind, Kind::retry) << why;
  }
  EXPECT_EQ(of("too_large", CallFailure::Kind::permanent).kind, Kind::permanent);
  EXPECT_EQ(of("cancelled", CallFailure::Kind::cancelled).kind, Kind::cancelled);
}

// The words are those of the client.
TEST(VirusCheck, AnswersOfTheScannerAreNoAbsence) {
  for (const auto* reply : {"stream: Can't allocate memory ERROR", "nonsense", ""}) {
    EXPECT_EQ(not_looked(provider::parse_clamd_reply(reply).error()).kind, Kind::retry) << reply;
  }
}

}  // namespace
}  // namespace millrace::pipeline
