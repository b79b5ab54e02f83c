#include "pipeline/run_record.h"

#include <boost/json/object.hpp>
#include <gtest/gtest.h>

namespace millrace::pipeline {
namespace {

store::PageResult answered(int page, bool reused) {
  return {.page = page,
          .stage = "entities",
          .result = {.content = {},
                     .reuse_key = {},
                     .meta = json::Object{{"engine", "passes 1"},
                                          {"provider", "openai"},
                                          {"model", "m"},
                                          {"tokens_in", 100},
                                          {"tokens_out", 20},
                                          {"cost_micros", 7}}},
          .reused = reused};
}

TEST(RunRecord, WhatWasTakenOverSaysWhoMadeItAndCostsNothing) {
  RunRecord record;
  record.add(answered(1, true), false);
  const auto& stage = record.stages.at("entities");
  EXPECT_EQ(stage.engine + ", " + stage.provider + ", " + stage.model, "passes 1, openai, m");
  EXPECT_EQ(stage.tokens_in + stage.tokens_out + stage.cost_micros, 0U);
  EXPECT_EQ(stage.pages_reused, 1U);

  record.add(answered(2, false), false);
  EXPECT_EQ(stage.tokens_in, 100U);
  EXPECT_EQ(stage.tokens_out, 20U);
  EXPECT_EQ(stage.cost_micros, 7U);
  EXPECT_EQ(stage.pages_done, 1U);
}

}  // namespace
}  // namespace millrace::pipeline
