// Lists, headings and repeated cells of office files, in the XML that programs write.
#include "document/inspect/made_office.h"
#include "document/markdown/made_parse.h"

#include <gtest/gtest.h>

namespace millrace::document {
namespace {

// As the template of python-docx has them: numbered by their styles alone.
constexpr std::string_view kStyles = R"xml(<w:styles xmlns:w="w">
<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style>
<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/><w:basedOn w:val="Normal"/>
<w:pPr><w:keepNext/><w:outlineLvl w:val="0"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Heading2"><w:name w:val="heading 2"/><w:basedOn w:val="Normal"/>
<w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
<w:style w:type="paragraph" w:customStyle="1" w:styleId="Chapter"><w:name w:val="Chapter"/>
<w:basedOn w:val="Heading1"/></w:style>
<w:style w:type="paragraph" w:styleId="TOCHeading"><w:name w:val="TOC Heading"/>
<w:basedOn w:val="Heading1"/><w:pPr><w:outlineLvl w:val="9"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="ListBullet"><w:name w:val="List Bullet"/>
<w:basedOn w:val="Normal"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr><w:contextualSpacing/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="ListBullet2"><w:name w:val="List Bullet 2"/>
<w:basedOn w:val="Normal"/><w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="ListNumber"><w:name w:val="List Number"/>
<w:basedOn w:val="Normal"/><w:pPr><w:numPr><w:numId w:val="3"/></w:numPr></w:pPr></w:style>
<w:style w:type="paragraph" w:customStyle="1" w:styleId="Step"><w:name w:val="Step"/>
<w:basedOn w:val="ListNumber"/></w:style>
<w:style w:type="paragraph" w:customStyle="1" w:styleId="Clause1"><w:name w:val="Clause 1"/>
<w:basedOn w:val="Heading1"/><w:pPr><w:numPr><w:numId w:val="4"/></w:numPr></w:pPr></w:style>
<w:style w:type="paragraph" w:customStyle="1" w:styleId="Clause2"><w:name w:val="Clause 2"/>
<w:basedOn w:val="Heading2"/><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="4"/></w:numPr></w:pPr></w:style>
<w:style w:type="paragraph" w:customStyle="1" w:styleId="Clause3"><w:name w:val="Clause 3"/>
<w:basedOn w:val="Clause2"/><w:pPr><w:numPr><w:ilvl w:val="2"/></w:numPr></w:pPr></w:style>
<w:style w:type="paragraph" w:customStyle="1" w:styleId="Round"><w:name w:val="Round"/>
<w:basedOn w:val="Robin"/></w:style>
<w:style w:type="paragraph" w:customStyle="1" w:styleId="Robin"><w:name w:val="Robin"/>
<w:basedOn w:val="Round"/></w:style>
</w:styles>)xml";

constexpr std::string_view kNumbering = R"xml(<w:numbering xmlns:w="w">
<w:abstractNum w:abstractNumId="0"><w:multiLevelType w:val="singleLevel"/><w:lvl w:ilvl="0">
<w:start w:val="1"/><w:numFmt w:val="bullet"/><w:pStyle w:val="ListBullet"/><w:lvlText w:val="&#61623;"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="bullet"/>
<w:pStyle w:val="ListBullet2"/><w:lvlText w:val="&#61623;"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="2"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/>
<w:pStyle w:val="ListNumber"/><w:lvlText w:val="%1."/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="3"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:pStyle w:val="Clause2"/><w:lvlText w:val="%1.%2"/></w:lvl>
<w:lvl w:ilvl="2"><w:start w:val="1"/><w:numFmt w:val="lowerRoman"/><w:lvlText w:val="(%3)"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="5"><w:lvl w:ilvl="0"><w:start w:val="4"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1)"/></w:lvl>
<w:lvl w:ilvl="1"><w:start w:val="3"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%2."/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="6"><w:lvl w:ilvl="0"><w:numFmt w:val="none"/><w:lvlText w:val=""/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="7"><w:styleLink w:val="Points"/><w:lvl w:ilvl="0"><w:numFmt w:val="upperLetter"/><w:lvlText w:val="%1)"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="8"><w:numStyleLink w:val="Points"/></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>
<w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>
<w:num w:numId="3"><w:abstractNumId w:val="2"/></w:num>
<w:num w:numId="4"><w:abstractNumId w:val="3"/></w:num>
<w:num w:numId="5"><w:abstractNumId w:val="5"/></w:num>
<w:num w:numId="6"><w:abstractNumId w:val="5"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="10"/></w:lvlOverride></w:num>
<w:num w:numId="7"><w:abstractNumId w:val="5"/></w:num>
<w:num w:numId="8"><w:abstractNumId w:val="6"/></w:num>
<w:num w:numId="9"><w:abstractNumId w:val="8"/></w:num>
</w:numbering>)xml";

std::string styled(std::string_view style, std::string_view text) {
  return docx_paragraph(text, fmt::format("<w:pStyle w:val=\"{}\"/>", style));
}
std::string numbered(int number, std::string_view text, int level = 0) {
  return docx_paragraph(
      text, fmt::format("<w:numPr><w:ilvl w:val=\"{}\"/><w:numId w:val=\"{}\"/></w:numPr>", level,
                        number));
}

std::string docx_markdown(std::string_view body, std::string_view numbering = kNumbering,
                          std::string_view styles = kStyles) {
  auto zip = made_docx(body);
  zip.add("word/styles.xml", std::string(styles));
  zip.add("word/numbering.xml", std::string(numbering));
  return markdown_of(zip.bytes());
}

std::string docx_numbering(std::string_view items) {
  return fmt::format("<w:numbering xmlns:w=\"w\">{}</w:numbering>", items);
}
std::string docx_abstract(std::string_view id, std::string_view levels) {
  return fmt::format("<w:abstractNum w:abstractNumId=\"{}\">{}</w:abstractNum>", id, levels);
}
std::string docx_level(int level, std::string_view format, std::string_view text,
                       std::string_view more = {}) {
  return fmt::format(
      "<w:lvl w:ilvl=\"{}\"><w:numFmt w:val=\"{}\"/>{}<w:lvlText w:val=\"{}\"/></w:lvl>", level,
      format, more, text);
}
std::string docx_number(std::string_view id, std::string_view abstract,
                        std::string_view overrides = {}) {
  return fmt::format("<w:num w:numId=\"{}\"><w:abstractNumId w:val=\"{}\"/>{}</w:num>", id,
                     abstract, overrides);
}

TEST(OfficeParse, DocxListsAreNumberedByTheirStyles) {
  EXPECT_EQ(docx_markdown(styled("ListBullet", "Milk") + styled("ListBullet2", "Goat") +
                          styled("ListBullet", "Bread") + styled("Normal", "Then:") +
                          styled("ListNumber", "Mix") + styled("Step", "Bake")),
            "- Milk\n  - Goat\n- Bread\n\nThen:\n\n1. Mix\n2. Bake\n");
}

TEST(OfficeParse, DocxStylesMeanWhatTheyAreBasedOn) {
  EXPECT_EQ(docx_markdown(styled("Chapter", "Scope") + styled("TOCHeading", "Contents") +
                          styled("Heading2", "Parts") + styled("Round", "No end")),
            "# Scope\n\nContents\n\n## Parts\n\nNo end\n");
}

TEST(OfficeParse, DocxClausesHaveTheNumbersThatAreShown) {
  EXPECT_EQ(docx_markdown(styled("Clause1", "Scope") + styled("Clause2", "Services") +
                          styled("Clause2", "Fees") + numbered(4, "monthly", 2) +
                          numbered(4, "yearly", 2) + styled("Clause1", "Term") +
                          styled("Clause2", "Notice")),
            "# 1. Scope\n\n## 1.1 Services\n\n## 1.2 Fees\n\n"
            "- (i) monthly\n- (ii) yearly\n\n# 2. Term\n\n## 2.1 Notice\n");
  EXPECT_EQ(docx_markdown(styled("Clause1", "Scope") + styled("Clause2", "Fees") +
                          styled("Clause3", "Monthly")),
            "# 1. Scope\n\n## 1.1 Fees\n\n## (i) Monthly\n")
      << "a level of its own, in the numbering of the style below";
}

TEST(OfficeParse, DocxAParagraphMayRefuseTheNumberOfItsStyle) {
  EXPECT_EQ(docx_markdown(styled("ListNumber", "One") +
                          docx_paragraph("Plain",
                                         "<w:pStyle w:val=\"ListNumber\"/><w:numPr><w:numId "
                                         "w:val=\"0\"/></w:numPr>") +
                          styled("ListNumber", "Two")),
            "1. One\n\nPlain\n\n2. Two\n");
  EXPECT_EQ(docx_markdown(numbered(8, "no marker is shown")), "no marker is shown\n");
}

TEST(OfficeParse, DocxListsBeginWhereTheySay) {
  EXPECT_EQ(docx_markdown(numbered(5, "four") + numbered(5, "c", 1) + numbered(5, "d", 1) +
                          numbered(5, "five") + numbered(5, "c again", 1)),
            "4. four\n   - c. c\n   - d. d\n5. five\n   - c. c again\n");
  EXPECT_EQ(docx_markdown(numbered(5, "four") + docx_paragraph("p") + numbered(6, "ten") +
                          numbered(6, "eleven") + docx_paragraph("q") + numbered(7, "twelve")),
            "4. four\n\np\n\n10. ten\n11. eleven\n\nq\n\n12. twelve\n")
      << "numberings of one abstract numbering count on together";
}

TEST(OfficeParse, DocxListsMayHaveTheirLevelsFromAStyleOfLists) {
  EXPECT_EQ(docx_markdown(numbered(9, "first") + numbered(9, "second")),
            "- A) first\n- B) second\n");
}

TEST(OfficeParse, DocxChangesThatAreTrackedShowWhatIsNow) {
  const std::string change =
      "<w:pStyle w:val=\"ListNumber\"/><w:pPrChange w:id=\"1\" w:author=\"A\"><w:pPr><w:pStyle "
      "w:val=\"Heading1\"/><w:numPr><w:numId w:val=\"1\"/></w:numPr></w:pPr></w:pPrChange>";
  EXPECT_EQ(docx_markdown(docx_paragraph("One", change) + styled("ListNumber", "Two")),
            "1. One\n2. Two\n");
  const std::string moved =
      "<w:moveFromRangeStart w:id=\"2\" w:name=\"m\"/><w:p><w:pPr><w:pStyle "
      "w:val=\"ListNumber\"/><w:rPr><w:moveFrom w:id=\"3\"/></w:rPr></w:pPr><w:moveFrom w:id=\"4\">"
      "<w:r><w:t>Moved</w:t></w:r></w:moveFrom></w:p><w:moveFromRangeEnd w:id=\"2\"/>" +
      styled("ListNumber", "Stays") +
      "<w:p><w:pPr><w:pStyle w:val=\"ListNumber\"/><w:rPr><w:moveTo w:id=\"5\"/></w:rPr></w:pPr>"
      "<w:moveTo w:id=\"6\"><w:r><w:t>Moved</w:t></w:r></w:moveTo></w:p>";
  EXPECT_EQ(docx_markdown(moved), "1. Stays\n2. Moved\n");
}

TEST(OfficeParse, DocxMarkersAreText) {
  auto zip = made_docx(numbered(1, "item"));
  zip.add("word/numbering.xml",
          "<w:numbering xmlns:w=\"w\"><w:abstractNum w:abstractNumId=\"0\"><w:lvl w:ilvl=\"0\">"
          "<w:start w:val=\"2147483647\"/><w:numFmt w:val=\"upperRoman\"/><w:lvlText "
          "w:val=\"&lt;!-- page %1 --&gt;&#10;%9\"/></w:lvl></w:abstractNum><w:num w:numId=\"1\">"
          "<w:abstractNumId w:val=\"0\"/></w:num></w:numbering>");
  EXPECT_EQ(markdown_of(zip.bytes()), "- \\<!-- page 1000000 --> %9 item\n");
}

TEST(OfficeParse, DocxLegalNumbersAreDecimalOnAllLevels) {
  const auto levels = docx_level(0, "upperRoman", "Article %1") +
                      docx_level(1, "decimalZero", "Section %1.%2", "<w:isLgl/>") +
                      docx_level(2, "lowerLetter", "%1.%2.%3", "<w:isLgl w:val=\"true\"/>") +
                      docx_level(3, "lowerLetter", "(%1.%4)", "<w:isLgl w:val=\"0\"/>");
  const auto numbering = docx_numbering(docx_abstract("0", levels) + docx_number("1", "0"));
  EXPECT_EQ(
      docx_markdown(numbered(1, "Scope") + numbered(1, "Services", 1) + numbered(1, "Fees", 1) +
                        numbered(1, "paid", 2) + numbered(1, "late", 3),
                    numbering),
      "- Article I Scope\n  - Section 1.01 Services\n  - Section 1.02 Fees\n"
      "    - 1.02.1 paid\n      - (I.a) late\n");
}

TEST(OfficeParse, DocxNumberingsMayHaveLevelsOfTheirOwn) {
  const auto own =
      "<w:lvlOverride w:ilvl=\"0\">" + docx_level(0, "upperLetter", "%1:") + "</w:lvlOverride>";
  const auto numbering = docx_numbering(
      docx_abstract("0", docx_level(0, "decimal", "%1.") + docx_level(1, "lowerRoman", "%1.%2")) +
      docx_number("1", "0") + docx_number("2", "0", own));
  EXPECT_EQ(docx_markdown(numbered(1, "one") + docx_paragraph("p") + numbered(2, "B") +
                              numbered(2, "below", 1),
                          numbering),
            "1. one\n\np\n\n- B: B\n  - B.i below\n");
}

// Each element that has an id keeps a copy of it.
TEST(OfficeParse, DocxIdsThatAreTooLongAreNone) {
  const std::string id(256, 'A');
  const auto with = [&](std::string_view number, std::string_view abstract,
                        std::string_view style) {
    const auto numbering = docx_numbering(docx_abstract(abstract, docx_level(0, "decimal", "%1.")) +
                                          docx_number(number, abstract));
    const auto styles = fmt::format(
        "<w:styles xmlns:w=\"w\"><w:style w:styleId=\"{}\"><w:name w:val=\"x\"/><w:pPr><w:numPr>"
        "<w:numId w:val=\"{}\"/></w:numPr></w:pPr></w:style></w:styles>",
        style, number);
    return docx_markdown(styled(style, "one") + docx_paragraph("p"), numbering, styles);
  };
  EXPECT_EQ(with(id, id, id), "1. one\n\np\n");
  EXPECT_EQ(with(id + "A", "0", "S"), "one\n\np\n");
  EXPECT_EQ(with("1", id + "A", "S"), "- one\n\np\n");
  EXPECT_EQ(with("1", "0", id + "A"), "one\n\np\n") << "nor the style of all others";
}

TEST(OfficeParse, DocxNumberingsAreBounded) {
  std::string levels;
  for (int at = 0; at < 9; ++at) levels += docx_level(at, "decimal", "%1.");
  std::string items = docx_number("1", "0") + docx_number("2", "22299");
  for (int i = 0; i < 22'300; ++i) items += docx_abstract(std::to_string(i), levels);
  EXPECT_EQ(docx_markdown(numbered(1, "one") + docx_paragraph("p") + numbered(2, "two"),
                          docx_numbering(items)),
            "1. one\n\np\n\n- two\n");
  std::string styles = "<w:styles xmlns:w=\"w\">";
  for (int i = 1; i <= 10'001; ++i) {
    styles += fmt::format("<w:style w:styleId=\"s{}\"><w:name w:val=\"heading 1\"/></w:style>", i);
  }
  EXPECT_EQ(docx_markdown(styled("s10000", "Head") + styled("s10001", "Text"), kNumbering,
                          styles + "</w:styles>"),
            "# Head\n\nText\n");
}

TEST(OfficeParse, DocxCountersAreBounded) {
  std::string abstracts;
  std::string numbers;
  std::string body;
  for (int i = 1; i <= 10'001; ++i) {
    abstracts += docx_abstract(std::to_string(i), docx_level(0, "decimal", "%1."));
    numbers += docx_number(std::to_string(i), std::to_string(i));
    body += numbered(i, "x");
  }
  const auto numbering = docx_numbering(abstracts + numbers);
  EXPECT_TRUE(
      docx_markdown(numbered(1, "x") + numbered(1, "last"), numbering).ends_with("\n2. last\n"));
  EXPECT_TRUE(docx_markdown(body + numbered(1, "last"), numbering).ends_with("\n1. last\n"))
      << "none of so many is known any more";
}

// -- ODF --

std::string odf_list(std::string_view attributes, std::string_view items) {
  return fmt::format("<text:list {}>{}</text:list>", attributes, items);
}
std::string odf_item(std::string_view text, std::string_view more = {},
                     std::string_view attributes = {}) {
  return fmt::format("<text:list-item{}><text:p>{}</text:p>{}</text:list-item>", attributes, text,
                     more);
}

constexpr std::string_view kListStyles =
    "<text:list-style style:name=\"L1\"><text:list-level-style-number text:level=\"1\" "
    "style:num-suffix=\".\" style:num-format=\"1\"/><text:list-level-style-number text:level=\"2\" "
    "style:num-format=\"a\" style:num-suffix=\".\" text:start-value=\"2\"/></text:list-style>"
    "<text:list-style style:name=\"L2\"><text:list-level-style-bullet text:level=\"1\" "
    "text:bullet-char=\"•\"/></text:list-style>";

std::string odt_markdown(std::string_view body, std::string_view styles = kListStyles) {
  return markdown_of(made_odf("text", body, styles).bytes());
}

std::string odf_list_style(std::string_view name, std::string_view levels) {
  return fmt::format("<text:list-style style:name=\"{}\">{}</text:list-style>", name, levels);
}
std::string odf_level(int level, std::string_view attributes) {
  return fmt::format("<text:list-level-style-number text:level=\"{}\" {}/>", level, attributes);
}

TEST(OfficeParse, OdtListsAreNumberedByTheirStyles) {
  EXPECT_EQ(
      odt_markdown(odf_list("text:style-name=\"L1\"",
                            odf_item("one", odf_list("", odf_item("b") + odf_item("c"))) +
                                odf_item("two", "<text:p>more</text:p>") + odf_item("three"))),
      "1. one\n   - b. b\n   - c. c\n2. two\n\n   more\n3. three\n");
  EXPECT_EQ(odt_markdown(odf_list("text:style-name=\"L2\"", odf_item("bullet"))), "- bullet\n");
}

TEST(OfficeParse, OdtListsHaveTheNumbersThatAreShown) {
  constexpr std::string_view kClauses =
      "<text:list-style style:name=\"L3\"><text:list-level-style-number text:level=\"1\" "
      "style:num-prefix=\"§ \" style:num-format=\"1\"/><text:list-level-style-number "
      "text:level=\"2\" style:num-format=\"1\" text:display-levels=\"2\"/>"
      "<text:list-level-style-number text:level=\"3\" style:num-prefix=\"(\" "
      "style:num-suffix=\")\" style:num-format=\"i\"/></text:list-style>";
  const auto third = odf_list("", odf_item("i") + odf_item("ii"));
  const auto second = odf_list("", odf_item("first") + odf_item("second", third));
  const auto body = odf_list("text:style-name=\"L3\"", odf_item("one") + odf_item("two", second));
  EXPECT_EQ(markdown_of(made_odf("text", body, kClauses).bytes()),
            "- § 1 one\n- § 2 two\n  - 2.1 first\n  - 2.2 second\n    - (i) i\n    - (ii) ii\n");
}

TEST(OfficeParse, OdtListsGoOnWhereTheySay) {
  EXPECT_EQ(
      odt_markdown(
          odf_list("xml:id=\"x\" text:style-name=\"L1\"", odf_item("one")) + "<text:p>p</text:p>" +
          odf_list("text:style-name=\"L1\" text:continue-numbering=\"true\"", odf_item("two")) +
          "<text:p>q</text:p>" +
          odf_list("text:style-name=\"L1\"",
                   odf_item("one again") + odf_item("seven", "", " text:start-value=\"7\"")) +
          "<text:p>r</text:p>" +
          odf_list("text:style-name=\"L1\" text:continue-list=\"x\"",
                   odf_item("two of the first"))),
      "1. one\n\np\n\n2. two\n\nq\n\n1. one again\n7. seven\n\nr\n\n2. two of the first\n");
}

TEST(OfficeParse, OdtListStylesOfTheTemplateCountToo) {
  auto zip = made_odf("text", odf_list("text:style-name=\"Numbering_20_1\"", odf_item("one")));
  zip.add("styles.xml",
          "<office:document-styles xmlns:office=\"o\" xmlns:text=\"t\" xmlns:style=\"s\">"
          "<office:styles><text:list-style style:name=\"Numbering_20_1\" style:display-name="
          "\"Numbering 1\"><text:list-level-style-number text:level=\"1\" style:num-format=\"1\"/>"
          "</text:list-style></office:styles></office:document-styles>");
  EXPECT_EQ(markdown_of(zip.bytes()), "1. one\n");
}

// As LibreOffice writes "1. a", "1.1 b", a text and "1.2 c": only the outermost list says that it
// goes on.
TEST(OfficeParse, OdtListsWithinOthersGoOnWithThem) {
  const auto styles =
      odf_list_style("L3", odf_level(1, "style:num-suffix=\".\" style:num-format=\"1\"") +
                               odf_level(2, "style:num-format=\"1\" text:display-levels=\"2\"") +
                               odf_level(3, "style:num-format=\"1\" text:display-levels=\"3\""));
  const auto only = [](std::string_view list) {
    return fmt::format("<text:list-item>{}</text:list-item>", list);
  };
  const std::string_view style = "text:style-name=\"L3\"";
  const std::string_view more = "text:style-name=\"L3\" text:continue-numbering=\"true\"";
  const auto second = odf_list("", odf_item("b", odf_list("", odf_item("x"))));
  const auto first = odf_list(style, odf_item("a", second)) + "<text:p>p</text:p>";
  EXPECT_EQ(odt_markdown(first + odf_list(more, only(odf_list("", odf_item("c")))) +
                             "<text:p>q</text:p>" +
                             odf_list(more, only(odf_list("", odf_item("d"))) +
                                                odf_item("e", odf_list("", odf_item("f")))),
                         styles),
            "1. a\n   - 1.1 b\n     - 1.1.1 x\n\np\n\n- 1.2 c\n\nq\n\n- 1.3 d\n2. e\n   - 2.1 f\n");
  EXPECT_EQ(
      odt_markdown(first + odf_list(more, only(odf_list("", only(odf_list("", odf_item("y")))))),
                   styles),
      "1. a\n   - 1.1 b\n     - 1.1.1 x\n\np\n\n- 1.1.2 y\n");
  EXPECT_EQ(
      odt_markdown(first + odf_list(more, odf_item("c", odf_list("", odf_item("d")))), styles),
      "1. a\n   - 1.1 b\n     - 1.1.1 x\n\np\n\n2. c\n   - 2.1 d\n")
      << "below an item of its own they begin anew";
  EXPECT_EQ(odt_markdown(first + odf_list(style, only(odf_list("", odf_item("c")))), styles),
            "1. a\n   - 1.1 b\n     - 1.1.1 x\n\np\n\n- 1.1 c\n")
      << "another list";
}

TEST(OfficeParse, OdtLettersCountLikeColumnsUnlessTheyAreInStep) {
  const auto last = [](std::string_view attributes) {
    std::string items;
    for (int i = 0; i < 28; ++i) items += odf_item("x");
    const auto text = odt_markdown(
        odf_list("text:style-name=\"L3\"", items),
        odf_list_style("L3", odf_level(1, fmt::format("style:num-suffix=\")\" {}", attributes))));
    return text.substr(text.rfind("- ", text.size() - 2));
  };
  EXPECT_EQ(last("style:num-format=\"a\""), "- ab) x\n");
  EXPECT_EQ(last("style:num-format=\"A\" style:num-letter-sync=\"false\""), "- AB) x\n");
  EXPECT_EQ(last("style:num-format=\"a\" style:num-letter-sync=\"true\""), "- bb) x\n");
}

TEST(OfficeParse, OdtMarkersAreBounded) {
  const auto of = [](std::string_view attributes, std::string_view of_item = {}) {
    return odt_markdown(odf_list("text:style-name=\"L3\"", odf_item("x", "", of_item)),
                        odf_list_style("L3", odf_level(1, attributes)));
  };
  EXPECT_EQ(of("style:num-format=\"1\" text:start-value=\"4294967295\""), "1000000. x\n");
  EXPECT_EQ(of("style:num-format=\"1\"", " text:start-value=\"4294967295\""), "1000000. x\n");
  const std::string affix(64, 'A');
  EXPECT_EQ(of(fmt::format("style:num-format=\"1\" style:num-prefix=\"{}\"", affix)),
            "- " + affix + "1 x\n");
  EXPECT_EQ(of(fmt::format("style:num-format=\"1\" style:num-suffix=\"{}A\"", affix)), "1. x\n");
}

TEST(OfficeParse, OdtIdsThatAreTooLongAreNone) {
  const std::string id(256, 'A');
  const auto with = [&](std::string_view style, std::string_view list) {
    return odt_markdown(
        odf_list(fmt::format("text:style-name=\"{}\" xml:id=\"{}\"", style, list),
                 odf_item("one")) +
            "<text:p>p</text:p>" +
            odf_list(fmt::format("text:style-name=\"{}\" text:continue-list=\"{}\"", style, list),
                     odf_item("two")),
        odf_list_style(style, odf_level(1, "style:num-format=\"1\"")));
  };
  EXPECT_EQ(with(id, id), "1. one\n\np\n\n2. two\n");
  EXPECT_EQ(with(id + "A", id), "- one\n\np\n\n- two\n");
  EXPECT_EQ(with(id, id + "A"), "1. one\n\np\n\n1. two\n");
  const auto breaks = [](std::string_view style) {
    return odt_markdown(
        fmt::format("<text:p>one</text:p><text:p text:style-name=\"{}\">two</text:p>", style),
        fmt::format("<style:style style:name=\"{}\"><style:paragraph-properties "
                    "fo:break-before=\"page\"/></style:style>",
                    style));
  };
  EXPECT_EQ(breaks(id), "<!-- page 1 -->\n\none\n\n<!-- page 2 -->\n\ntwo\n");
  EXPECT_EQ(breaks(id + "A"), "one\n\ntwo\n") << "nor before paragraphs without a style";
}

TEST(OfficeParse, OdtListStylesAreBounded) {
  std::string levels;
  for (int at = 1; at <= 10; ++at) levels += odf_level(at, "style:num-format=\"1\"");
  std::string styles;
  for (int i = 0; i <= 10'000; ++i) styles += odf_list_style(fmt::format("s{}", i), levels);
  EXPECT_EQ(
      odt_markdown(odf_list("text:style-name=\"s9999\"", odf_item("one")) + "<text:p>p</text:p>" +
                       odf_list("text:style-name=\"s10000\"", odf_item("two")),
                   styles),
      "1. one\n\np\n\n- two\n");
  auto deep = odf_item("x");
  for (int i = 0; i < 10; ++i) deep = odf_item("x", odf_list("", deep));
  const auto text =
      odt_markdown(odf_list("text:style-name=\"L3\"", deep),
                   odf_list_style("L3", levels + odf_level(11, "style:num-format=\"1\"")));
  EXPECT_TRUE(text.ends_with("- x\n")) << "there are ten levels";
}

TEST(OfficeParse, OdtListsThatAreKnownAreBounded) {
  const auto list = [](int id, std::string_view more = {}) {
    return odf_list(fmt::format("text:style-name=\"L1\" xml:id=\"l{}\" {}", id, more),
                    odf_item("x"));
  };
  const std::string_view first = "text:continue-list=\"l0\"";
  std::string body = list(0);
  EXPECT_TRUE(odt_markdown(body + list(1, first)).ends_with("2. x\n"));
  for (int i = 1; i <= 10'001; ++i) body += list(i);
  EXPECT_TRUE(odt_markdown(body + list(10'002, first)).ends_with("1. x\n"));
}

std::string ods_cell(std::string_view text, int times = 1) {
  return fmt::format(
      "<table:table-cell "
      "table:number-columns-repeated=\"{}\"><text:p>{}</text:p></table:table-cell>",
      times, text);
}
std::string ods_row(std::string_view cells, int times = 1) {
  return fmt::format(
      "<table:table-row table:number-rows-repeated=\"{}\">{}<table:table-cell "
      "table:number-columns-repeated=\"16380\"/></table:table-row>",
      times, cells);
}
MadeZip made_ods(std::string_view rows) {
  return made_odf("spreadsheet",
                  fmt::format("<table:table table:name=\"S\">{}</table:table>", rows));
}

TEST(OfficeParse, OdsCellsAndRowsThatAreEqualAreAllThere) {
  const auto rows =
      ods_row(ods_cell("a") + ods_cell("b") + ods_cell("c")) + ods_row(ods_cell("0", 3), 2) +
      ods_row(ods_cell("1") + "<table:table-cell/>" + ods_cell("2")) + ods_row("", 1'048'000);
  EXPECT_EQ(markdown_of(made_ods(rows).bytes()),
            "<!-- page 1 -->\n\n## S\n\n| a | b | c |\n| --- | --- | --- |\n| 0 | 0 | 0 |\n"
            "| 0 | 0 | 0 |\n| 1 | | 2 |\n");
}

TEST(OfficeParse, OdsRepeatsAreBounded) {
  EXPECT_EQ(parsed(made_ods(ods_row(ods_cell("x", 16'384))).bytes()).error, "table_columns");
  EXPECT_EQ(parsed(made_ods(ods_row(ods_cell("x", 10), 1'048'576)).bytes()).error, "table_cells");
  EXPECT_EQ(parsed(made_ods(ods_row(ods_cell(std::string(1'000, 'x')), 1'048'576)).bytes()).error,
            "text_bytes");
  EXPECT_EQ(parsed(made_ods(ods_row(ods_cell("x"), 2'147'483'647)).bytes()).error, "text_bytes");
}

}  // namespace
}  // namespace millrace::document
