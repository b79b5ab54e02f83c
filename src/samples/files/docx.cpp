#include "samples/files/docx.h"

#include "samples/files/zip.h"

#include <fmt/format.h>

namespace millrace::samples {
namespace {

constexpr std::string_view kHead = R"(<?xml version="1.0" encoding="UTF-8" standalone="yes"?>)";
constexpr std::string_view kMain = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string paragraph(std::string_view text, bool bold) {
  return fmt::format(R"(<w:p><w:r>{}<w:t xml:space="preserve">{}</w:t></w:r></w:p>)",
                     bold ? "<w:rPr><w:b/></w:rPr>" : "", escaped(text));
}

std::string row(const FlowLine& line) {
  std::string cells;
  for (const std::string& cell : line.cells) {
    cells += "<w:tc><w:tcPr><w:tcW w:w=\"1800\" w:type=\"dxa\"/></w:tcPr>" +
             paragraph(cell, line.bold) + "</w:tc>";
  }
  return "<w:tr>" + cells + "</w:tr>";
}

std::string body(const Flow& flow) {
  std::string xml;
  bool in_table = false;
  for (const FlowLine& line : flow.lines) {
    // A heading inside a table has one cell and stays in it.
    const bool is_row = line.cells.size() > 1 || in_table;
    if (is_row && !in_table) {
      xml += R"(<w:tbl><w:tblPr><w:tblW w:w="0" w:type="auto"/></w:tblPr><w:tblGrid/>)";
    }
    xml += is_row ? row(line) : paragraph(line.cells[0], line.bold);
    in_table = is_row && !line.ends_block;
    if (is_row && line.ends_block) xml += "</w:tbl>";
  }
  return xml;
}

}  // namespace

std::string docx_of(const Flow& flow, std::span<const DocxExtra> extras) {
  std::string types = fmt::format(
      R"({}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Default Extension="bin" ContentType="application/vnd.ms-office.vbaProject"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>)",
      kHead);
  const std::string relations = fmt::format(
      R"({}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>)",
      kHead);
  const std::string document = fmt::format(
      R"({}<w:document xmlns:w="{}"><w:body>{}<w:sectPr><w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1134" w:right="1134" w:bottom="1134" w:left="1134" w:header="708" w:footer="708" w:gutter="0"/></w:sectPr></w:body></w:document>)",
      kHead, kMain, body(flow));
  if (extras.empty()) {
    const std::string_view macros =
        R"(<Default Extension="bin" ContentType="application/vnd.ms-office.vbaProject"/>)";
    types.erase(types.find(macros), macros.size());
  }
  Zip zip;
  zip.add("[Content_Types].xml", types);
  zip.add("_rels/.rels", relations);
  zip.add("word/document.xml", document);
  for (const DocxExtra& extra : extras) zip.add(extra.name, extra.bytes);
  return std::move(zip).finish();
}

}  // namespace millrace::samples
