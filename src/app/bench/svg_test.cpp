#include "app/bench/svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(SvgTest, TicksAreRoundAndReachTheHighest) {
  EXPECT_THAT(round_ticks(10), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(round_ticks(353'000), ElementsAre(0, 100'000, 200'000, 300'000, 400'000));
  EXPECT_EQ(round_ticks(0).front(), 0);
  EXPECT_GE(round_ticks(0.7).back(), 0.7);
  EXPECT_THAT(log_ticks(0.5, 20), ElementsAre(0.1, 1, 10, 100));
}

TEST(SvgTest, NumbersAreShort) {
  EXPECT_EQ(tick_text(0), "0");
  EXPECT_EQ(tick_text(0.55), "0.55");
  EXPECT_EQ(tick_text(350'000), "350k");
  EXPECT_EQ(tick_text(1'250'000), "1.25M");
}

TEST(SvgTest, LinesHaveLabelsLegendAndEscapedText) {
  const auto svg =
      draw(LineChart{.title = "a < b",
                     .x_label = "seconds",
                     .y_label = "jobs/s",
                     .series = {{"one", {{0, 1}, {1, 5}}}, {"two", {{0, 2}, {1, 3}}}}});
  EXPECT_THAT(svg, HasSubstr("a &lt; b"));
  for (const char* text : {"seconds", "jobs/s", ">one<", ">two<", "<polyline", "</svg>"}) {
    EXPECT_THAT(svg, HasSubstr(text));
  }
}

TEST(SvgTest, WhatWasNotMeasuredHasNoBar) {
  const auto svg = draw(BarChart{.title = "t",
                                 .y_label = "jobs/s",
                                 .groups = {"g1"},
                                 .series = {{"here", {100.0}}, {"missing", {std::nullopt}}}});
  EXPECT_THAT(svg, HasSubstr(">100<"));
  EXPECT_THAT(svg, HasSubstr(">missing<"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(SvgTest, NothingAtAllIsStillAPicture) {
  EXPECT_THAT(draw(LineChart{.title = "t", .series = {}}), Not(HasSubstr("nan")));
  EXPECT_THAT(draw(BarChart{.title = "t", .groups = {"g"}, .series = {}, .log_y = true}),
              Not(HasSubstr("nan")));
}

}  // namespace
}  // namespace millrace::app
