// What the log tells of deliveries, by name and level (O-02).
#include "worker/job_events.h"

#include "worker/runtime_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

namespace millrace::worker::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;
using Kind = Outcome::Kind;

TEST(JobEvents, EveryOutcomeHasItsName) {
  ClaimedJob job;
  job.attempt = 1;
  job.max_attempts = 2;
  EXPECT_EQ(settled_event(job, Kind::ok), "complete");
  EXPECT_EQ(settled_event(job, Kind::retry), "abandon");
  EXPECT_EQ(settled_event(job, Kind::throttled), "abandon");
  EXPECT_EQ(settled_event(job, Kind::blocked), "abandon");
  EXPECT_EQ(settled_event(job, Kind::partial), "abandon");
  EXPECT_EQ(settled_event(job, Kind::rescheduled), "abandon");
  EXPECT_EQ(settled_event(job, Kind::handback), "abandon");
  EXPECT_EQ(settled_event(job, Kind::permanent), "deadletter");
  EXPECT_EQ(settled_event(job, Kind::cancelled), "cancel");
  job.attempt = 2;
  EXPECT_EQ(settled_event(job, Kind::retry), "deadletter");
}

TEST(JobEvents, DeadLettersAreToldWhereOtherJobsAreNot) {
  ManualClock clock;
  std::vector<std::string> lines;
  const Logger log(
      clock, [&](std::string_view line) { lines.emplace_back(line); }, Logger::Format::json);
  ClaimedJob job;
  job.payload_json = R"({"name":"Jane Doe"})";
  log_claimed(log, {job});
  EXPECT_FALSE(is_told(log, job, Kind::ok));
  EXPECT_TRUE(is_told(log, job, Kind::permanent));
  log_settled(log, {.job = job, .outcome = Kind::permanent, .ran = 20ms, .persisting = 3ms});
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], HasSubstr("\"deadletter\""));
  EXPECT_THAT(lines[0], HasSubstr("\"ms\":20"));
  EXPECT_THAT(lines[0], HasSubstr("\"persist_ms\":3"));
  EXPECT_THAT(lines[0], Not(HasSubstr("Jane")));
}

class ToldRuns : public RuntimeTest {
 protected:
  std::string line_of(std::string_view event) const {
    const auto found = std::ranges::find_if(
        lines, [&](const auto& line) { return line.contains(fmt::format("\"{}\"", event)); });
    return found == lines.end() ? "none" : *found;
  }
};

TEST_F(ToldRuns, ADeliveryIsTakenAndEndsWithItsTime) {
  const auto id = store.add("gated");
  start();
  EXPECT_THAT(line_of("claim"), HasSubstr(id.to_string()));
  EXPECT_EQ(line_of("complete"), "none");
  advance(300ms);
  gated().open.set();
  settle();
  EXPECT_THAT(line_of("complete"), HasSubstr(id.to_string()));
  EXPECT_THAT(line_of("complete"), HasSubstr("\"ms\":300"));
  EXPECT_THAT(line_of("complete"), HasSubstr("\"persist_ms\":"));
}

TEST_F(ToldRuns, AnAttemptThatFailsForGoodIsADeadLetter) {
  gated().outcome = Outcome::permanent("bad_pdf", "of Jane Doe");
  store.add("gated");
  start();
  gated().open.set();
  settle();
  EXPECT_THAT(line_of("deadletter"), HasSubstr("\"outcome\":\"permanent\""));
  EXPECT_THAT(line_of("deadletter"), Not(HasSubstr("Jane")));
}

}  // namespace
}  // namespace millrace::worker::test
