// Made office files: the least that each format needs, for tests only.
#pragma once

#include "document/inspect/made_zip.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace millrace::document {

inline constexpr std::string_view kXmlStart = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
inline constexpr std::string_view kRelationshipTypes =
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships/";

inline std::string relationships(std::string_view items) {
  return fmt::format(
      "{}<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/"
      "relationships\">{}</Relationships>",
      kXmlStart, items);
}

inline std::string relationship(std::string_view id, std::string_view kind, std::string_view target,
                                bool external = false) {
  return fmt::format("<Relationship Id=\"{}\" Type=\"{}{}\" Target=\"{}\"{}/>", id,
                     kRelationshipTypes, kind, target, external ? " TargetMode=\"External\"" : "");
}

inline std::string content_types(std::string_view part, std::string_view type) {
  return fmt::format(
      "{}<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"><Default "
      "Extension=\"xml\" ContentType=\"application/xml\"/><Override PartName=\"{}\" "
      "ContentType=\"application/vnd.openxmlformats-officedocument.{}\"/></Types>",
      kXmlStart, part, type);
}

// `body`: elements of w:body.
inline MadeZip made_docx(std::string_view body) {
  MadeZip zip;
  zip.add("[Content_Types].xml",
          content_types("/word/document.xml", "wordprocessingml.document.main+xml"));
  zip.add("word/document.xml",
          fmt::format("{}<w:document xmlns:w=\"w\" xmlns:r=\"r\"><w:body>{}</w:body></w:document>",
                      kXmlStart, body));
  return zip;
}

inline std::string docx_paragraph(std::string_view text, std::string_view properties = {}) {
  return fmt::format("<w:p><w:pPr>{}</w:pPr><w:r><w:t>{}</w:t></w:r></w:p>", properties, text);
}

// `rows`: elements of sheetData.
inline MadeZip made_xlsx(std::string_view rows, std::vector<std::string> strings = {}) {
  std::string shared;
  for (const auto& text : strings) shared += fmt::format("<si><t>{}</t></si>", text);
  MadeZip zip;
  zip.add("[Content_Types].xml", content_types("/xl/workbook.xml", "spreadsheetml.sheet.main+xml"));
  zip.add("xl/workbook.xml",
          fmt::format("{}<workbook xmlns:r=\"r\"><sheets><sheet name=\"Labs\" sheetId=\"1\" "
                      "r:id=\"rId1\"/></sheets></workbook>",
                      kXmlStart));
  zip.add("xl/_rels/workbook.xml.rels",
          relationships(relationship("rId1", "worksheet", "worksheets/sheet1.xml")));
  zip.add("xl/sharedStrings.xml", fmt::format("{}<sst>{}</sst>", kXmlStart, shared));
  zip.add("xl/styles.xml",
          fmt::format(
              "{}<styleSheet><numFmts><numFmt numFmtId=\"164\" formatCode=\"0.0&quot; mg&quot;\"/>"
              "</numFmts><cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/><xf numFmtId=\"10\"/>"
              "<xf numFmtId=\"164\"/></cellXfs></styleSheet>",
              kXmlStart));
  zip.add("xl/worksheets/sheet1.xml",
          fmt::format("{}<worksheet><sheetData>{}</sheetData></worksheet>", kXmlStart, rows));
  return zip;
}

inline MadeZip made_pptx(const std::vector<std::string>& slides) {
  MadeZip zip;
  zip.add("[Content_Types].xml",
          content_types("/ppt/presentation.xml", "presentationml.presentation.main+xml"));
  std::string ids;
  std::string links;
  for (std::size_t i = 1; i <= slides.size(); ++i) {
    ids += fmt::format("<p:sldId id=\"{}\" r:id=\"rId{}\"/>", 255 + i, i);
    links += relationship(fmt::format("rId{}", i), "slide", fmt::format("slides/slide{}.xml", i));
    zip.add(
        fmt::format("ppt/slides/slide{}.xml", i),
        fmt::format("{}<p:sld xmlns:p=\"p\" xmlns:a=\"a\">{}</p:sld>", kXmlStart, slides[i - 1]));
  }
  zip.add("ppt/presentation.xml",
          fmt::format("{}<p:presentation xmlns:p=\"p\" "
                      "xmlns:r=\"r\"><p:sldIdLst>{}</p:sldIdLst></p:presentation>",
                      kXmlStart, ids));
  zip.add("ppt/_rels/presentation.xml.rels", relationships(links));
  return zip;
}

inline std::string slide_text(std::string_view text, bool title = false) {
  return fmt::format(
      "<p:sp><p:nvPr>{}</p:nvPr><p:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></p:txBody></p:sp>",
      title ? "<p:ph type=\"title\"/>" : "", text);
}

// `kind`: text, spreadsheet or presentation; `body`: what is within office:text and so on.
inline MadeZip made_odf(std::string_view kind, std::string_view body,
                        std::string_view styles = {}) {
  MadeZip zip;
  zip.add("mimetype", fmt::format("application/vnd.oasis.opendocument.{}", kind), false);
  zip.add("content.xml",
          fmt::format(
              "{0}<office:document-content xmlns:office=\"o\" xmlns:text=\"t\" xmlns:table=\"b\" "
              "xmlns:draw=\"d\" xmlns:style=\"s\" xmlns:fo=\"f\" xmlns:presentation=\"p\" "
              "xmlns:script=\"c\" xmlns:xlink=\"x\"><office:automatic-styles>{3}"
              "</office:automatic-styles><office:body><office:{1}>{2}</office:{1}></office:body>"
              "</office:document-content>",
              kXmlStart, kind, body, styles));
  return zip;
}

}  // namespace millrace::document
