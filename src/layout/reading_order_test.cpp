// Pages of known layouts, set with boxes as OCR has them and as text layers have them.
#include "layout/reading_order.h"

#include "base/random.h"
#include "layout/sheet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace millrace::layout {
namespace {

class ReadingOrder : public testing::TestWithParam<Boxes> {
 protected:
  Sheet sheet() const { return Sheet(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(Boxes, ReadingOrder, testing::Values(Boxes::small, Boxes::font),
                         [](const auto& param) {
                           return param.param == Boxes::small ? "AsOcr" : "AsTextLayer";
                         });

const std::vector<std::string> kLeft = {
    "The patient was seen in clinic", "after a fall at home last week",
    "and has since been walking with", "a stick but without much pain",
    "at rest or during the night"};
const std::vector<std::string> kRight = {
    "On examination the left knee was", "swollen and warm to the touch",
    "with a full range of movement", "and no sign of instability on",
    "stress testing of the joint"};

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const auto& line : lines) out += (out.empty() ? "" : "\n") + line;
  return out;
}

TEST_P(ReadingOrder, ParagraphsAreBlocksAndLinesAreLines) {
  auto page = sheet();
  page.lines(60, 80, kLeft).lines(60, 180, kRight);
  const auto map = page.map();
  EXPECT_EQ(map.text, joined(kLeft) + "\n\n" + joined(kRight));
  ASSERT_EQ(map.blocks.size(), 2U);
  EXPECT_EQ(map.blocks[0].kind, BlockKind::text);
}

TEST_P(ReadingOrder, ColumnsAreReadOneAfterTheOther) {
  auto page = sheet();
  page.text(60, 50, "Report of the orthopaedic department", 16);
  page.lines(60, 100, kLeft).lines(320, 100, kRight);
  page.text(280, 770, "Page 1 of 3");
  const auto map = page.map();
  EXPECT_EQ(map.text, "Report of the orthopaedic department\n\n" + joined(kLeft) + "\n\n" +
                          joined(kRight) + "\n\nPage 1 of 3");
  EXPECT_EQ(map.blocks.front().kind, BlockKind::heading);
  EXPECT_EQ(map.blocks.back().kind, BlockKind::footer);
}

TEST_P(ReadingOrder, ColumnsWhoseLinesAreNotLevelAreColumnsToo) {
  auto page = sheet();
  page.lines(60, 100, kLeft).lines(320, 106, kRight);
  EXPECT_EQ(page.map().text, joined(kLeft) + "\n\n" + joined(kRight));
}

TEST_P(ReadingOrder, ColumnsGoOnOverTheWhiteBetweenParagraphs) {
  auto page = sheet();
  page.lines(60, 100, kLeft).lines(320, 100, kRight);
  page.lines(60, 190, kRight).lines(320, 190, kLeft);
  EXPECT_EQ(page.map().text, joined(kLeft) + "\n\n" + joined(kRight) + "\n\n" + joined(kRight) +
                                 "\n\n" + joined(kLeft));
}

TEST_P(ReadingOrder, TheLongerColumnIsFinishedBeforeTheNext) {
  auto page = sheet();
  page.lines(60, 100, kLeft).lines(60, 162.5, kRight).lines(320, 100, kRight);
  EXPECT_EQ(page.map().text, joined(kLeft) + "\n" + joined(kRight) + "\n\n" + joined(kRight));
}

TEST_P(ReadingOrder, ThreeColumnsUnderOneTitle) {
  const std::vector<std::string> narrow = {"one two three four five", "six seven eight nine ten",
                                           "alpha beta gamma delta", "more words are in here"};
  auto page = sheet();
  page.text(60, 40, "A title that runs across all of the three columns below it");
  page.lines(40, 80, narrow).lines(220, 80, narrow).lines(400, 80, narrow);
  EXPECT_EQ(page.map().text, "A title that runs across all of the three columns below it\n\n" +
                                 joined(narrow) + "\n\n" + joined(narrow) + "\n\n" +
                                 joined(narrow));
}

Sheet lab_table(Sheet page) {
  const std::vector<std::vector<std::string>> rows = {
      {"Test", "Result", "Unit", "Reference"},
      {"Haemoglobin", "13.5", "g/dL", "12.0 - 16.0"},
      {"Creatinine", "88", "umol/L", "50 - 110"},
      {"Potassium", "4.1", "mmol/L", "3.5 - 5.1"},
      {"Sodium", "139", "mmol/L", "135 - 145"}};
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto y = 200 + 16 * static_cast<double>(r);
    page.text(60, y, rows[r][0]).text(220, y, rows[r][1]);
    page.text(310, y, rows[r][2]).text(420, y, rows[r][3]);
  }
  return page;
}

TEST_P(ReadingOrder, TablesAreReadRowByRow) {
  auto page = sheet();
  page.text(60, 120, "The following results were obtained on the day of admission to the ward:");
  const auto map = lab_table(page).map();
  EXPECT_EQ(map.text,
            "The following results were obtained on the day of admission to the ward:\n\n"
            "Test Result Unit Reference\nHaemoglobin 13.5 g/dL 12.0 - 16.0\n"
            "Creatinine 88 umol/L 50 - 110\nPotassium 4.1 mmol/L 3.5 - 5.1\n"
            "Sodium 139 mmol/L 135 - 145");
  ASSERT_EQ(map.tables.size(), 1U);
  const auto& table = map.tables[0];
  EXPECT_EQ(table.rows, 5U);
  EXPECT_EQ(table.columns, 4U);
  ASSERT_EQ(table.cells.size(), 20U);
  EXPECT_EQ(map.text_of(table.cells[7].words), "12.0 - 16.0");
  EXPECT_EQ(table.cells[7].row, 1U);
  EXPECT_EQ(table.cells[7].column, 3U);
  EXPECT_EQ(map.blocks[table.block].kind, BlockKind::table);
  EXPECT_TRUE(check_structures(map).has_value());
}

TEST_P(ReadingOrder, AnEmptyCellLeavesItsColumnToTheOthers) {
  auto page = sheet();
  page.text(60, 100, "Drug").text(250, 100, "Dose").text(400, 100, "Note");
  page.text(60, 118, "Ramipril").text(250, 118, "5 mg").text(400, 118, "morning");
  page.text(60, 136, "Aspirin").text(400, 136, "stopped");
  page.text(60, 154, "Insulin").text(250, 154, "10 units");
  const auto map = page.map();
  ASSERT_EQ(map.tables.size(), 1U);
  const auto& cells = map.tables[0].cells;
  ASSERT_EQ(cells.size(), 10U);
  EXPECT_EQ(map.text_of(cells[7].words), "stopped");
  EXPECT_EQ(cells[7].column, 2U);
  EXPECT_EQ(map.text_of(cells[9].words), "10 units");
  EXPECT_EQ(cells[9].column, 1U);
}

TEST_P(ReadingOrder, ASecondLineInACellBelongsToItsRow) {
  auto page = sheet();
  const std::vector<std::pair<std::string, std::vector<std::string>>> rows = {
      {"Lisinopril", {"take one tablet by mouth", "every morning"}},
      {"Metformin", {"take one tablet twice", "a day with meals"}},
      {"Simvastatin", {"take one tablet at night"}}};
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto y = 100 + 44 * static_cast<double>(r);
    page.text(60, y, rows[r].first).lines(250, y, rows[r].second);
  }
  const auto map = page.map();
  EXPECT_EQ(map.text,
            "Lisinopril take one tablet by mouth every morning\n"
            "Metformin take one tablet twice a day with meals\n"
            "Simvastatin take one tablet at night");
  ASSERT_EQ(map.tables.size(), 1U);
  EXPECT_EQ(map.tables[0].rows, 3U);
}

TEST_P(ReadingOrder, ASlantedPageReadsLikeALevelOne) {
  for (const double degrees : {-4.0, -1.0, 2.0, 6.0}) {
    auto page = sheet();
    page.lines(60, 100, kLeft).lines(320, 100, kRight);
    EXPECT_EQ(page.slanted(degrees).map().text, joined(kLeft) + "\n\n" + joined(kRight)) << degrees;
  }
}

TEST_P(ReadingOrder, TheOrderInWhichWordsCameDoesNotMatter) {
  SeededRandom random(11);
  auto page = lab_table(sheet());
  page.lines(60, 60, kLeft).lines(60, 400, kLeft).lines(320, 400, kRight);
  const auto expected = page.map();
  for (int round = 0; round < 5; ++round) {
    auto& words = page.words();
    for (std::size_t i = words.size(); i > 1; --i) std::swap(words[i - 1], words[random.below(i)]);
    EXPECT_EQ(page.map(), expected);
  }
}

TEST_P(ReadingOrder, HeadingsAndListsAreKnown) {
  auto page = sheet();
  page.text(60, 60, "MEDICATIONS ON DISCHARGE");
  page.lines(60, 90,
             {"1. Ramipril 5 mg once daily", "2. Aspirin 75 mg once daily",
              "3. Bisoprolol 2.5 mg once daily"});
  page.lines(60, 160, kLeft);
  const auto map = page.map();
  ASSERT_EQ(map.blocks.size(), 3U);
  EXPECT_EQ(map.blocks[0].kind, BlockKind::heading);
  EXPECT_EQ(map.blocks[1].kind, BlockKind::list);
  EXPECT_EQ(map.blocks[2].kind, BlockKind::text);
}

TEST(ReadingOrderScripts, TextThatRunsUpTheMarginComesLast) {
  Sheet page;
  page.lines(100, 100, kLeft);
  const auto upright = page.map().text;
  // A word that runs upwards: its polygon begins at the bottom.
  RawWord margin{.text = "Confidential", .box = {.x0 = 20, .y0 = 300, .x1 = 30, .y1 = 380}};
  margin.poly = Quad{{{20, 380}, {20, 300}, {30, 300}, {30, 380}}};
  page.words().insert(page.words().begin(), margin);
  const auto map = page.map();
  EXPECT_EQ(map.text, upright + "\n\nConfidential");
  EXPECT_EQ(map.blocks.back().kind, BlockKind::margin);
}

TEST(ReadingOrderScripts, RightToLeftLinesBeginAtTheRight) {
  Sheet page;
  page.words().push_back({.text = "שלום", .box = {.x0 = 500, .y0 = 100, .x1 = 540, .y1 = 110}});
  page.words().push_back({.text = "לכם", .box = {.x0 = 460, .y0 = 100, .x1 = 495, .y1 = 110}});
  page.words().push_back({.text = "12", .box = {.x0 = 425, .y0 = 100, .x1 = 435, .y1 = 110}});
  page.words().push_back({.text = "mg", .box = {.x0 = 440, .y0 = 100, .x1 = 455, .y1 = 110}});
  EXPECT_EQ(page.map().text, "שלום לכם 12 mg");
}

TEST(ReadingOrderScripts, APageWithoutWordsIsAPage) {
  const auto map = Sheet().map();
  EXPECT_EQ(map.text, "");
  EXPECT_TRUE(map.words.empty());
  EXPECT_TRUE(map.blocks.empty());
}

}  // namespace
}  // namespace millrace::layout
