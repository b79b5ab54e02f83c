#include "output/alto.h"

#include "output/samples.h"
#include "output/xml_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <charconv>
#include <regex>
#include <set>
#include <sstream>

namespace millrace::output {
namespace {

using layout::clinical::letter;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// The part of ALTO 4.4 that we write: attributes that must be there, those that may (# a number,
// @ an id, & references), and the order of children as a regular expression.
struct Rule {
  std::string required;
  std::string optional;
  std::string children;
};

const std::map<std::string, Rule>& rules() {
  static const std::string kPlace = " HPOS# VPOS# WIDTH# HEIGHT#";
  static const std::string kBlocks = "((TextBlock|ComposedBlock) )*";
  static const std::map<std::string, Rule> kRules = {
      {"alto",
       {"xmlns SCHEMAVERSION", "xmlns:xsi xsi:schemaLocation",
        "(Description )?(Styles )?(Tags )?Layout "}},
      {"Description", {"", "", "MeasurementUnit (sourceImageInformation )?(Processing )*"}},
      {"MeasurementUnit", {"", "", ""}},
      {"sourceImageInformation", {"", "", "(fileName )?(fileIdentifier )*(documentIdentifier )*"}},
      {"fileName", {"", "", ""}},
      {"fileIdentifier", {"", "fileIdentifierLocation", ""}},
      {"documentIdentifier", {"", "", ""}},
      {"Processing",
       {"ID@", "", "(processingCategory )?(processingDateTime )?(processingSoftware )?"}},
      {"processingCategory", {"", "", ""}},
      {"processingDateTime", {"", "", ""}},
      {"processingSoftware", {"", "", "(softwareName )?(softwareVersion )?"}},
      {"softwareName", {"", "", ""}},
      {"softwareVersion", {"", "", ""}},
      {"Styles", {"", "", "(TextStyle )*(ParagraphStyle )*"}},
      {"ParagraphStyle", {"ID@", "ALIGN", ""}},
      {"Tags", {"", "", "(LayoutTag )*"}},
      {"LayoutTag", {"ID@ LABEL", "TYPE", ""}},
      {"Layout", {"", "", "(Page )+"}},
      {"Page",
       {"ID@ PHYSICAL_IMG_NR#", "WIDTH# HEIGHT# PROCESSINGREFS& PC# LANG QUALITY_DETAIL",
        "(PrintSpace )?"}},
      {"PrintSpace", {"", "ID@" + kPlace, kBlocks}},
      {"ComposedBlock", {"ID@", "TYPE TAGREFS&" + kPlace, kBlocks}},
      {"TextBlock", {"ID@", "STYLEREFS& TAGREFS& ROTATION#" + kPlace, "(TextLine )*"}},
      {"TextLine", {"", "ID@ BASELINE BASEDIRECTION" + kPlace, "(Shape )?(String (SP )?)+(HYP )?"}},
      {"String", {"CONTENT", "ID@ WC# SUBS_TYPE SUBS_CONTENT" + kPlace, "(Shape )?"}},
      {"SP", {"", kPlace, ""}},
      {"HYP", {"CONTENT", kPlace, ""}},
      {"Shape", {"", "", "Polygon "}},
      {"Polygon", {"POINTS", "", ""}},
  };
  return kRules;
}

bool is_number(const std::string& text) {
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && read.ptr == text.data() + text.size() && value >= 0;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

// What is wrong with a document by these rules.
struct Checker {
  std::vector<std::string> problems = {};
  std::set<std::string> ids = {};
  std::set<std::string> references = {};

  void check_attribute(const XmlNode& node, const std::string& name, char kind) {
    const auto value = node.at(name);
    if (kind == '#' && !is_number(value)) problems.push_back(node.name + "." + name + " no number");
    if (kind == '@' && !ids.insert(value).second) problems.push_back(value + " twice");
    if (kind == '&') {
      for (const auto& id : words_of(value)) references.insert(id);
    }
  }

  void check(const XmlNode& node) {
    const auto rule = rules().find(node.name);
    if (rule == rules().end()) {
      problems.push_back("unknown " + node.name);
      return;
    }
    std::set<std::string> allowed;
    for (const bool required : {true, false}) {
      for (auto word : words_of(required ? rule->second.required : rule->second.optional)) {
        const char kind =
            std::string("#@&").find(word.back()) == std::string::npos ? ' ' : word.back();
        if (kind != ' ') word.pop_back();
        allowed.insert(word);
        if (node.attributes.contains(word)) check_attribute(node, word, kind);
        if (required && !node.attributes.contains(word)) {
          problems.push_back(node.name + " lacks " + word);
        }
      }
    }
    for (const auto& [name, value] : node.attributes) {
      if (!allowed.contains(name)) problems.push_back(node.name + " has " + name);
    }
    std::string children;
    for (const auto& child : node.children) children += child.name + " ";
    if (!std::regex_match(children, std::regex(rule->second.children))) {
      problems.push_back(node.name + " with children " + children.substr(0, 80));
    }
    for (const auto& child : node.children) check(child);
  }
};

std::vector<std::string> problems_of(const std::string& text) {
  const auto root = parse_xml(text);
  if (root.name == "error") return {root.text};
  Checker checker;
  checker.check(root);
  for (const auto& id : checker.references) {
    if (!checker.ids.contains(id)) checker.problems.push_back("no " + id);
  }
  return checker.problems;
}

std::string whole(const layout::PageMap& page, const DocumentInfo& info = letter_info()) {
  return alto_begin(info) + alto_page(page, info) + alto_end();
}

// The text as a reader of ALTO would put it together.
std::string text_of_line(const XmlNode& line) {
  std::string out;
  for (const auto& node : line.children) out += node.name == "SP" ? " " : node.at("CONTENT");
  return out;
}

TEST(Alto, KeepsToTheSchema) { EXPECT_THAT(problems_of(alto(letter(), letter_info())), IsEmpty()); }

TEST(Alto, TheCheckOfTheSchemaCanFail) {
  auto text = alto(letter(), letter_info());
  text.replace(text.find("WC=\"0.95\""), 9, "WC=\"good\"");
  text.replace(text.find("ID=\"word_1_2\""), 13, "ID=\"word_1_1\"");
  text.replace(text.find("kind_heading\""), 13, "kind_none\"   ");
  EXPECT_THAT(problems_of(text), testing::SizeIs(testing::Ge(3U)));
}

TEST(Alto, WritesAWordExactly) {
  const auto text = alto(letter(), letter_info());
  EXPECT_THAT(text, HasSubstr(R"(<String ID="word_2_2" HPOS="236" VPOS="200" WIDTH="40" )"
                              R"(HEIGHT="14" WC="0.95" CONTENT="13.5"/>)"));
  EXPECT_THAT(text, HasSubstr("<MeasurementUnit>pixel</MeasurementUnit>"));
  EXPECT_THAT(text, HasSubstr("<fileName>letter.pdf</fileName><fileIdentifier "
                              "fileIdentifierLocation=\"sha256\">aaaa"));
  EXPECT_THAT(text, HasSubstr("<Page ID=\"page_2\" PHYSICAL_IMG_NR=\"2\" WIDTH=\"1200\" "
                              "HEIGHT=\"1600\" PROCESSINGREFS=\"processing_1 processing_0\" "
                              "PC=\"0.95\" LANG=\"en\">"));
}

TEST(Alto, OfADocumentIsThatOfItsPages) {
  const auto map = letter();
  const auto info = letter_info();
  EXPECT_EQ(alto(map, info), alto_begin(info) + alto_page(map.pages[0], info) +
                                 alto_page(map.pages[1], info) + alto_end());
  EXPECT_EQ(alto(map, info), alto(letter(), letter_info()));
}

TEST(Alto, HasTheTextOfEveryLine) {
  const auto map = letter();
  const auto root = parse_xml(alto(map, letter_info()));
  const auto pages = all(root, "Page");
  ASSERT_EQ(pages.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto lines = all(*pages[i], "TextLine");
    ASSERT_EQ(lines.size(), map.pages[i].lines.size());
    for (std::size_t line = 0; line < lines.size(); ++line) {
      EXPECT_EQ(text_of_line(*lines[line]), map.pages[i].text_of(map.pages[i].lines[line].words));
    }
  }
}

TEST(Alto, KeepsHostileTextAsText) {
  auto info = letter_info();
  info.source.file_name = "<b>&.pdf";
  info.source.sha256 = "\"><x/>";
  info.engines = {"<engine>&"};
  info.generator = "<g>@\"";
  const auto page = hostile_page();
  const auto text = whole(page, info);
  EXPECT_THAT(problems_of(text), IsEmpty());
  const auto root = parse_xml(text);
  const auto words = all(root, "String");
  ASSERT_EQ(words.size(), page.words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    EXPECT_EQ(words[i]->at("CONTENT"), page.words[i].text);
  }
  EXPECT_THAT(problems_of(whole(broken_page())), IsEmpty());
}

layout::PageMap paragraph(std::vector<std::vector<std::string>> lines) {
  std::vector<layout::Word> words;
  for (std::uint32_t line = 0; line < lines.size(); ++line) {
    for (std::size_t i = 0; i < lines[line].size(); ++i) {
      const auto x = 0.1 * static_cast<double>(i);
      const auto y = 0.1 + 0.02 * line;
      words.push_back({.text = lines[line][i],
                       .box = {.x0 = x, .y0 = y, .x1 = x + 0.08, .y1 = y + 0.01},
                       .line = line});
    }
  }
  return layout::assemble_page({.page = 1, .width_px = 1000, .height_px = 1000}, words,
                               {layout::BlockKind::text})
      .value();
}

TEST(Alto, JoinsAWordThatALineEndDivides) {
  const auto text = whole(paragraph({{"known", "hyper-"}, {"tension", "since"}}));
  EXPECT_THAT(problems_of(text), IsEmpty());
  EXPECT_THAT(text,
              HasSubstr("CONTENT=\"hyper\" SUBS_TYPE=\"HypPart1\" SUBS_CONTENT=\"hypertension\""));
  EXPECT_THAT(
      text, HasSubstr("CONTENT=\"tension\" SUBS_TYPE=\"HypPart2\" SUBS_CONTENT=\"hypertension\""));
  EXPECT_THAT(
      text, HasSubstr("<HYP HPOS=\"167\" VPOS=\"100\" WIDTH=\"13\" HEIGHT=\"10\" CONTENT=\"-\"/>"));
}

TEST(Alto, LeavesDashesAloneThatDivideNothing) {
  for (const auto& [head, tail] : std::vector<std::pair<std::string, std::string>>{
           {"X-", "ray"}, {"10-", "mg"}, {"non-", "Hodgkin"}, {"-", "item"}, {"pre-", "2024"}}) {
    EXPECT_THAT(whole(paragraph({{"the", head}, {tail, "end"}})), Not(HasSubstr("SUBS_TYPE")))
        << head << tail;
  }
}

layout::PageMap table_page() {
  auto page = paragraph({{"Test", "Value"}, {"Sodium", "140"}});
  page.blocks[0].kind = layout::BlockKind::table;
  page.tables.push_back({.block = 0,
                         .rows = 2,
                         .columns = 2,
                         .cells = {{.row = 0, .column = 0, .words = {.first = 0, .last = 0}},
                                   {.row = 0, .column = 1, .words = {.first = 1, .last = 1}},
                                   {.row = 1, .column = 0, .words = {.first = 2, .last = 2}},
                                   {.row = 1, .column = 1, .words = {.first = 3, .last = 3}}}});
  return page;
}

TEST(Alto, MakesABlockOfEachCell) {
  const auto text = whole(table_page());
  EXPECT_THAT(problems_of(text), IsEmpty());
  const auto root = parse_xml(text);
  const auto tables = all(root, "ComposedBlock");
  ASSERT_EQ(tables.size(), 1U);
  ASSERT_EQ(tables[0]->children.size(), 4U);
  EXPECT_EQ(tables[0]->children[2].at("ID"), "block_1_1_r2_c1");
  EXPECT_EQ(text_of_line(tables[0]->children[2].children[0]), "Sodium");
}

TEST(Alto, LosesNoWordOfATableWithoutAllItsCells) {
  auto page = table_page();
  page.tables[0].cells.erase(page.tables[0].cells.begin() + 1);
  const auto text = whole(page);
  EXPECT_THAT(problems_of(text), IsEmpty());
  EXPECT_EQ(all(parse_xml(text), "String").size(), 4U);
}

TEST(Alto, SaysHowScriptsAndTurnedTextRun) {
  EXPECT_THAT(whole(paragraph({{"שלום", "עולם"}})), HasSubstr("BASEDIRECTION=\"rtl\""));
  auto page = paragraph({{"up"}});
  page.words[0].poly = layout::Quad{{{0.0, 0.11}, {0.0, 0.05}, {0.02, 0.05}, {0.02, 0.11}}};
  const auto text = whole(page);
  EXPECT_THAT(problems_of(text), IsEmpty());
  EXPECT_THAT(text, HasSubstr("ROTATION=\"90\""));
  EXPECT_THAT(text, HasSubstr("<Polygon POINTS=\"0,110 0,50 20,50 20,110\"/>"));
}

TEST(Alto, KeepsToTheSchemaWhateverThePageAndLosesNoWord) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    SeededRandom random(seed);
    const auto page = random_page(random);
    const auto text = whole(page);
    ASSERT_THAT(problems_of(text), IsEmpty());
    std::string words;
    for (const auto& word : page.words) words += word.text;
    std::string written;
    visit(parse_xml(text), [&](const XmlNode& node) { written += node.at("CONTENT"); });
    ASSERT_EQ(written, words);
  }
}

TEST(Alto, TakesAPageWithoutWords) {
  const auto page = layout::assemble_page({.page = 1, .width_px = 10, .height_px = 10}, {}, {});
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_THAT(problems_of(whole(*page)), IsEmpty());
}

}  // namespace
}  // namespace millrace::output
