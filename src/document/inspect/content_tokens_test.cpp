#include "document/inspect/content_tokens.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::document {
namespace {

// "name(bytes of strings, last name)" of every operator, fed in pieces of `step` bytes.
std::string operations(std::string_view content, std::size_t step = 1'000) {
  std::string seen;
  ContentTokens tokens([&](const ContentTokens::Operation& operation) {
    if (!seen.empty()) seen += ' ';
    seen += std::string(operation.name) + std::to_string(operation.string_bytes) +
            std::string(operation.last_name);
  });
  for (; !content.empty(); content.remove_prefix(std::min(step, content.size()))) {
    tokens.add(content.substr(0, step));
  }
  tokens.finish();
  return seen;
}

TEST(ContentTokens, CountsStringsBeforeTheirOperator) {
  EXPECT_EQ(operations("BT /F1 12 Tf (abc) Tj ET"), "BT0 Tf0/F1 Tj3/F1 ET0/F1");
  EXPECT_EQ(operations("[(ab) -20 (cd)] TJ"), "TJ4");
  EXPECT_EQ(operations("<48656c6c6f> Tj"), "Tj5");
  EXPECT_EQ(operations("(a\\)b(c)d) Tj"), "Tj7");
  EXPECT_EQ(operations("(x) '"), "'1");
}

TEST(ContentTokens, PassesOverCommentsDictionariesAndImages) {
  EXPECT_EQ(operations("% (no text) Tj\nq"), "q0");
  EXPECT_EQ(operations("/P << /MCID 0 >> BDC q"), "BDC0/MCID q0/MCID");
  EXPECT_EQ(operations("BI /W 1 ID (((( Tj \xff EI (ab) Tj"), "BI0 ID0/W Tj2/W");
}

TEST(ContentTokens, PiecesDoNotMatter) {
  const std::string content = "BT /F1 12 Tf (a\\(bc) Tj <4142> Tj BI ID x EIx EI [(q)] TJ ET";
  const auto whole = operations(content);
  for (std::size_t step = 1; step < 10; ++step) EXPECT_EQ(operations(content, step), whole);
}

}  // namespace
}  // namespace millrace::document
