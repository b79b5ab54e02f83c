// A claim from a provider whose token limit was lowered while jobs waited.
#include "sql/engine.h"

namespace millrace::test {
namespace {

class ClaimCost : public EngineTest {};

TEST_F(ClaimCost, e07_a_job_that_can_never_be_granted_fails_and_does_not_block_the_line) {
  sql.run(R"(select millrace.enqueue_job('ai_queue_pass1', '{"n": 1, "estimated_tokens": 5000}'))");
  sql.run(R"(select millrace.enqueue_job('ai_queue_pass1', '{"n": 2, "estimated_tokens": 50}'))");
  sql.run(
      R"(select millrace.override_limit('openai', 'gpt-4o-mini', '{"tokens_per_minute": 1000}', 'test'))");
  const auto process = sql.value(R"(select millrace.register_worker('w', '{"lease_ms": 30000}'))");
  EXPECT_EQ(
      sql.value("select payload ->> 'n' from millrace.claim_jobs('w', $1::uuid, 'ai_queue', 10)",
                pg::params(process)),
      "2");
  EXPECT_EQ(sql.value("select status || ':' || reason from millrace.job_history"),
            "failed:cost_over_limit");
  EXPECT_EQ(sql.value("select error ->> 'sqlstate' from millrace.job_history"), "MR014");
  EXPECT_EQ(imbalance(sql), "");
}

}  // namespace
}  // namespace millrace::test
