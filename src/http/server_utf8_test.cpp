#include "http/server_utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::http {
namespace {

TEST(Utf8, EveryCodePointIsAcceptedAndEveryNeighbourIsNot) {
  for (const auto* good :
       {"", "a", "\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
        "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(is_utf8(good)) << testing::PrintToString(good);
    EXPECT_TRUE(is_utf8(std::string("x") + good + "y"));
  }
  for (const auto* bad :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2\x7F", "\xC2\xC0", "\xE0\x9F\xBF",
        "\xED\xA0\x80", "\xED\xBF\xBF", "\xE1\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80", "\xFF", "\xF1\x80\x80"}) {
    EXPECT_FALSE(is_utf8(bad)) << testing::PrintToString(bad);
    EXPECT_FALSE(is_utf8(std::string("x") + bad + "y"));
    std::string repaired;
    append_as_utf8(repaired, std::string("x") + bad + "y");
    EXPECT_TRUE(is_utf8(repaired));
    EXPECT_TRUE(repaired.starts_with("x\xEF\xBF\xBD"));
    EXPECT_TRUE(repaired.ends_with("y"));
  }
}

}  // namespace
}  // namespace millrace::http
