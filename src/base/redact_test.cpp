#include "base/redact.h"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(Redact, ReplacesContentAtEveryDepth) {  // T-09
  EXPECT_EQ(redact_text(R"({"page":1,"text":"Jane Doe"})"),
            R"({"page":1,"text":"[REDACTED - 8 chars]"})");
  EXPECT_EQ(redact_text(R"([{"a":{"chunks":[{"content":"héllo","id":7}]}}])"),
            R"([{"a":{"chunks":[{"content":"[REDACTED - 5 chars]","id":7}]}}])");
  EXPECT_EQ(redact_text(R"({"embedding":[0.1,0.25],"vector":{"x":1}})"),
            R"({"embedding":"[REDACTED - 10 chars]","vector":"[REDACTED - 7 chars]"})");
}

TEST(Redact, LeavesTheRestAsItIs) {
  for (const auto* const text :
       {R"({"message":"the text is gone","context":"content"})", R"({"text":null})", "plain text",
        R"(said "content" twice)", "", "  ", R"({"texts":1,"Content-Type":2})"}) {
    EXPECT_EQ(redact_text(text), text);
  }
  const auto once = redact_text(R"({"text":"Jane Doe"})");
  EXPECT_EQ(redact_text(once), once);
}

TEST(Redact, CutsWhatCannotBeReadBeforeItSaysAnything) {
  EXPECT_EQ(redact_text(R"({"page":1,"text":"Jane D)"), R"({"page":1,[REDACTED - 14 chars])");
  EXPECT_EQ(redact_text(R"({"content": Jane})"), "{[REDACTED - 16 chars]");
}

}  // namespace
}  // namespace millrace
