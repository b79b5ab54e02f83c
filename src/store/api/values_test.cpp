#include "store/api/values.h"

#include <gtest/gtest.h>

namespace millrace::store {
namespace {

TEST(Values, BytesGoAndComeBackUnchanged) {
  std::vector<std::uint8_t> all;
  for (int i = 0; i < 256; ++i) all.push_back(static_cast<std::uint8_t>(i));
  EXPECT_EQ(read_bytea(bytea(all)).value(), all);
  EXPECT_EQ(bytea(std::string_view("a\0b", 3)), "\\x610062");
  EXPECT_EQ(read_bytea_text("\\x610062").value(), std::string("a\0b", 3));
  EXPECT_EQ(read_bytea("\\x").value(), std::vector<std::uint8_t>{});
}

TEST(Values, WhatIsNoBytesIsRefused) {
  for (const auto* text : {"", "61", "\\x6", "\\xgg", "\\x 1"}) {
    EXPECT_FALSE(read_bytea(text).has_value()) << text;
  }
  EXPECT_FALSE(read_hex("0x").has_value());
  EXPECT_EQ(read_hex("0aFF").value(), (std::vector<std::uint8_t>{10, 255}));
}

TEST(Values, AnArrayOfBytesIsALiteralThatPostgresqlReads) {
  const std::vector<std::vector<std::uint8_t>> values{{1, 2}, {}};
  EXPECT_EQ(bytea_array(values), R"({"\\x0102","\\x"})");
  EXPECT_EQ(bytea_array({}), "{}");
}

TEST(Values, InstantsKeepTheirMicroseconds) {
  const auto time = wall_from_micros(1'893'456'000'000'001);  // 2030-01-01.
  EXPECT_EQ(iso_time(time), "2030-01-01T00:00:00.000001Z");
  EXPECT_EQ(iso_time(wall_from_micros(-1)), "1969-12-31T23:59:59.999999Z");
}

// A token that is good until the year 2999 has not expired.
TEST(Values, TimesBeyondTheClockAreItsEnds) {
  const auto now = wall_from_micros(1'893'456'000'000'000);
  EXPECT_GT(wall_from_micros(32'472'144'000'000'000), now);
  EXPECT_LT(wall_from_micros(-62'135'596'800'000'000), now);
  EXPECT_EQ(iso_time(wall_from_micros(32'472'144'000'000'000)).substr(0, 4), "2262");
}

}  // namespace
}  // namespace millrace::store
