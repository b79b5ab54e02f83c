// The templates that ship, printed: fonts, scripts, and what each option changes on the paper.
#include "base/file.h"
#include "pdf_tools.h"
#include "template/template_store.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <regex>
#include <sstream>

namespace millrace::render {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::array kTemplates = {"minimal", "modern", "letter", "invoice", "report"};

// What an export asks for when its order says nothing.
const templates::RenderOptions kDefaults{.page_size = templates::PageSize::letter,
                                         .margins = templates::Margins()};

json::Value sample_of(std::string_view name) {
  const auto text =
      read_file(std::filesystem::path(MILLRACE_SOURCE_DIR) / "templates" / name / "sample.json");
  EXPECT_TRUE(text.has_value());
  auto value = parse_json(text.value_or("null"));
  EXPECT_TRUE(value.has_value());
  return std::move(value).value_or(json::Value());
}

// As an export does it.
RenderRequest request_of(std::string_view name, const json::Value& data,
                         const templates::RenderOptions& choice) {
  static const auto store = templates::TemplateStore::load();
  EXPECT_TRUE(store.has_value());
  const auto found = store->find(name);
  EXPECT_TRUE(found.has_value()) << found.error().describe();
  const auto html = templates::render(*found, data, choice);
  EXPECT_TRUE(html.has_value()) << html.error().describe();
  RenderRequest request{.html = html->html};
  request.options.page_size = html->page_size == templates::PageSize::a4      ? PageSize::A4
                              : html->page_size == templates::PageSize::legal ? PageSize::Legal
                                                                              : PageSize::Letter;
  const auto margins = choice.margins.value_or(found->info().margins);
  request.options.margins = {
      .top = margins.top, .bottom = margins.bottom, .left = margins.left, .right = margins.right};
  request.options.bleed = html->bleed;
  if (choice.quality == templates::Quality::draft) request.options.quality = Quality::draft;
  if (choice.color_mode == templates::ColorMode::grayscale) {
    request.options.color_mode = ColorMode::grayscale;
  }
  return request;
}

struct Font {
  std::string name, type, embedded;
};

// "AAAAAA+Lato-Regular    CID TrueType   Identity-H   yes yes yes   4  0"
std::vector<Font> fonts_of(const RenderWorld& world, const std::string& pdf) {
  std::vector<Font> fonts;
  std::istringstream lines(run_tool({"pdffonts", save(world, pdf)}));
  const std::regex row(R"(^(.{36}) (.{17}) .{16} (yes|no ) .*)");
  std::string line;
  for (int i = 0; std::getline(lines, line); ++i) {
    std::smatch part;
    if (i < 2 || !std::regex_match(line, part, row)) continue;
    const auto trimmed = [](std::string text) {
      return text.erase(text.find_last_not_of(' ') + 1);
    };
    fonts.push_back({trimmed(part[1]), trimmed(part[2]), trimmed(part[3])});
  }
  return fonts;
}

class TemplatePages : public testing::Test {
 protected:
  Answer print(std::string_view name, const json::Value& data,
               const templates::RenderOptions& choice = kDefaults) {
    auto answer = world_.render_now(request_of(name, data, choice));
    EXPECT_TRUE(answer.result.has_value()) << answer.result.error().describe();
    return answer;
  }
  Answer print_sample(std::string_view name, const templates::RenderOptions& choice = kDefaults) {
    return print(name, sample_of(name), choice);
  }

  RenderWorld world_{{.size = 1}};
};

TEST_F(TemplatePages, EmbedEveryFontByItsNameAndNoneOfType3) {
  for (const auto* name : kTemplates) {
    const auto fonts = fonts_of(world_, print_sample(name).pdf);
    EXPECT_GE(fonts.size(), 2u) << name;
    for (const auto& font : fonts) {
      EXPECT_EQ(font.type, "CID TrueType") << name << ": " << font.name;
      EXPECT_NE(font.name, "[none]") << name;
      EXPECT_EQ(font.embedded, "yes") << name << ": " << font.name;
    }
  }
}

TEST_F(TemplatePages, HaveEveryPageNumbered) {
  for (const auto* name : kTemplates) {
    const auto answer = print_sample(name);
    const auto pages = answer.result->page_count;
    const auto file = save(world_, answer.pdf);
    // The title page of a report has none.
    for (std::uint64_t page = std::string_view(name) == "report" ? 2 : 1; page <= pages; ++page) {
      const auto n = std::to_string(page);
      const auto text = run_tool({"pdftotext", "-layout", "-f", n, "-l", n, file, "-"});
      const auto number =
          std::string_view(name) == "report" ? n : n + " ?/ ?" + std::to_string(pages);
      EXPECT_TRUE(std::regex_search(text, std::regex("(^|\\s)" + number + "\\s*$")))
          << name << " page " << page << "\n"
          << text;
    }
  }
}

TEST_F(TemplatePages, SamplesOfLetterAndInvoiceFitOnOnePage) {
  for (const auto* name : {"letter", "invoice"}) {
    EXPECT_EQ(print_sample(name).result->page_count, 1u) << name;
    EXPECT_EQ(print_sample(name, {}).result->page_count, 1u) << name;
  }
}

struct WordBox {
  std::string word;
  double left = 0, right = 0, top = 0, bottom = 0;
};

// Where each word stands, in points.
std::vector<WordBox> words_of(const RenderWorld& world, const std::string& pdf) {
  const auto text = run_tool({"pdftotext", "-bbox", save(world, pdf), "-"});
  const std::regex row(
      R"re(<word xMin="([0-9.-]+)" yMin="([0-9.-]+)" xMax="([0-9.-]+)" yMax="([0-9.-]+)">([^<]*)<)re");
  std::vector<WordBox> words;
  for (std::sregex_iterator it(text.begin(), text.end(), row), end; it != end; ++it) {
    words.push_back({.word = (*it)[5],
                     .left = std::stod((*it)[1]),
                     .right = std::stod((*it)[3]),
                     .top = std::stod((*it)[2]),
                     .bottom = std::stod((*it)[4])});
  }
  return words;
}

WordBox word_in(const std::vector<WordBox>& words, std::string_view word) {
  for (const auto& box : words) {
    if (box.word == word) return box;
  }
  ADD_FAILURE() << "the word " << word << " is not on the paper";
  return {};
}

json::Value parsed(const std::string& text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value.has_value()) << text;
  return std::move(value).value_or(json::Value());
}

// What is wider than the paper makes a browser print all of it smaller, or loses what is beside it.
TEST_F(TemplatePages, WordsOfAnyLengthStayInTheirPlaceAndChangeNoOther) {
  const auto data_with = [](std::string_view name, const std::string& x) {
    std::string text;
    if (name == "minimal" || name == "modern") {
      text = fmt::format(
          R"({{"profile":{{"name":"Probe","location":"{0}","links":[{{"url":"https://example.org","label":"{0}"}}]}},
              "experience":[{{"position":"{0}","company":"{0}","start":"{0}","summary":"{0}"}}],
              "skills":[{{"name":"{0}","keywords":["{0}"]}}],
              "languages":[{{"name":"{0}","level":"{0}"}}],"certifications":[{{"name":"{0}","issuer":"{0}"}}]}})",
          x);
    } else if (name == "letter") {
      text = fmt::format(
          R"({{"sender":{{"name":"Probe","address":["{0}"],"email":"{0}"}},
              "recipient":{{"name":"{0}","address":["{0}"]}},"place":"{0}","reference":"{0}",
              "subject":"{0}","body":"{0}","enclosures":["{0}"]}})",
          x);
    } else if (name == "invoice") {
      text = fmt::format(
          R"({{"seller":{{"name":"Probe","address":["{0}"],"iban":"{0}","bank":"{0}","email":"{0}"}},
              "customer":{{"name":"{0}","address":["{0}"]}},"number":"{0}","order":"{0}","date":"2026-03-04",
              "currency":"EUR","lines":[{{"description":"{0}","details":"{0}","unit":"{0}","quantity":3,"unit_price":4711.5}}]}})",
          x);
    } else {
      text = fmt::format(
          R"({{"title":"Probe","organisation":"{0}","figures":[{{"value":"{1}","label":"{0}"}}],
              "sections":[{{"title":"{0}","parts":[{{"heading":"{0}","body":"{0}"}},
              {{"table":{{"title":"{0}","columns":[{{"title":"{0}"}},{{"title":"Nr"}}],"rows":[["{0}",1]]}}}}]}}]}})",
          x, x.substr(0, 40));
    }
    return parsed(text);
  };
  for (const auto* name : kTemplates) {
    const auto plain = words_of(world_, print(name, data_with(name, "short")).pdf);
    const auto words = words_of(world_, print(name, data_with(name, std::string(150, 'x'))).pdf);
    const auto was = word_in(plain, "Probe");
    const auto is = word_in(words, "Probe");
    EXPECT_NEAR(is.bottom - is.top, was.bottom - was.top, 0.01) << name << ": all is smaller";
    EXPECT_NEAR(is.left, was.left, 0.01) << name;
    for (const auto& word : words) {
      EXPECT_GT(word.left, 0) << name << ": " << word.word;
      EXPECT_LT(word.right, 612) << name << ": " << word.word;
    }
    if (std::string_view(name) == "invoice") {
      EXPECT_NEAR(word_in(words, "Amount").right, word_in(plain, "Amount").right, 0.01);
      EXPECT_NEAR(word_in(words, "€14,134.50").right, word_in(plain, "€14,134.50").right, 0.01);
      word_in(words, "€4,711.50");
    }
  }
}

// Charts are drawn from left to right in every script: their texts belong beside their marks.
TEST_F(TemplatePages, ChartsAreTheSameInScriptsFromTheRight) {
  const auto report = [](std::string_view language, std::string_view type) {
    return parsed(fmt::format(
        R"({{"language":"{}","title":"T","sections":[{{"title":"S","parts":[{{"chart":{{"type":"{}","title":"C",
            "labels":["alpha","beta"],"series":[{{"name":"n","values":[4000,7000]}}]}}}}]}}]}})",
        language, type));
  };
  for (const auto* type : {"bar", "line", "pie"}) {
    const auto left = words_of(world_, print("report", report("en", type)).pdf);
    const auto right = words_of(world_, print("report", report("ar", type)).pdf);
    for (const auto* word : {"alpha", "beta"}) {
      EXPECT_NEAR(word_in(right, word).left, word_in(left, word).left, 2) << type << " " << word;
    }
  }
}

struct Script {
  const char* name;
  const char* text;
};

class TemplateScripts : public TemplatePages, public testing::WithParamInterface<Script> {};

TEST_P(TemplateScripts, AreDrawnByANamedFont) {
  const json::Value data = json::Object{{"profile", json::Object{{"name", GetParam().text}}}};
  for (const auto* name : {"minimal", "modern"}) {
    const auto answer = print(name, data);
    EXPECT_THAT(answer.result->missing_glyphs, IsEmpty()) << name;
    for (const auto& font : fonts_of(world_, answer.pdf)) {
      EXPECT_EQ(font.type, "CID TrueType") << name << ": " << font.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Scripts, TemplateScripts,
    testing::Values(Script{"Latin", "Łukasz Ångström-Çelik"}, Script{"Greek", "Ελένη Παπαδοπούλου"},
                    Script{"Cyrillic", "Юрий Щербаков"}, Script{"Arabic", "أميرة حداد"},
                    Script{"Hebrew", "יעל כהן"}, Script{"Devanagari", "प्रिया शर्मा"},
                    Script{"Thai", "สมชาย ใจดี"}, Script{"Chinese", "王小明 陳美麗"},
                    Script{"Japanese", "山田太郎 さくら カタカナ"}, Script{"Korean", "김민준 서울"},
                    Script{"Bengali", "রবীন্দ্রনাথ"}, Script{"Tamil", "தமிழ்"},
                    Script{"Georgian", "ქართული"}, Script{"Armenian", "Հայերեն"}),
    [](const auto& info) { return info.param.name; });

// Pictures have no outlines that could be embedded otherwise.
TEST_F(TemplatePages, ShowEmojiAndKeepThemAsText) {
  const json::Value data = json::Object{{"profile", json::Object{{"name", "Zoë 🚀"}}}};
  const auto answer = print("minimal", data);
  EXPECT_THAT(answer.result->missing_glyphs, IsEmpty());
  EXPECT_THAT(text_of(world_, answer.pdf), HasSubstr("🚀"));
}

TEST_F(TemplatePages, TellCharactersThatNoFontHas) {
  const json::Value data = json::Object{{"profile", json::Object{{"name", "Zoë \U00011F04 王"}}}};
  EXPECT_EQ(print("minimal", data).result->missing_glyphs, "\U00011F04");  // Kawi.
}

TEST_F(TemplatePages, DraftsHaveNoBackgroundsAndAllTheirText) {
  auto choice = kDefaults;
  const auto normal = print_sample("modern", choice);
  choice.quality = templates::Quality::draft;
  const auto draft = print_sample("modern", choice);
  const auto is_dark = [](Colour colour) { return colour.is_dark(); };
  EXPECT_GT(picture_of(world_, normal.pdf).share(is_dark), 0.25);  // The column.
  EXPECT_LT(picture_of(world_, draft.pdf).share(is_dark), 0.10);
  EXPECT_EQ(text_of(world_, draft.pdf), text_of(world_, normal.pdf));
}

TEST_F(TemplatePages, GrayscaleLeavesNoColourOnThePaper) {
  for (const auto* name : kTemplates) {
    auto choice = kDefaults;
    const auto coloured = [](Colour colour) { return !colour.is_grey(); };
    EXPECT_GT(picture_of(world_, print_sample(name, choice).pdf).share(coloured), 0.0005) << name;
    choice.color_mode = templates::ColorMode::grayscale;
    EXPECT_EQ(picture_of(world_, print_sample(name, choice).pdf).share(coloured), 0) << name;
  }
}

// The first column and row of pixels with ink, in inches.
struct Ink {
  double left = 0, top = 0;
};

Ink ink_of(const Picture& picture) {
  int left = picture.width;
  int top = picture.height;
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      if (picture.at(x, y).is_white()) continue;
      left = std::min(left, x);
      top = std::min(top, y);
    }
  }
  return {.left = left / 72.0, .top = top / 72.0};
}

TEST_F(TemplatePages, MarginsAreWhereTheTextBegins) {
  for (const double margin : {0.5, 1.0, 1.75}) {
    auto choice = kDefaults;
    choice.margins =
        templates::Margins{.top = margin, .right = margin, .bottom = margin, .left = margin};
    const auto ink = ink_of(picture_of(world_, print_sample("minimal", choice).pdf));
    EXPECT_NEAR(ink.left, margin, 0.06);
    EXPECT_GE(ink.top, margin - 0.03);
    EXPECT_LT(ink.top, margin + 0.3);  // The first line is large.
  }
}

TEST_F(TemplatePages, PageSizeIsThatOfThePaper) {
  struct Paper {
    templates::PageSize size;
    int width, height;
  };
  for (const auto& paper :
       {Paper{templates::PageSize::a4, 595, 842}, Paper{templates::PageSize::letter, 612, 792},
        Paper{templates::PageSize::legal, 612, 1008}}) {
    auto choice = kDefaults;
    choice.page_size = paper.size;
    const auto picture = picture_of(world_, print_sample("minimal", choice).pdf);
    EXPECT_NEAR(picture.width, paper.width, 1);
    EXPECT_NEAR(picture.height, paper.height, 1);
  }
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned value = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      value = value << 8U | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    }
    for (unsigned j = 0; j < 4; ++j) {
      text += i + j > bytes.size() ? '=' : kLetters[value >> (18U - 6U * j) & 63U];
    }
  }
  return text;
}

// How far the dark column reaches, in pixels, in the middle of the page.
int column_of(const Picture& picture) {
  int x = 0;
  while (x < picture.width && picture.at(x, picture.height * 9 / 10).is_dark()) ++x;
  return x;
}

// The picture is a PNG: the browser reads it, by printing it on a whole page.
TEST_F(TemplatePages, PreviewOfABleedLooksAsItsFirstPage) {
  auto request = request_of("modern", sample_of("modern"), kDefaults);
  request.preview_width_px = 612;
  const auto answer = world_.render_now(request);
  ASSERT_TRUE(answer.result.has_value()) << answer.result.error().describe();
  RenderRequest again{.html =
                          "<style>@page{margin:0}body{margin:0}img{display:block;width:8.5in;"
                          "height:10.99in}</style><img src='data:image/png;base64," +
                          base64(answer.result->preview_png) + "'>"};
  again.options.margins = {.top = 0, .bottom = 0, .left = 0, .right = 0};
  const auto shown = world_.render_now(again);
  ASSERT_TRUE(shown.result.has_value()) << shown.result.error().describe();
  const Picture preview = picture_of(world_, shown.pdf);
  const Picture page = picture_of(world_, answer.pdf);
  const int column = column_of(page);
  EXPECT_NEAR(column, 66 / 25.4 * 72, 3);
  EXPECT_NEAR(column_of(preview), column, 3);
  // Light text stands on the column and nowhere else: what is beside it is white where the page is.
  int different = 0;
  for (int y = 0; y < page.height - 3; ++y) {
    for (int x = column + 3; x < column + 20; ++x) {
      different += page.at(x, y).is_white() != preview.at(x, y).is_white() ? 1 : 0;
    }
  }
  EXPECT_LT(different, 17 * page.height / 50);
}

}  // namespace
}  // namespace millrace::render
