#include "document/inspect/made_inspection.h"
#include "document/inspect/made_office.h"
#include "document/inspect/made_pdf.h"
#include "document/inspect/office_parts.h"

#include <gtest/gtest.h>

namespace millrace::document {
namespace {

MadeZip good_docx() { return made_docx(docx_paragraph("Metformin 500 mg")); }

std::string docx_with(std::string name, std::string content) {
  auto zip = good_docx();
  return zip.add(std::move(name), std::move(content)).bytes();
}

TEST(OfficeInspect, GoodFilesAreClean) {
  EXPECT_EQ(rules_of(good_docx().bytes(), "a.docx"), "");
  EXPECT_EQ(rules_of(made_xlsx("<row r=\"1\"><c r=\"A1\"><v>1</v></c></row>").bytes(), "a.xlsx"),
            "");
  EXPECT_EQ(rules_of(made_pptx({slide_text("Hello")}).bytes(), "a.pptx"), "");
  EXPECT_EQ(rules_of(made_odf("text", "<text:p>Hello</text:p>").bytes(), "a.odt"), "");
  EXPECT_EQ(rules_of("Hello\n", "a.txt"), "");
}

TEST(OfficeInspect, MacrosAreRefused) {
  EXPECT_EQ(rules_of(docx_with("word/vbaProject.bin", "\xd0\xcf\x11\xe0")), "office_macro:refuse");
  EXPECT_EQ(rules_of(docx_with("word/vbaProject.bin", "\xd0\xcf\x11\xe0"), "", "flag"),
            "office_macro:flag");
  auto sheet = made_xlsx("");
  EXPECT_EQ(rules_of(sheet.add("xl/macrosheets/sheet1.xml", "<a/>").bytes()),
            "office_macro:refuse");
  auto odf = made_odf("text", "");
  EXPECT_EQ(rules_of(odf.add("Basic/Standard/Module1.xml", "<a/>").bytes()), "office_macro:refuse");
  EXPECT_EQ(
      rules_of(made_odf("text", "<script:event-listener xlink:href=\"vnd.sun.star.script:x\"/>")
                   .bytes()),
      "office_macro:refuse");
  EXPECT_EQ(rules_of(docx_with("word/theme/theme1.xml", "<a/>")), "");
}

TEST(OfficeInspect, TemplatesThatLieElsewhereAreRefused) {
  const auto with = [](std::string_view target) {
    return rules_of(docx_with("word/_rels/settings.xml.rels",
                              relationships(relationship("r1", "attachedTemplate", target, true))));
  };
  EXPECT_EQ(with("https://evil.example/t.dotm"), "office_remote_template:refuse");
  EXPECT_EQ(with("\\\\server\\share\\t.dotm"), "office_remote_template:refuse");
  EXPECT_EQ(with("file:///C:/Users/me/Normal.dotm"), "") << "the writer's own";
}

TEST(OfficeInspect, ObjectsThatLieElsewhereAreRefusedLinksFlagged) {
  const auto with = [](std::string_view kind) {
    return rules_of(docx_with("word/_rels/document.xml.rels",
                              relationships(relationship("r1", kind, "http://a.example/x", true))));
  };
  EXPECT_EQ(with("oleObject"), "office_remote_object:refuse");
  EXPECT_EQ(with("frame"), "office_remote_object:refuse");
  EXPECT_EQ(with("image"), "office_external_link:flag");
  EXPECT_EQ(with("hyperlink"), "");
}

TEST(OfficeInspect, DdeIsRefusedHoweverItIsCut) {
  const auto field = [](std::string_view runs) {
    return rules_of(made_docx("<w:p>" + std::string(runs) + "</w:p>").bytes());
  };
  EXPECT_EQ(field("<w:r><w:instrText>DDEAUTO c:\\\\cmd.exe \"/k\"</w:instrText></w:r>"),
            "office_dde:refuse");
  EXPECT_EQ(
      field(
          "<w:r><w:instrText>DD</w:instrText></w:r><w:r><w:instrText>E cmd x</w:instrText></w:r>"),
      "office_dde:refuse");
  EXPECT_EQ(field("<w:fldSimple w:instr=\" DDE cmd x\"/>"), "office_dde:refuse");
  EXPECT_EQ(field("<w:r><w:instrText>HYPERLINK \"https://added.example\"</w:instrText></w:r>"), "");
  EXPECT_EQ(field("<w:r><w:t>DDE is a protocol</w:t></w:r>"), "");
}

// Such parts are neither searched nor read; programs would show them.
TEST(OfficeInspect, BodiesThatAreNotSearchedAreRefused) {
  for (const auto* part : {"text/body", "word/embeddings/body.xml", ""}) {
    EXPECT_EQ(rules_of(docx_with("_rels/.rels",
                                 relationships(relationship("r", "officeDocument", part)))),
              "office_structure:refuse")
        << part;
  }
  EXPECT_EQ(rules_of(docx_with("_rels/.rels", relationships(relationship("r", "officeDocument",
                                                                         "/word/document.xml")))),
            "");
}

TEST(OfficeInspect, FormulasThatCallProgramsAreRefused) {
  const auto formula = [](std::string_view code) {
    return rules_of(
        made_xlsx("<row r=\"1\"><c r=\"A1\"><f>" + std::string(code) + "</f><v>1</v></c></row>")
            .bytes());
  };
  EXPECT_EQ(formula("cmd|'/c calc'!A0"), "office_dde:refuse");
  EXPECT_EQ(formula("SUM(A1:A3)&amp;\"a|b!\""), "");
}

TEST(OfficeInspect, ControlsAndObjects) {
  EXPECT_EQ(rules_of(docx_with("word/activeX/activeX1.bin", "x")), "office_activex:refuse");
  EXPECT_EQ(rules_of(docx_with("word/embeddings/oleObject1.bin", "\xd0\xcf\x11\xe0 data")),
            "office_embedded_object:flag");
  EXPECT_EQ(rules_of(docx_with("word/embeddings/oleObject1.bin",
                               "\xd0\xcf\x11\xe0 MZ This program cannot be run in DOS mode.")),
            "office_embedded_object:flag, embedded_executable:refuse");
  EXPECT_EQ(rules_of(docx_with("word/embeddings/sheet.xlsx", made_xlsx("").bytes())),
            "office_embedded_object:flag");
  EXPECT_EQ(rules_of(made_docx("<w:altChunk r:id=\"r1\"/>").bytes()), "office_alt_chunk:flag");
}

// A scan that was pasted into a letter has no words here: that is not to be found out by reading
// it.
TEST(OfficeInspect, PicturesAreCountedForNobodyReadsThem) {
  EXPECT_EQ(rules_of(docx_with("word/media/image1.png", "pixels")), "office_pictures:flag");
  EXPECT_EQ(rules_of(docx_with("media/Scan.JPEG", "pixels")), "office_pictures:flag");
  EXPECT_EQ(rules_of(docx_with("word/media/thumbnail_scan.jpg", "pixels")), "office_pictures:flag");
  EXPECT_EQ(rules_of(made_pptx({}).add("ppt/media/image1.emf", "x").bytes()),
            "office_pictures:flag");
  EXPECT_EQ(rules_of(made_odf("text", "").add("Pictures/100.svm", "x").bytes()),
            "office_pictures:flag");
  const auto detail = [](MadeZip zip) {
    const auto result = inspected(zip.bytes());
    const auto& finding = result.result.at("findings").as_array().at(0).as_object();
    return std::string(finding.at("detail").as_string());
  };
  auto zip = good_docx();
  EXPECT_EQ(detail(zip.add("word/media/a.tif", "x")),
            "a picture in the document, which is not read");
  EXPECT_EQ(detail(zip.add("word/media/b.gif", "x")),
            "2 pictures in the document, which are not read");
  // The one that a folder shows, and other media.
  EXPECT_EQ(rules_of(docx_with("docProps/thumbnail.jpeg", "pixels")), "");
  EXPECT_EQ(rules_of(made_odf("text", "").add("Thumbnails/thumbnail.png", "x").bytes()), "");
  EXPECT_EQ(rules_of(docx_with("word/media/film.mp4", "x")), "");
}

// F17.
TEST(OfficeInspect, EntitiesAreRefused) {
  const std::string laughs =
      "<!DOCTYPE l [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;&a;'><!ENTITY c "
      "'&b;&b;&b;&b;'>]><l>&c;</l>";
  EXPECT_EQ(rules_of(docx_with("word/settings.xml", laughs)), "xml_dtd:refuse");
}

TEST(OfficeInspect, ArchivesWithinArchivesHaveADepth) {
  std::string inner = MadeZip().add("a.txt", "text").bytes();
  const auto nested = [&](int depth) {
    auto file = inner;
    for (int i = 0; i < depth; ++i) file = MadeZip().add("in.zip", file).bytes();
    return rules_of(docx_with("word/embeddings/a.zip", file));
  };
  EXPECT_EQ(nested(1), "office_embedded_object:flag");
  EXPECT_EQ(nested(2), "office_embedded_object:flag, archive_depth:refuse");
}

TEST(OfficeInspect, PasswordsAreRefused) {
  auto odf = made_odf("text", "");
  odf.add("META-INF/manifest.xml",
          "<manifest><file-entry><encryption-data/></file-entry></manifest>");
  EXPECT_EQ(rules_of(odf.bytes()), "encrypted:refuse");
}

TEST(OfficeInspect, BrokenFilesAreRefused) {
  EXPECT_EQ(rules_of(made_docx("<w:p>").bytes()), "xml_syntax:refuse");
  const auto bytes = good_docx().bytes();
  EXPECT_EQ(rules_of(bytes.substr(0, bytes.size() - 30)), "truncated:refuse");
}

TEST(OfficeInspect, RemoteIsWhatLeavesTheMachine) {
  for (const auto* target : {"http://a", "HTTPS://A", "\\\\s\\x", "//s/x", "file://server/x",
                             "file:////server/x", "ftp://x", "mhtml:x"}) {
    EXPECT_TRUE(is_remote(target)) << target;
  }
  for (const auto* target : {"file:///C:\\x", "file:///home/x", "media/image1.png", "C:\\x", ""}) {
    EXPECT_FALSE(is_remote(target)) << target;
  }
}

// The test file of virus scanners, put together here so that no scanner finds it in this source.
std::string eicar() {
  return std::string("X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR") + "-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*";
}

TEST(Signatures, TheTestFileIsFoundWhereverItHides) {
  EXPECT_EQ(rules_of(eicar()), "eicar_test_file:refuse");
  EXPECT_EQ(rules_of("some text " + eicar() + " more"), "eicar_test_file:refuse");
  EXPECT_EQ(rules_of(docx_with("word/media/a.bin", eicar())), "eicar_test_file:refuse");
  EXPECT_EQ(rules_of(docx_with("word/embeddings/a.zip", MadeZip().add("x.txt", eicar()).bytes())),
            "office_embedded_object:flag, eicar_test_file:refuse");
  MadePdf pdf;
  pdf.page();
  pdf.add(pdf_stream("/Filter /FlateDecode", deflated(std::string(65'500, ' ') + eicar())));
  EXPECT_EQ(rules_of(pdf.bytes()), "eicar_test_file:refuse") << "across two pieces";
  MadePdf embedding;
  embedding.page();
  embedding.add(pdf_stream("/Type /EmbeddedFile /Filter /FlateDecode",
                           deflated(MadeZip().add("x.txt", eicar()).bytes())));
  EXPECT_EQ(rules_of(embedding.bytes()), "eicar_test_file:refuse");
  EXPECT_EQ(rules_of("The EICAR file is a test."), "");
}

TEST(FileName, MismatchesAndTricksAreFlagged) {
  MadePdf made;
  const auto pdf = made.page().bytes();
  for (const auto* name : {"a.pdf", "A.PDF", "no extension", "", "report.v2", "Größe.pdf"}) {
    EXPECT_EQ(rules_of(pdf, name), "") << name;
  }
  for (const auto* name : {"a.png", "a.docx", "a.exe", "a.pdf.js", "a.txt"}) {
    EXPECT_EQ(rules_of(pdf, name), "name_mismatch:flag") << name;
  }
  for (const auto* name : {"a\u202Efdp.pdf", "../../etc/a.pdf", "a.pdf.", "a\x01.pdf"}) {
    EXPECT_EQ(rules_of(pdf, name), "name_trick:flag") << name;
  }
  EXPECT_EQ(rules_of(pdf, "a.pdf                 .exe"), "name_trick:flag, name_mismatch:flag");
}

}  // namespace
}  // namespace millrace::document
