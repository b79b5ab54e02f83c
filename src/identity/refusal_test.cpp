#include "identity/refusal.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace millrace::identity {
namespace {

TEST(Refusal, IsFoundInItsError) {
  std::set<std::string> labels;
  for (int i = 0; i <= static_cast<int>(Refusal::forbidden); ++i) {
    const auto refusal = static_cast<Refusal>(i);
    const auto error = refuse(refusal, "no").error();
    EXPECT_EQ(error.kind, ErrorKind::invalid_argument);
    EXPECT_EQ(refusal_of(error), refusal);
    labels.emplace(to_string(refusal));
  }
  EXPECT_EQ(labels.size(), 14U);
}

TEST(Refusal, IsNotFoundElsewhere) {
  EXPECT_EQ(refusal_of(fail(ErrorKind::invalid_argument, "expired").error()), std::nullopt);
  EXPECT_EQ(refusal_of({.kind = ErrorKind::unavailable, .detail = "expired"}), std::nullopt);
  EXPECT_EQ(
      refusal_of({.kind = ErrorKind::invalid_argument, .sqlstate = "22023", .detail = "expired"}),
      std::nullopt);
}

}  // namespace
}  // namespace millrace::identity
