#include "pipeline/shown_text.h"

#include <gtest/gtest.h>

namespace millrace::pipeline {
namespace {

TEST(ShownText, MarksOfPagesAndRulesOfTablesAreNone) {
  for (const std::string_view text :
       {"", " \n\t\n", "<!-- page 1 -->", "<!-- page 1 -->\n\n<!--  Page 22 -->\n",
        "| --- | :-: |\n|  |  |\n", "<!-- page 3 -->\n\n---\n", "\u00a0",
        "<!-- page 1 -->\n\n\u200b\u200c\u200d\n", "\ufeff\u2060\n", "| \u00ad | \u3000 |\n"}) {
    EXPECT_FALSE(shows_text(text)) << text;
  }
  for (const std::string_view text :
       {"x", "<!-- page 1 -->\n\nx", "<!-- page one -->", "see <!-- page 1 -->", "| --- |\n| 7 |\n",
        "<!-- page 1 --> <!-- page 2 -->", "水", "\u00a0x", "\u200b\u00e9", "\xc2", "\xe2\x80\n"}) {
    EXPECT_TRUE(shows_text(text)) << text;
  }
}

// B-25: a line may end in another piece than it begins in.
TEST(ShownText, PiecesOfAnySizeAreReadAlike) {
  const std::string blank = "<!-- page 1 -->\n\n| --- |\n" + std::string(5'000, '-') +
                            "\n\u00a0\u3000\ufeff \u200b\n\u00ad\n";
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

TEST(ShownText, BlankIsWhatNobodySees) {
  for (const auto* text : {"", " \n\t\f", "\u00a0\u00ad\u200b\u200d\u2060\u3000\ufeff"}) {
    EXPECT_TRUE(is_blank(text)) << text;
  }
  for (const auto* text : {"-", " | ", "\u200b.", "\ufffd", "\xc2"}) {
    EXPECT_FALSE(is_blank(text)) << text;
  }
}

TEST(ShownText, ALineWithoutAnEndIsText) {
  ShownText text;
  text.feed("<!-- page 1 -->" + std::string(1'000, 'x'));
  EXPECT_TRUE(text.found());
}

}  // namespace
}  // namespace millrace::pipeline
