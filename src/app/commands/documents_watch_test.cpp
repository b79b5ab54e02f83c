#include "app/commands/documents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::app {
namespace {

using testing::HasSubstr;
using testing::Not;

json::Object document(std::string_view state) {
  return {{"id", "0190a000-0000-7000-8000-000000000001"},
          {"file_name", "letter.pdf"},
          {"state", state},
          {"stage", nullptr},
          {"stage_done", nullptr},
          {"stage_total", nullptr},
          {"page_count", 12},
          {"pages_failed", 0},
          {"findings", json::Array()},
          {"processing_error", nullptr}};
}

TEST(DocumentLines, SayHowFarAStageIs) {
  const Context context;
  auto one = document("processing");
  one["stage"] = "fast_queue_ocr";
  one["stage_done"] = 3;
  one["stage_total"] = 12;
  const auto line = describe_document(context, one);
  EXPECT_THAT(line, HasSubstr("letter.pdf  processing  fast_queue_ocr"));
  EXPECT_THAT(line, HasSubstr("3/12 pages"));
}

TEST(DocumentLines, SayWhyADocumentWaits) {
  const Context context;
  auto one = document("processing");
  one["stage"] = "ai_queue_pass1";
  one["waiting"] = nullptr;
  EXPECT_THAT(describe_document(context, one), Not(HasSubstr("waits")));
  one["waiting"] = json::Object{
      {"reason", "provider is not configured on this worker"}, {"until", nullptr}, {"jobs", 1}};
  EXPECT_THAT(describe_document(context, one),
              HasSubstr("ai_queue_pass1  waits: provider is not configured on this worker"));
}

// B-24
TEST(DocumentLines, SayHowManyChunksHaveVectors) {
  const Context context;
  auto one = document("processing");
  one["stage"] = "ingest_embed";
  one["progress"] = json::Object{{"chunks_total", 40}, {"chunks_done", 40}, {"embeds_done", 30}};
  EXPECT_THAT(describe_document(context, one), HasSubstr("30/40 chunks"));
}

TEST(DocumentLines, OnATerminalTheStageIsNotPushedAway) {
  Context context;
  context.terminal.out_tty = true;
  auto one = document("processing");
  one["file_name"] = "a name that is much longer than anybody would like it to be.pdf";
  one["stage"] = "fast_queue_ocr";
  one["stage_done"] = 3;
  one["stage_total"] = 12;
  const auto line = describe_document(context, one);
  EXPECT_LT(line.find("3/12 pages"), 80U) << line;
  EXPECT_TRUE(line.ends_with("0190a000-0000-7000-8000-000000000001")) << line;
}

TEST(DocumentLines, SayWhatBecameOfIt) {
  const Context context;
  auto one = document("partial");
  one["pages_failed"] = 2;
  EXPECT_THAT(describe_document(context, one), HasSubstr("12 pages, 2 failed"));
  one = document("rejected");
  one["findings"] = json::Array{json::Object{{"rule", "pdf_javascript"}, {"severity", "refuse"}},
                                json::Object{{"rule", "pdf_attachment"}, {"severity", "flag"}}};
  EXPECT_THAT(describe_document(context, one), HasSubstr("pdf_javascript"));
  EXPECT_THAT(describe_document(context, one), Not(HasSubstr("pdf_attachment")));
  one = document("failed");
  one["processing_error"] =
      json::Object{{"current_error", json::Object{{"error_message", "no text\x1b[2J found"}}}};
  EXPECT_THAT(describe_document(context, one), HasSubstr("no text"));
  EXPECT_THAT(describe_document(context, one), Not(HasSubstr("\x1b")));
}

TEST(DocumentLines, NamesThatWouldMoveTheCursorDoNot) {
  const Context context;
  auto one = document("uploaded");
  one["file_name"] = "a\x1b[2J\nb.pdf";
  EXPECT_THAT(describe_document(context, one), Not(HasSubstr("\n")));
  EXPECT_THAT(describe_document(context, one), Not(HasSubstr("\x1b")));
}

TEST(Documents, OnlyFourStatesAreEnds) {
  for (const auto* state : {"completed", "partial", "failed", "rejected"}) {
    EXPECT_TRUE(has_ended(document(state))) << state;
  }
  for (const auto* state : {"uploaded", "processing", ""}) {
    EXPECT_FALSE(has_ended(document(state))) << state;
  }
  EXPECT_FALSE(has_ended({}));
}

TEST(Documents, IdsAreUuidsAndEachCountsOnce) {
  const std::string id = "0190a000-0000-7000-8000-000000000001";
  EXPECT_EQ(parse_document_ids({id, id})->size(), 1U);
  const auto wrong = parse_document_ids({"letter.pdf"});
  ASSERT_FALSE(wrong.has_value());
  EXPECT_THAT(wrong.error().message, HasSubstr("letter.pdf"));
}

TEST(Sizes, AreRoundedAsPeopleSayThem) {
  EXPECT_EQ(format_size(0), "0 B");
  EXPECT_EQ(format_size(999), "999 B");
  EXPECT_EQ(format_size(1000), "1.0 KB");
  EXPECT_EQ(format_size(999'949), "999.9 KB");
  EXPECT_EQ(format_size(999'950), "1.0 MB");
  EXPECT_EQ(format_size(12'345'678), "12.3 MB");
  EXPECT_EQ(format_size(5'000'000'000'000), "5.0 TB");
  EXPECT_EQ(format_size(5'000'000'000'000'000), "5000.0 TB");
}

}  // namespace
}  // namespace millrace::app
