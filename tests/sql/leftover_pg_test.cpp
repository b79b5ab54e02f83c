// What was given up or deleted lies in the store until a sweep has come by: it counts until then,
// so that a small quota does not fill a disk; and it goes, whatever cannot be removed besides.
#include "sql/server_world.h"

namespace millrace::test {
namespace {

constexpr std::string_view kWriter = "00000000-0000-4000-8000-00000000a001";

class Leftovers : public EngineTest {
 protected:
  Leftovers() {
    stop_clock(sql);
    ServerSession admin{database, ""};
    admin.run("select millrace.create_tenant('clinic', $1, '{\"quota_bytes\": 100}')",
              pg::params(kTenant));
  }
  static constexpr const char* kBegin =
      "select millrace.begin_upload(jsonb_build_object('kind', 'file', 'user_id', $1::text, "
      "'size_bytes', 100)) ->> 'upload_id'";
  std::string begin() { return api.value(kBegin, pg::params(kAda)); }
  Error begin_refused() { return api.refused(kBegin, pg::params(kAda)); }
  void advance(const std::string& upload, const std::string& handle, int size) {
    api.run("select millrace.take_upload($1, null, $2::uuid, '60 s')", pg::params(upload, kWriter));
    api.run("select millrace.advance_upload($1, $2::uuid, 0, $3, $4)",
            pg::params(upload, kWriter, size, handle));
  }
  // An upload of 60 bytes that came half way.
  void give_up(const std::string& handle) {
    const auto upload = begin();
    advance(upload, handle, 60);
    api.run("select millrace.abort_upload($1)", pg::params(upload));
  }
  std::int64_t dead() { return sql.number("select millrace.tenant_dead($1)", pg::params(kTenant)); }
  std::string told() {
    return api.value(
        "select string_agg(handle, ' ' order by handle) from millrace.expire_uploads(10)");
  }
  void sweep_parts() {
    api.run(
        "select millrace.forget_parts(coalesce(array_agg(upload_id), '{}'), "
        "coalesce(array_agg(handle), '{}')) from millrace.expire_uploads(10)");
  }
  void drop(std::string_view name, std::string_view content) {
    const auto path = fmt::format("{}/{}", kAda, name);
    put_object(api, kAda, path, content);
    api.run("select millrace.remove_objects('medical-docs', array[$1])", pg::params(path));
  }
  ServerSession api{database};
};

// E12: begun, sent, given up, and once more.
TEST_F(Leftovers, e12_pieces_of_uploads_that_were_given_up_count_until_they_are_removed) {
  give_up("p1");
  EXPECT_EQ(dead(), 60);
  give_up("p2");
  EXPECT_EQ(dead(), 120);
  EXPECT_EQ(begin_refused().sqlstate, "MR027");
  // What is too young to be removed is not told, and so not forgotten.
  EXPECT_EQ(told(), "(null)");
  pass(sql, "119 minutes");
  EXPECT_EQ(told(), "(null)");
  pass(sql, "1 minute");
  EXPECT_EQ(told(), "p1 p2");
  EXPECT_EQ(begin_refused().sqlstate, "MR027");
  sweep_parts();
  EXPECT_EQ(dead(), 0);
  begin();
}

TEST_F(Leftovers, e12_pieces_of_an_open_upload_are_part_of_its_reservation) {
  const auto upload = begin();
  advance(upload, "p1", 60);
  EXPECT_EQ(dead(), 0);
  // It has expired: nobody has reserved that room, and nobody has given it up.
  pass(sql, "2 days");
  EXPECT_EQ(dead(), 60);
}

TEST_F(Leftovers, e12_pieces_of_an_upload_that_has_ended_count_too) {
  const auto upload = begin();
  advance(upload, "p1", 60);
  finish(api, upload, std::string(100, 'x'));
  EXPECT_EQ(dead(), 60);
  sql.run("select millrace.fold_usages(10)");
  EXPECT_EQ(dead(), 60);
}

TEST_F(Leftovers, e12_deleted_content_counts_until_it_is_removed) {
  drop("a", std::string(80, 'a'));
  EXPECT_EQ(dead(), 80);
  drop("b", std::string(80, 'b'));  // What is deleted makes room,
  EXPECT_EQ(dead(), 160);
  EXPECT_EQ(begin_refused().sqlstate, "MR027");  // but not without end.
  pass(sql, "25 hours");
  api.run("select millrace.condemn_blobs(10)");
  EXPECT_EQ(dead(), 160);
  api.run(
      "select millrace.forget_blobs(array_agg(tenant_id), array_agg(sha256)) from "
      "millrace.condemn_blobs(10)");
  EXPECT_EQ(dead(), 0);
  begin();
}

TEST_F(Leftovers, e12_replaced_content_counts_until_it_is_removed) {
  const auto path = fmt::format("{}/a", kAda);
  put_object(api, kAda, path, std::string(30, 'a'));
  put_object(api, kAda, path, std::string(40, 'b'), "medical-docs", true);
  EXPECT_EQ(dead(), 30);
}

TEST_F(Leftovers, the_same_content_counts_once_however_often_it_is_deleted) {
  for (int i = 0; i < 5; ++i) drop(fmt::format("a{}", i), std::string(80, 'a'));
  EXPECT_EQ(dead(), 80);
  pass(sql, "25 hours");
  api.run("select millrace.condemn_blobs(10)");
  EXPECT_EQ(dead(), 80);
  // Stored again: it is nobody's leftover any more.
  put_object(api, kAda, fmt::format("{}/b", kAda), std::string(80, 'a'));
  EXPECT_EQ(dead(), 0);
}

TEST_F(Leftovers, a_piece_that_cannot_be_removed_comes_behind_the_others) {
  give_up("p1");
  pass(sql, "1 second");
  give_up("p2");
  pass(sql, "3 hours");
  const auto first = [&] { return api.value("select handle from millrace.expire_uploads(1)"); };
  EXPECT_EQ(first(), "p1");
  api.run(
      "select millrace.delay_parts(array_agg(upload_id), array_agg(handle)) from "
      "millrace.expire_uploads(1)");
  EXPECT_EQ(first(), "p2");
  EXPECT_EQ(told(), "p2");
  EXPECT_EQ(dead(), 120);
  pass(sql, "1 hour");
  EXPECT_EQ(told(), "p1 p2");
}

TEST_F(Leftovers, content_that_cannot_be_removed_comes_behind_the_other) {
  drop("a", "a");
  drop("b", "bb");
  pass(sql, "25 hours");
  api.run("select millrace.condemn_blobs(10)");
  const auto first = [&] {
    return api.value("select encode(sha256, 'hex') from millrace.condemn_blobs(1)");
  };
  const auto stuck = first();
  pass(sql, "1 second");
  api.run(
      "select millrace.delay_blobs(array_agg(tenant_id), array_agg(sha256)) from "
      "millrace.condemn_blobs(1)");
  EXPECT_NE(first(), stuck);
  EXPECT_EQ(api.number("select count(*) from millrace.condemn_blobs(10)"), 2);
}

// U-01: files whose first job cannot be enqueued do not keep the others from theirs.
TEST_F(Leftovers, u01_a_file_that_cannot_be_enqueued_is_tried_again_behind_the_others) {
  sql.run("select millrace.set_config_value('system.enqueue_enabled', 'false')");
  put_file(api, kAda, "1", R"({"file_name": "bad.pdf"})");
  pass(sql, "1 second");
  put_file(api, kAda, "2");
  sql.run("select millrace.set_config_value('system.enqueue_enabled', 'true')");
  sql.script(
      "create function public.refuse() returns trigger language plpgsql as "
      "$$begin raise exception 'not this one'; end$$;"
      "create trigger refuse before update on millrace.shell_files for each row "
      "when (new.file_name = 'bad.pdf') execute function public.refuse()");
  EXPECT_EQ(sql.number("select millrace.adopt_files(1)"), 0);
  EXPECT_EQ(sql.number("select millrace.adopt_files(1)"), 1);
  EXPECT_EQ(sql.value("select file_name from millrace.shell_files where job_id is null"),
            "bad.pdf");
  sql.script("drop trigger refuse on millrace.shell_files");
  EXPECT_EQ(sql.number("select millrace.adopt_files(1)"), 0);
  pass(sql, "1 hour");
  EXPECT_EQ(sql.number("select millrace.adopt_files(1)"), 1);
  EXPECT_EQ(sql.number("select count(*) from millrace.file_retry"), 0);
}

// --- One order of locks ---

class LockOrder : public EngineTest {
 protected:
  void wait_for_a_lock() {
    while (
        !sql.yes("select exists (select from pg_stat_activity where wait_event_type = 'Lock' and "
                 "datname = current_database())")) {
    }
  }
  ServerSession api{database};
};

// Of two contents the one with the lower digest is first, whatever the order of the artifacts: who
// waits for it holds nothing that another of the same two could wait for.
TEST_F(LockOrder, artifacts_of_a_job_are_taken_in_the_order_of_their_digests) {
  const auto lower = sql.yes("select sha256('one') < sha256('two')") ? "one" : "two";
  const auto higher = std::string_view(lower) == "one" ? "two" : "one";
  for (const auto* content : {lower, higher}) put_file(api, kAda, content);
  const auto write = [&](Session& session, const std::vector<const char*>& contents) {
    std::string artifacts;
    for (const auto* content : contents) {
      artifacts += (artifacts.empty() ? "" : ", ") + stored(session, content);
    }
    session.run(
        "select millrace.write_output(gen_random_uuid(), $1, jsonb_build_object('outputs', "
        "'{}'::jsonb, 'artifacts', (select jsonb_agg(a || '{\"kind\": \"k\"}') from "
        "jsonb_array_elements($2::jsonb) a)))",
        pg::params(kTenant, "[" + artifacts + "]"));
  };
  Session holder{database};
  Session first{database};
  Session second{database};
  holder.script("begin");
  holder.run(
      "select from millrace.blob_object where sha256 = sha256(convert_to($1, 'UTF8')) for "
      "update",
      pg::params(lower));
  std::jthread waiting([&] { write(first, {higher, lower}); });
  wait_for_a_lock();
  second.script("set lock_timeout = '10s'");
  write(second, {higher});
  holder.script("commit");
  waiting.join();
  EXPECT_EQ(sql.number("select count(*) from millrace.artifact"), 3);
}

TEST_F(LockOrder, objects_that_become_files_are_held_in_one_order) {
  User ada{database, kAda};
  const auto profile = ada.value("select millrace.create_profile('p')");
  const auto early = fmt::format("{}/early", kAda);
  const auto late = fmt::format("{}/late", kAda);
  put_object(api, kAda, early, "1");
  put_object(api, kAda, late, "2");
  Session holder{database};
  holder.script("begin");
  holder.run("select from millrace.storage_object where name = $1 for update", pg::params(early));
  std::jthread waiting([&] {
    ada.run(
        "select millrace.put_shell_files(jsonb_build_array("
        "jsonb_build_object('patient_id', $1::text, 'storage_path', $2::text), "
        "jsonb_build_object('patient_id', $1::text, 'storage_path', $3::text)))",
        pg::params(profile, late, early));
  });
  wait_for_a_lock();
  EXPECT_EQ(sql.number("select count(*) from (select from millrace.storage_object where name = $1 "
                       "for update skip locked) o",
                       pg::params(late)),
            1);
  holder.script("commit");
  waiting.join();
  EXPECT_EQ(sql.number("select count(*) from millrace.shell_files"), 2);
}

}  // namespace
}  // namespace millrace::test
