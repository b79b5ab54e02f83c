#include "app/config/mask_url.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::app {
namespace {

TEST(MaskUrlTest, HidesPasswordsOnly) {
  EXPECT_EQ(mask_url("postgres://u:s3cr@et@h:5432/d"), "postgres://u:***@h:5432/d");
  EXPECT_EQ(mask_url("postgres://u@h/d?password=abc&x=1"), "postgres://u@h/d?password=***&x=1");
  EXPECT_EQ(mask_url("host=h password='a b' user=u"), "host=h password=*** user=u");
  EXPECT_EQ(mask_url("postgresql://millrace@/millrace?host=/a:b"),
            "postgresql://millrace@/millrace?host=/a:b");
  EXPECT_EQ(mask_url("postgres://h:5432/d?user=a@b"), "postgres://h:5432/d?user=a@b");
  EXPECT_EQ(mask_url(""), "");
}

TEST(MaskUrlTest, HidesPasswordsInEveryNotationThatLibpqTakes) {
  EXPECT_EQ(mask_url("host = h password = abc"), "host = h password = ***");
  EXPECT_EQ(mask_url("password=a&b host=h"), "password=*** host=h");
  EXPECT_EQ(mask_url("password='it\\'s here' host=h"), "password=*** host=h");
  EXPECT_EQ(mask_url("password=a\\ b host=h"), "password=*** host=h");
  EXPECT_EQ(mask_url("host=h\npassword=abc"), "host=h\npassword=***");
  EXPECT_EQ(mask_url("postgres://u:a?b@h/d"), "postgres://u:***@h/d");
  EXPECT_EQ(mask_url("postgres://u:a?b=c@h/d"), "postgres://u:***@h/d");
  EXPECT_EQ(mask_url("postgres://h/d?pass%77ord=abc"), "postgres://h/d?pass%77ord=***");
  EXPECT_EQ(mask_url("postgres://h:1/d?password=x@y&user=z"),
            "postgres://h:1/d?password=***&user=z");
  EXPECT_EQ(mask_url("postgres://h=:5432/d?password=x@y&user=z"),
            "postgres://h=:5432/d?password=***&user=z");
  EXPECT_EQ(mask_url("sslpassword=a dbname=postgres://u:abc@h/d"),
            "sslpassword=*** dbname=postgres://u:***@h/d");
}

TEST(MaskUrlTest, HidesWhatOnlyLooksLikeAPassword) {
  EXPECT_EQ(mask_url("postgres://u:a/b@h/d"), "postgres://u:***@h/d");
  EXPECT_EQ(mask_url("mysql://u:abc@h/d"), "mysql://u:***@h/d");
  EXPECT_EQ(mask_url("host=h password"), "host=h ***");
  EXPECT_EQ(mask_url("password='abc"), "***");
  EXPECT_EQ(mask_url("postgres://h:5432?password=x@y"), "postgres://***");
}

TEST(MaskUrlTest, TakesATextOfAnyLength) {
  const std::string secret(1 << 20, 'x');
  EXPECT_EQ(mask_url("password=" + secret), "password=***");
  EXPECT_EQ(mask_url("postgres://u:" + secret + "@h"), "postgres://u:***@h");
}

}  // namespace
}  // namespace millrace::app
