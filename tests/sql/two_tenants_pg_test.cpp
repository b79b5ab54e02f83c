// Two tenants and two users in one database: every function that a client can execute is called
// with ids that are somebody else's, by everybody who must not have them. Nothing changes, and no
// word of the owner's comes back. A function that is granted to clients and not named here fails
// the test: whoever adds one says what it does with a stranger's id.
#include "sql/server_world.h"

#include <map>
#include <memory>
#include <set>
#include <vector>

namespace millrace::test {
namespace {

// In everything of the owner's that is content.
constexpr std::string_view kSecret = "quagga";

// Calls with ids of the owner, by function. @job and others stand for the owner's things.
const std::map<std::string, std::vector<std::string>>& calls() {
  static const std::map<std::string, std::vector<std::string>> all{
      // Jobs
      {"job_status", {"'@job'"}},
      {"job_statuses", {"array['@job', '@dead']::uuid[]"}},
      {"job_status_lines", {"array['@job', '@dead']::uuid[]"}},
      {"job_detail", {"'@job'"}},
      {"job_log_page", {"'@job'"}},
      {"job_logs", {"'@job'"}},
      {"get_job", {"'@job'"}},
      {"get_result", {"'@job'"}},
      {"compute_message", {"'@job'"}},
      {"update_export_jobs",
       {R"(array['@job @holder'], '{"status": "completed"}')",
        R"(array['@job @holder'], '{"progress": 50}')"}},
      {"cancel_mine", {"array['@job'::uuid]"}},
      {"cancel_jobs", {"array['@job'::uuid]"}},
      {"cancel_job", {"'@job'", "'@job', '@user'"}},
      {"get_job_status", {"'@job', '@user'"}},
      {"complete_job", {"'@job', '@holder'"}},
      {"fail_job", {"'@job', '@holder', '{}'"}},
      {"update_job_heartbeat", {"'@job', '@holder'"}},
      {"update_job_progress", {"'@job', 50"}},
      {"reschedule_job", {"'@job', 1, 'r'", "'@job', 1, 'r', false, '@holder'"}},
      {"claim_next_job", {"'@holder'"}},
      {"claim_next_job_v3", {"'@holder'"}},
      {"fetch_next_export_job", {"", "'@user'"}},
      {"list_jobs",
       {"", R"('{"owner_id": "@user"}')", R"('{"batch_id": "@batch"}')",
        R"('{"status": "failed"}')", R"('{"status": "processing"}')",
        R"('{"fingerprint": "@print"}')", R"('{"correlation_id": "c"}')"}},
      {"enqueue_job",
       {R"('noop', '{"n": 1}', '{"batch_id": "@batch"}')",
        R"('noop', '{"n": 1}', '{"after": {"jobs": ["@job"]}}')",
        R"('noop', '{"n": 1}', '{"id": "@job"}')", R"('noop', '{"n": 1}', '{"dedupe_key": "d"}')"}},
      {"enqueue_jobs",
       {R"('[{"job_type": "noop", "payload": {"n": 1}, "batch_id": "@batch"}]')",
        R"('[{"job_type": "noop", "payload": {"n": 1}, "id": "@job"}]')"}},
      {"enqueue_singles",
       {R"('[{"job_type": "noop", "payload": {"n": 1}, "batch_id": "@batch"}]')"}},
      {"enqueue_each",
       {R"(array['{"job_type": "noop", "payload": {"n": 1}, "batch_id": "@batch"}'])"}},
      {"enqueue_array", {R"('noop', array['{"n": 1}'::jsonb], '{"batch_id": "@batch"}')"}},
      // Batches
      {"get_batch", {"'@batch'"}},
      {"seal_batch", {"'@batch'"}},
      {"list_batches", {""}},
      // Profiles, files, objects, exports
      {"has_profile_access", {"'@profile'"}},
      {"create_profile", {"'x', null, '@profile'", "'x', '@user', '@profile'"}},
      {"create_profile_row", {"'x', null, '@profile'", "'x', '@user', '@profile'"}},
      {"list_profiles", {"", "null, 10, '@profile'", "null, 10, null, '@user'"}},
      {"rename_profile", {"'@profile', 'x'"}},
      {"delete_profile", {"'@profile'"}},
      {"get_file", {"'@file'"}},
      {"list_files", {"", "null, 10, '@profile'"}},
      {"put_shell_files",
       {R"('[{"patient_id": "@profile", "storage_path": "@path"}]')",
        R"('[{"patient_id": "@profile", "storage_path": "@path", "idempotency_key": "k"}]', 'merge')"}},
      {"update_shell_files",
       {R"(array['@file'::uuid], '{"file_name": "x"}')",
        R"(array['@file'::uuid], '{"status": "failed"}')"}},
      {"delete_shell_files", {"array['@file'::uuid]"}},
      // Documents
      {"get_document", {"'@file'"}},
      {"list_documents", {"", "null, 10, 'processing'", "null, 10, null, '@profile'"}},
      {"list_pages", {"'@file'"}},
      {"list_facts", {"'@file'"}},
      {"get_output", {"'@file', 'text'"}},
      {"ask_image", {"'@file', 1"}},
      {"retry_document", {"'@file'"}},
      {"list_quarantine", {""}},
      {"release_quarantine", {"'@hostile'"}},
      {"list_spend", {""}},
      {"get_object", {"'medical-docs', '@path'"}},
      {"list_objects", {"'medical-docs', ''", "'medical-docs', '@user'"}},
      {"remove_objects", {"'medical-docs', array['@path']"}},
      {"create_export_history",
       {R"('{"user_id": "@user", "file_name": "x", "file_path": "x", "file_size": 1, "job_id": "@job"}')"}},
      {"update_export_history", {R"(array['@export'::uuid], '{"download_count": 9}')"}},
      {"delete_export_history", {"array['@export'::uuid]"}},
      {"count_download", {"'@export'"}},
      {"find_download", {"'@export'"}},
      {"count_downloads", {"array['@job'::uuid]"}},
      {"check_storage_quota", {"'@user'"}},
      {"export_files", {"array['@job'::uuid]"}},
      {"export_batch_jobs", {"'@batch'"}},
      {"get_export_document", {"'@paper'", "'@paper', 1"}},
      {"list_export_documents", {"'@user', null, 10"}},
      {"put_export_document",
       {R"('@user', '@paper', '{"title": "x", "templateSlug": "minimal", "data": {}}')"}},
      {"delete_export_document", {"'@user', '@paper'"}},
      {"export_preview", {"'@job'"}},
      {"ingest_state", {"'@job'", "'@dead'"}},
      {"search_chunks", {"'@word'", "'@word', p_documents => array['@file'::uuid]"}},
      {"process_job", {"'@job'"}},
      {"submit_parse_job", {"'@job', '@path'"}},
      {"promote_buffers_to_production", {"'@file'"}},
      {"cleanup_completed_buffers", {"'@file'"}},
      {"pgmq_read", {"'@lane', 30, 10"}},
      {"pgmq_delete", {"'@lane', '@message'"}},
      {"pgmq_archive", {"'@lane', '@message'"}},
      {"pgmq_send", {"'@lane', '{}'"}},
      {"version_of",
       {"'profile', '@profile'", "'tenant', '@tenant'", "'cron', 'tick'", "'file', '@file'"}},
      {"require_version",
       {"'profile', '@profile', array['*']", "'tenant', '@tenant', array['*']",
        "'cron', 'tick', array['*']", "'file', '@file', array['*']"}},
      // Requests
      {"begin_request", {"'r', 'k', 'f'"}},
      {"finish_request", {"'r', 'k', '@request', 200, '{}', 'x'"}},
      {"keep_effect", {"'r', 'k', '@request', '{}'"}},
      {"release_request", {"'r', 'k', '@request'"}},
      // What only administrators, operators and auditors of another tenant could do
      {"redrive_jobs", {R"('{"job_ids": ["@dead"]}')", R"('{"fingerprint": "@print"}')"}},
      {"run_now", {"array['@job'::uuid]"}},
      {"retry_job", {"'@dead'", "'@job'"}},
      {"reschedule_jobs", {"array['@job'::uuid], now()"}},
      {"job_audit", {"'@job'"}},
      {"list_audit", {"", "null, null, null, null, '@file'"}},
      {"dead_groups", {""}},
      {"dead_group_page", {""}},
      {"verify_audit_page", {""}},
      {"cron_overview", {""}},
      {"cron_now", {"'tick'"}},
      {"delete_cron", {"'tick'"}},
      {"list_api_tokens", {"null, 10, true"}},
      {"revoke_api_token", {"'@token'"}},
      {"list_tenants", {"", "null, 10, '@tenant'"}},
      {"create_tenant", {"'x', '@tenant'", "'x'"}},
      {"create_tenant_row", {"'x', '@tenant'", "'x'"}},
      {"set_tenant_quota", {R"('@tenant', '{"quota_bytes": 0}')"}},
      {"disable_tenant", {"'@tenant'"}},
      {"enable_tenant", {"'@tenant'"}},
      {"create_api_token",
       {R"('{"kind": "jwt", "role": "service_role", "jti": "x", "tenant_id": "@tenant"}')"}},
      // The server's own, told to act for another tenant
      {"get_upload", {"'@upload'"}},
      {"list_parts", {"'@upload', null, 0, 10"}},
      {"take_upload", {"'@upload', null, '@user'"}},
      {"advance_upload", {"'@upload', '@writer', 0, 1, 'x'"}},
      {"grow_upload", {"'@upload', null, 100"}},
      {"abort_upload", {"'@upload'"}},
      {"finish_upload", {"'@upload', '@blob'"}},
  };
  return all;
}

// Granted to clients and without an id of anybody's thing: they look at the caller, at one value
// given, at what belongs to the installation, or make something new in the caller's tenant.
const std::set<std::string>& without_ids() {
  static const std::set<std::string> all{"caller",
                                         "claimed_tenant",
                                         "current_tenant",
                                         "current_user_id",
                                         "jwt_claims",
                                         "tenant_scope",
                                         "is_tenant_disabled",
                                         "uuid_or_null",
                                         "is_service_role",
                                         "jsonb_merge",
                                         "jsonb_merge_agg",
                                         "json_integer",
                                         "error_text",
                                         "now",
                                         "new_id",
                                         "enqueue_job_v3",
                                         "chunk_id",
                                         "parse_id",
                                         "check_webhook_replay",
                                         "verify_signature",
                                         "verify_timestamp",
                                         "verify_webhook_origin",
                                         "sanitize_log_data",
                                         "create_export_job",
                                         "pgmq_create",
                                         "put_export_jobs",
                                         "calculate_retry_delay",
                                         "can_process_more_jobs",
                                         "acquire_api_capacity",
                                         "release_api_capacity",
                                         "log_audit_event",
                                         "create_batch",
                                         "open_batch",
                                         "list_buckets",
                                         "rest_single",
                                         "rest_bounded",
                                         "reset_stuck_jobs",
                                         "scale_hint",
                                         "queue_load",
                                         "health_counts"};
  return all;
}

class TwoTenants : public EngineTest {
 protected:
  // Everything the owner (Ada of kTenant) has.
  void SetUp() override {
    ServerSession server{database};
    ServerSession service{database, kTenant, "service_role"};
    User ada{database, kAda};
    things["@user"] = kAda;
    things["@tenant"] = kTenant;
    ServerSession admin{database, ""};
    admin.run("select millrace.create_tenant($1, $2)", pg::params(kSecret, kTenant));
    things["@token"] = server.value(
        "select millrace.create_api_token(jsonb_build_object('kind', 'jwt', 'role', 'anon', 'jti', "
        "'j', 'name', $1::text, 'tenant_id', $2::text))",
        pg::params(kSecret, kTenant));
    things["@job"] = service.value(
        "select millrace.create_export_job($1, $1, jsonb_build_object('t', $2::text))",
        pg::params(kAda, kSecret));
    things["@holder"] = service.value("select locked_by from millrace.fetch_next_export_job()");
    make_dead_letter(service);
    things["@batch"] = server.value(
        "select millrace.open_batch(jsonb_build_object('name', $1::text))", pg::params(kSecret));
    service.run("select millrace.enqueue_job('noop', '{\"n\": 1}', '{\"dedupe_key\": \"d\"}')");
    server.run(
        "select millrace.set_cron('tick', '@daily', jsonb_build_object('job_type', 'noop', "
        "'payload', jsonb_build_object('n', $1::text)))",
        pg::params(kSecret));
    things["@profile"] = ada.value("select millrace.create_profile($1)", pg::params(kSecret));
    const auto file =
        put_file(server, kAda, "hello",
                 fmt::format(R"({{"patient_id": "{}", "file_name": "{}", "idempotency_key": "k"}})",
                             things["@profile"], kSecret));
    things["@file"] = member(server, file, "id");
    make_document(server);
    things["@path"] = fmt::format("{}/plain", kAda);
    put_object(server, kAda, things["@path"], "other");
    things["@export"] = service.value(
        "select id from millrace.create_export_history(jsonb_build_object('user_id', $1::text, "
        "'file_name', $2::text, 'file_path', 'p', 'file_size', 1, 'job_id', $3::text))",
        pg::params(kAda, kSecret, things["@job"]));
    things["@upload"] = member(
        server, begin_file(server, kAda, "5", fmt::format(R"({{"file_name": "{}"}})", kSecret)),
        "upload_id");
    things["@writer"] = kBob;
    server.run("select millrace.take_upload($1, null, $2)",
               pg::params(things["@upload"], things["@writer"]));
    things["@blob"] = stored(server, "12345");
    things["@paper"] =
        member(server,
               server.value(
                   "select millrace.put_export_document($1::uuid, null, jsonb_build_object("
                   "'title', $2::text, 'templateSlug', 'minimal', 'data', jsonb_build_object('x', "
                   "$2::text)))",
                   pg::params(kAda, kSecret)),
               "id");
    service.run("select millrace.pgmq_create('lane')");
    things["@lane"] = "lane";
    things["@message"] =
        service.value("select millrace.pgmq_send('lane', jsonb_build_object('n', $1::text))",
                      pg::params(kSecret));
    make_chunk();
    things["@request"] = service.value("select token from millrace.begin_request('r', 'k', 'f')");
    // Whoever claims does some of the keeper's work where none runs: that is done here.
    sql.run("select millrace.fold_counters()");
    make_owned();
  }
  // Of the file: scanned, its page read, a fact, an output, content in quarantine and money spent.
  void make_document(Session& server) {
    const auto& file = things["@file"];
    const auto job =
        sql.value("select job_id from millrace.shell_files where id = $1::uuid", pg::params(file));
    things["@hostile"] = std::string(64, 'b');
    const auto blob = stored(server, "result");
    sql.run(
        "select millrace.begin_document($1::uuid, jsonb_build_object('name', 'guardian', "
        "'version', '1', 'hash', "
        "repeat('a', 64), 'stage', 'fast_queue_security', 'definition', '{}'::jsonb))",
        pg::params(job));
    sql.run(
        "select millrace.settle_scan($1::uuid, jsonb_build_object('stage', 'fast_queue_security', "
        "'verdict', "
        "'clean', 'kind', 'pdf', 'findings', jsonb_build_array(jsonb_build_object('rule', "
        "$3::text)), 'pages', "
        "jsonb_build_array(jsonb_build_object('page', 1, 'content_sha256', repeat('c', 64))), "
        "'blob', $2::jsonb, "
        "'meta', '{}'::jsonb, 'reuse_key', repeat('d', 64)), jsonb_build_object('stage', "
        "'document_outputs', "
        "'each', 'document', 'job', '{}'::jsonb))",
        pg::params(job, blob, kSecret));
    sql.run(
        "select millrace.settle_page($1::uuid, jsonb_build_object('page', 1, 'stage', "
        "'fast_queue_ocr', "
        "'reuse_key', repeat('e', 64), 'blob', $2::jsonb, 'meta', jsonb_build_object('engine', "
        "$3::text), 'facts', "
        "jsonb_build_array(jsonb_build_object('fact_id', 'f1', 'type', 'medication', 'name', "
        "$3::text, 'subject', "
        "'patient', 'polarity', 'affirmed', 'certainty', 'certain', 'temporality', 'current', "
        "'value', "
        "'{}'::jsonb, 'evidence', '[]'::jsonb, 'conf', 1, 'route', 'accepted'))), null)",
        pg::params(job, blob, kSecret));
    sql.run(
        "select millrace.settle_image($1::uuid, jsonb_build_object('kind', 'text', 'file_name', "
        "$3::text, 'blob', "
        "$2::jsonb))",
        pg::params(job, blob, kSecret));
    sql.run(
        "insert into millrace.quarantine (tenant_id, sha256, what, stage, reason, quarantined_at) "
        "values "
        "($1::uuid, decode($2, 'hex'), 'file', 'fast_queue_security', $3, millrace.now())",
        pg::params(kTenant, things["@hostile"], kSecret));
    sql.run(
        "select millrace.begin_call(jsonb_build_object('job_id', $1::text, 'delivery_count', 1, "
        "'stage', 's', "
        "'provider', $2::text, 'model', 'm', 'request_sha256', repeat('a', 64), "
        "'estimated_tokens', 1, "
        "'reserved_micros', 1))",
        pg::params(job, kSecret));
  }
  // Of the file, as if it had been ingested: it is found by a word that its text has.
  void make_chunk() {
    things["@word"] = "zucchini";
    sql.run(
        "insert into millrace.embedding_model (embed_model, embed_version, dimension, "
        "registered_at) values ('m', '1', 2, millrace.now())");
    sql.run(
        "insert into millrace.generation (generation_id, tenant_id, file_id, parsed_sha256, "
        "parse_id, parser_name, parser_version, chunker_name, chunker_version, params_sha256, "
        "embed_model, embed_version, state, created_at, published_at) values ($1::uuid, $2::uuid, "
        "$1::uuid, sha256('x'), $1::uuid, 'p', '1', 'c', '1', sha256('x'), 'm', '1', 'published', "
        "millrace.now(), millrace.now())",
        pg::params(things["@file"], kTenant));
    sql.run(
        "insert into millrace.document_chunks (document_id, chunk_id, generation_id, content_id, "
        "tenant_id, owner_id, chunk_ord, chunker_name, chunker_version, chunk_sha, text, "
        "start_byte, end_byte, meta, embed_sha256, words, created_at) values ($1::uuid, $1::uuid, "
        "$1::uuid, "
        "$1::uuid, $2::uuid, $3::uuid, 0, 'c', '1', '', 'zucchini ' || $4::text, 0, 1, '{}', "
        "sha256('x'), "
        "millrace.chunk_words('simple', '{}', 'zucchini ' || $4::text), millrace.now())",
        pg::params(things["@file"], kTenant, kAda, kSecret));
  }
  void make_dead_letter(Session& service) {
    const auto dead = service.value(
        "select millrace.enqueue_job('noop', jsonb_build_object('n', $1::text), "
        "'{\"max_attempts\": 25, \"correlation_id\": \"c\"}')",
        pg::params(kSecret));
    as_tenant(sql, std::string(kTenant));
    Worker worker(sql);
    worker.settle(worker.take(), "permanent",
                  fmt::format(R"({{"error": {{"error_type": "e", "message": "{}"}}}})", kSecret));
    as_tenant(sql, "");
    things["@dead"] = dead;
    things["@print"] = sql.value("select fingerprint from millrace.job_history where job_id = $1",
                                 pg::params(dead));
  }
  std::string fill(std::string call) const {
    // Longer names first: none is the beginning of another then.
    for (auto thing = things.rbegin(); thing != things.rend(); ++thing) {
      for (auto at = call.find(thing->first); at != std::string::npos;
           at = call.find(thing->first, at + thing->second.size())) {
        call.replace(at, thing->first.size(), thing->second);
      }
    }
    return call;
  }
  // Every row of the owner's tenant, as a function that keeps its plan.
  void make_owned() {
    const auto query = sql.value(
        "select string_agg(format('select %L, md5(coalesce(string_agg(t::text, chr(10) order by "
        "t::text), '''')) from millrace.%I t where tenant_id = p_tenant', c.relname, c.relname), "
        "' union all ' order by c.relname) from pg_class c where c.relnamespace = "
        "'millrace'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and exists "
        "(select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id')");
    sql.script(fmt::format(
        "create function public.owned(p_tenant uuid) returns text language plpgsql as $owned$ "
        "begin return (select string_agg(w.name || ' ' || w.hash, chr(10)) from ({}) "
        "w(name, hash)); end $owned$",
        query));
  }
  std::string owned() { return sql.value("select public.owned($1)", pg::params(kTenant)); }
  // All that comes back: values, or the error as a client gets it.
  static std::string answer(Session& session, const std::string& call) {
    auto result = session.connection().query(call, pg::Params{});
    if (!result) return result.error().message + result.error().detail;
    std::string text;
    for (const auto row : *result) text += row.opt_text(0).value_or("") + "\n";
    return text;
  }
  void walk(Session& stranger, const std::string& who) {
    for (const auto& [function, arguments] : calls()) {
      for (const auto& some : arguments) {
        const auto call = fill(fmt::format("select millrace.{}({})", function, some));
        EXPECT_EQ(answer(stranger, call).find(kSecret), std::string::npos) << who << ": " << call;
        const auto now = owned();
        EXPECT_EQ(now, before_) << who << ": " << call;
        before_ = now;
      }
    }
  }
  std::map<std::string, std::string> things;
  std::string before_;
};

// T-02, I08, I05: another tenant's, and another user's.
TEST_F(TwoTenants, i08_nobody_reaches_what_is_another_tenants_by_any_function) {
  before_ = owned();
  for (const auto* role : {"service_role", "millrace_api", "millrace_reader"}) {
    ServerSession stranger{database, kOther, role};
    walk(stranger, role);
  }
  User same_user_elsewhere{database, kAda, kOther};
  walk(same_user_elsewhere, "the same user of another tenant");
}

TEST_F(TwoTenants, t02_another_user_of_the_tenant_reaches_nothing_by_any_function) {
  before_ = owned();
  User bob{database, kBob};
  // A request of his own under the same key is his own.
  bob.run("select millrace.begin_request('r', 'k', 'f')");
  before_ = owned();
  walk(bob, "another user");
}

TEST_F(TwoTenants, i02_every_function_that_clients_may_execute_is_in_the_walk) {
  for (const auto row :
       sql.rows("select distinct p.proname from pg_proc p where p.pronamespace = "
                "'millrace'::regnamespace and (has_function_privilege('authenticated', p.oid, "
                "'execute') or has_function_privilege('service_role', p.oid, 'execute'))")) {
    const std::string name(row.text(0));
    EXPECT_TRUE(calls().contains(name) != without_ids().contains(name)) << name;
  }
}

// The walk itself finds what it looks for: with the owner's rights the words come back.
TEST_F(TwoTenants, the_owner_gets_what_strangers_do_not) {
  User ada{database, kAda};
  ServerSession service{database, kTenant, "service_role"};
  for (const auto* call :
       {"select millrace.get_file('@file')", "select millrace.list_profiles()",
        "select millrace.count_download('@export')", "select millrace.find_download('@export')",
        "select millrace.get_document('@file')", "select millrace.list_documents()",
        "select millrace.list_pages('@file')", "select millrace.list_facts('@file')"}) {
    EXPECT_NE(answer(ada, fill(call)).find(kSecret), std::string::npos) << call;
  }
  for (const auto* call :
       {"select millrace.get_job('@dead')", "select millrace.get_batch('@batch')",
        R"(select millrace.list_jobs('{"fingerprint": "@print"}'))"}) {
    EXPECT_NE(answer(service, fill(call)).find(kSecret), std::string::npos) << call;
  }
  ServerSession server{database};
  for (const auto* call : {"select millrace.get_output('@file', 'text')",
                           "select millrace.list_quarantine()", "select millrace.list_spend()"}) {
    EXPECT_NE(answer(server, fill(call)).find(kSecret), std::string::npos) << call;
  }
  const auto now = owned();
  ada.run("select millrace.rename_profile($1, 'x')", pg::params(things["@profile"]));
  EXPECT_NE(owned(), now);
}

}  // namespace
}  // namespace millrace::test
