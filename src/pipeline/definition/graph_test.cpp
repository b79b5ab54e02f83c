// Pictures of pipelines: small ones, character by character.
#include "pipeline/definition/graph.h"

#include "pipeline/definition/graph_layout.h"
#include "pipeline/definition/parse.h"
#include "pipeline/definition/pipeline_set.h"
#include "pipeline/definition/text_canvas.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace millrace::pipeline {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Pipeline parse(const std::string& text) {
  auto checked = parse_pipeline("name = \"p\"\nversion = \"1.0.0\"\n" + text);
  for (const auto& problem : checked.problems) ADD_FAILURE() << problem.text("p.toml");
  return checked.pipeline.value_or(Pipeline{});
}

std::string stage(const std::string& name, const std::string& more) {
  return fmt::format("[[stage]]\nname = \"{}\"\n{}\n", name, more);
}

const std::string kScan = stage("scan", "run = \"scan\"");

TEST(GraphText, ARowOfStagesWithAStackForPages) {
  const auto pipeline =
      parse(stage("scan", "run = \"scan\"\ntitle = \"Security scan\"\nmax_attempts = 7") +
            stage("read", "run = \"ocr\"") + stage("map", "run = \"spatial\""));
  EXPECT_EQ(graph_text(pipeline), R"(┌───────────────────────────┐
│ Security scan             │
│ scan                      │
│ scan                      │
│ default · 2m · 7 attempts │
└─────────────┬─────────────┘
              │
              ▼ one job per page
    ┌───────────────────────────┐
  ┌───────────────────────────┐ │
┌───────────────── × page ──┐ │ │
│ read                      │ │ │
│ ocr · local               │ │─┘
│ default · 2m              │─┘
└─────────────┬─────────────┘
              │
              ▼ when all pages have ended
┌───────────────────────────┐
│ map                       │
│ spatial                   │
│ default · 2m              │
└───────────────────────────┘
)");
}

// A way past a layer, two that join, and one arrow that another implies and that is not drawn.
TEST(GraphText, BranchesJoin) {
  const auto pipeline =
      parse(stage("a", "run = \"exec:a\"") + stage("b", "run = \"exec:b\"") +
            stage("c", "run = \"exec:c\"") + stage("d", "run = \"exec:d\"\nafter = [\"a\"]") +
            stage("e", "run = \"exec:e\"\nafter = [\"c\", \"d\", \"a\"]"));
  EXPECT_EQ(graph_text(pipeline), R"(           ┌───────────────┐
           │ a             │
           │ exec a        │
           │ default · 2m  │
           └───────┬───────┘
                   │
        ┌──────────┴──────────┐
        ▼                     ▼
┌───────────────┐     ┌───────────────┐
│ b             │     │ d             │
│ exec b        │     │ exec d        │
│ default · 2m  │     │ default · 2m  │
└───────┬───────┘     └───────┬───────┘
        │                     │
        └───────┐             │
                ▼             │
        ┌───────────────┐     │
        │ c             │     │
        │ exec c        │     │
        │ default · 2m  │     │
        └───────┬───────┘     │
                │             │
                └──┐          │
                   ├──────────┘
                   ▼
           ┌───────────────┐
           │ e             │
           │ exec e        │
           │ default · 2m  │
           └───────────────┘
)");
}

TEST(GraphText, AsciiOnlyWhereTheTerminalHasNoMore) {
  const auto text =
      graph_text(parse(kScan + stage("read", "run = \"ocr\"\ntitle = \"Lesen für alle\"")),
                 {.unicode = false});
  EXPECT_THAT(text, HasSubstr("+--"));
  EXPECT_THAT(text, HasSubstr(" x page "));
  EXPECT_THAT(text, HasSubstr("v one job per page"));
  EXPECT_TRUE(
      std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
}

TEST(GraphText, NoLineEndsWithABlankAndLongWordsAreCut) {
  const auto pipeline = parse(stage("scan", "run = \"exec:" + std::string(200, 'x') + "\""));
  std::istringstream lines(graph_text(pipeline));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_FALSE(line.ends_with(' ')) << line;
    EXPECT_LE(TextCanvas::width(line), 66U) << line;
  }
  EXPECT_THAT(graph_text(pipeline), HasSubstr("…"));
}

TEST(GraphSvg, IsWholeAndEscaped) {
  const auto svg = graph_svg(parse("description = \"a < b & c\"\n" +
                                   stage("scan", "run = \"scan\"\ntitle = \"<script>&\"") +
                                   stage("read", "run = \"ocr\"\nqueue = \"pages\"")));
  EXPECT_THAT(svg, ::testing::StartsWith("<svg xmlns"));
  EXPECT_THAT(svg, ::testing::EndsWith("</svg>\n"));
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;&amp;"));
  EXPECT_THAT(svg, HasSubstr("a &lt; b &amp; c"));
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
  EXPECT_THAT(svg, HasSubstr("× page"));
  EXPECT_THAT(svg, HasSubstr("one job per page"));
  EXPECT_THAT(svg, HasSubstr(">pages</text>"));
}

TEST(GraphDot, HasAnArrowForEachDirectWay) {
  const auto dot =
      graph_dot(parse(kScan + stage("read", "run = \"ocr\"\ntitle = 'a \"b\" \\ c'") +
                      stage("map", "run = \"spatial\"\nafter = [\"scan\", \"read\"]")));
  EXPECT_THAT(dot, HasSubstr(R"("scan" -> "read" [label="one job per page"];)"));
  EXPECT_THAT(dot, HasSubstr(R"("read" -> "map" [label="when all pages have ended"];)"));
  EXPECT_THAT(dot, Not(HasSubstr("\"scan\" -> \"map\"")));
  EXPECT_THAT(dot, HasSubstr(R"([label="a \"b\" \\ c\nread\nocr · local\n)"));
}

TEST(GraphLayout, EveryStageLiesBelowAllItWaitsFor) {
  for (const auto& pipeline :
       {parse_pipeline(built_in_text("guardian.toml")).pipeline.value_or(Pipeline{}),
        parse(stage("a", "run = \"exec:a\"") + stage("b", "run = \"exec:b\"") +
              stage("c", "run = \"exec:c\"") + stage("d", "run = \"exec:d\"\nafter = [\"a\"]") +
              stage("e", "run = \"exec:e\"\nafter = [\"c\", \"d\"]"))}) {
    const auto layout = lay_out(pipeline);
    std::size_t stages = 0;
    for (const auto& node : layout.nodes) stages += node.stage == nullptr ? 0 : 1;
    EXPECT_EQ(stages, pipeline.stages.size());
    for (const auto& edge : layout.edges) {
      EXPECT_EQ(layout.nodes[edge.from].layer + 1, layout.nodes[edge.to].layer);
    }
  }
}

}  // namespace
}  // namespace millrace::pipeline
