#include "api/stream/stream_event.h"

#include "api/operation.h"
#include "api/schemas.h"
#include "api/stream/stream_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::api {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

store::StoredEvent stored(NewEvent event) {
  return {.xid = 81,
          .event_id = 3,
          .position = "81-3",
          .at = "2026-11-16T12:00:00+00:00",
          .tenant = event.tenant,
          .kind = std::move(event.kind),
          .queue = std::move(event.queue),
          .job_ids = std::move(event.jobs),
          .data_json = std::move(event.data)};
}

StreamEvent event_of(NewEvent event, std::vector<Uuid> owners = {}) {
  auto made = make_stream_event(stored(std::move(event)), 1, std::move(owners));
  EXPECT_TRUE(made);
  return *std::move(made);
}

std::string data_of(const http::SseFrame& frame) {
  const std::string text(frame.text());
  const auto at = text.find("data: ");
  return text.substr(at + 6, text.find('\n', at) - at - 6);
}

json::Object object_in(const http::SseFrame& frame) {
  auto parsed = parse_json_object(data_of(frame));
  EXPECT_TRUE(parsed) << frame.text();
  return parsed ? *std::move(parsed) : json::Object();
}

// Every form is as the document says.
void expect_valid(std::string_view schema, const http::SseFrame& frame) {
  static const auto table = OperationTable::make({}, component_schemas());
  ASSERT_TRUE(table) << table.error().message;
  const auto compiled = table->compile(std::string(schema));
  ASSERT_TRUE(compiled) << compiled.error().message;
  const auto violations = compiled->validate(object_in(frame));
  EXPECT_TRUE(violations.empty()) << frame.text() << violations.front().message;
}

const StreamScope kJobScope{.tenant = kStreamTenant, .job = job_number(1)};

TEST(StreamEvent, OfAJobIsNamedWithoutTheNoun) {  // H-05
  const auto event =
      event_of({.kind = "job.progress", .data = R"({"progress":40,"message":"page 2 of 5"})"});
  const auto frame = frame_of(event, kJobScope, "81-3");
  EXPECT_THAT(std::string(frame.text()), StartsWith("id: 81-3\nevent: progress\ndata: "));
  const auto data = object_in(frame);
  EXPECT_EQ(data.at("jobId"), json::Value(job_number(1).to_string()));
  EXPECT_EQ(data.at("status"), json::Value("processing"));
  EXPECT_EQ(data.at("progress"), json::Value(40));
  EXPECT_EQ(data.at("message"), json::Value("page 2 of 5"));
  expect_valid("JobStreamData", frame);
}

// Q-05, H-05: nothing that the export's client would have to learn.
TEST(StreamEvent, OfAnExportSaysInTheSourcesWordsWhereItStands) {
  auto scope = kJobScope;
  scope.source_words = true;
  for (const auto* kind : {"job.retried", "job.reclaimed", "job.rescheduled", "job.handed_back"}) {
    const auto frame = frame_of(event_of({.kind = kind}), scope, "81-3");
    EXPECT_THAT(std::string(frame.text()), HasSubstr("event: progress\n")) << kind;
    EXPECT_EQ(object_in(frame).at("status"), json::Value("pending")) << kind;
    EXPECT_EQ(object_in(frame).at("progress"), json::Value(0)) << kind;
    expect_valid("JobStreamData", frame);
  }
  const auto claimed = frame_of(event_of({.kind = "job.claimed"}), scope, "81-3");
  EXPECT_THAT(std::string(claimed.text()), HasSubstr("event: progress\n"));
  EXPECT_EQ(object_in(claimed).at("status"), json::Value("processing"));
  const auto moved =
      frame_of(event_of({.kind = "job.progress", .data = R"({"progress":40})"}), scope, "81-3");
  EXPECT_EQ(object_in(moved).at("progress"), json::Value(40));
  const auto failed = frame_of(event_of({.kind = "job.failed"}), scope, "81-3");
  EXPECT_THAT(std::string(failed.text()), HasSubstr("event: failed\n"));
  const auto state = R"({"job_id":")" + job_number(1).to_string() +
                     R"(","status":"retrying","progress":0,"result":null,"error":null})";
  const auto first = job_state_frame(state, "1-1", false, {}, true);
  ASSERT_TRUE(first);
  EXPECT_EQ(object_in(*first).at("status"), json::Value("pending"));
  EXPECT_THAT(std::string(first->text()), HasSubstr("event: progress\n"));
  expect_valid("JobStreamData", *first);
  EXPECT_EQ(object_in(*job_state_frame(state, "1-1", false)).at("status"), json::Value("retrying"));
  const auto ended = R"({"job_id":")" + job_number(1).to_string() +
                     R"(","status":"cancelled","progress":0,"result":null,"error":null})";
  EXPECT_THAT(std::string(job_state_frame(ended, "1-1", false, {}, true)->text()),
              HasSubstr("event: cancelled\n"));
}

TEST(StreamEvent, IsNeverNamedAsTheTransportsOwnFailure) {  // K01
  EXPECT_THAT(std::string(frame_of(event_of({.kind = "job.error"}), kJobScope, "1-1").text()),
              HasSubstr("event: job_error\n"));
  EXPECT_THAT(std::string(event_of({.kind = "error"}).frame->text()),
              HasSubstr("event: job_error\n"));
}

TEST(StreamEvent, AKindThatIsNoPlainWordStandsInTheDataOnly) {
  const auto event = event_of({.kind = "two\nlines"});
  EXPECT_THAT(std::string(event.frame->text()), HasSubstr("event: event\n"));
  EXPECT_EQ(object_in(*event.frame).at("kind"), json::Value("two\nlines"));
}

TEST(StreamEvent, OfATenantNamesItsJobsUpToABound) {
  std::vector<JobId> jobs;
  for (int i = 0; i < 300; ++i) jobs.push_back(job_number(i));
  const auto event = event_of(
      {.kind = "job.completed", .jobs = jobs, .data = R"({"claim":"x","jobs":300,"done":"111"})"});
  const auto data = object_in(*event.frame);
  EXPECT_THAT(std::string(event.frame->text()), HasSubstr("event: job.completed\n"));
  EXPECT_EQ(data.at("jobs"), json::Value(300));
  EXPECT_EQ(data.at("job_ids").as_array().size(), kJobsNamedMax);
  EXPECT_FALSE(data.contains("data"));
  EXPECT_THAT(std::string(event.frame->text()), Not(HasSubstr("claim")));
  expect_valid("StreamData", *event.frame);
}

// The jobs of a claim that is not kept any more are counted but not named.
TEST(StreamEvent, SaysHowManyJobsEvenWhereItNamesNone) {
  const auto event = event_of({.kind = "job.claimed", .jobs = {}, .data = R"({"jobs":7})"});
  EXPECT_EQ(object_in(*event.frame).at("jobs"), json::Value(7));
}

TEST(StreamEvent, APersonSeesNoJobsOfOthers) {  // T-02
  const auto event = event_of({.kind = "job.cancelled",
                               .jobs = {job_number(1), job_number(2)},
                               .data = R"({"note":"about both"})"},
                              {user_number(1), user_number(2)});
  const StreamScope person{.tenant = kStreamTenant, .owner = user_number(1)};
  ASSERT_TRUE(in_scope(event, person));
  const auto frame = frame_of(event, person, "81-3");
  EXPECT_THAT(std::string(frame.text()), HasSubstr(job_number(1).to_string()));
  EXPECT_THAT(std::string(frame.text()), Not(HasSubstr(job_number(2).to_string())));
  EXPECT_THAT(std::string(frame.text()), Not(HasSubstr("about both")));
  EXPECT_FALSE(in_scope(event, {.tenant = kStreamTenant, .owner = user_number(3)}));
  EXPECT_FALSE(in_scope(event, {.tenant = kOtherTenant, .owner = user_number(1)}));
}

TEST(StreamEvent, WhatIsSaidOfManyJobsIsNotInTheStreamOfOne) {
  const auto event = event_of({.kind = "job.rescheduled",
                               .jobs = {job_number(1), job_number(2)},
                               .data = R"({"note":"about both"})"});
  EXPECT_THAT(std::string(frame_of(event, kJobScope, "1-1").text()), Not(HasSubstr("about both")));
}

TEST(StreamEvent, OfABatchHasItsCounts) {
  const auto event = event_of(
      {.kind = "batch.progress",
       .jobs = {},
       .data = fmt::format(R"({{"batch_id":"{}","total":5,"completed":2}})", batch_number(1))});
  const StreamScope scope{.tenant = kStreamTenant, .batch = batch_number(1)};
  ASSERT_TRUE(in_scope(event, scope));
  const auto frame = frame_of(event, scope, "81-3");
  EXPECT_THAT(std::string(frame.text()), HasSubstr("event: progress\n"));
  EXPECT_EQ(object_in(frame).at("completed"), json::Value(2));
  expect_valid("BatchStreamData", frame);
  EXPECT_FALSE(in_scope(event, {.batch = batch_number(2)}));
}

TEST(StreamEvent, OnlyTheEndOfTheThingItselfEndsItsStream) {
  EXPECT_TRUE(ends(event_of({.kind = "job.failed"}), kJobScope));
  EXPECT_FALSE(ends(event_of({.kind = "job.retried"}), kJobScope));
  EXPECT_FALSE(ends(event_of({.kind = "job.failed"}), {.tenant = kStreamTenant}));
  EXPECT_TRUE(ends(event_of({.kind = "batch.finished"}), {.batch = batch_number(1)}));
  EXPECT_FALSE(ends(event_of({.kind = "job.completed"}), {.batch = batch_number(1)}));
}

TEST(StreamEvent, TheStateOfAJobIsASnapshotOrItsEnd) {  // H-05
  const std::string id = job_number(1).to_string();
  const auto live = job_state_frame(
      R"({"job_id":")" + id + R"(","status":"processing","progress":40,"result":null})", "1-1",
      false);
  ASSERT_TRUE(live);
  EXPECT_THAT(std::string(live->text()), HasSubstr("event: snapshot\n"));
  expect_valid("JobStreamData", *live);
  const auto done = job_state_frame(
      R"({"job_id":")" + id +
          R"(","status":"completed","progress":100,"result":{"result_url":"exports/1.pdf"}})",
      "1-1", true);
  ASSERT_TRUE(done);
  EXPECT_THAT(std::string(done->text()), HasSubstr("event: completed\n"));
  EXPECT_EQ(object_in(*done).at("resultUrl"), json::Value("exports/1.pdf"));
  EXPECT_EQ(object_in(*done).at("missed"), json::Value(true));
  expect_valid("JobStreamData", *done);
  const auto failed = job_state_frame(
      R"({"job_id":")" + id +
          R"(","status":"failed","progress":10,"error":{"error_type":"x","message":"no paper"}})",
      "1-1", false);
  ASSERT_TRUE(failed);
  EXPECT_EQ(object_in(*failed).at("error"), json::Value("no paper"));
  expect_valid("JobStreamData", *failed);
}

// X-07: the name of an object is no URL; a link stands in its place, or nothing.
TEST(StreamEvent, ALinkTakesThePlaceOfWhatTheResultSays) {
  const auto state = R"({"job_id":")" + job_number(1).to_string() +
                     R"(","status":"completed","progress":100,"result":{"result_url":"a/1.pdf"}})";
  const auto linked =
      job_state_frame(state, "1-1", false, {.linked = true, .url = "https://x.test/1"});
  ASSERT_TRUE(linked);
  EXPECT_EQ(object_in(*linked).at("resultUrl"), json::Value("https://x.test/1"));
  expect_valid("JobStreamData", *linked);
  const auto gone = job_state_frame(state, "1-1", false, {.linked = true});
  ASSERT_TRUE(gone);
  EXPECT_TRUE(object_in(*gone).at("resultUrl").is_null());
}

TEST(StreamEvent, AnEndIsToldApartFromAnother) {
  const auto first = end_mark(R"({"status":"failed","finished_at":"2026-11-16T12:00:00.5+00:00"})");
  EXPECT_EQ(first, "2026111612000050000");
  EXPECT_NE(end_mark(R"({"finished_at":"2026-11-16T12:00:00.6+00:00"})"), first);
  EXPECT_EQ(end_mark(R"({"status":"failed"})"), "");
  EXPECT_EQ(ended_id("81-3~80-0", first), "81-3~80-0!2026111612000050000");
  EXPECT_EQ(ended_id("81-3", ""), "81-3");
}

TEST(StreamEvent, AResultThatIsTooLargeForAnEventIsLeftOut) {
  const auto frame =
      job_state_frame(R"({"job_id":")" + job_number(1).to_string() +
                          R"(","status":"completed","progress":100,"result":{"text":")" +
                          std::string(100'000, 'x') + R"("}})",
                      "1-1", false);
  ASSERT_TRUE(frame);
  EXPECT_LT(frame->text().size(), 2000U);
  EXPECT_EQ(object_in(*frame).at("resultOmitted"), json::Value(true));
}

}  // namespace
}  // namespace millrace::api
