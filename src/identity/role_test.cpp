#include "identity/role.h"

#include "identity/refusal_matcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace millrace::identity {
namespace {

using testing::ElementsAre;

TEST(Role, IsReadAsItIsWritten) {
  std::set<std::string> names;
  for (const auto role : all_roles()) {
    names.emplace(to_string(role));
    EXPECT_EQ(*parse_role(to_string(role)), role);
  }
  EXPECT_THAT(names,
              ElementsAre("admin", "anon", "authenticated", "operator", "reader", "service_role"));
  for (const auto* name : {"", "Admin", "postgres", "operator_", "anon ", "millrace_owner"}) {
    EXPECT_THAT(parse_role(name), Invalid("a role is")) << name;
  }
}

// The table, written once more: whoever changes it says so here.
TEST(Role, MayDoThisAndNothingElse) {
  using enum Capability;
  const std::map<Role, std::set<Capability>> expected{
      {Role::anon, {}},
      {Role::authenticated, {read, write}},
      {Role::service_role, {read, write, work, impersonate_tenant}},
      {Role::reader, {read}},
      {Role::operator_, {read, operate}},
      {Role::admin, {read, write, operate, administer, work, impersonate_tenant}},
  };
  ASSERT_EQ(expected.size(), all_roles().size());
  for (const auto& [role, capabilities] : expected) {
    for (const auto capability : {read, write, operate, administer, work, impersonate_tenant}) {
      EXPECT_EQ(capabilities_of(role).contains(capability), capabilities.contains(capability))
          << to_string(role) << " " << to_string(capability);
    }
  }
}

TEST(Role, OfADatabaseIsWhatTokensMayCarry) {
  std::set<std::string> names;
  for (const auto role : all_roles()) {
    if (is_database_role(role)) names.emplace(to_string(role));
  }
  EXPECT_THAT(names, ElementsAre("anon", "authenticated", "service_role"));
}

TEST(Capability, IsReadAsItIsWritten) {
  using enum Capability;
  for (const auto capability : {read, write, operate, administer, work, impersonate_tenant}) {
    EXPECT_EQ(parse_capability(to_string(capability)), capability);
  }
  EXPECT_EQ(parse_capability("all"), std::nullopt);
  EXPECT_EQ(parse_capability(""), std::nullopt);
}

TEST(CapabilitySet, HoldsWhatBothHold) {
  using enum Capability;
  EXPECT_EQ((CapabilitySet{read, write} & CapabilitySet{write, work}), CapabilitySet{write});
  EXPECT_TRUE((CapabilitySet{read} & CapabilitySet{write}).empty());
}

}  // namespace
}  // namespace millrace::identity
