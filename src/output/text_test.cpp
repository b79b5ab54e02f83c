#include "base/json.h"
#include "layout/code_points.h"
#include "output/csv_text.h"
#include "output/instant.h"
#include "output/plain_text.h"
#include "output/samples.h"
#include "output/words.h"
#include "output/xml_text.h"
#include "output/xml_tree.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace millrace::output {
namespace {

using layout::clinical::letter;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

TEST(PlainText, IsTheTextThatOffsetsLeadInto) {
  const auto map = letter();
  EXPECT_EQ(page_text(map.pages[0]), map.pages[0].text);
}

TEST(PlainText, MarksPagesAndNamesThoseThatWereNotRead) {
  auto map = letter();
  map.pages.erase(map.pages.begin());
  const auto text = document_text(map, {.page_count = 3});
  EXPECT_EQ(text,
            "--- page 1 of 3: not read ---\n"
            "--- page 2 of 3 ---\n"
            "Haemoglobin 13.5 g/dL (12.0 - 16.0)\nAllergic to penicillin: rash\n"
            "--- page 3 of 3: not read ---\n");
}

TEST(PlainText, OfADocumentIsThatOfItsPages) {
  const auto map = letter();
  for (const auto mark : {PageMark::none, PageMark::form_feed, PageMark::line}) {
    const TextOptions options{.mark = mark};
    EXPECT_EQ(document_text(map, options),
              page_text(map.pages[0], options) + page_text(map.pages[1], options));
  }
  EXPECT_EQ(page_text(map.pages[1], {.mark = PageMark::form_feed}), map.pages[1].text + "\n\f");
}

TEST(WordsJson, HasOneExactLineForEachWord) {
  const auto page = letter().pages[1];
  const auto lines = lines_of(words_json(page));
  ASSERT_EQ(lines.size(), page.words.size());
  EXPECT_EQ(
      lines[1],
      R"({"page":2,"i":1,"text":"13.5","bbox":[0.19633,0.125,0.22967,0.134],)"
      R"("px":[236,200,276,214],"conf":0.95,"line":0,"block":0,"kind":"text","char":[12,16]})");
}

TEST(WordsJson, OffsetsReproduceEachWord) {
  for (const auto& page : letter().pages) {
    const auto text = layout::to_code_points(page.text);
    for (const auto& line : lines_of(words_json(page))) {
      auto word = parse_json(line).value().as_object();
      const auto& range = word["char"].as_array();
      const auto begin = static_cast<std::size_t>(range[0].as_int64());
      const auto end = static_cast<std::size_t>(range[1].as_int64());
      EXPECT_EQ(text.substr(begin, end - begin),
                layout::to_code_points(std::string(word["text"].as_string())));
    }
  }
}

TEST(WordsJson, IsJsonWhateverStandsOnThePage) {
  const auto page = hostile_page();
  const auto lines = lines_of(words_json(page));
  ASSERT_EQ(lines.size(), page.words.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(parse_json(lines[i]).value().as_object()["text"].as_string(), page.words[i].text);
  }
  for (const auto& line : lines_of(words_json(broken_page()))) EXPECT_TRUE(parse_json(line));
}

TEST(WordsCsv, HasAColumnForEveryHeading) {
  const auto page = letter().pages[1];
  const auto rows = lines_of(words_csv_header() + words_csv(page));
  ASSERT_EQ(rows.size(), page.words.size() + 1);
  EXPECT_EQ(rows[2], "2,1,13.5,0.95,0.19633,0.125,0.22967,0.134,236,200,40,14,0,0,text,12,16\r");
  EXPECT_EQ(std::ranges::count(rows[0], ','), std::ranges::count(rows[2], ','));
}

TEST(Csv, RunsNothingInASpreadsheet) {
  EXPECT_EQ(csv_field("=1+1"), "'=1+1");
  EXPECT_EQ(csv_field("@SUM(A1)"), "'@SUM(A1)");
  EXPECT_EQ(csv_field("+cmd|'/c'!A0"), "'+cmd|'/c'!A0");
  EXPECT_EQ(csv_field("-2+3"), "'-2+3");
  EXPECT_EQ(csv_field("\t=1"), "\"'\t=1\"");
}

TEST(Csv, LeavesNumbersAlone) {
  EXPECT_EQ(csv_field("-2.5"), "-2.5");
  EXPECT_EQ(csv_field("+3"), "+3");
  EXPECT_EQ(csv_field("-inf"), "'-inf");
}

TEST(Csv, QuotesWhatWouldEndAField) {
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"no\""), "\"say \"\"no\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(csv_field(std::string("a\0\x1b", 3)), "a\ufffd\ufffd");
  EXPECT_EQ(csv_row({"a", "", "b c"}), "a,,b c\r\n");
}

TEST(XmlText, ComesBackFromAParserAsItWas) {
  for (const auto& word : hostile_words()) {
    const auto node = parse_xml("<a b=\"" + xml_text(word) + "\">" + xml_text(word) + "</a>");
    EXPECT_EQ(node.text, word);
    EXPECT_EQ(node.at("b"), word);
  }
  EXPECT_EQ(parse_xml("<a b=\"" + xml_text("x\n\ty") + "\"/>").at("b"), "x\n\ty");
}

TEST(XmlText, ReplacesWhatXmlCannotHold) {
  EXPECT_EQ(xml_text(std::string("a\0b\x01", 4)), "a\ufffdb\ufffd");
  EXPECT_EQ(xml_text("\xff"), "\ufffd");
  EXPECT_EQ(xml_text("\xef\xbf\xbe\xef\xbf\xbf"), "\ufffd\ufffd");
  EXPECT_EQ(xml_text("]]>"), "]]&gt;");
}

TEST(Instants, AreReadBackAsWritten) {
  for (const auto* text : {"2026-11-16T12:00:00.000Z", "2000-02-29T23:59:59.999Z"}) {
    ASSERT_TRUE(parse_instant(text));
    EXPECT_EQ(to_text(*parse_instant(text)), text);
  }
  for (const auto* text : {"", "2026-11-16", "2026-11-16T12:00:00Z", "2026-02-30T12:00:00.000Z",
                           "2026-11-16T24:00:00.000Z", "2026-11-16 12:00:00.000Z"}) {
    EXPECT_FALSE(parse_instant(text)) << text;
  }
}

TEST(DocumentInfo, KnowsALanguageTagFromAnythingElse) {
  for (const auto* tag : {"en", "de-CH", "zh-Hant-TW"}) EXPECT_TRUE(is_language_tag(tag)) << tag;
  for (const auto* tag : {"", "-", "e n", "en-", "englishes", "en\"", "1a"}) {
    EXPECT_FALSE(is_language_tag(tag)) << tag;
  }
}

}  // namespace
}  // namespace millrace::output
