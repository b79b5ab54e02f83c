// What calls to paid providers may cost: reserved before they are sent, settled after, per tenant,
// provider and day (E08, E12, F08); and whose limits job types count against.
#include "sql/document_world.h"

namespace millrace::test {
namespace {

class Budget : public DocumentTest {
 protected:
  // A job of the tenant, to have somebody who pays.
  std::string payer(std::string_view tenant = kTenant) {
    ServerSession session{database, tenant};
    return session.value("select millrace.enqueue_job('noop', '{\"n\": 1}')");
  }
  static std::string call(const std::string& job, std::int64_t micros,
                          std::string_view provider = "openai:gpt") {
    return fmt::format(
        R"({{"job_id": "{}", "generation": 1, "delivery_count": 1, "stage": "ai_queue_pass1", "provider": "{}",
            "model": "gpt", "request_sha256": "{}", "estimated_tokens": 10, "reserved_micros": {}}})",
        job, provider, std::string(64, 'a'), micros);
  }
  // The id of the call, or "refused".
  std::string pay(Session& session, const std::string& job, std::int64_t micros,
                  std::string_view provider = "openai:gpt") {
    const auto answer = session.value("select millrace.begin_call($1::jsonb)::text",
                                      pg::params(call(job, micros, provider)));
    const auto id = member(session, answer, "call_id");
    return id == "(null)" ? "refused" : id;
  }
  void end_call(const std::string& id, std::string_view ended) {
    sql.run("select millrace.end_call($1::uuid, $2::jsonb)", pg::params(id, ended));
  }
  void limit(std::string_view provider, std::int64_t micros, std::string_view tenant = kTenant) {
    ServerSession admin{database, tenant};
    admin.run("select millrace.set_budget($1, $2::bigint)", pg::params(provider, micros));
  }
  // "reserved spent calls" of the day.
  std::string spend(std::string_view tenant = kTenant, std::string_view provider = "openai") {
    return sql.value(
        "select concat_ws(' ', reserved_micros, spent_micros, calls) from "
        "millrace.provider_spend where tenant_id = $1::uuid and provider = $2 order by day desc",
        pg::params(tenant, provider));
  }
};

TEST_F(Budget, f08_the_intent_is_on_record_before_the_call) {
  const auto job = payer();
  const auto id = pay(sql, job, 400);
  EXPECT_EQ(sql.value("select concat_ws(' ', job_id = $2::uuid, state, stage, provider, model, "
                      "reserved_micros, "
                      "estimated_tokens, ended_at is null) from millrace.provider_call where "
                      "call_id = $1::uuid",
                      pg::params(id, job)),
            "t sent ai_queue_pass1 openai:gpt gpt 400 10 t");
  end_call(id, R"({"state": "answered", "cost_micros": 250, "input_tokens": 7, "output_tokens": 3,
                   "finish": "stop", "response_id": "r-1"})");
  EXPECT_EQ(sql.value("select concat_ws(' ', state, cost_micros, input_tokens, output_tokens, "
                      "finish, response_id) "
                      "from millrace.provider_call"),
            "answered 250 7 3 stop r-1");
  EXPECT_EQ(spend(), "0 250 1");
}

TEST_F(Budget, e08_what_may_have_been_charged_stays_reserved) {
  const auto job = payer();
  end_call(pay(sql, job, 100), R"({"state": "failed", "cost_micros": 0})");
  EXPECT_EQ(spend(), "0 0 1");
  end_call(pay(sql, job, 100), R"({"state": "unknown"})");
  EXPECT_EQ(spend(), "100 0 2");
  end_call(pay(sql, job, 100), R"({"state": "failed", "cost_micros": 40})");
  EXPECT_EQ(spend(), "100 40 3");
}

TEST_F(Budget, TheFirstWordAboutACallCounts) {
  const auto id = pay(sql, payer(), 100);
  end_call(id, R"({"state": "answered", "cost_micros": 60})");
  end_call(id, R"({"state": "answered", "cost_micros": 60})");  // Its answer had been lost.
  end_call(id, R"({"state": "failed", "cost_micros": 0})");
  end_call(id, R"({"state": "unknown"})");
  EXPECT_EQ(spend(), "0 60 1");
}

TEST_F(Budget, OverTheBudgetNothingIsWritten) {
  limit("openai", 1000);
  const auto job = payer();
  EXPECT_NE(pay(sql, job, 1000), "refused");
  EXPECT_EQ(pay(sql, job, 1), "refused");
  EXPECT_EQ(sql.number("select count(*) from millrace.provider_call"), 1);
  EXPECT_EQ(spend(), "1000 0 1");
  EXPECT_EQ(
      member(sql,
             sql.value("select millrace.begin_call($1::jsonb)::text", pg::params(call(job, 1))),
             "budget_micros"),
      "1000");
  // What was not needed after all is free again.
  end_call(sql.value("select call_id from millrace.provider_call"),
           R"({"state": "answered", "cost_micros": 300})");
  EXPECT_NE(pay(sql, job, 700), "refused");
  EXPECT_EQ(pay(sql, job, 1), "refused");
}

TEST_F(Budget, ANewDayHasANewBudget) {
  stop_clock(sql);
  limit("openai", 1000);
  const auto job = payer();
  const auto yesterday = pay(sql, job, 1000);
  EXPECT_EQ(pay(sql, job, 1), "refused");
  pass(sql, "24 hours");
  EXPECT_NE(pay(sql, job, 1000), "refused");
  // What ends today and began yesterday is settled there.
  end_call(yesterday, R"({"state": "answered", "cost_micros": 10})");
  EXPECT_EQ(spend(), "1000 0 1");
}

TEST_F(Budget, TenantsAndProvidersHaveBudgetsOfTheirOwn) {
  limit("openai", 100);
  const auto mine = payer();
  const auto theirs = payer(kOther);
  EXPECT_NE(pay(sql, mine, 100), "refused");
  EXPECT_EQ(pay(sql, mine, 1), "refused");
  EXPECT_EQ(pay(sql, mine, 1, "openai:another-model"), "refused");  // One payee, one purse.
  EXPECT_NE(pay(sql, mine, 5000, "anthropic:c"), "refused");
  EXPECT_NE(pay(sql, theirs, 5000), "refused");
  EXPECT_EQ(spend(kOther), "5000 0 1");
  ServerSession api{database};
  EXPECT_EQ(api.number("select count(*) from millrace.list_spend()"), 2);
  ServerSession elsewhere{database, kOther};
  EXPECT_EQ(
      elsewhere.value(
          "select concat_ws(' ', s ->> 'provider', s ->> 'reserved_micros', s ->> 'budget_micros') "
          "from millrace.list_spend() s"),
      "openai 5000");
}

TEST_F(Budget, TheGeneralBudgetHoldsForWhoHasNone) {
  sql.run(
      "update millrace.system_configuration set config_value = '50' where config_key = "
      "'budget.micros_per_day'");
  const auto job = payer();
  EXPECT_EQ(pay(sql, job, 51), "refused");
  EXPECT_NE(pay(sql, job, 50), "refused");
  limit("openai", 200);
  EXPECT_NE(pay(sql, job, 150), "refused");
  ServerSession admin{database};
  admin.run("select millrace.set_budget('openai', null)");
  EXPECT_EQ(pay(sql, job, 1), "refused");
  limit("openai", 0);
  EXPECT_EQ(pay(sql, job, 1), "refused");
}

// E12: two connections, one budget, never more than it.
TEST_F(Budget, e12_concurrent_calls_never_exceed_it) {
  limit("openai", 1000);
  const auto job = payer();
  std::atomic<int> allowed = 0;
  together(4, [&](int who, const std::atomic<bool>&) {
    Session session{database};
    for (int i = 0; i < 20; ++i) {
      const auto id = pay(session, job, 70);
      if (id == "refused") continue;
      ++allowed;
      // Some are dearer than nothing, none dearer than what was reserved.
      if (who % 2 == 0) {
        session.run(
            "select millrace.end_call($1::uuid, '{\"state\": \"answered\", \"cost_micros\": 70}')",
            pg::params(id));
      }
    }
  });
  EXPECT_EQ(allowed, 14);
  EXPECT_EQ(sql.number("select reserved_micros + spent_micros from millrace.provider_spend"), 980);
}

TEST_F(Budget, BadBudgetsAndCallsOfNobodyAreRefused) {
  ServerSession admin{database};
  EXPECT_EQ(admin.refused("select millrace.set_budget('Bad Name!', 1)").sqlstate, "MR024");
  EXPECT_EQ(admin.refused("select millrace.set_budget('openai', -1)").sqlstate, "MR024");
  // Misspelt, it would hold for nobody.
  const auto unknown = admin.refused("select millrace.set_budget('opnai', 1)");
  EXPECT_EQ(unknown.sqlstate, "MR024");
  EXPECT_EQ(unknown.message, "provider must be one that has limits: anthropic, google, openai");
  admin.run("select millrace.set_budget('opnai', null)");
  EXPECT_EQ(sql.refused("select millrace.begin_call($1::jsonb)",
                        pg::params(call("00000000-0000-4000-8000-00000000dead", 1)))
                .sqlstate,
            "MR009");
  limit("openai", 5);
  EXPECT_EQ(
      sql.value("select concat_ws(' ', tenant_id = $1::uuid, new_values ->> 'micros_per_day') from "
                "millrace.audit where action = 'budget_set' and record_id = 'openai'",
                pg::params(kTenant)),
      "t 5");
}

// One tenant without money is no reason to close the provider for the others.
TEST_F(Budget, AUsedUpBudgetSaysNothingAboutTheProvider) {
  sql.run("select millrace.bind_providers('{\"noop\": \"openai:gpt\"}')");
  const auto state = [&] {
    return sql.value(
        "select breaker_state from millrace.api_rate_limits where provider_name = 'openai' and "
        "api_endpoint = 'gpt'");
  };
  enqueue(sql);
  EXPECT_EQ(
      worker.settle(
          worker.take(), "blocked",
          R"({"error": {"error_type": "over_budget", "message": "used up", "asked": false}})"),
      "settled");
  EXPECT_EQ(state(), "closed");
  enqueue(sql);
  EXPECT_EQ(
      worker.settle(worker.take(), "blocked",
                    R"({"error": {"error_type": "insufficient_quota", "message": "pay first"}})"),
      "settled");
  EXPECT_EQ(state(), "open");
}

// E13: who was not asked has refused nothing, whatever it is called; nor has who has answered.
TEST_F(Budget, WhatWaitsForReasonsOfOurOwnSaysNothingAboutTheProvider) {
  sql.run("select millrace.bind_providers('{\"noop\": \"openai:gpt\"}')");
  const auto state = [&] {
    return sql.value(
        "select concat_ws(' ', breaker_state, breaker_failures, throttled_until > millrace.now()) "
        "from millrace.api_rate_limits where provider_name = 'openai' and api_endpoint = 'gpt'");
  };
  const auto end_with = [&](std::string_view outcome, std::string_view more) {
    enqueue(sql);
    EXPECT_EQ(worker.settle(worker.take(), std::string(outcome), std::string(more)), "settled");
  };
  for (const auto* outcome : {"blocked", "throttled", "retry"}) {
    end_with(outcome, R"({"error": {"error_type": "any", "message": "m", "asked": false},
                          "retry_after_seconds": 600})");
    EXPECT_EQ(state(), "closed 0") << outcome;
  }
  end_with("permanent", R"({"error": {"error_type": "invalid_answer", "message": "no JSON"}})");
  EXPECT_EQ(state(), "closed 0");
  // The same said of the delivery, as of one that ended before its turn, or found the answer kept.
  end_with("retry", R"({"error": {"error_type": "timeout", "message": "m"}, "asked": false})");
  EXPECT_EQ(state(), "closed 0");
  end_with("retry", R"({"error": {"error_type": "timeout", "message": "m"}, "asked": true})");
  EXPECT_EQ(state(), "closed 1");
  end_with("ok", R"({"asked": false})");
  EXPECT_EQ(state(), "closed 1");
  end_with("ok", "{}");
  EXPECT_EQ(state(), "closed 0");
  EXPECT_EQ(sql.number("select count(*) from millrace.delayed where flags & 128 <> 0"), 0)
      << "the next delivery begins anew";
  // What a handler of somebody else says of itself is no reason to fail its settlement.
  end_with("retry", R"({"error": {"error_type": "x", "message": "m", "asked": "by whom?"}})");
  EXPECT_EQ(state(), "closed 1");
  end_with("throttled", R"({"error": {"error_type": "held_up", "message": "429"}})");
  EXPECT_EQ(state(), "closed 1 t");
}

// What a service says of its limits holds all calls, also of jobs that were claimed before.
TEST_F(Budget, e10_a_service_that_would_refuse_the_next_call_is_not_asked) {
  stop_clock(sql);
  sql.run("select millrace.bind_providers('{\"noop\": \"openai:gpt\"}')");
  const auto job = payer();
  const auto retry = [&](std::string_view provider) {
    const auto answer = sql.value("select millrace.begin_call($1::jsonb)::text",
                                  pg::params(call(job, 1, provider)));
    return member(sql, answer, "allowed") + " " + member(sql, answer, "retry_ms");
  };
  const auto hold = [&](std::string_view ms) {
    end_call(pay(sql, job, 1),
             fmt::format(R"({{"state": "answered", "cost_micros": 1, "hold_ms": {}}})", ms));
  };
  for (const auto* nothing : {"0", "-1", "-1e300", "null"}) {
    hold(nothing);
    EXPECT_EQ(retry("openai:gpt"), "true (null)") << nothing;
  }
  hold("2500");
  EXPECT_EQ(retry("openai:gpt"), "false 2500");
  EXPECT_EQ(retry("anthropic:c"), "true (null)");
  enqueue(sql);
  EXPECT_TRUE(worker.claim().empty());
  const auto spent = spend();
  EXPECT_EQ(pay(sql, job, 1), "refused");
  EXPECT_EQ(spend(), spent) << "nothing is reserved for what is not sent";
  pass(sql, "2500 milliseconds");
  EXPECT_EQ(retry("openai:gpt"), "true (null)");
  EXPECT_EQ(worker.claim().size(), 1U);
  // Not for good, whatever it says.
  hold("1e300");
  EXPECT_EQ(retry("openai:gpt"), "false 600000");
  pass(sql, "24 hours");
  EXPECT_EQ(retry("openai:gpt"), "true (null)");
}

TEST_F(Budget, JobTypesAreBoundToTheProvidersThatPipelinesName) {
  const auto bound = [&] {
    return sql.value(
        "select coalesce(provider_name || ':' || api_endpoint, '-') from millrace.job_type where "
        "job_type "
        "= 'ai_queue_pass1'");
  };
  const auto bind = [&](std::string_view bindings) {
    return sql.number("select millrace.bind_providers($1::jsonb)", pg::params(bindings));
  };
  bind(R"({"ai_queue_pass1": null})");
  EXPECT_EQ(bound(), "-");
  EXPECT_EQ(bind(R"({"ai_queue_pass1": "openai:gpt-x:2026", "no_such_type": "openai:gpt-x"})"), 1);
  EXPECT_EQ(bound(), "openai:gpt-x:2026");
  EXPECT_EQ(
      sql.number("select count(*) from millrace.api_rate_limits where api_endpoint = 'gpt-x:2026'"),
      1);
  EXPECT_EQ(bind(R"({"ai_queue_pass1": "openai:gpt-x:2026"})"), 0);
  // E10: what an operator set stays.
  sql.run(
      "update millrace.api_rate_limits set requests_per_minute = 7 where api_endpoint = "
      "'gpt-x:2026'");
  EXPECT_EQ(bind(R"({"ai_queue_pass1": null})"), 1);
  EXPECT_EQ(bind(R"({"ai_queue_pass1": "openai:gpt-x:2026"})"), 1);
  EXPECT_EQ(sql.value("select requests_per_minute from millrace.api_rate_limits where api_endpoint "
                      "= 'gpt-x:2026'"),
            "7");
}

}  // namespace
}  // namespace millrace::test
