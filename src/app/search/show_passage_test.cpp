#include "app/search/show_passage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::app {
namespace {

using testing::HasSubstr;
using testing::Not;

json::Object hit(std::string_view text, std::string_view highlights) {
  return *parse_json_object(fmt::format(
      R"({{"rank":1,"score":0.4125,"document_id":"d-1","document_name":"a.md","heading_path":["Policy","Home"],
          "page_start":2,"page_end":3,"passage":{{"text":{},"start_byte":100,"end_byte":140,"highlights":{}}}}})",
      text, highlights));
}

TEST(ShowPassage, TellsDocumentPlaceBytesAndScore) {
  const Terminal terminal{.unicode = true};
  const auto shown = show_passage(terminal, hit(R"("Staff may work\nfrom  home.")", "[]"));
  EXPECT_THAT(shown, HasSubstr("1. a.md\n"));
  EXPECT_THAT(shown, HasSubstr("Policy › Home › pages 2-3\n"));
  EXPECT_THAT(shown, HasSubstr("document d-1, bytes 100-140, score 0.412"));
  EXPECT_THAT(shown, HasSubstr("   Staff may work from home.\n"));
}

TEST(ShowPassage, MarksTheWordsFound) {
  const auto row = hit(R"("Größe of pumps")", "[[111,116]]");
  EXPECT_THAT(show_passage({}, row), HasSubstr("Größe of [pumps]"));
  EXPECT_THAT(show_passage({.color = true}, row), HasSubstr("\x1b["));
  EXPECT_THAT(show_passage({.color = true}, row), Not(HasSubstr("[pumps]")));
}

TEST(ShowPassage, IsNotConfusedByMarksOutsideOrWithinEachOther) {
  const auto row = hit(R"("abc def")", "[[90,95],[100,103],[101,102],[104,999]]");
  EXPECT_THAT(show_passage({}, row), HasSubstr("   [abc] def\n"));
}

TEST(ShowPassage, WrapsAtTheWidthAndShowsNoControlCharacters) {
  std::string words;
  for (int i = 0; i < 40; ++i) words += "word ";
  const auto shown =
      show_passage({.width = 50}, hit(fmt::format("\"{}\\u001b[31m\"", words), "[]"));
  EXPECT_THAT(shown, Not(HasSubstr("\x1b")));
  for (std::size_t at = 0; at < shown.size();) {
    const auto end = shown.find('\n', at);
    EXPECT_LE(display_width(shown.substr(at, end - at)), 60U);
    at = end + 1;
  }
}

}  // namespace
}  // namespace millrace::app
