#include "base/byte_size.h"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(ByteSize, ReadsUnitsAsPowersOf1024) {
  EXPECT_EQ(*parse_byte_size("512M"), 512ULL << 20);
  EXPECT_EQ(*parse_byte_size("64KiB"), 64ULL << 10);
  EXPECT_EQ(*parse_byte_size("2GB"), 2ULL << 30);
  EXPECT_EQ(*parse_byte_size("1T"), 1ULL << 40);
  EXPECT_EQ(*parse_byte_size("1000"), 1000U);
  EXPECT_EQ(*parse_byte_size("17B"), 17U);
}

TEST(ByteSize, RefusesWhatIsNoSize) {
  for (const char* wrong :
       {"", "0", "M", "-1", "1.5M", "1X", "1 M", "iB", "18446744073709551616", "99999999999T"}) {
    EXPECT_FALSE(parse_byte_size(wrong)) << wrong;
  }
}

TEST(ByteSize, WritesWhatItReadsBack) {
  EXPECT_EQ(format_byte_size(512ULL << 20), "512M");
  EXPECT_EQ(format_byte_size(1536ULL << 10), "1536K");
  EXPECT_EQ(format_byte_size(1000), "1000");
  for (const std::uint64_t size : {1ULL, 1023ULL, 1024ULL, 3ULL << 50, ~0ULL}) {
    EXPECT_EQ(*parse_byte_size(format_byte_size(size)), size);
  }
}

}  // namespace
}  // namespace millrace
