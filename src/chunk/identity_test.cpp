#include "chunk/identity.h"

#include <gtest/gtest.h>

namespace millrace::chunk {
namespace {

const Uuid kDocument = Uuid::parse("A1B2C3D4-0000-4000-8000-00000000abcd").value();

// The ids below were made with Python's uuid.uuid5.

TEST(ChunkIdentity, ChunkIdIsTheSourceDesigns) {  // B-09
  EXPECT_EQ(chunk_id(kDocument, 0).to_string(), "e78325a2-5af7-5794-8ab1-83a87c5e220c");
  EXPECT_EQ(chunk_id(kDocument, 17).to_string(), "b1025793-a57a-53df-b173-b48d41849565");
}

TEST(ChunkIdentity, ParseIdIsLowered) {  // B-10
  EXPECT_EQ(parse_id(kDocument, {"LlamaParse", "2.0"}).to_string(),
            "55747612-3aa8-5858-b71d-d6c66163fd5a");
  EXPECT_EQ(parse_id(kDocument, {"LlamaParse", "2.0"}), parse_id(kDocument, {"llamaparse", "2.0"}));
}

TEST(ChunkIdentity, ContentIdFollowsTextParametersAndPlace) {  // B-11
  const ContentOf of{.parsed_sha256 = sha256_of("text"),
                     .params_sha256 = sha256_of("params"),
                     .start_byte = 100,
                     .end_byte = 250};
  EXPECT_EQ(content_id(of).to_string(), "2f9e2971-158d-5cbb-bab4-3f1e0539534a");
  auto other = of;
  other.parsed_sha256 = sha256_of("text, parsed again");
  EXPECT_NE(content_id(other), content_id(of));
  other = of;
  other.params_sha256 = sha256_of("other");
  EXPECT_NE(content_id(other), content_id(of));
  other = of;
  other.end_byte = 251;
  EXPECT_NE(content_id(other), content_id(of));
  other = of;
  other.chunker.version = "2";
  EXPECT_NE(content_id(other), content_id(of));
}

TEST(ChunkIdentity, VersionNamesTheChunker) {  // B-08
  EXPECT_EQ(kChunksVersion, std::string(kChunkerName) + "@" + std::string(kChunkerVersion));
}

TEST(ChunkIdentity, ParametersAreTheirText) {
  const ByteBound bytes;
  const FunctionTokenCounter words("words@1", [](std::string_view) { return 1U; }, 2);
  const ChunkOptions options;
  EXPECT_EQ(params_text(options, bytes),
            "max_tokens=2048;target_tokens=1536;min_tokens=256;max_bytes=32768;"
            "prefix_share_percent=25;overlap_tokens=0;first_page=none;overhead=0;normal=normal/1;"
            "unicode=14.0.0;tokenizer=bytes");
  EXPECT_NE(params_sha256(options, bytes), params_sha256(options, words));
  EXPECT_NE(params_sha256(options, bytes), params_sha256({.min_tokens = 255}, bytes));
}

}  // namespace
}  // namespace millrace::chunk
