#include "app/commands/import_map.h"

#include <boost/json/object.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::app {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string refused(std::string_view text) {
  const auto map = parse_import_map(text, "map.toml");
  return map ? "accepted: " + to_json(*map) : map.error().message;
}

TEST(ImportMap, IsTheJsonThatTheDatabaseTakes) {
  const auto map = parse_import_map(R"(
queue = "mails"
priority = 100
rows = "delete"
parse_queued = "uploaded"
[types]
"send mail/now" = "send_mail"
"dotted.name" = "dotted"
report = { type = "report_generation", queue = "system" }
noise = { skip = true }
)",
                                    "map.toml");
  ASSERT_TRUE(map.has_value()) << map.error().message;
  EXPECT_EQ(canonical_json(*map),
            R"({"parse_queued":"uploaded","priority":100,"queue":"mails","rows":"delete",)"
            R"("types":{"dotted.name":"dotted","noise":{"skip":true},)"
            R"("report":{"queue":"system","type":"report_generation"},)"
            R"("send mail/now":"send_mail"}})");
  EXPECT_EQ(canonical_json(*parse_import_map("", "map.toml")), "{}");
}

TEST(ImportMap, BadValuesAreRefusedByLineAndRule) {
  EXPECT_EQ(refused("queue = 7"), "map.toml:1: queue must be the name of a queue");
  EXPECT_EQ(refused("\npriority = 1001"),
            "map.toml:2: priority must be a whole number between 0 and 1000");
  EXPECT_EQ(refused("priority = 1.5"),
            "map.toml:1: priority must be a whole number between 0 and 1000");
  EXPECT_EQ(refused("rows = \"burn\""), "map.toml:1: rows must be keep or delete");
  EXPECT_EQ(refused("parse_queued = true"), "map.toml:1: parse_queued must be wait or uploaded");
  EXPECT_EQ(refused("kueue = \"x\""), "map.toml:1: unknown key kueue");
  EXPECT_THAT(refused("[types]\nreport = 7"), StartsWith("map.toml:2: types.report must be "));
  EXPECT_THAT(refused("[types]\nreport = { typ = \"x\" }"), HasSubstr("a table with type, queue"));
  EXPECT_THAT(refused("[types]\nreport = { skip = \"yes\" }"), HasSubstr("types.report must be"));
  EXPECT_THAT(refused("[types]\nreport = \"\""), HasSubstr("types.report must be"));
  EXPECT_THAT(refused("[[types]]\na = 1"), HasSubstr("[[types]] has no meaning here"));
  EXPECT_THAT(refused("queue = "), StartsWith("map.toml:1:"));
}

}  // namespace
}  // namespace millrace::app
