// What an order asks of template and renderer, and what failures mean (X-24,
//
#include "pipeline/export/export_request.h"

#include "pipeline/export/export_outcome.h"

#include <boost/json/object.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::pipeline {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

store::ExportWork work(json::Object options = {}) {
  store::ExportWork work;
  work.document =
      store::ExportedDocument{.id = {}, .version = 3, .title = "My CV", .template_slug = "modern"};
  work.options = std::move(options);
  return work;
}

templates::Html html() {
  templates::Html html;
  html.html = "<p>x</p>";
  html.page_size = templates::PageSize::letter;
  html.metadata = {
      .title = "of the template", .author = "Ada", .subject = "Résumé", .keywords = {"a", "b"}};
  return html;
}

TEST(ExportRequest, DefaultsAreThoseOfTheSource) {
  const auto choice = page_choice({});
  ASSERT_TRUE(choice);
  const auto request = render_request(work(), html(), *choice, {});
  EXPECT_EQ(request.options.page_size, render::PageSize::Letter);
  EXPECT_EQ(request.options.margins.top, 1);
  EXPECT_EQ(request.options.margins.left, 1);
  EXPECT_EQ(request.options.quality, render::Quality::normal);
  EXPECT_EQ(request.options.color_mode, render::ColorMode::color);
  EXPECT_FALSE(request.options.scripts);
  EXPECT_EQ(request.timeout, std::chrono::seconds(8));
  EXPECT_FALSE(request.preview_width_px);
}

TEST(ExportRequest, OptionsReachTemplateAndRenderer) {
  const auto choice = page_choice(json::Object{{"pageSize", "A4"},
                                               {"quality", "draft"},
                                               {"colorMode", "grayscale"},
                                               {"margins", json::Object{{"top", 0.5}}},
                                               {"language", "de"}});
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->language, "de");
  auto page = html();
  page.page_size = *choice->page_size;
  page.bleed = true;
  const auto request = render_request(work(), page, *choice, {.preview_width_px = 300});
  EXPECT_TRUE(request.options.bleed);
  EXPECT_EQ(request.options.page_size, render::PageSize::A4);
  EXPECT_EQ(request.options.quality, render::Quality::draft);
  EXPECT_EQ(request.options.color_mode, render::ColorMode::grayscale);
  EXPECT_EQ(request.options.margins.top, 0.5);
  EXPECT_EQ(request.options.margins.bottom, 1);
  EXPECT_FALSE(request.preview_width_px) << "nobody asked for a picture";
  auto pictured = work();
  pictured.options["preview"] = true;
  EXPECT_EQ(render_request(pictured, page, *choice, {.preview_width_px = 300}).preview_width_px,
            300U);
  EXPECT_FALSE(render_request(pictured, page, *choice, {}).preview_width_px);
  EXPECT_FALSE(page_choice(json::Object{{"pageSize", "A5"}}));
}

TEST(ExportRequest, TheOrdersTemplateComesBeforeTheDocuments) {
  EXPECT_EQ(template_of(work()), "modern");
  EXPECT_EQ(template_of(work(json::Object{{"templateSlug", "letter"}})), "letter");
}

TEST(ExportRequest, ThePdfSaysWhoseItIs) {
  auto one = work();
  const auto choice = page_choice({});
  auto metadata = render_request(one, html(), *choice, {}).metadata;
  EXPECT_EQ(metadata.title, "My CV");
  EXPECT_EQ(metadata.author, "Ada");
  EXPECT_EQ(metadata.subject, "Résumé");
  EXPECT_EQ(metadata.creator, "ResumePair");
  EXPECT_THAT(metadata.keywords, IsEmpty()) << "whatever the template has of them";
  one.author = "Ada Lovelace";
  auto bare = html();
  bare.metadata = {};
  metadata = render_request(one, bare, *choice, {}).metadata;
  EXPECT_EQ(metadata.author, "Ada Lovelace");
  EXPECT_EQ(metadata.subject, "Resume");
  EXPECT_THAT(metadata.keywords, IsEmpty());
}

TEST(ExportRequest, FileNamesAreTheTitlesAndHarmless) {  // X-08, J05
  EXPECT_EQ(file_name_of("My CV"), "My CV.pdf");
  EXPECT_EQ(file_name_of("Lebenslauf für Ärzte"), "Lebenslauf für Ärzte.pdf");
  EXPECT_EQ(file_name_of("../../etc/passwd"), "_.._etc_passwd.pdf");
  EXPECT_EQ(file_name_of("a\r\nb\"c"), "a__b_c.pdf");
  EXPECT_EQ(file_name_of(" .. "), "export.pdf");
  EXPECT_EQ(file_name_of(""), "export.pdf");
  std::string clefs;
  for (int i = 0; i < 100; ++i) clefs += "𝄞";
  const auto cut = file_name_of(clefs);
  EXPECT_EQ(cut.size(), 204U);
  EXPECT_TRUE(cut.ends_with("𝄞.pdf"));
}

Error render_error(std::string_view detail, ErrorKind kind = ErrorKind::unavailable) {
  return {.kind = kind, .message = "it took long", .hint = "less", .detail = std::string(detail)};
}

TEST(ExportOutcome, SaysWhatEachFailureMeans) {
  using Kind = Outcome::Kind;
  const auto slow = failed_render(render_error(render::fault::kTimedOut));
  EXPECT_EQ(slow.kind, Kind::retry);
  EXPECT_FALSE(slow.crash);
  EXPECT_FALSE(slow.retry_after) << "the pauses of the queue";
  EXPECT_THAT(slow.error_json, HasSubstr("it took long; less"));
  for (const auto fault :
       {render::fault::kCrashed, render::fault::kMemory, render::fault::kFlooded}) {
    const auto crashed = failed_render(render_error(fault));
    EXPECT_EQ(crashed.kind, Kind::retry) << fault;
    EXPECT_TRUE(crashed.crash) << fault << ": poison after the third";
  }
  for (const auto fault : {render::fault::kTooLarge, render::fault::kNavigated}) {
    EXPECT_EQ(failed_render(render_error(fault, ErrorKind::invalid_argument)).kind,
              Kind::permanent);
  }
  const auto elsewhere = failed_render({.kind = ErrorKind::unavailable,
                                        .message = "no browser: the disk is full",
                                        .detail = std::string(render::fault::kNoBrowser)});
  EXPECT_EQ(elsewhere.kind, Kind::throttled) << "uncharged";
  EXPECT_EQ(elsewhere.retry_after, kElsewhere);
  EXPECT_THAT(elsewhere.error_json, HasSubstr("no browser: the disk is full"));
  EXPECT_EQ(failed_render({.kind = ErrorKind::unavailable, .message = "stopped"}).kind,
            Kind::throttled)
      << "our own surroundings cost no attempt";
  EXPECT_EQ(failed_render({.kind = ErrorKind::throttled, .message = "line"}).kind, Kind::throttled);
  EXPECT_EQ(failed_render({.kind = ErrorKind::cancelled, .message = "user"}).kind, Kind::cancelled);
}

TEST(ExportOutcome, OverQuotaIsSaidWithNumbers) {
  const auto outcome = over_quota({.used_mb = 99.5, .limit_mb = 100}, 2'621'440);
  EXPECT_EQ(outcome.kind, Outcome::Kind::permanent);
  EXPECT_THAT(outcome.error_json,
              HasSubstr("Storage quota exceeded (99.50MB / 100MB). Delete old exports to continue. "
                        "This file has 2.50MB."));
}

}  // namespace
}  // namespace millrace::pipeline
