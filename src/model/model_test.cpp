#include "base/json.h"
#include "model/job.h"
#include "model/job_json.h"
#include "model/outcome.h"
#include "model/settlement.h"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(JobStatus, EveryLabelReadsBackAsItself) {
  for (const auto status :
       {JobStatus::pending, JobStatus::processing, JobStatus::completed, JobStatus::failed,
        JobStatus::cancelled, JobStatus::retrying, JobStatus::deferred}) {
    const auto parsed = parse_job_status(to_string(status));
    ASSERT_TRUE(parsed.has_value()) << to_string(status);
    EXPECT_EQ(*parsed, status);
  }
  EXPECT_EQ(parse_job_status("running").error().kind, ErrorKind::invalid_argument);
}

TEST(JobStatus, OnlyThreeAreFinal) {
  EXPECT_TRUE(is_final(JobStatus::completed));
  EXPECT_TRUE(is_final(JobStatus::failed));
  EXPECT_TRUE(is_final(JobStatus::cancelled));
  EXPECT_FALSE(is_final(JobStatus::retrying));
  EXPECT_FALSE(is_final(JobStatus::deferred));
}

TEST(Outcome, EveryKindReadsBackAsItself) {
  using Kind = Outcome::Kind;
  for (const auto kind : {Kind::ok, Kind::retry, Kind::throttled, Kind::blocked, Kind::permanent,
                          Kind::partial, Kind::cancelled, Kind::rescheduled, Kind::handback}) {
    const auto parsed = parse_outcome_kind(to_string(kind));
    ASSERT_TRUE(parsed.has_value());
    EXPECT_EQ(*parsed, kind);
  }
  EXPECT_FALSE(parse_outcome_kind("fine").has_value());
}

TEST(Outcome, OnlyBareSuccessTakesTheShortWay) {
  EXPECT_TRUE(Outcome::ok().plain());
  EXPECT_TRUE(Outcome::ok("{\"pages\":3}").plain());
  auto with_effects = Outcome::ok();
  with_effects.effects_json = "{}";
  EXPECT_FALSE(with_effects.plain());
  auto with_tokens = Outcome::ok();
  with_tokens.actual_tokens = 7;
  EXPECT_FALSE(with_tokens.plain());
  EXPECT_FALSE(Outcome::retry("x", "y").plain());
}

TEST(Outcome, ErrorTextIsAlwaysStorable) {
  const auto text = error_json("t", std::string_view("a\0b\xff", 4));
  const auto parsed = parse_json_object(text);
  ASSERT_TRUE(parsed.has_value()) << text;
  EXPECT_EQ(parsed->at("message").as_string(), "ab\xef\xbf\xbd");
}

TEST(Outcome, WhoWasNotAskedIsSaidByTheError) {
  const auto asked = [](const Outcome& outcome) {
    const auto error = parse_json_object(outcome.error_json).value();
    const auto* said = error.if_contains("asked");
    return said == nullptr || said->as_bool();
  };
  EXPECT_FALSE(asked(Outcome::not_here("openai", "no key")));
  EXPECT_FALSE(asked(Outcome::held_up("no \"room\"", std::chrono::seconds(1))));
  EXPECT_TRUE(asked(Outcome::blocked("openai", "pay first")));
  EXPECT_TRUE(asked(Outcome::throttled("429")));
}

TEST(Outcome, LongTextIsCutAtACharacter) {
  EXPECT_EQ(storable_text("aäb", 2), "a…");
  EXPECT_EQ(storable_text("aäb", 3), "a…");
  EXPECT_EQ(storable_text("aäb", 4), "aäb");
}

TEST(Settlement, OnlyWhatTheDatabaseHoldsIsDurable) {
  EXPECT_TRUE(is_durable(Answer::settled));
  EXPECT_TRUE(is_durable(Answer::already_settled));
  EXPECT_TRUE(is_durable(Answer::replaced));
  EXPECT_FALSE(is_durable(Answer::lease_lost));
  EXPECT_FALSE(is_durable(Answer::cancelled));
  EXPECT_FALSE(is_durable(Answer::not_found));
  EXPECT_FALSE(parse_answer("perhaps").has_value());
}

TEST(JobJson, CarriesWhatAHandlerNeedsAndLeavesOutWhatIsNotThere) {
  ClaimedJob job;
  job.job_type = "resize \"big\"";
  job.payload_json = R"({"a": [1, 2]})";
  job.correlation_id = "c-1";
  job.attempt = 2;
  job.carry_json = R"({"done": [1]})";
  const auto parsed = parse_json_object(job_json(job));
  ASSERT_TRUE(parsed.has_value()) << job_json(job);
  EXPECT_EQ(parsed->at("job_type").as_string(), "resize \"big\"");
  EXPECT_EQ(parsed->at("payload").at("a").as_array().size(), 2U);
  EXPECT_EQ(parsed->at("attempt").as_int64(), 2);
  EXPECT_EQ(parsed->at("carry").at("done").as_array().size(), 1U);
  EXPECT_EQ(parsed->at("correlation_id").as_string(), "c-1");
  EXPECT_FALSE(parsed->contains("stage"));
  EXPECT_FALSE(parsed->contains("batch_id"));
}

TEST(JobJson, IdempotencyKeyChangesWithTheGenerationOnly) {
  ClaimedJob job;
  const auto first = idempotency_key(job);
  job.attempt = 5;
  job.delivery_count = 9;
  EXPECT_EQ(idempotency_key(job), first);
  job.generation = 2;
  EXPECT_NE(idempotency_key(job), first);
}

}  // namespace
}  // namespace millrace
