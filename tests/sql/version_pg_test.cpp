// Versions: a change happens only while the thing is as the caller has seen it.
#include "sql/server_world.h"

#include <string>
#include <vector>

namespace millrace::test {
namespace {

class Versions : public EngineTest {
 protected:
  std::string version(std::string_view noun, std::string_view key) {
    return server.value("select millrace.version_of($1, $2)", pg::params(noun, key));
  }
  static constexpr const char* kRequire =
      "select millrace.require_version($1, $2, array[$3::text])";

  ServerSession server{database};
};

TEST_F(Versions, move_with_what_people_set_and_with_nothing_else) {
  server.run("select millrace.set_queue('mine', '{\"max_attempts\": 3}')");
  server.run("select millrace.set_limit('p', 'a:b', '{\"requests_per_minute\": 5}')");
  server.run(
      "select millrace.set_cron('c', '@daily', '{\"job_type\": \"noop\", \"payload\": {\"n\": "
      "1}}')");
  const auto profile =
      server.value("select millrace.create_profile('Ada', $1::uuid)", pg::params(kAda));
  ServerSession all(database, "");
  all.run("select millrace.create_tenant('clinic', $1::uuid)", pg::params(kOther));
  const auto versions = [&] {
    std::vector<std::string> out = {version("queue", "mine"), version("limit", "p:a:b"),
                                    version("cron", "c"), version("profile", profile)};
    out.push_back(all.value("select millrace.version_of('tenant', $1)", pg::params(kOther)));
    return out;
  };
  const auto first = versions();
  for (const auto& text : first) EXPECT_EQ(text.size(), 22U) << text;
  // What moves by itself.
  server.run("select millrace.cron_now('c')");
  server.run("select millrace.enqueue_job('noop', '{\"n\": 1}', '{}')");
  sql.run(
      "update millrace.api_rate_limits set last_grant_at = millrace.now(),"
      " rate_limit_violations = 3, breaker_failures = 1");
  EXPECT_EQ(versions(), first);
  server.run("select millrace.pause_queue('mine', 'because')");
  server.run("select millrace.set_limit('p', 'a:b', '{\"queue_depth_limit\": 7}')");
  server.run(
      "select millrace.set_cron('c', '@daily', '{\"job_type\": \"noop\", \"payload\": {\"n\": "
      "2}}')");
  server.run("select millrace.rename_profile($1::uuid, 'A')", pg::params(profile));
  all.run("select millrace.set_tenant_quota($1::uuid, '{\"quota_files\": 1}')", pg::params(kOther));
  const auto second = versions();
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_NE(second[i], first[i]) << i;
}

TEST_F(Versions, a_change_of_what_was_changed_meanwhile_is_refused) {
  server.run("select millrace.set_queue('mine', '{\"max_attempts\": 3}')");
  const auto seen = version("queue", "mine");
  server.run(kRequire, pg::params("queue", "mine", seen));
  server.run(kRequire, pg::params("queue", "mine", "*"));
  server.run("select millrace.set_queue('mine', '{\"max_attempts\": 4}')");
  EXPECT_EQ(server.refused(kRequire, pg::params("queue", "mine", seen)).sqlstate, "MR040");
  // What is not there is in no version.
  EXPECT_EQ(server.refused(kRequire, pg::params("queue", "none", "*")).sqlstate, "MR040");
  EXPECT_EQ(server.refused(kRequire, pg::params("job", "x", "*")).sqlstate, "MR024");
}

// Two have read the same: the second waits for the first, and is told.
TEST_F(Versions, of_two_who_have_read_the_same_one_changes_it) {
  server.run("select millrace.set_queue('mine', '{\"max_attempts\": 3}')");
  const auto seen = version("queue", "mine");
  server.script("begin");
  server.run(kRequire, pg::params("queue", "mine", seen));
  ServerSession other(database);
  other.run("set lock_timeout = '20ms'");
  EXPECT_EQ(other.refused(kRequire, pg::params("queue", "mine", seen)).sqlstate, "55P03");
  server.run("select millrace.set_queue('mine', '{\"max_attempts\": 4}')");
  server.script("commit");
  EXPECT_EQ(other.refused(kRequire, pg::params("queue", "mine", seen)).sqlstate, "MR040");
}

TEST_F(Versions, of_a_file_move_with_its_name_and_not_with_its_progress) {
  const auto file = member(sql, put_file(server, kAda, "hello"), "id");
  User ada(database, kAda);
  const auto version_of_file = [&](Session& session) {
    return session.value("select millrace.version_of('file', $1)", pg::params(file));
  };
  const auto first = version_of_file(ada);
  EXPECT_EQ(first.size(), 22U);
  EXPECT_EQ(version_of_file(server), first);
  server.run("select millrace.update_shell_files(array[$1::uuid], '{\"status\": \"processing\"}')",
             pg::params(file));
  EXPECT_EQ(version_of_file(ada), first);
  ada.run("select millrace.update_shell_files(array[$1::uuid], '{\"file_name\": \"b.pdf\"}')",
          pg::params(file));
  EXPECT_NE(version_of_file(ada), first);
  EXPECT_EQ(ada.refused(kRequire, pg::params("file", file, first)).sqlstate, "MR040");
  ada.run(kRequire, pg::params("file", file, version_of_file(ada)));
  User bob(database, kBob);
  EXPECT_EQ(version_of_file(bob), "(null)");
}

TEST_F(Versions, tell_nothing_of_what_a_caller_may_not_see) {  // T-02
  server.run("select millrace.set_queue('mine', '{\"max_attempts\": 3}')");
  const auto profile =
      server.value("select millrace.create_profile('Ada', $1::uuid)", pg::params(kAda));
  User ada(database, kAda);
  User bob(database, kBob);
  const auto of_profile = [&](Session& session) {
    return session.value("select millrace.version_of('profile', $1)", pg::params(profile));
  };
  EXPECT_EQ(of_profile(ada).size(), 22U);
  EXPECT_EQ(of_profile(bob), "(null)");
  EXPECT_EQ(ada.value("select millrace.version_of('queue', 'mine')"), "(null)");
  ServerSession others(database, kOther);
  EXPECT_EQ(of_profile(others), "(null)");
  EXPECT_EQ(bob.refused(kRequire, pg::params("profile", profile, "*")).sqlstate, "MR040");
}

}  // namespace
}  // namespace millrace::test
