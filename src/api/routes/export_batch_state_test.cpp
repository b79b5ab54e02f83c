#include "api/routes/export_batch_state.h"

#include "api/routes/export_documents.h"

#include <boost/json/array.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::api {
namespace {

const BatchId kBatch = *BatchId::parse("0190a000-0000-7000-8000-000000000001");

json::Object job(const std::string& status, int progress, const std::string& finished_at = {}) {
  json::Object out{{"job_id", "0190a000-0000-7000-8000-000000000002"},
                   {"job_name", "export 0190a000-0000-7000-8000-000000000003"},
                   {"status", status},
                   {"progress", progress}};
  if (!finished_at.empty()) out["finished_at"] = finished_at;
  return out;
}

TEST(ExportBatchState, HasBothKindsOfProgress) {
  const auto state = export_batch_json(
      kBatch, {job("completed", 90), job("processing", 50), job("retrying", 0), job("failed", 75)});
  EXPECT_EQ(state.at("totalCount"), json::Value(4));
  EXPECT_EQ(state.at("completedCount"), json::Value(1));
  EXPECT_EQ(state.at("failedCount"), json::Value(1));
  EXPECT_EQ(state.at("progress"), json::Value(25)) << "completed of all";
  EXPECT_EQ(state.at("meanProgress"), json::Value(56)) << "a completed one counts as 100";
  EXPECT_EQ(state.at("finished"), json::Value(false));
  EXPECT_EQ(state.at("jobs").at(2).at("status"), json::Value("pending"))
      << "the source knows no retrying";
  EXPECT_EQ(state.at("jobs").at(0).at("documentId"),
            json::Value("0190a000-0000-7000-8000-000000000003"));
}

TEST(ExportBatchState, EndsWithItsLastJobAndAgainWhenOneWasStartedAgain) {
  const std::string early = "2026-11-18T10:00:00+00:00";
  const std::string late = "2026-11-18T10:00:07+00:00";
  EXPECT_EQ(export_batch_end({job("completed", 100, early), job("processing", 50)}), "");
  const auto end = export_batch_end({job("completed", 100, late), job("cancelled", 0, early)});
  EXPECT_EQ(end, "202611181000070000");
  const auto again = export_batch_end(
      {job("completed", 100, late), job("completed", 100, "2026-11-18T10:05:00+00:00")});
  EXPECT_NE(again, end);
  EXPECT_NE(again, "");
}

class OneTemplate final : public TemplateDirectory {
 public:
  const std::vector<TemplateEntry>& list() const override { return entries_; }
  std::vector<schema::Violation> check(std::string_view, const json::Value& data) const override {
    if (data.as_object().contains("name")) return {};
    return {{.instance_path = "/person", .keyword = "required", .message = "name is missing"}};
  }

 private:
  std::vector<TemplateEntry> entries_{{.slug = "minimal"}};
};

TEST(TemplateErrors, NameThePlaceInTheRequestAndTheRule) {  // H-23
  const OneTemplate templates;
  EXPECT_TRUE(
      template_errors(templates, {.slug = "minimal"}, json::Object{{"name", "Ada"}}).empty());
  const auto wrong = template_errors(templates, {.slug = "minimal"}, json::Object());
  ASSERT_EQ(wrong.size(), 1U);
  EXPECT_EQ(wrong[0].pointer, "#/data/person");
  EXPECT_EQ(wrong[0].rule, "required");
  const auto unknown = template_errors(templates, {.slug = "x"}, json::Object());
  ASSERT_EQ(unknown.size(), 1U);
  EXPECT_EQ(unknown[0].pointer, "#/templateSlug");
  EXPECT_THAT(unknown[0].detail, testing::HasSubstr("minimal"));
}

}  // namespace
}  // namespace millrace::api
