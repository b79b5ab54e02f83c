// Exports that users order: what is under way is not made twice, quota and the three that run are
// judged in the transaction that makes the jobs, and one function knows where the files lie.
#include "sql/server_world.h"

#include <gmock/gmock.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace millrace::test {
namespace {

using testing::StartsWith;

constexpr const char* kMegabyte = "1048576";

class ExportOrders : public EngineTest {
 protected:
  ExportOrders() {
    for (int n = 1; n <= 12; ++n) place_export_document(sql, document(n), n < 12 ? kAda : kBob);
    for (int n = 21; n <= 22; ++n) place_export_document(sql, document(n), kAda, kAda);
  }
  static std::string document(int n) { return fmt::format("00000000-0000-4000-8000-{:012}", n); }
  static std::string documents(std::initializer_list<int> numbers) {
    std::string list;
    for (const int n : numbers) list += (list.empty() ? "" : ",") + document(n);
    return "{" + list + "}";
  }
  static constexpr const char* kOrder =
      "select millrace.order_exports($1::uuid, $2::uuid[], '{}', $3::jsonb)::text";
  std::string order(std::initializer_list<int> numbers, std::string_view request = "{}") {
    return server.value(kOrder, pg::params(kAda, documents(numbers), request));
  }
  std::string job(int number) { return member(sql, order({number}), "jobId"); }
  Error refused(std::initializer_list<int> numbers, std::string_view request = "{}") {
    return server.refused(kOrder, pg::params(kAda, documents(numbers), request));
  }
  // As the source's worker takes the next one: its id, and who holds it.
  std::pair<std::string, std::string> fetch() {
    const auto rows = service.rows(
        "select id, locked_by from millrace.fetch_next_export_job($1::uuid)", pg::params(kAda));
    if (rows.empty()) return {};
    return {std::string(rows[0].text(0)), std::string(rows[0].text(1))};
  }
  void complete(const std::pair<std::string, std::string>& held, std::string_view result) {
    EXPECT_TRUE(service.yes("select millrace.complete_job($1::uuid, $2, $3::jsonb)",
                            pg::params(held.first, held.second, result)));
  }
  void store_history(std::string_view bytes, std::string_view job = {}) {
    service.run(
        "select millrace.create_export_history(jsonb_strip_nulls(jsonb_build_object("
        "'user_id', $1::text, 'file_name', 'of history.pdf', 'file_path', 'a/history.pdf',"
        " 'file_size', $2::bigint, 'job_id', nullif($3::text, ''))))",
        pg::params(kAda, bytes, job));
  }
  std::int64_t jobs() { return sql.number("select count(*) from millrace.job_fact"); }

  ServerSession server{database};
  ServerSession service{database, kTenant, "service_role"};
};

TEST_F(ExportOrders, what_is_under_way_is_a_member_of_every_batch_that_asks_for_it) {  // X-10, X-21
  const auto first = job(1);
  EXPECT_EQ(job(1), first);
  const auto batch = order({2, 1, 2}, R"({"batch": true})");
  EXPECT_EQ(sql.value("select jsonb_array_length($1::jsonb -> 'jobs')", pg::params(batch)), "2");
  EXPECT_EQ(sql.value("select $1::jsonb #>> '{jobs,0,documentId}'", pg::params(batch)),
            document(2));
  EXPECT_EQ(sql.value("select $1::jsonb #>> '{jobs,1,jobId}'", pg::params(batch)), first);
  EXPECT_EQ(sql.value("select $1::jsonb #>> '{jobs,0,status}'", pg::params(batch)), "pending");
  EXPECT_EQ(jobs(), 2);
  // Ordered again, it is the same jobs in another batch.
  const auto again = order({2, 1}, R"({"batch": true})");
  EXPECT_EQ(jobs(), 2);
  const auto id = member(sql, again, "batchId");
  User ada(database, kAda);
  EXPECT_EQ(ada.number("select count(*) from millrace.export_batch_jobs($1::uuid)", pg::params(id)),
            2);
  User bob(database, kBob);
  EXPECT_EQ(bob.number("select count(*) from millrace.export_batch_jobs($1::uuid)", pg::params(id)),
            0);
  EXPECT_EQ(ada.refused(kOrder, pg::params(kAda, documents({3}), "{}")).sqlstate, "42501");
}

TEST_F(ExportOrders, three_that_run_refuse_what_is_new_and_nothing_else) {  // X-11, V-14
  for (int i = 1; i <= 5; ++i) job(i);
  std::vector<std::pair<std::string, std::string>> running;
  for (int i = 0; i < 3; ++i) running.push_back(fetch());
  const auto before = jobs();
  auto error = refused({6});
  EXPECT_EQ(error.sqlstate, "MR008");
  EXPECT_EQ(error.message, "Export queue full, please wait");
  error = refused({1, 6}, R"({"batch": true})");
  EXPECT_EQ(error.sqlstate, "MR008");
  EXPECT_THAT(error.message, StartsWith("Export queue full. Please wait"));
  EXPECT_EQ(jobs(), before);
  EXPECT_EQ(sql.value("select count(*) from millrace.batch"), "0");
  EXPECT_EQ(job(1), running[0].first) << "what runs already is the answer";
  complete(running[0], "{}");
  EXPECT_NE(job(6), "(none)");
}

TEST_F(ExportOrders, one_that_was_told_to_stop_leaves_room_for_another) {  // X-11, X-20
  for (int i = 1; i <= 3; ++i) job(i);
  std::vector<std::pair<std::string, std::string>> running;
  for (int i = 0; i < 3; ++i) running.push_back(fetch());
  EXPECT_EQ(refused({6}).sqlstate, "MR008");
  User ada(database, kAda);
  EXPECT_EQ(ada.value("select c.answer from millrace.cancel_mine(array[$1::uuid]) c",
                      pg::params(running[0].first)),
            "cancel_requested");
  EXPECT_NE(job(6), "(none)");
}

TEST_F(ExportOrders, what_is_not_finished_counts_towards_the_quota) {  // X-19, E12
  store_history("102760448");                                          // Two megabytes are left.
  EXPECT_EQ(refused({1, 2, 3}, R"({"batch": true})").sqlstate, "MR027");
  EXPECT_EQ(jobs(), 0);
  const auto first = job(1);
  const auto second = job(2);
  const auto error = refused({3});
  EXPECT_EQ(error.sqlstate, "MR027");
  EXPECT_EQ(error.message,
            "Storage quota exceeded (100.00MB / 100MB). Delete old exports to continue.");
  EXPECT_EQ(job(1), first) << "what is under way takes nothing more";
  // One that ends gives back what was kept for it; one that has its file counts as that.
  service.run("select millrace.cancel_job($1::uuid)", pg::params(first));
  const auto third = job(3);
  EXPECT_EQ(refused({4}).sqlstate, "MR027");
  const auto held = fetch();
  store_history("10", held.first);
  EXPECT_EQ(sql.value("select coalesce(sum(r.bytes), 0) from millrace.export_reservation r"),
            "2097152");
  EXPECT_NE(job(4), "(none)");
  EXPECT_THAT((std::vector<std::string>{second, third}), testing::Contains(held.first));
}

TEST_F(ExportOrders, callers_for_one_user_stand_in_line) {  // E12
  server.script("begin");
  job(1);
  ServerSession other(database);
  other.run("set lock_timeout = '20ms'");
  EXPECT_EQ(other.refused(kOrder, pg::params(kAda, documents({2}), "{}")).sqlstate, "55P03");
  EXPECT_NE(other.value(kOrder, pg::params(kBob, documents({12}), "{}")), "(none)")
      << "another user waits for nobody";
  server.script("commit");
  EXPECT_NE(other.value(kOrder, pg::params(kAda, documents({2}), "{}")), "(none)");
}

TEST_F(ExportOrders, the_jobs_have_the_ids_of_the_request) {  // A-07
  const auto batch =
      order({1, 2}, R"({"batch": true, "correlation_id": "order-17", "traceparent": "00-1-2-01"})");
  EXPECT_EQ(sql.value("select string_agg(distinct f.correlation_id || ' ' || f.traceparent, ',') "
                      "from millrace.job_fact f"),
            "order-17 00-1-2-01");
  EXPECT_EQ(sql.value("select count(*) from millrace.job_fact f where f.batch_id = $1::uuid",
                      pg::params(member(sql, batch, "batchId"))),
            "2");
}

TEST_F(ExportOrders, a_batch_of_somebody_who_is_confined_to_no_tenant_is_the_users) {  // T-02
  ServerSession unconfined(database, "");
  unconfined.run(kOrder, pg::params(kAda, documents({21}), "{}"));
  const auto batch =
      unconfined.value(kOrder, pg::params(kAda, documents({22}), R"({"batch": true})"));
  EXPECT_EQ(
      sql.value("select string_agg(distinct f.tenant_id::text, ',') from millrace.job_fact f"),
      kAda);
  EXPECT_EQ(sql.value("select b.tenant_id from millrace.batch b"), kAda);
  EXPECT_EQ(unconfined.value("select current_setting('millrace.tenant_id', true)"), "");
  User ada(database, kAda, kAda);
  EXPECT_EQ(ada.number("select count(*) from millrace.export_batch_jobs($1::uuid)",
                       pg::params(member(sql, batch, "batchId"))),
            1);
}

TEST_F(ExportOrders, a_file_is_found_in_every_way_that_workers_tell_of_it) {  // H-02, X-07
  const std::pair<std::string_view, std::string_view> told[] = {
      {R"({"file_path": "a/1.pdf", "file_name": "CV.pdf"})", "a/1.pdf CV.pdf"},
      {R"({"file_path": "a/1.pdf", "file_name": "Zoe\u0308.pdf"})", "a/1.pdf Zo\u00EB.pdf"},
      {R"({"result_url": "a/2.pdf"})", "a/2.pdf "},
      {R"({"result_url": "exports/a/3.pdf"})", "a/3.pdf "},
      {R"({"result_url": "https://x.test/storage/v1/object/sign/exports/a/4.pdf?token=t"})",
       "a/4.pdf "},
      {R"({"result_url": "https://elsewhere.test/4.pdf"})", "(none)"},
      {"{}", "(none)"}};
  for (int i = 0; const auto& [result, found] : told) {
    const auto id = job(++i);
    const auto held = fetch();
    ASSERT_EQ(held.first, id);
    complete(held, result);
    User ada(database, kAda);
    const auto file = [&](Session& session) {
      return session.value(
          "select file_path || ' ' || coalesce(file_name, '') from "
          "millrace.export_files(array[$1::uuid])",
          pg::params(id));
    };
    EXPECT_EQ(file(ada), found) << result;
    User bob(database, kBob);
    EXPECT_EQ(file(bob), "(none)");
    if (found != "(none)") continue;
    store_history(kMegabyte, id);
    EXPECT_EQ(file(ada), "a/history.pdf of history.pdf") << "its history knows";
  }
}

TEST_F(ExportOrders, orders_a_month_old_are_forgotten_with_what_expires) {  // X-22
  order({1, 2}, R"({"batch": true})");
  ServerSession keeper(database, "", "millrace_keeper");
  keeper.run("select millrace.expire_exports(100)");
  EXPECT_EQ(sql.number("select count(*) from millrace.export_batch_job"), 2);
  sql.run(
      "update millrace.export_batch_job set batch_id = millrace.id_at(millrace.now() - interval "
      "'31 days'), job_id = millrace.new_id()");
  sql.run(
      "update millrace.export_reservation set job_id = millrace.id_at(millrace.now() - interval "
      "'31 days') "
      "where job_id = (select min(job_id::text)::uuid from millrace.export_reservation)");
  keeper.run("select millrace.expire_exports(100)");
  EXPECT_EQ(sql.number("select count(*) from millrace.export_batch_job"), 0);
  EXPECT_EQ(sql.number("select count(*) from millrace.export_reservation"), 1);
}

// A document may wait longer than that for a worker with its template.
TEST_F(ExportOrders, orders_of_jobs_that_live_are_known_however_old_they_are) {  // F06, E12
  const auto batch = order({1, 2}, R"({"batch": true})");
  const auto first = sql.value("select $1::jsonb #>> '{jobs,0,jobId}'", pg::params(batch));
  pass(sql, "31 days");
  ServerSession keeper(database, "", "millrace_keeper");
  keeper.run("select millrace.expire_exports(100)");
  EXPECT_EQ(sql.number("select count(*) from millrace.export_reservation"), 2);
  EXPECT_EQ(sql.number("select count(*) from millrace.export_batch_job"), 2);
  service.run("select millrace.cancel_job($1::uuid)", pg::params(first));
  keeper.run("select millrace.expire_exports(100)");
  EXPECT_EQ(sql.number("select count(*) from millrace.export_reservation"), 1);
  EXPECT_EQ(sql.number("select count(*) from millrace.export_batch_job"), 2) << "one lives";
}

TEST_F(ExportOrders, a_tenant_forgets_its_own_orders_only) {  // T-12
  order({1, 2}, R"({"batch": true})");
  sql.run(
      "update millrace.export_batch_job set batch_id = millrace.id_at(millrace.now() - "
      "interval '31 days'), job_id = millrace.new_id()");
  sql.run(
      "update millrace.export_reservation set job_id = millrace.id_at(millrace.now() - "
      "interval '31 days') where document_id = $1::uuid",
      pg::params(document(1)));
  ServerSession others(database, kOther);
  others.run("select millrace.expire_exports(100)");
  EXPECT_EQ(sql.number("select count(*) from millrace.export_reservation"), 2);
  EXPECT_EQ(sql.number("select count(*) from millrace.export_batch_job"), 2);
  server.run("select millrace.expire_exports(100)");
  EXPECT_EQ(sql.number("select count(*) from millrace.export_reservation"), 1);
  EXPECT_EQ(sql.number("select count(*) from millrace.export_batch_job"), 0);
}

TEST_F(ExportOrders, what_was_told_to_stop_is_no_answer_to_the_same_wish) {  // X-20, X-21
  const auto first = job(1);
  ASSERT_EQ(fetch().first, first);
  EXPECT_EQ(job(1), first) << "it runs";
  User ada(database, kAda);
  EXPECT_EQ(
      ada.value("select c.answer from millrace.cancel_mine(array[$1::uuid]) c", pg::params(first)),
      "cancel_requested");
  const auto second = job(1);
  EXPECT_NE(second, first);
  EXPECT_EQ(job(1), second) << "one that runs on is found as before";
  const auto batch = order({2, 1}, R"({"batch": true})");
  EXPECT_EQ(sql.value("select $1::jsonb #>> '{jobs,1,jobId}'", pg::params(batch)), second);
}

TEST_F(ExportOrders, a_tenant_clears_its_own_expired_exports_only) {  // H-10, T-12
  ServerSession others(database, kOther);
  for (auto* session : {&server, &others}) {
    session->run(
        "select millrace.create_export_history(jsonb_build_object('user_id', $1::text,"
        " 'file_name', 'x', 'file_path', 'x', 'file_size', 1, 'expires_at', "
        "'2020-01-01T00:00:00Z'))",
        pg::params(kAda));
  }
  EXPECT_EQ(server.value("select millrace.expire_exports(100)"), "1");
  EXPECT_EQ(server.value("select millrace.expire_exports(100)"), "0");
  EXPECT_EQ(sql.number("select count(*) from millrace.export_history"), 1);
}

}  // namespace
}  // namespace millrace::test
