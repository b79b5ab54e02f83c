// Resumable uploads with the real tus-js-client, against the real server.
#include "api_world.h"
#include "child_server.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <unistd.h>

namespace millrace::test {
namespace {

namespace fs = std::filesystem;

// Modules are looked for beside the script and upwards.
class ScriptFolder {
 public:
  ScriptFolder()
      : path_(npm_file("").parent_path().parent_path() / fmt::format("tus-{}", ::getpid())) {
    fs::create_directories(path_);
    fs::copy_file(fs::path(MILLRACE_SOURCE_DIR) / "tests/e2e/tus/client_test.mjs", script(),
                  fs::copy_options::overwrite_existing);
  }
  ~ScriptFolder() { fs::remove_all(path_); }
  ScriptFolder(const ScriptFolder&) = delete;
  ScriptFolder& operator=(const ScriptFolder&) = delete;

  fs::path script() const { return path_ / "client_test.mjs"; }

 private:
  fs::path path_;
};

TEST(Tus, TheRealClientUploadsStopsAndGoesOn) {
  const ScriptFolder scripts;
  const TempFolder blobs;
  ApiWorld world({.env = {{"MILLRACE_STORAGE_FOLDER", blobs.path().string()}}, .arguments = {}});
  const auto user = world.new_user();
  const auto ran = run_command(
      {node_program().string(), "--test-reporter=spec", scripts.script().string()},
      {.env = {{"SERVER_URL", std::string(world.ready().at("http_url").as_string())},
               {"USER_TOKEN", world.jwt(identity::Role::authenticated, world.new_tenant(), user)}},
       .stdin_text = {},
       .cwd = {}});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err << world.program().err();
  // A run that skips its tests would end well too.
  EXPECT_NE(ran.out.find("pass 6"), std::string::npos) << ran.out;
  auto sql = world.sql();
  EXPECT_EQ(must(sql.query("select count(*) from millrace.shell_files where owner_id = $1",
                           pg::params(user)))[0]
                .i64(0),
            5);
}

}  // namespace
}  // namespace millrace::test
