// Removals from stores that cannot compare the age of content and remove it in one step: what is
// marked is not referred to, what is referred to is not marked, and a sweeper that died is
// replaced.
#include "sql/server_world.h"

namespace millrace::test {
namespace {

constexpr std::string_view kWriter = "00000000-0000-4000-8000-00000000a001";

class Removals : public EngineTest {
 protected:
  static constexpr const char* kFinish = "select millrace.finish_upload($1, $2)";

  std::string key_of(std::string_view content) {
    return member(api, stored(api, content), "store_key");
  }
  // The removal, or (none).
  std::string mark(const std::string& key) {
    return api.value("select removal_id from millrace.mark_blobs(array[$1])", pg::params(key));
  }
  std::int64_t end(const std::string& removal) {
    return api.number("select millrace.end_removals(array[$1::uuid])", pg::params(removal));
  }
  std::string begin(std::string_view size) {
    return member(api, begin_file(api, kAda, size), "upload_id");
  }
  std::string begin_pieces(std::string_view size) {
    auto upload = begin(size);
    api.run("select millrace.take_upload($1, null, $2::uuid, '60 s')", pg::params(upload, kWriter));
    return upload;
  }
  static constexpr const char* kAdvance = "select millrace.advance_upload($1, $2::uuid, 0, 4, $3)";
  void wait_for_a_lock() {
    while (
        !sql.yes("select exists (select from pg_stat_activity where wait_event_type = 'Lock' and "
                 "datname = current_database())")) {
    }
  }
  ServerSession api{database};
};

// U-08: PUT of the uploader between the sweeper's look and its removal.
TEST_F(Removals, u08_content_is_not_referred_to_while_it_is_removed) {
  const auto key = key_of("hello");
  const auto upload = begin("5");
  const auto removal = mark(key);
  const auto while_removed = api.refused(kFinish, pg::params(upload, stored(api, "hello")));
  EXPECT_EQ(while_removed.sqlstate, "MR037");
  EXPECT_EQ(while_removed.detail, "removing");
  // It ended before the uploader asked again: its bytes may be gone all the same.
  EXPECT_EQ(end(removal), 1);
  const auto after = api.refused(kFinish, pg::params(upload, stored(api, "hello")));
  EXPECT_EQ(after.sqlstate, "MR037");
  EXPECT_EQ(after.detail, removal + " " + key);
  // It has looked, and they are there.
  EXPECT_TRUE(api.yes("select millrace.clear_removal($1, $2)", pg::params(key, removal)));
  finish(api, upload, "hello");
  EXPECT_EQ(sql.number("select count(*) from millrace.blob_removal"), 0);
}

TEST_F(Removals, u08_a_piece_is_not_noted_while_it_is_removed) {
  const auto upload = begin_pieces("10");
  const auto removal = mark("sha256/piece");
  const auto params = [&] { return pg::params(upload, kWriter, "sha256/piece"); };
  EXPECT_EQ(api.refused(kAdvance, params()).detail, "removing");
  end(removal);
  EXPECT_EQ(api.refused(kAdvance, params()).detail, removal + " sha256/piece");
  api.run("select millrace.clear_removal('sha256/piece', $1)", pg::params(removal));
  EXPECT_EQ(api.number(kAdvance, params()), 4);
  // A repeat after a lost answer finds its own success, whatever happened since.
  sql.run("insert into millrace.blob_removal values ('sha256/piece', $1, now(), null)",
          pg::params(removal));
  EXPECT_EQ(api.number(kAdvance, params()), 4);
}

TEST_F(Removals, an_artifact_that_is_removed_meanwhile_makes_the_attempt_a_retry) {
  const auto blob = stored(api, "drawing");
  mark(member(api, blob, "store_key"));
  const auto error = sql.refused(
      "select millrace.write_output(gen_random_uuid(), $1, jsonb_build_object('outputs', "
      "'{}'::jsonb, 'artifacts', jsonb_build_array($2::jsonb || '{\"kind\": \"k\"}')))",
      pg::params(kTenant, blob));
  EXPECT_EQ(error.sqlstate, "MR037");
}

// Clocks of store and database are not that far apart.
TEST_F(Removals, content_that_was_stored_well_after_a_removal_needs_no_look) {
  stop_clock(sql);
  end(mark(key_of("hello")));
  pass(sql, "4 minutes");
  const auto upload = begin("5");
  EXPECT_EQ(api.refused(kFinish, pg::params(upload, stored(api, "hello"))).sqlstate, "MR037");
  pass(sql, "1 minute");
  finish(api, upload, "hello");
}

TEST_F(Removals, what_a_row_refers_to_is_not_marked) {
  put_file(api, kAda, "hello");
  EXPECT_EQ(mark(key_of("hello")), "(none)");
  const auto upload = begin_pieces("10");
  api.run(kAdvance, pg::params(upload, kWriter, "sha256/piece"));
  EXPECT_EQ(mark("sha256/piece"), "(none)");
  api.run("select millrace.abort_upload($1)", pg::params(upload));
  EXPECT_NE(mark("sha256/piece"), "(none)");
}

TEST_F(Removals, what_is_about_to_be_referred_to_is_not_marked) {
  const auto key = key_of("hello");
  const auto upload = begin("5");
  ServerSession other{database};
  other.script("begin");
  other.run(kFinish, pg::params(upload, stored(other, "hello")));
  EXPECT_EQ(mark(key), "(none)");
  other.script("rollback");
  EXPECT_NE(mark(key), "(none)");
}

// The other way round: the mark is not committed yet when the uploader comes.
TEST_F(Removals, a_reference_waits_for_a_mark_in_the_making_and_sees_it) {
  const auto key = key_of("hello");
  const auto upload = begin("5");
  const auto blob = stored(api, "hello");
  ServerSession other{database};
  api.script("begin");
  EXPECT_NE(mark(key), "(none)");
  Error error;
  std::jthread waiting([&] { error = other.refused(kFinish, pg::params(upload, blob)); });
  wait_for_a_lock();
  api.script("commit");
  waiting.join();
  EXPECT_EQ(error.detail, "removing");
}

TEST_F(Removals, of_two_sweeps_one_has_the_mark) {
  ServerSession other{database, ""};
  const auto removal = mark("k");
  EXPECT_EQ(other.value("select removal_id from millrace.mark_blobs(array['k'])"), "(none)");
  end(removal);
  EXPECT_NE(other.value("select removal_id from millrace.mark_blobs(array['k'])"), "(none)");
}

// The sweeper died between its mark and its removal, or behind it.
TEST_F(Removals, a_mark_that_nobody_ended_is_taken_over) {
  stop_clock(sql);
  const auto dead = mark(key_of("hello"));
  const auto upload = begin("5");
  const auto lapsed = [&] {
    return api.value("select string_agg(store_key, ' ') from millrace.lapsed_removals(10)");
  };
  EXPECT_EQ(lapsed(), "(null)");
  EXPECT_EQ(mark(key_of("hello")), "(none)");
  pass(sql, "11 minutes");
  EXPECT_EQ(lapsed(), key_of("hello"));
  // Nobody has looked at it since.
  EXPECT_EQ(api.refused(kFinish, pg::params(upload, stored(api, "hello"))).detail, "removing");
  const auto heir = mark(key_of("hello"));
  EXPECT_NE(heir, "(none)");
  EXPECT_EQ(lapsed(), "(null)");
  EXPECT_EQ(end(dead), 0) << "it is not the dead one's any more";
  EXPECT_EQ(end(heir), 1);
  EXPECT_EQ(end(heir), 0);
  EXPECT_FALSE(api.yes("select millrace.clear_removal($1, $2)", pg::params(key_of("hello"), dead)));
  EXPECT_TRUE(api.yes("select millrace.clear_removal($1, $2)", pg::params(key_of("hello"), heir)));
  finish(api, upload, "hello");
}

TEST_F(Removals, are_forgotten_when_nothing_can_have_been_stored_before_them) {
  stop_clock(sql);
  end(mark("ended"));
  mark("never ended");
  pass(sql, "119 minutes");
  api.run("select millrace.expire_uploads(10)");
  EXPECT_EQ(sql.number("select count(*) from millrace.blob_removal"), 2);
  pass(sql, "2 minutes");
  api.run("select millrace.expire_uploads(10)");
  EXPECT_EQ(sql.value("select string_agg(store_key, ' ') from millrace.blob_removal"),
            "never ended");
}

// Content is named by its digest, whoever's it is.
TEST_F(Removals, are_the_servers_own) {
  for (const auto* role :
       {"anon", "authenticated", "service_role", "millrace_worker", "millrace_reader"}) {
    Session session{database, role};
    for (const auto* call :
         {"select millrace.mark_blobs('{}')", "select millrace.end_removals('{}')",
          "select millrace.clear_removal('k', null)", "select millrace.lapsed_removals(1)",
          "select millrace.delay_blobs('{}', '{}')", "select millrace.delay_parts('{}', '{}')",
          "select store_key from millrace.blob_removal"}) {
      EXPECT_EQ(session.refused(call).sqlstate, "42501") << role << " " << call;
    }
  }
}

}  // namespace
}  // namespace millrace::test
