#include "base/json_outside.h"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(MendSurrogates, HalvesOfPairsAreReplaced) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("cut \ud83d")", R"("cut \ufffd")"},
      {R"("\uDE00 late")", R"("\ufffd late")"},
      {R"("\ud83d\ud83d\ude00")", R"("\ufffd\ud83d\ude00")"},
      {R"("\ude00\ud83d")", R"("\ufffd\ufffd")"},
      {R"("\ud83dude00")", R"("\ufffdude00")"},
      {R"("\ud83d\\ude00")", R"("\ufffd\\ude00")"},
      {R"("\\\ud83d")", R"("\\\ufffd")"},
      {R"({"\ud83d":"\ud83d\n"})", R"({"\ufffd":"\ufffd\n"})"}};
  for (const auto& [text, expected] : cases) {
    EXPECT_FALSE(parse_json(text)) << text;
    const auto mended = mend_surrogates(text);
    ASSERT_TRUE(mended) << text;
    EXPECT_EQ(*mended, expected);
    EXPECT_TRUE(parse_json(*mended)) << text;
    EXPECT_FALSE(mend_surrogates(*mended)) << text;
  }
}

TEST(MendSurrogates, WhatIsWholeOrNoEscapeStays) {
  for (const auto* text :
       {"", "\\", "\"\\u", R"("\ud83d\ude00")", R"("\\ud83d")", R"("\\\\ude00")",
        R"("\ud7ff\ue000")", R"("\ud83")", R"("\ud83g")", R"("ud83d")", R"("\u+d83d")", "\"\\"}) {
    EXPECT_FALSE(mend_surrogates(text)) << text;
  }
}

TEST(SaysNothing, OfWhatHoldsNothing) {
  for (const auto* text : {"null", "false", "0", R"("")", "[]", "{}", "[null,0]",
                           R"({"message":"","code":null})", R"([{"errors":[]}])"}) {
    EXPECT_TRUE(says_nothing(*parse_json(text))) << text;
  }
  for (const auto* text : {"true", "1", R"(" ")", R"(["x"])", R"({"code":7})", "[[[[[[]]]]]]"}) {
    EXPECT_FALSE(says_nothing(*parse_json(text))) << text;
  }
}

}  // namespace
}  // namespace millrace
