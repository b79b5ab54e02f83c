#include "identity/content_signer.h"

#include "identity/base64.h"
#include "identity/test_keys.h"

#include <boost/json/object.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace millrace::identity {
namespace {

using testing::HasSubstr;

const std::string kContent = R"({"document_id":"x"})";

ContentSigner signer(const std::string& secret = kTestSecret) {
  auto made = ContentSigner::make(Secret<std::string>(secret));
  EXPECT_TRUE(made.has_value());
  return *std::move(made);
}

std::string checked(const json::Object& signature, std::string_view bytes = kContent,
                    std::string_view file = "manifest.json") {
  const std::vector<std::string> keys = {signer().public_key()};
  const auto answer = check_signature(signature, file, bytes, keys);
  if (answer.has_value()) return "good";
  EXPECT_EQ(answer.error().kind, ErrorKind::conflict);
  return answer.error().message;
}

TEST(ContentSigner, WhatItSignedIsGoodAndAnyOtherByteIsNot) {
  const auto signature = signer().sign("manifest.json", kContent).value();
  EXPECT_EQ(checked(signature), "good");
  for (std::size_t i = 0; i < kContent.size(); ++i) {
    auto other = kContent;
    other[i] = static_cast<char>(other[i] ^ 1);
    EXPECT_THAT(checked(signature, other), HasSubstr("not what was signed")) << i;
  }
  EXPECT_EQ(checked(signature, kContent, "facts.json"), "it is of another file");
}

TEST(ContentSigner, NoByteOfTheSignatureItselfCanBeChanged) {
  const auto text = to_json(signer().sign("manifest.json", kContent).value());
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto other = text;
    other[i] = static_cast<char>(other[i] ^ 1);
    const auto object = parse_json_object(other);
    if (object) {
      EXPECT_NE(checked(*object), "good") << other;
    }
  }
}

// The digest in it can be written anew by anybody.
TEST(ContentSigner, ADigestThatFitsIsNoSignature) {
  auto changed = kContent + " ";
  auto signature = signer().sign("manifest.json", kContent).value();
  signature["sha256"] = signer().sign("manifest.json", changed).value().at("sha256");
  EXPECT_THAT(checked(signature, changed), HasSubstr("not what was signed"));
}

TEST(ContentSigner, AnotherKeyIsNotTrustedByBeingNamed) {
  const auto other = signer("another secret with more than thirty-two bytes");
  const auto signature = other.sign("manifest.json", kContent).value();
  EXPECT_THAT(checked(signature), HasSubstr(content_key_id(other.public_key())));
  EXPECT_THAT(checked(signature), HasSubstr("not trusted"));
  auto borrowed = signature;
  borrowed["public_key"] = signer().public_key();
  borrowed["key_id"] = content_key_id(signer().public_key());
  EXPECT_THAT(checked(borrowed), HasSubstr("not what was signed"));
}

TEST(ContentSigner, WhatIsNoSignatureIsSaid) {
  EXPECT_THAT(checked({}), HasSubstr("signature/1"));
  auto signature = signer().sign("manifest.json", kContent).value();
  signature["signature"] = base64_encode("short");
  EXPECT_EQ(checked(signature), "it is damaged");
  signature["algorithm"] = "none";
  EXPECT_THAT(checked(signature), HasSubstr("Ed25519"));
}

// Copies of an installation agree, and signatures last as long as its secret.
TEST(ContentSigner, TheSameSecretHasTheSameKey) {
  EXPECT_EQ(signer().public_key(), signer().public_key());
  EXPECT_EQ(signer().sign("a", kContent).value(), signer().sign("a", kContent).value());
  EXPECT_TRUE(signer().public_key().starts_with("MCowBQYDK2VwAyEA"));  // As PEM has it.
  EXPECT_FALSE(ContentSigner::make(Secret<std::string>("short")).has_value());
}

}  // namespace
}  // namespace millrace::identity
