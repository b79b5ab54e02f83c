// Settings of the server, and the secret that is made once.
#include "app/serve/server_options.h"
#include "app/serve/signing_secrets.h"
#include "base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sys/stat.h>

namespace millrace::app {
namespace {

using testing::HasSubstr;

Settings settings_of(Environment environment) {
  Settings::Sources sources;
  sources.folder = "/nonexistent";
  sources.environment = std::move(environment);
  auto settings = Settings::load(sources);
  EXPECT_TRUE(settings) << settings.error().message;
  return *std::move(settings);
}

TEST(ServerOptions, ListenOnLoopbackUnlessToldOtherwise) {
  const auto usual = server_options(settings_of({}));
  ASSERT_TRUE(usual) << usual.error().message;
  EXPECT_EQ(usual->listen.front().to_string(), "127.0.0.1:8080");
  EXPECT_FALSE(usual->tls.has_value());
  const auto platform = server_options(settings_of({{"PORT", "10000"}}));
  ASSERT_TRUE(platform);
  EXPECT_EQ(platform->listen.front().to_string(), "0.0.0.0:10000");
  const auto both = server_options(
      settings_of({{"MILLRACE_SERVER_LISTEN", "127.0.0.1:1, unix:/run/millrace.sock"}}));
  ASSERT_TRUE(both);
  EXPECT_EQ(both->listen.size(), 2U);
}

TEST(ServerOptions, NameTheSettingThatCannotBeRight) {
  for (const auto& [name, value] : {std::pair{"MILLRACE_SERVER_LISTEN", "example.com:80"},
                                    std::pair{"MILLRACE_SERVER_LISTEN", "127.0.0.1:99999"},
                                    std::pair{"MILLRACE_SERVER_LISTEN", ","}}) {
    const auto options = server_options(settings_of({{name, value}}));
    ASSERT_FALSE(options) << value;
    EXPECT_THAT(options.error().message, HasSubstr("server.listen"));
  }
  const auto proxy =
      server_options(settings_of({{"MILLRACE_SERVER_TRUSTED_PROXIES", "lb.example"}}));
  ASSERT_FALSE(proxy);
  EXPECT_THAT(proxy.error().message, HasSubstr("server.trusted_proxies"));
  const auto half = server_options(settings_of({{"MILLRACE_SERVER_TLS_KEY", "/key.pem"}}));
  ASSERT_FALSE(half);
  EXPECT_THAT(half.error().message, HasSubstr("server.tls_certificate"));
  Settings::Sources port;
  port.folder = "/nonexistent";
  port.environment = {{"PORT", "70000"}};
  EXPECT_FALSE(Settings::load(port));
}

TEST(ServerOptions, HaveTheProxiesAndTimesOfTheSettings) {  // H06
  const auto options =
      server_options(settings_of({{"MILLRACE_SERVER_TRUSTED_PROXIES", "10.0.0.0/8, unix"},
                                  {"MILLRACE_SERVER_STALL_TIMEOUT", "7s"}}));
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_TRUE(http::is_trusted("10.1.2.3", options->trusted_proxies));
  EXPECT_TRUE(http::is_trusted("", options->trusted_proxies));
  EXPECT_FALSE(http::is_trusted("127.0.0.1", options->trusted_proxies));
  EXPECT_EQ(options->limits.body_stall_max, std::chrono::seconds(7));
  EXPECT_EQ(options->limits.write_stall_max, std::chrono::seconds(7));
  EXPECT_FALSE(http::is_trusted("127.0.0.1", server_options(settings_of({}))->trusted_proxies));
}

TEST(ServerOptions, GiveTheAddressThatAClientCanUse) {
  EXPECT_EQ(http_url({{.host = "0.0.0.0", .port = 80}}, false), "http://127.0.0.1:80");
  EXPECT_EQ(http_url({{.host = "::", .port = 443}}, true), "https://[::1]:443");
  EXPECT_EQ(
      http_url({{.host = {}, .port = 0, .path = "/s"}, {.host = "127.0.0.1", .port = 9}}, false),
      "http://127.0.0.1:9");
  EXPECT_EQ(http_url({{.host = {}, .port = 0, .path = "/s"}}, false), "unix:/s");
}

class SigningSecretsTest : public testing::Test {
 protected:
  SigningSecretsTest() {
    char pattern[] = "/tmp/millrace-secrets-XXXXXX";
    folder_ = ::mkdtemp(pattern);
  }
  ~SigningSecretsTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
  SystemRandom random_;
};

TEST_F(SigningSecretsTest, ASecretInAFileIsMadeOnceAndForNobodyElse) {
  const auto path = folder_ / "jwt_secret";
  const auto first = secret_in_file(path, random_);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_GE(first->reveal().size(), 48U);
  const auto second = secret_in_file(path, random_);
  ASSERT_TRUE(second);
  EXPECT_EQ(first->reveal(), second->reveal());
  struct stat status{};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  // Nothing is left of making it.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(SigningSecretsTest, AFileThatHoldsNoSecretIsRefusedByName) {
  const auto path = folder_ / "jwt_secret";
  ASSERT_TRUE(write_file_atomically(path, "short", 0600));
  const auto secret = secret_in_file(path, random_);
  ASSERT_FALSE(secret);
  EXPECT_THAT(secret.error().message, HasSubstr(path.string()));
}

TEST_F(SigningSecretsTest, ConfiguredSecretsComeFirstAndBothCountWhileOneIsReplaced) {
  const std::string now(40, 'n');
  const std::string before(40, 'b');
  const auto settings = settings_of(
      {{"MILLRACE_AUTH_JWT_SECRET", now}, {"MILLRACE_AUTH_PREVIOUS_JWT_SECRET", before}});
  const auto secrets = find_signing_secrets(settings, {}, random_);
  ASSERT_TRUE(secrets) << secrets.error().message;
  EXPECT_FALSE(secrets->ephemeral);
  ASSERT_EQ(secrets->all.size(), 2U);
  EXPECT_EQ(secrets->all[0].reveal(), now);
  EXPECT_EQ(secrets->all[1].reveal(), before);
  const auto alone = find_signing_secrets(
      settings_of({{"MILLRACE_AUTH_PREVIOUS_JWT_SECRET", before}}), {}, random_);
  EXPECT_FALSE(alone);
}

TEST_F(SigningSecretsTest, WithoutOneAPrivateClusterKeepsItsOwnAndOthersHaveOneForAWhile) {
  const auto settings = settings_of({{"MILLRACE_DATABASE_DATA_DIR", folder_.string()}});
  const auto mine =
      find_signing_secrets(settings, {.url = "x", .origin = "", .is_private = true}, random_);
  ASSERT_TRUE(mine) << mine.error().message;
  EXPECT_FALSE(mine->ephemeral);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "jwt_secret"));
  const auto theirs =
      find_signing_secrets(settings, {.url = "x", .origin = "", .is_private = false}, random_);
  ASSERT_TRUE(theirs);
  EXPECT_TRUE(theirs->ephemeral);
  EXPECT_NE(theirs->all[0].reveal(), mine->all[0].reveal());
}

}  // namespace
}  // namespace millrace::app
