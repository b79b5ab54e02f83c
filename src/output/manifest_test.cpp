#include "output/manifest.h"

#include "output/samples.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::output {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string digest(char c) { return std::string(64, c); }

Manifest sample() {
  Manifest out{.document_id = "doc-1",
               .generator = "millrace@1.2.3",
               .run = 2,
               .started_at = *parse_instant("2026-11-16T11:59:59.000Z"),
               .created_at = *parse_instant("2026-11-16T12:00:05.000Z"),
               .state = "partial"};
  out.inputs = {letter_info().source};
  out.pipeline = {.name = "guardian", .version = "4", .sha256 = digest('b')};
  out.stages = {{.name = "fast_queue_ocr",
                 .engine = "tesseract@5.3",
                 .schema = "read/1",
                 .pages_done = 1,
                 .pages_failed = 1,
                 .started_at = parse_instant("2026-11-16T12:00:00.000Z"),
                 .ended_at = parse_instant("2026-11-16T12:00:01.500Z")},
                {.name = "ai_queue_pass2",
                 .engine = "llm@1",
                 .provider = "openai",
                 .model = "m-1",
                 .schema = "clinical.extract/1",
                 .prompt_sha256 = digest('c'),
                 .input_sha256 = digest('d'),
                 .output_sha256 = digest('e'),
                 .tokens_in = 1200,
                 .tokens_out = 300,
                 .cost_micros = 450}};
  out.pages = {{.page = 1,
                .content_sha256 = digest('1'),
                .source = PageSource::ocr,
                .engine = "tesseract@5.3",
                .confidence = 0.93,
                .results = {{.stage = "fast_queue_ocr", .sha256 = digest('2')},
                            {.stage = "ai_queue_pass2",
                             .sha256 = digest('3'),
                             .input_sha256 = digest('2')}}},
               {.page = 2, .content_sha256 = digest('4')}};
  out.artifacts = {{.name = "facts.json",
                    .kind = "facts",
                    .mime = "application/json",
                    .sha256 = digest('5'),
                    .size_bytes = 900}};
  out.pictures = ManifestPictures{.name = "page-{page}.png",
                                  .mime = "image/png",
                                  .generator = "millrace@1.2.3",
                                  .width_px_max = 1600,
                                  .stages = {"fast_queue_ocr"}};
  out.findings = {{.stage = "ai_queue_pass2",
                   .severity = "review",
                   .rule = "unit_unknown",
                   .path = "facts[1].value.dose",
                   .page = 1}};
  return out;
}

RecomputedDigests contents() {
  return {.inputs = {{"letter.pdf", {.sha256 = digest('a'), .size_bytes = 48213}}},
          .artifacts = {{"facts.json", {.sha256 = digest('5'), .size_bytes = 900}}},
          .results = {{{1, "fast_queue_ocr"}, digest('2')}, {{1, "ai_queue_pass2"}, digest('3')}}};
}

TEST(Manifest, IsReadBackAsWritten) {
  const auto read = parse_manifest(manifest_json(sample()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, sample());
}

TEST(Manifest, SaysHowPicturesAreDrawnThatAreNotThereYet) {
  EXPECT_THAT(manifest_json(sample()),
              HasSubstr(R"("pictures":{"generator":"millrace@1.2.3","made":"when asked for",)"
                        R"("mime":"image/png","name":"page-{page}.png",)"
                        R"("stages":["fast_queue_ocr"],"width_px_max":1600})"));
  auto without = sample();
  without.pictures.reset();
  EXPECT_THAT(manifest_json(without), HasSubstr(R"("pictures":null)"));
  const auto read = parse_manifest(manifest_json(without));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, without);
}

TEST(Manifest, WithoutWhatItDidNotSayAtFirstIsReadAllTheSame) {
  auto json = manifest_to_json(sample()).as_object();
  for (const auto* name : {"run", "started_at", "pictures"}) json.erase(name);
  const auto read = manifest_from_json(json);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->run, 1U);
  EXPECT_EQ(read->started_at, sample().created_at);
  EXPECT_FALSE(read->pictures);
}

TEST(Manifest, HasTheSameBytesForTheSameRun) {
  const auto text = manifest_json(sample());
  EXPECT_EQ(text, manifest_json(parse_manifest(text).value()));
  EXPECT_THAT(text, testing::StartsWith(R"({"artifacts":[{"kind":"facts",)"));
  EXPECT_THAT(text, HasSubstr(R"("schema":"manifest/1")"));
  EXPECT_THAT(text, HasSubstr(R"("tokens_in":1200)"));
}

TEST(Manifest, HoldsForTheContentsItWasWrittenFor) {
  EXPECT_TRUE(verify_manifest(sample(), contents()));
  auto without_results = contents();
  without_results.results.clear();
  EXPECT_TRUE(verify_manifest(sample(), without_results));
}

TEST(Manifest, NamesEveryContentThatDiffers) {
  auto changed = contents();
  changed.inputs["letter.pdf"].sha256 = digest('f');
  changed.artifacts["facts.json"].size_bytes = 901;
  changed.artifacts["other.txt"] = {};
  changed.results[{1, "ai_queue_pass2"}] = digest('f');
  changed.results[{9, "ai_queue_pass2"}] = digest('f');
  changed.results.erase({1, "fast_queue_ocr"});
  EXPECT_THAT(manifest_differences(sample(), changed),
              ElementsAre("inputs[0].sha256 differs from the content",
                          "artifacts[0].size_bytes differs from the content",
                          "artifacts lacks 1 of the contents", "pages[0].results[0] has no content",
                          "pages[0].results[1].sha256 differs from the content",
                          "pages lacks 1 of the results"));
  const auto verdict = verify_manifest(sample(), changed);
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().kind, ErrorKind::conflict);
  EXPECT_EQ(verdict.error().message, "inputs[0].sha256 differs from the content (and 5 more)");
  EXPECT_FALSE(verify_manifest(sample(), {}));
}

struct Wrong {
  std::string rule;
  std::function<void(Manifest&)> change;
};

TEST(Manifest, RefusesWhatDoesNotFitTogether) {
  const std::vector<Wrong> wrongs = {
      {"document_id must not be empty", [](Manifest& m) { m.document_id.clear(); }},
      {"inputs must have one at least", [](Manifest& m) { m.inputs.clear(); }},
      {"inputs[0].sha256 must be a SHA-256", [](Manifest& m) { m.inputs[0].sha256 = "AA"; }},
      {"inputs[1].file_name is there twice", [](Manifest& m) { m.inputs.push_back(m.inputs[0]); }},
      {"pipeline.sha256 must be a SHA-256", [](Manifest& m) { m.pipeline.sha256 = ""; }},
      {"stages[1].name is there twice", [](Manifest& m) { m.stages[1].name = m.stages[0].name; }},
      {"stages[1].prompt_sha256 must be", [](Manifest& m) { m.stages[1].prompt_sha256 = "x"; }},
      {"stages[0].ended_at must not be before",
       [](Manifest& m) { m.stages[0].ended_at = parse_instant("2026-11-16T11:00:00.000Z"); }},
      {"created_at must not be before started_at",
       [](Manifest& m) { m.created_at = *parse_instant("2026-11-16T11:00:00.000Z"); }},
      {"pictures.stages[0] is none of the stages",
       [](Manifest& m) { m.pictures->stages[0] = "x"; }},
      {"pages[1].page must be after", [](Manifest& m) { m.pages[1].page = 1; }},
      {"pages[0].results[0].stage is none", [](Manifest& m) { m.pages[0].results[0].stage = "x"; }},
      {"pages[0].results[1].stage is there twice",
       [](Manifest& m) { m.pages[0].results[1].stage = "fast_queue_ocr"; }},
      {"artifacts[0].name must not be empty", [](Manifest& m) { m.artifacts[0].name.clear(); }},
      {"artifacts[0].sha256 must be", [](Manifest& m) { m.artifacts[0].sha256 = digest('G'); }},
  };
  for (const auto& wrong : wrongs) {
    auto manifest = sample();
    wrong.change(manifest);
    const auto read = manifest_from_json(manifest_to_json(manifest));
    ASSERT_FALSE(read) << wrong.rule;
    EXPECT_EQ(read.error().kind, ErrorKind::invalid_argument);
    EXPECT_THAT(read.error().message, HasSubstr(wrong.rule));
  }
}

TEST(Manifest, RefusesOtherForms) {
  auto json = manifest_to_json(sample()).as_object();
  json["schema"] = "manifest/2";
  EXPECT_THAT(manifest_from_json(json).error().message, HasSubstr("schema must be manifest/1"));
  json = manifest_to_json(sample()).as_object();
  json["extra"] = 1;
  EXPECT_FALSE(manifest_from_json(json));
  json = manifest_to_json(sample()).as_object();
  json["stages"].as_array()[1].as_object()["tokens_in"] = 1.5;
  EXPECT_THAT(manifest_from_json(json).error().message,
              HasSubstr("stages[1].tokens_in must be a whole number"));
  json = manifest_to_json(sample()).as_object();
  json["pages"].as_array()[0].as_object()["source"] = "guess";
  EXPECT_THAT(manifest_from_json(json).error().message,
              HasSubstr("pages[0].source must be none, text or ocr"));
  EXPECT_FALSE(parse_manifest(manifest_json(sample()), {.bytes_max = 100}));
  EXPECT_FALSE(parse_manifest(manifest_json(sample()), {.pages_max = 1}));
}

}  // namespace
}  // namespace millrace::output
