#include "blob/wire_time.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::blob {
namespace {

using namespace std::chrono_literals;

TEST(BlobWireTime, WritesEachForm) {
  const Clock::Wall time =
      std::chrono::sys_days{std::chrono::year{1994} / 11 / 6} + 8h + 49min + 37s + 900ms;
  EXPECT_EQ(to_http_date(time), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(to_iso_time(time), "1994-11-06T08:49:37Z");
  EXPECT_EQ(to_compact_time(time), "19941106T084937Z");
  EXPECT_EQ(to_compact_date(time), "19941106");
}

TEST(BlobWireTime, ReadsIsoTimes) {
  const auto time = parse_iso_time("1994-11-06T08:49:37Z").value();
  EXPECT_EQ(to_iso_time(time), "1994-11-06T08:49:37Z");
  EXPECT_EQ(parse_iso_time("1994-11-06T08:49:37.500Z"), time + 500ms);
  EXPECT_EQ(parse_iso_time("1994-11-06T08:49:37.5+00:00"), time + 500ms);
  EXPECT_EQ(parse_iso_time("1994-11-06 08:49:37.123456+00"), time + 123ms);
  EXPECT_EQ(parse_iso_time("2024-02-29T23:59:59Z").has_value(), true);
}

TEST(BlobWireTime, RefusesWhatIsNoTime) {
  for (const std::string text :
       {"", "1994", "1994-11-06", "1994-11-06T08:49:37", "1994-11-06T08:49:37+02:00",
        "1994-13-06T08:49:37Z", "2023-02-29T00:00:00Z", "1994-11-06T24:00:00Z",
        "1994-11-06T08:60:00Z", "1994-11-06T08:49:-1Z", "1994-11-06T08:49:37.Z",
        "1994-11-06T08:49:37Zx", "x994-11-06T08:49:37Z", "1994/11/06T08:49:37Z"}) {
    EXPECT_FALSE(parse_iso_time(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace millrace::blob
