#include "store/settlement_json.h"

#include "base/json.h"

#include <gtest/gtest.h>

namespace millrace::store {
namespace {

using namespace std::chrono_literals;

json::Array parsed(const std::string& text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value.has_value()) << text;
  return value.has_value() ? value->as_array() : json::Array{};
}

TEST(SettlementJson, NamesOnlyWhatTheOutcomeHas) {
  Settlement ok;
  ok.outcome = Outcome::ok("{\"a\":1}");
  Settlement throttled;
  throttled.outcome = Outcome::throttled("slow down", 1500ms);
  throttled.outcome.provider = "openai";
  throttled.outcome.actual_tokens = 12;
  Settlement crashed;
  crashed.outcome = Outcome::retry("signal", "killed by SIGSEGV");
  crashed.outcome.crash = true;
  const std::vector<const Settlement*> all{&ok, &throttled, &crashed};
  const auto items = parsed(settlements_json(all));
  ASSERT_EQ(items.size(), 3U);
  EXPECT_EQ(items[0].at("outcome").as_string(), "ok");
  EXPECT_EQ(items[0].at("result").at("a").as_int64(), 1);
  EXPECT_FALSE(items[0].as_object().contains("error"));
  EXPECT_FALSE(items[0].as_object().contains("crash"));
  EXPECT_EQ(items[1].at("retry_after_seconds").as_double(), 1.5);
  EXPECT_EQ(items[1].at("provider").as_string(), "openai");
  EXPECT_EQ(items[1].at("actual_tokens").as_int64(), 12);
  EXPECT_TRUE(items[2].at("crash").as_bool());
  EXPECT_EQ(items[2].at("error").at("error_type").as_string(), "signal");
}

TEST(SettlementJson, ResultsAreLeftOutWhenNobodyHasOne) {
  Settlement without;
  Settlement with;
  with.outcome = Outcome::ok("[1]");
  EXPECT_EQ(results_json(std::vector<const Settlement*>{&without, &without}), "");
  EXPECT_EQ(results_json(std::vector<const Settlement*>{&without, &with}), "[null,[1]]");
}

TEST(SettlementJson, ProgressAndLogsSurviveAnyBytes) {
  ProgressItem item;
  item.percent = 40;
  item.message = std::string("half\0way\xff", 9);
  const auto progress = parsed(progress_json(std::vector{item}));
  EXPECT_EQ(progress[0].at("progress").as_int64(), 40);
  EXPECT_EQ(progress[0].at("message").as_string(), "halfway\xef\xbf\xbd");

  JobLogItem log;
  log.line = {.level = LogLevel::warn, .message = "a\"b\n", .at = Clock::Wall(1234ms)};
  const auto logs = parsed(logs_json(std::vector{log}));
  EXPECT_EQ(logs[0].at("level").as_string(), "warn");
  EXPECT_EQ(logs[0].at("at_ms").as_int64(), 1234);
  EXPECT_EQ(logs[0].at("message").as_string(), "a\"b\n");
}

TEST(SettlementJson, MarksAreOneObject) {
  EXPECT_EQ(marks_json({}), "{}");
  EXPECT_EQ(marks_json({{"1:t:5", 7}, {"2:t:5", 9}}), R"({"1:t:5":7,"2:t:5":9})");
}

}  // namespace
}  // namespace millrace::store
