// Kills exactly at the fault points of ingest (V-24, F08, G03): a worker dies there once, another
// one takes over, and the document ends as if nothing had been: every chunk once, with its vector,
// and every text paid for once, or twice where the death took the answer along.
#include "integration/paid_ingest_world.h"

#include <fstream>
#include <sstream>

namespace millrace::test {
namespace {

// All points of a file, from the list that tools/fault_points keeps.
std::vector<std::string> points_of(std::string_view wanted) {
  std::vector<std::string> points;
  std::ifstream list(MILLRACE_FAULT_POINTS);
  for (std::string line; std::getline(list, line);) {
    std::istringstream words(line);
    std::string kind;
    std::string name;
    std::string file;
    words >> kind >> name >> file;
    if (kind == "point" && file == wanted) points.push_back(name);
  }
  return points;
}

class KilledIngest : public IngestedDocuments {
 protected:
  static void SetUpTestSuite() { world_ = std::make_unique<UploadWorld>(); }
  static void TearDownTestSuite() { world_.reset(); }

  void SetUp() override {
    stand_in_ = std::make_unique<StandInProgram>(R"({"keys": {"k": {}}})");
    pipelines_.write("ingest.toml", kPaidIngest);
    value(
        "select millrace.set_queue('ingest', '{\"backoff_base\": \"100ms\", \"backoff_cap\": "
        "\"1s\"}')");
    // A worker has told of the pipeline before the first file comes.
    heal();
  }
  void TearDown() override { worker_.reset(); }

  std::map<std::string, std::string> env() const {
    return paid_ingest_env(pipelines_.path(), *stand_in_);
  }
  void heal() { worker_ = std::make_unique<DocumentWorker>(world(), env()); }
  void kill_at(const std::string& plan) {
    auto armed = env();
    armed["MILLRACE_FAULT"] = plan;
    DocumentWorker victim(world(), armed);
    EXPECT_TRUE(victim.dies()) << plan << " was not reached";
  }
  json::Object embedded() {
    return stand_in_->ask("GET", "/control/state").at("embedded").as_object();
  }
  std::int64_t figure(std::string_view name) {
    return embedded().at(name).to_number<std::int64_t>();
  }

  // Of all calls on record: each answered once; what has no end is of a delivery that was lost.
  void expect_sound_money() {
    EXPECT_EQ(value("select count(*) from millrace.provider_call c where c.state = 'sent' and not "
                    "exists (select from "
                    "millrace.attempt a where a.job_id = c.job_id and a.delivery_count = "
                    "c.delivery_count and a.outcome = "
                    "'lost')"),
              "0");
    EXPECT_EQ(value("select bool_and(s.spent_micros = (select coalesce(sum(c.cost_micros), 0) from "
                    "millrace.provider_call c "
                    "where c.tenant_id = s.tenant_id) and s.reserved_micros = (select "
                    "coalesce(sum(c.reserved_micros), 0) from "
                    "millrace.provider_call c where c.tenant_id = s.tenant_id and c.state in "
                    "('sent', 'unknown'))) from "
                    "millrace.provider_spend s"),
              "t");
  }

  TempFolder pipelines_;
  std::unique_ptr<StandInProgram> stand_in_;
};

// B-15, B-16, P-08: batches within the bound, each text sent once.
TEST_F(KilledIngest, b15_UndisturbedEveryTextIsPaidForOnce) {
  const auto id = ingest(made_markdown("Paid Mill", 12));
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  expect_published(id);
  const auto chunks = count(
      "select count(*) from millrace.document_chunks where document_id = $1::uuid", pg::params(id));
  EXPECT_GT(chunks, 8);
  EXPECT_EQ(figure("texts_paid"), chunks);
  EXPECT_EQ(figure("times_max"), 1);
  EXPECT_EQ(figure("calls"), (chunks + 3) / 4);
  EXPECT_EQ(
      value("select embed_model from millrace.document_chunks where document_id = $1::uuid limit 1",
            pg::params(id)),
      "stand-in-embed");
  expect_sound_money();
}

// B-15, F08: batches of up to 256, and of equal texts one is paid for, wherever they stand.
TEST_F(KilledIngest, b15_EqualTextsOfADocumentArePaidForOnce) {
  worker_.reset();
  std::string pipeline(kPaidIngest);
  pipeline.replace(pipeline.find("2.0.0"), 5, "2.1.0");
  pipeline.replace(pipeline.find("batch_max = 4"), 13, "batch_max = 256");
  pipelines_.write("ingest.toml", pipeline);
  value(
      "select millrace.set_limit('openai', 'stand-in-embed', '{\"tokens_per_minute\": -1, "
      "\"tokens_per_hour\": -1}')");
  heal();
  const auto section = [](int number) {
    return fmt::format(
        "# Gate {0}\n\nWater enters the race at gate {0}. The miller opens gate {0} in the "
        "morning, "
        "closes it at night, and counts the paddles of wheel {0} before he goes home.\n\n",
        number);
  };
  std::string text;
  for (int i = 1; i < 299; ++i) text += section(i);
  text += section(1) + section(299);
  const auto id = ingest(text);
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  expect_published(id);
  EXPECT_EQ(count("select count(*) from millrace.document_chunks where document_id = $1::uuid",
                  pg::params(id)),
            300);
  std::uint64_t largest = 0;
  const auto asked = stand_in_->ask("GET", "/control/requests");
  for (const auto& one : asked.at("requests").as_array()) {
    largest = std::max(largest, one.at("inputs").to_number<std::uint64_t>());
  }
  EXPECT_EQ(largest, 256U);
  EXPECT_EQ(figure("calls"), 2);
  EXPECT_EQ(figure("texts_paid"), 299);
  EXPECT_EQ(figure("times_max"), 1);
  EXPECT_EQ(document(id).at("summary").at("embeddings").at("taken_over"), 1);
  expect_sound_money();
}

// V-24, B-03: whatever call to the database a death strikes, before it, behind it, or between its
// end and the answer.
TEST_F(KilledIngest, v24_ADeathAtAnyPointOfAnyStageCostsNoChunk) {
  worker_.reset();
  std::map<std::string, std::string> ids;  // By point.
  auto points = points_of("src/store/ingest_store.cpp");
  points.insert(points.end(), {"begin_call.before", "begin_call.after_send", "begin_call.after"});
  for (const auto& point : points) {
    if (point.starts_with("find_parsed")) continue;    // Of imported jobs.
    if (point.starts_with("take_capacity")) continue;  // Of calls that cost nothing.
    ids[point] = ingest(made_markdown(fmt::format("Mill {}", ids.size()), 4), "report.md");
    kill_at(point + "=kill");
  }
  EXPECT_GE(ids.size(), 20U);
  heal();
  for (const auto& [point, id] : ids) {
    ASSERT_EQ(ended(id), "completed") << point << ": " << to_json(document(id));
    expect_published(id, point);
  }
  // A death between an answer and its commit costs that batch of four, and nothing else is paid for
  // again. Other documents may be under way where it strikes, and one may be struck several times.
  const auto lost = count("select count(*) from millrace.provider_call where state <> 'answered'");
  EXPECT_GT(lost, 0);
  EXPECT_LE(figure("texts_paid") - figure("texts"), 4 * lost);
  expect_sound_money();
  expect_sound();
}

// B-20, B-24: between the batch that put the chunks in place and the switch. Until then all of it
// is told to be in the buffers, by the document and by the job.
TEST_F(KilledIngest, v24_ADeathBeforeTheSwitchShowsNothingAndLosesNothing) {
  worker_.reset();
  const auto id = ingest(made_markdown("Switched Mill", 6));
  kill_at("place_chunks.before=kill");
  const auto progress = document(id).at("progress").as_object();
  const auto total = progress.at("chunks_total").to_number<int>();
  EXPECT_GE(total, 6);
  EXPECT_EQ(progress.at("chunks_in_buffer"), total);
  EXPECT_EQ(progress.at("vectors_in_buffer"), total);
  kill_at("place_chunks.before=kill@2");
  EXPECT_EQ(count("select count(*) from millrace.document_chunks where document_id = $1::uuid",
                  pg::params(id)),
            total);
  EXPECT_EQ(value("select count(*) from millrace.list_chunks($1::uuid)", pg::params(id)), "0");
  EXPECT_EQ(document(id).at("progress").at("chunks_in_buffer"), 0);
  heal();
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  expect_published(id);
  expect_sound_money();
}

// The settlement of each stage, at each of its three points.
TEST_F(KilledIngest, v24_ADeathAtTheSettlementOfAnyStageCostsNothing) {
  worker_.reset();
  for (const auto* point : {"settle_with.before", "settle_with.after_send", "settle_with.after"}) {
    for (int stage = 1; stage <= 6; ++stage) {
      const auto id =
          ingest(made_markdown(fmt::format("Stage {} {}", stage, point), 3), "report.md");
      kill_at(fmt::format("{}=kill@{}", point, stage));
      heal();
      ASSERT_EQ(ended(id), "completed") << point << " " << stage << ": " << to_json(document(id));
      expect_published(id, fmt::format("{} {}", point, stage));
      worker_.reset();
    }
  }
  // Vectors were stored before their stage was settled.
  EXPECT_EQ(figure("times_max"), 1);
  expect_sound_money();
  expect_sound();
}

// F08, G03: of many batches a death costs the one whose answer was on its way, and no other.
TEST_F(KilledIngest, f08_ADeathBehindAnAnswerCostsThatBatchAlone) {
  worker_.reset();
  const auto id = ingest(made_markdown("Costly Mill", 16));
  kill_at("embed.answered=kill@3");
  const auto lost = figure("texts_paid");
  EXPECT_EQ(lost, 12);
  EXPECT_EQ(
      count("select count(*) from millrace.document_vector_buffer where document_id = $1::uuid",
            pg::params(id)),
      8);
  heal();
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  expect_published(id);
  const auto chunks = count(
      "select count(*) from millrace.document_chunks where document_id = $1::uuid", pg::params(id));
  EXPECT_EQ(figure("texts_paid"), chunks + 4);
  EXPECT_EQ(figure("times_max"), 2);
  EXPECT_EQ(value("select string_agg(state || ' ' || n, ', ' order by state) from (select state, "
                  "count(*) as n from "
                  "millrace.provider_call c join millrace.job_fact j using (job_id) where "
                  "j.payload ->> 'shell_file_id' = $1 "
                  "group by state) s",
                  pg::params(id)),
            fmt::format("answered {}, sent 1", (chunks + 3) / 4));
  expect_sound_money();
}

// G12: an answer that does not fit is refused as a whole, and asked for again.
TEST_F(KilledIngest, g12_AnswersThatDoNotFitAreRefusedAndAskedForAgain) {
  stand_in_->ask("POST", "/control/script", R"({"steps": [
    {"do": "short_answer", "service": "embeddings"}, {"do": "wrong_dimension", "service": "embeddings"},
    {"do": "not_a_number", "service": "embeddings"}, {"do": "duplicate_index", "service": "embeddings"},
    {"do": "wrong_index", "service": "embeddings"}]})");
  const auto id = ingest(made_markdown("Broken Mill", 3));
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  expect_published(id);
  EXPECT_EQ(stand_in_->ask("GET", "/control/state").at("script_left"), 0);
}

// L-04: tokens of an answer that cannot be used are settled with its call, and not with the job as
// well.
TEST_F(KilledIngest, l04_TheTokensOfARefusedAnswerCountOnce) {
  const auto counted = [&] {
    return count(
        "select coalesce(sum(b.tokens), 0) from millrace.provider_bucket b join "
        "millrace.api_rate_limits a using (provider_id) where b.time_window = 'hour' and "
        "a.api_endpoint = 'stand-in-embed'");
  };
  const auto before = counted();
  stand_in_->ask("POST", "/control/script",
                 R"({"steps": [{"do": "wrong_dimension", "service": "embeddings", "times": 2}]})");
  const auto id = ingest(made_markdown("Refused Mill", 3));
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  const auto took = count(
      "select sum(c.input_tokens) from millrace.provider_call c join millrace.job_fact j using "
      "(job_id) where j.payload ->> 'shell_file_id' = $1",
      pg::params(id));
  EXPECT_EQ(count("select count(*) from millrace.provider_call c join millrace.job_fact j using "
                  "(job_id) where j.payload ->> 'shell_file_id' = $1 and c.state = 'failed'",
                  pg::params(id)),
            2);
  // And the one that the claim of the last delivery took.
  EXPECT_EQ(counted() - before, took + 1);
  expect_sound_money();
}

// A service that takes less than it says: the batch is cut until it fits, at no cost and without
// using up an attempt.
TEST_F(KilledIngest, b16_ABatchThatTheServiceFindsTooLargeIsCutInHalves) {
  // Two of our texts of 60 to 128 tokens, not four; and once a gateway that counts bytes.
  stand_in_->ask("POST", "/control/settings", R"({"embed": {"request_tokens": 256}})");
  stand_in_->ask("POST", "/control/script",
                 R"({"steps": [{"do": "custom", "status": 413, "service": "embeddings"}]})");
  const auto id = ingest(made_markdown("Large Mill", 12));
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  expect_published(id);
  const auto chunks = count(
      "select count(*) from millrace.document_chunks where document_id = $1::uuid", pg::params(id));
  EXPECT_GT(chunks, 8);
  EXPECT_EQ(figure("texts_paid"), chunks);
  EXPECT_EQ(figure("times_max"), 1);
  EXPECT_LE(figure("calls"), chunks);
  EXPECT_EQ(value("select concat_ws(' ', bool_and(c.error = 'too_large'), sum(c.cost_micros), "
                  "count(*) > 0) from millrace.provider_call c join millrace.job_fact j using "
                  "(job_id) where j.payload ->> 'shell_file_id' = $1 and c.state = 'failed'",
                  pg::params(id)),
            "t 0 t");
  EXPECT_EQ(value("select count(*) from millrace.attempt a join millrace.job_fact j using (job_id) "
                  "where j.payload ->> 'shell_file_id' = $1 and a.outcome <> 'ok'",
                  pg::params(id)),
            "0");
  expect_sound_money();
}

// One text that the service does not take ends the document, by its name; what was answered before
// it is stored, and is not paid for again when the service has been given more room.
TEST_F(KilledIngest, b26_ATextThatIsTooLongForTheServiceIsNamed) {
  stand_in_->ask("POST", "/control/settings", R"({"embed": {"input_tokens": 105}})");
  auto text = made_markdown("Narrow Mill", 5);
  text += "## The long one\n\n";
  for (int i = 0; i < 48; ++i) text += fmt::format("paddle {:02} ", i);
  text += "\n\n" + made_markdown("Wide Mill", 3);
  const auto id = ingest(text);
  ASSERT_EQ(ended(id), "failed") << to_json(document(id));
  EXPECT_EQ(upload_job(id, "status"), "failed_embedding");
  const auto named = value(
      "select format('chunk %s (%s)', b.chunk_ord, b.chunk_id) from "
      "millrace.document_chunk_buffer b where b.document_id = $1::uuid order by "
      "octet_length(b.text) desc limit 1",
      pg::params(id));
  EXPECT_THAT(upload_job(id, "last_error"), testing::HasSubstr(named));
  EXPECT_THAT(upload_job(id, "last_error"), testing::HasSubstr("too_large"));
  const auto stored =
      count("select count(*) from millrace.document_vector_buffer where document_id = $1::uuid",
            pg::params(id));
  EXPECT_GT(stored, 2);
  EXPECT_EQ(figure("texts_paid"), stored);
  expect_sound_money();

  stand_in_->ask("POST", "/control/settings", R"({"embed": {}})");
  ASSERT_EQ(api().post("/api/v1/documents/" + id + "/retry", who_.token, "").status / 100, 2);
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  expect_published(id);
  EXPECT_EQ(figure("times_max"), 1);
  expect_sound_money();
}

}  // namespace
}  // namespace millrace::test
