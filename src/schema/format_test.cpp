#include "schema/format.h"

#include "schema/schema.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

namespace millrace::schema {
namespace {

void expect(std::string_view format, std::initializer_list<const char*> good,
            std::initializer_list<const char*> bad) {
  auto* const check = find_format(format);
  ASSERT_NE(check, nullptr) << format;
  for (const auto* text : good) EXPECT_TRUE(check(text)) << format << ": " << text;
  for (const auto* text : bad) EXPECT_FALSE(check(text)) << format << ": " << text;
}

TEST(Format, KnowsDatesAndTimes) {
  expect("date", {"2024-02-29", "0001-01-01"},
         {"2023-02-29", "2024-13-01", "2024-1-01", "2024-01-01 ", "", "20240101"});
  expect("time", {"23:59:59Z", "00:00:00.123+05:30", "23:59:60Z", "15:59:60-08:00"},
         {"24:00:00Z", "12:00:00", "12:00:60Z", "12:00Z", "12:00:00+24:00", "12:00:00.Z"});
  expect("date-time", {"2024-02-29T10:00:00Z", "2024-02-29t10:00:00.5z"},
         {"2024-02-29 10:00:00Z", "2024-02-29", "2024-02-29T10:00:00", "2024-02-30T10:00:00Z"});
  expect("duration", {"P1D", "PT1H", "P1Y2M3DT4H5M6S", "P3W", "P1YT1S"},
         {"P", "PT", "P1", "P1DT", "1D", "P1S", "P1Y1D", "P1W1D", "PT1D"});
}

TEST(Format, KnowsAddresses) {
  expect("ipv4", {"0.0.0.0", "255.255.255.255"},
         {"256.0.0.1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.4 ", "::1", ""});
  expect("ipv6",
         {"::", "::1", "1::", "2001:db8::1:2", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4",
          "1:2:3:4:5:6:1.2.3.4"},
         {":::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3",
          "12345::", "1:2:3:4:5:6:7:8::", "::1.2.3", ":1", "1:", "::1%eth0", ""});
  expect("hostname", {"example.com", "a", "xn--bcher-kva.example", std::string(63, 'a').c_str()},
         {"", "-a", "a-", "a..b", "a_b", ".", "a.", std::string(64, 'a').c_str()});
  expect("email",
         {"a@b.example", "\"a b\"@b.example", "a+tag@b", "a@[127.0.0.1]", "a@[IPv6:::1]",
          "!#$%&'*+-/=?^_`{|}~@b"},
         {"a", "@b", "a@", ".a@b", "a.@b", "a..b@c", "a b@c", "a@b@c", "a@[300.1.1.1]", "\"a\\\"@b",
          "\"a\"b\"@c", "\"@b"});
}

TEST(Format, KnowsUrisAndNames) {
  expect("uri",
         {"https://user@host:80/p?q=1#f", "urn:isbn:1", "mailto:a@b", "http://[::1]/",
          "a:", "http://a/%41"},
         {"//host/p", "/p", "", "http://a b", "http://a/%4", "http://[::1", "\\\\host",
          "http://a:b", ":a", "http://a/<b>"});
  expect("uri-reference", {"//host/p", "/p", "", "#f", "?q", "a/b:c"},
         {"a b", "\\a", "#a\\b", "1:b", "%"});
  expect("uuid", {"2EB8AA08-aa98-11ea-b4aa-73b441d16380"},
         {"2eb8aa08aa9811eab4aa73b441d16380", "2eb8aa08-aa98-11ea-b4aa-73b441d1638",
          "2eb8aa08-aa98-11ea-b4aa-73b441d1638g", "2eb8aa0-8aa98-11ea-b4aa-73b441d16380", ""});
  expect("json-pointer", {"", "/", "/a~0b"}, {"a", "/~", "#/a"});
  expect("regex", {"^a$", ""}, {"(", "\\Z"});
}

TEST(Format, ListsWhatItKnows) {
  const auto names = known_formats();
  EXPECT_EQ(names.size(), 13U);
  for (const auto& name : names) EXPECT_NE(find_format(name), nullptr);
  EXPECT_EQ(find_format("color"), nullptr);
}

}  // namespace
}  // namespace millrace::schema
