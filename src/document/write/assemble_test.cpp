// Searchable PDFs: what goes in as a picture and words comes out as the same picture, with the same
// words in the same places for whoever searches it, and nothing of them to be seen.
#include "document/inspect/made_image.h"
#include "document/inspect/made_inspection.h"
#include "document/inspect/made_office.h"
#include "document/inspect/made_pdf.h"
#include "document/op.h"
#include "document/read/pdf_file.h"
#include "document/read/text_source.h"
#include "document/write/page_drawing.h"
#include "layout/page_json.h"
#include "layout/reading_order.h"

#include <boost/json/object.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <leptonica/allheaders.h>

namespace millrace::document {
namespace {

constexpr double kTolerance = 0.004;  // Of the page: a millimetre.

class BytesSink final : public OpSink {
 public:
  Result<void> write(std::span<const std::byte> bytes) override {
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return ok();
  }
  void progress(int, int) override {}
  std::string text;
};

struct Made {
  json::Object result;
  std::string bytes;
};

Result<Made> run(Operation operation, const json::Object& request,
                 const std::vector<std::string_view>& files) {
  OpFiles opened;
  for (const auto file : files) opened.fds.push_back(memory_fd(file));
  BytesSink sink;
  auto result = operation(request, opened, sink);
  for (const int fd : opened.fds) ::close(fd);
  if (!result.has_value()) return fail(result.error());
  return Made{.result = *std::move(result), .bytes = std::move(sink.text)};
}

// A page without a size was not read.
const layout::PageMap kUnread = {};

std::string assembled_of(std::string_view kind, std::string_view document,
                         const std::vector<layout::PageMap>& pages,
                         std::string_view unread = "shown") {
  std::string lines;
  for (const auto& page : pages) {
    if (page.info.width_px > 0) lines += layout::page_json(page);
    lines += "\n";
  }
  auto made =
      run(&assemble, {{"kind", kind}, {"title", "Letter"}, {"unread", unread}}, {document, lines});
  EXPECT_TRUE(made.has_value()) << (made.has_value() ? "" : made.error().message);
  if (!made.has_value()) return {};
  EXPECT_EQ(made->result.at("pages").to_number<std::size_t>(), pages.size());
  EXPECT_EQ(made->result.at("bytes").to_number<std::size_t>(), made->bytes.size());
  return std::move(made->bytes);
}

struct PlacedWord {
  std::string text;
  layout::Box box;
};

// A page of lines, as a reader of an upright page of this size would answer.
layout::PageMap map_of(layout::PageInfo info, const std::vector<std::vector<PlacedWord>>& lines) {
  std::vector<layout::Word> words;
  for (std::uint32_t line = 0; line < lines.size(); ++line) {
    for (const auto& [text, box] : lines[line]) {
      words.push_back({.text = text, .box = box, .conf = 0.9, .line = line});
    }
  }
  auto page = layout::assemble_page(std::move(info), std::move(words), {layout::BlockKind::text});
  EXPECT_TRUE(page.has_value()) << (page.has_value() ? "" : page.error().message);
  return page.has_value() ? *std::move(page) : layout::PageMap{};
}

layout::PageMap letter_map(std::uint32_t page = 1, int rotation_deg = 0, int width = 1240,
                           int height = 1754) {
  return map_of({.page = page,
                 .width_px = static_cast<std::uint32_t>(width),
                 .height_px = static_cast<std::uint32_t>(height),
                 .dpi = 150,
                 .rotation_deg = rotation_deg,
                 .engine = "tesseract@5.3"},
                {{{"Calder", {0.10, 0.10, 0.18, 0.12}}, {"Valley", {0.19, 0.10, 0.27, 0.12}}},
                 {{"Größe", {0.10, 0.20, 0.17, 0.22}},
                  {"178", {0.18, 0.20, 0.22, 0.22}},
                  {"cm,", {0.23, 0.20, 0.27, 0.22}},
                  {"血压", {0.30, 0.20, 0.36, 0.22}},
                  {"𝒳-Ray", {0.40, 0.20, 0.50, 0.22}}},
                 {{"Metformin", {0.10, 0.80, 0.24, 0.82}},
                  {"(500", {0.25, 0.80, 0.30, 0.82}},
                  {"mg)", {0.31, 0.80, 0.36, 0.82}}}});
}

struct Opened {
  PdfFile pdf;

  // The words of a page as the text layer gives them, upright.
  layout::RawPage words(std::uint32_t page) {
    const auto content = pdf.content(page);
    EXPECT_TRUE(content.has_value());
    auto raw = text_layer_page(*content, page);
    EXPECT_TRUE(raw.has_value());
    return *std::move(raw);
  }
};

Opened opened(const std::string& bytes) {
  const int fd = memory_fd(bytes);
  auto file = MappedFile::open(fd);
  ::close(fd);
  auto pdf = PdfFile::open(*std::move(file));
  EXPECT_TRUE(pdf.has_value()) << (pdf.has_value() ? "" : pdf.error().message);
  return {.pdf = *std::move(pdf)};
}

void expect_words(const layout::RawPage& found, const layout::PageMap& expected) {
  ASSERT_EQ(found.words.size(), expected.words.size());
  for (const auto& word : expected.words) {
    const auto same = std::ranges::find(found.words, word.text, &layout::RawWord::text);
    ASSERT_NE(same, found.words.end()) << word.text;
    EXPECT_NEAR(same->box.x0, word.box.x0, kTolerance) << word.text;
    EXPECT_NEAR(same->box.x1, word.box.x1, kTolerance) << word.text;
    EXPECT_NEAR(same->box.y0, word.box.y0, kTolerance * 2) << word.text;
    EXPECT_NEAR(same->box.y1, word.box.y1, kTolerance * 2) << word.text;
  }
}

std::vector<std::string> texts_of(const auto& page) {
  std::vector<std::string> texts;
  for (const auto& word : page.words) texts.push_back(word.text);
  return texts;
}

bool is_white(const Gray& picture) { return *std::ranges::min_element(picture.pixels) == 255; }

TEST(Assemble, APictureGetsItsWordsWhereTheyStand) {
  const auto map = letter_map();
  auto pdf = opened(assembled_of("image", made_png(1240, 1754), {map}));
  EXPECT_EQ(pdf.pdf.page_count(), 1U);
  const auto size = pdf.pdf.size(1).value();
  EXPECT_NEAR(size.width_pt, 1240 * 72 / 150.0, 0.01);
  EXPECT_NEAR(size.height_pt, 1754 * 72 / 150.0, 0.01);
  const auto found = pdf.words(1);
  expect_words(found, map);
  // In the order in which they are read.
  EXPECT_EQ(layout::arrange(found).value().text.substr(0, 13), "Calder Valley");
  // The picture was white, and the page still is: the words are there and not to be seen.
  EXPECT_TRUE(is_white(pdf.pdf.render(1, 100).value().gray));
}

TEST(Assemble, APictureThatWasReadTurnedIsShownUpright) {
  for (const int turn : {90, 180, 270}) {
    const bool sideways = turn % 180 != 0;
    const auto map = letter_map(1, turn);
    const auto stored = sideways ? made_png(1754, 1240) : made_png(1240, 1754);
    auto pdf = opened(assembled_of("image", stored, {map}));
    const auto size = pdf.pdf.size(1).value();
    EXPECT_EQ(size.rotate_deg, turn);
    EXPECT_NEAR(size.width_pt, 1240 * 72 / 150.0, 0.01) << turn;
    const auto content = pdf.pdf.content(1).value();
    for (const auto& word : content.words) EXPECT_EQ(word.direction_deg, 0) << turn;
    expect_words(pdf.words(1), map);
  }
}

TEST(Assemble, FramesArePages) {
  const auto small = [](std::uint32_t page) { return letter_map(page, 0, 64, 64); };
  auto pdf = opened(assembled_of("image", made_tiff(64, 64, 3), {small(1), small(2), small(3)}));
  ASSERT_EQ(pdf.pdf.page_count(), 3U);
  for (std::uint32_t page = 1; page <= 3; ++page) {
    EXPECT_EQ(pdf.words(page).words.size(), 10U) << page;
  }
}

// A TIFF of bits with more fields than made_tiff() gives: they stand in order between those.
std::string fax_tiff(std::uint32_t width, std::uint32_t height, std::uint16_t orientation) {
  const std::uint32_t begin = 8 + 2 + 12 * 12 + 4;
  const auto strip = (width + 7) / 8 * height;
  return std::string("II*\0", 4) + little(8, 4) +
         tiff_directory({{256, 4, 1, width},
                         {257, 4, 1, height},
                         {258, 3, 1, 1},
                         {259, 3, 1, 1},
                         {262, 3, 1, 0},
                         {273, 4, 1, begin + 16},
                         {274, 3, 1, orientation},
                         {277, 3, 1, 1},
                         {278, 4, 1, height},
                         {279, 4, 1, strip},
                         {282, 5, 1, begin},
                         {283, 5, 1, begin + 8}},
                        0) +
         little(204, 4) + little(1, 4) + little(98, 4) + little(1, 4) + std::string(strip, '\0');
}

// The pixels of a fax are stored as they were sent, and its page is as large as the sheet was.
TEST(Assemble, AFaxHasTheSizeOfItsPaper) {
  auto pdf = opened(assembled_of("image", fax_tiff(1728, 1078, 1), {letter_map(1, 0, 1728, 2244)}));
  const auto size = pdf.pdf.size(1).value();
  EXPECT_NEAR(size.width_pt, 1728 * 72 / 204.0, 0.01);
  EXPECT_NEAR(size.height_pt, 1078 * 72 / 98.0, 0.01);
  expect_words(pdf.words(1), letter_map(1, 0, 1728, 2244));

  auto turned =
      opened(assembled_of("image", fax_tiff(1728, 1078, 6), {letter_map(1, 0, 2244, 1728)}));
  const auto other = turned.pdf.size(1).value();
  EXPECT_NEAR(other.width_pt, 1078 * 72 / 98.0, 0.01);
  EXPECT_NEAR(other.height_pt, 1728 * 72 / 204.0, 0.01);
}

// Four colours are stored the other way round by Adobe's programs, which say that it was them.
TEST(Assemble, FourColoursAreTurnedRoundWhereAdobesMarkerStands) {
  std::string frame = "\x08" + big(8, 2) + big(8, 2) + "\x04";
  std::string scan = "\x04";
  for (const char component : {'\1', '\2', '\3', '\4'}) {
    frame += component + std::string("\x11\0", 2);
    scan += component + std::string(1, '\0');
  }
  const auto jpeg = [&](const std::string& marker) {
    return std::string("\xff\xd8") + marker + jpeg_segment(0xc0, frame) +
           jpeg_segment(0xda, scan + std::string("\0\x3f\0", 3)) + "\x3f\xff\xd9";
  };
  const auto adobe = jpeg_segment(0xee, std::string("Adobe\0\x64\0\0\0\0\0", 12));
  const auto map = letter_map(1, 0, 8, 8);
  const auto with = assembled_of("image", jpeg(adobe), {map});
  const auto without = assembled_of("image", jpeg({}), {map});
  EXPECT_NE(with.find("/DeviceCMYK"), with.npos);
  EXPECT_NE(with.find("/Decode [ 1 0 1 0 1 0 1 0 ]"), with.npos);
  EXPECT_NE(without.find("/DeviceCMYK"), without.npos);
  EXPECT_EQ(without.find("/Decode "), without.npos);
}

// Pages of three, each as it comes out when another is not read: its words, or none.
void expect_gap(std::string_view kind, std::string_view document,
                const std::vector<layout::PageMap>& maps, std::size_t shown) {
  for (std::size_t gap = 0; gap < maps.size(); ++gap) {
    auto pages = maps;
    pages[gap] = kUnread;
    auto pdf = opened(assembled_of(kind, document, pages));
    ASSERT_EQ(pdf.pdf.page_count(), maps.size()) << kind << gap;
    for (std::size_t i = 0; i < maps.size(); ++i) {
      const auto page = static_cast<std::uint32_t>(i + 1);
      const auto words = i == gap ? shown : maps[i].words.size();
      EXPECT_EQ(pdf.words(page).words.size(), words) << kind << gap << i;
    }
  }
}

TEST(Assemble, FramesThatWereNotReadStayInTheirPlacesWithoutWords) {
  const auto small = [](std::uint32_t page) { return letter_map(page, 0, 64, 64); };
  expect_gap("image", made_tiff(64, 64, 3), {small(1), small(2), small(3)}, 0);
  auto pdf = opened(assembled_of("image", made_tiff(64, 48, 2), {kUnread, letter_map(2)}));
  const auto size = pdf.pdf.size(1).value();
  EXPECT_NEAR(size.height_pt / size.width_pt, 0.75, 0.01);
}

// Whoever could not read the picture does not have to decode it.
TEST(Assemble, FramesThatWereNotReadAreLeftBlankWhenAskedFor) {
  auto pdf = opened(
      assembled_of("image", made_tiff(64, 48, 2), {letter_map(1, 0, 64, 48), kUnread}, "blank"));
  ASSERT_EQ(pdf.pdf.page_count(), 2U);
  EXPECT_EQ(pdf.pdf.content(1).value().images, 1U);
  EXPECT_EQ(pdf.pdf.content(2).value().images, 0U);
}

std::string scanned_pdf(std::string_view extra) {
  MadePdf pdf;
  const auto image =
      pdf.add(pdf_stream("/Type /XObject /Subtype /Image /Width 10 /Height 10 /BitsPerComponent 8 "
                         "/ColorSpace /DeviceGray",
                         std::string(100, '\xff')));
  const auto content = pdf.add(pdf_stream("", "q 612 0 0 792 0 0 cm /Im Do Q"));
  pdf.page_of(content, fmt::format("/Resources << /XObject << /Im {} 0 R >> >> {}", image, extra));
  return pdf.page("Printed page with text of its own").bytes();
}

layout::PageMap printed_map() {
  auto map = letter_map(2);
  map.info.engine = "pdf-text@1";
  return map;
}

TEST(Assemble, OnlyScannedPagesOfAPdfGetWords) {
  auto pdf = opened(assembled_of("pdf", scanned_pdf(""), {letter_map(1), printed_map()}));
  ASSERT_EQ(pdf.pdf.page_count(), 2U);
  expect_words(pdf.words(1), letter_map(1));
  const auto printed = pdf.words(2);
  ASSERT_EQ(printed.words.size(), 7U);
  EXPECT_EQ(printed.words[0].text, "Printed");
  EXPECT_TRUE(is_white(pdf.pdf.render(1, 72).value().gray));
}

std::string scans_pdf(int pages) {
  MadePdf pdf;
  const auto image =
      pdf.add(pdf_stream("/Type /XObject /Subtype /Image /Width 10 /Height 10 /BitsPerComponent 8 "
                         "/ColorSpace /DeviceGray",
                         std::string(100, '\xff')));
  for (int i = 0; i < pages; ++i) {
    const auto content = pdf.add(pdf_stream("", "q 612 0 0 792 0 0 cm /Im Do Q"));
    pdf.page_of(content, fmt::format("/Resources << /XObject << /Im {} 0 R >> >>", image));
  }
  return pdf.bytes();
}

TEST(Assemble, ScansOfAPdfThatWereNotReadStayAsTheyAre) {
  expect_gap("pdf", scans_pdf(3), {letter_map(1), letter_map(2), letter_map(3)}, 0);
}

TEST(Assemble, APdfWithTrustedTextComesOutAsItWentInWhicheverPageWasNotRead) {
  const auto bytes = MadePdf().page("One").page("Two").page("Three").bytes();
  for (std::uint32_t gap = 1; gap <= 3; ++gap) {
    std::vector<layout::PageMap> maps;
    for (std::uint32_t page = 1; page <= 3; ++page) {
      maps.push_back(page == gap ? kUnread : printed_map());
      if (page != gap) maps.back().info.page = page;
    }
    EXPECT_EQ(assembled_of("pdf", bytes, maps), bytes) << gap;
  }
}

TEST(Assemble, PagesOfAnOfficeFileThatWereNotReadKeepTheirPlaces) {
  expect_gap("text", "x", {letter_map(1), letter_map(2), letter_map(3)}, 0);
}

TEST(Assemble, PagesWithAVisiblePartAndATurnKeepTheirPlaces) {
  for (const int rotate : {0, 90, 180, 270}) {
    const auto map = letter_map(1, rotate);
    const auto extra = fmt::format("/CropBox [20 30 580 760] /Rotate {}", rotate);
    auto pdf = opened(assembled_of("pdf", scanned_pdf(extra), {map, printed_map()}));
    const auto size = pdf.pdf.size(1).value();
    EXPECT_EQ(size.rotate_deg, rotate);
    EXPECT_EQ(size.width_pt, rotate % 180 == 0 ? 560 : 730);
    expect_words(pdf.words(1), map);
  }
}

// What reaches beyond the paper is cut off as the reader of the page does; without any paper it is
// a letter.
TEST(Assemble, WordsOfAVisiblePartBeyondThePageKeepTheirPlaces) {
  struct Case {
    std::string_view crop;
    double width_pt;
    double height_pt;
  };
  for (const auto& [crop, width_pt, height_pt] :
       {Case{"[-50 30 500 700]", 500, 670}, Case{"[100 200 650 900]", 512, 592},
        Case{"[-50 30 580 900]", 612, 792}, Case{"[10 30 580 900]", 570, 792}}) {
    for (const int rotate : {0, 90}) {
      const auto map = letter_map(1, rotate);
      const auto extra = fmt::format("/CropBox {} /Rotate {}", crop, rotate);
      auto pdf = opened(assembled_of("pdf", scanned_pdf(extra), {map, printed_map()}));
      EXPECT_EQ(pdf.pdf.size(1).value().width_pt, rotate == 0 ? width_pt : height_pt) << crop;
      expect_words(pdf.words(1), map);
    }
  }
  for (const auto* extra : {"/MediaBox null", "/MediaBox [0 0 0 0]"}) {
    auto pdf = opened(assembled_of("pdf", scanned_pdf(extra), {letter_map(1), printed_map()}));
    EXPECT_EQ(pdf.pdf.size(1).value().width_pt, 612) << extra;
    expect_words(pdf.words(1), letter_map(1));
  }
}

// Two pages that draw the same form: the first a scan with the words of another program, in every
// way that there is to show them, and a stamp.
std::string recognised_pdf() {
  MadePdf pdf;
  const auto image =
      pdf.add(pdf_stream("/Type /XObject /Subtype /Image /Width 10 /Height 10 /BitsPerComponent 8 "
                         "/ColorSpace /DeviceGray",
                         std::string(100, '\xff')));
  const auto form = [&pdf](std::string_view resources, std::string_view content) {
    return pdf.add(pdf_stream(fmt::format("/Type /XObject /Subtype /Form /BBox [0 0 612 792] "
                                          "/Resources << /Font << /F1 3 0 R >> {} >>",
                                          resources),
                              content));
  };
  const auto inner = form("", "BT 3 Tr /F1 9 Tf 20 90 Td (nested) Tj ET");
  const auto outer = form(fmt::format("/XObject << /In {} 0 R >>", inner),
                          "BT /F1 9 Tf 20 300 Td (drawn) Tj ET /In Do");
  const auto first = pdf.add(pdf_stream(
      "",
      "q 612 0 0 792 0 0 cm /Im Do Q q BI /W 1 /H 1 /BPC 8 /CS /G ID \xff EI Q "
      "BT 3 Tr /F1 9 Tf 11 TL 20 400 Td (rubbish) Tj 0 -20 Td [(other) -2000 (words)] TJ "
      "(lines) ' 1 0 (spaced) \" 0 Tr 20 -60 Td (Stamp) Tj ET 3 Tr"));
  const auto second = pdf.add(pdf_stream(
      "",
      "BT /F1 9 Tf 20 200 Td (later) Tj ET q /Fm Do Q 0 Tr BT /F1 9 Tf 20 30 Td (Seven) Tj ET"));
  const auto both = pdf.add(fmt::format("[{} 0 R {} 0 R]", first, second));
  const auto resources = fmt::format(
      "/Resources << /Font << /F1 3 0 R >> /XObject << /Im {} 0 R /Fm {} 0 R >> >>", image, outer);
  pdf.page_of(both, resources);
  return pdf.page_of(pdf.add(pdf_stream("", "/Fm Do")), resources).bytes();
}

std::vector<std::string> sorted(std::vector<std::string> texts) {
  std::ranges::sort(texts);
  return texts;
}

TEST(Assemble, APageThatIsReadAnewLosesTheWordsThatNobodySees) {
  const auto bytes = recognised_pdf();
  const auto before = sorted(texts_of(opened(bytes).words(1)));
  EXPECT_EQ(before, (std::vector<std::string>{"Seven", "Stamp", "drawn", "later", "lines", "nested",
                                              "other", "rubbish", "spaced", "words"}));
  auto pdf = opened(assembled_of("pdf", bytes, {letter_map(1), printed_map()}));
  auto expected = texts_of(letter_map(1));
  expected.insert(expected.end(), {"Stamp", "Seven"});
  EXPECT_EQ(sorted(texts_of(pdf.words(1))), sorted(std::move(expected)));
  // The other page was not read here: it keeps the form as it was.
  EXPECT_EQ(texts_of(pdf.words(2)), (std::vector<std::string>{"drawn", "nested"}));
  // What can be seen is where it was.
  EXPECT_EQ(pdf.pdf.render(1, 100).value().gray.pixels,
            opened(bytes).pdf.render(1, 100).value().gray.pixels);
}

// Where it would move if the hidden text before it went, that stays.
TEST(Assemble, TextThatFollowsHiddenTextStaysInItsPlace) {
  MadePdf made;
  const auto content = made.add(
      pdf_stream("",
                 "BT /F1 12 Tf 72 720 Td (Seen) Tj 3 Tr ( hidden) Tj 0 Tr ( too) Tj 3 Tr 0 -30 Td "
                 "(gone) Tj ET"));
  const auto bytes = made.page_of(content).bytes();
  auto pdf = opened(assembled_of("pdf", bytes, {letter_map(1)}));
  EXPECT_EQ(pdf.pdf.render(1, 100).value().gray.pixels,
            opened(bytes).pdf.render(1, 100).value().gray.pixels);
  auto expected = texts_of(letter_map(1));
  expected.insert(expected.end(), {"Seen", "hidden", "too"});
  EXPECT_EQ(sorted(texts_of(pdf.words(1))), sorted(std::move(expected)));
}

// The letters of a Type 3 font are drawn whatever the mode is.
TEST(Assemble, TextThatNoModeHidesStays) {
  MadePdf made;
  const auto square = made.add(pdf_stream("", "1000 0 0 0 750 750 d1 0 0 750 750 re f"));
  const auto font = made.add(
      fmt::format("<< /Type /Font /Subtype /Type3 /FontBBox [0 0 750 750] /FontMatrix [0.001 0 0 "
                  "0.001 0 0] /CharProcs << /a {} 0 R >> /Encoding << /Type /Encoding "
                  "/Differences [97 /a] >> /FirstChar 97 /LastChar 97 /Widths [1000] "
                  "/Resources << >> >>",
                  square));
  const auto form = [&made](std::string_view resources, std::string_view content) {
    return made.add(pdf_stream(
        fmt::format("/Type /XObject /Subtype /Form /BBox [0 0 612 792] {}", resources), content));
  };
  const auto fonts = fmt::format("/Font << /F1 3 0 R /F3 {} 0 R >>", font);
  const auto drawn =
      form(fmt::format("/Resources << {} >>", fonts), "BT 3 Tr /F3 40 Tf 72 600 Td (aa) Tj ET");
  const auto bare = form("", "BT 3 Tr /F3 40 Tf 72 500 Td (a) Tj ET");
  const auto hidden =
      form("/Resources << /Font << /F1 3 0 R >> >>", "BT 3 Tr /F1 12 Tf 72 400 Td (gone) Tj ET");
  const auto state = made.add(fmt::format("<< /Type /ExtGState /Font [{} 0 R 40] >>", font));
  const auto set = form(fmt::format("/Resources << /ExtGState << /G {} 0 R >> >>", state),
                        "BT 3 Tr /G gs 72 300 Td (aaa) Tj ET");
  const auto content = made.add(pdf_stream(
      "", "BT 3 Tr /F3 40 Tf 72 700 Td (aaaa) Tj ET 0 Tr /Drawn Do /Bare Do /Hidden Do /Set Do"));
  const auto bytes =
      made.page_of(content, fmt::format("/Resources << {} /XObject << /Drawn {} 0 R /Bare {} 0 R "
                                        "/Hidden {} 0 R /Set {} 0 R >> >>",
                                        fonts, drawn, bare, hidden, set))
          .bytes();
  auto expected = texts_of(letter_map(1));
  expected.insert(expected.end(), {"a", "aa", "aaa", "aaaa"});
  auto pdf = opened(assembled_of("pdf", bytes, {letter_map(1)}));
  EXPECT_EQ(sorted(texts_of(pdf.words(1))), sorted(std::move(expected)));
}

TEST(Assemble, APdfWithTrustedTextComesOutAsItWentIn) {
  const auto bytes = MadePdf().page("Printed").page("Printed, too").bytes();
  auto first = printed_map();
  first.info.page = 1;
  EXPECT_EQ(assembled_of("pdf", bytes, {first, printed_map()}), bytes);
}

TEST(Assemble, SlantedLinesAreReadAsLines) {
  auto map = letter_map();
  // Two lines that go down to the right by four degrees.
  const auto slanted = [](layout::Word& word, double x, double y) {
    const double fall = 0.05;
    word.poly = layout::Quad{layout::Point{.x = x, .y = y},
                             {.x = x + 0.1, .y = y + 0.1 * fall},
                             {.x = x + 0.1, .y = y + 0.1 * fall + 0.02},
                             {.x = x, .y = y + 0.02}};
    word.box = layout::bounds(*word.poly);
  };
  for (std::size_t i = 0; i < map.words.size(); ++i) {
    const auto& line = map.lines[map.words[i].line];
    slanted(map.words[i], 0.1 + 0.12 * static_cast<double>(i - line.words.first),
            0.1 + 0.2 * map.words[i].line + 0.006 * static_cast<double>(i - line.words.first));
  }
  auto pdf = opened(assembled_of("image", made_png(1240, 1754), {map}));
  const auto text = layout::arrange(pdf.words(1)).value().text;
  EXPECT_NE(text.find("Calder Valley"), std::string::npos) << text;
  EXPECT_NE(text.find("Größe 178 cm,"), std::string::npos) << text;
  EXPECT_NE(text.find("Metformin (500 mg)"), std::string::npos) << text;
}

TEST(Assemble, TheSameWordsGiveTheSameBytes) {
  const auto picture = made_png(1240, 1754);
  EXPECT_EQ(assembled_of("image", picture, {letter_map()}),
            assembled_of("image", picture, {letter_map()}));
  const auto scan = scanned_pdf("");
  EXPECT_EQ(assembled_of("pdf", scan, {letter_map(1), printed_map()}),
            assembled_of("pdf", scan, {letter_map(1), printed_map()}));
  EXPECT_EQ(assembled_of("text", "x", {letter_map()}), assembled_of("text", "x", {letter_map()}));
}

layout::PageMap page_in(const json::Object& result) {
  auto page = layout::page_from_json(result.at("page"));
  EXPECT_TRUE(page.has_value()) << (page.has_value() ? "" : page.error().message);
  return page.has_value() ? *std::move(page) : layout::PageMap{};
}

// Files without pages of their own are printed, to be seen.
TEST(Assemble, AnOfficeFileIsPrintedWithItsWords) {
  const auto docx = made_docx(docx_paragraph("Discharge letter") +
                              docx_paragraph("Ramipril 5 mg, one in the morning"))
                        .bytes();
  const auto read_one = run(&read, {{"kind", "docx"}, {"page", 1}}, {docx});
  ASSERT_TRUE(read_one.has_value()) << read_one.error().message;
  const auto map = page_in(read_one->result);
  auto pdf = opened(assembled_of("docx", docx, {map}));
  ASSERT_EQ(pdf.pdf.page_count(), 1U);
  EXPECT_EQ(texts_of(pdf.words(1)), texts_of(map));
  EXPECT_FALSE(is_white(pdf.pdf.render(1, 72).value().gray));
}

std::string png_of(Pix* pix) {
  l_uint8* data = nullptr;
  std::size_t size = 0;
  pixSetResolution(pix, 150, 150);
  EXPECT_EQ(pixWriteMemPng(&data, &size, pix, 0), 0);
  std::string bytes(reinterpret_cast<const char*>(data), size);
  lept_free(data);
  return bytes;
}

// All the way: printed words → pixels → recognition → searchable PDF → its text layer.
TEST(Assemble, WhatWasRecognisedIsFoundAgain) {
  const auto printed =
      map_of({.page = 1, .width_px = 1240, .height_px = 1754, .dpi = 150, .engine = "test"},
             {{{"The", {0.10, 0.10, 0.15, 0.12}},
               {"patient", {0.16, 0.10, 0.26, 0.12}},
               {"takes", {0.27, 0.10, 0.34, 0.12}},
               {"Metformin", {0.35, 0.10, 0.50, 0.12}}},
              {{"twice", {0.10, 0.15, 0.17, 0.17}}, {"daily", {0.18, 0.15, 0.25, 0.17}}}});
  const auto drawn = draw_words(printed, 1240);
  ASSERT_TRUE(drawn.has_value());
  const auto picture = png_of(drawn->get());
  const auto recognised = run(&read, {{"kind", "image"}, {"page", 1}, {"mode", "ocr"}}, {picture});
  ASSERT_TRUE(recognised.has_value()) << recognised.error().message;
  EXPECT_EQ(recognised->result.at("source"), "ocr");
  const auto map = page_in(recognised->result);
  EXPECT_EQ(texts_of(map), texts_of(printed));

  const auto bytes = assembled_of("image", picture, {map});
  const auto again = run(&read, {{"kind", "pdf"}, {"page", 1}, {"mode", "text"}}, {bytes});
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(again->result.at("source"), "text");
  EXPECT_EQ(page_in(again->result).text, map.text);
  expect_words(opened(bytes).words(1), map);
  // The words are few and lie on a scan: whoever is free to choose looks at the scan again.
  const auto chosen = run(&read, {{"kind", "pdf"}, {"page", 1}}, {bytes});
  ASSERT_TRUE(chosen.has_value());
  EXPECT_EQ(chosen->result.at("source"), "ocr");
  EXPECT_EQ(chosen->result.at("why_ocr"), "a stamp on a scan");
}

TEST(Assemble, WhatDoesNotFitIsRefusedByName) {
  const auto message_of = [](std::string_view kind, std::string_view document,
                             const std::string& lines) {
    const auto made = run(&assemble, {{"kind", kind}}, {document, lines});
    return made.has_value() ? std::string("accepted") : made.error().message;
  };
  const auto line = layout::page_json(letter_map()) + "\n";
  EXPECT_EQ(message_of("pdf", scanned_pdf(""), line), "pages: there are 1, and the document has 2");
  EXPECT_EQ(message_of("image", made_png(8, 8), ""), "pages: there must be at least one");
  EXPECT_EQ(message_of("image", made_png(8, 8), "\n\n"), "pages: there must be at least one");
  EXPECT_EQ(message_of("image", made_png(8, 8), line + line), "pages: line 2 must be page 2");
  EXPECT_EQ(message_of("song", made_png(8, 8), line), "kind must be one that inspect answers");
  EXPECT_TRUE(message_of("image", made_png(8, 8), "{}\n").starts_with("pages: line 1"));
  EXPECT_NE(message_of("image", "no picture", line), "accepted");
}

}  // namespace
}  // namespace millrace::document
