#include "chunk/text_break.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::chunk {
namespace {

std::vector<std::string> parts(std::string_view text, TextBreak kind) {
  std::vector<std::string> out;
  std::size_t begin = 0;
  for (std::size_t at = 1; at <= text.size(); ++at) {
    if (at < text.size() && !is_text_break(text, at, kind)) continue;
    out.emplace_back(text.substr(begin, at - begin));
    begin = at;
  }
  return out;
}

std::vector<std::string> sentences(std::string_view text) {
  return parts(text, TextBreak::sentence);
}
using Parts = std::vector<std::string>;

TEST(TextBreak, EndsSentencesOfManyScripts) {
  EXPECT_EQ(sentences("One. Two! Three? Four"), (Parts{"One. ", "Two! ", "Three? ", "Four"}));
  EXPECT_EQ(sentences("今日は。明日は！「はい。」次"),
            (Parts{"今日は。", "明日は！", "「はい。」", "次"}));
  EXPECT_EQ(sentences("مرحبا؟ نعم۔ لا"), (Parts{"مرحبا؟ ", "نعم۔ ", "لا"}));
  EXPECT_EQ(sentences("पहला। दूसरा"), (Parts{"पहला। ", "दूसरा"}));
  EXPECT_EQ(sentences("He said “no.” Then (left.) **Bold.** End"),
            (Parts{"He said “no.” ", "Then (left.) ", "**Bold.** ", "End"}));
  EXPECT_EQ(sentences("Wait… What"), (Parts{"Wait… ", "What"}));
}

TEST(TextBreak, IsNotFooledByAbbreviationsInitialsAndNumbers) {
  for (const auto* text :
       {"Dr. Who", "J. R. Tolkien", "e.g. This", "z.B. Das", "am 3. Mai", "Fig. 4", "3.14 is",
        "x.y", "etc. and so on", "a.\u00a0B", "Prof. X", "No. 5", "U.S. Army", "vs. Them"}) {
    EXPECT_EQ(sentences(text), Parts{text});
  }
  EXPECT_EQ(sentences("It was 1999. Then"), (Parts{"It was 1999. ", "Then"}));
}

TEST(TextBreak, PartsWordsAtSpacesThatMayBreak) {
  EXPECT_EQ(parts("a  b\u00a0c\u3000d\te", TextBreak::word),
            (Parts{"a  ", "b\u00a0c\u3000", "d\t", "e"}));
  EXPECT_EQ(parts("a \u0301b c", TextBreak::word), (Parts{"a \u0301b ", "c"}));
}

TEST(TextBreak, TakesTheFirstAfterTheTargetElseTheLastBefore) {
  constexpr std::string_view kText = "aa bb cc dd ee";
  EXPECT_EQ(find_text_break(kText, {.low = 0, .target = 5, .high = 14}, TextBreak::word), 6U);
  EXPECT_EQ(find_text_break(kText, {.low = 0, .target = 13, .high = 14}, TextBreak::word), 12U);
  EXPECT_EQ(find_text_break(kText, {.low = 7, .target = 8, .high = 8}, TextBreak::word),
            std::string_view::npos);
}

}  // namespace
}  // namespace millrace::chunk
