// What passes by a model cost, through the real programs: nothing is asked and paid twice, answers
// that cannot be used end with a person, a service that says what is left of its limits is not
// asked beyond that, and every call costs what its own model does.
#include "integration/documents_world.h"

namespace millrace::test {
namespace {

using testing::HasSubstr;

class PaidPages : public PaidDocuments {
 protected:
  void SetUp() override {
    PaidDocuments::SetUp();
    limit(R"({"tokens_per_minute": -1, "tokens_per_hour": -1})");
  }

  void limit(const std::string& values) {
    value("select millrace.set_limit('openai', 'stand-in', $1::jsonb)", pg::params(values));
  }
  void script(const std::string& steps) {
    stand_in_->ask("POST", "/control/script", R"({"steps": [)" + steps + "]}");
  }
  std::int64_t requests() {
    return stand_in_->ask("GET", "/control/state").at("requests").to_number<std::int64_t>();
  }
  // "answered 3, failed 1", of a stage.
  std::string calls(const std::string& id, std::string_view stage) {
    return value(
        "select string_agg(state || ' ' || n, ', ' order by state) from (select c.state, count(*) "
        "as n from millrace.provider_call c join millrace.job_fact j using (job_id) where "
        "j.payload ->> 'shell_file_id' = $1 and c.stage = $2 group by c.state) s",
        pg::params(id, stage));
  }
  std::string asked_again() {
    return value(
        "select count(*) from (select from millrace.provider_call where state = 'answered' group "
        "by job_id, request_sha256 having count(*) > 1) twice");
  }
  // Of the only page.
  std::string meta(const std::string& id, std::string_view stage, std::string_view field) {
    return value(
        "select meta ->> $3 from millrace.page_result where file_id = $1::uuid and stage = $2",
        pg::params(id, stage, field));
  }
  std::string attempts(const std::string& id) {
    return value(
        "select coalesce(string_agg(outcome || ' ' || n, ', ' order by outcome), '') from (select "
        "a.outcome, count(*) as n from millrace.attempt a join millrace.job_fact j using (job_id) "
        "where j.payload ->> 'shell_file_id' = $1 group by 1) s",
        pg::params(id));
  }
  // What the page cost by its own account, and by that of the calls.
  void expect_told_what_it_cost(const std::string& id, std::string_view stage) {
    EXPECT_EQ(value("select sum(c.input_tokens) || ' ' || sum(c.output_tokens) || ' ' || "
                    "sum(c.cost_micros) from millrace.provider_call c join millrace.job_fact j "
                    "using (job_id) where j.payload ->> 'shell_file_id' = $1 and c.stage = $2",
                    pg::params(id, stage)),
              fmt::format("{} {} {}", meta(id, stage, "tokens_in"), meta(id, stage, "tokens_out"),
                          meta(id, stage, "cost_micros")));
  }
  json::Array pages_of(const std::string& id) {
    const auto heard = api().get("/api/v1/documents/" + id + "/pages", who_.token);
    EXPECT_EQ(heard.status, 200) << heard.body;
    return heard.json().at("items").as_array();
  }
  void retry(const std::string& id) {
    const auto heard = api().post("/api/v1/documents/" + id + "/retry", who_.token, "");
    EXPECT_EQ(heard.status / 100, 2) << heard.body;
  }
  void expect_money_adds_up() {
    EXPECT_EQ(
        value("select bool_and(s.spent_micros = (select coalesce(sum(c.cost_micros), 0) from "
              "millrace.provider_call c where c.tenant_id = s.tenant_id) and s.reserved_micros = "
              "(select coalesce(sum(c.reserved_micros), 0) from millrace.provider_call c where "
              "c.tenant_id = s.tenant_id and c.state in ('sent', 'unknown'))) from "
              "millrace.provider_spend s"),
        "t");
    EXPECT_EQ(value("select count(*) from millrace.paid_answer where refused is null"), "0");
  }
};

TEST_F(PaidPages, f08_ALaterQuestionThatFailsCostsNoAnswerThatWasPaidFor) {
  script(R"({"do": "normal", "times": 2}, {"do": "server_error"}, {"do": "cut"})");
  const auto id = upload(made_long_pdf("Long"), "long.pdf", "paid");
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  const auto told = value(
      "select count(distinct c.request_sha256) || ' ' || sum(c.input_tokens) || ' ' || "
      "sum(c.cost_micros) from millrace.provider_call c join millrace.job_fact j using (job_id) "
      "where j.payload ->> 'shell_file_id' = $1 and c.stage = 'paid_pass1' and c.state = "
      "'answered'",
      pg::params(id));
  EXPECT_GE(std::stoi(told), 3) << "the page is too short for this test: " << told;
  EXPECT_EQ(asked_again(), "0");
  EXPECT_EQ(told, fmt::format("{} {} {}", std::stoi(told), meta(id, "paid_pass1", "tokens_in"),
                              meta(id, "paid_pass1", "cost_micros")))
      << "the page costs what all its answers cost, whenever they came";
  EXPECT_EQ(calls(id, "paid_pass1"),
            fmt::format("answered {}, failed 1, unknown 1", std::stoi(told)));
  EXPECT_EQ(meta(id, "paid_pass1", "entities") != "0", true);
  expect_money_adds_up();
  expect_sound();
}

TEST_F(PaidPages, AnAnswerThatCannotBeUsedEndsItsPageForAPersonAndIsNotAskedForAgain) {
  // Whatever happened to the page before.
  script(R"({"do": "server_error"}, {"do": "reset_before"}, {"do": "bad_text"})");
  const auto id = upload(made_pdf({letter("Unlucky", "Metformin")}), "letter.pdf", "paid");
  ASSERT_EQ(ended(id), "failed") << to_json(document(id));  // There was no other page.
  EXPECT_EQ(requests(), 3);
  EXPECT_EQ(attempts(id), "permanent 1, retry 2");
  retry(id);
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  EXPECT_EQ(requests(), 6);
  expect_money_adds_up();
}

// The page was done by the run that a person began; then somebody starts all dead letters again.
TEST_F(PaidPages, f08_ADeadLetterWhosePageWasDoneSinceIsNotAskedForWhenItIsRedriven) {
  script(R"({"do": "bad_text"})");
  const auto id = upload(made_pdf({letter("Redriven", "Metformin")}), "letter.pdf", "paid");
  ASSERT_EQ(ended(id), "failed") << to_json(document(id));
  const auto dead = value(
      "select h.job_id from millrace.job_history h join millrace.job_fact j using (job_id) where "
      "h.status = 'failed' and j.payload ->> 'shell_file_id' = $1",
      pg::params(id));
  retry(id);
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  const auto asked = requests();
  const auto facts = output(id, "facts");
  EXPECT_EQ(value("select count(*) from millrace.redrive_jobs(jsonb_build_object('job_ids', "
                  "jsonb_build_array($1::text)))",
                  pg::params(dead)),
            "1");
  EXPECT_TRUE(eventually([&] {
    return value(
               "select count(*) from millrace.job_history where job_id = $1::uuid and status = "
               "'completed'",
               pg::params(dead)) == "1";
  }));
  EXPECT_EQ(requests(), asked);
  EXPECT_EQ(state(id), "completed");
  EXPECT_EQ(document(id).at("run"), 2);
  EXPECT_EQ(output(id, "facts"), facts);
  expect_money_adds_up();
  expect_sound();
}

TEST_F(PaidPages, ADocumentWithAPageForReviewIsPartialAndShowsTheEvidence) {
  script(R"({"do": "bad_text"})");
  const auto id = upload(
      made_pdf({letter("One", "Metformin"), letter("Two", "Aspirin"), letter("Three", "Insulin")}),
      "letter.pdf", "paid");
  ASSERT_EQ(ended(id), "partial") << to_json(document(id));
  // Three first passes, of which one came to nothing; two second ones, and the narrative.
  EXPECT_EQ(requests(), 6);
  EXPECT_EQ(calls(id, "paid_pass1"), "answered 3");
  EXPECT_EQ(attempts(id), "permanent 1");
  expect_manifest(id);
  json::Object review;
  for (const auto& page : pages_of(id)) {
    if (page.at("state") != "failed") {
      EXPECT_TRUE(page.at("review").is_null());
      continue;
    }
    EXPECT_TRUE(review.empty()) << "one page only";
    EXPECT_EQ(page.at("failed_reason"), "invalid_answer");
    review = page.at("review").as_object();
  }
  ASSERT_FALSE(review.empty());
  EXPECT_EQ(review.at("stage"), "paid_pass1");
  EXPECT_EQ(blob::sha256(std::string_view(review.at("answer").as_string())).hex(),
            review.at("answer_sha256").as_string());
  EXPECT_EQ(value("select error -> 'review' ->> 'call_id' from millrace.attempt where outcome = "
                  "'permanent' and tenant_id = $1::uuid",
                  pg::params(who_.tenant.to_string())),
            review.at("call_id").as_string());
  EXPECT_EQ(value("select state || ' ' || error from millrace.provider_call where call_id = "
                  "$1::uuid",
                  pg::params(review.at("call_id").as_string())),
            "answered invalid_answer");
  // The others are there, and only this one is asked for when a person begins it anew.
  retry(id);
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  EXPECT_EQ(requests(), 6 + 3);
  for (const auto& page : pages_of(id)) EXPECT_TRUE(page.at("review").is_null());
  expect_money_adds_up();
  expect_sound();
}

// A refusal and an answer that was cut by its bound came whole, too.
TEST_F(PaidPages, WhatAServiceItselfCallsNoAnswerIsForReviewToo) {
  for (const auto* action : {"refusal", "length", "content_filter"}) {
    const auto before = requests();
    script(fmt::format(R"({{"do": "{}"}})", action));
    const auto id = upload(made_pdf({letter(action, "Metformin"), letter("Second", action)}),
                           "letter.pdf", "paid");
    ASSERT_EQ(ended(id), "partial") << action << to_json(document(id));
    EXPECT_EQ(requests() - before, 4) << action;
    int for_review = 0;
    for (const auto& page : pages_of(id)) for_review += page.at("review").is_object() ? 1 : 0;
    EXPECT_EQ(for_review, 1) << action;
  }
  expect_money_adds_up();
}

TEST_F(PaidPages, ANarrativeThatCannotBeUsedLeavesThePagesAndTheirFacts) {
  script(R"({"do": "normal", "times": 2}, {"do": "bad_text"})");
  const auto id = upload(made_pdf({letter("Untold", "Metformin")}), "letter.pdf", "paid");
  ASSERT_EQ(ended(id), "partial") << to_json(document(id));
  EXPECT_EQ(requests(), 3);
  const auto shown = document(id);
  ASSERT_EQ(shown.at("review").as_array().size(), 1U);
  EXPECT_EQ(shown.at("review").at(0).at("stage"), "paid_pass3");
  EXPECT_THAT(output(id, "narrative"), HasSubstr("missing"));
  EXPECT_THAT(output(id, "facts"), HasSubstr("Metformin"));
  EXPECT_EQ(must(parse_json_object(output(id, "manifest"))).at("state"), "partial");
  expect_manifest(id);
  retry(id);
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  EXPECT_EQ(requests(), 4);
  EXPECT_TRUE(document(id).at("review").as_array().empty());
  EXPECT_EQ(must(parse_json_object(output(id, "manifest"))).at("state"), "completed");
  expect_money_adds_up();
}

// What a filter says before the model is asked.
constexpr std::string_view kFiltered =
    R"({"do": "custom", "status": 400, "body": "{\"error\": {\"code\": \"content_filter\",)"
    R"( \"message\": \"no\"}}"})";
constexpr std::string_view kTooLarge = R"({"do": "too_large"})";

TEST_F(PaidPages, ARefusalOfWhatAPageSaysIsForReviewAndOfThatPageOnly) {
  for (const auto& [refusal, error_type] :
       {std::pair(kFiltered, "content_filter"), std::pair(kTooLarge, "too_large")}) {
    const auto before = requests();
    script(std::string(refusal));
    const auto id =
        upload(made_pdf({letter(error_type, "Metformin"), letter("Second", error_type)}),
               "letter.pdf", "paid");
    ASSERT_EQ(ended(id), "partial") << error_type << to_json(document(id));
    EXPECT_EQ(requests() - before, 4) << error_type;
    EXPECT_EQ(calls(id, "paid_pass1"), "answered 1, failed 1");
    int for_review = 0;
    for (const auto& page : pages_of(id)) {
      if (!page.at("review").is_object()) continue;
      EXPECT_EQ(page.at("failed_reason"), error_type);
      ++for_review;
    }
    EXPECT_EQ(for_review, 1) << error_type;
  }
  expect_money_adds_up();
  expect_sound();
}

TEST_F(PaidPages, ANarrativeThatIsRefusedLeavesThePagesAndTheirFacts) {
  for (const auto& [refusal, error_type] :
       {std::pair(kFiltered, "content_filter"), std::pair(kTooLarge, "too_large")}) {
    const auto before = requests();
    script(fmt::format(R"({{"do": "normal", "times": 2}}, {})", refusal));
    const auto id = upload(made_pdf({letter(fmt::format("Untold {}", error_type), "Metformin")}),
                           "letter.pdf", "paid");
    ASSERT_EQ(ended(id), "partial") << error_type << to_json(document(id));
    EXPECT_EQ(requests() - before, 3) << error_type;
    const auto shown = document(id);
    ASSERT_EQ(shown.at("review").as_array().size(), 1U);
    EXPECT_EQ(shown.at("review").at(0).at("stage"), "paid_pass3");
    EXPECT_THAT(output(id, "facts"), HasSubstr("Metformin"));
    expect_manifest(id);
    retry(id);
    ASSERT_EQ(ended(id), "completed") << to_json(document(id));
    EXPECT_EQ(requests() - before, 4) << error_type;
  }
  expect_money_adds_up();
}

// A model with less room than a question of ours: 48 KiB and the answer do not fit, 24 KiB do.
TEST_F(PaidPages, AQuestionThatIsTooLargeForTheModelIsPutInSmallerOnes) {
  stand_in_->ask("POST", "/control/settings", R"({"context_tokens": 20000})");
  const auto id = upload(made_long_pdf("Halved"), "long.pdf", "paid");
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  const auto asked = calls(id, "paid_pass1");
  EXPECT_THAT(asked, testing::EndsWith(", failed 1"));
  EXPECT_GE(std::stoi(asked.substr(std::string_view("answered ").size())), 5) << asked;
  EXPECT_THAT(attempts(id), testing::Not(HasSubstr("retry")));
  EXPECT_EQ(stand_in_->ask("GET", "/control/state").at("idempotency_repeats"), 0);
  EXPECT_NE(meta(id, "paid_pass1", "entities"), "0");
  expect_told_what_it_cost(id, "paid_pass1");
  expect_money_adds_up();
  expect_sound();
}

TEST_F(PaidPages, WhatWasAnsweredBeforeAQuestionWasTooLargeIsInTheBooks) {
  stand_in_->ask("POST", "/control/settings", R"({"context_tokens": 20000})");
  const auto usual = upload(made_long_pdf("Booked"), "long.pdf", "paid");
  ASSERT_EQ(ended(usual), "completed") << to_json(document(usual));
  stand_in_->ask("POST", "/control/settings", R"({"context_tokens": 128000})");
  script(R"({"do": "normal"}, {"do": "too_large"})");
  const auto id = upload(made_long_pdf("Looked"), "long.pdf", "paid");
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  EXPECT_THAT(calls(id, "paid_pass1"), testing::EndsWith(", failed 1"));
  EXPECT_EQ(meta(id, "paid_pass1", "entities"), meta(usual, "paid_pass1", "entities"))
      << "what was answered before counts once";
  expect_told_what_it_cost(id, "paid_pass1");
  expect_money_adds_up();
}

// Our own limit is wider than the service's, which says in every answer what is left of it.
TEST_F(PaidPages, e10_AServiceThatSaysWhatIsLeftIsNotAskedBeyondThat) {
  stand_in_->ask("POST", "/control/settings",
                 R"({"keys": {"k": {"requests": 4, "concurrency": 1}}, "window_ms": 2000})");
  limit(R"({"concurrent_requests": 1, "requests_per_minute": 1000})");
  std::vector<std::string> ids;
  for (int i = 0; i < 3; ++i) {
    ids.push_back(
        upload(made_pdf({letter(fmt::format("Held {}", i), "Metformin")}), "letter.pdf", "paid"));
  }
  for (const auto& id : ids) EXPECT_EQ(ended(id), "completed") << to_json(document(id));
  EXPECT_EQ(requests(), 9);
  const auto state = stand_in_->ask("GET", "/control/state");
  EXPECT_EQ(state.at("keys").at("k").at("refused"), 0) << to_json(state);
  EXPECT_EQ(value("select count(*) from millrace.attempt where charged and outcome in "
                  "('throttled', 'blocked')"),
            "0");
}

// The stages of the pipeline above under other settings.
std::string pipeline_like_paid(const std::string& name, const std::string& of_passes) {
  std::string text(kPaid);
  text.replace(text.find("\"paid\""), 6, '"' + name + '"');
  constexpr std::string_view kProvider =
      "provider = \"openai\"\ntimeout = \"20s\"\ncall_timeout = \"2s\"";
  for (auto at = text.find(kProvider); at != text.npos; at = text.find(kProvider)) {
    text.replace(at, kProvider.size(), of_passes);
  }
  return text;
}

class OtherModels : public PaidPages {
 protected:
  void serve(std::map<std::string, std::string> more) {
    worker_.reset();
    auto env = paid_env();
    for (auto& [name, text] : more) env[name] = text;
    worker_ = std::make_unique<DocumentWorker>(world(), std::move(env));
  }
};

TEST_F(OtherModels, ACallCostsWhatTheModelCostsThatItAsks) {
  pipelines_.write(
      "priced.toml",
      pipeline_like_paid("priced", "provider = \"openai\"\noptions = { model = \"gpt-4o-mini\" }"));
  serve({{"MILLRACE_OPENAI_PRICES", "gpt-4o-mini 10.00 20.00"}});
  const auto id = upload(made_pdf({letter("Dear", "Metformin")}), "letter.pdf", "priced");
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  EXPECT_EQ(value("select string_agg(distinct provider, ',') || ' ' || bool_and(cost_micros = 10 * "
                  "input_tokens + 20 * output_tokens) from millrace.provider_call where tenant_id "
                  "= $1::uuid",
                  pg::params(who_.tenant.to_string())),
            "openai:gpt-4o-mini true");
  const auto cheap = upload(made_pdf({letter("Cheap", "Metformin")}), "letter.pdf", "paid");
  ASSERT_EQ(ended(cheap), "completed") << to_json(document(cheap));
  EXPECT_EQ(value("select bool_and(cost_micros = input_tokens + 2 * output_tokens) from "
                  "millrace.provider_call where provider = 'openai:stand-in' and tenant_id = "
                  "$1::uuid",
                  pg::params(who_.tenant.to_string())),
            "t");
}

TEST_F(OtherModels, AModelWithoutAPriceIsNotAskedAndTheDocumentSaysSo) {
  pipelines_.write(
      "priced.toml",
      pipeline_like_paid("priced", "provider = \"openai\"\noptions = { model = \"gpt-4o-mini\" }"));
  serve({});
  const auto id = upload(made_pdf({letter("Unknown", "Metformin")}), "letter.pdf", "priced");
  ASSERT_TRUE(eventually([&] { return document(id).at("waiting").is_object(); }))
      << to_json(document(id));
  EXPECT_THAT(std::string(document(id).at("waiting").at("reason").as_string()),
              HasSubstr("openai:gpt-4o-mini has no price"));
  EXPECT_EQ(requests(), 0);
  EXPECT_EQ(value("select count(*) from millrace.api_rate_limits where provider_name = 'openai' "
                  "and breaker_state <> 'closed'"),
            "0");
}

// A service has no model of its own: until somebody names one, nobody is asked.
TEST_F(OtherModels, AStageForWhichNobodyNamesAModelIsNotAsked) {
  pipelines_.write("unnamed.toml", pipeline_like_paid("unnamed", "provider = \"anthropic\""));
  const std::map<std::string, std::string> env = {{"ANTHROPIC_API_KEY", "k"},
                                                  {"MILLRACE_ANTHROPIC_BASE_URL", stand_in_->url()},
                                                  {"MILLRACE_ANTHROPIC_ALLOW_HTTP", "true"}};
  serve(env);
  const auto id = upload(made_pdf({letter("Unnamed", "Metformin")}), "letter.pdf", "unnamed");
  ASSERT_TRUE(eventually([&] { return document(id).at("waiting").is_object(); }))
      << to_json(document(id));
  EXPECT_THAT(std::string(document(id).at("waiting").at("reason").as_string()),
              HasSubstr("set anthropic.model"));
  EXPECT_EQ(requests(), 0);
  EXPECT_EQ(value("select count(*) from millrace.api_rate_limits where api_endpoint = ''"), "0");
  auto named = env;
  named["MILLRACE_ANTHROPIC_MODEL"] = "stand-in";
  serve(named);
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  EXPECT_EQ(value("select distinct provider || ' ' || model from millrace.provider_call where "
                  "tenant_id = $1::uuid",
                  pg::params(who_.tenant.to_string())),
            "anthropic:stand-in stand-in");
  EXPECT_EQ(meta(id, "paid_pass1", "provider"), "anthropic:stand-in");
}

// One name of a stage, two pipelines: the limits of whom a job asks count, and nobody else's.
TEST_F(OtherModels, l17_StagesOfOneNameCountAgainstTheProvidersOfTheirOwnPipelines) {
  pipelines_.write("free.toml", pipeline_like_paid("z_free", "provider = \"local\""));
  serve({});
  EXPECT_EQ(value("select coalesce(provider_name, '-') from millrace.job_type where job_type = "
                  "'paid_pass1'"),
            "-");
  std::vector<std::string> ids;
  for (int i = 0; i < 6; ++i) {
    ids.push_back(upload(made_pdf({letter(fmt::format("Shared {}", i), "Metformin"),
                                   letter(fmt::format("Name {}", i), "Aspirin")}),
                         "letter.pdf", "paid"));
  }
  for (const auto& id : ids) EXPECT_EQ(ended(id), "completed") << to_json(document(id));
  expect_within_limits();
  EXPECT_EQ(value("select active_slots from millrace.limits_overview() where provider_name = "
                  "'openai' and api_endpoint = 'stand-in'"),
            "0");
  // Nobody may ask the provider now; who does not need it goes on.
  value(
      "update millrace.api_rate_limits set throttled_until = millrace.now() + interval '1 hour' "
      "where provider_name = 'openai' and api_endpoint = 'stand-in' returning 1");
  const auto free = upload(made_pdf({letter("Free", "Metformin")}), "letter.pdf", "z_free");
  EXPECT_EQ(ended(free), "completed") << to_json(document(free));
}

// Pages that a service reads, from pictures.
class SeenPages : public PaidPages {
 protected:
  void SetUp() override {
    PaidPages::SetUp();
    pipelines_.write("seen.toml", kSeen);
    heal();
  }

  static constexpr const char* kSeen = R"(
name = "seen"
version = "1.0.0"

[[queue]]
name = "seen"
max_attempts = 3
backoff_base = "100ms"
backoff_cap = "1s"

[[stage]]
name = "seen_scan"
run = "scan"
queue = "seen"

[[stage]]
name = "seen_read"
run = "ocr"
provider = "google"
queue = "seen"
options = { mode = "ocr" }
)";

  std::map<std::string, std::string> seen_env() const {
    auto env = paid_env();
    env["GOOGLE_CLOUD_API_KEY"] = "k";
    env["MILLRACE_GOOGLE_VISION_URL"] = stand_in_->url();
    env["MILLRACE_GOOGLE_ALLOW_HTTP"] = "true";
    env["MILLRACE_GOOGLE_PRICE_PAGE"] = "0.0015";
    return env;
  }
  void heal() {
    worker_.reset();
    worker_ = std::make_unique<DocumentWorker>(world(), seen_env());
  }
  json::Object reading_of(const std::string& id) {
    const auto manifest = must(parse_json_object(output(id, "manifest")));
    for (const auto& stage : manifest.at("stages").as_array()) {
      if (stage.at("name") == "seen_read") return stage.as_object();
    }
    return {};
  }
};

TEST_F(SeenPages, WhatAServiceReadIsInTheBooksOfTheDocument) {
  const auto id = upload(made_scans({{.shade = 230}, {.shade = 231}}), "scan.pdf", "seen");
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  EXPECT_EQ(requests(), 2);
  EXPECT_THAT(output(id, "text"), HasSubstr("Metformin 500 mg twice daily"));
  const auto stage = reading_of(id);
  EXPECT_EQ(stage.at("provider"), "google:vision-api");
  EXPECT_EQ(stage.at("model"), "vision");
  EXPECT_EQ(stage.at("cost_micros"), 3000);
  EXPECT_EQ(value("select string_agg(distinct state || ' ' || cost_micros, ', ') from "
                  "millrace.provider_call where tenant_id = $1::uuid",
                  pg::params(who_.tenant.to_string())),
            "answered 1500");
  expect_money_adds_up();
  expect_sound();
}

TEST_F(SeenPages, f08_ADeathAfterAPictureWasPaidForBuysNoOther) {
  const auto usual = upload(made_scans({{.shade = 240}}), "scan.pdf", "seen");
  ASSERT_EQ(ended(usual), "completed") << to_json(document(usual));
  int shade = 240;
  for (const auto& [point, lost] :
       {std::pair("keep_answer.before", 1), std::pair("keep_answer.after_send", 0),
        std::pair("keep_answer.after", 0)}) {
    worker_.reset();
    const auto before = requests();
    const auto id = upload(made_scans({{.shade = ++shade}}), "scan.pdf", "seen");
    auto env = seen_env();
    env["MILLRACE_FAULT"] = fmt::format("{}=kill@1", point);
    {
      DocumentWorker victim(world(), env);
      EXPECT_TRUE(victim.dies()) << point << " was not reached";
    }
    heal();
    ASSERT_EQ(ended(id), "completed") << point << ": " << to_json(document(id));
    EXPECT_EQ(requests() - before, 1 + lost) << point;
    EXPECT_EQ(output(id, "text"), output(usual, "text")) << point;
    EXPECT_EQ(meta(id, "seen_read", "cost_micros"), "1500") << point;
    EXPECT_EQ(reading_of(id).at("provider"), "google:vision-api");
  }
  EXPECT_EQ(asked_again(), "0");
  expect_money_adds_up();
  expect_sound();
}

TEST_F(SeenPages, WhatAServiceSawThatIsNoPageIsForReview) {
  script(R"({"do": "bad_text"})");
  const auto id = upload(made_scans({{.shade = 220}, {.shade = 221}}), "scan.pdf", "seen");
  ASSERT_EQ(ended(id), "partial") << to_json(document(id));
  EXPECT_EQ(requests(), 2);
  EXPECT_EQ(attempts(id), "permanent 1");
  json::Object review;
  for (const auto& page : pages_of(id)) {
    if (page.at("state") != "failed") continue;
    EXPECT_EQ(page.at("failed_reason"), "invalid_answer");
    review = page.at("review").as_object();
  }
  ASSERT_FALSE(review.empty());
  EXPECT_EQ(review.at("stage"), "seen_read");
  EXPECT_EQ(review.at("model"), "vision");
  EXPECT_THAT(std::string(review.at("answer").as_string()), HasSubstr("Certainly!"));
  EXPECT_EQ(value("select state || ' ' || error || ' ' || cost_micros from millrace.provider_call "
                  "where call_id = $1::uuid",
                  pg::params(review.at("call_id").as_string())),
            "answered invalid_answer 1500");
  retry(id);
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  EXPECT_EQ(requests(), 3);
  for (const auto& page : pages_of(id)) EXPECT_TRUE(page.at("review").is_null());
  expect_money_adds_up();
  expect_sound();
}

}  // namespace
}  // namespace millrace::test
