// Questions that are embedded by a paid service, outside of any job: room at its limits and money
// of the tenant, both or none, before the call; given back after it (L-04, L-11, L-12, E08, E12).
#include "sql/document_world.h"

namespace millrace::test {
namespace {

class Questions : public DocumentTest {
 protected:
  Questions() {
    stop_clock(sql);
    limit(R"({"requests_per_minute": 100, "tokens_per_minute": 1000, "concurrent_requests": 2})");
  }

  void limit(std::string_view values) {
    sql.run("select millrace.set_limit('openai', 'embed', $1::jsonb)", pg::params(values));
  }
  void budget(std::int64_t micros, std::string_view tenant = kTenant) {
    ServerSession admin{database, tenant};
    admin.run("select millrace.set_budget('openai', $1::bigint)", pg::params(micros));
  }
  static std::string question(std::int64_t micros, std::int64_t tokens,
                              std::string_view provider = "openai:embed") {
    return fmt::format(
        R"({{"provider": "{}", "model": "embed", "request_sha256": "{}", "estimated_tokens": {},
            "reserved_micros": {}}})",
        provider, std::string(64, 'a'), tokens, micros);
  }
  // The id of the call, or why there is none.
  std::string begin_question(std::int64_t micros = 10, std::int64_t tokens = 10,
                             std::string_view tenant = kTenant) {
    ServerSession server{database, tenant};
    answer_ = server.value("select millrace.begin_question($1::jsonb)::text",
                           pg::params(question(micros, tokens)));
    const auto id = member(sql, answer_, "call_id");
    return id == "(null)" ? member(sql, answer_, "refused") : id;
  }
  void end_question(const std::string& call, std::string_view end) {
    ServerSession server{database};
    server.run("select millrace.end_question($1::uuid, $2::jsonb)", pg::params(call, end));
  }
  // "reserved spent calls" of the day.
  std::string spend(std::string_view tenant = kTenant) {
    return sql.value(
        "select concat_ws(' ', reserved_micros, spent_micros, calls) from "
        "millrace.provider_spend where tenant_id = $1::uuid",
        pg::params(tenant));
  }
  // "slots requests tokens" that the provider sees.
  std::string taken() {
    return sql.value(
        "select concat_ws(' ', (select count(*) from millrace.provider_slot s where s.provider_id "
        "= a.provider_id), coalesce(sum(b.requests), 0), coalesce(sum(b.tokens), 0)) from "
        "millrace.api_rate_limits a left join millrace.provider_bucket b on b.provider_id = "
        "a.provider_id and b.time_window = 'minute' where a.api_endpoint = 'embed' group by "
        "a.provider_id");
  }

  std::string answer_;
};

TEST_F(Questions, f08_the_intent_is_on_record_before_and_the_bill_after) {
  const auto call = begin_question(12, 12);
  EXPECT_EQ(sql.value("select concat_ws(' ', tenant_id = $2::uuid, job_id is null, state, stage, "
                      "provider, model, reserved_micros, estimated_tokens) from "
                      "millrace.provider_call where call_id = $1::uuid",
                      pg::params(call, kTenant)),
            "t t sent search openai:embed embed 12 12");
  EXPECT_EQ(spend(), "12 0 1");
  EXPECT_EQ(taken(), "1 1 12");
  end_question(call, R"({"state": "answered", "cost_micros": 5, "input_tokens": 5,
                         "output_tokens": 0})");
  EXPECT_EQ(spend(), "0 5 1");
  EXPECT_EQ(taken(), "0 1 5");
}

TEST_F(Questions, e12_over_the_budget_no_room_is_taken_either) {
  budget(15);
  EXPECT_EQ(begin_question(16), "budget");
  EXPECT_EQ(taken(), "0 0 0");
  EXPECT_EQ(sql.number("select count(*) from millrace.provider_call"), 0);
  const auto call = begin_question(15);
  EXPECT_EQ(begin_question(1), "budget");
  end_question(call, R"({"state": "failed", "cost_micros": 0, "input_tokens": 0})");
  EXPECT_EQ(spend(), "0 0 1");
  EXPECT_NE(begin_question(15), "budget");
}

TEST_F(Questions, l04_without_room_no_money_is_reserved) {
  const auto first = begin_question();
  begin_question();
  EXPECT_EQ(begin_question(), "limit");  // Two at once.
  EXPECT_EQ(spend(), "20 0 2");
  EXPECT_EQ(sql.value("select rate_limit_violations from millrace.api_rate_limits where "
                      "api_endpoint = 'embed'"),
            "1");
  end_question(first, R"({"state": "answered", "cost_micros": 1, "input_tokens": 1})");
  EXPECT_NE(begin_question(), "limit");
  limit(R"({"concurrent_requests": 100, "tokens_per_minute": 30})");
  EXPECT_EQ(begin_question(10, 20), "limit");
  EXPECT_GT(std::stoll(member(sql, answer_, "retry_ms")), 1000);
  pass(sql, "2 minutes");
  // More than a whole window is charged as one.
  EXPECT_NE(begin_question(10, 5000), "limit");
  limit(R"({"status": "maintenance"})");
  EXPECT_EQ(begin_question(), "limit");
}

// L-11: a server that died in the middle.
TEST_F(Questions, l11_a_slot_that_is_not_given_back_ends_by_itself) {
  begin_question();
  begin_question();
  EXPECT_EQ(begin_question(), "limit");
  pass(sql, "6 minutes");
  EXPECT_NE(begin_question(), "limit");
  EXPECT_EQ(spend(), "30 0 3");  // What may have been charged stays reserved.
}

TEST_F(Questions, the_first_word_about_one_counts) {
  const auto call = begin_question();
  begin_question();
  end_question(call, R"({"state": "unknown"})");
  EXPECT_EQ(taken(), "1 2 20");
  end_question(call, R"({"state": "answered", "cost_micros": 5, "input_tokens": 5})");
  EXPECT_EQ(taken(), "1 2 20");  // The slot of the other one is still its own.
  EXPECT_EQ(spend(), "20 0 2");
}

TEST_F(Questions, a_service_that_asks_to_wait_is_left_alone_by_all) {
  end_question(begin_question(), R"({"state": "failed", "cost_micros": 0, "input_tokens": 0,
                                     "retry_ms": 20000})");
  EXPECT_EQ(begin_question(), "limit");
  EXPECT_GE(std::stoll(member(sql, answer_, "retry_ms")), 20000);
  pass(sql, "21 seconds");
  EXPECT_NE(begin_question(), "limit");
}

TEST_F(Questions, each_tenant_pays_for_its_own) {
  budget(10);
  EXPECT_NE(begin_question(10), "budget");
  EXPECT_NE(begin_question(500, 10, kOther), "budget");
  EXPECT_EQ(spend(), "10 0 1");
  EXPECT_EQ(spend(kOther), "500 0 1");
}

// E12: connections together, one budget, never more than it, and no deadlock with those that end.
TEST_F(Questions, e12_together_they_never_exceed_it) {
  limit(R"({"requests_per_minute": null, "tokens_per_minute": null, "concurrent_requests": null})");
  budget(1000);
  std::atomic<int> allowed = 0;
  together(4, [&](int who, const std::atomic<bool>&) {
    ServerSession server{database};
    for (int i = 0; i < 20; ++i) {
      const auto answer = server.value("select millrace.begin_question($1::jsonb) ->> 'call_id'",
                                       pg::params(question(70, 10)));
      if (answer == "(null)") continue;
      ++allowed;
      if (who % 2 == 0) {
        server.run(
            "select millrace.end_question($1::uuid, '{\"state\": \"answered\", "
            "\"cost_micros\": 70, \"input_tokens\": 10}')",
            pg::params(answer));
      }
    }
  });
  EXPECT_EQ(allowed, 14);
  EXPECT_EQ(sql.number("select reserved_micros + spent_micros from millrace.provider_spend"), 980);
}

TEST_F(Questions, a_service_without_limits_gets_the_usual_ones) {
  ServerSession server{database};
  EXPECT_EQ(server.value("select millrace.begin_question($1::jsonb) ? 'call_id'",
                         pg::params(question(1, 1, "another:model:7"))),
            "t");
  EXPECT_EQ(sql.value("select concat_ws(' ', requests_per_minute, active_requests) from "
                      "millrace.api_rate_limits where provider_name = 'another' and api_endpoint = "
                      "'model:7'"),
            "60 1");
}

// Whoever could would spend the money of others.
TEST_F(Questions, no_client_may) {
  User user{database, kAda};
  EXPECT_EQ(user.refused("select millrace.begin_question($1::jsonb)", pg::params(question(1, 1)))
                .sqlstate,
            "42501");
  Session service{database, "service_role"};
  EXPECT_EQ(service.refused("select millrace.end_question(gen_random_uuid(), '{}')").sqlstate,
            "42501");
  // Nor can a question end the call of a job.
  ServerSession server{database};
  const auto job = server.value("select millrace.enqueue_job('noop', '{\"n\": 1}')");
  const auto call = sql.value(
      "select millrace.begin_call($1::jsonb) ->> 'call_id'",
      pg::params(fmt::format(
          R"({{"job_id": "{}", "delivery_count": 1, "stage": "s", "provider": "openai:embed",
                      "model": "m", "request_sha256": "{}", "estimated_tokens": 1, "reserved_micros": 9}})",
          job, std::string(64, 'b'))));
  end_question(call, R"({"state": "failed", "cost_micros": 0, "input_tokens": 0})");
  EXPECT_EQ(spend(), "9 0 1");
}

}  // namespace
}  // namespace millrace::test
