// The pipeline commands as a person runs them: no database, no configuration.
#include "base/file.h"
#include "program.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kGood =
    "name = \"labels\"\nversion = \"1.2.0\"\n[[stage]]\nname = \"scan\"\nrun = "
    "\"scan\"\n[[stage]]\nname = "
    "\"label\"\nrun = \"exec:./label.py\"\neach = \"page\"\n";

class PipelineCli : public ::testing::Test {
 protected:
  TempFolder folder_;
};

TEST_F(PipelineCli, CheckTellsAllProblemsByLineAndCounts) {
  const auto file =
      folder_.write("bad.toml",
                    "name = \"bad\"\nversion = \"1.0.0\"\n[[stage]]\nname = \"scan\"\nrun = "
                    "\"scan\"\ntimeout = 90\nqueu = \"x\"\n");
  const auto result = run_millrace({"pipeline", "check", file.string()});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(
      result.err,
      file.string() + ":6:1: stage \"scan\": timeout must be a duration like \"90s\" (got 90)\n" +
          file.string() + ":7:1: stage \"scan\": unknown key \"queu\"; did you mean queue?\n" +
          "2 problems\n");
  EXPECT_EQ(result.out, "");
  const auto json = run_millrace({"pipeline", "check", file.string(), "--json"});
  EXPECT_EQ(json.code, 1);
  EXPECT_EQ(json.json().at("problems").as_array().size(), 2U);
}

TEST_F(PipelineCli, CheckAcceptsFilesAndFolders) {
  const auto file = folder_.write("labels.toml", kGood);
  const auto one = run_millrace({"pipeline", "check", file.string()});
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_THAT(one.out, HasSubstr("labels.toml: labels 1.2.0, 2 stages, "));
  const auto all = run_millrace({"pipeline", "check", folder_.path().string()});
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_THAT(all.out, HasSubstr("built-in guardian.toml: guardian"));
  folder_.write("other.toml", kGood + "timeout = \"5m\"\n");
  const auto twice = run_millrace({"pipeline", "check", folder_.path().string()});
  EXPECT_EQ(twice.code, 1);
  EXPECT_THAT(twice.err, HasSubstr("a change needs a new version"));
  EXPECT_EQ(run_millrace({"pipeline", "check", (folder_.path() / "gone.toml").string()}).code, 1);
}

TEST_F(PipelineCli, FilesOfTheSettingAreShownBesideTheBuiltInOnes) {
  folder_.write("labels.toml", kGood);
  const RunOptions options{.env = {{"MILLRACE_PIPELINE_DIR", folder_.path().string()}}};
  const auto list = run_millrace({"pipeline", "show", "--json"}, options).json().as_array();
  std::vector<std::string> names;
  for (const auto& row : list) names.emplace_back(row.at("name").as_string());
  EXPECT_THAT(names, ElementsAre("export", "guardian", "ingest", "labels"));
  const auto table = run_millrace({"pipeline", "show", "labels"}, options);
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("exec:./label.py"));
  const auto form = run_millrace({"pipeline", "show", "labels@1.2.0", "--json"}, options).json();
  EXPECT_EQ(form.at("schema").as_string(), "pipeline/1");
  EXPECT_EQ(form.at("hash").as_string().size(), 64U);
}

TEST_F(PipelineCli, UnknownNamesAreNotFoundAndBadFilesRefused) {
  const auto unknown = run_millrace({"pipeline", "show", "gardian"});
  EXPECT_EQ(unknown.code, 3);
  EXPECT_EQ(unknown.error_lines(), 1U);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean 'guardian'?"));
  const auto file = folder_.write("bad.toml", "name = \"bad\"\n");
  const auto bad = run_millrace({"pipeline", "graph", file.string()});
  EXPECT_EQ(bad.code, 2);
  EXPECT_EQ(bad.error_lines(), 1U);
  EXPECT_THAT(bad.err, HasSubstr("bad.toml:1:1: "));
  EXPECT_EQ(run_millrace({"pipeline", "graph", "--format", "png"}).code, 2);
}

TEST_F(PipelineCli, GraphDrawsForTheTerminalAndIntoAFile) {
  const auto text = run_millrace({"pipeline", "graph"});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("when all pages have ended"));
  const auto out = folder_.path() / "guardian.svg";
  const auto svg =
      run_millrace({"pipeline", "graph", "guardian", "--format", "svg", "--out", out.string()});
  EXPECT_EQ(svg.code, 0) << svg.err;
  EXPECT_EQ(svg.out, "");
  const auto written = read_file(out);
  ASSERT_TRUE(written);
  EXPECT_THAT(*written, StartsWith("<svg"));
  EXPECT_THAT(run_millrace({"pipeline", "graph", "--format", "dot"}).out,
              StartsWith("digraph \"guardian\""));
}

}  // namespace
}  // namespace millrace::test
