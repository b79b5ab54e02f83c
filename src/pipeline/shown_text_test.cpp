#include "pipeline/shown_text.h"

#include <gtest/gtest.h>

namespace millrace::pipeline {
namespace {

TEST(ShownText, MarksOfPagesAndRulesOfTablesAreNone) {
  for (const std::string_view text :
       {"", " \n\t\n", "<!-- page 1 -->", "<!-- page 1 -->\n\n<!--  Page 22 -->\n",
        "| --- | :-: |\n|  |  |\n", "<!-- page 3 -->\n\n---\n"}) {
    EXPECT_FALSE(shows_text(text)) << text;
  }
  for (const std::string_view text :
       {"x", "<!-- page 1 -->\n\nx", "<!-- page one -->", "see <!-- page 1 -->", "| --- |\n| 7 |\n",
        "<!-- page 1 --> <!-- page 2 -->", "水"}) {
    EXPECT_TRUE(shows_text(text)) << text;
  }
}

// B-25: a line may end in another piece than it begins in.
TEST(ShownText, PiecesOfAnySizeAreReadAlike) {
  const std::string blank = "<!-- page 1 -->\n\n| --- |\n" + std::string(5'000, '-') + "\n";
  const std::string shown = blank + "<!-- page 2 -->\n\nwater";
  for (const std::size_t size : {1U, 2U, 7U, 4'096U}) {
    ShownText without;
    ShownText with;
    for (std::size_t at = 0; at < shown.size(); at += size) {
      if (at < blank.size()) without.feed(std::string_view(blank).substr(at, size));
      with.feed(std::string_view(shown).substr(at, size));
    }
    without.finish();
    with.finish();
    EXPECT_FALSE(without.found()) << size;
    EXPECT_TRUE(with.found()) << size;
  }
}

TEST(ShownText, ALineWithoutAnEndIsText) {
  ShownText text;
  text.feed("<!-- page 1 -->" + std::string(1'000, 'x'));
  EXPECT_TRUE(text.found());
}

}  // namespace
}  // namespace millrace::pipeline
