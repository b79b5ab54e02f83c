#include "template/template_store.h"

#include "base/file.h"
#include "template/template_testing.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <string_view>

namespace millrace::templates {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::filesystem::path kSource = MILLRACE_SOURCE_DIR;

std::string load_error(const TemplateFiles& files) {
  const auto loaded = Template::load("tiny", files);
  return loaded ? "" : loaded.error().message;
}

TemplateFiles with(std::string name, std::string text) {
  auto files = small_folder();
  files[std::move(name)] = std::move(text);
  return files;
}

const TemplateStore& shipped() {
  static const auto store = TemplateStore::load();
  return *store;
}

TEST(TemplateFolder, ProblemsHaveFileLineAndColumn) {
  EXPECT_EQ(load_error(small_folder()), "");
  EXPECT_THAT(load_error(with("page.html", "<p>\n{{ x | nope }}</p>")),
              HasSubstr("tiny/page.html:2:8: there is no filter"));
  EXPECT_THAT(load_error(with("style.css", "p {\n  background: url(x) }")),
              HasSubstr("tiny/style.css:2:19:"));
  EXPECT_THAT(load_error(with("sample.json", "{\n\"title\": }")), HasSubstr("tiny/sample.json:2:"));
  EXPECT_THAT(load_error(with("sample.json", R"({"title": 5})")),
              HasSubstr("tiny/sample.json: /title must be"));
  EXPECT_THAT(load_error(with("template.toml", "name = \"tiny\"\ntitle = 5\n")),
              HasSubstr("tiny/template.toml:2:9: title must be a text"));
  EXPECT_THAT(load_error(with("template.toml", "name = \"other\"\n")),
              HasSubstr("name must be \"tiny\", as its folder"));
  EXPECT_THAT(load_error(with("template.toml", small_folder().at("template.toml") +
                                                   "[labels.en]\na = \"x\"\n[labels.de]\n")),
              HasSubstr("labels.de lacks \"a\", which labels.en has"));
  EXPECT_THAT(load_error(with("schema.json", R"({"type": "nothing"})")),
              HasSubstr("tiny/schema.json"));
  EXPECT_THAT(load_error(with("_unused.html", "<p")), HasSubstr("tiny/_unused.html:1:3:"));
  auto files = small_folder();
  files.erase("page.html");
  EXPECT_EQ(load_error(files), "tiny/page.html is missing");
}

TEST(TemplateFolder, FontsAreEmbedded) {
  auto files = with("style.css", "@font-face { font-family: X; src: {% font \"x.woff2\" %}; }");
  files["x.woff2"] = "wOF2data";
  const auto loaded = Template::load("tiny", files);
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  const auto html = render(*loaded, loaded->sample());
  EXPECT_THAT(html->html,
              HasSubstr("src: url(\"data:font/woff2;base64,d09GMmRhdGE=\") format(\"woff2\");"));
  files["x.woff2"] = "<html>";
  EXPECT_THAT(load_error(files), HasSubstr("does not begin as a woff2 font does"));
}

TEST(TemplateFolder, TheHashIsOfEveryByte) {
  const auto hash = [](const TemplateFiles& files) {
    return Template::load("tiny", files)->info().content_hash;
  };
  EXPECT_EQ(hash(small_folder()), hash(small_folder()));
  EXPECT_NE(hash(small_folder()), hash(with("style.css", "h1 { color: #124; }\n")));
  EXPECT_NE(hash(small_folder()), hash(with("_more.html", "")));
}

TEST(Render, DataIsCheckedAndFilledIn) {
  const auto tiny = Template::load("tiny", small_folder());
  const auto html = render(*tiny, json_of(R"({"title": "A </title><script>"})"));
  ASSERT_TRUE(html.has_value());
  EXPECT_THAT(html->html, HasSubstr("<p>7</p>"));
  EXPECT_THAT(html->html, HasSubstr("<title>A &lt;/title&gt;&lt;script&gt;</title>"));
  EXPECT_THAT(html->html, HasSubstr("default-src 'none'"));
  EXPECT_EQ(html->metadata.title, "A </title><script>");
  const auto refused = render(*tiny, json_of(R"({"title": 1, "count": "x"})"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, ErrorKind::invalid_argument);
  EXPECT_THAT(refused.error().message, HasSubstr("data for template tiny: /title must be"));
  EXPECT_THAT(refused.error().message, HasSubstr("(type)"));
  EXPECT_EQ(tiny->check(json_of(R"({"title": 1})")).front().instance_path, "/title");
}

TEST(Render, OptionsOfExports) {
  const auto tiny = Template::load("tiny", small_folder());
  const auto options = read_render_options(
      *json_of(
           R"({"pageSize": "Legal", "margins": {"top": 0.5}, "colorMode": "grayscale", "quality": "draft", "language": "ar", "templateSlug": "x"})")
           .if_object());
  ASSERT_TRUE(options.has_value());
  const auto html = render(*tiny, tiny->sample(), *options);
  EXPECT_THAT(html->html, HasSubstr("@page { size: legal; margin: 0.5in 1in 1in 1in; }"));
  EXPECT_THAT(html->html,
              HasSubstr("<html lang=\"ar\" dir=\"rtl\" class=\"paper-Legal grayscale draft\">"));
  const auto error = [](std::string_view text) {
    return read_render_options(*json_of(text).if_object()).error().message;
  };
  EXPECT_EQ(error(R"({"pageSize": "A3"})"), "/pageSize must be A4, Letter or Legal");
  EXPECT_EQ(error(R"({"margins": {"left": 3}})"), "/margins/left must be a number from 0 to 2");
  EXPECT_EQ(error(R"({"language": "\" onload"})"),
            "/language must be a language tag such as de or en-GB");
}

TEST(Render, ContentsShowThePagesOfAnchors) {
  const auto report = shipped().find("report");
  ASSERT_TRUE(report.has_value());
  const auto html = render(*report, report->sample(), {.anchor_pages = {{"section-2", 1234}}});
  EXPECT_THAT(html->html, HasSubstr("<span>1234</span></a>"));
}

// Hundreds of lines, and names in every script, through the templates that ship.
TEST(Render, LongAndForeignData) {
  const auto invoice = shipped().find("invoice");
  auto data = invoice->sample();
  auto& lines = data.as_object()["lines"].as_array();
  const auto first = lines.front();
  while (lines.size() < 1500) lines.push_back(first);
  const auto html = render(*invoice, data);
  ASSERT_TRUE(html.has_value()) << html.error().message;
  EXPECT_THAT(html->html, HasSubstr("<td class=\"position\">1500</td>"));
  const auto minimal = shipped().find("minimal");
  for (const std::string_view name :
       {"山田 太郎", "ليلى الحداد", "חנה לוי", "Đặng Thị Hà", "Ольга Żółć"}) {
    const auto page = render(*minimal, json::Object{{"profile", json::Object{{"name", name}}}});
    ASSERT_TRUE(page.has_value()) << page.error().message;
    EXPECT_THAT(page->html, HasSubstr("<h1><bdi>" + std::string(name) + "</bdi></h1>"));
    EXPECT_EQ(page->metadata.author, name);
  }
}

// What a schema does not require may be missing: no separator and no word stands for it alone.
TEST(Render, WhatIsMissingLeavesNothingBehind) {
  for (const std::string_view name : {"minimal", "modern"}) {
    const auto page = shipped().find(name);
    const auto dates = [&](std::string_view job) {
      const auto html = render(
          *page,
          json_of(fmt::format(R"({{"profile": {{"name": "A"}}, "experience": [{}]}})", job)));
      EXPECT_TRUE(html.has_value());
      const std::string_view when = "<p class=\"when\">";
      const auto from = html ? html->html.find(when) : std::string::npos;
      if (from == std::string::npos) return std::string();
      const auto begin = from + when.size();
      return html->html.substr(begin, html->html.find("</p>", begin) - begin);
    };
    EXPECT_EQ(dates(R"({"position": "p"})"), "") << name;
    EXPECT_EQ(dates(R"({"position": "p", "start": "2020-02"})"), "Feb 2020 – Present") << name;
    EXPECT_EQ(dates(R"({"position": "p", "end": "2021-03"})"), "Mar 2021") << name;
    EXPECT_EQ(dates(R"({"position": "p", "start": "2020-02", "end": "2021-03"})"),
              "Feb 2020 – Mar 2021")
        << name;
  }
  const auto report = shipped().find("report");
  const auto printed = [&](std::string_view more) {
    const auto html =
        render(*report,
               json_of(fmt::format(R"({{"title": "t", "sections": [{{"title": "s"}}]{}}})", more)));
    EXPECT_TRUE(html.has_value());
    return html ? html->html : std::string();
  };
  EXPECT_THAT(printed(R"(, "version": "1.2")"), HasSubstr("<p class=\"imprint\">1.2</p>"));
  EXPECT_THAT(printed(R"(, "date": "2026-03-04", "version": "1.2")"),
              HasSubstr("<p class=\"imprint\">March 4, 2026 · 1.2</p>"));
  // A section is in the contents where it is printed.
  for (const auto* more :
       {"", R"(, "summary": "x")", R"(, "figures": [{"value": "1", "label": "l"}])"}) {
    const auto html = printed(more);
    EXPECT_EQ(html.contains("id=\"summary\""), html.contains("href=\"#summary\"")) << more;
    EXPECT_EQ(html.contains("id=\"summary\""), *more != '\0') << more;
  }
}

// What an invoice prints adds up, in currencies without two decimals as well.
TEST(Render, InvoicesAreSummedWithTheDecimalsThatTheyPrint) {
  const auto invoice = shipped().find("invoice");
  ASSERT_TRUE(invoice.has_value());
  const auto with_lines = [&](std::string_view currency, std::string_view lines) {
    auto data = invoice->sample().as_object();
    data["language"] = "en";
    data["currency"] = currency;
    data["lines"] = json_of(lines);
    return data;
  };
  const auto sums = [&](const json::Object& data) {
    const auto html = render(*invoice, data);
    EXPECT_TRUE(html.has_value());
    return html ? html->html.substr(html->html.find("<div class=\"sums\">")) : std::string();
  };
  const auto yen = sums(with_lines("JPY", R"([
      {"description": "a", "unit_price": 105, "tax_percent": 8},
      {"description": "b", "unit_price": 104, "tax_percent": 10}])"));
  for (const auto* amount : {">¥209<", ">¥8<", ">¥10<", ">¥227<"}) {
    EXPECT_THAT(yen, HasSubstr(amount));
  }
  auto data = with_lines("KWD", R"([{"description": "a", "unit_price": 1.234, "tax_percent": 5}])");
  for (const auto* amount : {">KWD\u00A01.234<", ">KWD\u00A00.062<", ">KWD\u00A01.296<"}) {
    EXPECT_THAT(sums(data), HasSubstr(amount));
  }
  data["decimals"] = 2;
  for (const auto* amount : {">KWD\u00A01.23<", ">KWD\u00A00.06<", ">KWD\u00A01.29<"}) {
    EXPECT_THAT(sums(data), HasSubstr(amount));
  }
}

TEST(TemplateStore, HasWhatShips) {
  for (const auto& problem : shipped().problems()) ADD_FAILURE() << problem.message;
  std::vector<std::string> names;
  for (const auto& info : shipped().list()) names.push_back(info.name);
  EXPECT_THAT(names, testing::IsSupersetOf({"invoice", "letter", "minimal", "modern", "report"}));
  EXPECT_EQ(shipped().find(kDefaultTemplate)->info().kind, "resume");
  EXPECT_THAT(shipped().find("none").error().message,
              HasSubstr("there is no template \"none\"; there are: invoice, letter"));
}

TEST(TemplateStore, AFolderOnDiskReplacesWhatShips) {
  const auto root = std::filesystem::path(testing::TempDir()) / "template_store_test";
  std::filesystem::remove_all(root);
  std::filesystem::create_directories(root / "broken");
  std::filesystem::create_directories(root / "minimal");
  ASSERT_TRUE(write_file_atomically(root / "broken" / "template.toml", "name = \n").has_value());
  for (auto [name, text] : small_folder()) {
    if (name == "template.toml") text.replace(text.find("tiny"), 4, "minimal");
    ASSERT_TRUE(write_file_atomically(root / "minimal" / name, text).has_value());
  }
  const auto store = TemplateStore::load({root});
  ASSERT_TRUE(store.has_value());
  EXPECT_EQ(store->find("minimal")->info().title, "Tiny");
  ASSERT_EQ(store->problems().size(), 1U);
  EXPECT_THAT(store->find("broken").error().message, HasSubstr("broken/template.toml:1:"));
  EXPECT_TRUE(store->find("modern").has_value());
  EXPECT_EQ(TemplateStore::load({root / "nowhere"}).error().kind, ErrorKind::unavailable);
  std::filesystem::create_symlink("/etc/hostname", root / "minimal" / "_x.html");
  EXPECT_THAT(TemplateStore::load({root})->find("minimal").error().message,
              HasSubstr("must be a regular file"));
  std::filesystem::remove_all(root);
}

// A name that no document can ask for is told when it is loaded, not when somebody orders it.
TEST(TemplateStore, ANameIsOneThatDocumentsCanHave) {
  const auto root = std::filesystem::path(testing::TempDir()) / "template_names_test";
  std::filesystem::remove_all(root);
  const std::vector<std::string> good{"a", "own-2", std::string(63, 'x')};
  const std::vector<std::string> bad{"1st", "my_own", "Own", "-x", "ä", std::string(64, 'x')};
  for (const auto* names : {&good, &bad}) {
    for (const auto& name : *names) {
      std::filesystem::create_directories(root / name);
      for (auto [file, text] : small_folder()) {
        if (file == "template.toml") text.replace(text.find("tiny"), 4, name);
        ASSERT_TRUE(write_file_atomically(root / name / file, text).has_value());
      }
    }
  }
  const auto store = TemplateStore::load({root});
  ASSERT_TRUE(store.has_value());
  for (const auto& name : good) EXPECT_TRUE(store->find(name).has_value()) << name;
  EXPECT_EQ(store->problems().size(), bad.size());
  for (const auto& name : bad) {
    EXPECT_FALSE(is_template_name(name)) << name;
    const auto found = store->find(name);
    ASSERT_FALSE(found.has_value()) << name;
    EXPECT_EQ(found.error().message,
              name + ": a template's name begins with a-z and has at most 63 of a-z, 0-9 and '-'");
  }
  std::filesystem::remove_all(root);
}

// Written anew with MILLRACE_UPDATE_GOLDEN=1 in the environment.
TEST(Shipped, SamplesRenderAsTheyDid) {
  const bool update = std::getenv("MILLRACE_UPDATE_GOLDEN") != nullptr;  // check:allow a test
  for (const auto& info : shipped().list()) {
    const auto page = shipped().find(info.name);
    const auto html = render(*page, page->sample());
    ASSERT_TRUE(html.has_value()) << html.error().message;
    EXPECT_TRUE(html->warnings.empty()) << html->warnings.front();
    EXPECT_EQ(html->html, render(*page, page->sample())->html);
    const auto golden = kSource / "tests/golden/templates" / (info.name + ".html");
    if (update) {
      ASSERT_TRUE(write_file_atomically(golden, html->html).has_value());
    }
    EXPECT_EQ(html->html, read_file(golden).value_or(""))
        << info.name << ": look at it, then update the golden file";
  }
}

// Puts the same text into every text of a value.
json::Value filled_with(const json::Value& value, std::string_view text) {
  if (const auto* object = value.if_object()) {
    json::Object out;
    for (const auto& member : *object) out[member.key()] = filled_with(member.value(), text);
    return out;
  }
  if (const auto* array = value.if_array()) {
    json::Array out;
    for (const auto& item : *array) out.push_back(filled_with(item, text));
    return out;
  }
  return value.is_string() ? json::Value(text) : value;
}

TEST(Shipped, HostileTextsStayTexts) {
  for (const std::string_view hostile :
       {"<script>x</script>", "</style><script>x", "\"><img src=x onerror=y>", "javascript:x"}) {
    for (const auto& info : shipped().list()) {
      const auto page = shipped().find(info.name);
      auto data = filled_with(page->sample(), hostile);
      // Members whose form the schema demands keep it.
      auto& object = data.as_object();
      object.erase("language");
      for (const auto* kept : {"currency", "date", "due"}) {
        const auto* own = page->sample().as_object().if_contains(kept);
        if (own != nullptr) object[kept] = *own;
      }
      if (info.name == "report")
        object["sections"] = json_of(R"([{"title": "t", "body": "<script>x</script>"}])");
      const auto html = render(*page, data);
      ASSERT_TRUE(html.has_value()) << html.error().message;
      EXPECT_THAT(html->html, Not(HasSubstr("<script")));
      EXPECT_THAT(html->html, Not(HasSubstr("<img src=x")));
      EXPECT_THAT(html->html, Not(HasSubstr("href=\"javascript:")));
    }
  }
}

}  // namespace
}  // namespace millrace::templates
