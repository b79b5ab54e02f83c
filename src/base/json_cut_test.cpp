#include "base/json_cut.h"

#include "base/json.h"

#include <boost/json/array.hpp>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace {
namespace {

TEST(JsonCut, FindsAMemberWhateverStandsBeforeIt) {
  const std::string text =
      R"( {"a": "x\"y}]", "b" :{"page":[1,{"c":"]"}]} , "page":[ {"d":1}, 2 ],)"
      R"("z":true} )";
  const auto cut = cut_json_member(text, "page");
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->value, R"([ {"d":1}, 2 ])");
  EXPECT_EQ(std::string(cut->before) + std::string(cut->value) + std::string(cut->after), text);
  EXPECT_TRUE(parse_json(std::string(cut->before) + "null" + std::string(cut->after)));
  EXPECT_EQ(cut_json_member(text, "z")->value, "true");
  EXPECT_FALSE(cut_json_member(text, "c"));
}

TEST(JsonCut, WhatIsNoObjectIsNotCut) {
  for (const auto* text : {"", "[]", "{", R"({"a)", R"({"a":)", R"({"a":[)", R"({"a":"\)", "null",
                           R"({"b":1 "a":2})", R"({"b":{"a":1})"}) {
    EXPECT_FALSE(cut_json_member(text, "a")) << text;
  }
}

std::vector<std::string> slices(std::string_view text, std::size_t count, bool* whole) {
  std::vector<std::string> out;
  *whole = for_json_elements(text, count, [&](std::string_view part) {
    out.emplace_back(part);
    return true;
  });
  return out;
}

TEST(JsonCut, AnArrayComesAFewElementsAtATime) {
  bool whole = false;
  EXPECT_EQ(slices(R"([1,"],",[2,{}], {"a":[]} ,5])", 2, &whole),
            (std::vector<std::string>{R"(1,"],")", R"([2,{}], {"a":[]})", "5"}));
  EXPECT_TRUE(whole);
  EXPECT_TRUE(slices(" [ ] ", 2, &whole).empty());
  EXPECT_TRUE(whole);
  EXPECT_EQ(slices("[1,2]", 2, &whole), (std::vector<std::string>{"1,2"}));
  EXPECT_TRUE(whole);
}

TEST(JsonCut, ArraysThatAreNoneAreSeen) {
  for (const auto* text :
       {"", "[", "[1", "[1,", "[1,]", "[,1]", "[1,,2]", "[1 2]", "[1]x", "{}", R"(["a)"}) {
    for (const std::size_t count : {1U, 2U, 9U}) {
      bool whole = true;
      slices(text, count, &whole);
      EXPECT_FALSE(whole) << text;
    }
  }
}

TEST(JsonCut, WhoeverHasEnoughIsAskedNoMore) {
  int asked = 0;
  EXPECT_FALSE(for_json_elements("[1,2,3]", 1, [&](std::string_view) { return ++asked < 2; }));
  EXPECT_EQ(asked, 2);
}

}  // namespace
}  // namespace millrace
