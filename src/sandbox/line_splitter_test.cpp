#include "sandbox/line_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::sandbox {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Overlong = LineSplitter::Overlong;

struct Split {
  std::vector<std::string> lines;
  bool truncated = false;
};

Split split(LineSplitter::Options options, const std::vector<std::string>& chunks) {
  Split result;
  LineSplitter splitter(std::move(options),
                        [&](std::string_view line) { result.lines.emplace_back(line); });
  for (const auto& chunk : chunks) splitter.feed(chunk);
  splitter.finish();
  result.truncated = splitter.truncated();
  return result;
}

LineSplitter::Options generous() { return {.line_max_bytes = 100, .total_max_bytes = 1000}; }

TEST(LineSplitter, JoinsChunksAndSplitsAtLineEnds) {
  const auto result = split(generous(), {"on", "e\ntwo\n\nfo", "ur\r", "\nfive"});
  EXPECT_THAT(result.lines, ElementsAre("one", "two", "", "four", "five"));
  EXPECT_FALSE(result.truncated);
}

TEST(LineSplitter, HandsOutNothingForNoBytes) {
  EXPECT_THAT(split(generous(), {}).lines, IsEmpty());
  EXPECT_THAT(split(generous(), {""}).lines, IsEmpty());
}

TEST(LineSplitter, GivesTheSameLinesForEveryWayOfCuttingTheInput) {
  const std::string text = "a\r\nbcd\n\nefghijkl\r\rm\n\xC3\xA4\xC3\xB6\xC3\xBC\nlast";
  const LineSplitter::Options options{.line_max_bytes = 5, .total_max_bytes = 1000};
  const auto whole = split(options, {text});
  for (std::size_t first = 0; first <= text.size(); ++first) {
    for (std::size_t second = first; second <= text.size(); ++second) {
      const auto parts = split(options, {text.substr(0, first), text.substr(first, second - first),
                                         text.substr(second)});
      ASSERT_EQ(parts.lines, whole.lines) << first << " " << second;
    }
  }
}

TEST(LineSplitter, KeepsALineOfExactlyTheMaximum) {
  const LineSplitter::Options options{.line_max_bytes = 4, .total_max_bytes = 1000};
  EXPECT_THAT(split(options, {"1234\n1234\r\n1234"}).lines, ElementsAre("1234", "1234", "1234"));
}

TEST(LineSplitter, CutsALongLineAndGoesOnWithTheNext) {
  const LineSplitter::Options options{.line_max_bytes = 4, .total_max_bytes = 1000};
  const auto result = split(options, {"12345", std::string(5000, 'x'), "\nok\n"});
  EXPECT_THAT(result.lines, ElementsAre("1234 [line cut]", "ok"));
  EXPECT_FALSE(result.truncated);
}

TEST(LineSplitter, CutsALongLastLineWithoutLineEnd) {
  const LineSplitter::Options options{.line_max_bytes = 4, .total_max_bytes = 1000};
  EXPECT_THAT(split(options, {"123456789"}).lines, ElementsAre("1234 [line cut]"));
}

TEST(LineSplitter, NeverCutsInsideACharacter) {
  const LineSplitter::Options options{.line_max_bytes = 4, .total_max_bytes = 1000};
  EXPECT_THAT(split(options, {"123\xC3\xA4xxxx\n"}).lines, ElementsAre("123 [line cut]"));
  EXPECT_THAT(split(options, {"12\xC3\xA4xxxx\n"}).lines, ElementsAre("12\xC3\xA4 [line cut]"));
  EXPECT_THAT(split(options, {"1\xF0\x9F\x98\x80xxxx\n"}).lines, ElementsAre("1 [line cut]"));
  EXPECT_THAT(split(options, {std::string(9, '\x80') + "\n"}).lines,
              ElementsAre(std::string(4, '\x80') + " [line cut]"));
}

TEST(LineSplitter, DropsOverlongLinesWhenAskedTo) {
  const LineSplitter::Options options{
      .line_max_bytes = 4, .total_max_bytes = 1000, .overlong = Overlong::drop};
  const auto result = split(options, {"12345\nok\n"});
  EXPECT_THAT(result.lines, ElementsAre("ok"));
  EXPECT_TRUE(result.truncated);
}

TEST(LineSplitter, ReportsTruncationOnceAndDropsTheRest) {
  const LineSplitter::Options options{
      .line_max_bytes = 100, .total_max_bytes = 8, .truncation_notice = "output truncated"};
  const auto result = split(options, {"one\ntwo\nx\ny\n", "z\n", "last"});
  EXPECT_THAT(result.lines, ElementsAre("one", "two", "output truncated"));
  EXPECT_TRUE(result.truncated);
}

TEST(LineSplitter, CountsEmptyLinesTowardsTheTotal) {
  const LineSplitter::Options options{.line_max_bytes = 100, .total_max_bytes = 3};
  const auto result = split(options, {std::string(1000, '\n')});
  EXPECT_THAT(result.lines, ElementsAre("", "", ""));
  EXPECT_TRUE(result.truncated);
}

TEST(LineSplitter, WorksWithoutASink) {
  LineSplitter splitter(generous(), nullptr);
  splitter.feed("line\n");
  splitter.finish();
  EXPECT_FALSE(splitter.truncated());
}

}  // namespace
}  // namespace millrace::sandbox
