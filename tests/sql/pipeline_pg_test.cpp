// Pipelines that workers bring along (Q-24): a file of TOML and a worker are enough, the engine
// needs no change. Which version a document gets is decided when its first job is made.
#include "sql/server_world.h"

#include <gmock/gmock.h>

namespace millrace::test {
namespace {

using ::testing::HasSubstr;

class Pipelines : public EngineTest {
 protected:
  static std::string hash_of(const std::string& version) {
    std::string hash(64, 'a');
    for (std::size_t i = 0; i < version.size(); ++i) hash[i] = version[i] == '.' ? '0' : version[i];
    return hash;
  }
  // Of a scan, and a stage of the author's whose name is that of the version.
  static std::string letters(const std::string& version, const std::string& first = "letters_scan",
                             const std::string& name = "letters") {
    return fmt::format(
        R"([{{"name": "{3}", "version": "{0}", "hash": "{1}",
          "definition": {{"name": "{3}", "stage": [{{"name": "{2}", "queue": "letters"}},
                                                   {{"name": "label_{0}", "queue": "labels"}}]}},
          "first_job": {{"job_type": "{2}", "queue": "letters", "max_attempts": 3,
                         "run_timeout_seconds": 90}},
          "queues": [{{"name": "letters", "policy": {{"max_attempts": 4, "backoff_base": "3s"}}}},
                     {{"name": "labels"}}],
          "job_types": [{{"job_type": "{2}", "queue": "letters"}},
                        {{"job_type": "label_{0}", "queue": "labels"}}]}}])",
        version, hash_of(version), first, name);
  }
  std::string register_all(const std::string& pipelines) {
    return worker.value(
        "select coalesce(string_agg((k ->> 'job_type') || '@' || (k ->> 'queue'), ' ' order by k "
        "->> "
        "'job_type'), '') from millrace.register_pipelines($1::jsonb) k",
        pg::params(pipelines));
  }
  std::string upload(std::string_view content, std::string_view pipeline = "letters") {
    return put_file(api, kAda, content, fmt::format(R"({{"pipeline": "{}"}})", pipeline));
  }
  std::string begin(const std::string& file, const std::string& pipeline) {
    const auto work = worker.value("select millrace.begin_document($1::uuid, $2::jsonb -> 0)::text",
                                   pg::params(member(sql, file, "job_id"), pipeline));
    return sql.value("select $1::jsonb #>> '{document,pipeline_hash}'", pg::params(work));
  }
  std::string job(const std::string& file, std::string_view field) {
    return sql.value("select millrace.get_job($1::uuid) ->> $2",
                     pg::params(member(sql, file, "job_id"), field));
  }
  Error refused(const std::string& pipelines) {
    return worker.refused("select millrace.register_pipelines($1::jsonb)", pg::params(pipelines));
  }

  ServerSession api{database};
  ServerSession worker{database, "", "millrace_worker"};
};

TEST_F(Pipelines, q24_a_file_may_be_sent_into_a_pipeline_once_a_worker_has_it) {
  const auto unknown = api.refused(
      "select millrace.begin_upload(jsonb_build_object('kind', 'file', 'user_id', $1::text, "
      "'size_bytes', 1, 'pipeline', 'letters'))",
      pg::params(kAda));
  EXPECT_EQ(unknown.sqlstate, "MR024");
  EXPECT_THAT(unknown.message,
              HasSubstr("pipeline must be one that a worker has: guardian, ingest"));
  register_all(letters("1.0.0"));
  const auto file = upload("one");
  EXPECT_EQ(job(file, "job_type"), "letters_scan");
  EXPECT_EQ(job(file, "queue"), "letters");
  EXPECT_EQ(job(file, "max_attempts"), "3");
  EXPECT_EQ(job(file, "pipeline"), "letters");
  EXPECT_EQ(sql.value("select pipeline from millrace.shell_files"), "letters");
  EXPECT_EQ(sql.value("select p.name || ' ' || p.version || ' ' || p.first_job_type from "
                      "millrace.list_pipelines() p"),
            "letters 1.0.0 letters_scan");
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(Pipelines, u07_guardian_and_ingest_need_no_registration) {
  EXPECT_EQ(job(upload("one", "guardian"), "job_type"), "fast_queue_security");
  EXPECT_EQ(job(upload("two", "ingest"), "job_type"), "ingest_document");
  EXPECT_EQ(sql.value("select coalesce(millrace.first_job_type('letters'), 'none')"), "none");
}

// U-11: a file that came before any worker is begun by the first one that has the pipeline.
TEST_F(Pipelines, u11_a_file_of_ingest_that_came_before_the_first_worker_is_begun_by_it) {
  const auto file = upload("early", "ingest");
  register_all(letters("1.0.0", "ingest_document", "ingest"));
  EXPECT_EQ(begin(file, letters("1.0.0", "ingest_document", "ingest")), hash_of("1.0.0"));
  EXPECT_EQ(sql.value("select stage from millrace.document"), "ingest_document");
  EXPECT_EQ(job(upload("late", "ingest"), "queue"), "letters") << "as the current version says";
}

// A pipeline of one's own may begin with the stage of the built-in one, with another parser.
TEST_F(Pipelines, u11_a_pipeline_of_another_name_may_begin_with_the_stage_of_ingest) {
  register_all(letters("1.0.0", "ingest_document", "cloud"));
  const auto file = upload("a page", "cloud");
  EXPECT_EQ(job(file, "job_type"), "ingest_document");
  EXPECT_EQ(sql.value("select millrace.get_job($1::uuid) #>> '{payload,document_id}'",
                      pg::params(member(sql, file, "job_id"))),
            member(sql, file, "id"));
  EXPECT_EQ(begin(file, letters("1.0.0", "ingest_document", "cloud")), hash_of("1.0.0"));
}

TEST_F(Pipelines, queues_and_types_are_made_once_and_an_operators_change_stays) {
  register_all(letters("1.0.0"));
  EXPECT_EQ(
      sql.value("select max_attempts || ' ' || backoff_base from millrace.queue where queue = "
                "'letters'"),
      "4 00:00:03");
  EXPECT_EQ(
      sql.value("select q.queue from millrace.job_type t join millrace.queue q using (queue_id) "
                "where t.job_type = 'label_1.0.0'"),
      "labels");
  sql.run("select millrace.set_queue('letters', '{\"max_attempts\": 9}')");
  register_all(letters("1.1.0"));
  EXPECT_EQ(sql.value("select max_attempts from millrace.queue where queue = 'letters'"), "9");
}

// A document finishes on the version that was current when it came; a change is for later ones.
TEST_F(Pipelines, q24_a_new_version_is_for_files_that_come_later) {
  register_all(letters("1.0.0"));
  const auto old = upload("old");
  register_all(letters("2.0.0", "scan_of_two"));
  // The worker that takes it has only the new file.
  EXPECT_EQ(begin(old, letters("2.0.0", "scan_of_two")), hash_of("1.0.0"));
  const auto next = upload("next");
  EXPECT_EQ(job(next, "job_type"), "scan_of_two");
  EXPECT_EQ(begin(next, letters("1.0.0")), hash_of("2.0.0"));
  // Begun again (a redrive), it stays where it was.
  EXPECT_EQ(begin(old, letters("2.0.0", "scan_of_two")), hash_of("1.0.0"));
}

TEST_F(Pipelines, a_document_that_is_retried_stays_on_its_version) {
  register_all(letters("1.0.0"));
  const auto file = upload("old");
  begin(file, letters("1.0.0"));
  register_all(letters("2.0.0", "scan_of_two"));
  sql.run("select millrace.end_document(d, 'failed', null) from millrace.document d");
  const auto id = member(sql, file, "id");
  const auto again =
      sql.value("select millrace.retry_document($1::uuid) ->> 'job_id'", pg::params(id));
  EXPECT_EQ(sql.value("select j ->> 'job_type' || ' ' || (j ->> 'max_attempts') from "
                      "millrace.get_job($1::uuid) j",
                      pg::params(again)),
            "letters_scan 3");
}

TEST_F(Pipelines, a_worker_takes_the_job_types_of_versions_that_are_still_used) {
  EXPECT_EQ(register_all(letters("1.0.0")), "label_1.0.0@labels letters_scan@letters");
  EXPECT_EQ(register_all(letters("2.0.0")),
            "label_1.0.0@labels label_2.0.0@labels letters_scan@letters");
  // Another worker's pipelines are not its business: it may not have the programs.
  EXPECT_EQ(register_all(letters("3.0.0", "notes_scan", "notes")),
            "label_3.0.0@labels notes_scan@letters");
  begin(upload("one"), letters("2.0.0"));
  sql.run("update millrace.pipeline_version set seen_at = seen_at - interval '40 days'");
  EXPECT_EQ(register_all(letters("4.0.0")),
            "label_2.0.0@labels label_4.0.0@labels letters_scan@letters");
}

// Its file was taken away, or has another name in it: whoever starts next goes on with its
// documents, and with those of nobody else.
TEST_F(Pipelines, a_worker_takes_the_job_types_of_documents_whose_pipeline_no_worker_has_any_more) {
  register_all(letters("1.0.0"));
  register_all(letters("2.0.0"));
  const auto file = upload("one");
  begin(file, letters("2.0.0"));
  const auto posts = [&](const std::string& version) {
    return register_all(letters(version, "posts_scan", "posts"));
  };
  EXPECT_EQ(posts("5.0.0"),
            "label_2.0.0@labels label_5.0.0@labels letters_scan@letters posts_scan@letters");
  // What another one takes is left to it: it knows what that needs.
  sql.run(
      "select millrace.register_worker('theirs', '{\"lease_ms\": 60000, \"job_types\": "
      "[\"letters_scan\", \"label_2.0.0\"]}')");
  EXPECT_EQ(posts("5.0.0"), "label_5.0.0@labels posts_scan@letters");
  sql.run("update millrace.worker set lease_until = millrace.now() - interval '1 second'");
  sql.run("update millrace.pipeline_version set seen_at = seen_at - interval '40 days'");
  EXPECT_EQ(posts("5.0.0"),
            "label_2.0.0@labels label_5.0.0@labels letters_scan@letters posts_scan@letters");
  sql.run("select millrace.end_document(d, 'completed', null) from millrace.document d");
  EXPECT_EQ(posts("5.0.0"), "label_5.0.0@labels posts_scan@letters");
  // Who does documents cannot do orders.
  sql.run("update millrace.document set state = 'processing', finished_at = null");
  sql.run(
      "update millrace.pipeline_version set definition = definition || '{\"takes\": \"order\"}' "
      "where name = 'letters'");
  EXPECT_EQ(posts("5.0.0"), "label_5.0.0@labels posts_scan@letters");
}

// Two pipelines may have a first stage of one name; the file says which it is.
TEST_F(Pipelines, a_document_is_never_bound_to_another_pipeline) {
  const auto file = upload("one", "guardian");
  EXPECT_EQ(begin(file, letters("1.0.0", "fast_queue_security")), "(null)");
  EXPECT_EQ(sql.number("select count(*) from millrace.document"), 0);
  EXPECT_EQ(begin(file, letters("1.0.0", "fast_queue_security", "guardian")), hash_of("1.0.0"));
  // Nor by what somebody wrote into a payload.
  register_all(letters("2.0.0"));
  const auto forged = api.value(
      "select e.job_id from millrace.enqueue_jobs(jsonb_build_array(jsonb_build_object('job_type', "
      "'fast_queue_security', 'payload', jsonb_build_object('shell_file_id', $1::text, "
      "'pipeline_hash', $2::text)))) e",
      pg::params(member(sql, upload("two", "guardian"), "id"), hash_of("2.0.0")));
  EXPECT_EQ(worker.value("select millrace.begin_document($1::uuid, $2::jsonb -> 0) #>> "
                         "'{document,pipeline_hash}'",
                         pg::params(forged, letters("2.0.0"))),
            "(null)");
}

TEST_F(Pipelines, documents_of_all_pipelines_are_listed) {
  register_all(letters("1.0.0"));
  upload("one", "guardian");
  upload("two", "letters");
  upload("three", "ingest");
  User ada{database, kAda};
  EXPECT_EQ(ada.number("select count(*) from millrace.list_documents()"), 3);
}

TEST_F(Pipelines, bad_registrations_change_nothing) {
  EXPECT_THAT(refused("{}").message, HasSubstr("pipelines must be an array"));
  for (const char* name : {"Letters", "", "a b"}) {
    const auto error = refused(letters("1.0.0", "letters_scan", name));
    EXPECT_EQ(error.sqlstate, "MR024") << name;
    EXPECT_THAT(error.message, HasSubstr("the name of a pipeline must")) << name;
  }
  EXPECT_THAT(refused(R"([{"name": "p", "hash": "x"}])").message,
              HasSubstr("pipeline 'p' must have hash, definition and first_job"));
  EXPECT_EQ(sql.number("select count(*) from millrace.pipeline"), 0);
  EXPECT_EQ(sql.number("select count(*) from millrace.queue where queue = 'letters'"), 0);
  User ada{database, kAda};
  EXPECT_EQ(ada.refused("select millrace.register_pipelines('[]')").sqlstate, "42501");
}

// A stage of the author's may depend on something that was made of the document as a whole.
TEST_F(Pipelines, keys_of_pages_follow_what_was_made_of_the_document) {
  register_all(letters("1.0.0"));
  const auto file = upload("one");
  begin(file, letters("1.0.0"));
  const auto id = member(sql, file, "id");
  sql.run(
      "insert into millrace.page (file_id, page, tenant_id, content_sha256) select $1, n, $2, "
      "sha256(int4send(n)) from generate_series(1, 2) n",
      pg::params(id, kTenant));
  const auto keys = [&] {
    return sql.value(
        "select coalesce(string_agg(page || encode(reuse_key, 'hex'), ' ' order by page), '') from "
        "millrace.reuse_keys($1, 'label', '1', array['content', 'document:letters_scan'])",
        pg::params(id));
  };
  const auto put = [&](std::string_view content) {
    sql.run(
        "select millrace.put_result(d, jsonb_build_object('page', 0, 'stage', 'letters_scan', "
        "'reuse_key', repeat('ab', 32), 'blob', $2::jsonb), null) from millrace.document d where "
        "d.file_id = $1",
        pg::params(id, stored(api, content)));
  };
  EXPECT_EQ(keys(), "") << "pages wait for it";
  put("report");
  const auto first = keys();
  EXPECT_THAT(first, HasSubstr(" 2"));
  put("another report");
  EXPECT_NE(keys(), first);
}

}  // namespace
}  // namespace millrace::test
