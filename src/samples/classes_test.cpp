#include "samples/classes.h"

#include "samples/files/hostile.h"
#include "samples/page/paint.h"
#include "samples/samples_testing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <poppler/cpp/poppler-document.h>
#include <poppler/cpp/poppler-page-renderer.h>
#include <poppler/cpp/poppler-page.h>
#include <set>

namespace millrace::samples {
namespace {

// What the file itself says in the order in which it was drawn.
std::string text_layer(const std::string& pdf, int page) {
  const std::unique_ptr<poppler::document> document(
      poppler::document::load_from_raw_data(pdf.data(), static_cast<int>(pdf.size())));
  EXPECT_NE(document, nullptr);
  const std::unique_ptr<poppler::page> drawn(document->create_page(page));
  const poppler::byte_array bytes =
      drawn->text(poppler::rectf(), poppler::page::raw_order_layout).to_utf8();
  return {bytes.begin(), bytes.end()};
}

// Some of every class.
const std::vector<Sample>& all_samples() {
  static const auto samples = [] {
    std::vector<Sample> made;
    for (const std::string& name : default_classes()) {
      for (int i = 0; i < 4; ++i) made.push_back(sample_of(name, i));
    }
    return made;
  }();
  return samples;
}

TEST(Classes, TheSameSeedGivesTheSameBytes) {
  for (const std::string& name : default_classes()) {
    const Sample first = sample_of(name, 1);
    const Sample again = sample_of(name, 1);
    const Sample other = sample_of(name, 1, 8);
    EXPECT_EQ(first.bytes, again.bytes) << name;
    EXPECT_EQ(to_json(first.truth), to_json(again.truth)) << name;
    EXPECT_NE(first.bytes, other.bytes) << name;
  }
}

TEST(Classes, EveryClassMakesFilesOfItsKind) {
  const std::map<std::string, std::string> starts = {{"pdf", "%PDF-"},
                                                     {"png", "\x89PNG"},
                                                     {"jpg", "\xFF\xD8\xFF"},
                                                     {"tif", "II*"},
                                                     {"docx", "PK\x03\x04"}};
  for (const Sample& sample : all_samples()) {
    EXPECT_TRUE(sample.truth.file.starts_with(sample.truth.sample_class)) << sample.truth.file;
    ASSERT_FALSE(sample.truth.pages.empty()) << sample.truth.file;
    EXPECT_FALSE(sample.truth.pages[0].text.empty()) << sample.truth.file;
    const std::string extension = sample.truth.file.substr(sample.truth.file.rfind('.') + 1);
    const auto start = starts.find(extension);
    if (start != starts.end()) {
      EXPECT_TRUE(sample.bytes.starts_with(start->second)) << sample.truth.file;
    } else {
      EXPECT_EQ(extension, "txt");
    }
  }
}

TEST(Classes, AnUnknownClassIsRefusedByName) {
  const auto sample = make_sample("blurry", 7, 0);
  ASSERT_FALSE(sample.has_value());
  EXPECT_EQ(sample.error().kind, ErrorKind::invalid_argument);
  EXPECT_NE(sample.error().message.find("blurry"), std::string::npos);
}

TEST(Classes, TheTruthOfABornPdfIsItsTextLayer) {
  for (int i = 0; i < 7; ++i) {
    const Sample sample = sample_of("born", i);
    for (std::size_t page = 0; page < sample.truth.pages.size(); ++page) {
      EXPECT_EQ(normalised(text_layer(sample.bytes, static_cast<int>(page))),
                normalised(sample.truth.pages[page].text))
          << sample.truth.file << " page " << page + 1;
    }
  }
}

TEST(Classes, OnlyPagesWithATextLayerHaveOne) {
  const Sample sample = sample_of("multi", 0);
  std::set<bool> seen;
  for (std::size_t page = 0; page < sample.truth.pages.size(); ++page) {
    const bool has_text = !normalised(text_layer(sample.bytes, static_cast<int>(page))).empty();
    EXPECT_EQ(has_text, sample.truth.pages[page].text_layer) << page;
    seen.insert(has_text);
  }
  EXPECT_EQ(seen.size(), 2U);  // Both kinds in one file.
}

TEST(Classes, AScanHasNoTextLayer) {
  EXPECT_EQ(normalised(text_layer(sample_of("clean", 0).bytes, 0)), "");
}

TEST(Classes, BoxesLieWithinThePage) {
  for (const Sample& sample : all_samples()) {
    for (const TruthPage& page : sample.truth.pages) {
      for (const TruthWord& word : page.words) {
        const auto& [x0, y0, x1, y1] = word.box;
        EXPECT_TRUE(0 <= x0 && x0 < x1 && x1 <= 1) << sample.truth.file << ' ' << word.text;
        EXPECT_TRUE(0 <= y0 && y0 < y1 && y1 <= 1) << sample.truth.file << ' ' << word.text;
      }
    }
  }
}

TEST(Classes, WordsAreTheTextOfThePage) {
  for (const std::string_view name : {"born", "two_column", "multi", "table"}) {
    const Sample sample = sample_of(name, 0);
    for (const TruthPage& page : sample.truth.pages) {
      std::string words;
      for (const TruthWord& word : page.words) words += (words.empty() ? "" : " ") + word.text;
      EXPECT_EQ(words, normalised(page.text)) << sample.truth.file;
    }
  }
}

// Words of the truth below which there is hardly any ink.
int words_without_ink(Pix* grey, const TruthPage& page) {
  int missing = 0;
  for (const TruthWord& word : page.words) {
    const double width = pixGetWidth(grey);
    const double height = pixGetHeight(grey);
    int dark = 0;
    int all = 0;
    for (int y = static_cast<int>(word.box.y0 * height); y < word.box.y1 * height; ++y) {
      for (int x = static_cast<int>(word.box.x0 * width); x < word.box.x1 * width; ++x) {
        l_uint32 value = 255;
        pixGetPixel(grey, x, y, &value);
        dark += value < 128 ? 1 : 0;
        ++all;
      }
    }
    if (dark * 20 < all) ++missing;
  }
  return missing;
}

TEST(Classes, InkStandsWhereTheTruthSays) {
  const Sample sample = sample_of("clean", 2);
  ASSERT_TRUE(sample.truth.file.ends_with(".png"));
  const Image image(
      pixReadMem(reinterpret_cast<const l_uint8*>(sample.bytes.data()), sample.bytes.size()));
  ASSERT_NE(image, nullptr);
  EXPECT_EQ(words_without_ink(image.get(), sample.truth.pages[0]), 0);
}

// A skewed page that is turned back about its middle is the page that the boxes speak of.
TEST(Classes, BoxesOfASkewedPageHoldOnceItIsTurnedBack) {
  const Sample sample = sample_of("skewed", 3);
  const TruthPage& truth = sample.truth.pages[0];
  ASSERT_GT(std::abs(truth.skew_deg), 10);
  const std::unique_ptr<poppler::document> document(poppler::document::load_from_raw_data(
      sample.bytes.data(), static_cast<int>(sample.bytes.size())));
  const std::unique_ptr<poppler::page> page(document->create_page(0));
  poppler::page_renderer renderer;
  renderer.set_image_format(poppler::image::format_gray8);
  const poppler::image drawn = renderer.render_page(page.get(), 150, 150);
  const Image image(pixCreate(drawn.width(), drawn.height(), 8));
  for (int y = 0; y < drawn.height(); ++y) {
    for (int x = 0; x < drawn.width(); ++x) {
      const char* row = drawn.const_data() + static_cast<std::ptrdiff_t>(y) * drawn.bytes_per_row();
      pixSetPixel(image.get(), x, y, static_cast<unsigned char>(row[x]));
    }
  }
  const auto back = static_cast<l_float32>(-truth.skew_deg * std::numbers::pi / 180);
  const Image upright(pixRotate(image.get(), back, L_ROTATE_AREA_MAP, L_BRING_IN_WHITE, 0, 0));
  const int words = static_cast<int>(truth.words.size());
  EXPECT_LE(words_without_ink(upright.get(), truth), words / 20);
  EXPECT_GT(words_without_ink(image.get(), truth), words / 3);
}

TEST(Classes, TurnsAndAnglesAreTold) {
  std::set<int> turns;
  for (int i = 0; i < 3; ++i) turns.insert(sample_of("rotated", i).truth.pages[0].rotation_deg);
  EXPECT_EQ(turns, (std::set{90, 180, 270}));
  for (int i = 0; i < 4; ++i) {
    const double skew = std::abs(sample_of("skewed", i).truth.pages[0].skew_deg);
    EXPECT_GE(skew, 0.5);
    EXPECT_LE(skew, 15);
  }
}

TEST(Classes, LongFilesHaveAsManyPagesAsAsked) {
  const Sample sample = make_long(false, 12, 3);
  EXPECT_EQ(sample.truth.pages.size(), 12U);
  EXPECT_NE(text_layer(sample.bytes, 11).find("Visit 12"), std::string::npos);
  EXPECT_EQ(normalised(text_layer(make_long(true, 2, 3).bytes, 1)), "");
}

TEST(Hostile, EveryFileHasAnExpectedRuleAndItsOwnName) {
  std::set<std::string> names;
  for (const Sample& sample : hostile_samples(7)) {
    EXPECT_TRUE(names.insert(sample.truth.file).second);
    EXPECT_EQ(sample.truth.state, "rejected");
    EXPECT_FALSE(sample.truth.rule.empty()) << sample.truth.file;
    EXPECT_LT(sample.bytes.size(), 256 * 1024U) << sample.truth.file;  // The bomb is small.
  }
  EXPECT_GE(names.size(), 10U);
}

}  // namespace
}  // namespace millrace::samples
