#include "base/uuid.h"

#include <gtest/gtest.h>

#include <unordered_set>

namespace millrace {
namespace {

TEST(Uuid, ReadsAndWritesTheUsualForm) {
  const auto uuid = Uuid::parse("0190163D-8694-739b-aea5-966c26f8ad91");
  ASSERT_TRUE(uuid);
  EXPECT_EQ(uuid->bytes[0], 0x01);
  EXPECT_EQ(uuid->bytes[15], 0x91);
  EXPECT_EQ(uuid->to_string(), "0190163d-8694-739b-aea5-966c26f8ad91");
  EXPECT_EQ(fmt::format("{}", JobId{*uuid}), uuid->to_string());
}

TEST(Uuid, RefusesEverythingElse) {
  for (const auto* text :
       {"", "0190163d8694739baea5966c26f8ad91", "0190163d-8694-739b-aea5-966c26f8ad9",
        "0190163d-8694-739b-aea5-966c26f8ad911", "g190163d-8694-739b-aea5-966c26f8ad91",
        "0190163d+8694-739b-aea5-966c26f8ad91", "{190163d-8694-739b-aea5-966c26f8ad9}",
        "0190163d-8694-739b-aea5-966c26f8ad9-"}) {
    const auto uuid = Uuid::parse(text);
    ASSERT_FALSE(uuid) << text;
    EXPECT_EQ(uuid.error().kind, ErrorKind::invalid_argument);
  }
}

TEST(Id, OrdersAndHashesAsItsUuid) {
  const auto low = *JobId::parse("00000000-0000-0000-0000-000000000001");
  const auto high = *JobId::parse("00000000-0000-0000-0000-000000000002");
  EXPECT_LT(low, high);
  const std::unordered_set<JobId> ids{low, high, low};
  EXPECT_EQ(ids.size(), 2U);
  EXPECT_TRUE(JobId{}.is_nil());
  EXPECT_FALSE(low.is_nil());
}

}  // namespace
}  // namespace millrace
