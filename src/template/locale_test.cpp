#include "template/locale.h"

#include <gtest/gtest.h>

namespace millrace::templates {
namespace {

TEST(Locale, CurrenciesHaveTheDecimalsOfIso4217) {
  EXPECT_EQ(decimals_of("EUR"), 2);
  EXPECT_EQ(decimals_of("JPY"), 0);
  EXPECT_EQ(decimals_of("KWD"), 3);
  EXPECT_EQ(decimals_of("CLF"), 4);
  EXPECT_EQ(decimals_of("UYW"), 4);
  EXPECT_EQ(decimals_of("UYI"), 0);
  EXPECT_EQ(decimals_of("SEK"), 2) << "as most have";
}

}  // namespace
}  // namespace millrace::templates
