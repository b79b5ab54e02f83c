// The sources' client code with the real @supabase/supabase-js, against the real server.
#include "api_world.h"
#include "child_server.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace millrace::test {
namespace {

using identity::Role;
namespace fs = std::filesystem;

// Where Node finds the packages: modules are looked for beside the script and upwards.
class ScriptFolder {
 public:
  ScriptFolder()
      : path_(npm_file("").parent_path().parent_path() / fmt::format("supabase-{}", ::getpid())) {
    fs::create_directories(path_);
    for (const auto* const script : {"sources.mts", "client_test.mts"}) {
      fs::copy_file(fs::path(MILLRACE_SOURCE_DIR) / "tests/e2e/supabase" / script, path_ / script,
                    fs::copy_options::overwrite_existing);
    }
  }
  ~ScriptFolder() { fs::remove_all(path_); }
  ScriptFolder(const ScriptFolder&) = delete;
  ScriptFolder& operator=(const ScriptFolder&) = delete;

  std::string script() const { return (path_ / "client_test.mts").string(); }

  // How many tests it has: each begins a line.
  int tests() const {
    std::ifstream file(script());
    int count = 0;
    for (std::string line; std::getline(file, line);) count += line.starts_with("test(") ? 1 : 0;
    return count;
  }

 private:
  fs::path path_;
};

TEST(Supabase, TheSourcesClientCodeRunsWithTheRealPackage) {  // item 8, bar 1
  const ScriptFolder scripts;
  const TempFolder blobs;
  ApiWorld world({.env = {{"MILLRACE_STORAGE_FOLDER", blobs.path().string()}}, .arguments = {}});
  const auto tenant = world.new_tenant();
  const auto user = world.new_user();
  const auto other = world.new_user();
  const auto user_token = world.jwt(Role::authenticated, tenant, user);
  const auto profile =
      world.post("/api/v1/profiles", user_token, R"({"display_name":"Ada"})").json();
  const auto secret = world.run({"token", "create", "--role", "service_role", "--tenant",
                                 tenant.to_string(), "--kind", "supabase_key"});
  ASSERT_EQ(secret.code, 0) << secret.err;
  const auto ran =
      run_command({node_program().string(), "--experimental-eventsource", "--test-reporter=spec",
                   scripts.script()},
                  {.env = {{"SUPABASE_URL", std::string(world.ready().at("http_url").as_string())},
                           {"ANON_KEY", world.jwt(Role::anon)},
                           {"SERVICE_KEY", world.jwt(Role::service_role, tenant)},
                           {"SECRET_KEY", secret.out.substr(0, secret.out.find('\n'))},
                           {"USER_ID", user.to_string()},
                           {"USER_TOKEN", user_token},
                           {"PROFILE_ID", std::string(profile.at("id").as_string())},
                           {"OTHER_ID", other.to_string()},
                           {"OTHER_TOKEN", world.jwt(Role::authenticated, tenant, other)}},
                   .stdin_text = {},
                   .cwd = {},
                   .timeout = std::chrono::seconds(120)});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err << world.program().err();
  // A run that skips its tests would end well too.
  ASSERT_GE(scripts.tests(), 12);
  EXPECT_NE(ran.out.find(fmt::format("pass {}\n", scripts.tests())), std::string::npos) << ran.out;
}

}  // namespace
}  // namespace millrace::test
