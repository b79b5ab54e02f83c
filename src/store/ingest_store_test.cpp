#include "store/ingest_store.h"

#include <boost/json/object.hpp>
#include <gtest/gtest.h>

namespace millrace::store {
namespace {

// B-24, H-21: what a job that runs says of itself (progress_data).
TEST(Generation, ProgressTellsWhatIsInTheBuffers) {
  const Generation generation{.id = {},
                              .state = "building",
                              .model = "m",
                              .version = "1",
                              .chunks_total = 9,
                              .chunks_done = 9,
                              .embeds_done = 7,
                              .placed = 2};
  EXPECT_EQ(to_json(generation.progress()),
            R"({"chunks_total":9,"chunks_done":9,"embeds_done":7,"chunks_in_buffer":7,)"
            R"("vectors_in_buffer":5})");
}

TEST(Generation, NothingIsInTheBuffersBeforeTheFirstChunk) {
  const Generation generation{.id = {}, .state = "building", .model = "m", .version = "1"};
  EXPECT_EQ(to_json(generation.progress()),
            R"({"chunks_total":null,"chunks_done":0,"embeds_done":0,"chunks_in_buffer":0,)"
            R"("vectors_in_buffer":0})");
}

}  // namespace
}  // namespace millrace::store
