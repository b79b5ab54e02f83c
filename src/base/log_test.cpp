#include "base/log.h"

#include "base/json.h"

#include <gtest/gtest.h>

#include <thread>

namespace millrace {
namespace {

class LogTest : public ::testing::Test {
 protected:
  Logger make(Logger::Format format, LogLevel level = LogLevel::info) {
    return {clock_, [this](std::string_view line) { lines_.emplace_back(line); }, format, level};
  }

  ManualClock clock_;
  std::vector<std::string> lines_;
};

TEST_F(LogTest, WritesOneJsonObjectPerEvent) {
  const auto log = make(Logger::Format::json).with({{"cid", "c-1"}});
  log.warn("lease \"lost\"", {{"job_id", JobId{}},
                              {"attempt", 3},
                              {"share", 0.1},
                              {"final", true},
                              {"after", std::chrono::seconds(2)},
                              {"text", std::string("line\nbreak")}});
  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_EQ(
      lines_[0],
      R"({"time":"2030-01-01T00:00:00.000Z","level":"warn","event":"lease \"lost\"","cid":"c-1",)"
      R"("job_id":"00000000-0000-0000-0000-000000000000","attempt":3,"share":0.1,"final":true,)"
      R"("after":2000,"text":"line\nbreak"})");
  EXPECT_TRUE(parse_json(lines_[0]));
}

TEST_F(LogTest, WritesReadableTextWithoutControlCharacters) {
  make(Logger::Format::text)
      .info("claimed", {{"jobs", 5}, {"queue", "fast"}, {"note", "two words\x1b[0m"}});
  EXPECT_EQ(lines_.at(0),
            "00:00:00.000 info  claimed jobs=5 queue=fast note=\"two words\\u001b[0m\"");
}

TEST_F(LogTest, DropsWhatIsBelowItsLevelAndSharesTheLevelWithCopies) {
  auto log = make(Logger::Format::json, LogLevel::warn);
  const auto copy = log.with({{"k", 1}});
  copy.info("quiet");
  EXPECT_TRUE(lines_.empty());
  log.set_level(LogLevel::debug);
  copy.debug("loud");
  EXPECT_EQ(lines_.size(), 1U);
  EXPECT_FALSE(Logger::silent().enabled(LogLevel::error));
}

TEST_F(LogTest, KeepsLinesWholeWhenThreadsWriteTogether) {
  const auto log = make(Logger::Format::json);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&log] {
        for (int i = 0; i < 100; ++i) log.info("tick", {{"i", i}});
      });
    }
  }
  ASSERT_EQ(lines_.size(), 400U);
  for (const auto& line : lines_) EXPECT_TRUE(parse_json(line)) << line;
}

TEST(LogLevel, IsReadByName) {
  EXPECT_EQ(parse_log_level("warn"), LogLevel::warn);
  EXPECT_EQ(parse_log_level("loud").error().kind, ErrorKind::invalid_argument);
}

}  // namespace
}  // namespace millrace
