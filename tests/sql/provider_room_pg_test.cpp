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

  // What millrace.begin_call answers to a call of so many tokens that takes its room with its
  // record.
  std::string begin(const Delivery& job, int tokens, std::string_view room,
                    std::optional<std::string> call = std::nullopt) {
    return begin(sql, job, tokens, room, std::move(call));
  }
  static std::string begin(Session& session, const Delivery& job, int tokens, std::string_view room,
                           std::optional<std::string> call) {
    return session.value(
        "select millrace.begin_call(jsonb_build_object('job_id', $1::text, 'generation', 1, "
        "'delivery_count', 1, 'stage', 'noop', 'provider', 'openai:gpt', 'model', 'gpt', "
        "'request_sha256', repeat('a', 64), 'estimated_tokens', $3::int, 'reserved_micros', 5, "
        "'call_id', $5::text, 'room', $4::jsonb || jsonb_build_object('token', $2::text)))::text",
        pg::params(job.id, job.token, tokens, room, std::move(call)));
  }
  void budget(std::string_view micros) {
    sql.run(
        "update millrace.system_configuration set config_value = $1 where config_key = "
        "'budget.micros_per_day'",
        pg::params(micros));
  }
  void end(const std::string& begun, int tokens) {
    sql.run(
        "select millrace.end_call(($1::jsonb ->> 'call_id')::uuid, jsonb_build_object('state', "
        "'answered', 'cost_micros', 1, 'input_tokens', $2::int, 'output_tokens', 0, 'capacity', "
        "$1::jsonb -> 'capacity'))",
        pg::params(begun, tokens));
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
  EXPECT_EQ(use("bound"), "0 slots, 0 requests, 0 tokens, closed") << "nobody asked there";
  EXPECT_EQ(use("asked"), "0 slots, 1 requests, 10 tokens, open");
  // The other way round: who is not bound to it notices nothing of it.
  const auto two = job();
  EXPECT_EQ(ask(two, 0, 10, "openai:bound"), "true") << "the call of the claim itself";
  EXPECT_EQ(settle(two, "blocked", R"({"error": {"error_type": "quota", "message": "pay"}})"),
            "settled");
  EXPECT_EQ(use("bound"), "0 slots, 1 requests, 1010 tokens, open");
}

// What the claim took is given back, whatever the outcome, when the delivery asked nobody at all.
TEST_F(ProviderRoom, l17_WhoAskedNobodyGivesBackRequestAndTokens) {
  limit("gpt", R"({"concurrent_requests": 9, "tokens_per_minute": 100000})");
  bind("openai:gpt");
  for (const auto* outcome : {"ok", "retry", "blocked", "throttled"}) {
    const auto one = job();
    EXPECT_EQ(use("gpt"), "1 slots, 1 requests, 1000 tokens, closed") << outcome;
    EXPECT_EQ(settle(one, outcome, R"({"asked": false})"), "settled");
    EXPECT_EQ(use("gpt"), "0 slots, 0 requests, 0 tokens, closed") << outcome;
  }
  // An error that came of asking nobody says nothing of the calls before it in the same delivery.
  const auto two = job();
  EXPECT_EQ(
      settle(two, "blocked", R"({"error": {"error_type": "x", "message": "m", "asked": false}})"),
      "settled");
  EXPECT_EQ(use("gpt"), "0 slots, 1 requests, 1000 tokens, closed");
}

// The first call of a delivery: the claim took its room, or it takes it now.
TEST_F(ProviderRoom, l17_TheFirstCallTakesRoomOnlyWhereItsClaimTookNone) {
  limit("bound", R"({"concurrent_requests": 9})");
  limit("asked", R"({"concurrent_requests": 1})");
  bind("openai:bound");
  const auto one = job();
  EXPECT_EQ(ask(one, 0, 0, "openai:bound"), "true");
  EXPECT_EQ(use("bound"), "1 slots, 1 requests, 1000 tokens, closed") << "as the claim left it";
  EXPECT_EQ(ask(one, 0, 0, "openai:asked"), "true");
  EXPECT_EQ(use("asked"), "1 slots, 1 requests, 1 tokens, closed");
  EXPECT_EQ(ask(job(), 0, 0, "openai:asked"), "false 0") << "there is one slot";
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

// What is refused for want of money takes nothing from those who share the limits.
TEST_F(ProviderRoom, e12_ACallTakesRoomAndMoneyOrNeither) {
  limit("gpt", R"({"concurrent_requests": 9, "tokens_per_minute": 100})");
  const auto payer = job();
  constexpr std::string_view kOwn = R"({"requests": 1, "claimed_tokens": false})";
  const auto first = begin(payer, 60, kOwn);
  EXPECT_EQ(member(sql, first, "allowed"), "true");
  EXPECT_EQ(use("gpt"), "1 slots, 1 requests, 60 tokens, closed");
  const auto second = begin(payer, 60, kOwn);
  EXPECT_EQ(member(sql, second, "allowed") + " " + member(sql, second, "tokens_room"), "false 40");
  EXPECT_EQ(sql.number("select count(*) from millrace.provider_call"), 1);
  end(first, 25);
  EXPECT_EQ(use("gpt"), "1 slots, 1 requests, 25 tokens, closed");
  budget("5");
  const auto dear = begin(payer, 60, kOwn);
  EXPECT_EQ(member(sql, dear, "allowed") + " " + member(sql, dear, "budget_micros"), "false 5");
  EXPECT_EQ(use("gpt"), "1 slots, 1 requests, 25 tokens, closed");
  EXPECT_EQ(sql.number("select count(*) from millrace.provider_call"), 1);
}

// The answer was lost, and it is said again: one call, that takes once, whatever there is by then.
TEST_F(ProviderRoom, f08_ACallWhoseBeginningIsSaidAgainTakesNothingMore) {
  limit("gpt", R"({"concurrent_requests": 9, "tokens_per_minute": 100})");
  budget("5");
  const auto payer = job();
  constexpr std::string_view kOwn = R"({"requests": 1, "claimed_tokens": false})";
  const std::string id = "00000000-0000-4000-8000-00000000ca11";
  const auto first = begin(payer, 60, kOwn, id);
  EXPECT_EQ(member(sql, first, "allowed") + " " + member(sql, first, "call_id"), "true " + id);
  EXPECT_NE(member(sql, first, "capacity"), "(null)");
  EXPECT_EQ(begin(payer, 60, kOwn, id), first);
  sql.run(
      "update millrace.api_rate_limits set throttled_until = millrace.now() + interval '1 hour' "
      "where api_endpoint = 'gpt'");
  EXPECT_EQ(begin(payer, 60, kOwn, id), first);
  sql.run("update millrace.api_rate_limits set throttled_until = null");
  EXPECT_EQ(use("gpt"), "1 slots, 1 requests, 60 tokens, closed");
  EXPECT_EQ(sql.value("select calls || ' ' || reserved_micros from millrace.provider_spend"),
            "1 5");
  EXPECT_EQ(
      sql.value("select string_agg(call_id || ' ' || state, ',') from millrace.provider_call"),
      id + " sent");
  end(first, 25);
  EXPECT_EQ(use("gpt"), "1 slots, 1 requests, 25 tokens, closed");
  // Another one is another one: there is no money for it.
  EXPECT_EQ(member(sql, begin(payer, 60, kOwn, "00000000-0000-4000-8000-00000000ca12"), "allowed"),
            "false");
}

// The first may still be under way when it is said again.
TEST_F(ProviderRoom, f08_SaidAgainWhileItIsUnderWayItIsOneCall) {
  limit("gpt", R"({"concurrent_requests": 9, "tokens_per_minute": 100})");
  const auto payer = job();
  constexpr std::string_view kOwn = R"({"requests": 1, "claimed_tokens": false})";
  const std::string id = "00000000-0000-4000-8000-00000000ca11";
  Session one{database};
  Session two{database};
  one.script("begin");
  const auto first = begin(one, payer, 60, kOwn, id);
  std::string again;
  std::jthread waiting([&] { again = begin(two, payer, 60, kOwn, id); });
  while (
      !sql.yes("select exists (select from pg_stat_activity where wait_event_type = 'Lock' and "
               "datname = current_database())")) {
  }
  one.script("commit");
  waiting.join();
  EXPECT_EQ(again, first);
  EXPECT_EQ(use("gpt"), "1 slots, 1 requests, 60 tokens, closed");
}

// The claim took an estimate; the call takes what it needs beyond that, and each is settled once.
TEST_F(ProviderRoom, l04_TheCallOfTheClaimTakesWhatIsMissing) {
  limit("gpt", R"({"concurrent_requests": 9, "tokens_per_minute": 2000})");
  bind("openai:gpt");
  const auto payer = job();
  EXPECT_EQ(use("gpt"), "1 slots, 1 requests, 1000 tokens, closed");
  constexpr std::string_view kClaimed = R"({"requests": 0, "claimed_tokens": true})";
  const auto small = begin(payer, 700, kClaimed);
  EXPECT_EQ(member(sql, small, "capacity"), "(null)");
  const auto large = begin(payer, 1500, kClaimed);
  EXPECT_EQ(use("gpt"), "1 slots, 1 requests, 1500 tokens, closed");
  end(large, 1200);
  EXPECT_EQ(use("gpt"), "1 slots, 1 requests, 1200 tokens, closed");
  EXPECT_EQ(settle(payer, "ok", R"({"actual_tokens": 1000})"), "settled");
  EXPECT_EQ(use("gpt"), "0 slots, 1 requests, 1200 tokens, closed");
}

// The worker says that the claim took room for the call; the claim took none there.
TEST_F(ProviderRoom, l17_TheFirstPaidCallWithoutASlotOfItsClaimTakesARequest) {
  limit("bound", R"({"concurrent_requests": 9})");
  limit("gpt", R"({"concurrent_requests": 9, "tokens_per_minute": 2000})");
  bind("openai:bound");
  const auto payer = job();
  constexpr std::string_view kClaimed = R"({"requests": 0, "claimed_tokens": true})";
  const auto call = begin(payer, 1500, kClaimed);
  EXPECT_EQ(member(sql, call, "allowed"), "true");
  EXPECT_EQ(sql.value("select $1::jsonb #>> '{capacity,claimed}'", pg::params(call)), "0");
  EXPECT_EQ(use("gpt"), "1 slots, 1 requests, 1500 tokens, closed");
  end(call, 1200);
  EXPECT_EQ(use("gpt"), "1 slots, 1 requests, 1200 tokens, closed");
  EXPECT_EQ(use("bound"), "1 slots, 1 requests, 1000 tokens, closed");
}

TEST_F(ProviderRoom, AProviderWithoutALimitRowGetsTheDefaultOne) {
  EXPECT_EQ(ask(job(), 1, 1, "openai:never-seen"), "true");
  EXPECT_EQ(use("never-seen"), "1 slots, 1 requests, 1 tokens, closed");
}

}  // namespace
}  // namespace millrace::test
