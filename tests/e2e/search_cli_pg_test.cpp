// From a file to an answer, by the real program alone: a document is added and ingested, a question
// is asked on the terminal and over HTTP, and the bytes that an answer cites are those of the text.
#include "program.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::test {
namespace {

using ::testing::HasSubstr;

constexpr const char* kGet = R"(
import sys, urllib.request
request = urllib.request.Request(sys.argv[1], headers={"Authorization": "Bearer " + sys.argv[2]})
sys.stdout.buffer.write(urllib.request.urlopen(request).read())
)";

constexpr const char* kMill = R"(# The mill at Sülzbach

## Wheel

The wheel has twelve paddles of oak. Größe: four metres.

## Sluice

The miller opens the sluice at dawn and closes it at nightfall, because the trout need water.
)";

class SearchCli : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto ready = folder_.path() / "ready.json";
    program_ = std::make_unique<BackgroundProgram>(
        std::vector<std::string>{"up", "--ready-file", ready.string()}, here());
    url_ = program_->wait_for_ready(ready).at("http_url").as_string();
    const auto token = run({"token", "create", "--role", "service_role"});
    ASSERT_EQ(token.code, 0) << token.err;
    token_ = token.out.substr(0, token.out.find('\n'));
  }
  void TearDown() override {
    program_->signal(SIGTERM);
    EXPECT_EQ(program_->wait(), 0) << program_->err();
  }
  RunOptions here() const { return {.env = {}, .stdin_text = {}, .cwd = folder_.path()}; }
  RunResult run(const std::vector<std::string>& arguments) const {
    return run_millrace(arguments, here());
  }
  std::string get(const std::string& path) const {
    const auto done = run_command({"python3", "-c", kGet, url_ + path, token_}, here());
    EXPECT_EQ(done.code, 0) << done.err;
    return done.out;
  }
  // Of the passage, and of the chunk around it: what is told is what stands there.
  void expect_cited(const json::Object& found) const {
    const auto id = std::string(found.at("document_id").as_string());
    const auto text = get("/api/v1/documents/" + id + "/outputs/markdown");
    const auto cited = [&](const json::Object& one) {
      const auto from = one.at("start_byte").to_number<std::size_t>();
      const auto to = one.at("end_byte").to_number<std::size_t>();
      EXPECT_LE(to, text.size());
      return text.substr(from, to - from);
    };
    EXPECT_EQ(cited(found), found.at("text").as_string());
    const auto& passage = found.at("passage").as_object();
    EXPECT_EQ(cited(passage), passage.at("text").as_string());
    EXPECT_FALSE(passage.at("text").as_string().empty());
  }

  TempFolder folder_;
  std::unique_ptr<BackgroundProgram> program_;
  std::string url_;
  std::string token_;
};

TEST_F(SearchCli, TheBytesThatAnAnswerCitesAreThoseOfTheText) {
  const auto mill = folder_.write("mill.md", kMill).string();
  const auto other =
      folder_.write("bread.md", "# Bread\n\nFlour, water and salt are kneaded for an hour.\n")
          .string();
  const auto added =
      run({"documents", "add", mill, other, "--pipeline", "ingest", "--wait", "--timeout", "50s"});
  ASSERT_EQ(added.code, 0) << added.err << added.out << program_->err();

  const auto told = run({"search", "when", "is", "the", "sluice", "closed", "--json"});
  ASSERT_EQ(told.code, 0) << told.err;
  const auto by_cli = told.json().as_object();
  ASSERT_FALSE(by_cli.at("passages").as_array().empty()) << told.out;
  const auto& first = by_cli.at("passages").as_array().at(0).as_object();
  EXPECT_EQ(first.at("document_name").as_string(), "mill.md");
  EXPECT_THAT(std::string(first.at("text").as_string()), HasSubstr("closes it at nightfall"));
  for (const auto& one : by_cli.at("passages").as_array()) expect_cited(one.as_object());

  const auto shown = run({"search", "when", "is", "the", "sluice", "closed"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("mill.md"));

  const auto by_http =
      *parse_json(get("/api/v1/search?limit=5&query=when%20is%20the%20sluice%20closed"));
  const auto& passages = by_http.at("passages").as_array();
  ASSERT_FALSE(passages.empty());
  for (const auto& one : passages) expect_cited(one.as_object());
  EXPECT_EQ(passages.at(0).at("chunk_id"), first.at("chunk_id")) << "asked either way";
}

}  // namespace
}  // namespace millrace::test
