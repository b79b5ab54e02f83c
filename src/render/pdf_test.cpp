// PdfScan and the update that is appended: lexical rules, damage, text strings.
#include "render/base64.h"
#include "render/pdf_info.h"
#include "render/pdf_scan.h"
#include "render/request.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace millrace::render {
namespace {

std::string make_pdf(std::string_view page_extra = "", std::string_view stream = "x") {
  return fmt::format(
      "%PDF-1.4\n%\xd3\n1 0 obj\n<</Title (a \\) /Type /Page \\( ) /X <2f547970>>>\nendobj\n"
      "2 0 obj\n<</Length {}>> stream\n{}\nendstream\nendobj\n"
      "3 0 obj\n<</Type /Page\n/Parent 4 0 R {}>>\nendobj\n"
      "4 0 obj\n<</Type /Pages /Count 1 /Kids [3 0 R]>>\nendobj\n"
      "5 0 obj\n<</Type /Catalog /Pages 4 0 R>>\nendobj\n"
      "xref\n0 1\n0000000000 65535 f \ntrailer\n<</Size 6\n/Root 5 0 R\n/Info 1 0 "
      "R>>\nstartxref\n9\n%%EOF\n",
      stream.size(), stream, page_extra);
}

TEST(PdfScan, SaysTheSameHoweverThePiecesAreCut) {
  const std::string pdf = make_pdf();
  for (std::size_t size = 1; size < 40; ++size) {
    PdfScan scan;
    for (std::size_t at = 0; at < pdf.size(); at += size)
      scan.feed(std::string_view(pdf).substr(at, size));
    const auto shape = scan.finish();
    ASSERT_TRUE(shape.has_value()) << shape.error().describe();
    EXPECT_EQ(shape->page_count, 1u);
    EXPECT_EQ(shape->object_count, 6u);
    EXPECT_EQ(shape->root_object, 5u);
    EXPECT_EQ(shape->xref_offset, 9u);
    EXPECT_EQ(shape->bytes, pdf.size());
  }
}

TEST(PdfScan, CountsNoPagesInStringsStreamsOrInnerDictionaries) {
  for (const std::string& pdf :
       {make_pdf("/A (endobj 9 0 obj <</Type /Page>> endobj)"),
        make_pdf("/A <</Type /Page>> /B [/Type /Page]"),
        make_pdf("", "endobj 9 0 obj <</Type /Page>> endobj endstream"),
        make_pdf("", std::string_view("\0(((<<", 6)), make_pdf("% /Type /Page endobj\n")}) {
    PdfScan scan;
    scan.feed(pdf);
    const auto shape = scan.finish();
    ASSERT_TRUE(shape.has_value()) << shape.error().describe();
    EXPECT_EQ(shape->page_count, 1u);
  }
}

// As Chromium writes it: the table of names is an object that the catalog refers to, before it.
TEST(PdfScan, SaysOnWhichPageAnchorsAre) {
  const std::string pdf =
      "%PDF-1.4\n2 0 obj\n<</Type /Page /Parent 9 0 R>>\nendobj\n"
      "5 0 obj\n<</Type /Annot /Dest /summary /Rect [1 2 3 4]>>\nendobj\n"
      "17 0 obj\n<</Type /Page /Parent 9 0 R /Annots [5 0 R]>>\nendobj\n"
      "9 0 obj\n<</Type /Pages /Count 2 /Kids [2 0 R 17 0 R]>>\nendobj\n"
      "53 0 obj\n<</summary [17 0 R /XYZ 0 792 0]\n/a#20b [2 0 R /XYZ 0 1.5 0]\n/gone [99 0 R /XYZ "
      "0 0 0]>>\nendobj\n"
      "60 0 obj\n<</Title (x) /Dest [2 0 R /XYZ 1 2 0] /Parent 61 0 R>>\nendobj\n"
      "62 0 obj\n<</other [2 0 R /XYZ 0 0 0]>>\nendobj\n"
      "63 0 obj\n<</Type /Catalog /Pages 9 0 R /Dests 53 0 R>>\nendobj\n"
      "trailer\n<</Size 64\n/Root 63 0 R>>\nstartxref\n9\n%%EOF\n";
  for (std::size_t size = 1; size < 40; ++size) {
    PdfScan scan;
    for (std::size_t at = 0; at < pdf.size(); at += size)
      scan.feed(std::string_view(pdf).substr(at, size));
    const auto shape = scan.finish();
    ASSERT_TRUE(shape.has_value()) << shape.error().describe();
    EXPECT_EQ(shape->anchors, (std::map<std::string, int>{{"a b", 1}, {"summary", 2}}));
  }
}

TEST(PdfScan, RefusesWhatIsNotWhole) {
  const std::string pdf = make_pdf();
  std::vector<std::string> damaged = {"", "%PDF-1.4\n", pdf.substr(0, pdf.size() - 10),
                                      pdf.substr(0, pdf.find("trailer"))};
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"/Count 1", "/Count 2"},
                                                        {"/Type /Pages", "/Type /Other"},
                                                        {"<</Length 1", "<</Width 1"},
                                                        {"<</Length 1", "<</Length 1 0 R"},
                                                        {"startxref\n9", "startxref\n99999"},
                                                        {"/Root 5 0 R", ""},
                                                        {"/Kids [3 0 R]>>", "/Kids [3 0 R]"},
                                                        {"/Kids [3 0 R]>>", "/Kids 3 0 R]>>"}}) {
    std::string text = pdf;
    text.replace(text.find(from), from.size(), to);
    damaged.push_back(text);
  }
  for (const auto& text : damaged) {
    PdfScan scan;
    scan.feed(text);
    EXPECT_FALSE(scan.finish().has_value()) << text;
  }
}

TEST(PdfInfo, PointsToWhatItAppends) {
  const std::string pdf = make_pdf();
  PdfScan scan;
  scan.feed(pdf);
  const auto shape = scan.finish();
  ASSERT_TRUE(shape.has_value());
  ManualClock clock;
  const std::string all =
      pdf + make_info_update(*shape, {.title = "T", .keywords = {"a", "b"}}, clock.wall());
  PdfScan again;
  again.feed(all);
  const auto updated = again.finish();
  ASSERT_TRUE(updated.has_value()) << updated.error().describe();
  EXPECT_EQ(updated->object_count, 7u);
  EXPECT_EQ(all.substr(updated->xref_offset, 4), "xref");
  const auto entry = all.find("\n6 1\n") + 5;
  EXPECT_EQ(all.substr(std::stoul(all.substr(entry, 10)), 7), "6 0 obj");
  EXPECT_TRUE(all.contains("/Keywords (a, b)"));
  EXPECT_TRUE(all.contains("/Creator (ResumePair)"));
  EXPECT_TRUE(all.contains("(D:20300101000000Z)"));
}

TEST(PdfInfo, TextIsEscapedOrUtf16) {
  EXPECT_EQ(pdf_text("a(b)\\"), "(a\\(b\\)\\\\)");
  EXPECT_EQ(pdf_text("\u00e9"), "<FEFF00E9>");
  EXPECT_EQ(pdf_text("\U0001F600"), "<FEFFD83DDE00>");
  EXPECT_EQ(pdf_text("a\xff\nb"), "<FEFF0061FFFD000A0062>");
  EXPECT_EQ(pdf_text("\xed\xa0\x80"), "<FEFFFFFDFFFDFFFD>");
}

TEST(Base64, DecodesWhatIsItAndRefusesTheRest) {
  EXPECT_EQ(decode_base64(""), "");
  EXPECT_EQ(decode_base64("YQ=="), "a");
  EXPECT_EQ(decode_base64("YWI="), "ab");
  EXPECT_EQ(decode_base64("YWJj"), "abc");
  EXPECT_EQ(decode_base64("YWJ"), std::nullopt);
  EXPECT_EQ(decode_base64("YW!j"), std::nullopt);
}

TEST(RenderRequest, ErrorsNameTheFieldAndTheRule) {
  const auto message = [](RenderRequest request) {
    const auto checked = check_request(request, {.html_max_bytes = 10});
    return checked.has_value() ? std::string() : checked.error().message;
  };
  EXPECT_EQ(message({.html = "x"}), "");
  EXPECT_EQ(message({.html = ""}), "html is empty");
  EXPECT_TRUE(message({.html = "12345678901"}).contains("at most 10"));
  EXPECT_TRUE(message({.html = "x", .options = {.margins = {.top = -1}}}).contains("margins.top"));
  EXPECT_TRUE(message({.html = "x", .metadata = {.title = std::string(3000, 'x')}})
                  .contains("metadata.title"));
  EXPECT_TRUE(message({.html = "x", .timeout = std::chrono::milliseconds(0)}).contains("timeout"));
  EXPECT_TRUE(message({.html = "x", .preview_width_px = 9000}).contains("preview_width_px"));
  EXPECT_FALSE(parse_page_size("A5").has_value());
  EXPECT_EQ(parse_color_mode("grayscale").value(), ColorMode::grayscale);
}

}  // namespace
}  // namespace millrace::render
