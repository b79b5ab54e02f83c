// shell_files and export_history as clients of the sources use them: rows of an owner, written
// through functions, seen through row security.
#include "sql/server_world.h"

namespace millrace::test {
namespace {

class Files : public EngineTest {
 protected:
  std::string object(std::string_view user, std::string_view name, std::string_view content) {
    const auto path = fmt::format("{}/{}", user, name);
    put_object(api, user, path, content);
    return path;
  }
  static std::string row(std::string_view profile, std::string_view path,
                         std::string_view key = {}) {
    return fmt::format(R"([{{"patient_id": "{}", "storage_path": "{}", "status": "uploaded"{}}}])",
                       profile, path,
                       key.empty() ? "" : fmt::format(R"(, "idempotency_key": "{}")", key));
  }
  static std::string put(Session& session, const std::string& rows,
                         std::string_view conflict = "merge") {
    return session.value("select id from millrace.put_shell_files($1::jsonb, $2)",
                         pg::params(rows, conflict));
  }
  Error put_refused(Session& session, const std::string& rows,
                    std::string_view conflict = "merge") {
    return session.refused("select id from millrace.put_shell_files($1::jsonb, $2)",
                           pg::params(rows, conflict));
  }
  ServerSession api{database};
  User ada{database, kAda};
  User bob{database, kBob};
  std::string profile = ada.value("select millrace.create_profile('Ada')");
  std::string bobs_profile = bob.value("select millrace.create_profile('Bob')");
};

// U-04, U-05, U-07, U-10: the row enqueues, in its own transaction, for whoever may write the row.
TEST_F(Files, u05_an_object_of_the_caller_becomes_a_file_with_its_first_job) {
  const auto path = object(kAda, "1700000000_scan.pdf", "hello");
  const auto id = put(ada, row(profile, path, "k"));
  EXPECT_EQ(
      ada.value("select status || ' ' || file_name || ' ' || size_bytes from millrace.shell_files"),
      "uploaded scan.pdf 5");
  const auto job = ada.value("select job_id from millrace.shell_files");
  EXPECT_EQ(sql.value("select millrace.get_job($1) ->> 'job_type'", pg::params(job)),
            "fast_queue_security");
  EXPECT_EQ(sql.value("select millrace.get_job($1) #>> '{payload,shell_file_id}'", pg::params(job)),
            id);
  EXPECT_EQ(ada.value("select millrace.job_status($1) ->> 'status'", pg::params(job)), "pending");
  // Directly, a user enqueues nothing (U-10).
  EXPECT_EQ(
      ada.refused("select millrace.enqueue_job_v3('fast_queue_ocr', 'n', '{\"a\": 1}')").sqlstate,
      "42501");
}

// I05: the path of a job is an object that the caller owns.
TEST_F(Files, i05_objects_and_profiles_of_others_are_refused) {
  const auto mine = object(kAda, "1_a", "a");
  const auto bobs = object(kBob, "1_b", "b");
  for (const auto& rows :
       {row(profile, bobs), row(bobs_profile, mine), row(profile, "no/such"),
        row("00000000-0000-4000-8000-00000000dead", mine), row(bobs_profile, bobs)}) {
    EXPECT_EQ(put_refused(ada, rows).sqlstate, "42501") << rows;
  }
  User elsewhere{database, kAda, kOther};
  EXPECT_EQ(put_refused(elsewhere, row(profile, mine)).sqlstate, "42501");
  EXPECT_EQ(sql.number("select count(*) from millrace.shell_files"), 0);
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 0);
}

TEST_F(Files, i06_columns_of_the_engine_cannot_be_given) {
  const auto path = object(kAda, "1_a", "a");
  for (const auto* more : {R"("id": "00000000-0000-4000-8000-000000000009")", R"("tenant_id": "x")",
                           R"("job_id": null)", R"("sha256": "x")"}) {
    EXPECT_EQ(put_refused(ada, fmt::format(R"([{{"patient_id": "{}", "storage_path": "{}", {}}}])",
                                           profile, path, more))
                  .sqlstate,
              "42703")
        << more;
  }
  EXPECT_EQ(put_refused(
                ada, fmt::format(
                         R"([{{"patient_id": "{}", "storage_path": "{}", "status": "completed"}}])",
                         profile, path))
                .sqlstate,
            "MR024");
  for (const auto* rows : {"{}", "[]", "[1]", "null"}) {
    EXPECT_EQ(put_refused(ada, rows).sqlstate, "MR024") << rows;
  }
}

// U-03, F02: the source's retry stores a second object and upserts with the same key.
TEST_F(Files, u03_an_upsert_with_the_same_key_and_content_is_the_same_file) {
  const auto first = put(ada, row(profile, object(kAda, "1_a", "hello"), "k"));
  sql.run("update millrace.shell_files set status = 'completed'");
  EXPECT_EQ(put(ada, row(profile, object(kAda, "2_a", "hello"), "k")), first);
  EXPECT_EQ(sql.value("select status from millrace.shell_files"), "completed");
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 1);
  // The second object is nobody's, and goes with the sweep (U-06).
  pass(sql, "25 hours");
  EXPECT_EQ(sql.number("select millrace.sweep_objects(10)"), 1);
  EXPECT_EQ(sql.value("select right(name, 3) from millrace.storage_object"), "1_a");
}

TEST_F(Files, u03_a_key_is_unique_per_owner_and_content) {
  put(ada, row(profile, object(kAda, "1_a", "hello"), "k"));
  const auto other = row(profile, object(kAda, "2_a", "other"), "k");
  const auto error = put_refused(ada, other);
  EXPECT_EQ(error.sqlstate, "23505");
  EXPECT_EQ(error.constraint, "shell_files_idempotency_key");
  EXPECT_EQ(put_refused(ada, row(profile, object(kAda, "3_a", "hello"), "k"), "error").sqlstate,
            "23505");
  EXPECT_EQ(put(ada, other, "ignore"), "(none)");
  EXPECT_NE(put(bob, row(bobs_profile, object(kBob, "1_b", "hello"), "k")), "(none)");
}

// F02: one document of two children has one key, by the sources' rule for keys.
TEST_F(Files, f02_an_upsert_with_the_key_of_another_patients_file_is_refused) {
  const auto child = ada.value("select millrace.create_profile('Child')");
  put(ada, row(profile, object(kAda, "1_a", "hello"), "k"));
  const auto again = row(child, object(kAda, "2_a", "hello"), "k");
  const auto error = put_refused(ada, again);
  EXPECT_EQ(error.sqlstate, "23505");
  EXPECT_EQ(error.constraint, "shell_files_idempotency_key");
  EXPECT_EQ(put(ada, again, "ignore"), "(none)");
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 1);
}

TEST_F(Files, f03_concurrent_upserts_with_one_key_make_one_file) {
  const auto one = row(profile, object(kAda, "1_a", "hello"), "k");
  const auto two = row(profile, object(kAda, "2_a", "hello"), "k");
  User again{database, kAda};
  ada.script("begin");
  const auto first = put(ada, one);
  std::string second;
  std::jthread waiting([&] { second = put(again, two); });
  while (
      !sql.yes("select exists (select from pg_stat_activity where wait_event_type = 'Lock' and "
               "datname = current_database())")) {
  }
  ada.script("commit");
  waiting.join();
  EXPECT_EQ(second, first);
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 1);
}

// T-11, V-07: proved with users' tokens.
TEST_F(Files, t11_a_user_sees_the_own_files_alone) {
  const auto mine = put(ada, row(profile, object(kAda, "1_a", "a")));
  const auto bobs = put(bob, row(bobs_profile, object(kBob, "1_b", "b")));
  EXPECT_EQ(ada.value("select string_agg(id::text, ' ') from millrace.shell_files"), mine);
  EXPECT_EQ(bob.value("select string_agg(id::text, ' ') from millrace.shell_files"), bobs);
  EXPECT_EQ(ada.number("select count(*) from millrace.shell_files where patient_id = $1",
                       pg::params(bobs_profile)),
            0);
  EXPECT_EQ(ada.value("select string_agg(f ->> 'id', ' ') from millrace.list_files() f"), mine);
  EXPECT_EQ(ada.value("select millrace.get_file($1) #>> '{job,status}'", pg::params(mine)),
            "pending");
  EXPECT_EQ(ada.refused("select millrace.get_file($1)", pg::params(bobs)).sqlstate, "MR039");
  User nobody{database, kAda, kOther};
  EXPECT_EQ(nobody.number("select count(*) from millrace.shell_files"), 0);
  ServerSession service{database, kTenant, "service_role"};
  EXPECT_EQ(service.number("select count(*) from millrace.shell_files"), 2);
}

TEST_F(Files, i06_a_user_changes_listed_columns_of_own_rows) {
  const auto mine = put(ada, row(profile, object(kAda, "1_a", "a")));
  const auto bobs = put(bob, row(bobs_profile, object(kBob, "1_b", "b")));
  const auto other = ada.value("select millrace.create_profile('Child')");
  EXPECT_EQ(
      ada.value("select string_agg(id::text || file_name, ' ') from millrace.update_shell_files("
                "array[$1::uuid, $2::uuid], '{\"file_name\": \"new\"}')",
                pg::params(mine, bobs)),
      mine + "new");
  EXPECT_EQ(sql.value("select file_name from millrace.shell_files where id = $1", pg::params(bobs)),
            "b");
  ada.run(
      "select millrace.update_shell_files(array[$1::uuid], jsonb_build_object('patient_id', "
      "$2::text))",
      pg::params(mine, other));
  EXPECT_EQ(ada.refused("select millrace.update_shell_files(array[$1::uuid], "
                        "jsonb_build_object('patient_id', $2::text))",
                        pg::params(mine, bobs_profile))
                .sqlstate,
            "42501");
  for (const auto* patch :
       {R"({"status": "completed"})", R"({"processing_error": {}})", R"({"owner_id": "x"})",
        R"({"storage_path": "x"})", R"({"job_id": null})"}) {
    EXPECT_EQ(ada.refused("select millrace.update_shell_files(array[$1::uuid], $2::jsonb)",
                          pg::params(mine, patch))
                  .sqlstate,
              "42501")
        << patch;
  }
  ServerSession service{database, kTenant, "service_role"};
  service.run(
      "select millrace.update_shell_files(array[$1::uuid], "
      "'{\"status\": \"failed\", \"processing_error\": {\"current_error\": {}}}')",
      pg::params(mine));
  EXPECT_EQ(ada.value("select status from millrace.shell_files"), "failed");
  EXPECT_EQ(
      service
          .refused("select millrace.update_shell_files(array[$1::uuid], '{\"status\": \"done\"}')",
                   pg::params(mine))
          .sqlstate,
      "MR024");
}

TEST_F(Files, a_deleted_file_takes_its_object_along_and_its_job_is_cancelled) {
  const auto mine = put(ada, row(profile, object(kAda, "1_a", "a")));
  const auto bobs = put(bob, row(bobs_profile, object(kBob, "1_b", "b")));
  const auto job = ada.value("select job_id from millrace.shell_files");
  EXPECT_EQ(ada.value("select string_agg(id::text, ' ') from millrace.delete_shell_files("
                      "array[$1::uuid, $2::uuid])",
                      pg::params(mine, bobs)),
            mine);
  EXPECT_EQ(sql.value("select string_agg(id::text, ' ') from millrace.shell_files"), bobs);
  EXPECT_EQ(sql.value("select string_agg(right(name, 1), ' ') from millrace.storage_object"), "b");
  EXPECT_EQ(status(sql, job), "cancelled");
  EXPECT_EQ(imbalance(sql), "");
}

// A08: every foreign key's action, tried.
TEST_F(Files, a08_a_deleted_profile_takes_its_files_along) {
  put(ada, row(profile, object(kAda, "1_a", "a")));
  const auto job = ada.value("select job_id from millrace.shell_files");
  ada.run("select millrace.delete_profile($1)", pg::params(profile));
  EXPECT_EQ(sql.number("select count(*) from millrace.shell_files"), 0);
  EXPECT_EQ(sql.number("select count(*) from millrace.storage_object"), 0);
  EXPECT_EQ(status(sql, job), "cancelled");
  // Without the function too; the objects may then be swept.
  const auto path = object(kBob, "1_b", "b");
  put(bob, row(bobs_profile, path));
  sql.run("delete from millrace.user_profiles");
  EXPECT_EQ(sql.number("select count(*) from millrace.shell_files"), 0);
  EXPECT_FALSE(sql.yes("select claimed from millrace.storage_object"));
}

TEST_F(Files, a_profile_that_is_deleted_during_its_upload_leaves_nothing_half_done) {
  const auto upload =
      member(api, begin_file(api, kAda, "1", fmt::format(R"({{"patient_id": "{}"}})", profile)),
             "upload_id");
  ada.run("select millrace.delete_profile($1)", pg::params(profile));
  EXPECT_EQ(
      api.refused("select millrace.finish_upload($1, $2)", pg::params(upload, stored(api, "x")))
          .sqlstate,
      "MR036");
  EXPECT_EQ(sql.number("select count(*) from millrace.storage_object"), 0);
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 0);
}

// --- Exports ---

class Exports : public Files {
 protected:
  std::string history(std::string_view user, std::string_view path, int size = 10,
                      const std::string& more = "{}") {
    return service.value(
        "select id from millrace.create_export_history(jsonb_build_object('user_id', $1::text, "
        "'file_name', "
        "'cv.pdf', 'file_path', $2::text, 'file_size', $3::bigint) || $4::jsonb)",
        pg::params(user, path, size, more));
  }
  ServerSession service{database, kTenant, "service_role"};
};

// S-11, S-23.
TEST_F(Exports, s11_a_user_sees_the_own_history_and_writes_none) {
  const auto mine = history(kAda, "a");
  history(kBob, "b");
  EXPECT_EQ(ada.value("select string_agg(id::text, ' ') from millrace.export_history"), mine);
  EXPECT_EQ(ada.refused("select millrace.create_export_history('{}')").sqlstate, "42501");
  EXPECT_EQ(
      ada.refused("insert into millrace.export_history (id) values (gen_random_uuid())").sqlstate,
      "42501");
  EXPECT_EQ(ada.refused("update millrace.export_history set file_size = 0").sqlstate, "42501");
  EXPECT_EQ(ada.refused("select millrace.put_export_jobs('[{}]')").sqlstate, "42501");
  EXPECT_TRUE(sql.yes(
      "select bool_and(expires_at - created_at = interval '7 days') from millrace.export_history"));
}

TEST_F(Exports, a_job_that_is_told_twice_has_one_row) {
  const auto more = fmt::format(R"({{"job_id": "{}"}})", kTenant);
  const auto id = history(kAda, "a", 10, more);
  EXPECT_EQ(history(kAda, "a", 10, more), id);
  EXPECT_EQ(
      service
          .refused("select millrace.create_export_history(jsonb_build_object('user_id', $1::text, "
                   "'file_name', 'x', 'file_path', 'x', 'file_size', 1, 'job_id', $2::text))",
                   pg::params(kBob, kTenant))
          .sqlstate,
      "MR024");
}

// X-18, K10: counted one by one, whatever number the client believes.
TEST_F(Exports, x18_downloads_are_counted_atomically) {
  const auto path = fmt::format("{}/a.pdf", kAda);
  put_object(api, kAda, path, "a", "exports");
  const auto id = history(kAda, path);
  User again{database, kAda};
  const auto count = [&](Session& session) {
    session.run("select millrace.update_export_history(array[$1::uuid], '{\"download_count\": 1}')",
                pg::params(id));
  };
  ada.script("begin");
  count(ada);
  std::jthread waiting([&] { count(again); });
  while (
      !sql.yes("select exists (select from pg_stat_activity where wait_event_type = 'Lock' and "
               "datname = current_database())")) {
  }
  ada.script("commit");
  waiting.join();
  EXPECT_EQ(ada.value("select download_count from millrace.export_history"), "2");
  EXPECT_EQ(ada.value("select millrace.count_download($1) ->> 'download_count'", pg::params(id)),
            "3");
  EXPECT_EQ(bob.refused("select millrace.count_download($1)", pg::params(id)).sqlstate, "MR031");
  // Who only asks counts nothing, and sees no more than who fetches.
  EXPECT_EQ(ada.value("select d ->> 'download_count' || ' ' || (d ->> 'expired') from "
                      "millrace.find_download($1) d",
                      pg::params(id)),
            "3 false");
  EXPECT_EQ(ada.value("select download_count from millrace.export_history"), "3");
  EXPECT_EQ(bob.refused("select millrace.find_download($1)", pg::params(id)).sqlstate, "MR031");
  EXPECT_EQ(bob.number("select count(*) from millrace.update_export_history(array[$1::uuid], "
                       "'{\"download_count\": 1}')",
                       pg::params(id)),
            0);
  EXPECT_EQ(
      ada.refused(
             "select millrace.update_export_history(array[$1::uuid], '{\"file_path\": \"x\"}')",
             pg::params(id))
          .sqlstate,
      "42501");
  pass(sql, "8 days");
  EXPECT_EQ(ada.value("select millrace.count_download($1) ->> 'expired'", pg::params(id)), "true");
  EXPECT_EQ(ada.value("select millrace.find_download($1) ->> 'expired'", pg::params(id)), "true");
  EXPECT_EQ(ada.value("select download_count from millrace.export_history"), "3");
}

// X-07, X-18: until the last export that names it has expired, and then no more, removed or not.
TEST_F(Exports, x18_the_file_of_an_export_is_there_as_long_as_the_export) {
  stop_clock(sql);
  const auto path = fmt::format("{}/a.pdf", kAda);
  put_object(api, kAda, path, "a", "exports");
  const auto left = [&] {
    return ada.value("select coalesce(millrace.get_object('exports', $1) ->> 'expires_in', 'any')",
                     pg::params(path));
  };
  EXPECT_EQ(left(), "any") << "no export names it";
  history(kAda, path);
  EXPECT_EQ(left(), "604800");
  history(kAda, path, 10,
          fmt::format(R"({{"expires_at": "{}"}})",
                      sql.value("select millrace.now() + interval '8 days'")));
  pass(sql, "7 days");
  EXPECT_EQ(left(), "86400") << "the other one has it";
  pass(sql, "86399.5 seconds");
  EXPECT_EQ(left(), "0");
  pass(sql, "0.5 seconds");
  for (auto* session : {static_cast<Session*>(&ada), static_cast<Session*>(&service)}) {
    EXPECT_EQ(
        session->refused("select millrace.get_object('exports', $1)", pg::params(path)).sqlstate,
        "MR031");
  }
  EXPECT_TRUE(sql.yes("select exists (select from millrace.storage_object)")) << "not removed yet";
}

// X-06: what is handed out as an export is what was made.
TEST_F(Exports, x06_a_user_puts_nothing_where_an_export_lies) {
  const auto path = fmt::format("{}/a.pdf", kAda);
  const auto begin =
      "select millrace.begin_upload(jsonb_build_object('kind', 'object', 'user_id', $1::text, "
      "'bucket', $2::text, 'object_name', $3::text, 'replace', true))";
  const auto refused = [&] {
    return api.refused(begin, pg::params(kAda, "exports", path)).sqlstate;
  };
  put_object(api, kAda, path, "made", "exports");
  put_object(api, kAda, path, "own", "exports", true);  // Of no export yet: the user's own.
  // Announced before it was an export.
  const auto early = member(api, api.value(begin, pg::params(kAda, "exports", path)), "upload_id");
  const auto id = history(kAda, path);
  const auto finished = api.refused("select millrace.finish_upload($1, $2)",
                                    pg::params(early, stored(api, "forged")));
  EXPECT_EQ(finished.sqlstate, "MR030");
  EXPECT_EQ(refused(), "MR030");
  EXPECT_EQ(sql.value("select size_bytes from millrace.storage_object"), "3");
  // Not where it was either: it would be handed out as the export.
  ada.run("select millrace.remove_objects('exports', array[$1])", pg::params(path));
  EXPECT_EQ(sql.number("select count(*) from millrace.storage_object"), 0);
  EXPECT_EQ(refused(), "MR030");
  put_object(api, kAda, path, "other", "medical-docs", true);  // A name in another bucket is free.
  // Workers of services put their files themselves.
  const auto service_upload =
      member(api,
             api.value("select millrace.begin_upload(jsonb_build_object('kind', 'object', "
                       "'bucket', 'exports', 'object_name', $1::text, 'replace', true))",
                       pg::params(path)),
             "upload_id");
  finish(api, service_upload, "again");
  EXPECT_EQ(ada.number("select count(*) from millrace.delete_export_history(array[$1::uuid])",
                       pg::params(id)),
            1);
  put_object(api, kAda, path, "free", "exports");
}

// X-18: the files of an archive, each once; those of others, and expired ones, not.
TEST_F(Exports, x18_files_that_are_fetched_together_are_counted_once_each) {
  const auto first = history(kAda, "a");
  const auto second = history(kAda, "b");
  const auto other = history(kBob, "c");
  sql.run("update millrace.export_history set job_id = id");
  const auto count = [&](Session& session) {
    return session.number("select millrace.count_downloads(array[$1, $2, $1, $3]::uuid[])",
                          pg::params(first, second, other));
  };
  const auto counts = [&] {
    return sql.value(
        "select string_agg(download_count::text, ' ' order by file_path) from "
        "millrace.export_history");
  };
  EXPECT_EQ(count(ada), 2);
  EXPECT_EQ(counts(), "1 1 0");
  EXPECT_EQ(count(bob), 1);
  EXPECT_EQ(counts(), "1 1 1");
  // Two archives at once, with the same files in another order: one waits, none is lost.
  User again{database, kAda};
  ada.script("begin");
  count(ada);
  std::jthread waiting([&] {
    again.run("select millrace.count_downloads(array[$1, $2]::uuid[])", pg::params(second, first));
  });
  while (
      !sql.yes("select exists (select from pg_stat_activity where wait_event_type = 'Lock' and "
               "datname = current_database())")) {
  }
  ada.script("commit");
  waiting.join();
  EXPECT_EQ(counts(), "3 3 1");
  pass(sql, "8 days");
  EXPECT_EQ(count(ada), 0);
  EXPECT_EQ(counts(), "3 3 1");
}

// X-19: denied when used >= limit; expired ones do not count.
TEST_F(Exports, x19_quota_is_over_unexpired_history) {
  const auto quota = [&] {
    return ada.value("select millrace.check_storage_quota($1)::text", pg::params(kAda));
  };
  history(kAda, "a", 104857599);
  EXPECT_EQ(member(sql, quota(), "allowed"), "true");
  history(kAda, "b", 1);
  EXPECT_EQ(quota(), R"({"usedMB": 100.00, "allowed": false, "limitMB": 100})");
  EXPECT_EQ(ada.refused("select millrace.check_storage_quota($1)", pg::params(kBob)).sqlstate,
            "MR015");
  pass(sql, "8 days");
  EXPECT_EQ(member(sql, quota(), "usedMB"), "0.00");
}

// X-22, X-26, V-16: object and row go together.
TEST_F(Exports, x22_expired_exports_are_removed_with_their_objects) {
  put_object(api, kAda, fmt::format("{}/a.pdf", kAda), "a", "exports");
  put_object(api, kAda, fmt::format("{}/b.pdf", kAda), "b", "exports");
  history(kAda, fmt::format("{}/a.pdf", kAda));
  const auto young =
      history(kAda, fmt::format("{}/b.pdf", kAda), 1, R"({"expires_at": "2999-01-01T00:00:00Z"})");
  EXPECT_EQ(sql.number("select millrace.expire_exports(10)"), 0);
  pass(sql, "8 days");
  EXPECT_EQ(sql.number("select millrace.expire_exports(10)"), 1);
  EXPECT_EQ(sql.value("select string_agg(right(name, 5), ' ') from millrace.storage_object"),
            "b.pdf");
  EXPECT_EQ(bob.number("select count(*) from millrace.delete_export_history(array[$1::uuid])",
                       pg::params(young)),
            0);
  EXPECT_EQ(ada.number("select count(*) from millrace.delete_export_history(array[$1::uuid])",
                       pg::params(young)),
            1);
  EXPECT_EQ(sql.number("select count(*) from millrace.storage_object"), 0);
}

TEST_F(Exports, a_service_makes_export_jobs_by_the_table) {
  EXPECT_EQ(service.value("select j ->> 'status' from millrace.put_export_jobs(jsonb_build_array("
                          "jsonb_build_object('user_id', $1::text, 'document_id', $2::text))) j",
                          pg::params(kAda, kBob)),
            "pending");
  EXPECT_EQ(ada.number("select count(*) from millrace.export_jobs"), 1);
}

}  // namespace
}  // namespace millrace::test
