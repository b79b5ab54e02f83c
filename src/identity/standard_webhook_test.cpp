#include "identity/standard_webhook.h"

#include "identity/base64.h"
#include "identity/openssl_guard.h"
#include "identity/refusal_matcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace millrace::identity {
namespace {

using namespace std::chrono_literals;

// The example of the published specification, which its libraries test themselves with.
const std::string kSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const std::string kOther = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const std::string kId = "msg_p5jXN8AQM9LWM0D4loKWxJek";
const std::string kTimestamp = "1614265330";
const std::string kBody = R"({"test": 2432232314})";
const std::string kSignature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
const Clock::Wall kAt{1'614'265'330s};

WebhookKeys keys(const std::vector<std::string>& texts) {
  std::vector<Secret<std::string>> list;
  for (const auto& text : texts) list.emplace_back(text);
  auto made = WebhookKeys::make(list);
  EXPECT_THAT(made, Accepted());
  return *std::move(made);
}

Result<void> verify(std::string_view id, std::string_view timestamp, std::string_view signature,
                    std::string_view body, Clock::Wall now = kAt) {
  static const auto known = keys({kSecret});
  return known.verify({.id = id, .timestamp = timestamp, .signature = signature}, body, now);
}

TEST(StandardWebhook, ThePublishedVectorIsComputedAndAccepted) {  // T-10
  const auto made = sign_webhook(Secret<std::string>(kSecret), kId, kAt, kBody);
  ASSERT_THAT(made, Accepted());
  EXPECT_EQ(*made, kSignature);
  EXPECT_THAT(verify(kId, kTimestamp, kSignature, kBody), Accepted());
}

// Each bit of each byte: of the body, of the id, of the time and of the signature.
TEST(StandardWebhook, AnAlteredByteAtAnyPositionIsRefused) {
  const std::array<std::string, 4> parts = {kId, kTimestamp, kSignature, kBody};
  int tried = 0;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    for (std::size_t at = 0; at < parts[part].size(); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        auto altered = parts;
        altered[part][at] = static_cast<char>(altered[part][at] ^ (1 << bit));
        EXPECT_FALSE(verify(altered[0], altered[1], altered[2], altered[3]).has_value())
            << "part " << part << ", byte " << at << ", bit " << bit;
        ++tried;
      }
    }
  }
  EXPECT_EQ(tried, static_cast<int>(
                       8 * (kId.size() + kTimestamp.size() + kSignature.size() + kBody.size())));
}

TEST(StandardWebhook, AByteMoreOrLessAtAnyPositionIsRefused) {
  const std::array<std::string, 4> parts = {kId, kTimestamp, kSignature, kBody};
  for (std::size_t part = 0; part < parts.size(); ++part) {
    for (std::size_t at = 0; at < parts[part].size(); ++at) {
      auto shorter = parts;
      shorter[part].erase(at, 1);
      EXPECT_FALSE(verify(shorter[0], shorter[1], shorter[2], shorter[3]).has_value());
      auto longer = parts;
      longer[part].insert(at, "0");
      EXPECT_FALSE(verify(longer[0], longer[1], longer[2], longer[3]).has_value());
    }
  }
}

// What ends the id and begins the time must be certain.
TEST(StandardWebhook, BytesCannotMoveFromOnePartToTheNext) {
  EXPECT_FALSE(verify("msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330", "1614265330", kSignature, kBody)
                   .has_value());
  EXPECT_THAT(verify("msg.p5jXN8AQM9LWM0D4loKWxJek", kTimestamp, kSignature, kBody),
              RefusedAs(Refusal::malformed));
}

TEST(StandardWebhook, AWrongClockIsRefusedEitherWay) {
  EXPECT_THAT(verify(kId, kTimestamp, kSignature, kBody, kAt + 300s), Accepted());
  EXPECT_THAT(verify(kId, kTimestamp, kSignature, kBody, kAt - 300s), Accepted());
  EXPECT_THAT(verify(kId, kTimestamp, kSignature, kBody, kAt + 301s), RefusedAs(Refusal::expired));
  EXPECT_THAT(verify(kId, kTimestamp, kSignature, kBody, kAt - 301s),
              RefusedAs(Refusal::not_yet_valid));
  // Who has no key learns nothing about our clock.
  EXPECT_THAT(verify(kId, kTimestamp, "v1," + std::string(43, 'A') + "=", kBody, kAt + 301s),
              RefusedAs(Refusal::bad_signature));
}

TEST(StandardWebhook, TimesThatAreNoUnixSecondsAreRefused) {
  for (const auto* text : {"-1614265330", "1614265330.0", " 1614265330", "0x6038", "1e9", "now",
                           "99999999999999999999"}) {
    EXPECT_THAT(verify(kId, text, kSignature, kBody), RefusedAs(Refusal::malformed)) << text;
  }
}

TEST(StandardWebhook, MissingHeadersAreRefused) {
  EXPECT_THAT(verify("", kTimestamp, kSignature, kBody), RefusedAs(Refusal::missing));
  EXPECT_THAT(verify(kId, "", kSignature, kBody), RefusedAs(Refusal::missing));
  EXPECT_THAT(verify(kId, kTimestamp, "", kBody), RefusedAs(Refusal::missing));
  EXPECT_THAT(verify(std::string(257, 'a'), kTimestamp, kSignature, kBody),
              RefusedAs(Refusal::malformed));
}

TEST(StandardWebhook, DuringARotationEitherKeyWillDo) {
  const auto both = keys({kOther, kSecret});
  const auto by_other = *sign_webhook(Secret<std::string>(kOther), kId, kAt, kBody);
  const auto check = [&](const WebhookKeys& known, const std::string& signature) {
    return known.verify({.id = kId, .timestamp = kTimestamp, .signature = signature}, kBody, kAt);
  };
  // The receiver has both.
  EXPECT_THAT(check(both, kSignature), Accepted());
  EXPECT_THAT(check(both, by_other), Accepted());
  // The sender signs with both; signatures of other forms stand among them.
  EXPECT_THAT(check(keys({kOther}), "v2,xx " + kSignature + " " + by_other), Accepted());
  EXPECT_THAT(check(keys({kOther}), "v1a,AAAA garbage " + by_other), Accepted());
  // The old one is gone.
  EXPECT_THAT(check(keys({kOther}), kSignature), RefusedAs(Refusal::bad_signature));
}

TEST(StandardWebhook, AMillionSignaturesAreNotAllTried) {
  std::string many;
  for (int i = 0; i < 1'000; ++i) many += "v1,AAAA ";
  EXPECT_THAT(verify(kId, kTimestamp, many + kSignature, kBody), RefusedAs(Refusal::bad_signature));
}

class Ed25519 : public testing::Test {
 protected:
  Ed25519() {
    const std::string seed(32, '\x07');
    pkey_.reset(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr,
                                             reinterpret_cast<const unsigned char*>(seed.data()),
                                             seed.size()));
    std::string raw(32, '\0');
    std::size_t size = raw.size();
    EVP_PKEY_get_raw_public_key(pkey_.get(), reinterpret_cast<unsigned char*>(raw.data()), &size);
    public_key_ = "whpk_" + base64_encode(raw);
  }
  std::string sign(std::string_view bytes) {
    const DigestContextPtr context(EVP_MD_CTX_new());
    EXPECT_EQ(EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, pkey_.get()), 1);
    std::string out(64, '\0');
    std::size_t size = out.size();
    EXPECT_EQ(EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(out.data()), &size,
                             reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()),
              1);
    return "v1a," + base64_encode(out);
  }

  PkeyPtr pkey_;
  std::string public_key_;
};

TEST_F(Ed25519, SignaturesOfAKeyPairCount) {
  const auto known = keys({kOther, public_key_});
  const auto signature = sign(kId + "." + kTimestamp + "." + kBody);
  const auto check = [&](const std::string& text, const std::string& body) {
    return known.verify({.id = kId, .timestamp = kTimestamp, .signature = text}, body, kAt);
  };
  EXPECT_THAT(check(signature, kBody), Accepted());
  EXPECT_THAT(check(signature, kBody + " "), RefusedAs(Refusal::bad_signature));
  // A public key is no shared secret, and a signature of one kind is none of the other.
  EXPECT_THAT(check("v1" + signature.substr(3), kBody), RefusedAs(Refusal::bad_signature));
  for (std::size_t at = 4; at < signature.size(); ++at) {
    auto altered = signature;
    altered[at] = altered[at] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(check(altered, kBody).has_value()) << at;
  }
}

TEST(WebhookKeys, KeysThatAreTooShortOrOfNoKnownFormAreRefused) {
  const auto make = [](std::vector<std::string> texts) {
    std::vector<Secret<std::string>> list;
    for (auto& text : texts) list.emplace_back(std::move(text));
    return WebhookKeys::make(list);
  };
  EXPECT_THAT(make({}), Invalid("there must be a key"));
  EXPECT_THAT(make({"secret"}), Invalid("whsec_ or whpk_"));
  EXPECT_THAT(make({"whsec_" + base64_encode(std::string(23, 'x'))}), Invalid("24 to 64 bytes"));
  EXPECT_THAT(make({"whsec_" + base64_encode(std::string(65, 'x'))}), Invalid("24 to 64 bytes"));
  EXPECT_THAT(make({"whsec_???"}), Invalid("24 to 64 bytes"));
  EXPECT_THAT(make({"whpk_" + base64_encode(std::string(31, 'x'))}), Invalid("32 bytes"));
}

TEST(Base64, IsReadStrictly) {
  for (const auto* text : {"", "Zg==", "Zm8=", "Zm9v", "+/+/"}) {
    const auto bytes = base64_decode(text);
    ASSERT_TRUE(bytes.has_value()) << text;
    EXPECT_EQ(base64_encode(*bytes), text);
  }
  // Without padding, with too much, with unused bits, in the other alphabet.
  for (const auto* text : {"Zg", "Zg=", "Zg===", "Zh==", "-_-_", "Z g=", "====", "Zm9v="}) {
    EXPECT_FALSE(base64_decode(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace millrace::identity
