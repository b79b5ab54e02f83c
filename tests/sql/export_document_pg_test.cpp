// Export documents: what a user keeps for exports, in versions that are written once, and orders of
// them: which version an order takes, whose they are, what is refused.
#include "sql/server_world.h"

#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <vector>

namespace millrace::test {
namespace {

using testing::HasSubstr;

constexpr const char* kPut =
    "select millrace.put_export_document($1::uuid, $2::uuid, $3::jsonb, $4::integer)::text";
constexpr const char* kGet = "select millrace.get_export_document($1::uuid, $2::integer)::text";
constexpr const char* kOrder =
    "select millrace.order_exports($1::uuid, array[$2::uuid], $3::jsonb)::text";

class ExportDocuments : public EngineTest {
 protected:
  static std::string body(std::string_view title, std::string_view data = "{}",
                          std::string_view slug = "minimal") {
    return fmt::format(R"({{"title": "{}", "templateSlug": "{}", "data": {}}})", title, slug, data);
  }
  std::string put(std::string_view document, std::optional<std::string> id = {},
                  std::optional<int> expected = {}) {
    return server.value(kPut, pg::params(kAda, id, document, expected));
  }
  std::string make(std::string_view title = "CV") { return member(sql, put(body(title)), "id"); }
  Error refused(std::string_view document, std::optional<std::string> id = {},
                std::optional<int> expected = {}) {
    return server.refused(kPut, pg::params(kAda, id, document, expected));
  }
  std::string get(const std::string& id, std::string_view name, std::optional<int> version = {}) {
    return member(sql, server.value(kGet, pg::params(id, version)), name);
  }
  std::string order(const std::string& id, std::string_view options = "{}") {
    return member(sql, server.value(kOrder, pg::params(kAda, id, options)), "jobId");
  }
  Error refused_order(const std::string& id, std::string_view options = "{}") {
    return server.refused(kOrder, pg::params(kAda, id, options));
  }
  std::string payload(const std::string& job, std::string_view name) {
    return sql.value("select f.payload ->> $2 from millrace.job_fact f where f.job_id = $1::uuid",
                     pg::params(job, name));
  }
  void config(std::string_view key, std::string_view value) {
    sql.run("select millrace.set_config_value($1, $2)", pg::params(key, value));
  }
  std::string versions(const std::string& id) {
    return sql.value(
        "select string_agg(v.version::text, ',' order by v.version) from "
        "millrace.export_document_version v where v.document_id = $1::uuid",
        pg::params(id));
  }

  ServerSession server{database};
};

TEST_F(ExportDocuments, a_change_is_a_version_and_the_same_again_is_none) {  // F06
  const auto id = make();
  EXPECT_EQ(get(id, "version"), "1");
  const auto first = get(id, "contentSha256");
  // However it is written: blanks, order of members, numbers with the same value as text.
  put(R"({"data": {}, "templateSlug": "minimal", "title": " CV "})", id);
  EXPECT_EQ(get(id, "version"), "1");
  EXPECT_EQ(get(id, "contentSha256"), first);
  const auto second = put(body("CV", R"({"profile": {"name": "Ada"}})"), id);
  EXPECT_EQ(member(sql, second, "version"), "2");
  EXPECT_EQ(member(sql, second, "data"), "(null)") << "the caller has it";
  EXPECT_NE(get(id, "contentSha256"), first);
  EXPECT_EQ(get(id, "data"), R"({"profile": {"name": "Ada"}})");
  EXPECT_EQ(get(id, "templateSlug"), "minimal");
  EXPECT_EQ(get(id, "userId"), kAda);
  put(body("CV", R"({"profile": {"name": "Ada"}})", "modern"), id);
  EXPECT_EQ(get(id, "version"), "3") << "another template is another file";
}

TEST_F(ExportDocuments, only_the_version_that_was_seen_is_replaced) {
  const auto id = make();
  put(body("B"), id, 1);
  const auto error = refused(body("C"), id, 1);
  EXPECT_EQ(error.sqlstate, "MR040");
  EXPECT_EQ(error.detail, "2");
  EXPECT_EQ(get(id, "title"), "B");
  EXPECT_EQ(refused(body("C"), std::nullopt, 1).sqlstate, "MR024");
}

TEST_F(ExportDocuments, what_cannot_be_kept_is_refused_by_member_and_rule) {
  const std::pair<std::string, std::string_view> wrong[] = {
      {"[]", "JSON object"},
      {"{}", "title"},
      {R"({"title": "", "data": {}})", "title must be"},
      {R"({"title": 7, "data": {}})", "title must be"},
      {R"({"title": "a\nb", "data": {}})", "title must be"},
      {fmt::format(R"({{"title": "{}", "data": {{}}}})", std::string(513, 'x')), "1 to 512 bytes"},
      {R"({"title": "a"})", "data must be"},
      {R"({"title": "a", "data": []})", "data must be"},
      {R"({"title": "a", "data": {}, "templateSlug": "../etc"})", "templateSlug"},
      {R"({"title": "a", "data": {}, "templateSlug": null})", "templateSlug"},
      {R"({"title": "a", "data": {}, "templateSlug": "my_own"})", "templateSlug"},
      {R"({"title": "a", "data": {}, "templateSlug": "1st"})", "templateSlug"},
      {R"({"title": "a", "data": {}, "owner": 1})", "'owner' is no member"},
  };
  for (const auto& [document, rule] : wrong) {
    const auto error = refused(document);
    EXPECT_EQ(error.sqlstate, "MR024") << document;
    EXPECT_THAT(error.message, HasSubstr(rule)) << document;
  }
  config("export.data_max_bytes", "64");
  const auto error = refused(body("a", fmt::format(R"({{"x": "{}"}})", std::string(64, 'y'))));
  EXPECT_THAT(error.message, HasSubstr("data must have at most 64 bytes"));
  EXPECT_EQ(sql.number("select count(*) from millrace.export_document"), 0);
}

TEST_F(ExportDocuments, a_user_has_as_many_as_the_setting_says) {
  config("export.documents_max", "2");
  make();
  const auto id = make();
  EXPECT_EQ(refused(body("third")).sqlstate, "MR027");
  put(body("second, changed"), id);
  EXPECT_NE(server.value(kPut, pg::params(kBob, std::optional<std::string>(), body("his"),
                                          std::optional<int>())),
            "(none)");
}

// T-23: each function, as each kind of stranger.
TEST_F(ExportDocuments, strangers_neither_see_nor_change_them) {
  const auto id = make();
  User ada(database, kAda);
  User bob(database, kBob);
  User elsewhere(database, kAda, kOther);
  ServerSession other(database, kOther);
  const auto none = std::optional<int>();
  EXPECT_EQ(member(sql, ada.value(kGet, pg::params(id, none)), "title"), "CV");
  for (Session* stranger : std::vector<Session*>{&bob, &elsewhere, &other}) {
    EXPECT_EQ(stranger->refused(kGet, pg::params(id, none)).sqlstate, "MR043");
    EXPECT_EQ(stranger->number("select count(*) from millrace.list_export_documents()"), 0);
  }
  // Under the own name: it is not theirs. Under the owner's: they may not.
  EXPECT_EQ(bob.refused(kPut, pg::params(kBob, id, body("x"), none)).sqlstate, "MR043");
  EXPECT_EQ(bob.refused(kPut, pg::params(kAda, id, body("x"), none)).sqlstate, "MR015");
  EXPECT_EQ(elsewhere.refused(kPut, pg::params(kAda, id, body("x"), none)).sqlstate, "MR043");
  EXPECT_EQ(other.refused(kPut, pg::params(kAda, id, body("x"), none)).sqlstate, "MR043");
  const auto remove = "select millrace.delete_export_document($1::uuid, $2::uuid)";
  EXPECT_EQ(bob.refused(remove, pg::params(kAda, id)).sqlstate, "MR015");
  EXPECT_FALSE(bob.yes(remove, pg::params(kBob, id)));
  EXPECT_FALSE(elsewhere.yes(remove, pg::params(kAda, id)));
  EXPECT_FALSE(other.yes(remove, pg::params(kAda, id)));
  EXPECT_EQ(bob.refused("select * from millrace.list_export_documents($1::uuid)", pg::params(kAda))
                .sqlstate,
            "MR015");
  EXPECT_EQ(bob.refused("select * from millrace.export_document").sqlstate, "42501");
  EXPECT_EQ(other.number("select count(*) from millrace.export_document_version"), 0);
  for (const char* call :
       {"select millrace.export_work($1::uuid)", "select millrace.reserve_export($1::uuid, 1)",
        "select millrace.settle_export($1::uuid, '{}')"}) {
    EXPECT_EQ(ada.refused(call, pg::params(id)).sqlstate, "42501") << call;
  }
  EXPECT_EQ(get(id, "version"), "1");
  // An order of somebody else's document is one of none.
  EXPECT_EQ(server.refused(kOrder, pg::params(kBob, id, "{}")).sqlstate, "MR043");
  EXPECT_EQ(other.refused(kOrder, pg::params(kAda, id, "{}")).sqlstate, "MR043");
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 0);
}

TEST_F(ExportDocuments, lists_are_newest_first_page_by_page_and_without_data) {
  stop_clock(sql);
  std::vector<std::string> made;
  for (int i = 0; i < 5; ++i) {
    made.push_back(make(fmt::format("CV {}", i)));
    pass(sql, "1 second");  // Those of one millisecond have no order.
  }
  const auto list = [&](std::optional<std::string> after) {
    return server.value(
        "select jsonb_agg(d ->> 'title')::text || coalesce(string_agg(d ->> 'data', ''), '') from "
        "millrace.list_export_documents($1::uuid, $2::uuid, 2) d",
        pg::params(kAda, after));
  };
  EXPECT_EQ(list(std::nullopt), R"(["CV 4", "CV 3"])");
  EXPECT_EQ(list(made[3]), R"(["CV 2", "CV 1"])");
  EXPECT_EQ(list(made[1]), R"(["CV 0"])");
}

TEST_F(ExportDocuments, an_order_takes_the_version_that_is_current) {  // X-21, F06
  const auto id = make();
  const auto first = order(id);
  EXPECT_EQ(order(id), first) << "the same wish";
  EXPECT_EQ(payload(first, "document_version"), "1");
  put(body("CV", R"({"a": 1})"), id);
  const auto second = order(id);
  EXPECT_NE(second, first) << "what would be shown is something else";
  EXPECT_EQ(payload(second, "document_version"), "2");
  EXPECT_EQ(payload(first, "document_version"), "1");
  // The version that was ordered stays as long as somebody needs it.
  put(body("CV", R"({"a": 2})"), id);
  put(body("CV", R"({"a": 3})"), id);
  EXPECT_EQ(versions(id), "1,2,4");
  const auto work = [&](const std::string& job) {
    ServerSession worker(database, "", "millrace_worker");
    return worker.value(
        "select (millrace.export_work($1::uuid) -> 'document' ->> 'data') || ' ' || "
        "(millrace.export_work($1::uuid) -> 'document' ->> 'version')",
        pg::params(job));
  };
  EXPECT_EQ(work(first), "{} 1");
  EXPECT_EQ(work(second), R"({"a": 1} 2)");
  // And goes with it: what has ended names nothing any more once somebody orders again.
  server.run("select millrace.cancel_jobs(array[$1::uuid], 'enough')", pg::params(first));
  order(id);
  put(body("CV", R"({"a": 5})"), id);
  EXPECT_EQ(versions(id), "2,4,5");
}

TEST_F(ExportDocuments, two_who_write_at_once_make_two_versions) {
  const auto id = make();
  server.script("begin");
  put(body("B"), id);
  ServerSession other(database);
  other.run("set lock_timeout = '20ms'");
  EXPECT_EQ(other.refused(kPut, pg::params(kAda, id, body("C"), std::optional<int>())).sqlstate,
            "55P03");
  // An order waits for the version that is being written.
  EXPECT_EQ(other.refused(kOrder, pg::params(kAda, id, "{}")).sqlstate, "55P03");
  server.script("commit");
  EXPECT_EQ(member(sql, other.value(kPut, pg::params(kAda, id, body("C"), std::optional<int>())),
                   "version"),
            "3");
}

TEST_F(ExportDocuments, options_are_checked_and_have_the_defaults_of_the_source) {  // X-02
  const auto id = make();
  const auto plain = order(id);
  EXPECT_EQ(sql.value("select payload -> 'options' from millrace.job_fact where job_id = $1::uuid",
                      pg::params(plain)),
            R"({"margins": {"top": 1, "left": 1, "right": 1, "bottom": 1}, "quality": "normal", )"
            R"("pageSize": "Letter", "colorMode": "color", "templateSlug": "minimal"})");
  EXPECT_EQ(order(id, R"({"pageSize": "Letter", "margins": {"top": 1.0}})"), plain);
  EXPECT_NE(order(id, R"({"margins": {"top": 0.5}})"), plain);
  EXPECT_NE(order(id, R"({"templateSlug": "modern"})"), plain);
  EXPECT_EQ(order(id, R"({"preview": false})"), plain);
  EXPECT_NE(order(id, R"({"preview": true})"), plain);
  const std::pair<std::string_view, std::string_view> wrong[] = {
      {R"({"pageSize": "A5"})", "options.pageSize must be A4, Letter or Legal"},
      {R"({"pageSize": null})", "options.pageSize"},
      {R"({"quality": "best"})", "options.quality must be draft, normal or high"},
      {R"({"colorMode": "blue"})", "options.colorMode"},
      {R"({"margins": {"top": 2.01}})", "options.margins.top must be a number of inches from 0"},
      {R"({"margins": {"left": -0.1}})", "options.margins.left"},
      {R"({"margins": {"left": "1"}})", "options.margins.left"},
      {R"({"margins": {"inner": 1}})", "'inner' is no margin"},
      {R"({"margins": 1})", "options.margins must be an object"},
      {R"({"templateSlug": "A B"})", "options.templateSlug"},
      {R"({"templateSlug": "my_own"})", "options.templateSlug"},
      {R"({"language": "deutsch!"})", "options.language"},
      {R"({"scripts": true})", "'scripts' is no option"},
      {R"({"preview": "yes"})", "options.preview must be true or false"},
      {"[]", "options must be a JSON object"}};
  for (const auto& [options, rule] : wrong) {
    const auto error = refused_order(id, options);
    EXPECT_EQ(error.sqlstate, "MR024") << options;
    EXPECT_THAT(error.message, HasSubstr(rule)) << options;
  }
}

TEST_F(ExportDocuments, orders_of_a_day_are_counted_and_refused) {  // L-18
  config("export.operations_per_day", "3");
  for (int i = 0; i < 3; ++i) order(make());
  const auto id = make();
  const auto error = refused_order(id);
  EXPECT_EQ(error.sqlstate, "MR044");
  EXPECT_EQ(error.message, "Daily export limit reached (3 of 3 used). Try again tomorrow.");
  const int seconds = std::stoi(error.detail);
  EXPECT_GT(seconds, 0);
  EXPECT_LE(seconds, 86'400);
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 3);
  EXPECT_EQ(sql.number("select operations from millrace.export_usage"), 3);
  // A batch counts each; what is under way already counts nothing.
  config("export.operations_per_day", "4");
  EXPECT_EQ(server
                .refused("select millrace.order_exports($1::uuid, array[$2::uuid, $3::uuid], '{}', "
                         "'{\"batch\": true}')",
                         pg::params(kAda, id, make()))
                .sqlstate,
            "MR044");
  const auto fourth = order(id);
  EXPECT_EQ(order(id), fourth);
}

// L-18: a day begins at midnight, UTC, whatever the zone of the connection.
TEST_F(ExportDocuments, the_day_of_orders_ends_at_midnight_utc) {
  stop_clock(sql);
  config("export.operations_per_day", "1");
  for (auto* session : {static_cast<Session*>(&sql), static_cast<Session*>(&server)}) {
    session->run("set time zone 'Pacific/Kiritimati'");  // Fourteen hours ahead.
  }
  const auto at = [&](std::string_view time) {
    sql.run("update millrace.test_clock set frozen_at = $1::timestamptz", pg::params(time));
  };
  at("2026-03-10 10:30:00+00");  // Past midnight there.
  order(make());
  at("2026-03-10 23:59:59.5+00");
  const auto id = make();
  const auto error = refused_order(id);
  EXPECT_EQ(error.sqlstate, "MR044");
  EXPECT_EQ(error.detail, "1") << "seconds until it is worth asking again";
  at("2026-03-11 00:00:00+00");
  EXPECT_NE(order(id), "");
  EXPECT_EQ(sql.number("select operations from millrace.export_usage"), 1);
  EXPECT_EQ(refused_order(make()).sqlstate, "MR044");
}

TEST_F(ExportDocuments, the_last_order_of_a_day_goes_to_one_of_two_connections) {  // L-18
  config("export.operations_per_day", "1");
  const auto a = make();
  const auto b = make();
  server.script("begin");
  order(a);
  ServerSession other(database);
  other.run("set lock_timeout = '20ms'");
  EXPECT_EQ(other.refused(kOrder, pg::params(kAda, b, "{}")).sqlstate, "55P03");
  server.script("commit");
  EXPECT_EQ(other.refused(kOrder, pg::params(kAda, b, "{}")).sqlstate, "MR044");
}

TEST_F(ExportDocuments, limits_are_settings) {  // X-19, X-11
  config("export.running_max", "0");
  EXPECT_EQ(refused_order(make()).sqlstate, "MR008");
  config("export.running_max", "3");
  config("export.quota_bytes", "0");
  const auto error = refused_order(make());
  EXPECT_EQ(error.sqlstate, "MR027");
  EXPECT_EQ(error.message,
            "Storage quota exceeded (0.00MB / 0MB). Delete old exports to continue.");
  config("export.quota_bytes", "1572864");
  EXPECT_EQ(server.value("select millrace.check_storage_quota($1::uuid)", pg::params(kAda)),
            R"({"usedMB": 0.00, "allowed": true, "limitMB": 1.5})");
  // Denied from the limit on, to the byte; two decimals.
  const auto quota = [&] {
    return server.value("select millrace.check_storage_quota($1::uuid)", pg::params(kAda));
  };
  const auto store = [&](int bytes) {
    ServerSession service(database, kTenant, "service_role");
    service.run(
        "select millrace.create_export_history(jsonb_build_object('user_id', $1::text, "
        "'file_name', 'x', 'file_path', 'x', 'file_size', $2::integer))",
        pg::params(kAda, bytes));
  };
  store(1572863);
  EXPECT_EQ(quota(), R"({"usedMB": 1.50, "allowed": true, "limitMB": 1.5})");
  store(1);
  EXPECT_EQ(quota(), R"({"usedMB": 1.50, "allowed": false, "limitMB": 1.5})");
  EXPECT_EQ(refused_order(make()).message,
            "Storage quota exceeded (1.50MB / 1.5MB). Delete old exports to continue.");
  for (const char* key : {"export.operations_per_day", "export.running_max", "export.documents_max",
                          "export.cleanup_minute", "export.quota_bytes"}) {
    EXPECT_EQ(sql.refused("select millrace.set_config_value($1, 'many')", pg::params(key)).sqlstate,
              "MR020")
        << key;
  }
  EXPECT_EQ(
      sql.refused("select millrace.set_config_value('export.cleanup_minute', '1440')").sqlstate,
      "MR020");
}

TEST_F(ExportDocuments, a_document_that_is_deleted_cancels_what_is_under_way) {
  const auto id = make();
  const auto job = order(id);
  EXPECT_TRUE(server.yes("select millrace.delete_export_document($1::uuid, $2::uuid)",
                         pg::params(kAda, id)));
  EXPECT_EQ(status(sql, job), "cancelled");
  EXPECT_EQ(server.refused(kGet, pg::params(id, std::optional<int>())).sqlstate, "MR043");
  EXPECT_EQ(versions(id), "(null)");
  EXPECT_EQ(refused_order(id).sqlstate, "MR043");
  EXPECT_EQ(refused_order(id).message, "Document not found");
  EXPECT_FALSE(server.yes("select millrace.delete_export_document($1::uuid, $2::uuid)",
                          pg::params(kAda, id)));
}

// Documents of services whose own workers print them need not lie here.
TEST_F(ExportDocuments, a_service_may_order_what_lies_elsewhere) {  // V-18
  ServerSession service(database, kTenant, "service_role");
  const auto create = "select millrace.create_export_job($1::uuid, $2::uuid, $3::jsonb)";
  const auto elsewhere = service.value(
      create, pg::params(kAda, "00000000-0000-4000-8000-00000000dddd", R"({"anything": 1})"));
  EXPECT_EQ(payload(elsewhere, "document_version"), "(null)");
  const auto id = make();
  const auto here = service.value(create, pg::params(kAda, id, "{}"));
  EXPECT_EQ(payload(here, "document_version"), "1");
  put(body("other"), id);
  EXPECT_NE(service.value(create, pg::params(kAda, id, "{}")), here);
  EXPECT_EQ(versions(id), "1,2");
}

}  // namespace
}  // namespace millrace::test
