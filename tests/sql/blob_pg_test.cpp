// Objects and the content under them: who sees what, what is listed, and that content is removed
// when nothing refers to it, and never before.
#include "sql/server_world.h"

namespace millrace::test {
namespace {

class Blobs : public EngineTest {
 protected:
  std::string names(Session& session, const std::string& prefix, const std::string& more = "") {
    return session.value(
        fmt::format("select string_agg(name || case when id is null then '/' else '' "
                    "end, ' ' order by n) from (select *, row_number() over () as n "
                    "from millrace.list_objects('medical-docs', $1{})) l",
                    more),
        pg::params(prefix));
  }
  std::string condemned() {
    return api.value(
        "select string_agg(case when removable then 'removable' else 'kept' end, ' ') "
        "from millrace.condemn_blobs(100)");
  }
  int forget() {
    return static_cast<int>(
        api.number("select millrace.forget_blobs(coalesce(array_agg(tenant_id), '{}'), "
                   "coalesce(array_agg(sha256), '{}')) from millrace.condemn_blobs(100)"));
  }
  std::int64_t blobs() { return sql.number("select count(*) from millrace.blob_object"); }
  static std::string path(std::string_view user, std::string_view name) {
    return fmt::format("{}/{}", user, name);
  }
  ServerSession api{database};
};

// --- Objects ---

// T-02, T-04: a user's folder is the user's, whatever the token says besides.
TEST_F(Blobs, t04_a_user_sees_the_own_folder_alone) {
  put_object(api, kAda, path(kAda, "1_a.pdf"), "a");
  put_object(api, kBob, path(kBob, "1_b.pdf"), "b");
  User ada{database, kAda};
  User elsewhere{database, kAda, kOther};
  EXPECT_EQ(ada.value("select millrace.get_object('medical-docs', $1) ->> 'size_bytes'",
                      pg::params(path(kAda, "1_a.pdf"))),
            "1");
  for (const auto& [session, name] : {std::pair<Session*, std::string>{&ada, path(kBob, "1_b.pdf")},
                                      {&elsewhere, path(kAda, "1_a.pdf")},
                                      {&ada, path(kAda, "2_a.pdf")}}) {
    EXPECT_EQ(session->refused("select millrace.get_object('medical-docs', $1)", pg::params(name))
                  .sqlstate,
              "MR031")
        << name;
  }
  EXPECT_EQ(names(ada, ""), std::string(kAda) + "/");
  EXPECT_EQ(names(ada, std::string(kBob)), "(null)");
  EXPECT_EQ(names(elsewhere, ""), "(null)");
  EXPECT_EQ(ada.value("select string_agg(name, ' ') from millrace.storage_object"),
            path(kAda, "1_a.pdf"));
  EXPECT_EQ(
      api.refused("select millrace.begin_upload(jsonb_build_object('kind', 'object', 'user_id', "
                  "$1::text, 'bucket', 'medical-docs', 'object_name', $2::text))",
                  pg::params(kAda, path(kBob, "x")))
          .sqlstate,
      "42501");
}

TEST_F(Blobs, names_that_no_object_may_have_are_refused) {
  for (const auto* name :
       {"", "/a", "a//b", "a/", "../a", "a/../b", "a/.", "ü", "a#b", "a%b", "a\\b", "a\nb"}) {
    EXPECT_EQ(api.refused("select millrace.begin_upload(jsonb_build_object('kind', 'object', "
                          "'bucket', 'medical-docs', 'object_name', $1::text))",
                          pg::params(name))
                  .sqlstate,
              "MR024")
        << name;
  }
  EXPECT_EQ(api.refused("select millrace.begin_upload(jsonb_build_object('kind', 'object', "
                        "'bucket', 'no', 'object_name', 'a'))")
                .sqlstate,
            "MR031");
}

TEST_F(Blobs, an_object_is_replaced_only_where_that_was_asked_for) {
  const auto name = path(kAda, "a");
  put_object(api, kAda, name, "one");
  EXPECT_EQ(
      api.refused("select millrace.begin_upload(jsonb_build_object('kind', 'object', 'user_id', "
                  "$1::text, 'bucket', 'medical-docs', 'object_name', $2::text))",
                  pg::params(kAda, name))
          .sqlstate,
      "MR030");
  put_object(api, kAda, name, "three", "medical-docs", true);
  EXPECT_EQ(sql.value("select size_bytes from millrace.storage_object"), "5");
  EXPECT_EQ(sql.value("select bytes || ' ' || files from millrace.tenant_stored($1)",
                      pg::params(kTenant)),
            "5 1");
}

// An export that a service put into the user's folder.
TEST_F(Blobs, i06_a_user_replaces_the_own_objects_alone) {
  const auto name = path(kAda, "export.pdf");
  const auto service =
      member(api,
             api.value("select millrace.begin_upload(jsonb_build_object('kind', 'object', "
                       "'bucket', 'exports', 'object_name', $1::text))::text",
                       pg::params(name)),
             "upload_id");
  const auto begin =
      "select millrace.begin_upload(jsonb_build_object('kind', 'object', 'user_id', "
      "$1::text, 'bucket', 'exports', 'object_name', $2::text, 'replace', true))";
  // Announced while there was none.
  const auto early = member(api, api.value(begin, pg::params(kAda, name)), "upload_id");
  finish(api, service, "made");
  EXPECT_EQ(
      api.refused("select millrace.finish_upload($1, $2)", pg::params(early, stored(api, "forged")))
          .sqlstate,
      "MR030");
  EXPECT_EQ(api.refused(begin, pg::params(kAda, name)).sqlstate, "MR030");
  EXPECT_EQ(sql.value("select size_bytes from millrace.storage_object"), "4");
}

// Both were announced while there was none.
TEST_F(Blobs, of_two_that_end_at_once_one_is_told_that_it_exists) {
  const auto begin = [&] {
    return member(api,
                  api.value("select millrace.begin_upload(jsonb_build_object('kind', 'object', "
                            "'bucket', 'exports', 'object_name', 'a'))::text"),
                  "upload_id");
  };
  const auto one = begin();
  const auto two = begin();
  finish(api, one, "x");
  EXPECT_EQ(api.refused("select millrace.finish_upload($1, $2)", pg::params(two, stored(api, "y")))
                .sqlstate,
            "MR030");
}

TEST_F(Blobs, lists_show_one_folder_and_go_on_behind_a_page) {
  for (const auto* name : {"b/x", "a", "b/y/z", "c", "b0", "b!"})
    put_object(api, kAda, path(kAda, name), "1");
  EXPECT_EQ(names(api, std::string(kAda)), "a b! b/ b0 c");
  EXPECT_EQ(names(api, path(kAda, "b/")), "x y/");
  EXPECT_EQ(names(api, std::string(kAda), ", 2"), "a b!");
  EXPECT_EQ(names(api, std::string(kAda), ", 2, 2"), "b/ b0");
  EXPECT_EQ(names(api, std::string(kAda), ", 2, 4"), "c");
  EXPECT_EQ(names(api, std::string(kAda), ", 100, 0, 'name', true"), "c b0 b/ b! a");
  EXPECT_EQ(names(api, std::string(kAda), ", 100, 0, 'name', false, 'b'"), "b! b/ b0");
  EXPECT_EQ(names(api, "nothing"), "(null)");
  EXPECT_EQ(api.refused("select * from millrace.list_objects('exports', '', 0)").sqlstate, "MR024");
  EXPECT_EQ(
      api.refused("select * from millrace.list_objects('exports', '', 1, 0, 'size')").sqlstate,
      "MR024");
}

TEST_F(Blobs, removal_answers_what_was_removed_and_is_silent_about_the_rest) {
  put_object(api, kAda, path(kAda, "a"), "1");
  put_object(api, kBob, path(kBob, "b"), "2");
  User ada{database, kAda};
  EXPECT_EQ(ada.value("select string_agg(o ->> 'name', ' ') from millrace.remove_objects("
                      "'medical-docs', array[$1, $2, 'no']) o",
                      pg::params(path(kAda, "a"), path(kBob, "b"))),
            path(kAda, "a"));
  EXPECT_EQ(sql.value("select string_agg(name, ' ') from millrace.storage_object"),
            path(kBob, "b"));
}

TEST_F(Blobs, the_document_of_a_file_cannot_be_removed_or_replaced_by_its_user) {
  const auto file = put_file(api, kAda, "hello");
  User ada{database, kAda};
  const auto name = member(sql, file, "storage_path");
  EXPECT_EQ(ada.value("select count(*) from millrace.remove_objects('medical-docs', array[$1])",
                      pg::params(name)),
            "0");
  EXPECT_EQ(
      api.refused("select millrace.begin_upload(jsonb_build_object('kind', 'object', 'user_id', "
                  "$1::text, 'bucket', 'medical-docs', 'object_name', $2::text, 'replace', true))",
                  pg::params(kAda, name))
          .sqlstate,
      "MR030");
}

// The row is made while the removal waits for the object.
TEST_F(Blobs, a_document_that_becomes_a_file_meanwhile_is_not_removed_by_its_user) {
  put_object(api, kAda, path(kAda, "a"), "1");
  User ada{database, kAda};
  User again{database, kAda};
  const auto profile = ada.value("select millrace.create_profile('p')");
  ada.script("begin");
  ada.run(
      "select millrace.put_shell_files(jsonb_build_array(jsonb_build_object('patient_id', "
      "$1::text, 'storage_path', $2::text)))",
      pg::params(profile, path(kAda, "a")));
  std::string removed;
  std::jthread waiting([&] {
    removed = again.value("select count(*) from millrace.remove_objects('medical-docs', array[$1])",
                          pg::params(path(kAda, "a")));
  });
  while (
      !sql.yes("select exists (select from pg_stat_activity where wait_event_type = 'Lock' and "
               "datname = current_database())")) {
  }
  ada.script("commit");
  waiting.join();
  EXPECT_EQ(removed, "0");
  EXPECT_EQ(sql.number("select count(*) from millrace.storage_object"), 1);
}

// A repeat of the first step makes it young again.
TEST_F(Blobs, u08_a_document_that_was_stored_again_is_young) {
  stop_clock(sql);
  put_object(api, kAda, path(kAda, "a"), "1");
  pass(sql, "25 hours");
  put_object(api, kAda, path(kAda, "a"), "2", "medical-docs", true);
  EXPECT_EQ(sql.number("select millrace.sweep_objects(10)"), 0);
  pass(sql, "25 hours");
  EXPECT_EQ(sql.number("select millrace.sweep_objects(10)"), 1);
}

// U-08.
TEST_F(Blobs, u08_documents_that_never_became_a_file_are_swept) {
  stop_clock(sql);
  put_object(api, kAda, path(kAda, "orphan"), "1");
  put_object(api, kAda, path(kAda, "export"), "2", "exports");
  put_file(api, kAda, "kept");
  EXPECT_EQ(sql.number("select millrace.sweep_objects(10)"), 0);
  pass(sql, "25 hours");
  EXPECT_EQ(sql.number("select millrace.sweep_objects(10)"), 1);
  EXPECT_EQ(sql.number("select count(*) from millrace.storage_object"), 2);
}

// The user makes a file of it at the moment of the sweep.
TEST_F(Blobs, u08_a_document_that_becomes_a_file_meanwhile_is_passed_over) {
  put_object(api, kAda, path(kAda, "a"), "1");
  User ada{database, kAda};
  const auto profile = ada.value("select millrace.create_profile('p')");
  pass(sql, "25 hours");
  ada.script("begin");
  ada.run(
      "select millrace.put_shell_files(jsonb_build_array(jsonb_build_object('patient_id', "
      "$1::text, 'storage_path', $2::text)))",
      pg::params(profile, path(kAda, "a")));
  EXPECT_EQ(sql.number("select millrace.sweep_objects(10)"), 0);
  ada.script("commit");
  EXPECT_EQ(sql.number("select millrace.sweep_objects(10)"), 0);
  EXPECT_EQ(sql.number("select count(*) from millrace.storage_object"), 1);
}

// --- Content ---

TEST_F(Blobs, equal_content_of_a_tenant_is_kept_once) {
  put_file(api, kAda, "same");
  put_file(api, kBob, "same");
  EXPECT_EQ(blobs(), 1);
  ServerSession elsewhere{database, kOther};
  put_file(elsewhere, kAda, "same");
  EXPECT_EQ(blobs(), 2);
}

// Two steps, with a grace before the first and a look under the lock in both.
TEST_F(Blobs, g08_content_without_a_reference_is_condemned_after_the_grace_and_then_forgotten) {
  stop_clock(sql);
  put_object(api, kAda, path(kAda, "a"), "1");
  EXPECT_EQ(condemned(), "(null)");
  api.run("select millrace.remove_objects('medical-docs', array[$1])", pg::params(path(kAda, "a")));
  EXPECT_EQ(condemned(), "(null)");
  pass(sql, "25 hours");
  EXPECT_EQ(condemned(), "removable");
  EXPECT_TRUE(
      api.yes("select if_stored_before = millrace.now() - interval '24 hours' from "
              "millrace.condemn_blobs(1)"));
  // The sweeper died here: it is told again.
  EXPECT_EQ(condemned(), "removable");
  EXPECT_EQ(forget(), 1);
  EXPECT_EQ(blobs(), 0);
  EXPECT_EQ(condemned(), "(null)");
}

TEST_F(Blobs, content_with_another_reference_stays) {
  stop_clock(sql);
  put_object(api, kAda, path(kAda, "a"), "1");
  put_object(api, kAda, path(kAda, "b"), "1");
  api.run("select millrace.remove_objects('medical-docs', array[$1])", pg::params(path(kAda, "a")));
  pass(sql, "25 hours");
  EXPECT_EQ(condemned(), "(null)");
  EXPECT_EQ(blobs(), 1);
}

// Its bytes are another tenant's too.
TEST_F(Blobs, content_that_another_tenant_has_is_forgotten_and_its_bytes_kept) {
  stop_clock(sql);
  ServerSession elsewhere{database, kOther};
  put_object(api, kAda, path(kAda, "a"), "1");
  put_object(elsewhere, kAda, path(kAda, "a"), "1");
  api.run("select millrace.remove_objects('medical-docs', array[$1])", pg::params(path(kAda, "a")));
  pass(sql, "25 hours");
  EXPECT_EQ(condemned(), "kept");
  EXPECT_EQ(forget(), 1);
  EXPECT_EQ(sql.value("select string_agg(tenant_id::text, ' ') from millrace.blob_object"), kOther);
}

// The same content is uploaded again between the two steps: its bytes are young, its row is saved.
TEST_F(Blobs, condemned_content_that_is_stored_again_is_not_forgotten) {
  stop_clock(sql);
  put_object(api, kAda, path(kAda, "a"), "1");
  api.run("select millrace.remove_objects('medical-docs', array[$1])", pg::params(path(kAda, "a")));
  pass(sql, "25 hours");
  EXPECT_EQ(condemned(), "removable");
  const auto doomed = sql.rows("select tenant_id, sha256 from millrace.blob_object");
  put_object(api, kAda, path(kAda, "b"), "1");
  EXPECT_EQ(api.number("select millrace.forget_blobs(array[$1::uuid], array[$2::bytea])",
                       pg::params(doomed[0].text(0), doomed[0].text(1))),
            0);
  EXPECT_EQ(condemned(), "(null)");
  EXPECT_EQ(blobs(), 1);
}

// The upload's transaction holds the content's row while the sweep looks.
TEST_F(Blobs, content_that_is_being_referred_to_is_passed_over) {
  stop_clock(sql);
  put_object(api, kAda, path(kAda, "a"), "1");
  api.run("select millrace.remove_objects('medical-docs', array[$1])", pg::params(path(kAda, "a")));
  pass(sql, "25 hours");
  ServerSession other{database};
  const auto upload = member(other, begin_file(other, kAda, "1"), "upload_id");
  const auto blob = stored(other, "1");
  other.script("begin");
  other.run("select millrace.finish_upload($1, $2)", pg::params(upload, blob));
  EXPECT_EQ(condemned(), "(null)");
  other.script("commit");
  EXPECT_EQ(condemned(), "(null)");
  EXPECT_EQ(blobs(), 1);
}

// The other way round: it waits for the sweep, and undoes what that decided.
TEST_F(Blobs, a_reference_that_waits_for_the_sweep_saves_the_content) {
  stop_clock(sql);
  put_object(api, kAda, path(kAda, "a"), "1");
  api.run("select millrace.remove_objects('medical-docs', array[$1])", pg::params(path(kAda, "a")));
  pass(sql, "25 hours");
  ServerSession other{database};
  const auto upload = member(other, begin_file(other, kAda, "1"), "upload_id");
  const auto blob = stored(other, "1");
  api.script("begin");
  EXPECT_EQ(condemned(), "removable");
  std::jthread waiting(
      [&] { other.run("select millrace.finish_upload($1, $2)", pg::params(upload, blob)); });
  while (
      !sql.yes("select exists (select from pg_stat_activity where wait_event_type = 'Lock' and "
               "datname = current_database())")) {
  }
  api.script("commit");
  waiting.join();
  EXPECT_EQ(condemned(), "(null)");
  EXPECT_EQ(forget(), 0);
  EXPECT_EQ(blobs(), 1);
}

// Two tenants make and remove objects of the same content while two sweepers condemn and forget:
// no reference is ever without its content, and nobody gets an error.
TEST_F(Blobs, g08_references_come_and_go_while_content_is_swept) {
  sql.run(
      "update millrace.system_configuration set config_value = '7200' where config_key = "
      "'storage.orphan_grace_seconds'");
  std::atomic<int> busy = 2;
  together(4, [&](int i, const std::atomic<bool>& failed) {
    ServerSession mine{database, i % 2 == 0 ? kTenant : kOther};
    if (i < 2) {
      for (int n = 0; n < 20 && !failed; ++n) {
        put_object(mine, kAda, path(kAda, "a"), "same");
        mine.run("select millrace.remove_objects('medical-docs', array[$1])",
                 pg::params(path(kAda, "a")));
      }
      --busy;
      return;
    }
    ServerSession sweeper{database, ""};
    Session old{database};
    while (busy > 0 && !failed) {
      old.run(
          "update millrace.orphan_note set noted_at = noted_at - interval '3 hours' where "
          "note_id in (select note_id from millrace.orphan_note for update skip locked)");
      for (const auto row :
           sweeper.rows("select tenant_id, sha256 from millrace.condemn_blobs(100)")) {
        sweeper.run("select millrace.forget_blobs(array[$1::uuid], array[$2::bytea])",
                    pg::params(row.text(0), row.text(1)));
      }
    }
  });
  // What is left is forgotten by ordinary means.
  pass(sql, "3 hours");
  forget();
  EXPECT_EQ(blobs(), 0);
  EXPECT_EQ(sql.number("select count(*) from millrace.storage_object"), 0);
}

// What a stalled process stored long ago may be gone: it must store it again.
TEST_F(Blobs, content_that_was_stored_too_long_ago_is_not_referred_to) {
  const auto upload = member(api, begin_file(api, kAda, "1"), "upload_id");
  const auto old =
      stored(api, "1", sql.value("select (millrace.now() - interval '61 minutes')::text"));
  EXPECT_EQ(api.refused("select millrace.finish_upload($1, $2)", pg::params(upload, old)).sqlstate,
            "MR037");
  finish(api, upload, "1");
  // And the grace is never shorter than that.
  EXPECT_EQ(sql.refused("select millrace.set_config_value('storage.orphan_grace_seconds', '3600')")
                .sqlstate,
            "MR020");
}

// Left behind by writers that died: known to nobody.
TEST_F(Blobs, keys_of_the_store_that_no_row_knows_are_told) {
  put_file(api, kAda, "known");
  const auto upload = member(api, begin_file(api, kAda, "9"), "upload_id");
  api.run("select millrace.take_upload($1, null, $2::uuid)", pg::params(upload, kBob));
  api.run("select millrace.advance_upload($1, $2::uuid, 0, 4, 'sha256/part')",
          pg::params(upload, kBob));
  EXPECT_EQ(api.value("select string_agg(store_key, ' ') from millrace.unknown_blobs("
                      "array['a', 'sha256/part', 'b'], array[sha256('known'), sha256('part'), "
                      "sha256('unknown')])"),
            "b");
}

// The last safeguard is in the schema.
TEST_F(Blobs, content_that_something_refers_to_cannot_be_deleted) {
  put_file(api, kAda, "1");
  EXPECT_EQ(sql.refused("delete from millrace.blob_object").sqlstate, "23503");
}

TEST_F(Blobs, a_digest_with_another_size_is_refused) {
  put_file(api, kAda, "12");
  const auto upload = member(api, begin_file(api, kAda, "3"), "upload_id");
  EXPECT_EQ(api.refused("select millrace.finish_upload($1, $2::jsonb || '{\"size_bytes\": 3}')",
                        pg::params(upload, stored(api, "12")))
                .sqlstate,
            "MR024");
}

}  // namespace
}  // namespace millrace::test
