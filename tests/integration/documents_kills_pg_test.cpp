// Kills exactly at the fault points of the document store (F06, F08, T1): a worker dies there once,
// another one takes over, and the document ends as if nothing had been: every page once, every fact
// once, and of every call that may have cost money one intent, at most one answer, and the money;
// of every question at most one answer, whoever died after it.
#include "integration/documents_world.h"

#include <fstream>
#include <sstream>

namespace millrace::test {
namespace {

using testing::HasSubstr;

// All points of src/store/document_store.cpp, from the list that tools/fault_points keeps.
std::vector<std::string> document_points() {
  std::vector<std::string> points;
  std::ifstream list(MILLRACE_FAULT_POINTS);
  for (std::string line; std::getline(list, line);) {
    std::istringstream words(line);
    std::string kind;
    std::string name;
    std::string file;
    words >> kind >> name >> file;
    if (kind == "point" && file == "src/store/document_store.cpp") points.push_back(name);
  }
  return points;
}

class KilledDocuments : public PaidDocuments {
 protected:
  void SetUp() override {
    PaidDocuments::SetUp();
    worker_.reset();  // Each test says who works when.
  }

  // A worker comes to the point and dies there.
  void kill_at(const std::string& point, int time = 1) {
    auto env = paid_env();
    env["MILLRACE_FAULT"] = fmt::format("{}=kill@{}", point, time);
    DocumentWorker victim(world(), env);
    EXPECT_TRUE(victim.dies()) << point << " was not reached";
  }
  void heal() { worker_ = std::make_unique<DocumentWorker>(world(), paid_env()); }

  std::int64_t requests() {
    return stand_in_->ask("GET", "/control/state").at("requests").to_number<std::int64_t>();
  }
  // "answered 3, sent 1"
  std::string calls(const std::string& id) {
    return value(
        "select string_agg(state || ' ' || n, ', ' order by state) from (select c.state, count(*) "
        "as n from millrace.provider_call c join millrace.job_fact j using (job_id) where "
        "j.payload ->> 'shell_file_id' = $1 group by c.state) s",
        pg::params(id));
  }
  std::string facts(const std::string& id) {
    return value(
        "select string_agg(concat_ws(' ', page, type, name), ', ' order by page, type, name) from "
        "millrace.clinical_fact where file_id = $1::uuid",
        pg::params(id));
  }

  void expect_whole(const std::string& id, int page_count, const std::string& what) {
    EXPECT_EQ(state(id), "completed") << what << ": " << to_json(document(id));
    std::string done;
    for (int page = 1; page <= page_count; ++page) {
      done += fmt::format("{}{} done", done.empty() ? "" : ", ", page);
    }
    for (const auto* stage : {"paid_read", "paid_pass1", "paid_pass2"}) {
      EXPECT_EQ(pages(id, stage), done) << what << ", " << stage;
    }
    expect_manifest(id);
  }

  // Of a page and a stage there is one job, and it was settled once.
  void expect_nothing_twice() {
    EXPECT_EQ(value("select count(*) from (select from millrace.job_fact j where j.payload ? "
                    "'page' group by j.payload ->> 'shell_file_id', j.stage, j.payload ->> 'page' "
                    "having count(*) > 1) twice"),
              "0");
    EXPECT_EQ(value("select count(*) from (select from millrace.attempt a where a.outcome = 'ok' "
                    "group by a.job_id having count(*) > 1) twice"),
              "0");
    EXPECT_EQ(value("select count(*) from (select from millrace.clinical_fact c group by "
                    "c.file_id, c.page, c.fact_id having count(*) > 1) twice"),
              "0");
  }

  // Every answer is on record once; what has no end is of a delivery that was lost, and its money
  // stays reserved.
  void expect_sound_money() {
    EXPECT_EQ(value("select count(*) - count(distinct (tenant_id, response_id)) from "
                    "millrace.provider_call "
                    "where state = 'answered'"),
              "0");
    EXPECT_EQ(value("select count(*) from millrace.provider_call where response_id = '' and state "
                    "= 'answered'"),
              "0");
    EXPECT_EQ(value("select count(*) from (select from millrace.provider_call where state = "
                    "'answered' group by job_id, request_sha256 having count(*) > 1) twice"),
              "0");
    EXPECT_EQ(value("select count(*) from millrace.paid_answer"), "0");
    EXPECT_EQ(
        value("select count(*) from millrace.provider_call c where c.state = 'sent' and not exists "
              "(select from millrace.attempt a where a.job_id = c.job_id and a.delivery_count = "
              "c.delivery_count and a.outcome = 'lost')"),
        "0");
    EXPECT_EQ(value("select bool_and(s.spent_micros = (select coalesce(sum(c.cost_micros), 0) from "
                    "millrace.provider_call c where c.tenant_id = s.tenant_id) and "
                    "s.reserved_micros = (select coalesce(sum(c.reserved_micros), 0) from "
                    "millrace.provider_call c where c.tenant_id = s.tenant_id and c.state in "
                    "('sent', 'unknown'))) from millrace.provider_spend s"),
              "t");
    expect_within_limits();
  }
};

struct PaidPoint {
  std::string point;
  std::string on_record;  // Of the call at whose point it died, when it had died.
  int sent;               // Requests that had reached the provider.
  int lost;               // Those of them that have to be made again.
  bool refused = false;   // By the provider: then there is no answer to keep.
};

// F08. One page, so that there is one call at a time, and what the death left can be counted.
TEST_F(KilledDocuments, f08_ADeathAroundAPaidCallIsPaidForAsItIsOnRecord) {
  heal();
  const auto undisturbed =
      upload(made_pdf({letter("Undisturbed", "Metformin")}), "letter.pdf", "paid");
  ASSERT_EQ(ended(undisturbed), "completed") << to_json(document(undisturbed));
  const auto usual = requests();
  EXPECT_EQ(calls(undisturbed), fmt::format("answered {}", usual));
  const auto usual_facts = facts(undisturbed);

  const std::vector<PaidPoint> points = {{"begin_call.before", "(null)", 0, 0},
                                         {"begin_call.after_send", "sent 1", 0, 0},
                                         {"begin_call.after", "sent 1", 0, 0},
                                         {"pass.answered", "sent 1", 1, 1},
                                         {"keep_answer.before", "sent 1", 1, 1},
                                         {"keep_answer.after_send", "answered 1", 1, 0},
                                         {"keep_answer.after", "answered 1", 1, 0},
                                         {"end_call.before", "sent 1", 1, 1, true},
                                         {"end_call.after_send", "failed 1", 1, 1, true},
                                         {"end_call.after", "failed 1", 1, 1, true}};
  int number = 0;
  for (const auto& [point, on_record, sent, lost, refused] : points) {
    worker_.reset();
    const auto before = requests();
    if (refused)
      stand_in_->ask("POST", "/control/script", R"({"steps": [{"do": "server_error"}]})");
    const auto id = upload(made_pdf({letter(fmt::format("Patient {}", ++number), "Metformin")}),
                           "letter.pdf", "paid");
    kill_at(point);
    EXPECT_EQ(requests() - before, sent) << point;
    // What was sent before the death the server still does.
    EXPECT_TRUE(eventually([&] { return calls(id) == on_record; })) << point << ": " << calls(id);

    heal();
    ASSERT_EQ(ended(id), "completed") << point << ": " << to_json(document(id));
    expect_whole(id, 1, point);
    EXPECT_EQ(facts(id), usual_facts) << point;
    // One call more for the one that was lost; none for an answer that was on record.
    EXPECT_EQ(requests() - before, usual + lost) << point;
    const bool open = on_record == "sent 1" || on_record == "failed 1";
    EXPECT_EQ(calls(id), fmt::format("answered {}{}", usual, open ? ", " + on_record : ""))
        << point;
  }
  expect_nothing_twice();
  expect_sound_money();
  expect_sound();
}

// The connection is cut when a call has just been begun, and nobody knows: it is said again, and is
// one call, on the account and at the limits.
TEST_F(KilledDocuments, f08_ACallWhoseBeginningWasInDoubtIsOneCall) {
  const auto counted = [&] {
    return std::stoll(
        value("select coalesce(sum(b.requests), 0) from millrace.provider_bucket b join "
              "millrace.api_rate_limits a using (provider_id) where b.time_window = 'hour' and "
              "a.provider_name = 'openai'"));
  };
  std::int64_t usual = 0;  // At the limits, for a document whose calls are begun at once.
  for (const std::string point : {"", "begin_call.after_send", "begin_call.after"}) {
    const auto before = counted();
    const auto asked = requests();
    auto env = paid_env();
    if (!point.empty()) env["MILLRACE_FAULT"] = point + "=drop";
    worker_ = std::make_unique<DocumentWorker>(world(), env);
    const auto id = upload(made_pdf({letter("Doubt " + point, "Metformin")}), "letter.pdf", "paid");
    ASSERT_EQ(ended(id), "completed") << point << ": " << to_json(document(id));
    expect_whole(id, 1, point);
    EXPECT_EQ(calls(id), fmt::format("answered {}", requests() - asked)) << point;
    if (point.empty()) usual = counted() - before;
    EXPECT_EQ(counted() - before, usual) << point;
    worker_.reset();
  }
  expect_nothing_twice();
  expect_sound_money();
  expect_sound();
}

// A page of several questions: whoever dies between them, or before the last answer is on record,
// has lost that one at most.
TEST_F(KilledDocuments, f08_ADeathAmongTheQuestionsOfAPageLosesOneAnswerAtMost) {
  value(
      "select millrace.set_limit('openai', 'stand-in', '{\"tokens_per_minute\": -1, "
      "\"tokens_per_hour\": -1}')");
  heal();
  const auto undisturbed = upload(made_long_pdf("Undisturbed"), "long.pdf", "paid");
  ASSERT_EQ(ended(undisturbed), "completed") << to_json(document(undisturbed));
  const auto usual_facts = facts(undisturbed);
  for (const auto& [point, time, lost] :
       {std::tuple("keep_answer.before", 3, 1), std::tuple("keep_answer.after", 2, 0),
        std::tuple("begin_call.before", 3, 0)}) {
    worker_.reset();
    const auto before = requests();
    const auto id = upload(made_long_pdf(point), "long.pdf", "paid");
    kill_at(point, time);
    heal();
    ASSERT_EQ(ended(id), "completed") << point << ": " << to_json(document(id));
    const auto questions = std::stoi(
        value("select count(distinct request_sha256) from millrace.provider_call c join "
              "millrace.job_fact j using (job_id) where j.payload ->> 'shell_file_id' = $1",
              pg::params(id)));
    EXPECT_GE(questions, 3 + 2) << "the page is too short for this test";
    EXPECT_EQ(requests() - before, questions + lost) << point;
    EXPECT_EQ(facts(id), usual_facts) << point;
  }
  expect_nothing_twice();
  expect_sound_money();
  expect_sound();
}

// All other points, one death after the other; whoever comes next finds what is left of all before.
TEST_F(KilledDocuments, f06_ADeathAtAnyOtherPointCostsNoPage) {
  std::map<std::string, std::string> ids;  // By point.
  for (const auto& point : document_points()) {
    const auto is_of = [&point](std::string_view call) { return point.starts_with(call); };
    if (is_of("begin_call") || is_of("end_call") || is_of("keep_answer")) continue;
    const auto name = fmt::format("Point {}", ids.size());
    ids[point] = upload(made_pdf({letter(name, "Metformin"), letter(name, "Aspirin")}),
                        "letter.pdf", "paid");
    kill_at(point);
  }
  EXPECT_GE(ids.size(), 15U);
  heal();
  for (const auto& [point, id] : ids) {
    ASSERT_EQ(ended(id), "completed") << point << ": " << to_json(document(id));
    expect_whole(id, 2, point);
    EXPECT_THAT(output(id, "text"), testing::AllOf(HasSubstr("Metformin"), HasSubstr("Aspirin")));
  }
  EXPECT_EQ(value("select count(*) from millrace.quarantine"), "0");
  expect_nothing_twice();
  expect_sound_money();
  expect_sound();
}

TEST(DocumentPoints, HaveTheCallsThatAreKilledHere) {
  const auto points = document_points();
  for (const auto* call :
       {"begin_call", "end_call", "keep_answer", "kept_answers", "begin_document", "document_work",
        "page_results", "pages_of", "pipeline_definition"}) {
    for (const auto* where : {".before", ".after_send", ".after"}) {
      EXPECT_THAT(points, testing::Contains(std::string(call) + where));
    }
  }
}

}  // namespace
}  // namespace millrace::test
