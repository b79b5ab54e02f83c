#include "document/inspect/content_type.h"

#include "document/inspect/made_image.h"
#include "document/inspect/made_inspection.h"
#include "document/inspect/made_office.h"
#include "document/inspect/made_pdf.h"

#include <gtest/gtest.h>

namespace millrace::document {
namespace {

using namespace std::string_view_literals;
using namespace std::string_literals;

std::string good_pdf() {
  MadePdf pdf;
  return pdf.page().bytes();
}

// J06: the type is what the bytes say.
TEST(ContentType, KnowsEverySupportedType) {
  const std::pair<std::string, std::string_view> cases[] = {
      {good_pdf(), "application/pdf"},
      {"\n\r " + good_pdf(), "application/pdf"},
      {made_png(4, 4), "image/png"},
      {made_jpeg(8, 8), "image/jpeg"},
      {made_tiff(8, 8), "image/tiff"},
      {made_gif(4, 4), "image/gif"},
      {made_bmp(4, 4), "image/bmp"},
      {made_webp(4, 4), "image/webp"},
      {made_pgm(4, 4), "image/x-portable-anymap"},
      {made_docx("").bytes(),
       "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
      {made_xlsx("").bytes(), "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
      {made_pptx({}).bytes(),
       "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
      {made_odf("text", "").bytes(), "application/vnd.oasis.opendocument.text"},
      {made_odf("spreadsheet", "").bytes(), "application/vnd.oasis.opendocument.spreadsheet"},
      {made_odf("presentation", "").bytes(), "application/vnd.oasis.opendocument.presentation"},
      {"Just some text.\n", "text/plain"},
      {"\xff\xfeH\0i\0"s, "text/plain"},
      {"caf\xe9 in Latin-1, as old files are", "text/plain"},
  };
  for (const auto& [bytes, mime] : cases) {
    EXPECT_EQ(detect_type(bytes).mime, mime);
    EXPECT_TRUE(detect_type(bytes).is_supported()) << mime;
  }
}

TEST(ContentType, GuessesWhatItDoesNotRead) {
  const std::pair<std::string, std::string_view> cases[] = {
      {"\x7f"
       "ELF\x02\x01\x01",
       "a Linux program"},
      {"MZ\x90\0\x03"s, "a Windows program"},
      {"#!/bin/sh\nrm -rf /\n", "a script"},
      {"<?php echo 1; ?>", "a PHP script"},
      {"@echo off\r\ndel *.*", "a batch file"},
      {"<!DOCTYPE html><html></html>", "a web page"},
      {" <html><script>alert(1)</script></html>", "a web page"},
      {"<svg xmlns=\"http://www.w3.org/2000/svg\"/>", "SVG"},
      {"<?xml version=\"1.0\"?><svg/>", "SVG"},
      {"<?xml version=\"1.0\"?><a/>", "XML"},
      {"{\\rtf1\\ansi hello}", "RTF"},
      {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old office file (OLE2: doc, xls, ppt, msg)"},
      {MadeZip().add("a.txt", "text").bytes(), "a ZIP archive"},
      {"Rar!\x1a\x07\x01", "a RAR archive"},
      {"7z\xbc\xaf\x27\x1c", "a 7z archive"},
      {"\x1f\x8b\x08", "gzip data"},
      {"\0\0\0\x18"
       "ftypheic"s,
       "a HEIF photograph (HEIC, AVIF)"},
      {"\0\0\0\x18"
       "ftypmsf1"s,
       "a HEIF photograph (HEIC, AVIF)"},
      {"\0\x01\x02\x03\x04\x05"s, "something unknown"},
  };
  for (const auto& [bytes, label] : cases) {
    EXPECT_EQ(detect_type(bytes).label, label);
    EXPECT_EQ(rules_of(bytes), "unsupported_type:refuse") << label;
  }
}

TEST(ContentType, WhoSendsAPhotographThatIsNotReadIsToldWhatIs) {
  const auto result = inspected(
      "\0\0\0\x18"
      "ftypheic"s);
  const auto& findings = result.result.at("findings").get_array();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].at("detail"),
            "the file is a HEIF photograph (HEIC, AVIF), which is not read here; send it as JPEG, "
            "PNG or TIFF");
}

TEST(ContentType, AnEmptyFileIsRefused) { EXPECT_EQ(rules_of(""), "empty:refuse"); }

TEST(ContentType, TheFirstBytesOfATypeAreNotEnough) {
  const std::string files[] = {good_pdf(),      made_png(4, 4), made_jpeg(8, 8),
                               made_tiff(8, 8), made_gif(4, 4), made_bmp(4, 4),
                               made_webp(4, 4), made_pgm(4, 4), made_docx("").bytes()};
  for (const auto& file : files) {
    for (std::size_t size = 1; size < 40 && size < file.size(); ++size) {
      EXPECT_NE(inspected(file.substr(0, size)).verdict(), "error") << file.substr(0, size);
    }
  }
}

TEST(ContentType, OldOfficeFilesWithAPasswordSaySo) {
  std::string wide;
  for (const char c : "EncryptedPackage"sv) wide += std::string{c, '\0'};
  EXPECT_EQ(rules_of("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + wide),
            "encrypted:refuse, unsupported_type:refuse");
}

TEST(Polyglot, RefusesAPdfBehindSomethingElse) {
  EXPECT_EQ(rules_of("MZ program " + good_pdf()), "polyglot:refuse, unsupported_type:refuse");
  EXPECT_EQ(rules_of(std::string(900, '\x01') + good_pdf()), "polyglot:refuse");
  EXPECT_EQ(rules_of(made_gif(4, 4) + good_pdf()), "polyglot:refuse");
  EXPECT_EQ(rules_of("A text that names %PDF-1.4 only.\n"), "");
}

TEST(Polyglot, RefusesAnArchiveBehindADocument) {
  const auto zip = MadeZip().add("a.txt", "text").bytes();
  for (const auto& file :
       {good_pdf(), made_png(4, 4), made_jpeg(8, 8), made_gif(4, 4), made_bmp(4, 4)}) {
    EXPECT_EQ(rules_of(file), "");
    EXPECT_EQ(rules_of(file + zip), "polyglot:refuse");
  }
}

TEST(Polyglot, RefusesWebPagesAndScriptsInImages) {
  EXPECT_EQ(rules_of(made_jpeg(8, 8, jpeg_segment(0xfe, "<script>alert(1)</script>"))),
            "polyglot:refuse");
  EXPECT_EQ(rules_of(made_jpeg(8, 8, jpeg_segment(0xfe, "A holiday in <Spain>"))), "");
  EXPECT_EQ(rules_of(made_jpeg(8, 8, {}, "<html></html>")), "polyglot:refuse");
  EXPECT_EQ(rules_of(made_jpeg(8, 8, {}, made_jpeg(8, 8))), "") << "a preview, as cameras add it";
  EXPECT_EQ(rules_of(made_png(4, 4, png_chunk("tEXt", "c\0<?php x"sv))), "polyglot:refuse");
  auto gif = made_gif(4, 4);
  gif.replace(6, 2, "/*");
  EXPECT_EQ(rules_of(gif), "polyglot:refuse");
}

}  // namespace
}  // namespace millrace::document
