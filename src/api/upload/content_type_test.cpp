#include "api/upload/content_type.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::api {
namespace {

using std::string_literals::operator""s;

std::string type_of(const std::string& text, std::string_view announced = {}) {
  return content_type_of({reinterpret_cast<const std::byte*>(text.data()), text.size()}, announced);
}

TEST(ContentType, IsWhatTheBytesSayWhateverTheClientSays) {
  EXPECT_EQ(type_of("%PDF-1.7\n", "image/png"), "application/pdf");
  EXPECT_EQ(type_of("\x89PNG\r\n\x1a\n....", "application/pdf"), "image/png");
  EXPECT_EQ(type_of("\xff\xd8\xff\xe0..", {}), "image/jpeg");
  EXPECT_EQ(type_of("GIF89a..", {}), "image/gif");
  EXPECT_EQ(type_of("II*\0...."s, {}), "image/tiff");
  EXPECT_EQ(type_of(std::string(128, '\0') + "DICM", "image/jpeg"), "application/dicom");
  EXPECT_EQ(type_of("\x7f"
                    "ELF\x02\x01",
                    "application/pdf"),
            "application/x-executable");
  EXPECT_EQ(type_of("MZ\x90\0\x03\0"s, "application/pdf"),
            "application/vnd.microsoft.portable-executable");
  EXPECT_EQ(type_of("\x1f\x8b\x08\0"s, {}), "application/gzip");
  EXPECT_EQ(type_of("RIFF....WEBPVP8 ", {}), "image/webp");
  EXPECT_EQ(type_of("\0\0\0\x18"
                    "ftypheic\0\0\0\0"s,
                    {}),
            "image/heic");
}

TEST(ContentType, OfContainersIsThatOfWhatTheyHold) {
  EXPECT_EQ(type_of("PK\x03\x04..........................[Content_Types].xml...word/document.xml"),
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document");
  EXPECT_EQ(type_of("PK\x03\x04..........................xl/workbook.xml"),
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet");
  EXPECT_EQ(type_of("PK\x03\x04"s + std::string(26, '.') +
                    "mimetypeapplication/vnd.oasis.opendocument.text"),
            "application/vnd.oasis.opendocument.text");
  EXPECT_EQ(type_of("PK\x03\x04..........................a.txt", "application/msword"),
            "application/zip");
  EXPECT_EQ(type_of("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1....", "application/msword"),
            "application/msword");
  EXPECT_EQ(type_of("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1....", "image/png"),
            "application/x-ole-storage");
}

TEST(ContentType, OfATextMayBeSaidMoreExactlyByItsClient) {
  EXPECT_EQ(type_of("a,b\n1,2\n", "text/csv; charset=utf-8"), "text/csv");
  EXPECT_EQ(type_of("{\"a\":1}", "application/json"), "application/json");
  EXPECT_EQ(type_of("Grüße\n"), "text/plain");
  EXPECT_EQ(type_of("just text", "application/pdf"), "text/plain");
  EXPECT_EQ(type_of("just text", "text/html"), "text/plain") << "it holds no markup";
  EXPECT_EQ(type_of("MZ is how a letter may begin"), "text/plain");
  EXPECT_EQ(type_of("a\xc3"), "text/plain") << "a letter that the end of the look cuts";
}

TEST(ContentType, OfMarkupCannotBeHidden) {
  EXPECT_EQ(type_of("<!DOCTYPE html><script>alert(1)</script>", "text/plain"), "text/html");
  EXPECT_EQ(type_of("  <script>alert(1)</script>", "image/png"), "text/html");
  EXPECT_EQ(type_of("<svg xmlns=\"http://www.w3.org/2000/svg\"/>", "image/png"), "image/svg+xml");
  EXPECT_EQ(type_of("<?xml version=\"1.0\"?><a/>", "text/plain"), "application/xml");
  EXPECT_EQ(type_of("\xef\xbb\xbf<?xml version=\"1.0\"?><a/>", "application/fhir+xml"),
            "application/fhir+xml");
}

TEST(ContentType, OfAnythingElseIsBytes) {
  EXPECT_EQ(type_of(""), "application/octet-stream");
  EXPECT_EQ(type_of("\x01\x02\x03", "text/plain"), "application/octet-stream");
  EXPECT_EQ(type_of("abc\0def"s, "text/plain"), "application/octet-stream");
  EXPECT_EQ(type_of("\xff\xff\xff"), "application/octet-stream");
}

TEST(ContentType, IsNeverWhatAClientMadeUp) {
  for (const auto* announced :
       {"text/x\r\nEvil: 1", "text/plain, text/html", "text", "/", "a/b/c"}) {
    EXPECT_EQ(type_of("text", announced), "text/plain") << announced;
  }
}

}  // namespace
}  // namespace millrace::api
