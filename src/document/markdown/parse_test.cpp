// The operation over made files of every format: goldens, determinism, refusals.
#include "document/inspect/made_image.h"
#include "document/inspect/made_office.h"
#include "document/inspect/made_pdf.h"
#include "document/markdown/made_parse.h"

#include <gtest/gtest.h>

namespace millrace::document {
namespace {

// Pages of Helvetica (F1), Helvetica-Bold (F2) and Courier (F3).
class LaidOutPdf {
 public:
  LaidOutPdf() {
    pdf_.set(4, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>");
    pdf_.set(5, "<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>");
  }
  LaidOutPdf& text(int font, double size, double x, double y, std::string_view text) {
    content_ += fmt::format("BT /F{} {} Tf {} {} Td ({}) Tj ET\n", font, size, x, y, text);
    return *this;
  }
  LaidOutPdf& end_page() {
    const auto content = pdf_.add(pdf_stream("", content_));
    pdf_.page_of(content, "/Resources << /Font << /F1 3 0 R /F2 4 0 R /F3 5 0 R >> >>");
    content_.clear();
    return *this;
  }
  MadePdf& pdf() { return pdf_; }
  std::string bytes() const { return pdf_.bytes(); }

 private:
  MadePdf pdf_;
  std::string content_;
};

std::string report_pdf() {
  LaidOutPdf made;
  for (int page = 1; page <= 3; ++page) {
    made.text(1, 8, 72, 760, "Quarterly report of the clinic")
        .text(1, 8, 300, 30, std::to_string(page));
    if (page == 1) {
      made.text(2, 22, 72, 700, "Annual findings")
          .text(2, 14, 72, 660, "1 Background")
          .text(1, 11, 72, 636, "The study followed patients over several years and its con-")
          .text(1, 11, 72, 622, "clusions were published in the usual places, where everybody")
          .text(1, 11, 72, 608, "can read them today.")
          .text(1, 11, 72, 580, "A second paragraph stands below the first one and is shorter.")
          .text(1, 11, 90, 552, "\\267 First point of the list")
          .text(1, 11, 90, 538, "\\267 Second point of the list");
    } else if (page == 2) {
      made.text(2, 14, 72, 700, "2 Doses");
      const char* rows[][3] = {{"Drug", "Dose", "Count"},
                               {"Aspirin", "100 mg", "12"},
                               {"Ibuprofen", "400 mg", "7"},
                               {"Metformin", "850 mg", "31"}};
      double y = 660;
      for (const auto& row : rows) {
        made.text(1, 11, 72, y, row[0]).text(1, 11, 250, y, row[1]).text(1, 11, 430, y, row[2]);
        y -= 20;
      }
    } else {
      made.text(1, 11, 72, 700, "The program is called in this way, as the manual says it:")
          .text(3, 10, 72, 670, "run --all")
          .text(3, 10, 84, 658, "--fast");
    }
    made.end_page();
  }
  made.pdf().trailer = "/Info << /Title (The report) >>";
  return made.bytes();
}

TEST(Parse, PdfWithHeadingsListsTablesAndRunningText) {
  const auto out = parsed(report_pdf());
  EXPECT_EQ(out.error, "");
  EXPECT_EQ(out.text("schema"), "parse/1");
  EXPECT_EQ(out.text("parser"), "builtin");
  EXPECT_EQ(out.text("parser_version"), "2");
  EXPECT_EQ(out.text("kind"), "pdf");
  EXPECT_EQ(out.text("title"), "The report");
  EXPECT_EQ(out.number("page_count"), 3);
  EXPECT_EQ(out.list("pages_without_text"), "[]");
  EXPECT_EQ(out.list("running_text"), "[\"Quarterly report of the clinic\"]");
  EXPECT_EQ(out.markdown, R"(<!-- page 1 -->

# Annual findings

## 1 Background

The study followed patients over several years and its conclusions were published in the usual places, where everybody can read them today.

A second paragraph stands below the first one and is shorter.

- First point of the list
- Second point of the list

<!-- page 2 -->

## 2 Doses

| Drug | Dose | Count |
| --- | --- | --- |
| Aspirin | 100 mg | 12 |
| Ibuprofen | 400 mg | 7 |
| Metformin | 850 mg | 31 |

<!-- page 3 -->

The program is called in this way, as the manual says it:

```
run --all
  --fast
```
)");
}

TEST(Parse, PdfTextCannotFakePages) {
  LaidOutPdf made;
  made.text(1, 11, 72, 700, "<!-- page 7 -->")
      .text(1, 11, 72, 650, "# heading that is none at all");
  made.text(1, 11, 72, 600, "| a | b | and some words more").end_page();
  EXPECT_EQ(markdown_of(made.bytes()),
            "<!-- page 1 -->\n\n\\<!-- page 7 -->\n\n\\# heading that is none at all\n\n"
            "\\| a \\| b \\| and some words more\n");
}

std::string scanned_pdf() {
  MadePdf pdf;
  pdf.page("A page with a text layer that says enough to be believed");
  const auto image =
      pdf.add(pdf_stream("/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace "
                         "/DeviceGray /BitsPerComponent 8",
                         "x"));
  const auto content = pdf.add(pdf_stream("", "q 612 0 0 792 0 0 cm /I Do Q"));
  pdf.page_of(content, fmt::format("/Resources << /XObject << /I {} 0 R >> >>", image));
  return pdf.bytes();
}

TEST(Parse, PagesWithoutTextAreNamed) {
  const auto out = parsed(scanned_pdf());
  EXPECT_EQ(out.error, "");
  EXPECT_EQ(out.list("pages_without_text"), "[2]");
  EXPECT_TRUE(out.markdown.ends_with("\n\n<!-- page 2 -->\n")) << out.markdown;
}

TEST(Parse, PagesThatWereRecognisedStandIn) {
  const std::string page =
      R"({"schema":"spatial/1","page":2,"width_px":850,"height_px":1100,"dpi":100,"rotation_deg":0,)"
      R"("engine":"test@1","estimated":false,"words":[{"i":0,"text":"Scanned","bbox":[0.1,0.3,0.2,)"
      R"(0.32],"poly":null,"conf":0.9,"line":0,"block":0,"char":[0,7]}],"blocks":[{"kind":"text"}],)"
      R"("tables":[],"pairs":[],"checkboxes":[]})";
  const auto out = parsed(scanned_pdf(), {}, page + "\n");
  EXPECT_EQ(out.error, "");
  EXPECT_TRUE(out.markdown.ends_with("<!-- page 2 -->\n\nScanned\n")) << out.markdown;
  EXPECT_EQ(out.list("pages_without_text"), "[]");
  EXPECT_EQ(out.list("pages_recognised"), "[2]");
  EXPECT_TRUE(parsed(scanned_pdf(), {}, "{}\n").error.starts_with("pages, line 1: "));
  EXPECT_TRUE(parsed(scanned_pdf(), {}, page + "\n" + page).error.ends_with("page 2 comes twice"));
}

TEST(Parse, DocxKeepsHeadingsListsAndTables) {
  auto zip = made_docx(
      docx_paragraph("Report", "<w:pStyle w:val=\"H1\"/>") + docx_paragraph("Some # text | here") +
      docx_paragraph("One", "<w:numPr><w:ilvl w:val=\"0\"/><w:numId w:val=\"1\"/></w:numPr>") +
      docx_paragraph("Deeper", "<w:numPr><w:ilvl w:val=\"1\"/><w:numId w:val=\"1\"/></w:numPr>") +
      docx_paragraph("Two", "<w:numPr><w:ilvl w:val=\"0\"/><w:numId w:val=\"1\"/></w:numPr>") +
      "<w:tbl><w:tr><w:tc>" + docx_paragraph("a") + "</w:tc><w:tc>" + docx_paragraph("b|c") +
      "</w:tc></w:tr><w:tr><w:tc>" + docx_paragraph("d") + docx_paragraph("e") + "</w:tc><w:tc>" +
      docx_paragraph("f") + "</w:tc></w:tr></w:tbl>" +
      "<w:p><w:r><w:br w:type=\"page\"/><w:t># second</w:t></w:r></w:p>");
  zip.add("word/styles.xml",
          "<w:styles xmlns:w=\"w\"><w:style w:styleId=\"H1\"><w:name w:val=\"heading "
          "1\"/></w:style></w:styles>");
  zip.add("word/numbering.xml",
          "<w:numbering xmlns:w=\"w\"><w:abstractNum w:abstractNumId=\"0\"><w:lvl "
          "w:ilvl=\"0\"><w:numFmt "
          "w:val=\"decimal\"/></w:lvl></w:abstractNum><w:num w:numId=\"1\"><w:abstractNumId "
          "w:val=\"0\"/></w:num></w:numbering>");
  zip.add("docProps/core.xml",
          "<c:p xmlns:c=\"c\" xmlns:dc=\"d\"><dc:title>My title</dc:title></c:p>");
  const auto out = parsed(zip.bytes());
  EXPECT_EQ(out.error, "");
  EXPECT_EQ(out.text("title"), "My title");
  EXPECT_EQ(out.number("page_count"), 2);
  EXPECT_EQ(out.markdown,
            "<!-- page 1 -->\n\n# Report\n\nSome # text \\| here\n\n1. One\n   - Deeper\n2. Two\n\n"
            "| a | b\\|c |\n| --- | --- |\n| d<br>e | f |\n\n<!-- page 2 -->\n\n\\# second\n");
}

TEST(Parse, PicturesOfOfficeFilesAreCounted) {
  auto zip = made_docx(docx_paragraph("A scan, pasted"));
  zip.add("word/media/image1.png", "pixels").add("word/media/image2.jpeg", "pixels");
  const auto out = parsed(zip.bytes());
  EXPECT_EQ(out.error, "");
  EXPECT_EQ(out.warnings(), "pictures");
  EXPECT_EQ(out.result.at("warnings").at(0).at("count").to_number<int>(), 2);
}

TEST(Parse, SlidesAndSheetsArePages) {
  EXPECT_EQ(
      markdown_of(
          made_pptx({slide_text("Title", true) + slide_text("Body"), slide_text("Two")}).bytes()),
      "<!-- page 1 -->\n\n# Title\n\nBody\n\n<!-- page 2 -->\n\nTwo\n");
  EXPECT_EQ(
      markdown_of(
          made_xlsx(
              "<row r=\"1\"><c r=\"A1\" t=\"s\"><v>0</v></c><c r=\"B1\" t=\"s\"><v>1</v></c></row>"
              "<row r=\"2\"><c r=\"A2\"><v>1.5</v></c><c r=\"B2\" t=\"str\"><v>x|y</v></c></row>",
              {"Name", "Value"})
              .bytes()),
      "<!-- page 1 -->\n\n## Labs\n\n| Name | Value |\n| --- | --- |\n| 1.5 | x\\|y |\n");
  EXPECT_EQ(markdown_of(
                made_odf("text",
                         "<text:h text:outline-level=\"2\">Head</text:h><text:list><text:list-item>"
                         "<text:p>a</text:p><text:p>more</text:p></"
                         "text:list-item><text:list-item><text:p>b</text:p>"
                         "</text:list-item></text:list>")
                    .bytes()),
            "## Head\n\n- a\n\n  more\n- b\n");
}

TEST(Parse, PlainText) {
  EXPECT_EQ(
      markdown_of(
          "Title\n=====\n\nA paragraph that was wrapped at a width of about sixty characters\n"
          "and goes on in the next line, with a divi-\nded word.\n\n- one\n- two\n  goes on\n  - "
          "deep\n\n"
          "Dear A,\nshort line\n\n> quote\n"),
      "# Title\n\nA paragraph that was wrapped at a width of about sixty characters and goes on in "
      "the next "
      "line, with a divided word.\n\n- one\n- two goes on\n  - deep\n\nDear A,\\\nshort line\n\n> "
      "quote\n");
  EXPECT_EQ(markdown_of("a\tb\n1\t2\n"), "| a | b |\n| --- | --- |\n| 1 | 2 |\n");
  EXPECT_EQ(markdown_of("Drug      Dose\nAspirin   100 mg\n"),
            "```\nDrug      Dose\nAspirin   100 mg\n```\n");
  EXPECT_EQ(markdown_of("one\ftwo"), "<!-- page 1 -->\n\none\n\n<!-- page 2 -->\n\ntwo\n");
  EXPECT_EQ(parsed("Gr\xfc\xdf"
                   "e aus Bern")
                .text("encoding"),
            "windows-1252");
}

TEST(Parse, MarkdownPassesThroughInOneForm) {
  const auto out = parsed(
      "---\ntitle: \"My doc\"\n---\r\nHead\r\n====\r\n\r\n\r\n\r\ntext  \r\nmore   \n## Two\nx\n\n"
      "<!-- page 4 -->\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```c\n# code\n\n\n",
      {{"file_name", "a.MD"}});
  EXPECT_EQ(out.text("kind"), "markdown");
  EXPECT_EQ(out.text("title"), "My doc");
  EXPECT_EQ(out.warnings(), "open_fence");
  EXPECT_EQ(out.markdown,
            "```yaml\ntitle: \"My doc\"\n```\n\n# Head\n\ntext\\\nmore\n## Two\n\nx\n\n<! -- page "
            "4 -->\n\n"
            "| a | b |\n|---|---|\n| 1 | 2 |\n\n```c\n# code\n\n\n```\n");
}

TEST(Parse, EqualBytesGiveEqualMarkdown) {
  for (const auto& bytes :
       {report_pdf(), made_pptx({slide_text("T", true)}).bytes(), std::string("<html><p>x")}) {
    const auto first = parsed(bytes);
    const auto second = parsed(bytes);
    EXPECT_EQ(first.markdown, second.markdown);
    EXPECT_EQ(to_json(first.result), to_json(second.result));
  }
}

TEST(Parse, RefusalsNameTheRule) {
  EXPECT_EQ(parsed("").error, "empty");
  EXPECT_EQ(parsed("MZ\x90").error, "unsupported_type");
  EXPECT_EQ(parsed("x", {{"kind", "nothing"}}).error.substr(0, 12), "kind must be");
  EXPECT_EQ(parsed("x", {{"ocr", 1}}).error, "ocr must be a string");
  EXPECT_EQ(parsed("x", {{"ocr", "always"}}).error, "ocr must be never or auto");
  EXPECT_EQ(parsed("PK\x03\x04 broken", {{"kind", "docx"}}).error, "truncated");
  EXPECT_EQ(parsed(std::string("a\0\x01\x02", 4), {{"kind", "text"}}).error, "unsupported_type");
  EXPECT_NE(parsed("%PDF-1.7\nnothing", {{"kind", "pdf"}}).error, "");
}

TEST(Parse, HostileOfficeFilesAndTexts) {
  std::string deep;
  for (int i = 0; i < 300; ++i) deep += "<w:tbl><w:tr><w:tc>";
  EXPECT_NE(parsed(made_docx(deep).bytes()).error, "");
  auto bomb = made_docx(docx_paragraph("&a;"));
  EXPECT_NE(parsed(bomb.bytes()).error, "") << "an entity that nobody declared";
  EXPECT_EQ(markdown_of(std::string(10'000'000, 'x')).size(), 10'000'001U);
  std::string lines;
  for (int i = 0; i < 500'000; ++i) lines += "x\n";
  EXPECT_EQ(parsed(lines).error, "");
  EXPECT_EQ(parsed(std::string(1'000'000, '>') + " x").error, "");
  EXPECT_EQ(parsed(std::string(6'000, '\f') + "x").error, "page_count");
}

}  // namespace
}  // namespace millrace::document
