// Uploads: room reserved before, settled after; pieces behind a fence; content, object, file row
// and first job in one transaction, once, whoever dies or asks again.
#include "sql/server_world.h"

namespace millrace::test {
namespace {

class Uploads : public EngineTest {
 protected:
  void quota(const std::string& limits) {
    ServerSession admin{database, ""};
    admin.run("select millrace.create_tenant('clinic', $1, $2::jsonb)",
              pg::params(kTenant, limits));
  }
  std::string begin(std::string_view size, std::string_view more = "{}") {
    return member(api, begin_file(api, kAda, size, more), "upload_id");
  }
  Error begin_refused(std::string_view size, std::string_view more = "{}") {
    return api.refused(
        "select millrace.begin_upload(jsonb_build_object('kind', 'file', 'user_id', $1::text,"
        " 'size_bytes', $2::bigint) || $3::jsonb)",
        pg::params(kAda, size, more));
  }
  std::string counts() {
    return sql.value(
        "select format('%s files, %s objects, %s blobs, %s jobs', "
        "(select count(*) from millrace.shell_files), (select count(*) from "
        "millrace.storage_object),"
        "(select count(*) from millrace.blob_object), (select count(*) from millrace.job_fact))");
  }
  // stored, reserved
  std::string used() {
    return sql.value("select bytes || ' ' || reserved_bytes from millrace.tenant_stored($1)",
                     pg::params(kTenant));
  }
  ServerSession api{database};
};

// U-02, U-04, U-05, U-06, U-07, U-09.
TEST_F(Uploads, u05_content_object_row_and_first_job_come_together) {
  const auto file =
      put_file(api, kAda, "hello", R"({"idempotency_key": "k", "correlation_id": "c1"})");
  EXPECT_EQ(counts(), "1 files, 1 objects, 1 blobs, 1 jobs");
  EXPECT_EQ(member(sql, file, "status"), "uploaded");
  EXPECT_EQ(member(sql, file, "size_bytes"), "5");
  EXPECT_EQ(member(sql, file, "owner_id"), kAda);
  EXPECT_TRUE(member(sql, file, "storage_path").starts_with(std::string(kAda) + "/"));
  EXPECT_TRUE(member(sql, file, "storage_path").ends_with("_scan.pdf"));
  const auto job = member(sql, file, "job_id");
  EXPECT_EQ(sql.value("select millrace.get_job($1) ->> 'job_type'", pg::params(job)),
            "fast_queue_security");
  EXPECT_EQ(sql.value("select millrace.get_job($1) ->> 'job_name'", pg::params(job)),
            "Process scan.pdf");
  EXPECT_EQ(sql.value("select millrace.get_job($1) ->> 'correlation_id'", pg::params(job)), "c1");
  EXPECT_TRUE(
      sql.yes("select millrace.get_job($1) -> 'payload' = jsonb_build_object('shell_file_id', "
              "$2::text, 'storage_path', $3::text)",
              pg::params(job, member(sql, file, "id"), member(sql, file, "storage_path"))));
  // The patient is the user's own person, and named in the audit (A-05).
  EXPECT_TRUE(sql.yes("select account_owner_id = $1 from millrace.user_profiles where id = $2",
                      pg::params(kAda, member(sql, file, "patient_id"))));
  EXPECT_EQ(sql.value("select patient_id from millrace.audit where action = 'file_created'"),
            member(sql, file, "patient_id"));
  EXPECT_EQ(imbalance(sql), "");
}

// J06: what a file is called decides nothing about where it lies.
TEST_F(Uploads, j06_names_of_files_are_made_safe) {
  for (const auto* name :
       {"../../etc/passwd", "röntgen bild.pdf", "a/b\\c", "....", "", "%00\n\t"}) {
    const auto begun =
        begin_file(api, kAda, "1",
                   fmt::format(R"({{"file_name": {}}})",
                               sql.value("select to_json($1::text)::text", pg::params(name))));
    const auto file = finish(api, member(api, begun, "upload_id"), "x");
    const auto path = member(sql, file, "storage_path");
    EXPECT_TRUE(sql.yes("select $1 ~ '^[0-9a-f-]{36}/[0-9a-f-]{36}_[A-Za-z0-9_-][A-Za-z0-9._-]*$'",
                        pg::params(path)))
        << path;
  }
}

TEST_F(Uploads, u01_an_upload_succeeds_while_enqueue_is_switched_off_and_is_processed_later) {
  sql.run("select millrace.set_config_value('system.enqueue_enabled', 'false')");
  const auto file = put_file(api, kAda, "hello");
  EXPECT_EQ(member(sql, file, "job_id"), "(null)");
  EXPECT_EQ(counts(), "1 files, 1 objects, 1 blobs, 0 jobs");
  EXPECT_EQ(sql.number("select millrace.adopt_files(10)"), 0);
  sql.run("select millrace.set_config_value('system.enqueue_enabled', 'true')");
  EXPECT_EQ(sql.number("select millrace.expire_keys(10)"), 1);
  EXPECT_EQ(counts(), "1 files, 1 objects, 1 blobs, 1 jobs");
  EXPECT_TRUE(sql.yes("select job_id is not null from millrace.shell_files"));
  EXPECT_EQ(sql.number("select millrace.adopt_files(10)"), 0);
  EXPECT_EQ(sql.value("select string_agg(action, ' ' order by audit_id) from millrace.audit where "
                      "table_name = 'shell_files'"),
            "file_created file_enqueued");
}

TEST_F(Uploads, u11_a_file_of_the_ingest_pipeline_starts_as_uploaded) {
  const auto file =
      put_file(api, kAda, "hello", R"({"pipeline": "ingest", "correlation_id": "c"})");
  const auto job = member(sql, file, "job_id");
  EXPECT_EQ(sql.value("select format('%s %s %s', j ->> 'job_type', j ->> 'job_name', j ->> "
                      "'correlation_id') from millrace.get_job($1) j",
                      pg::params(job)),
            "ingest_document Ingest scan.pdf c");
  EXPECT_EQ(sql.value("select status from millrace.upload_jobs where job_id = $1", pg::params(job)),
            "uploaded");
  EXPECT_TRUE(
      sql.yes("select document_id = $2::uuid and user_id = $3::uuid and raw_path = $4 from "
              "millrace.upload_jobs where job_id = $1",
              pg::params(job, member(sql, file, "id"), kAda, member(sql, file, "storage_path"))));
  EXPECT_EQ(counts(), "1 files, 1 objects, 1 blobs, 1 jobs");
}

TEST_F(Uploads, u11_a_file_that_waits_for_its_first_job_gets_the_right_one) {
  sql.run("update millrace.job_type set enabled = false where job_type = 'ingest_document'");
  const auto waiting = put_file(api, kAda, "hello", R"({"pipeline": "ingest"})");
  EXPECT_EQ(member(sql, waiting, "job_id"), "(null)");
  EXPECT_NE(member(sql, put_file(api, kAda, "other"), "job_id"), "(null)");
  EXPECT_EQ(sql.number("select millrace.adopt_files(10)"), 0);
  sql.run("update millrace.job_type set enabled = true where job_type = 'ingest_document'");
  EXPECT_EQ(sql.number("select millrace.adopt_files(10)"), 1);
  EXPECT_EQ(sql.value("select millrace.get_job(f.job_id) ->> 'job_type' from millrace.shell_files "
                      "f where f.id = $1",
                      pg::params(member(sql, waiting, "id"))),
            "ingest_document");
}

TEST_F(Uploads, f02_the_same_key_for_another_pipeline_is_refused) {
  put_file(api, kAda, "hello", R"({"idempotency_key": "k"})");
  EXPECT_EQ(begin_refused("5", R"({"idempotency_key": "k", "pipeline": "ingest"})").sqlstate,
            "MR011");
}

TEST_F(Uploads, u01_a_full_queue_does_not_refuse_a_file) {
  set_queue(sql, "fast_queue", R"({"depth_max": 0})");
  EXPECT_NE(member(sql, put_file(api, kAda, "hello"), "job_id"), "(null)");
}

// S-14.
TEST_F(Uploads, s14_maintenance_pauses_intake_and_not_what_is_under_way) {
  const auto upload = begin("5");
  sql.run("select millrace.set_config_value('system.maintenance_mode', 'true')");
  EXPECT_EQ(begin_refused("5").sqlstate, "MR032");
  finish(api, upload, "hello");
  EXPECT_EQ(counts(), "1 files, 1 objects, 1 blobs, 1 jobs");
}

// --- Idempotency ---

// U-03, F02: same key and content, same answer; nothing is stored, reset or enqueued again.
TEST_F(Uploads, u03_a_retry_with_the_same_key_answers_the_same) {
  const auto first = put_file(api, kAda, "hello", R"({"idempotency_key": "k"})");
  sql.run("update millrace.shell_files set status = 'completed'");
  const auto again = begin_file(api, kAda, "5", R"({"idempotency_key": "k"})");
  EXPECT_EQ(member(sql, again, "state"), "exists");
  EXPECT_EQ(sql.value("select $1::jsonb #>> '{existing,id}'", pg::params(again)),
            member(sql, first, "id"));
  EXPECT_EQ(sql.value("select $1::jsonb #>> '{existing,status}'", pg::params(again)), "completed");
  EXPECT_EQ(counts(), "1 files, 1 objects, 1 blobs, 1 jobs");
  EXPECT_EQ(used(), "5 0");
}

// Both were announced before either ended.
TEST_F(Uploads, f03_two_uploads_with_one_key_make_one_file) {
  const auto one = begin("5", R"({"idempotency_key": "k"})");
  const auto two = begin("5", R"({"idempotency_key": "k"})");
  const auto first = finish(api, one, "hello");
  EXPECT_EQ(member(sql, finish(api, two, "hello"), "id"), member(sql, first, "id"));
  EXPECT_EQ(counts(), "1 files, 1 objects, 1 blobs, 1 jobs");
  EXPECT_EQ(used(), "5 0");
}

TEST_F(Uploads, f02_the_same_key_with_other_content_is_refused) {
  const auto one = begin("5", R"({"idempotency_key": "k"})");
  const auto two = begin("5", R"({"idempotency_key": "k"})");
  finish(api, one, "hello");
  EXPECT_EQ(
      api.refused("select millrace.finish_upload($1, $2)", pg::params(two, stored(api, "other")))
          .sqlstate,
      "MR011");
  EXPECT_EQ(counts(), "1 files, 1 objects, 1 blobs, 1 jobs");
}

// F01, F02: pieces can be compared at their end only. Nothing is answered before.
TEST_F(Uploads, f02_a_resumable_upload_with_a_used_key_is_judged_by_its_content) {
  const auto first = put_file(api, kAda, "hello", R"({"idempotency_key": "k"})");
  const auto more = R"({"idempotency_key": "k", "resumable": true})";
  const auto same = begin("5", more);
  const auto answer = finish(api, same, "hello");
  EXPECT_EQ(member(sql, answer, "id"), member(sql, first, "id"));
  EXPECT_EQ(member(sql, answer, "replayed"), "true");
  EXPECT_EQ(member(sql, first, "replayed"), "(null)");
  const auto other = begin("5", more);
  EXPECT_EQ(
      api.refused("select millrace.finish_upload($1, $2)", pg::params(other, stored(api, "other")))
          .sqlstate,
      "MR011");
  EXPECT_EQ(begin_refused("6", more).sqlstate, "MR011") << "its length tells at once";
  EXPECT_EQ(counts(), "1 files, 1 objects, 1 blobs, 1 jobs");
}

// F02: one document of two children has one key, by the sources' rule for keys.
TEST_F(Uploads, f02_the_same_key_for_another_patient_is_refused) {
  User ada{database, kAda};
  const auto of = [](const std::string& profile) {
    return fmt::format(R"({{"idempotency_key": "k", "patient_id": "{}"}})", profile);
  };
  const auto child = ada.value("select millrace.create_profile('Child')");
  const auto other = ada.value("select millrace.create_profile('Other child')");
  const auto early = begin("5", of(other));
  const auto file = put_file(api, kAda, "hello", of(child));
  EXPECT_EQ(begin_refused("5", of(other)).sqlstate, "MR011");
  EXPECT_EQ(begin_refused("5", R"({"idempotency_key": "k"})").sqlstate, "MR011")
      << "who names nobody means the own person";
  EXPECT_EQ(
      api.refused("select millrace.finish_upload($1, $2)", pg::params(early, stored(api, "hello")))
          .sqlstate,
      "MR011");
  EXPECT_EQ(sql.value("select $1::jsonb #>> '{existing,id}'",
                      pg::params(begin_file(api, kAda, "5", of(child)))),
            member(sql, file, "id"));
  EXPECT_EQ(counts(), "1 files, 1 objects, 1 blobs, 1 jobs");
}

// The second waits inside the unique index until the first has committed.
TEST_F(Uploads, f03_concurrent_ends_with_one_key_make_one_file) {
  const auto one = begin("5", R"({"idempotency_key": "k"})");
  const auto two = begin("5", R"({"idempotency_key": "k"})");
  ServerSession other{database};
  const auto blob = stored(api, "hello");
  api.script("begin");
  const auto first = api.value("select millrace.finish_upload($1, $2)", pg::params(one, blob));
  std::string second;
  std::jthread waiting([&] {
    second = other.value("select millrace.finish_upload($1, $2)", pg::params(two, blob));
  });
  while (
      !sql.yes("select exists (select from pg_stat_activity where wait_event_type = 'Lock' and "
               "datname = current_database())")) {
  }
  api.script("commit");
  waiting.join();
  EXPECT_EQ(member(sql, second, "id"), member(sql, first, "id"));
  EXPECT_EQ(counts(), "1 files, 1 objects, 1 blobs, 1 jobs");
}

// And where the first is undone, the second is the one that counts.
TEST_F(Uploads, f03_a_key_whose_holder_rolls_back_is_free) {
  const auto one = begin("5", R"({"idempotency_key": "k"})");
  const auto two = begin("5", R"({"idempotency_key": "k"})");
  ServerSession other{database};
  const auto blob = stored(api, "hello");
  api.script("begin");
  api.run("select millrace.finish_upload($1, $2)", pg::params(one, blob));
  std::string second;
  std::jthread waiting([&] {
    second = other.value("select millrace.finish_upload($1, $2)", pg::params(two, blob));
  });
  while (
      !sql.yes("select exists (select from pg_stat_activity where wait_event_type = 'Lock' and "
               "datname = current_database())")) {
  }
  api.script("rollback");
  waiting.join();
  EXPECT_EQ(sql.value("select id from millrace.shell_files"), member(sql, second, "id"));
  EXPECT_EQ(counts(), "1 files, 1 objects, 1 blobs, 1 jobs");
}

TEST_F(Uploads, keys_of_two_owners_do_not_meet) {
  const auto mine = put_file(api, kAda, "hello", R"({"idempotency_key": "k"})");
  const auto bobs = put_file(api, kBob, "other", R"({"idempotency_key": "k"})");
  EXPECT_NE(member(sql, mine, "id"), member(sql, bobs, "id"));
  ServerSession elsewhere{database, kOther};
  EXPECT_NE(member(sql, put_file(elsewhere, kAda, "third", R"({"idempotency_key": "k"})"), "id"),
            member(sql, mine, "id"));
}

// A repeat after a lost answer.
TEST_F(Uploads, ending_an_upload_twice_answers_the_same) {
  const auto upload = begin("5");
  const auto first = finish(api, upload, "hello");
  EXPECT_EQ(finish(api, upload, "hello"), first);
  EXPECT_EQ(
      api.refused("select millrace.finish_upload($1, $2)", pg::params(upload, stored(api, "other")))
          .sqlstate,
      "MR011");
  EXPECT_EQ(counts(), "1 files, 1 objects, 1 blobs, 1 jobs");
}

// The content was stored long ago by then: it is not asked for again.
TEST_F(Uploads, ending_an_upload_again_answers_the_same_however_late) {
  stop_clock(sql);
  const auto upload = begin("5");
  const auto blob = stored(api, "hello");
  const auto first = api.value("select millrace.finish_upload($1, $2)", pg::params(upload, blob));
  pass(sql, "2 hours");
  EXPECT_EQ(api.value("select millrace.finish_upload($1, $2)", pg::params(upload, blob)), first);
  EXPECT_EQ(counts(), "1 files, 1 objects, 1 blobs, 1 jobs");
}

// Many servers end one upload at once, after its client has asked all of them.
TEST_F(Uploads, p03_an_upload_that_many_end_at_once_is_one_file) {
  const auto upload = begin("5", R"({"idempotency_key": "k"})");
  const auto blob = stored(api, "hello");
  std::vector<std::string> answers(6);
  together(6, [&](int i, const std::atomic<bool>&) {
    ServerSession mine{database};
    answers[static_cast<std::size_t>(i)] =
        mine.value("select millrace.finish_upload($1, $2)", pg::params(upload, blob));
  });
  for (const auto& answer : answers) EXPECT_EQ(answer, answers[0]);
  EXPECT_EQ(counts(), "1 files, 1 objects, 1 blobs, 1 jobs");
  EXPECT_EQ(imbalance(sql), "");
}

// --- Quota ---

// E12: reserved before anything is stored, in one look; never exceeded.
TEST_F(Uploads, e12_room_is_reserved_before_and_settled_after) {
  quota(R"({"quota_bytes": 100})");
  const auto one = begin("60");
  EXPECT_EQ(used(), "0 60");
  EXPECT_EQ(begin_refused("41").sqlstate, "MR027");
  const auto two = begin("40");
  EXPECT_EQ(begin_refused("1").sqlstate, "MR027");
  finish(api, one, std::string(60, 'a'));
  EXPECT_EQ(used(), "60 40");
  EXPECT_EQ(begin_refused("1").sqlstate, "MR027");
  api.run("select millrace.abort_upload($1)", pg::params(two));
  EXPECT_EQ(used(), "60 0");
  begin("40");
}

TEST_F(Uploads, e12_files_are_counted_too_and_deleting_makes_room) {
  quota(R"({"quota_files": 2})");
  const auto file = put_file(api, kAda, "a");
  put_file(api, kAda, "b");
  EXPECT_EQ(begin_refused("1").sqlstate, "MR027");
  ServerSession service{database, kTenant, "service_role"};
  service.run("select millrace.delete_shell_files(array[$1::uuid])",
              pg::params(member(sql, file, "id")));
  put_file(api, kAda, "c");
}

// Many at once: those that fit are let in, and no more.
TEST_F(Uploads, e12_concurrent_announcements_do_not_exceed_the_quota) {
  quota(R"({"quota_bytes": 50})");
  std::atomic<int> admitted = 0;
  together(8, [&](int, const std::atomic<bool>&) {
    ServerSession mine{database};
    for (int i = 0; i < 5; ++i) {
      const auto result = mine.connection().query(
          "select millrace.begin_upload(jsonb_build_object('kind', 'file', 'user_id', $1::text, "
          "'size_bytes', 10))",
          pg::params(kAda));
      if (result) {
        ++admitted;
      } else if (result.error().sqlstate != "MR027") {
        throw std::runtime_error(result.error().describe());
      }
    }
  });
  EXPECT_EQ(admitted, 5);
  EXPECT_EQ(used(), "0 50");
}

// And while those that were let in grow, end and are given up.
TEST_F(Uploads, e12_concurrent_growth_and_ends_do_not_exceed_the_quota) {
  quota(R"({"quota_bytes": 60})");
  const auto blob = stored(api, std::string(10, 'a'));
  together(4, [&](int, const std::atomic<bool>&) {
    ServerSession mine{database};
    // Nothing, where the quota refused it.
    const auto may = [&](const char* call, pg::Params params) -> std::optional<std::string> {
      const auto result = mine.connection().query(call, std::move(params));
      if (result) return result->empty() ? "" : (*result)[0].opt_text(0).value_or("");
      if (result.error().sqlstate == "MR027") return std::nullopt;
      throw std::runtime_error(result.error().describe());
    };
    for (int i = 0; i < 6; ++i) {
      const auto upload =
          may("select millrace.begin_upload(jsonb_build_object('kind', 'file', 'user_id', "
              "$1::text, 'reserve_bytes', 5)) ->> 'upload_id'",
              pg::params(kAda));
      if (!upload) continue;
      may("select millrace.grow_upload($1, null, 8)", pg::params(*upload));
      if (i % 3 == 0 || !may("select millrace.finish_upload($1, $2)", pg::params(*upload, blob))) {
        may("select millrace.abort_upload($1)", pg::params(*upload));
      }
    }
  });
  EXPECT_EQ(used(), fmt::format("{} 0", sql.number("select count(*) * 10 from "
                                                   "millrace.shell_files")));
  EXPECT_LE(sql.number("select count(*) from millrace.shell_files"), 6);
  EXPECT_GE(sql.number("select count(*) from millrace.shell_files"), 1);
}

// A tenant without a limit never reserves: the keeper adds up what it stored.
TEST_F(Uploads, what_an_unlimited_tenant_stored_is_added_up_by_the_keeper) {
  for (const auto* key : {"tenant.quota_bytes", "tenant.quota_files"}) {
    sql.run("select millrace.set_config_value($1, '0')", pg::params(key));
  }
  for (const auto* content : {"a", "bb", "ccc"}) put_file(api, kAda, content);
  EXPECT_EQ(sql.number("select count(*) from millrace.usage_delta"), 3);
  // Not while somebody else does.
  sql.run("insert into millrace.tenant_usage (tenant_id) values ($1)", pg::params(kTenant));
  Session other{database};
  other.script("begin");
  other.run("select from millrace.tenant_usage for update");
  EXPECT_EQ(sql.number("select millrace.fold_usages(10)"), 0);
  other.script("rollback");
  sql.run("select millrace.expire_keys(10)");
  EXPECT_EQ(sql.number("select count(*) from millrace.usage_delta"), 0);
  EXPECT_EQ(used(), "6 0");
}

// No reservation is lost: it ends with the upload, though nobody swept.
TEST_F(Uploads, a_dead_clients_reservation_ends_by_itself) {
  quota(R"({"quota_bytes": 100})");
  stop_clock(sql);
  begin("100", R"({"ttl_seconds": 60})");
  EXPECT_EQ(begin_refused("1").sqlstate, "MR027");
  pass(sql, "61 seconds");
  begin("100");
}

TEST_F(Uploads, an_upload_of_unknown_size_reserves_as_it_grows) {
  quota(R"({"quota_bytes": 100})");
  const auto upload = member(
      api,
      api.value(
          "select millrace.begin_upload(jsonb_build_object('kind', 'file', 'user_id', $1::text,"
          " 'reserve_bytes', 10))::text",
          pg::params(kAda)),
      "upload_id");
  EXPECT_EQ(used(), "0 10");
  api.run("select millrace.grow_upload($1, null, 60)", pg::params(upload));
  EXPECT_EQ(used(), "0 60");
  EXPECT_EQ(begin_refused("41").sqlstate, "MR027");
  EXPECT_EQ(api.refused("select millrace.grow_upload($1, null, 101)", pg::params(upload)).sqlstate,
            "MR027");
  // What was stored beyond what was reserved is looked at again at the end.
  finish(api, upload, std::string(90, 'x'));
  EXPECT_EQ(used(), "90 0");
}

// The database was away for longer than the upload could do without it.
TEST_F(Uploads, one_that_nobody_has_given_up_goes_on_though_its_time_was_over) {
  quota(R"({"quota_bytes": 100})");
  stop_clock(sql);
  const auto upload = begin("60", R"({"ttl_seconds": 120})");
  pass(sql, "3 minutes");
  EXPECT_EQ(used(), "0 0");
  api.run("select millrace.grow_upload($1, null, 0)", pg::params(upload));
  EXPECT_EQ(used(), "0 60");
  EXPECT_EQ(begin_refused("41").sqlstate, "MR027");
  pass(sql, "3 minutes");
  finish(api, upload, std::string(60, 'a'));
  EXPECT_EQ(used(), "60 0");
}

TEST_F(Uploads, one_whose_room_is_somebody_elses_by_now_does_not_go_on) {
  quota(R"({"quota_bytes": 100})");
  stop_clock(sql);
  const auto upload = begin("60", R"({"ttl_seconds": 120})");
  pass(sql, "3 minutes");
  begin("60");
  EXPECT_EQ(api.refused("select millrace.grow_upload($1, null, 0)", pg::params(upload)).sqlstate,
            "MR027");
  EXPECT_EQ(api.refused("select millrace.finish_upload($1, $2)",
                        pg::params(upload, stored(api, std::string(60, 'a'))))
                .sqlstate,
            "MR027");
  // And what a sweep has given up stays so.
  api.run("select millrace.expire_uploads(10)");
  EXPECT_EQ(api.refused("select millrace.grow_upload($1, null, 0)", pg::params(upload)).sqlstate,
            "MR028");
  EXPECT_EQ(used(), "0 60");
}

// A form is longer than its file by its boundaries.
TEST_F(Uploads, what_is_reserved_is_never_more_than_an_upload_may_have) {
  sql.run("select millrace.set_config_value('upload.size_max_bytes', '10')");
  const auto upload = member(
      api,
      api.value(
          "select millrace.begin_upload(jsonb_build_object('kind', 'file', 'user_id', $1::text,"
          " 'reserve_bytes', 100))::text",
          pg::params(kAda)),
      "upload_id");
  EXPECT_EQ(used(), "0 10");
  api.run("select millrace.grow_upload($1, null, 0)", pg::params(upload));
  finish(api, upload, std::string(10, 'a'));
}

// J06: by the content, whatever a client calls it; for files as for objects.
TEST_F(Uploads, j06_a_bucket_takes_what_it_allows_by_content) {
  sql.run(
      "update millrace.storage_bucket set file_size_limit = 10, allowed_mime_types = "
      "'{application/pdf}' where bucket = 'medical-docs'");
  const auto refused = [&](const std::string& upload, std::string_view type) {
    return api
        .refused(
            "select millrace.finish_upload($1, $2::jsonb || jsonb_build_object("
            "'content_type', $3::text))",
            pg::params(upload, stored(api, "hello"), type))
        .sqlstate;
  };
  const auto object = member(
      api,
      api.value("select millrace.begin_upload(jsonb_build_object('kind', 'object', 'user_id', "
                "$1::text, 'size_bytes', 5, 'bucket', 'medical-docs', 'object_name', $1::text || "
                "'/a', 'content_type', 'application/pdf'))::text",
                pg::params(kAda)),
      "upload_id");
  const auto file = begin("5", R"({"content_type": "application/pdf"})");
  EXPECT_EQ(refused(object, "application/x-executable"), "MR024");
  EXPECT_EQ(refused(file, "application/x-executable"), "MR024");
  EXPECT_EQ(begin_refused("11").sqlstate, "MR038");
  const auto unknown = begin_file(api, kAda, "5", R"({"size_bytes": null})");
  EXPECT_EQ(member(sql, unknown, "size_max_bytes"), "10") << "so that reading can stop there";
  for (const auto& upload : {object, file}) {
    api.run(
        "select millrace.finish_upload($1, $2::jsonb || jsonb_build_object('content_type', "
        "'application/pdf'))",
        pg::params(upload, stored(api, "hello")));
  }
  EXPECT_EQ(counts(), "1 files, 2 objects, 1 blobs, 1 jobs");
}

TEST_F(Uploads, what_is_larger_than_announced_or_allowed_is_refused) {
  sql.run("select millrace.set_config_value('upload.size_max_bytes', '10')");
  EXPECT_EQ(begin_refused("11").sqlstate, "MR038");
  const auto upload = begin("5");
  EXPECT_EQ(api.refused("select millrace.finish_upload($1, $2)",
                        pg::params(upload, stored(api, "longer")))
                .sqlstate,
            "MR038");
  const auto unknown =
      member(api,
             api.value("select millrace.begin_upload(jsonb_build_object('kind', 'file', 'user_id', "
                       "$1::text))::text",
                       pg::params(kAda)),
             "upload_id");
  EXPECT_EQ(api.refused("select millrace.finish_upload($1, $2)",
                        pg::params(unknown, stored(api, "more than ten")))
                .sqlstate,
            "MR038");
  EXPECT_EQ(counts(), "0 files, 0 objects, 0 blobs, 0 jobs");
}

TEST_F(Uploads, bad_announcements_are_refused_by_field) {
  for (const auto* upload :
       {"{}", R"({"kind": "tape"})", R"({"kind": "file"})", R"({"kind": "file", "size": 1})",
        R"({"kind": "file", "size_bytes": -1})", R"({"kind": "file", "size_bytes": "x"})",
        R"({"kind": "file", "idempotency_key": ""})", R"({"kind": "file", "pipeline": "other"})"}) {
    EXPECT_EQ(api.refused("select millrace.begin_upload($1)", pg::params(upload)).sqlstate, "MR024")
        << upload;
  }
  EXPECT_EQ(begin_refused("1", fmt::format(R"({{"patient_id": "{}"}})", kBob)).sqlstate, "MR036");
  EXPECT_EQ(sql.number("select count(*) from millrace.upload"), 0);
}

// --- Pieces ---

class Pieces : public Uploads {
 protected:
  std::string take(std::string_view writer) {
    return api.value("select millrace.take_upload($1, null, $2::uuid, '60 s') ->> 'offset_bytes'",
                     pg::params(upload, writer));
  }
  Error take_refused(std::string_view writer) {
    return api.refused("select millrace.take_upload($1, null, $2::uuid)",
                       pg::params(upload, writer));
  }
  static constexpr const char* kAdvance =
      "select millrace.advance_upload($1, $2::uuid, $3, $4, $5)";
  std::string advance(std::string_view writer, int offset, int size, std::string_view handle) {
    return api.value(kAdvance, pg::params(upload, writer, offset, size, handle));
  }
  Error advance_refused(std::string_view writer, int offset, int size, std::string_view handle) {
    return api.refused(kAdvance, pg::params(upload, writer, offset, size, handle));
  }
  void SetUp() override { upload = begin("10"); }
  std::string upload;
};

constexpr std::string_view kOne = "00000000-0000-4000-8000-00000000a001";
constexpr std::string_view kTwo = "00000000-0000-4000-8000-00000000a002";

TEST_F(Pieces, are_accepted_in_order_from_the_one_who_may_append) {
  EXPECT_EQ(take(kOne), "0");
  EXPECT_EQ(advance(kOne, 0, 4, "p1"), "4");
  EXPECT_EQ(advance(kOne, 4, 6, "p2"), "10");
  const auto handles = [&](int from, int limit) {
    return api.value("select string_agg(handle, ' ') from millrace.list_parts($1, null, $2, $3)",
                     pg::params(upload, from, limit));
  };
  EXPECT_EQ(handles(0, 10), "p1 p2");
  EXPECT_EQ(handles(0, 1), "p1");
  EXPECT_EQ(handles(4, 10), "p2");
  EXPECT_EQ(advance_refused(kOne, 10, 1, "p3").sqlstate, "MR038");
}

// Each is a file, a row and a line in a list: those who send single bytes are stopped.
TEST_F(Pieces, are_limited_in_number) {
  const auto left = [&] {
    return api.value("select millrace.get_upload($1) ->> 'parts_left'", pg::params(upload));
  };
  take(kOne);
  EXPECT_EQ(left(), "10000");
  advance(kOne, 0, 1, "p1");
  EXPECT_EQ(left(), "9999");
  sql.run("update millrace.upload set parts = 10000 where upload_id = $1", pg::params(upload));
  EXPECT_EQ(left(), "0");
  EXPECT_EQ(advance_refused(kOne, 1, 1, "p2").sqlstate, "MR038");
  EXPECT_EQ(advance(kOne, 0, 1, "p1"), "1") << "a repeat is no other piece";
  // More bytes, more pieces.
  EXPECT_EQ(sql.value("select millrace.upload_parts_max(655360)"), "10010");
}

TEST_F(Pieces, one_at_the_wrong_place_is_told_the_right_one) {
  take(kOne);
  advance(kOne, 0, 4, "p1");
  const auto error = advance_refused(kOne, 2, 4, "p2");
  EXPECT_EQ(error.sqlstate, "MR029");
  EXPECT_EQ(error.detail, "4");
}

// A repeat after a lost answer is the same piece, not another.
TEST_F(Pieces, the_same_one_twice_counts_once) {
  take(kOne);
  EXPECT_EQ(advance(kOne, 0, 4, "p1"), "4");
  EXPECT_EQ(advance(kOne, 0, 4, "p1"), "4");
  EXPECT_EQ(sql.number("select count(*) from millrace.upload_part"), 1);
}

// The writer that stood still for longer than its time finds its piece refused.
TEST_F(Pieces, a_replaced_writer_adds_nothing_however_late) {
  stop_clock(sql);
  take(kOne);
  EXPECT_EQ(take_refused(kTwo).sqlstate, "MR029");
  pass(sql, "61 seconds");
  EXPECT_EQ(take(kTwo), "0");
  EXPECT_EQ(advance_refused(kOne, 0, 4, "late").sqlstate, "MR029");
  EXPECT_EQ(advance(kTwo, 0, 5, "p"), "5");
  EXPECT_EQ(sql.value("select string_agg(handle, ' ') from millrace.upload_part"), "p");
}

TEST_F(Pieces, are_swept_with_an_upload_that_was_given_up) {
  stop_clock(sql);
  take(kOne);
  advance(kOne, 0, 4, "p1");
  EXPECT_EQ(api.value("select handle from millrace.expire_uploads(10)"), "(none)");
  pass(sql, "2 days");
  EXPECT_EQ(advance_refused(kOne, 4, 4, "p2").sqlstate, "MR028");
  EXPECT_EQ(api.value("select handle from millrace.expire_uploads(10)"), "p1");
  // Told again until somebody says that it is gone.
  EXPECT_EQ(api.value("select handle from millrace.expire_uploads(10)"), "p1");
  EXPECT_EQ(
      api.number("select millrace.forget_parts(array[$1::uuid], array['p1'])", pg::params(upload)),
      1);
  EXPECT_EQ(api.value("select handle from millrace.expire_uploads(10)"), "(none)");
  EXPECT_EQ(sql.number("select count(*) from millrace.upload"), 0);
}

// Pieces are named by their content, as all content is: one that is also somebody's document, or a
// piece of an upload that goes on, is not told to the sweep.
TEST_F(Pieces, that_are_somebodys_content_too_are_forgotten_and_not_removed) {
  const auto key = "sha256/" + sql.value("select encode(sha256('hello'), 'hex')");
  take(kOne);
  advance(kOne, 0, 5, key);
  ServerSession elsewhere{database, kOther};
  put_file(elsewhere, kBob, "hello");
  api.run("select millrace.abort_upload($1)", pg::params(upload));
  EXPECT_EQ(api.value("select handle from millrace.expire_uploads(10)"), "(none)");
  EXPECT_EQ(sql.number("select count(*) from millrace.upload_part"), 0);
}

TEST_F(Pieces, that_an_open_upload_has_too_are_forgotten_and_not_removed) {
  take(kOne);
  advance(kOne, 0, 4, "same");
  const auto given_up = upload;
  upload = begin("10");
  take(kTwo);
  advance(kTwo, 0, 4, "same");
  api.run("select millrace.abort_upload($1)", pg::params(given_up));
  pass(sql, "3 hours");  // Old enough to be removed, and the other upload is still open.
  EXPECT_EQ(api.value("select handle from millrace.expire_uploads(10)"), "(none)");
  api.run("select millrace.abort_upload($1)", pg::params(upload));
  pass(sql, "2 hours");
  EXPECT_EQ(api.value("select handle from millrace.expire_uploads(10)"), "same");
  // Whoever stores the same at this moment makes it young, and then it stays.
  EXPECT_TRUE(
      api.yes("select if_stored_before < millrace.now() - interval '1 hour' from "
              "millrace.expire_uploads(10)"));
}

TEST_F(Pieces, of_an_open_upload_are_not_forgotten) {
  take(kOne);
  advance(kOne, 0, 4, "p1");
  EXPECT_EQ(
      api.number("select millrace.forget_parts(array[$1::uuid], array['p1'])", pg::params(upload)),
      0);
}

TEST_F(Pieces, every_one_renews_the_time_that_is_left) {
  stop_clock(sql);
  take(kOne);
  for (int i = 0; i < 5; ++i) {
    pass(sql, "20 hours");
    take(kOne);
    advance(kOne, i, 1, fmt::format("p{}", i));
  }
  EXPECT_EQ(api.value("select millrace.get_upload($1) ->> 'state'", pg::params(upload)), "open");
}

// I08: another user's upload is none.
TEST_F(Pieces, i08_belong_to_one_user_of_one_tenant) {
  ServerSession elsewhere{database, kOther};
  for (const auto* call :
       {"select millrace.get_upload($1, $2)", "select millrace.abort_upload($1, $2)",
        "select handle from millrace.list_parts($1, $2, 0, 10)",
        "select millrace.take_upload($1, $2, gen_random_uuid())",
        "select millrace.grow_upload($1, $2, 1)", "select millrace.finish_upload($1, $3, $2)"}) {
    const bool ends = std::string_view(call).contains("$3");
    const auto params = [&](std::string_view user) {
      return ends ? pg::params(upload, user, stored(api, "0123456789")) : pg::params(upload, user);
    };
    EXPECT_EQ(api.refused(call, params(kBob)).sqlstate, "MR028") << call;
    EXPECT_EQ(elsewhere.refused(call, params(kAda)).sqlstate, "MR028") << call;
  }
  EXPECT_EQ(counts(), "0 files, 0 objects, 0 blobs, 0 jobs");
}

// Content by its digest is content for whoever names it: no client may.
TEST_F(Pieces, no_client_can_say_which_content_was_stored) {
  for (const auto* role :
       {"anon", "authenticated", "service_role", "millrace_worker", "millrace_reader"}) {
    Session session{database, role};
    for (const auto* call :
         {"select millrace.finish_upload(null, null)", "select millrace.begin_upload(null)",
          "select millrace.advance_upload(null, null, 0, 1, 'x')",
          "select millrace.condemn_blobs(1)"}) {
      EXPECT_EQ(session.refused(call).sqlstate, "42501") << role << " " << call;
    }
  }
}

}  // namespace
}  // namespace millrace::test
