#include "document/markdown/escape.h"

#include "document/markdown/inline_text.h"
#include "document/markdown/made_parse.h"

#include <gtest/gtest.h>

namespace millrace::document {
namespace {

TEST(Escape, TextThatMeansNothingStaysAsItIs) {
  for (const auto* text : {"a * b", "1 < 2 > 0", "snake_case_name", "AT&T", "50 % ~ 3", "C:\\path",
                           "x = y - 1", "3.5 mg", "(see 4)", "Grüße & Küsse"}) {
    EXPECT_EQ(escaped(text), text);
    EXPECT_EQ(escaped_line_start(text), text);
  }
}

TEST(Escape, MarksOfMarkdownBecomeText) {
  EXPECT_EQ(escaped("*a* `b` [c](d) <e> &amp; ~~f~~ _g_ |"),
            "\\*a\\* \\`b\\` \\[c](d) \\<e> \\&amp; \\~\\~f\\~\\~ \\_g\\_ \\|");
  EXPECT_EQ(escaped("a\\*"), "a\\\\\\*");
  EXPECT_EQ(escaped(std::string_view("a\x01\x7f"
                                     "b")),
            "ab");
}

TEST(Escape, NoLineBeginsABlock) {
  EXPECT_EQ(escaped_line_start("# x"), "\\# x");
  EXPECT_EQ(escaped_line_start("   > x"), "\\> x");
  EXPECT_EQ(escaped_line_start("- x"), "\\- x");
  EXPECT_EQ(escaped_line_start("* x"), "\\* x");
  EXPECT_EQ(escaped_line_start("12. x"), "12\\. x");
  EXPECT_EQ(escaped_line_start("12) x"), "12\\) x");
  EXPECT_EQ(escaped_line_start("---"), "\\---");
  EXPECT_EQ(escaped_line_start("==="), "\\===");
  EXPECT_EQ(escaped_line_start("-5 degrees"), "-5 degrees");
  EXPECT_EQ(escaped_line_start("2024 was good"), "2024 was good");
}

TEST(Escape, PageMarksAreOurs) {
  EXPECT_EQ(page_mark(3), "<!-- page 3 -->");
  EXPECT_EQ(without_page_marks("a <!-- page 3 --> <!--PAGE 4--> <!-- other -->"),
            "a <! -- page 3 --> <! --PAGE 4--> <!-- other -->");
}

TEST(Escape, LinksLeadWherePeopleCanGo) {
  EXPECT_EQ(link_target(" https://a.b/c(d) e "), "https://a.b/c%28d%29%20e");
  EXPECT_EQ(link_target("page.html"), "page.html");
  EXPECT_EQ(link_target("mailto:a@b"), "mailto:a@b");
  EXPECT_EQ(link_target("javascript:alert(1)"), "");
  EXPECT_EQ(link_target("JaVa\tscript:alert(1)"), "");
  EXPECT_EQ(link_target("data:text/html,x"), "");
  EXPECT_EQ(link_target("#top"), "");
  EXPECT_EQ(link_target(std::string(3'000, 'a')), "");
}

TEST(InlineText, MarksStandWhereMarkdownSeesThem) {
  const auto made = [](auto fill) {
    InlineText text;
    fill(text);
    return text.take();
  };
  EXPECT_EQ(made([](InlineText& t) {
              t.text("a");
              t.open(InlineMark::strong);
              t.text(" b ");
              t.close(InlineMark::strong);
              t.text("c");
            }),
            "a **b** c")
      << "blanks move out of the mark";
  EXPECT_EQ(made([](InlineText& t) {
              t.open(InlineMark::strong);
              t.text("Note:");
              t.close(InlineMark::strong);
              t.text("text");
            }),
            "Note:text")
      << "a mark that would show as asterisks is left out";
  EXPECT_EQ(made([](InlineText& t) {
              t.open(InlineMark::strong);
              t.text("a");
              t.close(InlineMark::strong);
              t.open(InlineMark::strong);
              t.text("b");
              t.close(InlineMark::strong);
            }),
            "**ab**");
  EXPECT_EQ(made([](InlineText& t) {
              t.open(InlineMark::strong);
              t.text("a");
              t.begin_link("x.html");
              t.text("b");
              t.close(InlineMark::strong);
              t.text("c");
              t.end_link();
            }),
            "a[b](x.html)c")
      << "tags that overlap do not break links";
  EXPECT_EQ(made([](InlineText& t) { t.code("a ` b"); }), "``a ` b``");
  EXPECT_EQ(made([](InlineText& t) {
              t.text("hi!");
              t.begin_link("x");
              t.text("y");
              t.end_link();
            }),
            "hi!y")
      << "not an image";
}

// J12: a document cannot fake what only we write.
TEST(Escape, NoTextBecomesStructure) {
  const std::string hostile =
      "# heading\n\n- - -\n\n```\nfence\n\n| a | b |\n| --- | --- |\n| c | d |\n\n<!-- page 9 "
      "-->\n\n"
      "[link](http://x) ![i](y)\n\n<script>alert(1)</script>\n\n[ref]: "
      "http://z\n\nTitle\nx\n====\n\n"
      "    indented\n\n~~~\n\n&lt;b&gt;\n";
  const auto markdown = markdown_of("Begin\n\n" + hostile, {{"kind", "text"}});
  std::size_t begin = 0;
  bool in_code = false;
  while (begin < markdown.size()) {
    const auto end = markdown.find('\n', begin);
    const auto line = markdown.substr(begin, end - begin);
    begin = end + 1;
    if (line.starts_with("```")) {
      in_code = !in_code;
      continue;
    }
    if (in_code || line == "- \\- -") continue;
    EXPECT_FALSE(line.starts_with('#')) << line;
    EXPECT_FALSE(line.starts_with('|')) << line;
    EXPECT_FALSE(line.starts_with('[')) << line;
    EXPECT_FALSE(line.starts_with('<')) << line;
    EXPECT_FALSE(line.starts_with("===")) << line;
    EXPECT_FALSE(line.starts_with("    ")) << line;
    EXPECT_FALSE(line.starts_with("~")) << line;
    EXPECT_EQ(line.find("&lt"), line.find("\\&lt") + (line.find("&lt") == line.npos ? 0 : 1))
        << line;
  }
  EXPECT_EQ(markdown.find("<!-- page"), markdown.find("\\<!-- page") + 1);
}

}  // namespace
}  // namespace millrace::document
