// Documents through the real programs: the server takes them, a worker and its children read them,
// on a real PostgreSQL and a folder of blobs. States as their truth says, outputs that agree with
// their manifest, pages that fail alone, pages that are not read twice, deaths, and a provider that
// misbehaves.
#include "integration/documents_world.h"

namespace millrace::test {
namespace {

using testing::HasSubstr;

// One of each kind, and the hostile ones that the scan must refuse.
TEST_F(Documents, SamplesEndAsTheirTruthSays) {
  const TempFolder folder;
  const auto made = run_command({MILLRACE_SAMPLES, "demo", "--out", folder.path().string()});
  ASSERT_EQ(made.code, 0) << made.err;
  const auto truth = must(parse_json_object(must(read_file(folder.path() / "truth.json")),
                                            {.max_bytes = 16 * 1024 * 1024, .max_depth = 32}));
  const std::set<std::string> chosen = {"born_02_lab_report.pdf", "clean_04_medication_list.tif",
                                        "docx_01_letter.docx",    "text_01_letter.txt",
                                        "hostile_script.pdf",     "hostile_truncated.pdf",
                                        "hostile_locked.pdf",     "hostile_bomb.pdf",
                                        "hostile_giant.png",      "hostile_macro.docm"};
  std::map<std::string, std::pair<std::string, std::string>> files;  // id, expected
  for (const auto& one : truth.at("files").as_array()) {
    const std::string name(one.at("file").as_string());
    if (!chosen.contains(name)) continue;
    files[name] = {upload(must(read_file(folder.path() / name)), name),
                   std::string(one.at("expected_state").as_string())};
  }
  ASSERT_EQ(files.size(), chosen.size());
  for (const auto& [name, file] : files) {
    const auto& [id, expected] = file;
    EXPECT_EQ(ended(id), expected) << name << ": " << to_json(document(id));
    if (expected == "completed") expect_manifest(id);
    if (expected == "rejected")
      EXPECT_FALSE(document(id).at("findings").as_array().empty()) << name;
  }
  EXPECT_THAT(output(files["text_01_letter.txt"].first, "text"), HasSubstr("--- page 1 of "));
  expect_sound();
}

TEST_F(Documents, AnOrdinaryLetterBecomesTextFactsAndANarrative) {
  const auto id =
      upload(made_pdf({letter("Ada Ormerod", "Metformin"), letter("Ada Ormerod", "Aspirin")}));
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  EXPECT_THAT(output(id, "text"),
              testing::AllOf(HasSubstr("Metformin 500 mg"), HasSubstr("Aspirin 500 mg")));
  EXPECT_THAT(output(id, "facts"), HasSubstr("Metformin"));
  EXPECT_EQ(document(id).at("page_count"), 2);
  expect_manifest(id);
  // And a picture, made when it is asked for.
  ASSERT_EQ(
      api().post(fmt::format("/api/v1/documents/{}/pages/1/image", id), who_.token, "").status /
          100,
      2);
  std::string picture;
  EXPECT_TRUE(eventually([&] {
    const auto answered =
        api().get(fmt::format("/api/v1/documents/{}/outputs/image?page=1", id), who_.token);
    picture = answered.body;
    return answered.status == 200;
  }));
  EXPECT_THAT(picture, testing::StartsWith("\x89PNG"));
}

// A date is evidence of every result beside it: the doubtful one stays doubtful in what is handed
// out, as it is in the table.
TEST_F(Documents, WhatIsForReviewInTheTableIsForReviewInEveryOutput) {
  const auto id = upload(made_pdf(
      {{"Laboratory results",
        "12 March 2024: Haemoglobin 14.2 g/dL (12.0 - 16.0), Potassium 45 mmol/L (3.5 - 5.1)"}}));
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  const auto rows = value(
      "select string_agg(name || ' ' || route, ', ' order by name) from millrace.clinical_fact "
      "where file_id = $1::uuid and type = 'Observation'",
      pg::params(id));
  EXPECT_EQ(rows, "Haemoglobin accepted, Potassium review");
  std::map<std::string, std::string> routes;
  const auto facts = must(parse_json_object(output(id, "facts"), {.max_bytes = 1 << 20}));
  for (const auto& fact : facts.at("facts").as_array()) {
    if (fact.at("type").as_string() != "Observation") continue;
    routes.emplace(fact.at("value").at("name").as_string(), fact.at("route").as_string());
  }
  EXPECT_EQ(routes, (std::map<std::string, std::string>{{"Haemoglobin", "accept"},
                                                        {"Potassium", "review"}}));
  EXPECT_THAT(output(id, "fhir"), HasSubstr(R"({"url":"route","valueCode":"review"})"));
  EXPECT_EQ(value("select count(*) from millrace.clinical_fact where file_id = $1::uuid and route "
                  "= 'review'",
                  pg::params(id)),
            value("select summary ->> 'facts_to_review' from millrace.document where file_id = "
                  "$1::uuid",
                  pg::params(id)));
}

// A page fails alone; released and retried, the document is whole.
TEST_F(Documents, APageInQuarantineFailsAloneAndIsReadOnceItIsReleased) {
  const auto bad = letter("Bad Page", "Warfarin");
  const auto first = upload(made_pdf({bad}));
  ASSERT_EQ(ended(first), "completed");
  const auto hash =
      value("select encode(content_sha256, 'hex') from millrace.page where file_id = $1::uuid",
            pg::params(first));
  value(
      "insert into millrace.quarantine (tenant_id, sha256, what, stage, reason, quarantined_at) "
      "values ($1::uuid, "
      "decode($2, 'hex'), 'page', 'fast_queue_ocr', 'reader_crashed', now()) returning 1",
      pg::params(who_.tenant.to_string(), hash));
  const auto id = upload(made_pdf({letter("Good Page", "Metformin"), bad}));
  ASSERT_EQ(ended(id), "partial") << to_json(document(id));
  EXPECT_EQ(value("select failed_reason from millrace.page where file_id = $1::uuid and page = 2",
                  pg::params(id)),
            "quarantined");
  const auto text = output(id, "text");
  EXPECT_THAT(text, HasSubstr("Metformin"));
  EXPECT_THAT(text, testing::Not(HasSubstr("Warfarin")));
  expect_manifest(id);

  const auto staff = api().credentials(identity::Role::operator_, who_.tenant);
  ASSERT_EQ(api().post("/api/v1/quarantine/" + hash + "/release", staff, "").status, 200);
  ASSERT_EQ(api().post("/api/v1/documents/" + id + "/retry", who_.token, "").status / 100, 2);
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  EXPECT_THAT(output(id, "text"), HasSubstr("Warfarin"));
  EXPECT_EQ(pages(id, "fast_queue_ocr"), "1 done, 2 reused");
  expect_manifest(id);
  expect_sound();
}

// F07: of a document that was changed in one page, one page is read.
TEST_F(Documents, AChangedDocumentHasOnlyItsChangedPageReadAgain) {
  const auto first = upload(
      made_pdf({letter("One", "Metformin"), letter("Two", "Aspirin"), letter("Three", "Insulin")}));
  ASSERT_EQ(ended(first), "completed");
  EXPECT_EQ(pages(first, "fast_queue_ocr"), "1 done, 2 done, 3 done");
  const auto second = upload(made_pdf(
      {letter("One", "Metformin"), letter("Two", "Ibuprofen"), letter("Three", "Insulin")}));
  ASSERT_EQ(ended(second), "completed");
  EXPECT_EQ(pages(second, "fast_queue_ocr"), "1 reused, 2 done, 3 reused");
  const auto text = output(second, "text");
  EXPECT_THAT(text, testing::AllOf(HasSubstr("Metformin"), HasSubstr("Ibuprofen"),
                                   HasSubstr("Insulin"), testing::Not(HasSubstr("Aspirin"))));
  // Another tenant shares nothing.
  who_ = world().person();
  const auto elsewhere = upload(made_pdf({letter("One", "Metformin")}));
  ASSERT_EQ(ended(elsewhere), "completed");
  EXPECT_EQ(pages(elsewhere, "fast_queue_ocr"), "1 done");
}

TEST_F(Documents, PagesThatBringTheirTextShareJobsAndTheFileIsThePdf) {
  std::vector<PdfPage> many;
  for (int i = 0; i < 20; ++i) many.push_back(letter(fmt::format("Grouped {}", i), "Ibuprofen"));
  many.push_back({"Brief."});  // Too little to be sure of: by itself.
  const auto pdf = made_pdf(many);
  const auto id = upload(pdf);
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  const auto jobs = [&](std::string_view stage) {
    return value(
        "select count(distinct r.job_id) || ' for ' || count(*) from millrace.page_result r where "
        "r.file_id = $1::uuid and r.stage = $2",
        pg::params(id, stage));
  };
  EXPECT_EQ(jobs("fast_queue_ocr"), "5 for 21");
  EXPECT_EQ(jobs("ai_queue_pass1"), "4 for 21");
  EXPECT_EQ(jobs("ai_queue_pass2"), "4 for 21");
  EXPECT_EQ(output(id, "pdf"), pdf);
  // Each page has its own words, out of what the group stored together.
  const auto text = output(id, "text");
  for (int i = 0; i < 20; ++i) EXPECT_THAT(text, HasSubstr(fmt::format("Grouped {}", i)));
  EXPECT_THAT(text, HasSubstr("Brief."));
  expect_manifest(id);
  expect_sound();
}

TEST_F(Documents, AFileThatIsDeletedWhileItIsReadLeavesNothingBehind) {
  std::vector<PdfPage> many;
  for (int i = 0; i < 12; ++i) many.push_back(letter(fmt::format("Page {}", i), "Metformin"));
  const auto id = upload(made_pdf(many));
  eventually([&] { return state(id) == "processing"; });
  const Ask gone{.method = "DELETE", .path = "/api/v1/files/" + id, .token = who_.token};
  EXPECT_EQ(api().ask(gone).status / 100, 2);
  EXPECT_TRUE(eventually([&] {
    return value(
               "select count(*) from millrace.job_place p join millrace.job_fact f using (job_id) "
               "where p.place <> "
               "'history' and f.payload ->> 'shell_file_id' = $1",
               pg::params(id)) == "0";
  }));
  EXPECT_EQ(
      value("select count(*) from millrace.document where file_id = $1::uuid", pg::params(id)),
      "0");
  expect_sound();
}

// D06: whoever is killed from outside is not to blame.
TEST_F(Documents, ReadersThatAreKilledAreNoFaultOfTheDocument) {
  std::vector<PdfPage> many;
  for (int i = 0; i < 10; ++i) many.push_back(letter(fmt::format("Killed {}", i), "Metformin"));
  const auto id = upload(made_pdf(many));
  int kills = 0;
  EXPECT_TRUE(eventually([&] {
    // The warm process and whatever it has started, a few times.
    if (kills < 3 && state(id) == "processing") {
      for (const auto pid : worker_->readers()) ::kill(pid, SIGKILL);
      ++kills;
    }
    return state(id) != "uploaded" && state(id) != "processing";
  }));
  EXPECT_EQ(state(id), "completed") << to_json(document(id));
  EXPECT_EQ(
      value("select count(*) from millrace.quarantine where file_id = $1::uuid", pg::params(id)),
      "0");
  expect_sound();
}

TEST_F(Documents, AWorkerThatIsKilledCostsNoPageThatWasDone) {
  std::vector<PdfPage> many;
  for (int i = 0; i < 12; ++i) many.push_back(letter(fmt::format("Worker {}", i), "Aspirin"));
  const auto id = upload(made_pdf(many));
  EXPECT_TRUE(eventually([&] {
    return value(
               "select count(*) > 2 from millrace.page_result where file_id = $1::uuid and page > "
               "0",
               pg::params(id)) == "t";
  }));
  worker_->kill();
  const auto done = value(
      "select string_agg(job_id::text, ' ' order by page, stage) from millrace.page_result where "
      "file_id = $1::uuid and page > 0 and stage = 'fast_queue_ocr'",
      pg::params(id));
  worker_ = std::make_unique<DocumentWorker>(world());
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  // What was written then was not written again.
  EXPECT_EQ(value("select count(*) from millrace.page_result where file_id = $1::uuid and stage = "
                  "'fast_queue_ocr' and "
                  "job_id::text = any (string_to_array($2, ' '))",
                  pg::params(id, done)),
            std::to_string(std::ranges::count(done, ' ') + 1));
  EXPECT_EQ(
      value("select count(*) from millrace.page where file_id = $1::uuid and state = 'completed'",
            pg::params(id)),
      "12");
  expect_manifest(id);
  expect_sound();
}

// --- A provider ---

// L, E, F08: throttled, overloaded, cut, stalled and garbled: all end right, throttling costs no
// attempt, and what may have been charged is on record. (What comes whole and cannot be used:
// documents_paid_pg_test.)
TEST_F(PaidDocuments, AProviderThatMisbehavesCostsTimeAndNoPage) {
  stand_in_->ask("POST", "/control/script", R"({"steps": [
      {"do": "throttle", "retry_after": "1", "times": 2}, {"do": "overloaded"}, {"do": "cut"}, {"do": "reset_before"},
      {"do": "server_error"}, {"do": "stall"}, {"do": "throttle_bare"}, {"do": "wrong_json"}, {"do": "gateway"}]})");
  std::vector<std::string> ids;
  for (int i = 0; i < 4; ++i) {
    ids.push_back(upload(made_pdf({letter(fmt::format("Paid {}", i), "Metformin"),
                                   letter(fmt::format("Second {}", i), "Aspirin")}),
                         "letter.pdf", "paid"));
  }
  for (const auto& id : ids) {
    EXPECT_EQ(ended(id), "completed") << to_json(document(id));
    expect_manifest(id);
  }
  expect_within_limits();
  EXPECT_EQ(value("select count(*) from millrace.attempt where charged and outcome in "
                  "('throttled', 'blocked')"),
            "0");
  EXPECT_EQ(value("select count(*) from millrace.provider_call where state = 'sent'"), "0");
  // A cut answer and a stall may have been paid for.
  EXPECT_GE(std::stoi(value("select count(*) from millrace.provider_call where state = 'unknown'")),
            2);
  EXPECT_EQ(
      value(
          "select s.spent_micros = (select sum(cost_micros) from millrace.provider_call) and "
          "s.reserved_micros = "
          "(select sum(reserved_micros) from millrace.provider_call where state = 'unknown') from "
          "millrace.provider_spend s"),
      "t");
  expect_sound();
}

TEST_F(PaidDocuments, WhatAModelInventsLeavesATraceAndNoFact) {
  stand_in_->ask("POST", "/control/script", R"({"steps": [{"do": "invented"}]})");
  const auto id = upload(made_pdf({letter("Ada", "Metformin")}), "letter.pdf", "paid");
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  EXPECT_EQ(value("select string_agg(r.meta -> 'findings' ->> 'evidence_not_found', ',') from "
                  "millrace.page_result r where r.file_id = $1::uuid and r.page = 1",
                  pg::params(id)),
            "1");
  EXPECT_EQ(value("select count(*) from millrace.clinical_fact where file_id = $1::uuid and name "
                  "ilike '%invented%'",
                  pg::params(id)),
            "0");
}

// A used-up budget parks the tenant's documents, and nobody else's.
TEST_F(PaidDocuments, AUsedUpBudgetStopsOneTenantOnly) {
  const auto poor = who_;
  const auto staff = api().credentials(identity::Role::operator_, poor.tenant);
  const auto set = api().ask({.method = "PUT",
                              .path = "/api/v1/budgets/openai",
                              .token = staff,
                              .body = R"({"per_day": "0.000001"})"});
  ASSERT_EQ(set.status / 100, 2) << set.body;
  const auto parked = upload(made_pdf({letter("Poor", "Metformin")}), "letter.pdf", "paid");
  EXPECT_TRUE(eventually([&] {
    return value(
               "select count(*) from millrace.attempt where tenant_id = $1::uuid and outcome = "
               "'blocked'",
               pg::params(poor.tenant.to_string())) != "0";
  }));
  who_ = world().person();
  const auto paid = upload(made_pdf({letter("Rich", "Metformin")}), "letter.pdf", "paid");
  EXPECT_EQ(ended(paid), "completed") << to_json(document(paid));
  EXPECT_EQ(state(parked), "processing");
  EXPECT_EQ(value("select count(*) from millrace.provider_call where tenant_id = $1::uuid",
                  pg::params(poor.tenant.to_string())),
            "0");
}

}  // namespace
}  // namespace millrace::test
