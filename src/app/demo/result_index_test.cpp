#include "app/demo/result_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::app {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ResultIndex, LinksOutputsBesideThePageAndEscapesNames) {
  const auto page = result_index({{.file = "a <b> & c.pdf",
                                   .state = "completed",
                                   .rules = "",
                                   .outputs = {{"pdf", "document.pdf"}, {"picture", "page-1.png"}}},
                                  {.file = "virus.txt", .state = "rejected", .rules = "virus"}});
  EXPECT_THAT(page, HasSubstr("a &lt;b&gt; &amp; c.pdf"));
  EXPECT_THAT(page, HasSubstr("href=\"a%20%3Cb%3E%20%26%20c.pdf/document.pdf\""));
  EXPECT_THAT(page, HasSubstr("<img src=\"a%20%3Cb%3E%20%26%20c.pdf/page-1.png\""));
  EXPECT_THAT(page, HasSubstr("rejected"));
  EXPECT_THAT(page, Not(HasSubstr("virus.txt/")));
}

}  // namespace
}  // namespace millrace::app
