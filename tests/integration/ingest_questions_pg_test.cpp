// Questions that a paid service embeds: they take room at its limits and money of the tenant's
// budget like the calls of jobs, before they are sent, and are settled after (L-15, E12, F08).
#include "integration/paid_ingest_world.h"

namespace millrace::test {
namespace {

using testing::HasSubstr;

class PaidQuestions : public IngestedDocuments {
 protected:
  static void SetUpTestSuite() {
    stand_in_ = std::make_unique<StandInProgram>(R"({"keys": {"k": {}}})");
    pipelines_ = std::make_unique<TempFolder>();
    pipelines_->write("ingest.toml", kPaidIngest);
    const auto env = paid_ingest_env(pipelines_->path(), *stand_in_);
    world_ = std::make_unique<UploadWorld>(env);
    worker_ = std::make_unique<DocumentWorker>(*world_, env);
  }
  static void TearDownTestSuite() {
    worker_.reset();
    world_.reset();
    pipelines_.reset();
    stand_in_.reset();
  }

  void SetUp() override {
    limit(R"({"requests_per_minute": 1000, "concurrent_requests": 10, "status": "active"})");
    id_ = ingest(made_markdown("Asked Mill", 3));
    ASSERT_EQ(ended(id_), "completed") << to_json(document(id_));
    stand_in_->ask("POST", "/control/reset");
  }

  void limit(const std::string& limits) {
    value("select millrace.set_limit('openai', 'stand-in-embed', $1::jsonb)", pg::params(limits));
  }
  // What the tenant may spend today beyond what it has spent.
  void leave(std::int64_t micros) {
    auto sql = api().sql();
    must(sql.query("select set_config('millrace.tenant_id', $1, false)",
                   pg::params(who_.tenant.to_string())));
    must(sql.query("select millrace.set_budget('openai', $1::bigint)",
                   pg::params(spent() + micros)));
  }
  std::int64_t spent() {
    return count(
        "select coalesce(sum(spent_micros + reserved_micros), 0)::bigint from "
        "millrace.provider_spend where tenant_id = $1::uuid",
        pg::params(who_.tenant));
  }
  // "state error cost input_tokens" of the question asked last.
  std::string last_call() {
    return value(
        "select concat_ws(' ', state, error, cost_micros, input_tokens) from "
        "millrace.provider_call where tenant_id = $1::uuid and stage = 'search' and job_id is null "
        "order by started_at desc, call_id desc limit 1",
        pg::params(who_.tenant));
  }
  std::string slots() { return value("select count(*) from millrace.provider_slot"); }
  Answered search(const std::string& mode = "hybrid") {
    return api().get("/api/v1/search?query=wheel%20with%20paddles&mode=" + mode, who_.token);
  }
  static std::string text(const Answered& answered, std::string_view name) {
    const auto body = answered.json();
    const auto& found = body.as_object().at(name);
    return found.is_string() ? std::string(found.as_string()) : to_json(found);
  }
  std::int64_t paid_texts() {
    return stand_in_->ask("GET", "/control/state")
        .at("embedded")
        .at("texts_paid")
        .to_number<std::int64_t>();
  }

  std::string id_;
  inline static std::unique_ptr<StandInProgram> stand_in_;
  inline static std::unique_ptr<TempFolder> pipelines_;
};

TEST_F(PaidQuestions, ArePaidForByTheTenantThatAsks) {
  const auto before = spent();
  const auto found = search();
  ASSERT_EQ(found.status, 200) << found.body;
  EXPECT_EQ(text(found, "mode"), "hybrid");
  EXPECT_EQ(text(found, "notice"), "null");
  EXPECT_FALSE(found.json().at("passages").as_array().empty());
  // "wheel with paddles" is five tokens there; a token is a millionth.
  EXPECT_EQ(last_call(), "answered 5 5");
  EXPECT_EQ(spent(), before + 5);
  EXPECT_EQ(paid_texts(), 1);
  EXPECT_EQ(slots(), "0");
  const auto told =
      api().get("/api/v1/spend", api().jwt(identity::Role::service_role, who_.tenant));
  EXPECT_EQ(told.status, 200) << told.body;
}

TEST_F(PaidQuestions, TextAsksAndPaysNobody) {
  const auto before = spent();
  EXPECT_EQ(search("text").status, 200);
  EXPECT_EQ(spent(), before);
  EXPECT_EQ(paid_texts(), 0);
}

TEST_F(PaidQuestions, e12_OverTheBudgetWordsAreSearchedAndTheAnswerSaysSo) {
  leave(17);  // The question may cost a token for each of its 18 bytes.
  const auto by_words = search();
  ASSERT_EQ(by_words.status, 200) << by_words.body;
  EXPECT_EQ(text(by_words, "mode"), "text");
  EXPECT_THAT(text(by_words, "notice"),
              HasSubstr("the budget of the day for openai:stand-in-embed is used up"));
  EXPECT_EQ(text(by_words, "model"), "null");
  EXPECT_FALSE(by_words.json().at("passages").as_array().empty());
  const auto refused = search("vector");
  EXPECT_EQ(refused.status, 409) << refused.body;
  EXPECT_THAT(text(refused, "detail"), HasSubstr("the budget of the day"));
  EXPECT_EQ(paid_texts(), 0);
  EXPECT_EQ(slots(), "0");
  leave(18);
  EXPECT_EQ(text(search("vector"), "mode"), "vector");
  EXPECT_EQ(paid_texts(), 1);
}

TEST_F(PaidQuestions, l15_WithoutRoomAtTheLimitsWordsAreSearched) {
  limit(R"({"status": "maintenance"})");
  const auto before = spent();
  const auto by_words = search();
  ASSERT_EQ(by_words.status, 200) << by_words.body;
  EXPECT_EQ(text(by_words, "mode"), "text");
  EXPECT_THAT(text(by_words, "notice"),
              HasSubstr("no room at the limits of openai:stand-in-embed"));
  EXPECT_EQ(search("vector").status, 409);
  EXPECT_EQ(spent(), before);
  EXPECT_EQ(paid_texts(), 0);
  limit(R"({"requests_per_minute": 1000, "concurrent_requests": 10, "status": "active"})");
  EXPECT_EQ(text(search(), "mode"), "hybrid");
}

TEST_F(PaidQuestions, WhatIsRefusedCostsNothingAndWhatMayHaveBeenChargedStaysReserved) {
  const auto before = spent();
  stand_in_->ask("POST", "/control/script",
                 R"({"steps": [{"do": "server_error", "service": "embeddings"}]})");
  EXPECT_EQ(text(search(), "mode"), "text");
  EXPECT_EQ(last_call(), "failed server_error 0 0");
  EXPECT_EQ(spent(), before);
  stand_in_->ask("POST", "/control/script",
                 R"({"steps": [{"do": "cut", "service": "embeddings"}]})");
  EXPECT_EQ(text(search(), "mode"), "text");
  EXPECT_THAT(last_call(), testing::StartsWith("unknown "));
  EXPECT_EQ(spent(), before + 18);
  EXPECT_EQ(slots(), "0");
}

// The command asks and pays as the server does.
TEST_F(PaidQuestions, TheCommandPaysToo) {
  const auto before = spent();
  const auto found = api().run(
      {"search", "wheel", "with", "paddles", "--tenant", who_.tenant.to_string(), "--json"});
  EXPECT_EQ(found.code, 0) << found.err;
  EXPECT_THAT(found.out, HasSubstr("\"hybrid\""));
  EXPECT_EQ(spent(), before + 5);
  leave(0);
  const auto refused = api().run({"search", "wheel", "with", "paddles", "--mode", "vector",
                                  "--tenant", who_.tenant.to_string()});
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.err, HasSubstr("the budget of the day"));
}

}  // namespace
}  // namespace millrace::test
