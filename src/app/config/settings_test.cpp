#include "app/config/settings.h"

#include "base/file.h"

#include <boost/json/object.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace millrace::app {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SettingsTest : public ::testing::Test {
 protected:
  SettingsTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "settings-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~SettingsTest() override { std::filesystem::remove_all(folder_); }

  Result<Settings> load(const std::string& toml, Environment environment = {}) {
    std::filesystem::remove(folder_ / "millrace.toml");
    if (!toml.empty()) {
      EXPECT_TRUE(write_file_atomically(folder_ / "millrace.toml", toml));
    }
    return Settings::load({.file = {}, .folder = folder_, .environment = std::move(environment)});
  }
  // The message without the folder's name.
  std::string error_of(const std::string& toml, Environment environment = {}) {
    const auto loaded = load(toml, std::move(environment));
    if (loaded) return "accepted";
    auto message = loaded.error().message;
    const auto prefix = folder_.string() + "/";
    for (auto at = message.find(prefix); at != message.npos; at = message.find(prefix)) {
      message.erase(at, prefix.size());
    }
    return message;
  }

  std::filesystem::path folder_;
};

TEST_F(SettingsTest, LaterSourcesWinAndAreNamed) {
  const auto toml = "[worker]\nslots = 4\nlease = \"10s\"\n";
  auto settings = load(toml, {{"MILLRACE_WORKER_SLOTS", "8"}});
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->integer("worker.slots"), 8);
  EXPECT_EQ(settings->get("worker.slots").origin, "environment MILLRACE_WORKER_SLOTS");
  EXPECT_EQ(settings->duration("worker.lease"), milliseconds(10'000));
  EXPECT_THAT(settings->get("worker.lease").origin, HasSubstr("millrace.toml:3"));
  EXPECT_EQ(settings->get("log.level").origin, "default");
  ASSERT_TRUE(settings->set_flag("worker.slots", "16", "--slots"));
  EXPECT_EQ(settings->integer("worker.slots"), 16);
  EXPECT_EQ(settings->get("worker.slots").origin, "--slots");
}

TEST_F(SettingsTest, AliasesOfOtherSystemsAreConverted) {
  const auto settings = load("", {{"WORKER_CONCURRENCY", "50"},
                                  {"QUEUE_POLL_INTERVAL", "5000"},
                                  {"LOCK_RENEW_SEC", "45"},
                                  {"JOB_TIMEOUT_SEC", "240"},
                                  {"FAST_QUEUE_TIMEOUT_MS", "120000"},
                                  {"AI_QUEUE_TIMEOUT_MS", "600000"},
                                  {"MAX_RETRIES", "6"},
                                  {"WORKER_ID", "render-1"},
                                  {"LOG_LEVEL", "warn"},
                                  {"DATABASE_URL", "postgres://db/x"}});
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->integer("worker.slots"), 50);
  EXPECT_EQ(settings->duration("worker.poll_interval"), milliseconds(5000));
  EXPECT_EQ(settings->duration("worker.lease"), milliseconds(90'000));
  EXPECT_EQ(settings->duration("worker.job_timeout"), milliseconds(240'000));
  EXPECT_EQ(settings->duration("worker.fast_queue_timeout"), milliseconds(120'000));
  EXPECT_EQ(settings->duration("worker.ai_queue_timeout"), milliseconds(600'000));
  EXPECT_EQ(settings->integer("queue_defaults.max_attempts"), 7);
  EXPECT_EQ(settings->text("worker.id"), "render-1");
  EXPECT_EQ(settings->text("log.level"), "warn");
  EXPECT_EQ(settings->text("database.url"), "postgres://db/x");
}

TEST_F(SettingsTest, TwoNamesThatDisagreeAreAnError) {
  EXPECT_EQ(error_of("", {{"WORKER_CONCURRENCY", "5"}, {"MILLRACE_WORKER_SLOTS", "6"}}),
            "MILLRACE_WORKER_SLOTS and WORKER_CONCURRENCY disagree about worker.slots; "
            "set one of them");
  EXPECT_EQ(error_of("", {{"MAX_ATTEMPTS", "5"}, {"MAX_RETRIES", "6"}}),
            "MAX_ATTEMPTS and MAX_RETRIES disagree about queue_defaults.max_attempts; "
            "set one of them");
  EXPECT_EQ(error_of("", {{"MAX_ATTEMPTS", "7"}, {"MAX_RETRIES", "6"}}), "accepted");
}

TEST_F(SettingsTest, UnknownKeysNameTheNearest) {
  EXPECT_EQ(error_of("[worker]\nslotz = 4\n"),
            "millrace.toml:2: unknown key worker.slotz; did you mean worker.slots?");
  EXPECT_EQ(error_of("", {{"MILLRACE_WORKER_SLOT", "4"}}),
            "unknown environment variable MILLRACE_WORKER_SLOT; did you mean "
            "MILLRACE_WORKER_SLOTS?");
  EXPECT_EQ(error_of("[[handlers]]\ntype = \"x\"\n"),
            "millrace.toml:1: unknown table [[handlers]]; there are [[handler]] and [[queue]]");
}

TEST_F(SettingsTest, ValuesAreCheckedWithTheirPlace) {
  EXPECT_EQ(error_of("[worker]\nslots = 0\n"),
            "millrace.toml:2: worker.slots: '0' is not between 1 and 4096");
  EXPECT_EQ(error_of("[worker]\nlease = 30\n"),
            "millrace.toml:2: worker.lease: 30 needs a unit, such as \"30s\"");
  EXPECT_EQ(error_of("[log]\nlevel = \"loud\"\n"),
            "millrace.toml:2: log.level: 'loud' is not debug, info, warn or error");
  EXPECT_THAT(error_of("[worker\nslots = 1\n"), HasSubstr("millrace.toml:1:"));
  EXPECT_EQ(error_of("", {{"WORKER_CONCURRENCY", "many"}}),
            "environment variable WORKER_CONCURRENCY: 'many' is not a whole number");
}

TEST_F(SettingsTest, SecretsMayLieInFiles) {
  ASSERT_TRUE(write_file_atomically(folder_ / "url", "postgres://u:p@h/d\n"));
  const auto settings = load("", {{"DATABASE_URL_FILE", (folder_ / "url").string()}});
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->text("database.url"), "postgres://u:p@h/d");
  EXPECT_EQ(error_of("", {{"DATABASE_URL_FILE", "x"}, {"DATABASE_URL", "y"}}),
            "DATABASE_URL and DATABASE_URL_FILE are both set");
}

TEST_F(SettingsTest, ReadsHandlersAndQueues) {
  const auto settings = load(R"(
[[handler]]
type = "thumbnail"
run = "exec:./bin/thumbnail.py --size 64"
queue = "images"
timeout = "20s"
env = {MODE = "fast"}
limits = {memory = "512M", cpu = "10s", files = 64}

[[handler]]
type = "notify"
run = "https://example.org/hook"

[[queue]]
name = "images"
max_attempts = 4
backoff_base = "2s"
)");
  ASSERT_TRUE(settings) << settings.error().message;
  ASSERT_EQ(settings->handlers().size(), 2U);
  const auto& exec = settings->handlers()[0];
  EXPECT_EQ(exec.kind, HandlerConfig::Kind::exec);
  EXPECT_THAT(exec.argv, ElementsAre((folder_ / "bin/thumbnail.py").string(), "--size", "64"));
  EXPECT_EQ(exec.timeout, milliseconds(20'000));
  EXPECT_EQ(exec.memory_bytes, 512ULL * 1024 * 1024);
  EXPECT_EQ(exec.cpu_seconds, 10U);
  EXPECT_EQ(exec.open_files, 64U);
  EXPECT_EQ(exec.env.at("MODE"), "fast");
  EXPECT_EQ(settings->handlers()[1].url, "https://example.org/hook");
  ASSERT_EQ(settings->queues().size(), 1U);
  EXPECT_EQ(settings->queues()[0].policy.at("max_attempts").as_int64(), 4);
  EXPECT_EQ(settings->queues()[0].policy.at("backoff_base").as_string(), "2000 milliseconds");
}

TEST_F(SettingsTest, WiringErrorsNameFieldAndRule) {
  EXPECT_EQ(error_of("[[handler]]\nrun = \"noop\"\n"),
            "millrace.toml:1: [[handler]] needs type = \"...\"");
  EXPECT_EQ(error_of("[[handler]]\ntype = \"a\"\nrun = \"ftp://x\"\n"),
            "millrace.toml:1: handler.run: 'ftp://x' is not exec:PROGRAM, http://..., "
            "https://..., noop or sleep");
  EXPECT_EQ(error_of("[[handler]]\ntype = \"a\"\nrun = \"noop\"\ntimeuot = \"5s\"\n"),
            "millrace.toml:4: unknown key handler.timeuot; did you mean handler.timeout?");
  EXPECT_EQ(error_of("[[handler]]\ntype = \"a\"\nrun = \"noop\"\nlimits = {memory = 0}\n"),
            "millrace.toml:4: handler.limits.memory must be a size such as \"512M\"");
  EXPECT_EQ(error_of("[[handler]]\ntype = \"a\"\nrun = \"noop\"\n"
                     "[[handler]]\ntype = \"a\"\nrun = \"noop\"\n"),
            "millrace.toml:4: handler.type 'a' has a handler already, at line 1");
  EXPECT_EQ(error_of("[[queue]]\nname = \"q\"\nmax_attempt = 3\n"),
            "millrace.toml:3: unknown key queue.max_attempt; did you mean queue.max_attempts?");
}

TEST(SplitWordsTest, UnderstandsQuotes) {
  EXPECT_THAT(*split_words("a 'b c' d\\ e \"f'g\""), ElementsAre("a", "b c", "d e", "f'g"));
  EXPECT_FALSE(split_words("'open"));
  EXPECT_FALSE(split_words("end\\"));
}

TEST(TomlFileTest, AKeyOfEndlessDepthIsRefused) {
  std::string key = "a";
  while (key.size() < 800'000) key += ".a";
  for (const auto& text : {"\n" + key + " = 1", "\n[" + key + "]\nb = 1"}) {
    const auto file = TomlFile::parse(text, "x.toml");
    ASSERT_FALSE(file.has_value());
    EXPECT_EQ(file.error().message, "x.toml:2: a key has more than 1000 levels");
  }
}

TEST(ParseBytesTest, KnowsUnits) {
  EXPECT_EQ(*parse_bytes("512M"), 512ULL << 20);
  EXPECT_EQ(*parse_bytes("64KiB"), 64ULL << 10);
  EXPECT_EQ(*parse_bytes("2GB"), 2ULL << 30);
  EXPECT_EQ(*parse_bytes("1000"), 1000U);
  for (const char* wrong : {"", "0", "M", "5X", "99999999999T", "-1"}) {
    EXPECT_FALSE(parse_bytes(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace millrace::app
