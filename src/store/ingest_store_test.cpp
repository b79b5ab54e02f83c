#include "store/ingest_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace millrace::store {
namespace {

// B-18. By python3: hashlib.sha256(base64.b64encode(struct.pack('<3f', 0.5, -1, 0))).hexdigest()
TEST(VectorSha, b18_IsOfTheBase64OfLittleEndianFloats) {
  EXPECT_EQ(vector_sha({0.5F, -1.0F, 0.0F}),
            "2ba2dd226d78d96b0b787b8d748f655894f6905408d9c8222a9f7d93a7626a5f");
  EXPECT_EQ(vector_sha({}), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_NE(vector_sha({1, 2}), vector_sha({2, 1}));
}

TEST(VectorText, IsReadBackBitForBit) {
  for (const float x : {0.1F, -3.4028235e38F, 1e-45F, 0.33333334F, 1.0F}) {
    const auto text = vector_text({x});
    EXPECT_EQ(std::strtof(text.c_str() + 1, nullptr), x) << text;
  }
  EXPECT_EQ(vector_text({0.5F, -1.0F}), "{0.5,-1}");
}

TEST(Signature, HasABitForEachComponentOneAboveZero) {
  EXPECT_EQ(signature_of({0.5F, -1.0F, 0.0F, 2.0F}), "1001");
}

TEST(VectorBatch, HoldsEverythingInTheOrderOfItsChunks) {
  VectorBatch batch;
  const auto first = Uuid::parse("00000000-0000-4000-8000-000000000001").value();
  const auto second = Uuid::parse("00000000-0000-4000-8000-000000000002").value();
  batch.add(first, {1, 2});
  batch.add(second, {-3, 4});
  EXPECT_THAT(batch.chunks, testing::ElementsAre(first, second));
  EXPECT_THAT(batch.vectors, testing::ElementsAre("{1,2}", "{-3,4}"));
  EXPECT_THAT(batch.signatures, testing::ElementsAre("11", "01"));
  EXPECT_EQ(batch.shas.size(), 2U);
}

}  // namespace
}  // namespace millrace::store
