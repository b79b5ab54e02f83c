// Markdown in containers: what is code stays as it is.
#include "document/markdown/made_parse.h"

#include <gtest/gtest.h>

namespace millrace::document {
namespace {

Parsed read_back(std::string_view text) { return parsed(text, {{"kind", "markdown"}}); }

TEST(MarkdownReader, FencesWithinListsAndQuotesAreCode) {
  for (const std::string_view text :
       {"- ```sh\n  make  \n\n\n  # no heading\n  ```\n\nText\n",
        "1. Do this:\n\n    ```sh\n    a  \n\n\n    b\n    ```\n2. Next\n",
        "-\tItem\n\n\t```\n\ta  \n\n\n\tb\n\t```\n", "> ```\n> a  \n>\n>\n> b\n> ```\n> Text\n",
        "> - ~~~\n>   a  \n>   ~~~\n", "* a\n  * b\n\n    ```\n    ===\n    ```\n* c\n"}) {
    const auto out = read_back(text);
    EXPECT_EQ(out.markdown, text);
    EXPECT_EQ(out.warnings(), "") << text;
  }
}

TEST(MarkdownReader, WhatIsSetInIsCode) {
  for (const std::string_view text :
       {"Text\n\n    a  \n\n\n    b\n\nText\n", "Text\n\n\tmake  \n\n\n\tinstall\n",
        "Text\n\n    ```\n    no fence  \n\nText\n"}) {
    const auto out = read_back(text);
    EXPECT_EQ(out.markdown, text);
    EXPECT_EQ(out.warnings(), "") << text;
  }
  EXPECT_EQ(read_back("Text\n    goes on  \nhere\n").markdown, "Text\n    goes on\\\nhere\n");
}

TEST(MarkdownReader, BreaksBeforeAnotherBlockAreNone) {
  EXPECT_EQ(read_back("- a  \n- b  \n- c\n").markdown, "- a\n- b\n- c\n");
  EXPECT_EQ(read_back("text  \n> q  \n> r\n").markdown, "text\n> q\\\n> r\n");
  EXPECT_EQ(read_back("text  \n***\n").markdown, "text\n***\n");
  EXPECT_EQ(read_back("> text  \n***\n").markdown, "> text\n***\n");
  EXPECT_EQ(read_back("text  \n2. no item\n").markdown, "text\\\n2. no item\n");
}

TEST(MarkdownReader, ARuleIsNoParagraph) {
  EXPECT_EQ(read_back("\n***\n---\n").markdown, "***\n---\n");
  EXPECT_EQ(read_back("---\n    code  \n").markdown, "---\n    code  \n");
  EXPECT_EQ(read_back("***  \ntext\n").markdown, "***\ntext\n");
}

TEST(MarkdownReader, AParagraphGoesOnWhateverIsSetIn) {
  EXPECT_EQ(read_back("Text\n    # not a heading\n    more  \nx\n").markdown,
            "Text\n    # not a heading\n    more\\\nx\n");
  EXPECT_EQ(read_back("Text\n    ***\n    more  \nx\n").markdown, "Text\n    ***\n    more\\\nx\n");
  EXPECT_EQ(read_back("> Text\n    # no heading\n    more  \nx\n").markdown,
            "> Text\n    # no heading\n    more\\\nx\n");
}

TEST(MarkdownReader, MarksAtTheEndOfAHeadingStay) {
  EXPECT_EQ(read_back("C #\n---\n").markdown, "## C \\#\n");
  EXPECT_EQ(read_back("A ##  \n===\n").markdown, "# A \\##\n");
  EXPECT_EQ(read_back("C#\n---\n").markdown, "## C#\n");
  EXPECT_EQ(read_back("C \\#\n---\n").markdown, "## C \\#\n");
}

TEST(MarkdownReader, AFenceEndsWithItsContainer) {
  const auto out =
      read_back("> ```\n> code\n\ntext  \nmore\n\n\n- ```\n  code\n\nlast  \n\n\nend\n");
  EXPECT_EQ(out.markdown, "> ```\n> code\n\ntext\\\nmore\n\n- ```\n  code\n\nlast\n\nend\n");
  EXPECT_EQ(out.warnings(), "");
}

TEST(MarkdownReader, AFenceThatIsOpenAtTheEndIsClosedWhereItStands) {
  const auto item = read_back("1. Text\n\n   ```c\n   code\n");
  EXPECT_EQ(item.markdown, "1. Text\n\n   ```c\n   code\n   ```\n");
  EXPECT_EQ(item.warnings(), "open_fence");
  EXPECT_EQ(read_back("> ~~~~\n> code\n").markdown, "> ~~~~\n> code\n> ~~~~\n");
}

TEST(MarkdownReader, BreaksAndUnderlinesWithinContainers) {
  EXPECT_EQ(read_back("- one  \n  two\n").markdown, "- one\\\n  two\n");
  EXPECT_EQ(read_back("> one  \n> two  \n>\n> three\n").markdown, "> one\\\n> two\n>\n> three\n");
  EXPECT_EQ(read_back("- # Head  \n- b\n").markdown, "- # Head\n- b\n");
  EXPECT_EQ(read_back("- a\n\n  Head\n  ----\n").markdown, "- a\n\n  Head\n  ----\n")
      << "it stays in its item";
  EXPECT_EQ(read_back("| a | b |  \n|---|---|  \n| 1 | 2 |  \n").markdown,
            "| a | b |\n|---|---|\n| 1 | 2 |\n");
  EXPECT_EQ(read_back("Head\n---\n\n- item\n---\nText\n").markdown,
            "## Head\n\n- item\n---\nText\n");
}

}  // namespace
}  // namespace millrace::document
