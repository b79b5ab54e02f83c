#include "identity/verify_key.h"

#include "identity/refusal_matcher.h"
#include "identity/test_keys.h"

#include <boost/json/array.hpp>
#include <boost/json/string.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/err.h>

#include <string>

namespace millrace::identity {
namespace {

constexpr std::string_view kRfcPayload =
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVl"
    "fQ";

json::Object object(std::string_view text) {
  auto parsed = parse_json_object(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed.value_or(json::Object());
}

bool verifies(const VerifyKey& key, const std::string& token) {
  const auto parsed = parse_compact_jws(token);
  EXPECT_THAT(parsed, Accepted());
  return parsed && parsed->algorithm == key.algorithm() &&
         key.verify(parsed->signing_input, parsed->signature);
}

// With any one bit of the signature or the payload changed, it must not hold.
void expect_every_altered_byte_is_noticed(const VerifyKey& key, const std::string& token) {
  const auto parsed = parse_compact_jws(token);
  ASSERT_THAT(parsed, Accepted());
  for (std::size_t i = 0; i < parsed->signature.size(); ++i) {
    auto signature = parsed->signature;
    signature[i] = static_cast<char>(signature[i] ^ (1 << (i % 8)));
    EXPECT_FALSE(key.verify(parsed->signing_input, signature)) << "byte " << i;
  }
  auto input = parsed->signing_input;
  input.back() = input.back() == 'A' ? 'B' : 'A';
  EXPECT_FALSE(key.verify(input, parsed->signature));
}

TEST(VerifyKey, AgreesWithRfc7515AppendixA1) {
  const auto secret = base64url_decode(
      "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow");
  const auto key = VerifyKey::from_secret(Secret(*secret));
  ASSERT_THAT(key, Accepted());
  const auto token = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9." + std::string(kRfcPayload) +
                     ".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
  EXPECT_TRUE(verifies(*key, token));
  expect_every_altered_byte_is_noticed(*key, token);
}

TEST(VerifyKey, AgreesWithRfc7515AppendixA2) {
  const auto key = VerifyKey::from_jwk(object(
      R"({"kty":"RSA","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4q)"
      R"(PCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0)"
      R"(LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qC)"
      R"(o5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRW)"
      R"(yuXpoQ","e":"AQAB"})"));
  ASSERT_THAT(key, Accepted());
  EXPECT_EQ(key->algorithm(), Algorithm::rs256);
  const auto token =
      "eyJhbGciOiJSUzI1NiJ9." + std::string(kRfcPayload) +
      ".cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc"
      "_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO"
      "75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eO"
      "kHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkW"
      "ywlVmtVrBp0igcN_IoypGlUPQGe77Rw";
  EXPECT_TRUE(verifies(*key, token));
  expect_every_altered_byte_is_noticed(*key, token);
}

TEST(VerifyKey, AgreesWithRfc7515AppendixA3) {
  const auto key = VerifyKey::from_jwk(
      object(R"({"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",)"
             R"("y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"})"));
  ASSERT_THAT(key, Accepted());
  EXPECT_EQ(key->algorithm(), Algorithm::es256);
  const auto token =
      "eyJhbGciOiJFUzI1NiJ9." + std::string(kRfcPayload) +
      ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
  EXPECT_TRUE(verifies(*key, token));
  expect_every_altered_byte_is_noticed(*key, token);
}

TEST(VerifyKey, ChecksWhatFreshKeysSign) {
  const auto rsa = TestKey::rsa();
  const auto ec = TestKey::ec();
  const auto rsa_token = signed_token(rsa, R"({"alg":"RS256"})", "{}");
  const auto ec_token = signed_token(ec, R"({"alg":"ES256"})", "{}");
  for (const auto& key : {VerifyKey::from_jwk(rsa.jwk()), VerifyKey::from_pem(rsa.pem())}) {
    ASSERT_THAT(key, Accepted());
    EXPECT_TRUE(verifies(*key, rsa_token));
    EXPECT_FALSE(verifies(*key, ec_token));
  }
  for (const auto& key : {VerifyKey::from_jwk(ec.jwk()), VerifyKey::from_pem(ec.pem())}) {
    ASSERT_THAT(key, Accepted());
    EXPECT_TRUE(verifies(*key, ec_token));
    EXPECT_FALSE(verifies(*key, rsa_token));
  }
  EXPECT_FALSE(verifies(*VerifyKey::from_jwk(TestKey::ec().jwk()), ec_token));
}

TEST(VerifyKey, RefusesWeakSecrets) {
  EXPECT_THAT(VerifyKey::from_secret(Secret(std::string())), Invalid("32 to 4096 bytes, not 0"));
  EXPECT_THAT(VerifyKey::from_secret(Secret(std::string(31, 's'))), Invalid("not 31"));
  EXPECT_THAT(VerifyKey::from_secret(Secret(std::string(32, 's'))), Accepted());
  EXPECT_THAT(VerifyKey::from_secret(Secret(std::string(4097, 's'))), Invalid("not 4097"));
  const auto short_secret = VerifyKey::from_secret(Secret(std::string("hunter2")));
  EXPECT_THAT(short_secret.error().describe(), testing::Not(testing::HasSubstr("hunter2")));
}

// The classic confusion begins with a public key in the place of the secret.
TEST(VerifyKey, RefusesAPublicKeyAsASecret) {
  EXPECT_THAT(VerifyKey::from_secret(Secret(TestKey::ec().pem())), Invalid("PEM"));
}

TEST(VerifyKey, RefusesWeakOrStrangeRsaKeys) {
  EXPECT_THAT(VerifyKey::from_jwk(TestKey::rsa(1024).jwk()),
              Invalid("2048 to 8192 bits, not 1024"));
  EXPECT_THAT(VerifyKey::from_pem(TestKey::rsa(1024).pem()), Invalid("not 1024"));
  auto jwk = TestKey::rsa().jwk();
  for (const auto* e : {"AQ", "Aw", "AQAA", "", "AQABAQABAQABAQAB"}) {  // 1, 3, even, none, huge.
    auto weak = jwk;
    weak["e"] = e;
    EXPECT_THAT(VerifyKey::from_jwk(weak), Invalid("exponent")) << e;
  }
  auto even = jwk;
  even["n"] = base64url_encode("\xf0" + std::string(255, '\0'));
  EXPECT_THAT(VerifyKey::from_jwk(even), Invalid("odd"));
  auto huge = jwk;
  huge["n"] = base64url_encode(std::string(4096, '\xff'));
  EXPECT_THAT(VerifyKey::from_jwk(huge), Invalid("2048 to 8192"));
  for (const auto* name : {"n", "e"}) {
    auto broken = jwk;
    broken[name] = 7;
    EXPECT_THAT(VerifyKey::from_jwk(broken), Invalid("must be a string"));
    broken[name] = "AQAB=";
    EXPECT_THAT(VerifyKey::from_jwk(broken), Invalid("base64url"));
    broken.erase(name);
    EXPECT_THAT(VerifyKey::from_jwk(broken), Invalid("must be a string"));
  }
}

TEST(VerifyKey, RefusesCoordinatesThatAreNoPointOfTheCurve) {
  const auto jwk = TestKey::ec().jwk();
  auto elsewhere = jwk;
  elsewhere["x"] = base64url_encode(std::string(32, '\x01'));
  EXPECT_THAT(VerifyKey::from_jwk(elsewhere), Invalid("P-256"));
  auto zero = jwk;
  zero["x"] = base64url_encode(std::string(32, '\0'));
  zero["y"] = base64url_encode(std::string(32, '\0'));
  EXPECT_THAT(VerifyKey::from_jwk(zero), Invalid("P-256"));
  auto over = jwk;  // Past the field's prime.
  over["x"] = base64url_encode(std::string(32, '\xff'));
  EXPECT_THAT(VerifyKey::from_jwk(over), Invalid("P-256"));
  auto longer = jwk;
  longer["y"] = base64url_encode(std::string(33, '\0'));
  EXPECT_THAT(VerifyKey::from_jwk(longer), Invalid("32 bytes"));
  auto none = jwk;
  none["y"] = "";
  EXPECT_THAT(VerifyKey::from_jwk(none), Invalid("32 bytes"));
  auto curve = jwk;
  curve["crv"] = "P-384";
  EXPECT_THAT(VerifyKey::from_jwk(curve), Invalid("P-256"));
}

// Some publishers leave leading zeros out.
TEST(VerifyKey, PadsShortCoordinates) {
  for (;;) {
    const auto ec = TestKey::ec();
    auto jwk = ec.jwk("short");
    auto x = *base64url_decode(jwk["x"].get_string());
    if (x.front() != '\0') continue;  // One in 256.
    jwk["x"] = base64url_encode(x.substr(1));
    const auto key = VerifyKey::from_jwk(jwk);
    ASSERT_THAT(key, Accepted());
    EXPECT_TRUE(verifies(*key, signed_token(ec, R"({"alg":"ES256"})", "{}")));
    break;
  }
}

TEST(VerifyKey, RefusesOtherCurvesAndKindsInPem) {
  EXPECT_THAT(VerifyKey::from_pem(TestKey::ec("P-384").pem()), Invalid("P-256"));
  EXPECT_THAT(VerifyKey::from_pem(TestKey::ec("secp256k1").pem()), Invalid("P-256"));
  EXPECT_THAT(VerifyKey::from_pem("nonsense"), Invalid("BEGIN PUBLIC KEY"));
  EXPECT_THAT(VerifyKey::from_pem(""), Invalid("BEGIN PUBLIC KEY"));
  EXPECT_THAT(VerifyKey::from_pem("-----BEGIN EC PRIVATE KEY-----\nMHc\n"), Invalid("private key"));
}

TEST(VerifyKey, HonoursWhatTheKeyIsFor) {
  const auto jwk = TestKey::ec().jwk();
  const auto with = [&](std::string_view name, json::Value value) {
    auto changed = jwk;
    changed[name] = std::move(value);
    return VerifyKey::from_jwk(changed);
  };
  EXPECT_THAT(with("use", "sig"), Accepted());
  EXPECT_THAT(with("use", "enc"), Invalid("use"));
  EXPECT_THAT(with("use", nullptr), Invalid("use"));
  EXPECT_THAT(with("key_ops", json::Array{"verify"}), Accepted());
  EXPECT_THAT(with("key_ops", json::Array{"sign", "verify"}), Accepted());
  EXPECT_THAT(with("key_ops", json::Array{"deriveBits"}), Invalid("key_ops"));
  EXPECT_THAT(with("key_ops", json::Array{}), Invalid("key_ops"));
  EXPECT_THAT(with("key_ops", "verify"), Invalid("key_ops"));
  EXPECT_THAT(with("alg", "ES256"), Accepted());
  EXPECT_THAT(with("alg", "RS256"), Invalid("alg"));
  EXPECT_THAT(with("alg", "HS256"), Invalid("alg"));
  EXPECT_THAT(with("alg", "ECDH-ES"), Invalid("alg"));
  EXPECT_THAT(with("kid", 7), Invalid("kid"));
  EXPECT_THAT(with("kid", json::String(kKeyIdMaxBytes + 1, 'k')), Invalid("key id"));
  EXPECT_THAT(with("d", "AQAB"), Invalid("private part"));
  EXPECT_THAT(with("kty", "OKP"), Invalid("RSA or EC"));
  EXPECT_THAT(VerifyKey::from_jwk(object(R"({"kty":"oct","alg":"HS256"})")), Invalid("RSA or EC"));
}

// RFC 7518 §3.4: 64 bytes, r and s between 1 and the order of the group.
TEST(VerifyKey, RefusesOtherFormsOfAnEcSignature) {
  const auto ec = TestKey::ec();
  const auto key = VerifyKey::from_jwk(ec.jwk());
  const auto input = signing_input(R"({"alg":"ES256"})", "{}");
  const auto good = ec.sign(input);
  ASSERT_TRUE(key->verify(input, good));
  const auto zero = std::string(32, '\0');
  const auto r = good.substr(0, 32);
  const auto s = good.substr(32);
  for (const auto& signature :
       {std::string(), ec.sign_der(input), r, good.substr(1), good + '\0', zero + zero, zero + s,
        r + zero, s + r, std::string(64, '\xff'), std::string(1, '\0') + good}) {
    EXPECT_FALSE(key->verify(input, signature));
  }
}

// (r, n - s) is as good a signature as (r, s), by the standard and for every signer. So nothing may
// know a token by its bytes; TokenVerifier's tests show that both are the same token.
TEST(VerifyKey, AcceptsBothFormsOfAnEcdsaSignature) {
  const auto ec = TestKey::ec();
  const auto key = VerifyKey::from_jwk(ec.jwk());
  const auto input = signing_input(R"({"alg":"ES256"})", "{}");
  const auto good = ec.sign(input);
  BIGNUM* order = nullptr;
  BN_hex2bn(&order, "FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551");
  BIGNUM* s = BN_bin2bn(reinterpret_cast<const unsigned char*>(good.data()) + 32, 32, nullptr);
  BN_sub(s, order, s);
  const auto other = good.substr(0, 32) + TestKey::padded(s, 32);
  BN_add(s, s, order);  // Past the order: the same number once more, which is refused.
  if (BN_num_bytes(s) <= 32) {
    EXPECT_FALSE(key->verify(input, good.substr(0, 32) + TestKey::padded(s, 32)));
  }
  BN_free(s);
  BN_free(order);
  EXPECT_NE(other, good);
  EXPECT_TRUE(key->verify(input, other));
}

// TLS on the same thread would take our leftovers for its own failure.
TEST(VerifyKey, LeavesNoErrorsBehind) {
  ERR_clear_error();
  const auto ec = TestKey::ec();
  const auto key = VerifyKey::from_jwk(ec.jwk());
  EXPECT_FALSE(key->verify("input", std::string(64, '\xff')));
  EXPECT_FALSE(VerifyKey::from_jwk(TestKey::rsa().jwk())->verify("input", "short"));
  EXPECT_FALSE(VerifyKey::from_pem("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"));
  auto jwk = ec.jwk();
  jwk["x"] = base64url_encode(std::string(32, '\x01'));
  EXPECT_FALSE(VerifyKey::from_jwk(jwk));
  EXPECT_EQ(ERR_peek_error(), 0U);
}

}  // namespace
}  // namespace millrace::identity
