// What documents say does not get into the errors of jobs (T-09).
#include "sql/engine.h"

namespace millrace::test {
namespace {

class Redact : public EngineTest {
 protected:
  std::string redact(std::string_view value) {
    return sql.value("select millrace.redact($1::jsonb)::text", pg::params(value));
  }
  std::string error_of(std::string_view job) {
    return sql.value(
        "select a.error::text from millrace.attempt a where a.job_id = $1::uuid "
        "order by a.attempt_seq desc limit 1",
        pg::params(job));
  }
};

TEST_F(Redact, t09_members_are_replaced_at_every_depth) {
  EXPECT_EQ(redact(R"({"page": 1, "text": "Jane Doe"})"),
            R"({"page": 1, "text": "[REDACTED - 8 chars]"})");
  EXPECT_EQ(redact(R"([{"a": [{"content": "héllo", "id": 7}]}])"),
            R"([{"a": [{"id": 7, "content": "[REDACTED - 5 chars]"}]}])");
  EXPECT_EQ(redact(R"({"vector": [1, 2]})"), R"({"vector": "[REDACTED - 6 chars]"})");
  for (const auto* const kept : {R"({"text": null})", R"({"message": "no text"})", R"(["content"])",
                                 R"({"text": "[REDACTED - 8 chars]"})", "1"}) {
    EXPECT_EQ(redact(kept), kept);
  }
}

TEST_F(Redact, t09_what_lies_too_deep_is_replaced_as_a_whole) {
  std::string deep = R"({"text":"Jane Doe"})";
  for (int i = 0; i < 100; ++i) deep = "[" + deep + "]";
  EXPECT_EQ(redact(deep).find("Jane"), std::string::npos);
}

TEST_F(Redact, t09_errors_of_workers_are_kept_without_content) {
  const auto job = enqueue(sql);
  Worker worker(sql);
  const auto held = worker.take();
  ASSERT_EQ(worker.settle(held, "permanent",
                          R"({"error": {"error_type": "x", "details": {"text": "Jane Doe"}}})"),
            "settled");
  EXPECT_NE(error_of(job).find("[REDACTED - 8 chars]"), std::string::npos) << error_of(job);
  EXPECT_EQ(error_of(job).find("Jane"), std::string::npos) << error_of(job);
}

TEST_F(Redact, t09_errors_by_the_sources_names_too) {
  Session client{database, "service_role"};
  const auto job = client.value(
      "select millrace.enqueue_job_v3('fast_queue_ocr', 'a job', "
      "'{\"shell_file_id\": \"x\", \"storage_path\": \"y\"}')");
  client.run("select * from millrace.claim_next_job_v3('w1', array['fast_queue_ocr'])");
  ASSERT_TRUE(client.yes("select millrace.fail_job($1::uuid, 'w1', $2::jsonb)",
                         pg::params(job, R"({"message": "bad", "page": {"content": "Jane"}})")));
  EXPECT_EQ(error_of(job).find("Jane"), std::string::npos) << error_of(job);
}

}  // namespace
}  // namespace millrace::test
