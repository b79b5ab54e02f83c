#include "base/fault.h"

#include "base/file.h"
#include "base/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace millrace {
namespace {

using fault::Effect;
using testing::HasSubstr;

class Fault : public testing::Test {
 protected:
  void TearDown() override { fault::disarm(); }
};

TEST_F(Fault, DoesNothingUnlessArmed) {
  EXPECT_EQ(fault::reach("claim", "before"), Effect::none);
  EXPECT_EQ(fault::reach(fault::Point{}, "before"), Effect::none);
}

TEST_F(Fault, SpringsAtTheNthTimeAndOnlyThen) {
  ASSERT_TRUE(fault::arm("claim.before=error@3"));
  EXPECT_EQ(fault::reach("claim", "before"), Effect::none);
  EXPECT_EQ(fault::reach("claim", "after"), Effect::none);
  EXPECT_EQ(fault::reach("claim", "before"), Effect::none);
  EXPECT_EQ(fault::reach("claim", "before"), Effect::error);
  EXPECT_EQ(fault::reach("claim", "before"), Effect::none);
}

TEST_F(Fault, AStarCountsAllThatBeginSo) {
  ASSERT_TRUE(fault::arm("*=drop@2;settle.after=error"));
  EXPECT_EQ(fault::reach("claim", "before"), Effect::none);
  EXPECT_EQ(fault::reach("beat", "before"), Effect::drop);
  EXPECT_EQ(fault::reach("settle", "after"), Effect::error);
}

TEST_F(Fault, TellsWhereItSprangUntilTheNextPlan) {
  ASSERT_TRUE(fault::arm("*=drop@2;settle.after=error"));
  fault::reach("claim", "before");
  EXPECT_THAT(fault::sprung(), testing::IsEmpty());
  fault::reach("settle", "after");
  fault::reach("settle", "after");
  EXPECT_THAT(fault::sprung(), testing::ElementsAre("settle.after", "settle.after"));
  fault::disarm();
  EXPECT_THAT(fault::sprung(), testing::IsEmpty());
}

TEST_F(Fault, RefusesPlansThatMakeNoSense) {
  for (const char* plan : {"claim", "=kill", "claim=burn", "claim=kill@0", "claim=kill@x",
                           "claim=delay", "claim=kill:5", "claim=delay:-1"}) {
    const auto armed = fault::arm(plan);
    ASSERT_FALSE(armed) << plan;
    EXPECT_THAT(armed.error().message, HasSubstr(plan));
  }
}

// What a killed process has written is whole, and the fault itself is the last line.
TEST_F(Fault, KillLeavesAHistoryThatEndsWithTheFault) {
  char folder[] = "/tmp/millrace-fault-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    if (!history::open_history(folder, "worker") || !fault::arm("claim.after=kill")) ::_exit(1);
    const history::Call call("claim", {{"queue", "q"}});
    call.ok({{"jobs", json::Array()}});
    const history::Call settle("settle", {});
    settle.failed({.kind = ErrorKind::in_doubt, .message = "lost"});
    MR_SOMETIMES(true, "claimed");
    static_cast<void>(fault::reach("claim", "after"));
    ::_exit(2);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  std::string text;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    text = read_file(entry.path()).value();
  }
  EXPECT_THAT(text, HasSubstr(R"("op":"hello","actor":"worker-)"));
  EXPECT_THAT(text, HasSubstr(R"("op":"claim","n":1,"ph":"call","queue":"q"})"));
  EXPECT_THAT(text, HasSubstr(R"("op":"claim","n":1,"ph":"ok","jobs":[]})"));
  EXPECT_THAT(text, HasSubstr(R"("op":"settle","n":2,"ph":"unknown","error":"lost"})"));
  EXPECT_THAT(text, HasSubstr(R"("op":"reached","name":"claimed"})"));
  EXPECT_TRUE(text.ends_with("\"op\":\"fault\",\"point\":\"claim.after\",\"action\":\"kill\"}\n"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace millrace
