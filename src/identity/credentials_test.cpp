#include "identity/credentials.h"

#include "identity/compact_jws.h"
#include "identity/refusal_matcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace millrace::identity {
namespace {

const std::string kJwt = "eyJh.eyJz.c2ln";
const std::string kPublishable = "sb_publishable_aaaaaaaaaaaaaaaaaaaaaa_bbbbbbbb";
const std::string kSecretKey = "sb_secret_aaaaaaaaaaaaaaaaaaaaaa_bbbbbbbb";

std::string shown(const std::optional<Secret<std::string>>& secret) {
  return secret ? secret->reveal() : "-";
}

// "apikey|bearer", or the reason.
std::string read(const CredentialHeaders& headers) {
  const auto credentials = read_credentials(headers);
  if (!credentials) return std::string(to_string(*refusal_of(credentials.error())));
  return shown(credentials->api_key) + "|" + shown(credentials->bearer);
}

std::string bearer(const std::string& token) { return "Bearer " + token; }

TEST(Credentials, AreReadFromBothHeaders) {
  EXPECT_EQ(read({}), "-|-");
  EXPECT_TRUE(read_credentials({})->empty());
  EXPECT_EQ(read({.authorization = bearer(kJwt)}), "-|" + kJwt);
  EXPECT_EQ(read({.apikey = kJwt}), kJwt + "|-");
  EXPECT_EQ(read({.authorization = bearer(kJwt), .apikey = kPublishable}),
            kPublishable + "|" + kJwt);
}

TEST(Credentials, SchemeIsTheSameInUpperAndLowerCase) {
  EXPECT_EQ(read({.authorization = "bearer " + kJwt}), "-|" + kJwt);
  EXPECT_EQ(read({.authorization = "BEARER   " + kJwt}), "-|" + kJwt);
}

TEST(Credentials, SaidTwiceCountOnce) {
  EXPECT_EQ(read({.authorization = bearer(kPublishable), .apikey = kPublishable}),
            kPublishable + "|-");
  EXPECT_EQ(read({.authorization = bearer(kJwt), .apikey = kJwt}), kJwt + "|-");
}

// INTEGRATIONS 3.1: new keys are not bearer tokens.
TEST(Credentials, NewKeysBelongIntoTheApikeyHeader) {
  EXPECT_EQ(read({.authorization = bearer(kSecretKey)}), "misplaced");
  EXPECT_EQ(read({.authorization = bearer(kPublishable)}), "misplaced");
  EXPECT_EQ(read({.authorization = bearer(kSecretKey), .apikey = kPublishable}), "misplaced");
}

TEST(Credentials, SecretKeysAreRefusedFromBrowsers) {
  const CredentialHeaders browser{
      .apikey = kSecretKey, .user_agent = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36"};
  EXPECT_EQ(read(browser), "misplaced");
  EXPECT_EQ(read({.apikey = kSecretKey, .user_agent = "node"}), kSecretKey + "|-");
  EXPECT_EQ(read({.apikey = kPublishable, .user_agent = browser.user_agent}), kPublishable + "|-");
}

TEST(Credentials, OfAnotherSchemeOrFormAreRefused) {
  for (const auto* text : {"", "Basic dTpw", "Token abc", "Bearerabc", kJwt.c_str()}) {
    EXPECT_EQ(read({.authorization = text}), "unsupported") << text;
  }
  for (const auto* text : {"Bearer", "Bearer ", "Bearer a b", "Bearer a,b", "Bearer a=",
                           "Bearer a\t", "Bearer a\r\nX: y", "Bearer \xc3\xa9", "Bearer \ta"}) {
    EXPECT_EQ(read({.authorization = text}), "malformed") << text;
  }
  EXPECT_EQ(read({.authorization = bearer(std::string(kTokenMaxBytes + 1, 'a'))}), "malformed");
  EXPECT_EQ(read({.apikey = ""}), "malformed");
  EXPECT_EQ(read({.apikey = "a b"}), "malformed");
  EXPECT_EQ(read({.apikey = std::string(kTokenMaxBytes + 1, 'a')}), "malformed");
}

}  // namespace
}  // namespace millrace::identity
