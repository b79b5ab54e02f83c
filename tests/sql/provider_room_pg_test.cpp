// Room at a provider that a job names itself (millrace.take_capacity): pipelines share job types,
// and the limits of whom a job asks count, whatever its type is bound to.
#include "sql/document_world.h"

namespace millrace::test {
namespace {

class ProviderRoom : public EngineTest {
 protected:
  void limit(std::string_view endpoint, std::string_view values) {
    sql.run(
        "insert into millrace.api_rate_limits (provider_name, api_endpoint) values ('openai', $1) "
        "on conflict do nothing",
        pg::params(endpoint));
    sql.run("select millrace.set_limit('openai', $1, $2::jsonb)", pg::params(endpoint, values));
  }
  void bind(std::string_view to) {
    sql.run("select millrace.bind_providers(jsonb_build_object('noop', $1::text))", pg::params(to));
  }
  Delivery job() {
    enqueue(sql);
    return worker.take();
  }
  // "true", or "false 400": how many tokens are left.
  std::string ask(const Delivery& job, int requests, int tokens, std::string_view provider) {
    return sql.value(
        "select concat_ws(' ', a ->> 'granted', a ->> 'tokens_room') from "
        "millrace.take_capacity($1::uuid, $2::uuid, $3::int, $4::bigint, $5) a",
        pg::params(job.id, job.token, requests, tokens, provider));
  }
  // "1 slots, 2 requests, 40 tokens, closed"
  std::string use(std::string_view endpoint) {
    return sql.value(
        "select format('%s slots, %s requests, %s tokens, %s', active_slots, used_requests_minute, "
        "used_tokens_minute, breaker_state) from millrace.limits_overview() where provider_name = "
        "'openai' and api_endpoint = $1",
        pg::params(endpoint));
  }
  std::string settle(const Delivery& job, const std::string& outcome,
                     const std::string& more = "{}") {
    return worker.settle(job, outcome, more);
  }

  Worker worker{sql, "w1"};
};

TEST_F(ProviderRoom, l17_AJobThatItsTypeBindsToNobodyHasASlotAtWhomItAsks) {
  limit("gpt", R"({"concurrent_requests": 1, "tokens_per_minute": 1000})");
  const auto first = job();
  const auto second = job();
  EXPECT_EQ(ask(first, 1, 30, "openai:gpt"), "true");
  EXPECT_EQ(ask(second, 1, 30, "openai:gpt"), "false 0");
  EXPECT_EQ(ask(first, 1, 40, "openai:gpt"), "true") << "it has its slot";
  EXPECT_EQ(use("gpt"), "1 slots, 2 requests, 70 tokens, closed");
  // Tokens are settled call by call; what the job says of all of them is not counted again.
  EXPECT_EQ(settle(first, "ok", R"({"actual_tokens": 900})"), "settled");
  EXPECT_EQ(use("gpt"), "0 slots, 2 requests, 70 tokens, closed");
  EXPECT_EQ(ask(second, 1, 30, "openai:gpt"), "true");
  EXPECT_EQ(settle(second, "throttled", R"({"error": {"error_type": "t", "message": "429"},
                                            "retry_after_seconds": 60})"),
            "settled");
  EXPECT_EQ(ask(job(), 1, 1, "openai:gpt"), "false 0") << "everybody waits";
}

TEST_F(ProviderRoom, l17_WhatBecomesOfTheJobIsSaidOfWhomItAsked) {
  limit("bound", R"({"tokens_per_minute": 100000})");
  limit("asked", R"({"concurrent_requests": 9})");
  bind("openai:bound");
  const auto one = job();
  EXPECT_EQ(use("bound"), "1 slots, 1 requests, 1000 tokens, closed");
  EXPECT_EQ(ask(one, 1, 10, "openai:asked"), "true");
  EXPECT_EQ(settle(one, "blocked", R"({"error": {"error_type": "quota", "message": "pay"}})"),
            "settled");
  EXPECT_EQ(use("bound"), "0 slots, 1 requests, 0 tokens, closed");
  EXPECT_EQ(use("asked"), "0 slots, 1 requests, 10 tokens, open");
  // The other way round: who is not bound to it notices nothing of it.
  const auto two = job();
  EXPECT_EQ(ask(two, 0, 10, "openai:bound"), "true") << "the call of the claim itself";
  EXPECT_EQ(settle(two, "blocked", R"({"error": {"error_type": "quota", "message": "pay"}})"),
            "settled");
  EXPECT_EQ(use("bound"), "0 slots, 2 requests, 1010 tokens, open");
}

TEST_F(ProviderRoom, l17_ASlotOfItsOwnEndsWithTheLease) {
  limit("gpt", R"({"concurrent_requests": 1})");
  const auto first = job();
  EXPECT_EQ(ask(first, 1, 1, "openai:gpt"), "true");
  pass(sql, "25 hours");
  keep(sql);
  Worker other{sql, "w2"};
  enqueue(sql);
  const auto second = other.take();
  EXPECT_EQ(ask(second, 1, 1, "openai:gpt"), "true");
}

TEST_F(ProviderRoom, l17_AStaleDeliveryGetsNoRoom) {
  limit("gpt", R"({"concurrent_requests": 9})");
  const auto stale = job();
  EXPECT_EQ(settle(stale, "ok"), "settled");
  EXPECT_EQ(sql.refused("select millrace.take_capacity($1::uuid, $2::uuid, 1, 1, 'openai:gpt')",
                        pg::params(stale.id, stale.token))
                .sqlstate,
            "MR001");
  EXPECT_EQ(use("gpt"), "0 slots, 0 requests, 0 tokens, closed");
}

TEST_F(ProviderRoom, AProviderWithoutALimitRowGetsTheDefaultOne) {
  EXPECT_EQ(ask(job(), 1, 1, "openai:never-seen"), "true");
  EXPECT_EQ(use("never-seen"), "1 slots, 1 requests, 1 tokens, closed");
}

}  // namespace
}  // namespace millrace::test
