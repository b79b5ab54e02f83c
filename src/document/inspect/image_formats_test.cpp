#include "document/inspect/image_formats.h"

#include "document/inspect/made_image.h"
#include "document/inspect/made_inspection.h"

#include <gtest/gtest.h>

namespace millrace::document {
namespace {

using namespace std::string_view_literals;

struct Sample {
  const char* name;
  std::string (*make)(std::uint32_t width, std::uint32_t height);
};

const Sample kSamples[] = {
    {"png", [](std::uint32_t w, std::uint32_t h) { return made_png(w, h, {}, w * h < 10'000); }},
    {"jpeg", [](std::uint32_t w, std::uint32_t h) { return made_jpeg(w, h); }},
    {"gif", [](std::uint32_t w, std::uint32_t h) { return made_gif(w, h); }},
    {"webp", [](std::uint32_t w, std::uint32_t h) { return made_webp(w, h); }},
};

TEST(ImageFormats, GoodImagesAreCleanAndHaveAPage) {
  for (const auto& sample : kSamples) {
    const auto result = inspected(sample.make(8, 8), std::string("a.").append(sample.name));
    EXPECT_EQ(result.verdict(), "clean") << sample.name;
    EXPECT_EQ(result.text("kind"), "image");
    EXPECT_EQ(result.pages(), 1U);
  }
  EXPECT_EQ(rules_of(made_bmp(8, 8)), "");
  EXPECT_EQ(rules_of(made_bmp(8, -8)), "") << "rows from the top";
  EXPECT_EQ(rules_of(made_pgm(8, 8)), "");
}

// F16: judged by the header, before a decoder allocates.
TEST(ImageFormats, RefusesFloodsOfPixels) {
  for (const auto& sample : kSamples) {
    EXPECT_EQ(rules_of(sample.make(16'000, 16'000)), "pixels:refuse") << sample.name;
    EXPECT_EQ(rules_of(sample.make(10'000, 10'000)), "") << sample.name;
  }
  EXPECT_EQ(rules_of(made_bmp(100'000, 100'000, false)), "pixels:refuse");
  EXPECT_EQ(rules_of(made_pgm(100'000, 100'000, false)), "pixels:refuse");
  EXPECT_EQ(rules_of(std::string("II*\0\x08\0\0\0"sv) +
                     tiff_directory({{256, 4, 1, 100'000}, {257, 4, 1, 100'000}}, 0)),
            "pixels:refuse");
}

TEST(ImageFormats, RefusesSizesThatAreNone) {
  EXPECT_EQ(rules_of(made_png(0, 8)), "image_structure:refuse");
  EXPECT_EQ(rules_of(made_bmp(-8, 8, false)), "image_structure:refuse");
  EXPECT_EQ(rules_of(made_bmp(8, 0)), "image_structure:refuse");
  EXPECT_EQ(rules_of(made_pgm(0, 0)), "image_structure:refuse");
}

TEST(ImageFormats, RefusesWhatWasCutOff) {
  const std::string files[] = {made_png(8, 8),  made_jpeg(8, 8), made_gif(8, 8), made_bmp(8, 8),
                               made_tiff(8, 8), made_webp(8, 8), made_pgm(8, 8)};
  for (const auto& file : files) {
    EXPECT_EQ(rules_of(file.substr(0, file.size() - 4)), "truncated:refuse") << file.substr(0, 4);
  }
}

TEST(ImageFormats, NoticesADamagedPng) {
  auto png = made_png(8, 8);
  png[png.find("IDAT") + 6] ^= 1;
  EXPECT_EQ(rules_of(png), "damaged:refuse");
}

TEST(ImageFormats, RefusesTextThatUnpacksWithoutEnd) {
  const auto bomb = [](std::uint64_t bytes) {
    return made_png(8, 8, png_chunk("zTXt", std::string("c\0\0", 3) + deflated_zeros(bytes)));
  };
  EXPECT_EQ(rules_of(bomb(64 * kMiB)), "ratio:refuse");
  EXPECT_EQ(rules_of(bomb(1'000)), "");
}

TEST(ImageFormats, ATiffHasAPagePerDirectory) {
  const auto result = inspected(made_tiff(16, 16, 3));
  EXPECT_EQ(result.verdict(), "clean");
  ASSERT_EQ(result.pages(), 3U);
  EXPECT_NE(result.hash(1), result.hash(2));
}

TEST(ImageFormats, RefusesATiffThatLeadsInACircle) {
  auto tiff = made_tiff(8, 8);
  tiff.replace(8 + 2 + 9 * 12, 4, little(8, 4));
  EXPECT_EQ(rules_of(tiff), "image_structure:refuse");
}

TEST(ImageFormats, RefusesATiffWithTooManyPages) {
  EXPECT_EQ(inspected(made_tiff(8, 1, 5'000)).verdict(), "clean");
  EXPECT_EQ(rules_of(made_tiff(8, 1, 5'001)), "page_count:refuse");
}

TEST(ImageFormats, RefusesStripsThatShareTheirBytes) {
  // A thousand strips, each of them the whole file.
  const std::uint32_t strips = 1'000;
  std::string lists;
  const std::uint32_t begin = 8 + 2 + 4 * 12 + 4;
  for (std::uint32_t i = 0; i < strips; ++i) lists += little(0, 4);
  for (std::uint32_t i = 0; i < strips; ++i) lists += little(begin + strips * 8, 4);
  const auto tiff = std::string("II*\0\x08\0\0\0"sv) +
                    tiff_directory({{256, 4, 1, 100},
                                    {257, 4, 1, 1'000},
                                    {273, 4, strips, begin},
                                    {279, 4, strips, begin + strips * 4}},
                                   0) +
                    lists;
  EXPECT_EQ(rules_of(tiff), "image_structure:refuse");
}

TEST(ImageFormats, RefusesTooManyFrames) {
  EXPECT_EQ(rules_of(made_gif(2, 2, 5'000)), "");
  EXPECT_EQ(rules_of(made_gif(2, 2, 5'001)), "page_count:refuse");
}

TEST(ImageFormats, RotationAndSizeComeFromTheFile) {
  const auto exif = std::string("Exif\0\0II*\0\x08\0\0\0"sv) + tiff_directory({{274, 3, 1, 6}}, 0);
  const auto result = inspected(made_jpeg(8, 8, jpeg_segment(0xe1, exif)));
  EXPECT_EQ(result.page(1).at("rotation_deg").to_number<int>(), 90);
  EXPECT_EQ(result.page(1).at("width_pt").to_number<double>(), 3.84) << "8 pixels at 150 dpi";
}

TEST(ImageFormats, HashesAreOfWhatIsShown) {
  const auto hash = [](const std::string& bytes) { return inspected(bytes).hash(); };
  EXPECT_EQ(hash(made_jpeg(8, 8)), hash(made_jpeg(8, 8, jpeg_segment(0xfe, "a remark"))));
  EXPECT_NE(hash(made_jpeg(8, 8)), hash(made_jpeg(7, 8)));
  EXPECT_EQ(hash(made_png(4, 4)), hash(made_png(4, 4, png_chunk("tEXt", "a\0remark"sv))));
  EXPECT_NE(hash(made_png(4, 4)), hash(made_png(4, 5)));
}

TEST(ImageFormats, KnowsSizesOfCodecsInPdf) {
  const auto jp2 = std::string("\0\0\0\x0cjP  ", 8) + "\xff\x4f\xff\x51" + big(47, 2) + big(0, 2) +
                   big(70'000, 4) + big(60'000, 4) + big(0, 8);
  ASSERT_TRUE(jpeg2000_size(jp2).has_value());
  EXPECT_EQ(jpeg2000_size(jp2)->width, 70'000U);
  const auto jbig2 = big(0, 4) + "\x30" + std::string(1, '\0') + "\x01" + big(19, 4) +
                     big(50'000, 4) + big(40'000, 4) + std::string(11, '\0');
  ASSERT_TRUE(jbig2_size(jbig2).has_value());
  EXPECT_EQ(jbig2_size(jbig2)->height, 40'000U);
  EXPECT_FALSE(jbig2_size("short").has_value());
  EXPECT_FALSE(jpeg_size("\xff\xd8").has_value());
}

}  // namespace
}  // namespace millrace::document
