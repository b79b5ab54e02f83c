// Plain operations under failing allocations: what goes to the database and what comes back. Each
// must end with std::bad_alloc or as if nothing had happened, and lose no memory.
#include "app/config/settings.h"
#include "base/json.h"
#include "base/log.h"
#include "failnth/every_nth.h"
#include "model/job_json.h"
#include "pg/conninfo.h"
#include "pg/params.h"
#include "sandbox/line_splitter.h"
#include "store/answers.h"
#include "store/settlement_json.h"
#include "store/sql_script.h"
#include "worker/handlers/control_line.h"
#include "worker/handlers/http_outcome.h"
#include "worker/job_output.h"

#include <boost/json/object.hpp>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::test {
namespace {

constexpr auto kId = "0198f2d5-0000-7000-8000-00000000000a";

TEST(FailingAllocations, JsonIsReadAndWrittenOrNot) {
  EXPECT_GT(
      every_nth([] {
        const auto value = parse_json(
            R"({"a long enough key to be allocated": [1, 2.5, "text", {"b": null}], "c": {}})");
        ASSERT_TRUE(value.has_value());
        EXPECT_EQ(canonical_json(*value), canonical_json(*parse_json(to_pretty_json(*value))));
      }),
      10U);
}

TEST(FailingAllocations, ARefusalIsStillARefusal) {
  every_nth([] {
    EXPECT_FALSE(parse_json(R"({"a": 1, "a": 2})").has_value());
    EXPECT_FALSE(JobId::parse("not a uuid, and longer than a small string").has_value());
    EXPECT_FALSE(pg::parse_conninfo(pg::connect_options("nonsense without an equals sign")));
  });
}

TEST(FailingAllocations, SettlementsBecomeJsonWholeOrNotAtAll) {
  std::vector<Settlement> settlements(3);
  settlements[0].outcome =
      Outcome::ok(R"({"pages": [1, 2, 3], "note": "long enough for the heap"})");
  settlements[1].outcome = Outcome::retry("connection_reset", "the server closed the connection",
                                          std::chrono::seconds(5));
  settlements[2].outcome = Outcome::throttled("slow down, please, and come back later");
  settlements[2].logs.push_back({.level = LogLevel::warn, .message = std::string(100, 'x')});
  const std::vector<const Settlement*> pointers{&settlements[0], &settlements[1], &settlements[2]};
  const auto wanted = store::settlements_json(pointers);
  every_nth([&] {
    EXPECT_EQ(store::settlements_json(pointers), wanted);
    EXPECT_FALSE(store::results_json(pointers).empty());
    pg::Params params;
    params.add(wanted).add_null().add(std::int64_t{7});
    EXPECT_EQ(params.text(0), wanted);
  });
}

TEST(FailingAllocations, AnswersAreRead) {
  const auto text = R"({"alive": true, "lease_ms": 30000, "suspects": 2, "cancel": [{"job_id": ")" +
                    std::string(kId) + R"(", "token": ")" + kId +
                    R"(", "reason": "somebody changed their mind about it"}]})";
  every_nth([&] {
    const auto answer = store::read_beat_answer(text);
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->cancel.size(), 1U);
  });
}

TEST(FailingAllocations, AJobIsHandedToAProgram) {
  ClaimedJob job;
  job.job_type = "a type with a name that needs the heap";
  job.correlation_id = "a correlation id that needs the heap too";
  job.carry_json = R"({"done": [1, 2]})";
  every_nth([&] { EXPECT_TRUE(parse_json_object(job_json(job)).has_value()); });
}

TEST(FailingAllocations, WhatAProgramSaysIsTakenOrRefused) {
  ManualClock clock;
  const ClaimedJob job;
  every_nth([&] {
    worker::JobOutput output(clock, {}, [] {});
    worker::JobContext context({.job = job,
                                .output = output,
                                .token = {},
                                .clock = clock,
                                .deadline = {},
                                .run_timeout = std::chrono::seconds(1)});
    worker::ExecNotes notes;
    sandbox::LineSplitter lines(
        {.line_max_bytes = 200, .total_max_bytes = 1000},
        [&](std::string_view line) { worker::take_control_line(line, context, notes); });
    lines.feed(R"({"progress": 40, "message": "a message that needs the heap", "data": [1, 2]})");
    lines.feed("\n{\"log\": \"a line that needs the heap as well\", \"level\": \"warn\"}\nrubbish");
    lines.finish();
    EXPECT_EQ(output.take_report().logs.size(), 2U);
  });
}

TEST(FailingAllocations, AnHttpAnswerBecomesAnOutcome) {
  http::Response response{.status = 503,
                          .headers = {{"Retry-After", "Sun, 06 Nov 2033 08:49:37 GMT"}},
                          .body = "a body that says at some length what is wrong"};
  every_nth([&] {
    const auto outcome = worker::http_outcome(response, Clock::Wall(std::chrono::hours(24)));
    EXPECT_FALSE(outcome.succeeded());
  });
}

TEST(FailingAllocations, AScriptIsSplitWholeOrNotAtAll) {
  every_nth([] {
    const auto statements = store::split_statements(
        "create table a_long_table_name (x int); /* a comment */ grant select on a to b, c;");
    ASSERT_TRUE(statements.has_value());
    EXPECT_EQ(statements->size(), 2U);
    std::vector<std::string> missing;
    const auto left = store::without_missing_roles(
        (*statements)[1].text, [](std::string_view role) { return role != "b"; }, missing);
    EXPECT_EQ(left, "grant select on a to c");
  });
}

TEST(FailingAllocations, ALogLineIsWrittenOrNot) {
  ManualClock clock;
  int lines = 0;
  const Logger log(clock, [&](std::string_view) { ++lines; }, Logger::Format::json, LogLevel::info);
  int runs = 0;
  every_nth([&] {
    ++runs;
    log.info("something_happened", {{"what", std::string(100, 'x')}, {"count", 7}});
  });
  EXPECT_EQ(lines, 2) << "the first and the last run, and none in between: " << runs;
}

// A handler that runs out of memory while it reports does not take away what it reported before.
TEST(FailingAllocations, ReportsOfAJobAreKept) {
  ManualClock clock;
  every_nth([&] {
    worker::JobOutput output(clock, {}, [] {});
    {
      const Untouched before;
      output.add_log(LogLevel::info, "the first line, which is long enough for the heap");
    }
    try {
      output.add_log(LogLevel::info, "the second line, which is long enough for the heap");
      output.set_progress({.percent = 50, .message = std::string(100, 'x'), .data_json = "{}"});
    } catch (const std::bad_alloc&) {
      const Untouched after;
      const auto logs = output.take_last_logs();
      ASSERT_GE(logs.size(), 1U);
      EXPECT_TRUE(logs[0].message.starts_with("the first line"));
      throw;
    }
  });
}

}  // namespace
}  // namespace millrace::test
