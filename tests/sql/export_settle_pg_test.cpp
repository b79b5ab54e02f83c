// What a worker tells of an export: room for its file before anything is stored, then file, history
// and size with the end of the job, or none of them; and how all of it goes again.
#include "sql/server_world.h"

#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

class ExportFiles : public EngineTest {
 protected:
  ExportFiles() {
    stop_clock(sql);
    for (int n = 1; n <= 9; ++n) place_export_document(sql, document(n), kAda);
  }
  static std::string document(int n) { return fmt::format("00000000-0000-4000-8000-{:012}", n); }

  std::string order(int n, std::string_view options = "{}") {
    return member(
        sql,
        server.value("select millrace.order_exports($1::uuid, array[$2::uuid], $3::jsonb)",
                     pg::params(kAda, document(n), options)),
        "jobId");
  }
  Error refused_order(int n) {
    return server.refused("select millrace.order_exports($1::uuid, array[$2::uuid], '{}')",
                          pg::params(kAda, document(n)));
  }
  Delivery take() { return worker.take({.queue = "export"}); }
  std::string reserve(const Delivery& job, std::int64_t bytes) {
    return engine.value("select millrace.reserve_export($1::uuid, $2::bigint)::text",
                        pg::params(job.id, bytes));
  }
  std::string path_of(const Delivery& job, std::int64_t bytes = 10) {
    return member(sql, reserve(job, bytes), "filePath");
  }
  std::string item(std::string_view path, std::string_view content) {
    return sql.value(
        "select jsonb_build_object('blob', $1::jsonb, 'file_path', $2::text, 'file_name', 'CV.pdf',"
        " 'template_slug', 'minimal', 'document_version', 1)::text",
        pg::params(stored(sql, content), path));
  }
  // As the worker settles: the fence and the statement in one transaction.
  std::optional<Error> settle(const Delivery& job, const std::string& item) {
    engine.script("begin");
    auto error = tell(job, item);
    engine.script(error ? "rollback" : "commit");
    return error;
  }
  std::optional<Error> tell(const Delivery& job, const std::string& item) {
    auto settled = engine.connection().query(
        "select millrace.settle_or_raise($1, jsonb_build_array(jsonb_build_object('job_id', "
        "$2::text, 'token', $3::text, 'outcome', 'ok')))",
        pg::params(worker.id(), job.id, job.token));
    if (settled) {
      settled = engine.connection().query("select millrace.settle_export($1::uuid, $2::jsonb)",
                                          pg::params(job.id, item));
    }
    if (settled) return std::nullopt;
    return settled.error();
  }
  // As its user cancels it: what the answer was.
  static constexpr const char* kCancel =
      "select c.answer from millrace.cancel_mine(array[$1::uuid]) c";
  // A file was made and told of, and nothing came of it.
  void expect_no_file(const std::string& id) {
    EXPECT_EQ(status(sql, id), "cancelled");
    EXPECT_EQ(count("storage_object") + count("export_history") + count("blob_object"), 0);
    EXPECT_EQ(sql.number("select count(*) from millrace.event where kind = 'job.completed'"), 0);
    EXPECT_EQ(job(sql, id, "result"), "(null)");
  }
  // An export from order to file.
  std::string make_file(int n, std::string_view content, std::string_view options = "{}") {
    const auto id = order(n, options);
    const auto job = take();
    EXPECT_EQ(job.id, id);
    const auto error = settle(job, item(path_of(job), content));
    EXPECT_FALSE(error) << error->describe();
    return id;
  }
  void config(std::string_view key, std::string_view value) {
    sql.run("select millrace.set_config_value($1, $2)", pg::params(key, value));
  }
  void refuse_removal_of(std::string_view content) {
    sql.script(fmt::format(R"(
      create function millrace.test_refuse() returns trigger language plpgsql as $$
      begin
        if old.sha256 = sha256('{}') then raise exception 'the store says no'; end if;
        return old;
      end $$;
      create trigger refuse before delete on millrace.storage_object
        for each row execute function millrace.test_refuse())",
                           content));
  }
  std::int64_t count(std::string_view table) {
    return sql.number(fmt::format("select count(*) from millrace.{}", table));
  }

  ServerSession server{database};
  ServerSession engine{database, "", "millrace_worker"};
  Worker worker{sql};
};

TEST_F(ExportFiles, object_history_and_size_come_with_the_end_of_the_job) {  // X-06, X-08, E12
  const auto id = order(1);
  const auto job = take();
  const auto path = path_of(job, 7);
  EXPECT_THAT(path, MatchesRegex(fmt::format("{}/{}_[0-9]{{13}}\\.pdf", kAda, document(1))));
  EXPECT_EQ(count("storage_object"), 0) << "nothing is there before";
  EXPECT_FALSE(settle(job, item(path, "content")));
  EXPECT_EQ(status(sql, id), "completed");
  EXPECT_EQ(sql.value("select bucket || ' ' || content_type || ' ' || cache_control || ' ' || "
                      "owner_id || ' ' || size_bytes from millrace.storage_object where name = $1",
                      pg::params(path)),
            fmt::format("exports application/pdf 3600 {} 7", kAda));
  EXPECT_EQ(sql.value("select file_name || ' ' || document_id || ' ' || document_version || ' ' || "
                      "template_slug || ' ' || format || ' ' || file_size || ' ' || "
                      "(expires_at = created_at + interval '7 days') from millrace.export_history "
                      "where job_id = $1::uuid and file_path = $2",
                      pg::params(id, path)),
            fmt::format("CV.pdf {} 1 minimal pdf 7 true", document(1)));
  EXPECT_EQ(count("export_reservation"), 0);
  User ada(database, kAda);
  EXPECT_EQ(
      ada.value("select file_path from millrace.export_files(array[$1::uuid])", pg::params(id)),
      path);
  EXPECT_EQ(sql.number("select count(*) from millrace.audit where action in ('object_stored', "
                       "'export_stored')"),
            2);
}

TEST_F(ExportFiles, a_lost_lease_leaves_nothing_behind) {
  order(1);
  const auto job = take();
  const auto path = path_of(job);
  auto stale = job;
  stale.token = "00000000-0000-4000-8000-00000000ffff";
  EXPECT_EQ(settle(stale, item(path, "content"))->sqlstate, "MR001");
  EXPECT_EQ(count("storage_object") + count("export_history"), 0);
  // The next one gets the same place, and one file comes of it.
  EXPECT_EQ(path_of(job), path);
  EXPECT_FALSE(settle(job, item(path, "content")));
  EXPECT_EQ(settle(job, item(path, "content"))->sqlstate, "MR001") << "once";
  EXPECT_EQ(count("storage_object"), 1);
  EXPECT_EQ(count("export_history"), 1);
}

// X-20, H-03: whoever is told that it is cancelled finds no file, however late that came.
TEST_F(ExportFiles, what_was_told_to_stop_ends_cancelled_though_its_file_is_made) {
  config("export.quota_bytes", "1048576");  // For one at a time.
  const auto id = order(1);
  const auto held = take();
  const auto one = item(path_of(held), "content");
  User ada(database, kAda);
  EXPECT_EQ(ada.value(kCancel, pg::params(id)), "cancel_requested");
  const auto error = settle(held, one);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->sqlstate, "MR001");
  EXPECT_EQ(error->detail, "replaced") << "the worker settles it again, without its file";
  EXPECT_EQ(worker.settle(held, "ok", R"({"result": {"file_size": 7}})"), "replaced");
  expect_no_file(id);
  EXPECT_EQ(settle(held, one)->detail, "already_settled");
  EXPECT_EQ(ada.value(kCancel, pg::params(id)), "already_final");
  EXPECT_NE(order(1), id) << "its room is free";
}

TEST_F(ExportFiles, what_was_told_to_stop_is_not_failed_nor_completed_by_itself) {  // X-20
  User ada(database, kAda);
  for (const std::string outcome : {"permanent", "ok", "retry", "handback"}) {
    const auto id = order(1);
    const auto held = take();
    EXPECT_EQ(ada.value(kCancel, pg::params(id)), "cancel_requested");
    if (outcome == "ok") {
      EXPECT_EQ(worker.complete(held), "replaced");
    } else {
      worker.settle(held, outcome);
    }
    EXPECT_EQ(status(sql, id), "cancelled") << outcome;
  }
}

TEST_F(ExportFiles, a_cancel_and_a_settlement_wait_for_each_other) {  // X-20
  User ada(database, kAda);
  ada.run("set lock_timeout = '20ms'");
  engine.run("set lock_timeout = '20ms'");
  const auto first = order(1);
  const auto stopped = take();
  const auto second = order(2);
  const auto made = take();
  const auto lost = item(path_of(stopped), "one");
  const auto kept = item(path_of(made), "two");
  // The cancel comes first.
  ada.script("begin");
  EXPECT_EQ(ada.value(kCancel, pg::params(first)), "cancel_requested");
  EXPECT_EQ(settle(stopped, lost)->sqlstate, "55P03") << "in line";
  ada.script("commit");
  EXPECT_EQ(settle(stopped, lost)->detail, "replaced");
  EXPECT_EQ(worker.settle(stopped, "ok"), "replaced");
  expect_no_file(first);
  // The settlement does.
  engine.script("begin");
  EXPECT_FALSE(tell(made, kept));
  EXPECT_EQ(ada.refused(kCancel, pg::params(second)).sqlstate, "55P03") << "in line";
  engine.script("commit");
  EXPECT_EQ(ada.value(kCancel, pg::params(second)), "already_final");
  EXPECT_EQ(status(sql, second), "completed");
  EXPECT_EQ(count("export_history"), 1);
}

TEST_F(ExportFiles, nothing_comes_of_a_document_that_is_deleted_while_it_is_printed) {  // X-20
  const auto id = order(1);
  const auto held = take();
  const auto one = item(path_of(held), "content");
  EXPECT_TRUE(server.yes("select millrace.delete_export_document($1::uuid, $2::uuid)",
                         pg::params(kAda, document(1))));
  EXPECT_EQ(settle(held, one)->detail, "replaced");
  EXPECT_EQ(worker.settle(held, "ok"), "replaced");
  expect_no_file(id);
}

TEST_F(ExportFiles, no_file_lies_where_another_does) {  // X-06
  order(1);
  order(1, R"({"quality": "high"})");
  const auto first = take();
  const auto second = take();
  const auto a = path_of(first);
  const auto b = path_of(second);
  EXPECT_NE(a, b) << "in the same millisecond";
  EXPECT_FALSE(settle(first, item(a, "one")));
  EXPECT_EQ(settle(second, item(a, "two"))->sqlstate, "MR024") << "not the place it was given";
  EXPECT_FALSE(settle(second, item(b, "two")));
  order(1, R"({"quality": "draft"})");
  EXPECT_NE(path_of(take()), a);
}

TEST_F(ExportFiles, a_file_that_the_quota_has_no_room_for_is_not_stored) {  // X-24
  config("export.quota_bytes", "1048576");
  make_file(1, std::string(1000, 'x'));
  order(2);
  const auto job = take();
  const auto answer = reserve(job, 2'000'000);
  EXPECT_EQ(member(sql, answer, "allowed"), "false");
  EXPECT_EQ(member(sql, answer, "usedMB"), "0.00");
  EXPECT_EQ(member(sql, answer, "limitMB"), "1");
  EXPECT_EQ(member(sql, answer, "filePath"), "(null)");
  // What was kept for it is its own, to the last byte that is left.
  EXPECT_EQ(member(sql, reserve(job, 1'048'576 - 1000), "allowed"), "true");
  EXPECT_EQ(member(sql, reserve(job, 1'048'576 - 999), "allowed"), "false");
}

TEST_F(ExportFiles, what_is_promised_to_others_is_not_taken_by_a_large_file) {  // E12
  config("export.quota_bytes", "3145728");                                      // Three megabytes.
  order(1);
  order(2);
  const auto first = take();
  const auto second = take();
  EXPECT_EQ(member(sql, reserve(first, 2'500'000), "allowed"), "false") << "one is the other's";
  EXPECT_EQ(member(sql, reserve(first, 2'097'152), "allowed"), "true");
  EXPECT_EQ(member(sql, reserve(second, 1'048'576), "allowed"), "true");
  EXPECT_EQ(refused_order(3).sqlstate, "MR027") << "all of it is taken or promised";
  EXPECT_FALSE(settle(second, item(path_of(second), "small")));
  EXPECT_NE(order(3), "(none)") << "the file was smaller than what was kept";
}

// The last order is promised more than is left: what it makes must have room beside the others.
TEST_F(ExportFiles, files_that_are_made_but_not_settled_count) {  // X-19, E12
  config("export.quota_bytes", "1572864");                        // For one and a half.
  order(1);
  order(2);
  const auto first = take();
  const auto second = take();
  EXPECT_EQ(member(sql, reserve(first, 1'000'000), "allowed"), "true");
  EXPECT_EQ(member(sql, reserve(second, 1'000'000), "allowed"), "false");
  EXPECT_EQ(member(sql, reserve(second, 572'865), "allowed"), "false");
  EXPECT_EQ(member(sql, reserve(second, 572'864), "allowed"), "true") << "to the last byte";
  EXPECT_EQ(member(sql, reserve(first, 1'000'001), "allowed"), "false");
  EXPECT_EQ(worker.settle(first, "cancelled"), "settled");
  EXPECT_EQ(member(sql, reserve(second, 1'572'864), "allowed"), "true") << "the other one is gone";
}

TEST_F(ExportFiles, whatever_the_end_is_the_reservation_is_freed) {  // E12
  config("export.quota_bytes", "1048576");                           // For one at a time.
  for (const std::string end : {"cancelled", "permanent", "lost"}) {
    const auto id = order(1);
    EXPECT_EQ(refused_order(2).sqlstate, "MR027");
    const auto job = take();
    EXPECT_EQ(member(sql, reserve(job, 1'048'576), "allowed"), "true");
    if (end == "lost") {
      sql.run("update millrace.queue set max_attempts = 1 where queue = 'export'");
      pass(sql, "2 days");
      keep(sql);
      EXPECT_EQ(status(sql, id), "failed");
    } else {
      EXPECT_EQ(worker.settle(job, end), "settled");
    }
    const auto next = order(2);
    server.run("select millrace.cancel_jobs(array[$1::uuid], 'enough')", pg::params(next));
  }
}

TEST_F(ExportFiles, two_files_race_for_the_last_room_of_a_quota) {  // E12
  config("export.quota_bytes", "2097152");
  config("export.reserve_bytes", "1000");
  order(1);
  order(2);
  const auto first = take();
  const auto second = take();
  engine.script("begin");
  EXPECT_EQ(member(sql, reserve(first, 1'500'000), "allowed"), "true");
  ServerSession other(database, "", "millrace_worker");
  other.run("set lock_timeout = '20ms'");
  const auto call = "select millrace.reserve_export($1::uuid, 1500000) ->> 'allowed'";
  EXPECT_EQ(other.refused(call, pg::params(second.id)).sqlstate, "55P03") << "in line";
  engine.script("commit");
  EXPECT_EQ(other.value(call, pg::params(second.id)), "false");
}

TEST_F(ExportFiles, a_preview_is_an_artifact_of_the_job) {
  const auto id = order(1);
  const auto job = take();
  auto one = item(path_of(job), "content");
  one = sql.value("select ($1::jsonb || jsonb_build_object('preview', $2::jsonb))::text",
                  pg::params(one, stored(sql, "picture")));
  EXPECT_FALSE(settle(job, one));
  EXPECT_EQ(sql.value("select kind || ' ' || content_type || ' ' || file_name from "
                      "millrace.artifact where job_id = $1::uuid",
                      pg::params(id)),
            "preview image/png preview.png");
}

TEST_F(ExportFiles, a_job_that_failed_and_is_redriven_makes_its_file) {
  const auto id = order(1);
  const auto failed = take();
  path_of(failed);
  // A worker of the source's kind tells of its file before it has ended.
  server.run(
      "select millrace.create_export_history(jsonb_build_object('user_id', $1::text, 'file_name', "
      "'x', 'file_path', 'x', 'file_size', 1, 'job_id', $2::text))",
      pg::params(kAda, id));
  EXPECT_EQ(worker.settle(failed, "permanent"), "settled");
  order(2);  // What is kept for those that have ended is forgotten.
  EXPECT_EQ(worker.settle(take(), "cancelled"), "settled");
  sql.run("select * from millrace.redrive_jobs($1::jsonb)",
          pg::params(fmt::format(R"({{"job_ids": ["{}"]}})", id)));
  keep(sql);
  const auto job = take();
  EXPECT_EQ(job.id, id);
  EXPECT_FALSE(settle(job, item(path_of(job), "second")));
  EXPECT_EQ(sql.value("select o.size_bytes from millrace.export_history h join "
                      "millrace.storage_object o on o.name = h.file_path where h.job_id = $1::uuid",
                      pg::params(id)),
            "6");
  EXPECT_EQ(count("export_history"), 2);
}

// An operator may redrive what failed: the version that was ordered is there as long as that may
// be.
TEST_F(ExportFiles, a_job_that_failed_finds_its_version_when_it_is_redriven) {  // F06
  config("export.quota_bytes", "1048576");  // For one at a time.
  const auto id = order(1);
  const auto failed = take();
  path_of(failed, 1'048'576);
  EXPECT_EQ(worker.settle(failed, "permanent"), "settled");
  const auto write = [&](std::string_view title) {
    server.run(
        "select millrace.put_export_document($1::uuid, $2::uuid, jsonb_build_object('title', "
        "$3::text, 'data', '{}'::jsonb))",
        pg::params(kAda, document(1), title));
  };
  write("second");
  order(1);
  EXPECT_EQ(worker.settle(take(), "cancelled"), "settled");
  write("third");
  order(2);  // What failed takes no room, and is looked at again and again.
  EXPECT_EQ(worker.settle(take(), "cancelled"), "settled");
  sql.run("select * from millrace.redrive_jobs($1::jsonb)",
          pg::params(fmt::format(R"({{"job_ids": ["{}"]}})", id)));
  keep(sql);
  const auto job = take();
  EXPECT_EQ(job.id, id);
  EXPECT_EQ(engine.value("select millrace.export_work($1::uuid) -> 'document' ->> 'version'",
                         pg::params(id)),
            "1");
  EXPECT_EQ(sql.number("select r.running from millrace.export_reservation e cross join lateral "
                       "millrace.export_room(e.tenant_id, e.user_id) r"),
            1)
      << "it runs again";
  EXPECT_FALSE(settle(job, item(path_of(job), "redriven")));
  EXPECT_EQ(count("export_reservation"), 0) << "of what was cancelled none is kept";
}

TEST_F(ExportFiles, content_that_lay_around_for_too_long_is_not_referred_to) {
  order(1);
  const auto job = take();
  const auto one = item(path_of(job), "content");
  pass(sql, "61 minutes");
  EXPECT_EQ(settle(job, one)->sqlstate, "MR037");
}

// --- How exports go ---

TEST_F(ExportFiles, an_export_that_expired_goes_at_two_oclock_with_its_object) {  // X-22, V-16
  sql.run("update millrace.test_clock set frozen_at = '2026-03-10 12:00:00+00'");
  Worker early(sql, "w2");
  make_file(1, "one");
  ServerSession keeper(database, "", "millrace_keeper");
  const auto sweep = [&] { keeper.run("select millrace.expire_keys(100)"); };
  pass(sql, "7 days 1 minute");  // The 17th at 12:01: expired, and still there to say so.
  sweep();
  EXPECT_EQ(count("export_history"), 1);
  User ada(database, kAda);
  EXPECT_EQ(member(sql,
                   ada.value("select millrace.count_download(h.id)::text from "
                             "millrace.export_history h"),
                   "expired"),
            "true");
  pass(sql, "13 hours 58 minutes");  // The 18th at 01:59.
  sweep();
  EXPECT_EQ(count("export_history"), 1);
  pass(sql, "1 minute");
  sweep();
  EXPECT_EQ(count("export_history"), 0);
  EXPECT_EQ(count("storage_object"), 0);
  EXPECT_EQ(count("orphan_note"), 1) << "its content is the sweep's";
}

// X-22, X-26: the picture of the first page is no more there than the file.
TEST_F(ExportFiles, an_export_goes_with_its_picture) {
  const auto make = [&](int n) {
    const auto id = order(n);
    const auto job = take();
    const auto one =
        sql.value("select ($1::jsonb || jsonb_build_object('preview', $2::jsonb))::text",
                  pg::params(item(path_of(job), fmt::format("file {}", n)),
                             stored(sql, fmt::format("picture {}", n))));
    EXPECT_FALSE(settle(job, one));
    return id;
  };
  const auto first = make(1);
  make(2);
  EXPECT_EQ(count("artifact"), 2);
  User ada(database, kAda);
  EXPECT_EQ(ada.number("select count(*) from millrace.delete_export_history(array(select h.id from "
                       "millrace.export_history h where h.job_id = $1::uuid))",
                       pg::params(first)),
            1);
  EXPECT_EQ(count("artifact"), 1);
  EXPECT_EQ(count("orphan_note"), 2) << "its content is the sweep's, as that of the file";
  pass(sql, "8 days");
  EXPECT_EQ(server.value("select millrace.expire_exports(100)"), "1");
  EXPECT_EQ(count("artifact"), 0);
}

TEST_F(ExportFiles, what_has_expired_is_no_file_any_more) {  // X-18, H-02
  const auto id = make_file(1, "one");
  User ada(database, kAda);
  const auto files = [&] {
    return ada.number("select count(*) from millrace.export_files(array[$1::uuid])",
                      pg::params(id));
  };
  EXPECT_EQ(files(), 1);
  pass(sql, "7 days");
  EXPECT_EQ(files(), 0);
  EXPECT_EQ(count("export_history"), 1) << "it is there to say so";
}

TEST_F(ExportFiles, a_file_that_is_gone_is_not_counted_as_downloaded) {  // X-18
  make_file(1, "one");
  User ada(database, kAda);
  const auto downloads = [&] {
    return ada.value(
        "select millrace.count_download(h.id) ->> 'download_count' from millrace.export_history h");
  };
  EXPECT_EQ(downloads(), "1");
  sql.run("delete from millrace.storage_object");
  EXPECT_EQ(downloads(), "1");
}

TEST_F(ExportFiles, a_keeper_that_was_away_at_two_does_it_when_it_is_back) {  // X-22
  sql.run("update millrace.test_clock set frozen_at = '2026-03-10 12:00:00+00'");
  Worker early(sql, "w2");
  make_file(1, "one");
  pass(sql, "9 days");
  ServerSession keeper(database, "", "millrace_keeper");
  keeper.run("select millrace.expire_keys(100)");
  EXPECT_EQ(count("export_history"), 0);
}

TEST_F(ExportFiles, by_hand_all_that_expired_goes_at_once) {  // X-23, H-10
  make_file(1, "one");
  make_file(2, "two");
  pass(sql, "6 days");
  make_file(3, "three");
  pass(sql, "1 day 1 second");
  EXPECT_EQ(server.value("select millrace.expire_exports(100)"), "2");
  EXPECT_EQ(server.value("select millrace.expire_exports(100)"), "0");
  EXPECT_EQ(count("export_history"), 1);
}

TEST_F(ExportFiles, one_that_cannot_be_removed_stops_no_other) {  // X-22, G08
  make_file(1, "one");
  make_file(2, "two");
  make_file(3, "three");
  refuse_removal_of("two");
  pass(sql, "8 days");
  EXPECT_EQ(server.value("select millrace.expire_exports(100)"), "2");
  EXPECT_EQ(sql.value("select o.size_bytes from millrace.export_history h join "
                      "millrace.storage_object o on o.name = h.file_path"),
            "3")
      << "row and object stay together";
  sql.script("drop trigger refuse on millrace.storage_object");
  EXPECT_EQ(server.value("select millrace.expire_exports(100)"), "1") << "tried again";
  EXPECT_EQ(count("storage_object"), 0);
}

// Those that cannot be removed are the oldest, and as many as one call looks for.
TEST_F(ExportFiles, those_that_cannot_be_removed_are_passed_by) {  // X-22
  for (int n = 1; n <= 5; ++n) make_file(n, n <= 2 ? "two" : "other");
  refuse_removal_of("two");
  pass(sql, "8 days");
  EXPECT_EQ(server.value("select millrace.expire_exports(2)"), "2");
  EXPECT_EQ(server.value("select millrace.expire_exports(2)"), "1");
  EXPECT_EQ(server.value("select millrace.expire_exports(2)"), "0") << "the end of it";
  EXPECT_EQ(count("export_history"), 2);
}

TEST_F(ExportFiles, versions_go_with_the_last_export_that_named_them) {
  make_file(1, "one");
  server.run("select millrace.put_export_document($1::uuid, $2::uuid, $3::jsonb)",
             pg::params(kAda, document(1), R"({"title": "new", "data": {}})"));
  const auto versions = [&] {
    return sql.value(
        "select string_agg(version::text, ',' order by version) from "
        "millrace.export_document_version where document_id = $1::uuid",
        pg::params(document(1)));
  };
  EXPECT_EQ(versions(), "1,2") << "one that can be downloaded shows it";
  User ada(database, kAda);
  ada.run("select millrace.delete_export_history(array(select id from millrace.export_history))");
  EXPECT_EQ(versions(), "2");
  EXPECT_EQ(count("storage_object"), 0);
}

// The author of a PDF is the user's own person (X-03), not somebody whose documents they keep.
TEST_F(ExportFiles, the_author_is_the_users_own_name) {
  const auto id = order(1);
  const auto author = [&] {
    return engine.value("select millrace.export_work($1::uuid) ->> 'author'", pg::params(id));
  };
  EXPECT_EQ(author(), "(null)");
  User ada(database, kAda);
  ada.run("select millrace.create_profile('My Mother')");
  EXPECT_EQ(author(), "(null)");
  sql.run("select millrace.ensure_profile($1::uuid, $2::uuid)", pg::params(kTenant, kAda));
  EXPECT_EQ(author(), "(null)") << "it has no name yet";
  const auto own = sql.value("select millrace.default_profile_id($1::uuid, $2::uuid)",
                             pg::params(kTenant, kAda));
  ada.run("select millrace.rename_profile($1::uuid, 'Ada L.')", pg::params(own));
  EXPECT_EQ(author(), "Ada L.");
}

}  // namespace
}  // namespace millrace::test
