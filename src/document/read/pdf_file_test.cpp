// What a page of a PDF consists of, in the coordinates in which it is shown.
#include "document/read/pdf_file.h"

#include "document/inspect/made_inspection.h"
#include "document/inspect/made_pdf.h"
#include "document/op.h"
#include "document/read/text_source.h"

#include <boost/json/object.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <unistd.h>

namespace millrace::document {
namespace {

Result<PdfFile> opened(const std::string& bytes) {
  const int fd = memory_fd(bytes);
  auto file = MappedFile::open(fd);
  ::close(fd);
  if (!file.has_value()) return fail(file.error());
  return PdfFile::open(*std::move(file));
}

PdfPageContent content_of(const std::string& bytes, std::uint32_t page = 1) {
  auto pdf = opened(bytes);
  EXPECT_TRUE(pdf.has_value()) << (pdf.has_value() ? "" : pdf.error().message);
  if (!pdf.has_value()) return {};
  auto content = pdf->content(page);
  EXPECT_TRUE(content.has_value()) << (content.has_value() ? "" : content.error().message);
  return content.has_value() ? *std::move(content) : PdfPageContent{};
}

// Where MadePdf puts its text on a page of 612 by 792: 72 from the left, the line on 720.
constexpr double kLeft = 72;
constexpr double kBaseline = 792 - 720;

TEST(PdfFile, WordsStandWhereTheyArePrinted) {
  const auto content = content_of(MadePdf().page("Hello patient").bytes());
  EXPECT_EQ(content.width_pt, 612);
  EXPECT_EQ(content.height_pt, 792);
  EXPECT_EQ(content.rotate_deg, 0);
  ASSERT_EQ(content.words.size(), 2U);
  EXPECT_EQ(content.words[0].text, "Hello");
  EXPECT_EQ(content.words[1].text, "patient");
  const auto& hello = content.words[0].box;
  EXPECT_NEAR(hello.x0, kLeft, 0.5);
  EXPECT_LE(hello.y0, kBaseline - 6);  // Letters of 12 points stand on the line.
  EXPECT_NEAR(hello.y1, kBaseline, 4);
  EXPECT_GT(content.words[1].box.x0, hello.x1);
  EXPECT_EQ(content.words[0].direction_deg, 0);
  EXPECT_EQ(content.images, 0);
  EXPECT_FALSE(content.one_image);
}

// A page that is shown turned has its words where the eye sees them.
TEST(PdfFile, ATurnedPageIsMeasuredAsItIsShown) {
  const auto upright = content_of(MadePdf().page("Hello patient").bytes()).words[0].box;
  struct Case {
    int rotate;
    layout::Box expected;
  };
  const std::vector<Case> cases = {
      {90, {.x0 = 792 - upright.y1, .y0 = upright.x0, .x1 = 792 - upright.y0, .y1 = upright.x1}},
      {180,
       {.x0 = 612 - upright.x1,
        .y0 = 792 - upright.y1,
        .x1 = 612 - upright.x0,
        .y1 = 792 - upright.y0}},
      {270, {.x0 = upright.y0, .y0 = 612 - upright.x1, .x1 = upright.y1, .y1 = 612 - upright.x0}}};
  for (const auto& [rotate, expected] : cases) {
    const auto content =
        content_of(MadePdf().page("Hello patient", fmt::format("/Rotate {}", rotate)).bytes());
    EXPECT_EQ(content.rotate_deg, rotate);
    EXPECT_EQ(content.width_pt, rotate % 180 == 0 ? 612 : 792);
    ASSERT_EQ(content.words.size(), 2U) << rotate;
    const auto& box = content.words[0].box;
    EXPECT_EQ(content.words[0].text, "Hello");
    EXPECT_EQ(content.words[0].direction_deg, rotate);
    EXPECT_NEAR(box.x0, expected.x0, 2) << rotate;
    EXPECT_NEAR(box.y0, expected.y0, 2) << rotate;
    EXPECT_NEAR(box.x1, expected.x1, 2) << rotate;
    EXPECT_NEAR(box.y1, expected.y1, 2) << rotate;
  }
}

// Whatever way the text runs, the page of ours is upright and says how far it was turned.
TEST(PdfFile, TextThatRunsAnotherWayIsTurnedUpright) {
  const auto plain = text_layer_page(content_of(MadePdf().page("Hello patient").bytes()), 1);
  ASSERT_TRUE(plain.has_value());
  for (const int rotate : {90, 180, 270}) {
    const auto turned = text_layer_page(
        content_of(MadePdf().page("Hello patient", fmt::format("/Rotate {}", rotate)).bytes()), 1);
    ASSERT_TRUE(turned.has_value()) << turned.error().message;
    EXPECT_EQ(turned->info.rotation_deg, 0) << rotate;  // Back to how it is stored.
    ASSERT_EQ(turned->words.size(), plain->words.size());
    for (std::size_t i = 0; i < plain->words.size(); ++i) {
      EXPECT_EQ(turned->words[i].text, plain->words[i].text);
      EXPECT_NEAR(turned->words[i].box.x0, plain->words[i].box.x0, 0.005) << rotate;
      EXPECT_NEAR(turned->words[i].box.y1, plain->words[i].box.y1, 0.005) << rotate;
    }
  }
}

TEST(PdfFile, TheVisiblePartIsThePage) {
  const auto content =
      content_of(MadePdf().page("Hello patient", "/CropBox [50 600 400 750]").bytes());
  EXPECT_EQ(content.width_pt, 350);
  EXPECT_EQ(content.height_pt, 150);
  ASSERT_EQ(content.words.size(), 2U);
  EXPECT_NEAR(content.words[0].box.x0, kLeft - 50, 0.5);
  EXPECT_NEAR(content.words[0].box.y1, 750 - 720, 4);
}

std::string scan_of(std::string_view text, std::string_view image_size = "612 0 0 792 0 0",
                    int mode = 0) {
  MadePdf pdf;
  const auto image = pdf.add(
      pdf_stream("/Type /XObject /Subtype /Image /Width 612 /Height 792 /BitsPerComponent 8 "
                 "/ColorSpace /DeviceGray",
                 std::string(612UL * 792, '\x80')));
  const auto words = text.empty()
                         ? std::string()
                         : fmt::format("BT {} Tr /F1 9 Tf 11 TL 20 400 Td ({}) Tj ET", mode, text);
  const auto content =
      pdf.add(pdf_stream("", fmt::format("q {} cm /Im Do Q {}", image_size, words)));
  return pdf
      .page_of(
          content,
          fmt::format("/Resources << /Font << /F1 3 0 R >> /XObject << /Im {} 0 R >> >>", image))
      .bytes();
}

TEST(PdfFile, AScanIsOneImageThatCoversThePage) {
  const auto scan = content_of(scan_of(""));
  EXPECT_EQ(scan.images, 1);
  EXPECT_TRUE(scan.one_image);
  EXPECT_NEAR(scan.image_share, 1, 0.01);
  EXPECT_NEAR(scan.image_dpi, 72, 0.1);
  const auto logo = content_of(scan_of("", "60 0 0 60 20 700"));
  EXPECT_FALSE(logo.one_image);
  EXPECT_LT(logo.image_share, 0.02);
}

TEST(PdfFile, ItsOnlyImageComesAsItIsStored) {
  auto pdf = opened(scan_of(""));
  ASSERT_TRUE(pdf.has_value());
  const auto content = pdf->content(1);
  ASSERT_TRUE(content.has_value());
  const auto stored = pdf->stored_image(1, *content);
  ASSERT_TRUE(stored.has_value()) << stored.error().message;
  ASSERT_TRUE(stored->has_value());
  EXPECT_EQ((*stored)->gray.width, 612);
  EXPECT_EQ((*stored)->gray.height, 792);
  EXPECT_EQ((*stored)->gray.at(300, 400), 0x80);
  EXPECT_EQ((*stored)->turn_deg, 0);
  // Pixels that are not square are none to read from: the page is rendered.
  auto fax = opened(scan_of("", "612 0 0 700 0 0"));
  ASSERT_TRUE(fax.has_value());
  EXPECT_FALSE(fax->stored_image(1, fax->content(1).value()).value().has_value());
}

TEST(PdfFile, PagesThatAreNotThereAreNotFound) {
  auto pdf = opened(MadePdf().page().page().bytes());
  ASSERT_TRUE(pdf.has_value());
  EXPECT_EQ(pdf->page_count(), 2U);
  for (const std::uint32_t page : {0U, 3U}) {
    const auto content = pdf->content(page);
    ASSERT_FALSE(content.has_value()) << page;
    EXPECT_EQ(content.error().kind, ErrorKind::not_found) << page;
  }
}

TEST(PdfFile, WhatIsNoPdfIsRefused) {
  EXPECT_FALSE(opened("no PDF at all").has_value());
  EXPECT_FALSE(opened("").has_value());
}

TEST(PdfFile, RendersTheSamePixelsTwice) {
  const auto bytes = MadePdf().page("Hello patient").bytes();
  const auto render = [&] {
    auto pdf = opened(bytes);
    return pdf.has_value() ? pdf->render(1, 100).value().gray : Gray();
  };
  const Gray first = render();
  const Gray second = render();
  EXPECT_EQ(first.width, 850);
  EXPECT_EQ(first.height, 1100);
  EXPECT_EQ(first.pixels, second.pixels);
  EXPECT_LT(*std::ranges::min_element(first.pixels), 128) << "its text is to be seen";
}

// --- Whether a text layer may be used ---

TextLayerChoice choice_of(const std::string& bytes) {
  const auto content = content_of(bytes);
  const auto page = text_layer_page(content, 1);
  EXPECT_TRUE(page.has_value());
  return choose_text_layer(content, *page);
}

TEST(TextLayer, OfAPrintedPageIsUsed) {
  EXPECT_TRUE(choice_of(MadePdf().page("The patient takes Metformin twice daily.").bytes()).use);
  // Also when it is all there is.
  EXPECT_TRUE(choice_of(MadePdf().page("Seen.").bytes()).use);
}

TEST(TextLayer, OfABlankPageIsEnough) {
  MadePdf pdf;
  const auto nothing = pdf.add(pdf_stream("", ""));
  EXPECT_TRUE(choice_of(pdf.page_of(nothing).bytes()).use);
}

TEST(TextLayer, OfAScanIsAStampUnlessItHoldsThePage) {
  EXPECT_EQ(choice_of(scan_of("")).why_not, "no text layer");
  EXPECT_EQ(choice_of(scan_of("Scanned by copier 7, page 1")).why_not, "a stamp on a scan");
  std::string page;
  for (int i = 0; i < 12; ++i) page += "The patient takes Metformin daily.) Tj T* (";
  EXPECT_TRUE(choice_of(scan_of(page)).use);
}

// Fluent, and yet whoever recognised it may have read another page.
TEST(TextLayer, ThatNobodyCanSeeOnAScanIsNotBelieved) {
  constexpr int kInvisible = 3;
  std::string page;
  for (int i = 0; i < 12; ++i) page += "The patient takes Metformin daily.) Tj T* (";
  constexpr auto kWhole = "612 0 0 792 0 0";
  const auto content = content_of(scan_of(page, kWhole, kInvisible));
  EXPECT_EQ(content.visible_chars, 0);
  EXPECT_GT(content.invisible_chars, 300);
  EXPECT_EQ(choice_of(scan_of(page, kWhole, kInvisible)).why_not, "invisible text on a scan");
  // A stamp beside it says nothing of it.
  EXPECT_EQ(choice_of(scan_of(page + ") Tj 0 Tr T* (Page 7", kWhole, kInvisible)).why_not,
            "invisible text on a scan");
  // A page that is printed over its picture may have both; one without a scan needs no eyes.
  EXPECT_TRUE(choice_of(scan_of(page + ") Tj 3 Tr T* (unseen", kWhole)).use);
  EXPECT_TRUE(choice_of(scan_of(page, "60 0 0 60 20 700", kInvisible)).use);
}

class NoSink final : public OpSink {
 public:
  Result<void> write(std::span<const std::byte>) override { return ok(); }
  void progress(int, int) override {}
};

std::string judged(const std::string& bytes, int first, int last) {
  OpFiles files{.fds = {memory_fd(bytes)}};
  NoSink sink;
  const auto answer =
      read({{"kind", "pdf"}, {"mode", "judge"}, {"page", first}, {"last", last}}, files, sink);
  ::close(files.fds.front());
  return answer.has_value() ? to_json(*answer) : answer.error().message;
}

TEST(TextLayer, OfManyPagesIsJudgedByTheRuleByWhichTheyAreRead) {
  constexpr auto kTrusted = R"({"schema":"judge/1","trusted":true})";
  const auto letter = "The patient takes Metformin twice daily.";
  EXPECT_EQ(judged(MadePdf().page(letter).page("Seen.").page(letter).bytes(), 1, 3), kTrusted);
  EXPECT_EQ(judged(scan_of("Scanned by copier 7, page 1 of 12"), 1, 1),
            R"({"schema":"judge/1","trusted":false,"page":1,"why_ocr":"a stamp on a scan"})");
  std::string nonsense;
  for (int i = 0; i < 12; ++i) nonsense += "xqzt brrkt pgghl zzxwq ";
  const auto mixed = MadePdf().page(letter).page(nonsense).page(letter).bytes();
  EXPECT_EQ(judged(mixed, 3, 3), kTrusted);
  EXPECT_TRUE(judged(mixed, 1, 3)
                  .starts_with(R"({"schema":"judge/1","trusted":false,"page":2,"why_ocr":)"));
}

TEST(TextLayer, ThatSaysNothingIsNotBelieved) {
  for (const auto* nonsense :
       {"xqzt brrkt pgghl zzxwq vbnmk sdfgh jklzx", "a b c d e f g h i j k l m n o p q r s t u v",
        "%%## &&@@ !!?? ++== **## $$%% ==>> ((--"}) {
    std::string long_text;
    for (int i = 0; i < 6; ++i) long_text += std::string(nonsense) + ") Tj T* (";
    const auto choice = choice_of(scan_of(long_text));
    EXPECT_FALSE(choice.use) << nonsense;
    EXPECT_FALSE(choice.why_not.empty()) << nonsense;
  }
}

}  // namespace
}  // namespace millrace::document
