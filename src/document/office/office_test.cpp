#include "document/office/office.h"

#include "document/inspect/made_inspection.h"
#include "document/inspect/made_office.h"
#include "document/office/package.h"
#include "layout/reading_order.h"

#include <gtest/gtest.h>

namespace millrace::document {
namespace {

std::vector<layout::RawPage> pages_of(std::string_view kind, const std::string& bytes) {
  auto pages = office_pages_of(kind, bytes);
  EXPECT_TRUE(pages.has_value()) << (pages.has_value() ? "" : pages.error().message);
  return pages.has_value() ? *pages : std::vector<layout::RawPage>();
}

// The text of a page as the spatial map reads it: what the layout is for.
layout::PageMap map_of(const layout::RawPage& page) { return layout::arrange(page).value(); }
std::string text_of(std::string_view kind, const std::string& bytes, std::size_t page = 1) {
  const auto pages = pages_of(kind, bytes);
  return page <= pages.size() ? map_of(pages[page - 1]).text : "";
}

TEST(Docx, ParagraphsHeadingsAndLists) {
  auto zip = made_docx(
      docx_paragraph("Discharge letter", "<w:pStyle w:val=\"H1\"/>") +
      docx_paragraph("The patient was well.") +
      docx_paragraph("Aspirin", "<w:numPr><w:ilvl w:val=\"0\"/><w:numId w:val=\"1\"/></w:numPr>") +
      docx_paragraph("Ibuprofen",
                     "<w:numPr><w:ilvl w:val=\"0\"/><w:numId w:val=\"1\"/></w:numPr>"));
  zip.add("word/styles.xml", "<s><style styleId=\"H1\"><name val=\"heading 1\"/></style></s>");
  zip.add("word/numbering.xml",
          "<n><abstractNum abstractNumId=\"5\"><lvl ilvl=\"0\"><numFmt "
          "val=\"decimal\"/></lvl></abstractNum>"
          "<num numId=\"1\"><abstractNumId val=\"5\"/></num></n>");
  const auto text = text_of("docx", zip.bytes());
  EXPECT_NE(text.find("Discharge letter"), std::string::npos);
  EXPECT_NE(text.find("1. Aspirin"), std::string::npos) << text;
  EXPECT_NE(text.find("2. Ibuprofen"), std::string::npos) << text;
  const auto page = pages_of("docx", zip.bytes()).front();
  EXPECT_GT(page.words[0].box.height(), page.words[2].box.height()) << "headings are larger";
}

TEST(Docx, MarkersOfSeveralWordsStandInTheText) {
  auto zip = made_docx(
      docx_paragraph("Scope", "<w:numPr><w:ilvl w:val=\"0\"/><w:numId w:val=\"1\"/></w:numPr>"));
  zip.add("word/numbering.xml",
          "<n><abstractNum abstractNumId=\"5\"><lvl ilvl=\"0\"><start val=\"3\"/><numFmt "
          "val=\"upperRoman\"/><lvlText val=\"Article %1 of many: \"/></lvl></abstractNum>"
          "<num numId=\"1\"><abstractNumId val=\"5\"/></num></n>");
  EXPECT_EQ(text_of("docx", zip.bytes()), "Article III of many: Scope");
}

TEST(Docx, TablesAreTables) {
  std::string rows;
  for (const auto* row : {"Drug|Dose|When", "Aspirin|100 mg|morning", "Ramipril|5 mg|evening",
                          "Metformin|850 mg|noon"}) {
    rows += "<w:tr>";
    std::string_view rest = row;
    while (!rest.empty()) {
      const auto end = std::min(rest.find('|'), rest.size());
      rows += "<w:tc>" + docx_paragraph(rest.substr(0, end)) + "</w:tc>";
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    rows += "</w:tr>";
  }
  const auto bytes = made_docx("<w:tbl>" + rows + "</w:tbl>").bytes();
  const auto map = map_of(pages_of("docx", bytes).front());
  ASSERT_EQ(map.tables.size(), 1U) << map.text;
  EXPECT_EQ(map.tables[0].rows, 4U);
  EXPECT_EQ(map.tables[0].columns, 3U);
}

TEST(Docx, PageBreaksHeadersAndFooters) {
  auto zip = made_docx(docx_paragraph("one") +
                       "<w:p><w:r><w:br w:type=\"page\"/><w:t>two</w:t></w:r></w:p>" +
                       "<w:sectPr><w:headerReference w:type=\"default\" r:id=\"h\"/>"
                       "<w:footerReference w:type=\"default\" r:id=\"f\"/></w:sectPr>");
  zip.add("word/_rels/document.xml.rels",
          relationships(relationship("h", "header", "header1.xml") +
                        relationship("f", "footer", "footer1.xml")));
  zip.add("word/header1.xml", "<hdr>" + docx_paragraph("Clinic") + "</hdr>");
  zip.add("word/footer1.xml", "<ftr>" + docx_paragraph("Confidential") + "</ftr>");
  const auto pages = pages_of("docx", zip.bytes());
  ASSERT_EQ(pages.size(), 2U);
  for (const auto& page : pages) {
    EXPECT_EQ(page.words[0].text, "Clinic");
    EXPECT_EQ(page.words[1].text, "Confidential");
    EXPECT_GT(page.words[1].box.y0, 0.9);
    EXPECT_TRUE(page.info.estimated);
  }
  EXPECT_EQ(pages[1].words[2].text, "two");
}

TEST(Docx, DeletedTextAndFieldCodesAreNotShown) {
  const auto bytes =
      made_docx(
          "<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:r><w:instrText>"
          "PAGE</w:instrText></w:r><w:r><w:t>stays</w:t></w:r></w:p>")
          .bytes();
  EXPECT_EQ(text_of("docx", bytes), "stays");
}

TEST(Docx, LongTextFlowsOverPages) {
  std::string body;
  for (int i = 0; i < 200; ++i) body += docx_paragraph("Line " + std::to_string(i));
  const auto pages = pages_of("docx", made_docx(body).bytes());
  EXPECT_GT(pages.size(), 2U);
  std::size_t words = 0;
  for (const auto& page : pages) {
    words += page.words.size();
    for (const auto& word : page.words) EXPECT_LE(word.box.y1, 1.0);
  }
  EXPECT_EQ(words, 400U) << "every word once";
}

TEST(Xlsx, CellsAsTheyAreShown) {
  const auto bytes =
      made_xlsx(
          "<row r=\"1\"><c r=\"A1\" t=\"s\"><v>0</v></c><c r=\"C1\" t=\"s\"><v>1</v></c></row>"
          "<row r=\"2\"><c r=\"A2\" s=\"1\"><v>45000</v></c><c r=\"C2\" "
          "s=\"3\"><v>5.25</v></c></row>"
          "<row r=\"3\"><c r=\"A3\" t=\"b\"><v>1</v></c><c r=\"C3\" s=\"2\"><v>0.5</v></c></row>"
          "<row r=\"4\"><c r=\"A4\" t=\"inlineStr\"><is><t>in line</t></is></c>"
          "<c r=\"C4\" t=\"str\"><v>made</v></c></row>",
          {"Date", "Dose"})
          .bytes();
  const auto map = map_of(pages_of("xlsx", bytes).front());
  for (const auto* part :
       {"Date", "Dose", "2023-03-15", "5.3", "TRUE", "50.00%", "in line", "made", "Labs"}) {
    EXPECT_NE(map.text.find(part), std::string::npos) << part << " in:\n" << map.text;
  }
  ASSERT_EQ(map.tables.size(), 1U);
  EXPECT_EQ(map.tables[0].columns, 2U) << "empty columns are left out";
}

TEST(Xlsx, ManyColumnsFollowBelowEachOther) {
  std::string cells;
  for (int i = 0; i < 60; ++i) cells += "<c t=\"str\"><v>c" + std::to_string(i) + "</v></c>";
  const auto pages = pages_of("xlsx", made_xlsx("<row r=\"1\">" + cells + "</row>").bytes());
  std::size_t words = 0;
  for (const auto& page : pages) {
    for (const auto& word : page.words) {
      EXPECT_LE(word.box.x1, 1.0);
      words += word.text.starts_with('c') ? 1 : 0;
    }
  }
  EXPECT_EQ(words, 60U);
}

TEST(Pptx, ASlideIsAPage) {
  const auto bytes =
      made_pptx({slide_text("Title", true) + slide_text("Body"), slide_text("Second")}).bytes();
  const auto pages = pages_of("pptx", bytes);
  ASSERT_EQ(pages.size(), 2U);
  EXPECT_EQ(pages[0].words[0].text, "Title");
  EXPECT_GT(pages[0].words[0].box.height(), pages[0].words[1].box.height());
  EXPECT_EQ(pages[1].words[0].text, "Second");
  EXPECT_GT(pages[0].info.width_px, pages[0].info.height_px);
}

TEST(Pptx, AFullSlideStaysOnePage) {
  std::string slide;
  for (int i = 0; i < 60; ++i) slide += slide_text("Point " + std::to_string(i));
  EXPECT_EQ(pages_of("pptx", made_pptx({slide}).bytes()).size(), 1U);
}

TEST(Odf, TextSheetsAndSlides) {
  const auto odt =
      made_odf(
          "text",
          "<text:h text:outline-level=\"1\">Report</text:h><text:p>a<text:s "
          "text:c=\"2\"/>b</text:p>"
          "<text:list><text:list-item><text:p>item</text:p></text:list-item></text:list>"
          "<text:p text:style-name=\"Break\">next</text:p>",
          "<style:style style:name=\"Break\"><style:paragraph-properties fo:break-before=\"page\"/>"
          "</style:style>")
          .bytes();
  EXPECT_EQ(pages_of("odt", odt).size(), 2U);
  EXPECT_NE(text_of("odt", odt).find("• item"), std::string::npos) << text_of("odt", odt);
  const auto ods =
      made_odf(
          "spreadsheet",
          "<table:table table:name=\"One\"><table:table-row><table:table-cell><text:p>x</text:p>"
          "</table:table-cell><table:table-cell table:number-columns-repeated=\"16000\"/>"
          "</table:table-row></table:table><table:table table:name=\"Two\"><table:table-row>"
          "<table:table-cell><text:p>y</text:p></table:table-cell></table:table-row></table:table>")
          .bytes();
  ASSERT_EQ(pages_of("ods", ods).size(), 2U);
  EXPECT_NE(text_of("ods", ods, 2).find("Two"), std::string::npos);
  const auto equal =
      made_odf("spreadsheet",
               "<table:table table:name=\"One\"><table:table-row "
               "table:number-rows-repeated=\"2\"><table:table-cell "
               "table:number-columns-repeated=\"3\"><text:p>0</text:p></table:table-cell>"
               "</table:table-row></table:table>")
          .bytes();
  EXPECT_EQ(pages_of("ods", equal).front().words.size(), 7U) << "six values and the sheet's name";
  const auto odp = made_odf("presentation",
                            "<draw:page><draw:frame presentation:class=\"title\"><text:p>T</text:p>"
                            "</draw:frame></draw:page><draw:page><text:p>U</text:p></draw:page>")
                       .bytes();
  EXPECT_EQ(pages_of("odp", odp).size(), 2U);
}

TEST(Text, LinesKeepTheirColumns) {
  const auto pages = pages_of("text", "Drug      Dose\nAspirin   100 mg\n");
  ASSERT_EQ(pages.size(), 1U);
  const auto& words = pages[0].words;
  ASSERT_EQ(words.size(), 5U);
  EXPECT_EQ(words[1].box.x0, words[3].box.x0) << "columns made of blanks stay level";
}

TEST(Text, FormFeedsAndLengthMakePages) {
  EXPECT_EQ(pages_of("text", "a\fb").size(), 2U);
  EXPECT_EQ(pages_of("text", "").size(), 1U);
  std::string lines;
  for (int i = 0; i < 61; ++i) lines += "x\n";
  EXPECT_EQ(pages_of("text", lines).size(), 2U) << "60 lines are a page";
}

TEST(Text, LongLinesAreCutBetweenWords) {
  std::string line;
  for (int i = 0; i < 40; ++i) line += "Metformin ";
  const auto pages = pages_of("text", line);
  for (const auto& word : pages.front().words) EXPECT_EQ(word.text, "Metformin");
}

TEST(Office, EqualBytesGiveEqualPages) {
  const auto bytes = made_docx(docx_paragraph("Some text, again and again")).bytes();
  EXPECT_EQ(layout::arrange(pages_of("docx", bytes)[0]).value(),
            layout::arrange(pages_of("docx", bytes)[0]).value());
}

TEST(Office, OnePageOfAFile) {
  const int fd = memory_fd("a\fb");
  EXPECT_EQ(office_page("text", fd, 2).value().words[0].text, "b");
  EXPECT_EQ(office_page("text", fd, 2).value().info.page, 2U);
  EXPECT_EQ(office_page("text", fd, 3).error().kind, ErrorKind::not_found);
  close(fd);
}

// The same files with their parts under other names, as the package says; ids of relationships have
// another prefix.
MadeZip renamed(MadeZip zip, const std::vector<std::pair<std::string, std::string>>& names,
                std::string_view main) {
  for (auto& entry : zip.entries) {
    for (const auto& [from, to] : names) {
      if (entry.name == from) entry.name = to;
    }
    for (auto at = entry.content.find("r:id="); at != std::string::npos;
         at = entry.content.find("r:id=", at + 9)) {
      entry.content.replace(at, 5, "odd:id=\"of another\" rel:id=");
    }
    const auto declared = entry.content.find("xmlns:r=\"r\"");
    if (declared != std::string::npos) {
      entry.content.replace(
          declared, 11,
          "xmlns:odd=\"o\" xmlns:rel=\"" + std::string(kRelationshipTypes).substr(0, 67) + "\"");
    }
  }
  zip.add("_rels/.rels",
          relationships(relationship("t", "metadata/thumbnail", "word/document.xml") +
                        relationship("m", "officeDocument", main)));
  return zip;
}

TEST(Office, ThePackageSaysWhichPartItIsAbout) {
  auto docx = made_docx(docx_paragraph("Scope", "<w:pStyle w:val=\"H1\"/>") +
                        "<w:sectPr><w:headerReference w:type=\"default\" r:id=\"h\"/></w:sectPr>");
  docx.add("word/_rels/document.xml.rels",
           relationships(relationship("h", "header", "../parts/head.xml") +
                         relationship("s", "styles", "/looks/styles2.xml")));
  docx.add("parts/head.xml", "<hdr>" + docx_paragraph("Clinic") + "</hdr>");
  docx.add("looks/styles2.xml", "<s><style styleId=\"H1\"><name val=\"heading 1\"/></style></s>");
  docx = renamed(docx,
                 {{"word/document.xml", "text/document2.xml"},
                  {"word/_rels/document.xml.rels", "text/_rels/document2.xml.rels"}},
                 "text/document2.xml");
  const auto words = pages_of("docx", docx.bytes()).front().words;
  ASSERT_EQ(words.size(), 2U);
  EXPECT_EQ(words[0].text, "Clinic");
  EXPECT_EQ(words[1].text, "Scope");
  EXPECT_GT(words[1].box.height(), words[0].box.height()) << "headings are larger";

  const auto xlsx = renamed(made_xlsx("<row r=\"1\"><c r=\"A1\" t=\"s\"><v>0</v></c>"
                                      "<c r=\"B1\" s=\"3\"><v>5</v></c></row>",
                                      {"Aspirin"}),
                            {{"xl/workbook.xml", "book/all.xml"},
                             {"xl/_rels/workbook.xml.rels", "book/_rels/all.xml.rels"},
                             {"xl/sharedStrings.xml", "book/sharedStrings.xml"},
                             {"xl/styles.xml", "book/styles.xml"},
                             {"xl/worksheets/sheet1.xml", "book/worksheets/sheet1.xml"}},
                            "/book/./more/../all.xml");
  const auto sheet = text_of("xlsx", xlsx.bytes());
  EXPECT_NE(sheet.find("Aspirin"), std::string::npos) << sheet;
  EXPECT_NE(sheet.find("5.0 mg"), std::string::npos) << sheet;

  const auto pptx = renamed(made_pptx({slide_text("One"), slide_text("Two")}),
                            {{"ppt/presentation.xml", "ppt/deck.xml"},
                             {"ppt/_rels/presentation.xml.rels", "ppt/_rels/deck.xml.rels"}},
                            "ppt/deck.xml");
  ASSERT_EQ(pages_of("pptx", pptx.bytes()).size(), 2U);
  EXPECT_EQ(pages_of("pptx", pptx.bytes())[1].words[0].text, "Two");
}

// J03. What a package names may be anything; then the usual name counts.
TEST(Office, NamesOfPartsThatAreNoneAreIgnored) {
  for (const auto* name : {"../../../../etc/passwd", "/etc/passwd", "C:\\text.docx", "missing.xml",
                           "", "..", "/", "word", "http://example.org/word/document.xml"}) {
    SCOPED_TRACE(name);
    auto zip = made_docx(docx_paragraph("stays"));
    zip.add("_rels/.rels", relationships(relationship("m", "officeDocument", name)));
    zip.add("word/_rels/document.xml.rels", relationships(relationship("s", "styles", name)));
    EXPECT_EQ(text_of("docx", zip.bytes()), "stays");
  }
  auto outside = made_docx(docx_paragraph("stays"));
  outside.add("word/other.xml", "<w><p><t>never</t></p></w>");
  outside.add("_rels/.rels",
              relationships(relationship("m", "officeDocument", "word/other.xml", true)));
  EXPECT_EQ(text_of("docx", outside.bytes()), "stays");
  auto broken = made_docx(docx_paragraph("stays"));
  broken.add("_rels/.rels", "<Relationships><Relationship ");
  EXPECT_EQ(text_of("docx", broken.bytes()), "stays");
  for (const auto* name : {"text/body", "word/embeddings/body.xml"}) {
    auto unsearched = made_docx(docx_paragraph("stays"));
    unsearched.add(name, "<w><p><t>never</t></p></w>");
    unsearched.add("_rels/.rels", relationships(relationship("m", "officeDocument", name)));
    EXPECT_EQ(text_of("docx", unsearched.bytes()), "stays") << "inspection does not look there";
  }
  // Above the root there is nothing, so this is the part itself.
  auto above = made_docx(docx_paragraph("never"));
  above.add("text.xml", "<w><p><t>shown</t></p></w>");
  above.add("_rels/.rels", relationships(relationship("m", "officeDocument", "../../text.xml")));
  EXPECT_EQ(text_of("docx", above.bytes()), "shown");
}

TEST(Office, RelationshipsAreAsShortAndFewAsProgramsWriteThem) {
  const Limits limits;
  Relationships links("word/document.xml", limits);
  const auto add = [&](const std::string& id, const std::string& target) {
    const char* list[] = {"Id", id.c_str(), "Target", target.c_str(), nullptr};
    links.add(XmlAttributes(list));
  };
  const std::string long_id(300, 'i');
  const std::string long_name(limits.entry_name_bytes_max, 'n');
  add(long_id, "a.xml");
  add("", "a.xml");
  add("long", long_name);
  add("short", "../" + long_name);
  EXPECT_EQ(links.target(long_id), nullptr);
  EXPECT_EQ(links.target(""), nullptr);
  EXPECT_EQ(links.target("long"), nullptr) << "no part has such a name";
  ASSERT_NE(links.target("short"), nullptr);
  EXPECT_EQ(*links.target("short"), long_name);
  for (std::size_t i = 3; i < Relationships::kLinksMax; ++i) add("r" + std::to_string(i), "a.xml");
  add("too many", "a.xml");
  EXPECT_EQ(*links.target("r" + std::to_string(Relationships::kLinksMax - 1)), "word/a.xml");
  EXPECT_EQ(links.target("too many"), nullptr);
}

// J03.
TEST(Office, RefusesMoreThanIsAllowed) {
  const auto rule = [](std::string_view kind, const std::string& bytes, const Limits& limits) {
    const auto pages = office_pages_of(kind, bytes, limits);
    return pages.has_value() ? "" : pages.error().constraint;
  };
  EXPECT_EQ(rule("text", "a\fb\fc", {.pages_max = 2}), "page_count");
  EXPECT_EQ(rule("text", "a\fb", {.pages_max = 2}), "");
  const auto docx = made_docx(docx_paragraph(std::string(1'000, 'x'))).bytes();
  EXPECT_EQ(rule("docx", docx, {.text_bytes_max = 500}), "text_bytes");
  EXPECT_EQ(rule("docx", docx, {.text_bytes_max = 5'000}), "");
  const auto xlsx =
      made_xlsx("<row r=\"1\"><c r=\"A1\"><v>1</v></c><c r=\"B1\"><v>1</v></c></row>").bytes();
  EXPECT_EQ(rule("xlsx", xlsx, {.table_cells_max = 1}), "table_cells");
  EXPECT_EQ(rule("xlsx", xlsx, {.table_cells_max = 2}), "");
  const auto cell = "<w:tc>" + docx_paragraph("x") + "</w:tc>";
  const auto table = made_docx("<w:tbl><w:tr>" + cell + cell + cell + "</w:tr></w:tbl>").bytes();
  EXPECT_EQ(rule("docx", table, {.table_columns_max = 2}), "table_columns");
  EXPECT_EQ(rule("docx", table, {.table_columns_max = 3}), "");
}

TEST(Office, WordsFitTheSpatialMap) {
  // Combining marks without end, no blanks, and a text that runs from right to left.
  std::string marks = "a";
  for (int i = 0; i < 5'000; ++i) marks += "\u0301";
  for (const auto& text : {marks, std::string(20'000, 'W'), std::string("שלום עולם טוב")}) {
    for (const auto& page : pages_of("docx", made_docx(docx_paragraph(text)).bytes())) {
      EXPECT_TRUE(layout::arrange(page).has_value());
    }
  }
}

}  // namespace
}  // namespace millrace::document
