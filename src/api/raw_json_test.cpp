#include "api/raw_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::api {
namespace {

TEST(RawMember, GivesTheValueAsItWasWritten) {
  const std::string_view text =
      R"( { "a" : 1.00000000000000000001 , "b":[1, {"c": "]\"}"}], "c" :{"a":2},"d":"x\\", "e":null} )";
  EXPECT_EQ(raw_member(text, "a"), "1.00000000000000000001");
  EXPECT_EQ(raw_member(text, "b"), R"([1, {"c": "]\"}"}])");
  EXPECT_EQ(raw_member(text, "c"), R"({"a":2})");
  EXPECT_EQ(raw_member(text, "d"), R"("x\\")");
  EXPECT_EQ(raw_member(text, "e"), "null");
  EXPECT_EQ(raw_member(text, "f"), std::nullopt);
}

TEST(RawMember, SeesTheOutermostObjectOnly) {
  EXPECT_EQ(raw_member(R"({"a":{"b":1}})", "b"), std::nullopt);
  EXPECT_EQ(raw_member(R"({"x":"\"b\":2","b":3})", "b"), "3");
  EXPECT_EQ(raw_member("{}", "b"), std::nullopt);
  EXPECT_EQ(raw_member("[]", "b"), std::nullopt);
  EXPECT_EQ(raw_member("", "b"), std::nullopt);
}

TEST(RawMember, ANameWithEscapesIsTheNameItStandsFor) {
  EXPECT_EQ(raw_member(R"({"\u0061":2, "\u0062":1.10})", "b"), "1.10");
  EXPECT_EQ(raw_member(R"({"a\"b":3})", "a\"b"), "3");
  EXPECT_EQ(raw_member(R"({"a\"b":3})", "a"), std::nullopt);
}

TEST(RawElements, AreTheElementsAsTheyWereWritten) {
  EXPECT_THAT(raw_elements(R"( [ 1.10 ,{"a":[1,2]}, "],\"", [ ] ,null] )"),
              testing::ElementsAre("1.10", R"({"a":[1,2]})", R"("],\"")", "[ ]", "null"));
  EXPECT_THAT(raw_elements("[]"), testing::IsEmpty());
  EXPECT_THAT(raw_elements(" [ ] "), testing::IsEmpty());
  EXPECT_THAT(raw_elements("{}"), testing::IsEmpty());
  EXPECT_THAT(raw_elements(""), testing::IsEmpty());
}

}  // namespace
}  // namespace millrace::api
