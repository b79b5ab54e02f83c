#include "base/json_members.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <gtest/gtest.h>

#include <limits>

namespace millrace {
namespace {

TEST(JsonMembers, AreReadByTheirKindAndEmptyOtherwise) {
  const auto object = *parse_json_object(
      R"({"text":"a","number":1.5,"whole":-7,"yes":true,"object":{"b":1},"list":[1],"null":null})");
  EXPECT_EQ(text_member(object, "text"), "a");
  EXPECT_EQ(number_member(object, "number"), 1.5);
  EXPECT_EQ(number_member(object, "whole"), -7);
  EXPECT_EQ(int_member(object, "whole"), -7);
  EXPECT_EQ(int_member(object, "number"), 2);
  EXPECT_TRUE(bool_member(object, "yes"));
  EXPECT_EQ(object_member(object, "object")->at("b"), 1);
  EXPECT_EQ(array_member(object, "list")->size(), 1U);
  EXPECT_NE(member(object, "null"), nullptr);
  for (const auto* name : {"null", "missing"}) {
    EXPECT_EQ(text_member(object, name), "");
    EXPECT_EQ(number_member(object, name), 0);
    EXPECT_EQ(int_member(object, name), 0);
    EXPECT_FALSE(bool_member(object, name));
    EXPECT_EQ(object_member(object, name), nullptr);
    EXPECT_EQ(array_member(object, name), nullptr);
  }
  EXPECT_EQ(text_member(object, "whole"), "");
  EXPECT_EQ(int_member(object, "text"), 0);
  EXPECT_EQ(object_member(object, "list"), nullptr);
  EXPECT_EQ(array_member(object, "object"), nullptr);
  EXPECT_EQ(member(object, "missing"), nullptr);
}

TEST(JsonMembers, WholeNumbersAreBoundedByTheirType) {
  const auto object =
      *parse_json_object(R"({"large":18446744073709551615,"huge":1e300,"low":-1e300})");
  EXPECT_EQ(int_member(object, "large"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(int_member(object, "huge"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(int_member(object, "low"), std::numeric_limits<std::int64_t>::min());
}

}  // namespace
}  // namespace millrace
