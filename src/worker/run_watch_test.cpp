// Who watches runs is told of each one once, and may give it a place of its own in the trace.
#include "worker/run_watch.h"

#include "worker/runtime_fixture.h"

#include <utility>

namespace millrace::worker::test {
namespace {

using namespace std::chrono_literals;

class Kept final : public RunWatch {
 public:
  std::optional<std::string> begin_run(const ClaimedJob& job) override {
    began.push_back(job.id);
    return own;
  }
  void end_run(const RunEnd& end) override {
    ended.push_back({end.job.id, end.outcome == nullptr ? "none" : to_string(end.outcome->kind),
                     std::chrono::duration_cast<std::chrono::milliseconds>(end.took),
                     end.job.traceparent, end.came_with.value_or("-")});
  }

  void settled(Answer answer) override { answers.push_back(answer); }

  struct Ended {
    JobId id;
    std::string outcome;
    std::chrono::milliseconds took;
    std::string traceparent;
    std::string came_with;

    Ended(JobId job, std::string_view how, std::chrono::milliseconds time, std::string trace,
          std::string before)
        : id(job),
          outcome(how),
          took(time),
          traceparent(std::move(trace)),
          came_with(std::move(before)) {}
  };
  std::optional<std::string> own;
  std::vector<JobId> began;
  std::vector<Ended> ended;
  std::vector<Answer> answers;
};

class RunWatchTest : public RuntimeTest {
 protected:
  RunWatchTest() { options.watch = &kept; }
  Kept kept;
};

TEST_F(RunWatchTest, IsToldOfEveryRunOnceWithItsTimeAndOutcome) {  // O-02
  const auto id = store.add("gated");
  start();
  ASSERT_EQ(kept.began, std::vector<JobId>{id});
  EXPECT_TRUE(kept.ended.empty());
  advance(300ms);
  gated().open.set();
  settle();
  ASSERT_EQ(kept.ended.size(), 1U);
  EXPECT_EQ(kept.ended[0].id, id);
  EXPECT_EQ(kept.ended[0].outcome, "ok");
  EXPECT_EQ(kept.ended[0].took, 300ms);
  EXPECT_EQ(kept.answers, std::vector<Answer>{Answer::settled});
  EXPECT_EQ(kept.ended[0].came_with, "-");
}

TEST_F(RunWatchTest, AHandlerRunsUnderTheTraceparentOfItsRun) {
  kept.own = "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-01";
  std::string seen;
  gated().on_start = [&seen](JobContext& context) { seen = context.job().traceparent; };
  store.add("gated");
  start();
  gated().open.set();
  settle();
  EXPECT_EQ(seen, *kept.own);
  ASSERT_EQ(kept.ended.size(), 1U);
  EXPECT_EQ(kept.ended[0].traceparent, *kept.own);
  EXPECT_EQ(kept.ended[0].came_with, "");  // The job had none.
}

TEST_F(RunWatchTest, AHandlerThatIsGivenUpIsToldOfOnce) {
  store.run_timeout = 1s;
  store.add("stubborn");
  start();
  advance_until([&] { return !kept.ended.empty(); });
  ASSERT_EQ(kept.ended.size(), 1U);
  EXPECT_EQ(kept.ended[0].outcome, "retry");
  stubborn().open.set();
  settle();
  EXPECT_EQ(kept.ended.size(), 1U);
}

}  // namespace
}  // namespace millrace::worker::test
