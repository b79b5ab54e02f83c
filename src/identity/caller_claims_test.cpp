#include "identity/caller_claims.h"

#include <boost/json/object.hpp>
#include <gtest/gtest.h>

namespace millrace::identity {
namespace {

TEST(CallerClaimsTest, SayTheRoleThatCountsWhateverTheyNamed) {
  const CallerClaims claims(json::Object{{"role", "admin"}, {"sub", "ada"}});
  const CallerClaims copy = claims;
  EXPECT_EQ(copy.text(Role::authenticated), R"({"role":"authenticated","sub":"ada"})");
  EXPECT_EQ(claims.text(Role::anon), R"({"role":"anon","sub":"ada"})");
  EXPECT_EQ(copy.text(Role::authenticated), R"({"role":"authenticated","sub":"ada"})");
  EXPECT_EQ(claims.object().at("role").as_string(), "admin");
}

TEST(CallerClaimsTest, WithoutAnyNameTheRoleAlone) {
  EXPECT_TRUE(CallerClaims().object().empty());
  EXPECT_EQ(CallerClaims().text(Role::anon), R"({"role":"anon"})");
}

}  // namespace
}  // namespace millrace::identity
