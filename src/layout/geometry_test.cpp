#include "layout/geometry.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace millrace::layout {
namespace {

void expect_near(const Box& box, const Box& expected) {
  EXPECT_NEAR(box.x0, expected.x0, 1e-5);
  EXPECT_NEAR(box.y0, expected.y0, 1e-5);
  EXPECT_NEAR(box.x1, expected.x1, 1e-5);
  EXPECT_NEAR(box.y1, expected.y1, 1e-5);
}

TEST(Geometry, CoordinatesAreClampedAndHaveFiveDecimals) {
  EXPECT_EQ(round_coordinate(0.123456789), 0.12346);
  EXPECT_EQ(round_coordinate(-3), 0);
  EXPECT_EQ(round_coordinate(1.5), 1);
  EXPECT_EQ(round_coordinate(std::nan("")), 0);
  EXPECT_EQ(round_coordinate(std::numeric_limits<double>::infinity()), 1);
}

TEST(Geometry, FourQuarterTurnsLeadBack) {
  const Box box{.x0 = 0.1, .y0 = 0.2, .x1 = 0.4, .y1 = 0.3};
  auto turning = box;
  for (int i = 0; i < 4; ++i) turning = turned(turning, 90);
  expect_near(turning, box);
  expect_near(turned(turned(box, 270), 90), box);
  expect_near(turned(box, 180), {.x0 = 0.6, .y0 = 0.7, .x1 = 0.9, .y1 = 0.8});
}

TEST(Geometry, AClockwiseTurnTakesTheLeftEdgeToTheTop) {
  expect_near(turned(Box{.x0 = 0, .y0 = 0.4, .x1 = 0.1, .y1 = 0.6}, 90),
              {.x0 = 0.4, .y0 = 0, .x1 = 0.6, .y1 = 0.1});
}

TEST(Frame, PixelsBecomeFractionsOfThePage) {
  const Frame frame{.visible = {.x1 = 1000, .y1 = 2000}};
  expect_near(to_page(frame, Box{.x0 = 100, .y0 = 200, .x1 = 300, .y1 = 400}),
              {.x0 = 0.1, .y0 = 0.1, .x1 = 0.3, .y1 = 0.2});
}

TEST(Frame, PdfCountsFromTheBottomOfItsCropBox) {
  const Frame frame{.visible = {.x0 = 50, .y0 = 100, .x1 = 250, .y1 = 500},
                    .origin = Origin::bottom_left};
  expect_near(to_page(frame, Box{.x0 = 70, .y0 = 460, .x1 = 110, .y1 = 480}),
              {.x0 = 0.1, .y0 = 0.05, .x1 = 0.3, .y1 = 0.1});
  EXPECT_FALSE(is_visible(frame, {.x0 = 0, .y0 = 0, .x1 = 40, .y1 = 90}));
  EXPECT_TRUE(is_visible(frame, {.x0 = 0, .y0 = 0, .x1 = 60, .y1 = 110}));
}

TEST(Frame, RefusesPagesWithoutASizeAndOddRotations) {
  EXPECT_FALSE(check_frame({}).has_value());
  EXPECT_FALSE(check_frame({.visible = {.x1 = std::nan(""), .y1 = 3}}).has_value());
  EXPECT_FALSE(check_frame({.visible = {.x1 = 1, .y1 = 1}, .rotation_deg = 45}).has_value());
  EXPECT_FALSE(check_frame({.visible = {.x1 = 1, .y1 = 1}, .rotation_deg = 360}).has_value());
  EXPECT_TRUE(check_frame({.visible = {.x1 = 1, .y1 = 1}, .rotation_deg = 270}).has_value());
}

TEST(Rotation, AnyMultipleOfNinetyHasOneForm) {
  EXPECT_EQ(normal_rotation(-90, "rotate").value(), 270);
  EXPECT_EQ(normal_rotation(450, "rotate").value(), 90);
  EXPECT_EQ(normal_rotation(-720, "rotate").value(), 0);
  EXPECT_EQ(normal_rotation(44, "rotate").error().message, "rotate must be a multiple of 90");
  EXPECT_FALSE(normal_rotation(std::nan(""), "rotate").has_value());
}

TEST(Direction, IsReadFromHowThePolygonRuns) {
  const Quad level = {{{0.1, 0.1}, {0.3, 0.1}, {0.3, 0.2}, {0.1, 0.2}}};
  EXPECT_EQ(direction_of(level, 1.4), 0);
  for (const int turn : {90, 180, 270}) EXPECT_EQ(direction_of(turned(level, turn), 1), turn);
}

}  // namespace
}  // namespace millrace::layout
