#include "layout/form.h"

#include "layout/running_text.h"
#include "layout/sheet.h"
#include "layout/spatial_map.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::layout {
namespace {

std::vector<std::string> pairs_of(const PageMap& map) {
  std::vector<std::string> out;
  for (const auto& pair : map.pairs) {
    out.push_back(std::string(map.text_of(pair.key)) + "=" + std::string(map.text_of(pair.value)));
  }
  return out;
}

std::vector<std::string> boxes_of(const PageMap& map) {
  std::vector<std::string> out;
  for (const auto& box : map.checkboxes) {
    out.push_back(std::string(box.checked ? "+" : "-") +
                  std::string(box.label ? map.text_of(*box.label) : ""));
  }
  return out;
}

using Texts = std::vector<std::string>;

TEST(Forms, KeysAndValuesOfOneLine) {
  Sheet page;
  page.text(60, 100, "Patient name: Jane Doe DOB: 1970-03-12");
  EXPECT_EQ(pairs_of(page.map()), (Texts{"Patient name:=Jane Doe", "DOB:=1970-03-12"}));
}

TEST(Forms, AWideGapEndsAValueAndBeginsAKey) {
  Sheet page;
  page.text(60, 100, "Name:").text(130, 100, "Jane Doe").text(300, 100, "Date of birth: 1970");
  EXPECT_EQ(pairs_of(page.map()), (Texts{"Name:=Jane Doe", "Date of birth:=1970"}));
}

TEST(Forms, AKeyAloneHasItsValueBelow) {
  Sheet page;
  page.lines(60, 100, {"Diagnosis:", "Pneumonia of the left lung"});
  EXPECT_EQ(pairs_of(page.map()), (Texts{"Diagnosis:=Pneumonia of the left lung"}));
}

TEST(Forms, ASentenceWithAColonIsNoKey) {
  Sheet page;
  page.text(60, 100, "He told us at length about the following three complaints: pain and cough");
  page.text(60, 130, "Seen at 10:30 in the clinic");
  EXPECT_TRUE(page.map().pairs.empty());
}

TEST(Forms, TablesOfTwoColumnsArePairs) {
  Sheet page;
  page.text(60, 100, "Weight").text(260, 100, "82 kg");
  page.text(60, 118, "Height").text(260, 118, "178 cm");
  page.text(60, 136, "Pulse").text(260, 136, "72 /min");
  EXPECT_EQ(pairs_of(page.map()), (Texts{"Weight=82 kg", "Height=178 cm", "Pulse=72 /min"}));
}

TEST(Forms, CheckboxesAreReadWithTheirLabels) {
  Sheet page;
  page.text(60, 100, "☑ smoker").text(200, 100, "☐ alcohol").text(340, 100, "[x] diabetes");
  page.text(60, 130, "[ ] asthma").text(200, 130, "( ) other").text(340, 130, "plain text");
  EXPECT_EQ(boxes_of(page.map()), (Texts{"+smoker", "-alcohol", "+diabetes", "-asthma", "-other"}));
}

TEST(Forms, FindingThemTwiceChangesNothing) {
  Sheet page;
  page.text(60, 100, "Name: Jane Doe").text(60, 130, "☐ none");
  auto map = page.map();
  const auto once = map;
  find_forms(map);
  EXPECT_EQ(map, once);
}

// Points of the sheet to fractions.
DrawnBox drawn(double x, double y, bool checked) {
  return {.box = {.x0 = x / 600, .y0 = y / 800, .x1 = (x + 9) / 600, .y1 = (y + 9) / 800},
          .checked = checked};
}

TEST(DrawnBoxes, HaveTheWordsBehindThemForALabel) {
  Sheet page;
  page.text(75, 100, "Home visit").text(215, 100, "Needs an interpreter").text(60, 130, "No box");
  auto map = page.map();
  add_drawn_boxes(map, std::vector{drawn(200, 99, true), drawn(60, 99, false)});
  EXPECT_EQ(boxes_of(map), (Texts{"-Home visit", "+Needs an interpreter"}));
  for (const auto& box : map.checkboxes) {
    EXPECT_FALSE(box.mark);
    EXPECT_TRUE(box.box);
  }
  EXPECT_TRUE(check_structures(map).has_value());
}

TEST(DrawnBoxes, EndALabelWhereTheNextOneStands) {
  Sheet page;
  page.text(75, 100, "Yes").text(105, 100, "No");
  auto map = page.map();
  add_drawn_boxes(map, std::vector{drawn(60, 99, false), drawn(94, 99, true)});
  EXPECT_EQ(boxes_of(map), (Texts{"-Yes", "+No"}));
}

TEST(DrawnBoxes, WithoutALabelAreNone) {
  Sheet page;
  page.text(75, 100, "Text far away").text(75, 300, "Left of it");
  auto map = page.map();
  add_drawn_boxes(map, std::vector{drawn(60, 200, true), drawn(180, 299, true)});
  EXPECT_TRUE(map.checkboxes.empty());
}

// The picture knows better than the letters that a box was taken for.
TEST(DrawnBoxes, HaveTheWordThatTheyWereReadAsForAMark) {
  Sheet page;
  page.text(60, 100, "[] smoker").text(60, 130, "O diabetes");
  auto map = page.map();
  ASSERT_EQ(boxes_of(map), (Texts{"-smoker"}));
  add_drawn_boxes(map, std::vector{drawn(60, 99, true), drawn(59, 129, true)});
  EXPECT_EQ(boxes_of(map), (Texts{"+smoker", "+diabetes"}));
  EXPECT_EQ(map.text_of(*map.checkboxes[0].mark), "[]");
  EXPECT_EQ(map.text_of(*map.checkboxes[1].mark), "O");
}

DrawnBox field(double x, double y, bool checked) {
  auto box = drawn(x, y, checked);
  box.field = true;
  return box;
}

TEST(Fields, HaveTheWordsBehindThemForALabelAsDrawnBoxesDo) {
  Sheet page;
  page.text(75, 100, "Home visit");
  auto map = page.map();
  add_drawn_boxes(map, std::vector{field(60, 99, true)});
  EXPECT_EQ(boxes_of(map), (Texts{"+Home visit"}));
}

TEST(Fields, AreKeptWithTheWordsInFrontOrWithout) {
  Sheet page;
  page.text(60, 100, "Wheelchair needed").text(60, 130, "Elsewhere");
  auto map = page.map();
  add_drawn_boxes(map, std::vector{field(400, 300, true), field(155, 99, true)});
  EXPECT_EQ(boxes_of(map), (Texts{"+Wheelchair needed", "+"}));
  EXPECT_TRUE(check_structures(map).has_value());
}

TEST(Fields, OfARowThatEndsWithOneHaveTheirLabelsInFront) {
  Sheet page;
  page.text(60, 100, "Yes").text(105, 100, "No");
  auto map = page.map();
  add_drawn_boxes(map, std::vector{field(80, 99, true), field(122, 99, false)});
  EXPECT_EQ(boxes_of(map), (Texts{"+Yes", "-No"}));
}

// What is in front belongs to the box before it.
TEST(Fields, DoNotTakeTheLabelOfAnother) {
  Sheet page;
  page.text(75, 100, "Yes").text(60, 200, "Other words");
  auto map = page.map();
  add_drawn_boxes(map, std::vector{field(60, 99, true), field(95, 99, false)});
  EXPECT_EQ(boxes_of(map), (Texts{"+Yes", "-"}));
}

PageMap numbered_page(std::uint32_t number, const std::string& body) {
  Sheet page;
  page.text(60, 20, "St Elsewhere Hospital, record 88213");
  page.text(60, 100, body);
  page.text(60, 770, "printed on sheet " + std::to_string(number) + " of this file");
  return page.map(number);
}

TEST(RunningText, WhatRepeatsAtTheEdgeIsHeaderOrFooter) {
  auto map = merge_pages({numbered_page(3, "The third page has text of its own"),
                          numbered_page(1, "A first page that begins the story"),
                          numbered_page(2, "And now the second one goes on")});
  ASSERT_TRUE(map.has_value()) << map.error().message;
  for (const auto& page : map->pages) {
    ASSERT_EQ(page.blocks.size(), 3U);
    EXPECT_EQ(page.blocks[0].kind, BlockKind::header);
    EXPECT_EQ(page.blocks[1].kind, BlockKind::text);
    EXPECT_EQ(page.blocks[2].kind, BlockKind::footer);
  }
}

TEST(RunningText, WhatStandsOnOnePageOnlyIsText) {
  auto map = merge_pages({numbered_page(1, "A page")});
  ASSERT_TRUE(map.has_value());
  EXPECT_EQ(map->pages[0].blocks[0].kind, BlockKind::text);
}

TEST(RunningText, PageNumbersAreKnownOnASinglePage) {
  for (const std::string number : {"3", "- 3 -", "Page 3 of 7", "3/7", "Seite 3 von 7"}) {
    Sheet page;
    page.text(60, 100, "Some text in the middle of it").text(290, 775, number);
    EXPECT_EQ(page.map().blocks.back().kind, BlockKind::footer) << number;
  }
  Sheet page;
  page.text(60, 100, "Some text in the middle of it").text(290, 775, "See page 3");
  EXPECT_EQ(page.map().blocks.back().kind, BlockKind::text);
}

TEST(SpatialMap, PagesComeInAnyOrderAndAgain) {
  const auto first = numbered_page(1, "One");
  const auto third = numbered_page(3, "Three");
  const auto map = merge_pages({third, first, third});
  ASSERT_TRUE(map.has_value());
  ASSERT_EQ(map->pages.size(), 2U);
  EXPECT_EQ(map->pages[0].info.page, 1U);
  EXPECT_EQ(map->page(3)->info.page, 3U);
  EXPECT_EQ(map->page(2), nullptr);
  EXPECT_EQ(missing_pages(*map, 4), (std::vector<std::uint32_t>{2, 4}));
  EXPECT_EQ(document_text(*map), first.text + "\f" + third.text);
}

TEST(SpatialMap, OnePageWithTwoContentsIsAConflict) {
  const auto map = merge_pages({numbered_page(2, "One"), numbered_page(2, "Two")});
  ASSERT_FALSE(map.has_value());
  EXPECT_EQ(map.error().kind, ErrorKind::conflict);
  EXPECT_EQ(map.error().message, "page 2 is there twice with different content");
}

}  // namespace
}  // namespace millrace::layout
