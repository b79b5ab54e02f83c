#include "identity/compact_jws.h"

#include "identity/refusal_matcher.h"
#include "identity/test_keys.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace millrace::identity {
namespace {

using testing::Not;

constexpr std::string_view kPayload = R"({"sub":"me"})";

std::string token_with(std::string_view header) { return hs256_token(header, kPayload); }

TEST(CompactJws, TakesATokenApart) {
  const auto token = hs256_token(R"({"alg":"HS256","typ":"JWT","kid":"k 1"})", kPayload);
  const auto parsed = parse_compact_jws(token);
  ASSERT_THAT(parsed, Accepted());
  EXPECT_EQ(parsed->algorithm, Algorithm::hs256);
  EXPECT_EQ(parsed->key_id, "k 1");
  EXPECT_EQ(parsed->payload, kPayload);
  EXPECT_EQ(parsed->signature.size(), 32U);
  EXPECT_EQ(parsed->signing_input + "." + base64url_encode(parsed->signature), token);
}

TEST(CompactJws, ReadsTheHeadersThatIssuersSend) {
  for (const auto* header :
       {R"({"alg":"ES256"})", R"({"alg":"RS256","typ":"at+jwt"})", R"({"typ":"jwt","alg":"HS256"})",
        R"({"alg":"HS256","typ":"application/JWT"})",
        R"({"alg":"HS256","x5t":"abc","jku":"http://x"})",
        R"({"alg":"HS256","cty":"twilio-fpa;v=1"})"}) {
    EXPECT_THAT(parse_compact_jws(token_with(header)), Accepted()) << header;
  }
}

// RFC 7519 §6.1: the unsecured JWT, with its empty signature and with one.
TEST(CompactJws, RefusesUnsecuredTokens) {
  EXPECT_THAT(
      parse_compact_jws("eyJhbGciOiJub25lIn0.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQo"
                        "gImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ."),
      RefusedAs(Refusal::unsupported));
  for (const auto* header : {R"({"alg":"none"})", R"({"alg":"None"})", R"({"alg":"NONE"})",
                             R"({"alg":"nOnE"})", R"({"alg":""})", R"({"alg":"hs256"})",
                             R"({"alg":"HS256 "})", R"({"alg":"HS512"})", R"({"alg":"PS256"})"}) {
    EXPECT_THAT(parse_compact_jws(token_with(header)), RefusedAs(Refusal::unsupported)) << header;
  }
  for (const auto* header : {R"({"typ":"JWT"})", R"({"alg":null})", R"({"alg":["HS256"]})",
                             R"({"alg":{"a":1}})", R"({"alg":1})"}) {
    EXPECT_THAT(parse_compact_jws(token_with(header)), RefusedAs(Refusal::malformed)) << header;
  }
}

TEST(CompactJws, RefusesWhatWouldChangeTheMeaning) {
  for (const auto* header :
       {R"({"alg":"HS256","crit":["exp"]})", R"({"alg":"HS256","crit":[]})",
        R"({"alg":"HS256","crit":null})", R"({"alg":"HS256","b64":false})",
        R"({"alg":"HS256","zip":"DEF"})", R"({"alg":"HS256","enc":"A256GCM"})",
        R"({"alg":"HS256","typ":"JOSE+JSON"})", R"({"alg":"HS256","typ":"dpop+jwt"})",
        R"({"alg":"HS256","typ":7})", R"({"alg":"HS256","cty":"JWT"})",
        R"({"alg":"HS256","cty":"application/jwt"})"}) {
    EXPECT_THAT(parse_compact_jws(token_with(header)), RefusedAs(Refusal::unsupported)) << header;
  }
}

TEST(CompactJws, RefusesHeadersThatAreNotOneJsonObject) {
  for (const auto* header :
       {"", "null", "[]", R"("alg")", R"({"alg":"HS256")", R"({"alg":"HS256"} x)",
        R"({"alg":"HS256"}{"alg":"none"})", R"({'alg':'HS256'})", "\xff{}"}) {
    EXPECT_THAT(parse_compact_jws(token_with(header)), RefusedAs(Refusal::malformed)) << header;
  }
}

// Parsers disagree which one counts.
TEST(CompactJws, RefusesNamesThatAppearTwice) {
  for (const auto* header :
       {R"({"alg":"none","alg":"HS256"})", R"({"alg":"HS256","alg":"HS256"})",
        R"({"alg":"HS256","\u0061lg":"none"})", R"({"alg":"HS256","jwk":{"k":1,"k":2}})"}) {
    EXPECT_THAT(parse_compact_jws(token_with(header)), RefusedAs(Refusal::malformed)) << header;
  }
}

TEST(CompactJws, RefusesAnyOtherNumberOfParts) {
  const auto token = token_with(R"({"alg":"HS256"})");
  for (const auto& text :
       {std::string(), std::string("."), std::string(".."), std::string("..."), std::string("abc"),
        token + ".", "." + token, fmt::format("{0}.{0}", token), token.substr(0, token.rfind('.')),
        token.substr(0, token.rfind('.') + 1), "." + token.substr(token.find('.') + 1)}) {
    EXPECT_THAT(parse_compact_jws(text), RefusedAs(Refusal::malformed)) << text;
  }
}

TEST(CompactJws, RefusesEveryTruncation) {
  const auto token = token_with(R"({"alg":"HS256"})");
  for (std::size_t size = 0; size < token.size(); ++size) {
    const auto parsed = parse_compact_jws(token.substr(0, size));
    if (!parsed) continue;  // Else it is cut within the signature, which no longer fits:
    EXPECT_LT(parsed->signature.size(), 32U);
  }
}

TEST(CompactJws, RefusesPartsInAnotherOrder) {
  const auto token = token_with(R"({"alg":"HS256"})");
  const auto first = token.find('.');
  const auto second = token.rfind('.');
  const auto header = token.substr(0, first);
  const auto payload = token.substr(first + 1, second - first - 1);
  const auto signature = token.substr(second + 1);
  EXPECT_THAT(parse_compact_jws(payload + "." + header + "." + signature),
              RefusedAs(Refusal::malformed));
  EXPECT_THAT(parse_compact_jws(signature + "." + payload + "." + header),
              RefusedAs(Refusal::malformed));
}

TEST(CompactJws, RefusesOtherSpellingsOfTheSameBytes) {
  const std::string header = base64url_encode(R"({"alg":"HS256"})");
  const std::string payload = base64url_encode(kPayload);
  const std::string signature(43, 'A');
  const std::string input = header + "." + payload + ".";
  ASSERT_THAT(parse_compact_jws(input + signature), Accepted());
  for (const auto& token :
       {fmt::format("{}=.{}.{}", header, payload, signature),
        fmt::format("{}.{}=.{}", header, payload, signature), input + signature + "=",  // Padding.
        input + std::string(42, 'A') + "B",  // Bits that belong to no byte.
        input + std::string(42, '+') + "A", input + signature + "\n", " " + input + signature}) {
    EXPECT_THAT(parse_compact_jws(token), RefusedAs(Refusal::malformed)) << token;
  }
}

TEST(CompactJws, RefusesTooMuchOfAnything) {
  const auto header = base64url_encode(R"({"alg":"HS256"})");
  EXPECT_THAT(parse_compact_jws(std::string(1'000'000, 'a')), RefusedAs(Refusal::malformed));
  EXPECT_THAT(parse_compact_jws(std::string(kTokenMaxBytes, '.')), RefusedAs(Refusal::malformed));
  const auto long_header =
      R"({"alg":"HS256","x":")" + std::string(kTokenHeaderMaxBytes, 'x') + "\"}";
  EXPECT_THAT(parse_compact_jws(token_with(long_header)), RefusedAs(Refusal::malformed));
  std::string deep = R"({"alg":"HS256","x":)";
  for (int i = 0; i < 500; ++i) deep += "[";
  EXPECT_THAT(parse_compact_jws(token_with(deep)), RefusedAs(Refusal::malformed));
  const auto long_kid = R"({"alg":"HS256","kid":")" + std::string(kKeyIdMaxBytes + 1, 'k') + "\"}";
  EXPECT_THAT(parse_compact_jws(token_with(long_kid)), RefusedAs(Refusal::malformed));
  EXPECT_THAT(parse_compact_jws(token_with(R"({"alg":"HS256","kid":7})")),
              RefusedAs(Refusal::malformed));
  const auto signature = base64url_encode(std::string(kTokenSignatureMaxBytes + 1, 's'));
  EXPECT_THAT(parse_compact_jws(header + ".e30." + signature), RefusedAs(Refusal::malformed));
}

TEST(CompactJws, SaysNothingOfTheTokenInItsErrors) {
  for (const auto* header : {R"({"hunter2":1,"hunter2":2})", R"({"alg":"hunter2"})",
                             R"({"alg":"HS256","typ":"hunter2"})", "hunter2"}) {
    const auto parsed = parse_compact_jws(token_with(header));
    ASSERT_FALSE(parsed.has_value());
    EXPECT_THAT(parsed.error().describe(), Not(testing::HasSubstr("hunter2")));
  }
}

}  // namespace
}  // namespace millrace::identity
