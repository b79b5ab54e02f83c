// What the server remembers of keys, and what strangers cannot make it forget or write down.
#include "api/directories.h"

#include "base/run.h"
#include "identity/api_key.h"

#include <boost/json/object.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace millrace::api {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class CountingTokens final : public store::TokenStore {
 public:
  Task<Uuid> create_api_token(store::CallContext, json::Object) override { co_return Uuid{}; }
  Task<std::string> list_api_tokens(store::CallContext, store::TokenPage) override {
    co_return std::string("[]");
  }
  Task<Uuid> revoke_api_token(store::CallContext, std::string,
                              std::optional<std::string>) override {
    co_return Uuid{};
  }
  Task<std::optional<store::ApiTokenRow>> find_api_token(std::string public_id,
                                                         store::TokenHash) override {
    ++asked;
    if (away) co_return fail(ErrorKind::unavailable, "no database");
    const auto found = rows.find(public_id);
    if (found == rows.end()) co_return std::nullopt;
    co_return found->second;
  }
  Task<bool> is_token_revoked(std::string) override { co_return false; }
  Task<void> touch_api_tokens(std::vector<std::string>) override { co_return ok(); }

  std::map<std::string, store::ApiTokenRow> rows;
  int asked = 0;
  bool away = false;
};

class StoredKeysTest : public testing::Test {
 protected:
  identity::ApiKeyDigest add_key() {
    auto key = identity::create_api_key(identity::ApiKeyForm::own, random_);
    tokens_.rows[key.digest.public_id] = {
        .token_id = random_.uuid(), .hash = key.digest.hash, .role = "service_role"};
    return key.digest;
  }
  bool finds(const identity::ApiKeyDigest& key) {
    const auto found = run_blocking(io_, keys_.find_api_key(key));
    return found && found->has_value();
  }
  identity::ApiKeyDigest invent() {
    return identity::create_api_key(identity::ApiKeyForm::own, random_).digest;
  }

  boost::asio::io_context io_{1};
  ManualClock clock_;
  SeededRandom random_{11};
  CountingTokens tokens_;
  StoredKeys keys_{tokens_, clock_};
};

TEST_F(StoredKeysTest, InventedKeysDoNotPushGoodOnesOut) {
  const auto good = add_key();
  EXPECT_TRUE(finds(good));
  for (int i = 0; i < 10'001; ++i) EXPECT_FALSE(finds(invent()));
  const auto asked = tokens_.asked;
  EXPECT_TRUE(finds(good));
  EXPECT_EQ(tokens_.asked, asked) << "the good key is still known";
}

TEST_F(StoredKeysTest, AKeyThatDoesNotExistIsAskedForOnceInAWhile) {
  const auto stranger = invent();
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(finds(stranger));
  EXPECT_EQ(tokens_.asked, 1);
  clock_.advance(kDirectoryMemory);
  EXPECT_FALSE(finds(stranger));
  EXPECT_EQ(tokens_.asked, 2);
}

TEST_F(StoredKeysTest, ADatabaseThatIsAwayIsNotAnUnknownKey) {
  const auto good = add_key();
  tokens_.away = true;
  const auto found = run_blocking(keys_.find_api_key(good));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::unavailable);
  tokens_.away = false;
  EXPECT_TRUE(finds(good));
}

TEST_F(StoredKeysTest, UseIsNotedForKeysThatWereGoodAndForNoOthers) {
  const auto good = add_key();
  EXPECT_TRUE(finds(good));
  EXPECT_FALSE(keys_.was_good_key(good)) << "found by its public id, not yet compared";
  EXPECT_THAT(keys_.take_used(), IsEmpty());
  keys_.note_good_key(good, "k1");
  EXPECT_TRUE(keys_.was_good_key(good));
  EXPECT_FALSE(keys_.was_good_key(invent()));
  EXPECT_THAT(keys_.take_used(), ElementsAre("k1"));
  clock_.advance(kGoodKeyMemory);
  EXPECT_FALSE(keys_.was_good_key(good));
}

TEST_F(StoredKeysTest, ATokenThatWasAskedForIsRememberedAndNotedAsUsed) {
  EXPECT_EQ(keys_.remembers_revoked("t1"), std::nullopt);
  const auto revoked = run_blocking(io_, keys_.is_token_revoked("t1"));
  ASSERT_TRUE(revoked);
  (void)keys_.take_used();
  EXPECT_EQ(keys_.remembers_revoked("t1"), false);
  EXPECT_THAT(keys_.take_used(), ElementsAre("t1"));
  clock_.advance(kDirectoryMemory);
  EXPECT_EQ(keys_.remembers_revoked("t1"), std::nullopt);
}

TEST(RecentNamesTest, HoldsNoMoreThanItMayAndPrefersTheYoung) {
  ManualClock clock;
  RecentNames names(clock, {.ttl = std::chrono::seconds(1), .names_max = 4});
  for (const auto* old : {"a", "b", "c"}) names.note(old);
  clock.advance(std::chrono::seconds(1));
  EXPECT_FALSE(names.holds("a"));
  for (const auto* young : {"d", "e"}) names.note(young);
  EXPECT_TRUE(names.holds("d"));
  EXPECT_TRUE(names.holds("e"));
  for (int i = 0; i < 100; ++i) names.note(std::to_string(i));
  EXPECT_LE(names.size(), 4U);
}

}  // namespace
}  // namespace millrace::api
