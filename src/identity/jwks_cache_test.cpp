#include "identity/jwks_cache.h"

#include "base/either.h"
#include "identity/jwks_world.h"
#include "identity/test_keys.h"

#include <boost/asio/thread_pool.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

namespace millrace::identity {
namespace {

using namespace std::chrono_literals;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class JwksCacheTest : public JwksWorld {
 protected:
  static std::string set_of(std::string kid) { return jwks_text({key().jwk(std::move(kid))}); }
  static bool has(const Result<KeySetPtr>& set, const std::string& kid) {
    return set && *set && (*set)->select(Algorithm::es256, kid).key_id_known;
  }

  awaitable<void> take(std::vector<Result<KeySetPtr>>* taken) {
    taken->push_back(co_await cache_->keys());
  }

  awaitable<void> take_often(std::atomic<int>* served) {
    for (int i = 0; i < 20; ++i) {
      const auto set = co_await cache_->keys();
      if (has(set, "a") && has(co_await cache_->newer_keys(*set), "a")) ++*served;
    }
  }

  static const TestKey& key() {
    static const auto made = TestKey::ec();
    return made;
  }
};

TEST_F(JwksCacheTest, FetchesOnceAndKeepsTheSetForItsAge) {
  serve({answer(set_of("a"), "public, max-age=600")});
  EXPECT_TRUE(has(keys(), "a"));
  clock_.advance(599s);
  EXPECT_TRUE(has(keys(), "a"));
  EXPECT_EQ(requests(), 1U);
  EXPECT_THAT(server_->requests().front(),
              HasSubstr("GET /auth/v1/.well-known/jwks.json HTTP/1.1"));
  EXPECT_THAT(calls_.calls(), ElementsAre("jwks 200"));
}

TEST_F(JwksCacheTest, MayFetchBeforeAnybodyAsks) {
  serve({answer(set_of("a"))}).start();
  cache_->start();
  settle(1);
  EXPECT_TRUE(has(keys(), "a"));
  EXPECT_EQ(requests(), 1U);
}

TEST_F(JwksCacheTest, RefreshesBesideWhileTheSetIsJustPastItsAge) {
  serve({answer(set_of("a")), answer(set_of("b"))});
  EXPECT_TRUE(has(keys(), "a"));
  clock_.advance(600s);
  EXPECT_TRUE(has(keys(), "a"));  // Nobody waits.
  settle(2);
  EXPECT_TRUE(has(keys(), "b"));
  EXPECT_EQ(requests(), 2U);
}

// After a quiet night a key that was withdrawn in the evening is not accepted once more.
TEST_F(JwksCacheTest, WaitsForAFreshSetWhenItsOwnIsOld) {
  serve({answer(set_of("a")), answer(set_of("b"))});
  EXPECT_TRUE(has(keys(), "a"));
  clock_.advance(1200s);
  EXPECT_FALSE(has(keys(), "a"));
  EXPECT_TRUE(has(keys(), "b"));
}

TEST_F(JwksCacheTest, KeepsTheLastGoodSetWhateverTheServerDoes) {
  serve({answer(set_of("a")),
         http::answer(500, "oops"),
         http::answer(302, "", "Location: /x\r\n"),
         answer("<html>"),
         answer(R"({"keys":7})"),
         answer(std::string(kKeySetMaxBytes + 1, ' ')),
         {.reply = "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{", .close = true},
         answer(set_of("b"))});
  EXPECT_TRUE(has(keys(), "a"));
  clock_.advance(600s);
  for (std::size_t request = 2; request <= 7; ++request) {
    EXPECT_TRUE(has(keys(), "a"));
    settle(request);
    EXPECT_TRUE(has(keys(), "a")) << request;
    EXPECT_THAT(logged_.back(), HasSubstr("jwks_fetch_failed"));
    clock_.advance(10s);
  }
  EXPECT_TRUE(has(keys(), "a"));
  settle(8);
  EXPECT_TRUE(has(keys(), "b"));
}

TEST_F(JwksCacheTest, AsksAFailingServerOncePerInterval) {
  serve({answer(set_of("a")), http::answer(503, "")});
  EXPECT_TRUE(has(keys(), "a"));
  clock_.advance(1300s);  // Old enough to wait for the fetch, once.
  EXPECT_TRUE(has(keys(), "a"));
  EXPECT_EQ(requests(), 2U);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(has(keys(), "a"));
  EXPECT_EQ(requests(), 2U);
  clock_.advance(10s);
  EXPECT_TRUE(has(keys(), "a"));
  settle(3);
  EXPECT_EQ(requests(), 3U);
}

TEST_F(JwksCacheTest, DoesNotUseASetForEver) {
  serve({answer(set_of("a")), http::answer(503, "")}, {.stale_max = 3600s});
  EXPECT_TRUE(has(keys(), "a"));
  clock_.advance(600s + 3599s);
  EXPECT_TRUE(has(keys(), "a"));
  clock_.advance(1s);
  const auto gone = keys();
  ASSERT_FALSE(gone.has_value());
  EXPECT_EQ(gone.error().kind, ErrorKind::unavailable);
}

TEST_F(JwksCacheTest, SaysUnavailableUntilItHasASet) {
  serve({http::answer(500, "secret words"), answer(set_of("a"))});
  for (int i = 0; i < 5; ++i) {
    const auto none = keys();
    ASSERT_FALSE(none.has_value());
    EXPECT_EQ(none.error().kind, ErrorKind::unavailable);
    EXPECT_FALSE(refusal_of(none.error()).has_value());
  }
  EXPECT_EQ(requests(), 1U);
  EXPECT_THAT(logged_, Each(testing::Not(HasSubstr("secret words"))));
  clock_.advance(10s);
  EXPECT_TRUE(has(keys(), "a"));
}

TEST_F(JwksCacheTest, FetchesOnceForAllWhoWait) {
  Event release;
  auto held = answer(set_of("a"));
  held.wait_for = release;
  serve({held});
  std::vector<Result<KeySetPtr>> taken;
  TaskGroup group(io_.get_executor(), log_);
  for (int i = 0; i < 100; ++i) group.add("taker", take(&taken));
  run_blocking(io_, server_->wait_for_requests(1));
  EXPECT_THAT(taken, SizeIs(0));
  release.set();
  run_blocking(io_, group.join());
  ASSERT_THAT(taken, SizeIs(100));
  for (const auto& set : taken) EXPECT_TRUE(has(set, "a"));
  EXPECT_EQ(requests(), 1U);
}

TEST_F(JwksCacheTest, ServesManyThreadsAtOnce) {
  serve({answer(set_of("a"))});
  std::atomic<int> served = 0;
  boost::asio::thread_pool threads(3);
  TaskGroup group(threads.get_executor(), log_);
  for (int i = 0; i < 60; ++i) group.add("taker", take_often(&served));
  run_blocking(io_, group.join());
  threads.join();
  EXPECT_EQ(served, 60 * 20);
  EXPECT_EQ(requests(), 1U);
}

TEST_F(JwksCacheTest, GoesOnFetchingWhenWhoeverBeganItIsGone) {
  using namespace either;
  Event release;
  auto held = answer(set_of("a"));
  held.wait_for = release;
  serve({held});
  run_blocking(io_, cache_->keys() || server_->wait_for_requests(1));
  release.set();
  EXPECT_TRUE(has(keys(), "a"));
  EXPECT_EQ(requests(), 1U);
}

TEST_F(JwksCacheTest, LooksForNewerKeysButNotSoonerThanTheInterval) {
  serve({answer(set_of("a")), answer(set_of("b")), answer(set_of("c"))});
  const auto first = *keys();
  EXPECT_EQ(*newer_keys(first), first);  // Just fetched.
  EXPECT_EQ(requests(), 1U);
  clock_.advance(10s);
  EXPECT_TRUE(has(newer_keys(first), "b"));
  EXPECT_TRUE(has(newer_keys(first), "b"));  // There is a newer one already.
  EXPECT_EQ(requests(), 2U);
}

TEST_F(JwksCacheTest, IsNotMovedByJumpsOfTheWallClock) {
  serve({answer(set_of("a"))});
  EXPECT_TRUE(has(keys(), "a"));
  const auto now = clock_.wall();
  for (const auto jump : {now + 24h * 3650, now - 24h * 3650, now}) {
    clock_.set_wall(jump);
    EXPECT_TRUE(has(keys(), "a"));
  }
  EXPECT_EQ(requests(), 1U);
}

TEST_F(JwksCacheTest, HonoursTheAgeWithinBounds) {
  serve({answer(set_of("a"), "max-age=0"), answer(set_of("b"), "max-age=999999999"),
         answer(set_of("c"))},
        {.freshness = {.unsaid = 600s, .least = 60s, .most = 3600s}});
  EXPECT_TRUE(has(keys(), "a"));
  clock_.advance(59s);
  EXPECT_TRUE(has(keys(), "a"));
  EXPECT_EQ(requests(), 1U);
  clock_.advance(61s);
  EXPECT_TRUE(has(keys(), "b"));
  clock_.advance(3599s);
  EXPECT_TRUE(has(keys(), "b"));
  EXPECT_EQ(requests(), 2U);
  clock_.advance(3601s);
  EXPECT_TRUE(has(keys(), "c"));
}

TEST_F(JwksCacheTest, SaysWhichKeysItCannotUse) {
  serve({answer(R"({"keys":[{"kty":"oct","k":"aHVudGVyMg"}]})")});
  ASSERT_THAT(keys(), Accepted());
  EXPECT_THAT(logged_, testing::Contains(HasSubstr("jwks_key_skipped")));
  EXPECT_THAT(logged_, Each(testing::Not(HasSubstr("aHVudGVyMg"))));
}

TEST_F(JwksCacheTest, StopsWhileItFetches) {
  serve({{.silent = true}}).start();
  run_blocking(io_, server_->wait_for_requests(1));
  run_blocking(io_, cache_->stop());
  run_blocking(io_, cache_->stop());
  const auto none = keys();
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().kind, ErrorKind::unavailable);
}

TEST_F(JwksCacheTest, GivesUpOnASilentServer) {
  serve({{.silent = true}}, {.fetch_timeout = 20ms});
  const auto none = keys();
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().kind, ErrorKind::unavailable);
}

TEST(JwksOptions, AreCheckedAtStartUp) {
  const auto with_url = [](const std::string& url) { return check_jwks_options({.url = url}); };
  EXPECT_THAT(with_url("https://project.example/auth/v1/.well-known/jwks.json"), Accepted());
  EXPECT_THAT(with_url("http://127.0.0.1:54321/jwks.json"), Accepted());
  EXPECT_THAT(with_url("http://localhost/jwks.json"), Accepted());
  EXPECT_THAT(with_url("http://[::1]:8080/jwks.json"), Accepted());
  EXPECT_THAT(with_url("http://project.example/jwks.json"), Invalid("https"));
  EXPECT_THAT(with_url("http://127.0.0.1.example/jwks.json"), Invalid("https"));
  EXPECT_THAT(with_url("http://localhost.example/jwks.json"), Invalid("https"));
  EXPECT_THAT(with_url("file:///etc/passwd"), Invalid("URL of the key set"));
  EXPECT_THAT(with_url(""), Invalid("URL of the key set"));
  const std::string url = "https://project.example/jwks.json";
  EXPECT_THAT(check_jwks_options({.url = url, .fetch_timeout = 0ms}), Invalid("timeout"));
  EXPECT_THAT(check_jwks_options({.url = url, .refresh_interval = 0s}), Invalid("interval"));
  EXPECT_THAT(check_jwks_options({.url = url, .stale_max = -1s}), Invalid("old key set"));
  EXPECT_THAT(check_jwks_options({.url = url, .freshness = {.least = 7200s, .most = 60s}}),
              Invalid("bounds"));
}

}  // namespace
}  // namespace millrace::identity
