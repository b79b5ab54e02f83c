// Tokens of an issuer of its own: verified by the keys it publishes, and by nothing else.
#include "api_world.h"
#include "identity/test_keys.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace millrace::test {
namespace {

using identity::TestKey;

// Publishes a key set on loopback.
class Issuer {
 public:
  explicit Issuer(std::string keys) : keys_(std::move(keys)) {}

  std::string url() const { return fmt::format("http://{}/keys", server_.address().to_string()); }

 private:
  std::vector<http::Route> routes() {
    return {{.method = "GET",
             .pattern = "/keys",
             .handler = http::says([this](http::ServerRequest&) { return keys_; }),
             .limits = {}}};
  }

  const std::string keys_;
  http::TestServer server_{routes()};
};

// A user's token, good for an hour unless said otherwise.
struct Said {
  std::string kid = "one";
  std::string algorithm = "ES256";
  std::string role = "authenticated";
  std::string audience = "authenticated";
  std::string issuer = "https://issuer.example/auth/v1";
  int expires_in = 3600;
};

class ApiIssuer : public testing::Test {
 protected:
  std::string token(const TestKey& key, const Said& said = {}) {
    SystemClock clock;
    const auto now =
        std::chrono::duration_cast<std::chrono::seconds>(clock.wall().time_since_epoch()).count();
    return identity::signed_token(
        key, fmt::format(R"({{"alg":"{}","typ":"JWT","kid":"{}"}})", said.algorithm, said.kid),
        fmt::format(R"({{"sub":"{}","role":"{}","aud":"{}","iss":"{}","iat":{},"exp":{}}})", user_,
                    said.role, said.audience, said.issuer, now, now + said.expires_in));
  }
  ApiWorld::Options trusting(const Issuer& issuer) {
    return {.env = {{"JWT_JWKS_URL", issuer.url()},
                    {"MILLRACE_AUTH_ISSUERS", "https://issuer.example/auth/v1"}}};
  }

  TestKey ec_ = TestKey::ec();
  TestKey rsa_ = TestKey::rsa();
  SystemRandom random_;
  identity::UserId user_{random_.uuid()};
};

TEST_F(ApiIssuer, ItsTokensAreGoodAndOthersAreNot) {  // T-01
  Issuer issuer(identity::jwks_text({ec_.jwk("one"), rsa_.jwk("two")}));
  ApiWorld world(trusting(issuer));
  const auto me = world.get("/api/v1/me", token(ec_));
  ASSERT_EQ(me.status, 200) << me.body;
  EXPECT_EQ(me.json().at("user_id"), json::Value(user_.to_string()));
  EXPECT_EQ(me.json().at("role"), json::Value("authenticated"));
  EXPECT_EQ(world.get("/api/v1/me", token(rsa_, {.kid = "two", .algorithm = "RS256"})).status, 200);

  const auto refused = [&](const std::string& bad) {
    const auto answered = world.get("/api/v1/me", bad);
    EXPECT_EQ(answered.status, 401) << answered.body;
    EXPECT_NE(answered.header("www-authenticate"), "");
  };
  refused(token(ec_, {.expires_in = -120}));
  refused(token(ec_, {.audience = "somebody else"}));
  refused(token(ec_, {.issuer = "https://other.example"}));
  refused(token(TestKey::ec()));            // Another key under a known name.
  refused(token(ec_, {.kid = "unknown"}));  // Names no key.
  refused(token(rsa_, {.kid = "one", .algorithm = "RS256"}));
  // The public key as a secret is the oldest trick there is.
  refused(identity::hs256_token(
      R"({"alg":"HS256","typ":"JWT"})",
      fmt::format(R"({{"sub":"{}","role":"service_role","exp":4102444800}})", user_), ec_.pem()));
}

TEST_F(ApiIssuer, ItCannotMakeServicesOfItsUsers) {  // T-03
  Issuer issuer(identity::jwks_text({ec_.jwk("one")}));
  ApiWorld world(trusting(issuer));
  for (const auto* role : {"admin", "operator", "reader", "millrace_api", "postgres"}) {
    EXPECT_EQ(world.get("/api/v1/me", token(ec_, {.role = role})).status, 401) << role;
  }
}

}  // namespace
}  // namespace millrace::test
