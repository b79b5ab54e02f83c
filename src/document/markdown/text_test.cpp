// Plain text: what lines mean by their shapes.
#include "document/markdown/made_parse.h"
#include "document/markdown/plain_lines.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace millrace::document {
namespace {

std::string text_markdown(std::string_view text) { return markdown_of(text, {{"kind", "text"}}); }

TEST(PlainText, SeparatedValuesAreTables) {
  EXPECT_EQ(text_markdown("patient_number,family_name,given_name,date_of_admission\n"
                          "1000000000001,Vogelsang,\"Anna, \"\"Ann\"\"\",2026-01-15\n"
                          "1000000000002,Meierhofer,Otto|,2026-02-28\n"),
            "| patient_number | family_name | given_name | date_of_admission |\n"
            "| --- | --- | --- | --- |\n"
            "| 1000000000001 | Vogelsang | Anna, \"Ann\" | 2026-01-15 |\n"
            "| 1000000000002 | Meierhofer | Otto\\| | 2026-02-28 |\n");
  EXPECT_EQ(text_markdown("a;b;c\n1,5;2,5;3,5\n"),
            "| a | b | c |\n| --- | --- | --- |\n| 1,5 | 2,5 | 3,5 |\n");
  EXPECT_EQ(text_markdown("a,b,c\n1,,3\n"), "| a | b | c |\n| --- | --- | --- |\n| 1 | | 3 |\n");
  EXPECT_EQ(text_markdown("Name, Age, City\nAnna, 31, Bern\nOtto, 44, Graz\n"),
            "| Name | Age | City |\n| --- | --- | --- |\n| Anna | 31 | Bern |\n"
            "| Otto | 44 | Graz |\n");
}

// Longer ones are cut; each table has the head of the first.
TEST(PlainText, TablesOfAnyLengthHaveTheirHead) {
  const auto with = [](int rows, std::string_view separator) {
    std::string text = fmt::format("number{0}name{0}town\n", separator);
    for (int i = 1; i <= rows; ++i) text += fmt::format("{0}{1}n{0}{1}t{0}\n", i, separator);
    return text_markdown(text);
  };
  const std::string head = "| number | name | town |\n| --- | --- | --- |\n";
  for (const auto* separator : {",", ";", "\t"}) {
    const auto text = with(25'000, separator);
    const auto second = text.find("\n\n") + 2;
    EXPECT_TRUE(text.starts_with(head + "| 1 | n1 | t1 |\n"));
    EXPECT_TRUE(text.substr(second).starts_with(head + "| 10000 | n10000 | t10000 |\n"));
    EXPECT_TRUE(text.ends_with("| 25000 | n25000 | t25000 |\n"));
    // Three heads with a line under each, two blank lines.
    EXPECT_EQ(std::ranges::count(text, '\n'), 25'000 + 3 * 2 + 2);
  }
  const auto full = with(9'999, ",");
  EXPECT_EQ(full.rfind(head), 0U) << "nothing is left for another";
  EXPECT_EQ(std::ranges::count(full, '\n'), 9'999 + 2);
}

TEST(PlainText, RowsThatAreNoTableKeepTheirLines) {
  EXPECT_EQ(
      text_markdown("{\"event\":\"begin\",\"place\":\"the first of all places\",\"n\":1}\n"
                    "{\"event\":\"finish\",\"place\":\"the second of all places\",\"n\":2}\n"),
      "{\"event\":\"begin\",\"place\":\"the first of all places\",\"n\":1}\\\n"
      "{\"event\":\"finish\",\"place\":\"the second of all places\",\"n\":2}\n");
}

TEST(PlainText, SentencesWithCommasAreJoined) {
  EXPECT_EQ(text_markdown("We bought apples, pears, and plums at the market in town\n"
                          "which was, as usual, full of people who wanted the same.\n"),
            "We bought apples, pears, and plums at the market in town which was, as usual, full of "
            "people who wanted the same.\n");
  EXPECT_EQ(text_markdown("The sum of 1,234,567 was paid to those who had asked for it\n"
                          "and another 7,654,321 to others who had waited for a long time.\n"),
            "The sum of 1,234,567 was paid to those who had asked for it and another 7,654,321 to "
            "others who had waited for a long time.\n");
  EXPECT_EQ(text_markdown("apples from the garden, pears from the market, plums, cherries,\n"
                          "lemons from the island, limes from the market, melons, bananas,\n"
                          "grapes from the hillside, figs from the market, dates, walnuts,\n"),
            "apples from the garden, pears from the market, plums, cherries, lemons from the "
            "island, limes from the market, melons, bananas, grapes from the hillside, figs from "
            "the market, dates, walnuts,\n");
}

TEST(PlainText, EntriesOfLogsKeepTheirLines) {
  const std::string_view log =
      "2026-11-19 04:36:34.120 INFO the worker has claimed a job and begins with it\n"
      "2026-11-19 04:36:35.480 WARN the worker has lost its lease and gives the job up\n"
      "    at Dispatcher::run, where it was waiting for an answer from the store\n"
      "2026-11-19 04:36:36.001 INFO the worker has claimed a job and begins with it\n";
  std::string expected(log);
  for (auto at = expected.find('\n'); at + 1 < expected.size(); at = expected.find('\n', at + 2)) {
    expected.insert(at, "\\");
  }
  expected.erase(expected.find("    at"), 4);
  EXPECT_EQ(text_markdown(log), expected);
}

TEST(PlainText, LinesThatBeginWithATime) {
  for (const auto* line :
       {"2026-11-19 04:36:34 x", "2026-11-19T04:36:34Z x", "[2026-11-19 04:36] x", "19.11.2026 x",
        "11/19/2026, 4:36 x", "[04:36:34] x", "04:36 x", "Nov 19 04:36:34 host x",
        "Nov  9 04:36:34 host x", "Thu Nov 19 04:36:34 2026 x", "[19/Nov/2026:04:36:34 +0000] x",
        "1795062994.123 x"}) {
    EXPECT_TRUE(starts_with_time(line)) << line;
  }
  for (const auto* line : {"", "[", "2026 was a year", "Nov 19 was a day", "12 apples",
                           "1.5 litres", "2026-11-190 x", "May 12 people"}) {
    EXPECT_FALSE(starts_with_time(line)) << line;
  }
}

TEST(PlainText, LinesOfScriptsWithoutSpacesAreJoinedWithoutOne) {
  EXPECT_EQ(text_markdown("水磨坊坐落在河边。水轮有十二个叶片，水流过\n"
                          "水闸；磨坊主早上打开水闸，晚上关闭水闸。\n"),
            "水磨坊坐落在河边。水轮有十二个叶片，水流过水闸；磨坊主早上打开水闸，晚上关闭水闸。\n");
  EXPECT_EQ(text_markdown("粉屋は朝に門を開け、「夜に閉めます」\n水車には十二枚の羽根があり。\n"),
            "粉屋は朝に門を開け、「夜に閉めます」水車には十二枚の羽根があり。\n");
  EXPECT_EQ(text_markdown("โรงสีน้ำตั้งอยู่ริมแม่น้ำสาย\nหนึ่งและน้ำไหลผ่านประตูน้ำ\n"),
            "โรงสีน้ำตั้งอยู่ริมแม่น้ำสายหนึ่งและน้ำไหลผ่านประตูน้ำ\n");
  EXPECT_EQ(
      text_markdown("물레방아는 강가에 서 있습니다. 바퀴에는 열두\n개의 날개가 있고 물은 수문을 "
                    "통해 흐릅니다.\n"),
      "물레방아는 강가에 서 있습니다. 바퀴에는 열두 개의 날개가 있고 물은 수문을 통해 흐릅니다.\n")
      << "Korean has spaces";
  EXPECT_EQ(text_markdown("水磨坊坐落在河边。水轮有十二个叶片，水流过\nLinux 的水闸\n"),
            "水磨坊坐落在河边。水轮有十二个叶片，水流过 Linux 的水闸\n");
}

TEST(PlainText, NumberedLinesThatStandAloneAreHeadings) {
  EXPECT_EQ(text_markdown("AGREEMENT\n\n1. SCOPE OF SERVICES\n\nThe services are these.\n\n"
                          "2. TERM AND NOTICE\n\n2.1 Notice Period\n\nThree months.\n\n"
                          "3. Final Provisions\n\nNone.\n"),
            "AGREEMENT\n\n## 1. SCOPE OF SERVICES\n\nThe services are these.\n\n"
            "## 2. TERM AND NOTICE\n\n### 2.1 Notice Period\n\nThree months.\n\n"
            "## 3. Final Provisions\n\nNone.\n");
}

// Sections without a text are no list: not before there are three of them.
TEST(PlainText, NumberedCapitalsAreHeadingsAboveATextOrWhereTheyAreFew) {
  EXPECT_EQ(text_markdown("1. RESERVED\n\n2. TERM\n\nThe term is one year.\n"),
            "## 1. RESERVED\n\n## 2. TERM\n\nThe term is one year.\n");
  EXPECT_EQ(text_markdown("1. RESERVED\n\n2. TERM\n"), "## 1. RESERVED\n\n## 2. TERM\n");
  EXPECT_EQ(
      text_markdown(
          "1. SCOPE\n\nAll.\n\n2. RESERVED\n\n3. RESERVED\n\n4. TERM\n\n4.1 LENGTH\n\nA year.\n"),
      "## 1. SCOPE\n\nAll.\n\n## 2. RESERVED\n\n## 3. RESERVED\n\n## 4. TERM\n\n### 4.1 "
      "LENGTH\n\nA year.\n");
  EXPECT_EQ(text_markdown("1. ASPIRIN\n\n2. RAMIPRIL\n\n3. METOPROLOL\n\n4. DIET\n\nNo salt.\n"),
            "1. ASPIRIN\n\n2. RAMIPRIL\n\n3. METOPROLOL\n\n## 4. DIET\n\nNo salt.\n");
}

TEST(PlainText, ItemsOfListsAreNoHeadings) {
  EXPECT_EQ(text_markdown("1. Buy Milk\n\n2. Call Otto\n\n3. Pay Rent\n\nThen go home.\n"),
            "1. Buy Milk\n\n2. Call Otto\n\n3. Pay Rent\n\nThen go home.\n");
  EXPECT_EQ(text_markdown("1. ASPIRIN 100 MG\n\n2. RAMIPRIL 5 MG\n\n3. METOPROLOL 47 MG\n"),
            "1. ASPIRIN 100 MG\n\n2. RAMIPRIL 5 MG\n\n3. METOPROLOL 47 MG\n");
  EXPECT_EQ(text_markdown("1. ASPIRIN 100 MG\n\n2. Ramipril 5 mg\n\n3. METOPROLOL\n\n4. ZINC\n"),
            "1. ASPIRIN 100 MG\n\n2. Ramipril 5 mg\n\n3. METOPROLOL\n\n4. ZINC\n");
  EXPECT_EQ(text_markdown("1. SCOPE\n\n1. The first.\n\n2. The second.\n\n2. TERM\n\nNone.\n"),
            "## 1. SCOPE\n\n1. The first.\n\n2. The second.\n\n## 2. TERM\n\nNone.\n")
      << "numbers that do not follow are of another list";
  EXPECT_EQ(text_markdown("1. buy some milk\n\nThen go home.\n"),
            "1. buy some milk\n\nThen go home.\n");
  EXPECT_EQ(text_markdown("12. March 2026\n\nDear Anna,\n"), "12. March 2026\n\nDear Anna,\n");
  EXPECT_EQ(text_markdown("4. The End.\n\nMore.\n"), "4. The End.\n\nMore.\n");
  EXPECT_EQ(text_markdown("> 1. Last Words\n\nMore.\n"), "> 1. Last Words\n\nMore.\n")
      << "nothing follows in the quote";
}

}  // namespace
}  // namespace millrace::document
