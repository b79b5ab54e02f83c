#include "app/commands/import_summary.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::app {
namespace {

using ::testing::ElementsAre;

json::Array report(std::string_view text) {
  const auto value = parse_json(text);
  EXPECT_TRUE(value.has_value());
  return value->as_array();
}

constexpr std::string_view kBefore = R"([
  {"source_type": "mail", "job_type": "mail", "queue": "default", "is_new": true,
   "reason": null, "jobs": 10, "example": "a"},
  {"source_type": "mail", "job_type": "mail", "queue": "default", "is_new": true,
   "reason": "running", "jobs": 2, "example": "b"},
  {"source_type": "bad name", "job_type": "bad name", "queue": "default", "is_new": true,
   "reason": "its name cannot be a job type: map it", "jobs": 3, "example": "c"}])";

TEST(ImportSummary, SaysWhatWouldBeMovedAndWhatWouldStay) {
  const ImportSummary summary(report(kBefore));
  EXPECT_EQ(summary.to_move(), 10);
  EXPECT_EQ(summary.left(), 5);
  EXPECT_THAT(summary.idle_types(), ElementsAre("bad name"));
  EXPECT_EQ(canonical_json(summary.rows()[1]),
            R"({"job_type":"mail","left_alone":2,"live":12,"new_type":true,"queue":"default",)"
            R"("reasons":[{"example":"b","jobs":2,"reason":"running"}],"source_type":"mail",)"
            R"("to_move":10})");
}

TEST(ImportSummary, LiveIsWhatWasMovedAndWhatIsLeft) {
  ImportSummary summary(report(kBefore));
  summary.add_moved("mail", 7);
  // One of the running ones ended meanwhile; three are held by somebody; another type has come.
  summary.close(report(R"([
    {"source_type": "mail", "job_type": "mail", "queue": "default", "is_new": false,
     "reason": null, "jobs": 3, "example": "d"},
    {"source_type": "mail", "job_type": "mail", "queue": "default", "is_new": false,
     "reason": "running", "jobs": 1, "example": "b"},
    {"source_type": "late", "job_type": "late", "queue": "default", "is_new": true,
     "reason": null, "jobs": 1, "example": "e"}])"));
  EXPECT_EQ(summary.moved(), 7);
  EXPECT_EQ(summary.left(), 5);
  for (const auto& value : summary.rows()) {
    const auto& row = value.as_object();
    EXPECT_EQ(int_member(row, "live"), int_member(row, "moved") + int_member(row, "left_alone"));
  }
  EXPECT_EQ(canonical_json(summary.rows()[2].at("reasons")),
            R"([{"example":"d","jobs":3,"reason":"not moved yet"},)"
            R"({"example":"b","jobs":1,"reason":"running"}])");
}

}  // namespace
}  // namespace millrace::app
