#include "app/cli/command.h"

#include "app/cli/completion.h"
#include "app/context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct CommandLineTest : ::testing::Test {
  CommandLineTest() {
    line.root().flag("--json", json, "JSON");
    auto& jobs = line.root().add("jobs", "Jobs");
    auto& list = jobs.add("list", "List");
    list.option("--limit", "N", limit, "At most");
    list.option("--status", "STATUS", status, "Status").choices({"pending", "failed"});
    list.option("--after", "ID", after, "After");
    list.argument("NAME", names, "Names", false);
    list.action([](Context&) -> Result<int> { return 0; });
    auto& show = jobs.add("show", "Show");
    show.argument("ID", id, "Job");
    show.action([](Context&) -> Result<int> { return 0; });
  }

  Result<CommandLine::Parsed> parse(std::vector<const char*> words) {
    words.insert(words.begin(), "millrace");
    return line.parse(static_cast<int>(words.size()), words.data());
  }
  std::string error_of(std::vector<const char*> words) {
    const auto parsed = parse(std::move(words));
    return parsed ? "accepted" : parsed.error().message;
  }

  CommandLine line{"millrace", "Test"};
  bool json = false;
  std::int64_t limit = 50;
  std::optional<std::string> status;
  std::vector<std::string> after;
  std::vector<std::string> names;
  std::string id;
};

TEST_F(CommandLineTest, ReadsOptionsAndArgumentsOfASubcommand) {
  const auto parsed = parse({"jobs", "list", "--limit", "7", "--after", "a", "x", "--after", "b"});
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->command->path(), "millrace jobs list");
  EXPECT_EQ(limit, 7);
  EXPECT_THAT(after, ElementsAre("a", "b"));
  EXPECT_THAT(names, ElementsAre("x"));
}

TEST_F(CommandLineTest, TakesGlobalOptionsAnywhere) {
  ASSERT_TRUE(parse({"jobs", "list", "--json"}));
  EXPECT_TRUE(json);
}

TEST_F(CommandLineTest, AnArgumentMayBeNamedLikeACommand) {
  ASSERT_TRUE(parse({"jobs", "show", "jobs"}));
  EXPECT_EQ(id, "jobs");
}

TEST_F(CommandLineTest, SaysWhatIsWrongInOneLine) {
  EXPECT_EQ(error_of({"job"}), "unknown command 'job'; did you mean 'jobs'?");
  EXPECT_EQ(error_of({"jobs", "lsit"}), "unknown command 'lsit' of 'jobs'; did you mean 'list'?");
  EXPECT_EQ(error_of({"jobs", "list", "--limt", "5"}),
            "unknown option '--limt' of 'jobs list'; did you mean '--limit'?");
  EXPECT_EQ(error_of({"jobs", "list", "--limit", "five"}), "--limit: 'five' is not a whole number");
  EXPECT_EQ(error_of({"jobs", "list", "--status", "dead"}),
            "--status: 'dead' is not pending or failed");
  EXPECT_EQ(error_of({"jobs", "show"}), "jobs show: ID is required");
  EXPECT_EQ(error_of({"jobs", "show", "a", "b"}), "jobs show: unexpected argument 'b'");
  EXPECT_EQ(error_of({"jobs"}), "jobs: which command? list or show");
}

TEST_F(CommandLineTest, NegativeNumbersAreValues) {
  ASSERT_TRUE(parse({"jobs", "list", "--limit", "-5"}));
  EXPECT_EQ(limit, -5);
}

TEST_F(CommandLineTest, NothingAtAllAsksForHelp) {
  const auto parsed = parse({});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->command, nullptr);
  EXPECT_FALSE(parsed->help_asked);
  EXPECT_THAT(parsed->help, HasSubstr("jobs"));
}

TEST_F(CommandLineTest, HelpOfASubcommandShowsItsOptions) {
  const auto parsed = parse({"jobs", "list", "--help"});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->command, nullptr);
  EXPECT_THAT(parsed->help, HasSubstr("--limit"));
}

TEST_F(CommandLineTest, CompletionKnowsEveryCommandAndOption) {
  for (const auto& script :
       {bash_completion(line.root()), zsh_completion(line.root()), fish_completion(line.root())}) {
    for (const char* word : {"jobs", "list", "show", "limit", "json", "pending"}) {
      EXPECT_THAT(script, HasSubstr(word));
    }
  }
}

TEST(NearestTest, FindsTheMeantWordOrNothing) {
  EXPECT_EQ(nearest("slotz", {"slots", "lease"}), "slots");
  EXPECT_EQ(nearest("worker.slot", {"worker.slots", "worker.lease"}), "worker.slots");
  EXPECT_EQ(nearest("zzzzzz", {"slots", "lease"}), std::nullopt);
}

}  // namespace
}  // namespace millrace::app
