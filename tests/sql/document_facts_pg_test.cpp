// What documents say: facts and outputs, whose they are, who sees them, what is taken over from
// equal pages, and that every write of them is audited with the patient (A-05).
#include "sql/document_world.h"

namespace millrace::test {
namespace {

std::string fact(std::string_view id, std::string_view name) {
  return fmt::format(
      R"({{"fact_id": "{}", "type": "medication", "name": "{}", "subject": "patient", "polarity": "affirmed",
          "certainty": "certain", "temporality": "current", "value": {{"dose": "500 mg"}},
          "evidence": [{{"text": "{}"}}], "conf": 0.9, "route": "accepted"}})",
      id, name, name);
}

class Facts : public DocumentTest {
 protected:
  // "1 f1 Metformin, 2 f1 Aspirin"
  std::string facts(const std::string& file) {
    return sql.value(
        "select coalesce(string_agg(concat_ws(' ', page, fact_id, name), ', ' order by page, "
        "fact_id), '') from millrace.clinical_fact where file_id = $1::uuid",
        pg::params(file));
  }
  std::string patient(const std::string& file) {
    return sql.value("select patient_id from millrace.shell_files where id = $1::uuid",
                     pg::params(file));
  }
  // A document of one page that says this of its patient, ended.
  std::string told(std::string_view page, std::string_view name, const FileOwner& owner = {}) {
    const auto file = scanned({std::string(page)}, kOcrPlan, owner);
    const auto job = worker.claim(1, {.queue = "fast_queue", .types = "{fast_queue_ocr}"});
    if (!job.empty()) {
      expect_settled(settle_page(job[0], fmt::format("words of {}", page),
                                 fmt::format("[{}]", fact("f1", name))));
    }
    keep(sql);
    end();
    return file;
  }
  // Tables with clinical content and rows of them that no audit row speaks of, by job and patient.
  std::string unaudited() {
    return sql.value(R"(
      select coalesce(string_agg(w.what, ', '), '') from (
        select format('result %s/%s', r.page, r.stage) as what from millrace.page_result r join millrace.shell_files f on f.id = r.file_id
         where not exists (select from millrace.audit a where a.patient_id = f.patient_id and a.tenant_id = r.tenant_id
                              and (a.record_id in (r.file_id || '/' || r.page || '/' || r.stage, r.file_id || '/' || r.stage)
                                   or (r.page = 0 and a.record_id = r.file_id::text and a.action like 'document_%')))
        union all
        select format('fact %s', c.fact_id) from millrace.clinical_fact c
         where not exists (select from millrace.audit a where a.patient_id = c.patient_id and a.record_id like c.file_id || '/' || c.page || '/%')
        union all
        select format('output %s', o.kind) from millrace.document_output o join millrace.shell_files f on f.id = o.file_id
         where not exists (select from millrace.audit a where a.patient_id = f.patient_id and a.job_ids @> array[o.job_id]
                              and a.action in ('stage_written', 'output_written'))) w)");
  }
  std::string output(std::string_view kind, std::string_view content) {
    return fmt::format(R"({{"kind": "{}", "file_name": "{}.txt", "blob": {}}})", kind, kind,
                       stored(sql, content));
  }
};

TEST_F(Facts, APagesFactsReplaceThoseItHad) {
  const auto file = scanned({"one", "two"});
  const auto first = take(kOcr);
  const auto second = take(kOcr);
  expect_settled(settle_page(
      first, "a", fmt::format("[{}, {}]", fact("f1", "Metformin"), fact("f2", "Aspirin"))));
  expect_settled(settle_page(second, "b", fmt::format("[{}]", fact("f1", "Ibuprofen"))));
  EXPECT_EQ(facts(file), "1 f1 Metformin, 1 f2 Aspirin, 2 f1 Ibuprofen");
  keep(sql);
  end();
  ServerSession api{database};
  api.run("select millrace.retry_document($1::uuid)", pg::params(file));
  scan(file, {"changed", "two"});
  EXPECT_EQ(facts(file),
            "2 f1 Ibuprofen");  // What the page said is no word about what it shows now.
  expect_settled(settle_page(take(kOcr), "c", fmt::format("[{}]", fact("f1", "Insulin"))));
  EXPECT_EQ(facts(file), "1 f1 Insulin, 2 f1 Ibuprofen");
}

// A-05: with the right patient, and with the job (A-06).
TEST_F(Facts, a05_every_clinical_write_is_audited_with_the_patient) {
  const auto file = scanned({"one", "two"});
  expect_settled(settle_page(take(kOcr), "a", fmt::format("[{}]", fact("f1", "Metformin"))));
  expect_settled(settle_page(take(kOcr), "b", "[]"));
  keep(sql);
  const auto last = take(kOutputs);
  expect_settled(settle_stage(
      last, fmt::format(R"({{"closes": "fast_queue_ocr", "outputs": [{}, {}], "results": [
              {{"page": 0, "stage": "ai_queue_pass3", "reuse_key": "{}", "blob": {}}}]}})",
                        output("text", "all text"), output("facts", "all facts"), hash("k"),
                        stored(sql, "narrative"))));
  EXPECT_EQ(unaudited(), "");
  EXPECT_EQ(sql.number("select count(*) from millrace.audit where category = 'clinical' and "
                       "patient_id is distinct from $1::uuid",
                       pg::params(patient(file))),
            0);
  EXPECT_EQ(sql.number("select count(*) from millrace.audit where action = 'page_written' and "
                       "cardinality(job_ids) = 1"),
            2);
  // A picture that somebody asked for is no exception.
  ServerSession api{database};
  const auto job = api.value("select millrace.ask_image($1::uuid, 1)", pg::params(file));
  const auto drawing = take("document_image");
  EXPECT_EQ(drawing.id, job);
  EXPECT_EQ(api.value("select millrace.ask_image($1::uuid, 1)", pg::params(file)), job);
  expect_settled(settle(
      drawing, "select millrace.settle_image($1::uuid, $2::jsonb)",
      pg::params(drawing.id,
                 fmt::format(R"({{"kind": "image", "page": 1, "file_name": "p.png", "blob": {}}})",
                             stored(sql, "pixels")))));
  EXPECT_EQ(unaudited(), "");
  EXPECT_NE(api.value("select millrace.ask_image($1::uuid, 1)", pg::params(file)), job);
  EXPECT_EQ(document(file, "state"), "completed");
}

// What a scan hands out at once, and what it takes away with pages that are no more.
TEST_F(Facts, a05_a_scan_that_writes_or_removes_is_audited_with_the_patient) {
  const auto told_of = [&](const std::string& file, std::string_view action) {
    return sql.value(
        "select coalesce(string_agg(concat_ws(' ', operation, new_values, cardinality(job_ids)), "
        "', '), '') from millrace.audit where category = 'clinical' and record_id = $1 || "
        "'/fast_queue_security' and action = $2 and patient_id = $3::uuid",
        pg::params(file, action, patient(file)));
  };
  const auto file = scanned({"one", "two"});
  for (int i = 0; i < 2; ++i) {
    expect_settled(settle_page(take(kOcr), "words", fmt::format("[{}]", fact("f1", "Metformin"))));
  }
  keep(sql);
  end();
  EXPECT_EQ(told_of(file, "stage_written") + told_of(file, "stage_cleared"), "");

  ServerSession api{database};
  api.run("select millrace.retry_document($1::uuid)", pg::params(file));
  const auto job = take(kScan);
  begin(job);
  expect_settled(
      settle(job,
             "select millrace.settle_scan($1::uuid, $2::jsonb || jsonb_build_object('outputs', "
             "jsonb_build_array($3::jsonb)), $4::jsonb)",
             pg::params(job.id, scan_of({"one"}), output("pdf", "a pdf"), kOcrPlan)));
  EXPECT_EQ(told_of(file, "stage_cleared"), R"(DELETE {"facts": 1, "results": 1} 1)");
  EXPECT_EQ(told_of(file, "stage_written"), R"(UPDATE {"outputs": 1} 1)");
  EXPECT_EQ(facts(file), "1 f1 Metformin");
  EXPECT_EQ(unaudited(), "");
}

// Equal pages of a tenant are read once; the facts are of the patient whose document it is.
TEST_F(Facts, AnEqualPageIsTakenOverWithItsFactsForTheRightPatient) {
  const auto first = told("same page", "Metformin");
  User ada{database, kAda};
  const auto child = ada.value("select millrace.create_profile('Child')");
  ServerSession api{database};
  const auto second = member(
      api, put_file(api, kAda, "another file", fmt::format(R"({{"patient_id": "{}"}})", child)),
      "id");
  scan(second, {"same page", "new page"});
  EXPECT_EQ(results(second), "1 fast_queue_ocr reused");
  EXPECT_EQ(facts(second), "1 f1 Metformin");
  EXPECT_EQ(sql.value("select patient_id from millrace.clinical_fact where file_id = $1::uuid",
                      pg::params(second)),
            child);
  EXPECT_EQ(waiting(kOcr), 1);
  EXPECT_EQ(unaudited(), "");
  EXPECT_NE(patient(first), child);
}

// It was paid for once, by the document that it was made for.
TEST_F(Facts, WhatIsTakenOverSaysWhoMadeItAndNotWhatThatCost) {
  const auto first = told("same page", "Metformin");
  sql.run(
      "update millrace.page_result set meta = meta || '{\"engine\": \"e\", \"provider\": \"p\", "
      "\"model\": \"m\", \"tokens_in\": 10, \"tokens_out\": 2, \"tokens_of_claim\": 5, "
      "\"cost_micros\": 70}' where page > 0");
  const auto second = scanned({"same page"});
  EXPECT_EQ(results(second), "1 fast_queue_ocr reused");
  const auto meta = [&](const std::string& file) {
    return sql.value(
        "select string_agg(k, ' ' order by k) from millrace.page_result r, "
        "jsonb_object_keys(r.meta) k where r.file_id = $1::uuid and r.page > 0",
        pg::params(file));
  };
  EXPECT_EQ(meta(second), "engine facts model provider words");
  EXPECT_EQ(meta(first),
            "cost_micros engine facts model provider tokens_in tokens_of_claim "
            "tokens_out words");
}

TEST_F(Facts, APageTakenOverThatSaysNothingTakesOldFactsAway) {
  told("silent page", "Metformin");
  sql.run("delete from millrace.clinical_fact");
  const auto file = told("loud page", "Aspirin");
  ServerSession api{database};
  api.run("select millrace.retry_document($1::uuid)", pg::params(file));
  scan(file, {"silent page"});
  EXPECT_EQ(results(file), "1 fast_queue_ocr reused");
  EXPECT_EQ(facts(file), "");
}

// F05: nothing of another tenant is ever taken over.
TEST_F(Facts, f05_nothing_is_taken_over_from_another_tenant) {
  told("same page", "Metformin");
  const auto elsewhere = scanned({"same page"}, kOcrPlan, {std::string(kBob), std::string(kOther)});
  EXPECT_EQ(results(elsewhere) + facts(elsewhere), "");
  EXPECT_EQ(waiting(kOcr), 1);
}

TEST_F(Facts, AResultOfAnotherVersionOfTheStageIsNotTakenOver) {
  told("same page", "Metformin");
  constexpr std::string_view kNewer =
      R"({"stage": "fast_queue_ocr", "each": "page", "version": "v2", "inputs": ["content"], "job": {},
          "next": {"job_type": "document_outputs"}})";
  const auto file = scanned({"same page"}, kNewer);
  EXPECT_EQ(results(file), "");
  EXPECT_EQ(waiting(kOcr), 1);
}

// Two documents that each have what the other needs, settled at once: none waits for the other.
TEST_F(Facts, DocumentsThatTakeFromEachOtherNeverDeadlock) {
  for (int round = 0; round < 4; ++round) {
    const auto page = [&](int n) { return fmt::format("round {} page {}", round, n); };
    const auto a = scanned({page(1), page(2)});
    read_pages();
    end();
    const auto b = scanned({page(3), page(4)});
    read_pages();
    end();
    ServerSession api{database};
    for (const auto& file : {a, b})
      api.run("select millrace.retry_document($1::uuid)", pg::params(file));
    std::vector<Delivery> jobs{take(kScan), take(kScan)};
    for (const auto& job : jobs) begin(job);
    // Each now shows the pages of the other.
    std::vector<std::string> scans;
    for (const auto& job : jobs) {
      const bool of_a = payload(job, "shell_file_id") == a;
      scans.push_back(of_a ? scan_of({page(3), page(4)}) : scan_of({page(2), page(1)}));
    }
    together(2, [&](int who, const std::atomic<bool>&) {
      const auto i = static_cast<std::size_t>(who);
      Session session{database};
      auto& connection = session.connection();
      must(connection.query("begin"));
      must(connection.query(
          "select millrace.settle_or_raise('w1', jsonb_build_array(jsonb_build_object('job_id', "
          "$1::text, 'token', $2::text, 'outcome', 'ok')))",
          pg::params(jobs[i].id, jobs[i].token)));
      must(connection.query("select millrace.settle_scan($1::uuid, $2::jsonb, $3::jsonb)",
                            pg::params(jobs[i].id, scans[i], kOcrPlan)));
      must(connection.query("commit"));
    });
    keep(sql);
    read_pages();
    while (worker.claim(1, {.queue = "fast_queue", .types = "{document_outputs}"}).size() == 1) {
    }
  }
}

// --- Content ---

TEST_F(Facts, ContentOfResultsAndOutputsIsInUseUntilItIsReplaced) {
  const auto used = [&](std::string_view content) {
    return sql.value("select millrace.is_blob_used($1::uuid, sha256(convert_to($2, 'UTF8')))",
                     pg::params(kTenant, content));
  };
  const auto noted = [&](std::string_view content) {
    return sql.value(
        "select exists (select from millrace.orphan_note where sha256 = "
        "sha256(convert_to($1, 'UTF8')))",
        pg::params(content));
  };
  const auto file = scanned({"one"});
  const auto page = take(kOcr);
  expect_settled(settle_page(page, "first words"));
  EXPECT_EQ(used("first words"), "t");
  keep(sql);
  expect_settled(
      settle_stage(take(kOutputs), fmt::format(R"({{"closes": "fast_queue_ocr", "outputs": [{}]}})",
                                               output("text", "first text"))));
  EXPECT_EQ(used("first text") + noted("first text"), "tf");
  ServerSession api{database};
  api.run("select millrace.retry_document($1::uuid)", pg::params(file));
  scan(file, {"other"});
  EXPECT_EQ(used("first words") + noted("first words"), "ft");
  read_pages();
  expect_settled(
      settle_stage(take(kOutputs), fmt::format(R"({{"closes": "fast_queue_ocr", "outputs": [{}]}})",
                                               output("text", "second text"))));
  EXPECT_EQ(used("first text") + noted("first text") + used("second text"), "ftt");
  EXPECT_EQ(sql.number("select count(*) from millrace.document_output"), 1);
}

TEST_F(Facts, ContentThatIsTooOldToBeSafeIsRefused) {
  scanned({"one"});
  const auto job = take(kOcr);
  const auto error = settle(
      job,
      "select millrace.settle_page($1::uuid, $2::jsonb || jsonb_build_object('blob', $3::jsonb), "
      "null)",
      pg::params(job.id, page_item(job, "words"),
                 sql.value("select $1::jsonb || jsonb_build_object('stored_at', millrace.now() - "
                           "interval '2 hours')",
                           pg::params(stored(sql, "words")))));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->sqlstate, "MR037");
  EXPECT_EQ(
      sql.value("select place from millrace.job_place where job_id = $1::uuid", pg::params(job.id)),
      "lease");
}

// --- Who sees it ---

TEST_F(Facts, OthersSeeNothingOfADocument) {
  const auto file = told("one", "Metformin");
  const std::vector<std::string> calls = {
      "select millrace.get_document($1::uuid)", "select millrace.list_pages($1::uuid)",
      "select millrace.list_facts($1::uuid)", "select millrace.retry_document($1::uuid)",
      "select millrace.ask_image($1::uuid, 1)"};
  User bob{database, kBob};
  User stranger{database, kAda, kOther};
  ServerSession elsewhere{database, kOther};
  for (const auto& call : calls) {
    EXPECT_EQ(bob.refused(call, pg::params(file)).sqlstate, "MR041") << call;
    EXPECT_EQ(stranger.refused(call, pg::params(file)).sqlstate, "MR041") << call;
    EXPECT_EQ(elsewhere.refused(call, pg::params(file)).sqlstate, "MR041") << call;
  }
  EXPECT_EQ(
      elsewhere.refused("select millrace.get_output($1::uuid, 'text')", pg::params(file)).sqlstate,
      "MR041");
  EXPECT_EQ(bob.number("select count(*) from millrace.list_documents()"), 0);
  EXPECT_EQ(elsewhere.number("select count(*) from millrace.list_documents()"), 0);
  EXPECT_EQ(document(file, "run") + document(file, "state"), "1completed");
}

TEST_F(Facts, ItsOwnerSeesAllOfIt) {
  const auto file = told("one", "Metformin");
  User ada{database, kAda};
  EXPECT_EQ(
      ada.value("select format('%s %s %s %s', d ->> 'state', d ->> 'page_count', d ->> 'kind', "
                "d #>> '{pipeline,name}') from millrace.get_document($1::uuid) d",
                pg::params(file)),
      "completed 1 pdf guardian");
  EXPECT_EQ(
      ada.value("select p #>> '{stages,fast_queue_ocr,words}' from millrace.list_pages($1::uuid) p",
                pg::params(file)),
      "2");
  EXPECT_EQ(ada.value("select f ->> 'name' from millrace.list_facts($1::uuid) f", pg::params(file)),
            "Metformin");
  EXPECT_EQ(ada.value("select d ->> 'id' from millrace.list_documents(p_state => 'completed') d"),
            file);
  EXPECT_EQ(ada.number("select count(*) from millrace.list_documents(p_state => 'failed')"), 0);
  EXPECT_EQ(ada.refused("select millrace.list_documents(p_state => 'odd')").sqlstate, "MR024");
  EXPECT_EQ(ada.refused("select millrace.ask_image($1::uuid, 2)", pg::params(file)).sqlstate,
            "MR041");
}

// Workers write documents through the functions only (S-28); people have no way to.
TEST_F(Facts, s28_only_workers_may_call_what_writes_documents) {
  for (const auto* call :
       {"select millrace.begin_document(millrace.new_id(), '{}')",
        "select millrace.settle_scan(millrace.new_id(), '{}', null)",
        "select millrace.settle_page(millrace.new_id(), '{}', null)",
        "select millrace.settle_stage(millrace.new_id(), '{}', null)",
        "select millrace.document_work(millrace.new_id())", "select millrace.begin_call('{}')",
        "select millrace.release_quarantine('x')", "select millrace.set_budget('x', 1)"}) {
    User ada{database, kAda};
    EXPECT_EQ(ada.refused(call).sqlstate, "42501") << call;
  }
  Session worker_role{database, "millrace_worker"};
  EXPECT_EQ(worker_role.refused("select millrace.document_work(gen_random_uuid())").sqlstate,
            "MR039");
  for (const auto* table : {"document", "page", "page_result", "clinical_fact", "quarantine"}) {
    EXPECT_EQ(worker_role.refused(fmt::format("select 1 from millrace.{}", table)).sqlstate,
              "42501")
        << table;
  }
}

// The progress of a stage per page, as people watch it.
TEST_F(Facts, ProgressCountsThePagesOfTheStageUnderWay) {
  const auto file = scanned({"one", "two", "three"});
  expect_settled(settle_page(take(kOcr), "words"));
  keep(sql);
  User ada{database, kAda};
  EXPECT_EQ(
      ada.value("select format('%s %s/%s', d ->> 'stage', d ->> 'stage_done', d ->> 'stage_total') "
                "from millrace.get_document($1::uuid) d",
                pg::params(file)),
      fmt::format("{} 1/3", kOcr));
}

// 2,000 pages (the limit of guardian) are begun in one settlement, in seconds.
// Counted by words alone, a page of a script without spaces would cost next to nothing.
TEST_F(Facts, e13_what_a_page_may_cost_a_model_follows_from_the_bytes_of_its_text) {
  const auto file = scanned({"one"});
  read_pages();
  const auto tokens = [&](std::string_view meta) {
    sql.run("update millrace.page_result set meta = $1::jsonb where page = 1", pg::params(meta));
    return sql.number(
        "select millrace.page_tokens($1::uuid, 1, 'ai_queue_pass1', '{\"tokens\": 100}')",
        pg::params(file));
  };
  EXPECT_EQ(tokens(R"({"words": 1, "text_bytes": 9000})"), 9100);
  EXPECT_EQ(tokens(R"({"words": 50, "text_bytes": 200})"), 500);
  EXPECT_EQ(tokens(R"({"words": 50})"), 500);
  EXPECT_EQ(tokens("{}"), 100);
}

TEST_F(Facts, ManyPagesAreBegunAtOnce) {
  std::vector<std::string> many;
  const auto file = upload("a book");
  const auto job = take(kScan);
  begin(job);
  const auto report = sql.value(
      "select ($1::jsonb || jsonb_build_object('pages', (select "
      "jsonb_agg(jsonb_build_object('page', i, "
      "'content_sha256', encode(sha256(convert_to('p' || i, 'UTF8')), 'hex')) order by i) from "
      "generate_series(1, 2000) i)))::text",
      pg::params(scan_of({})));
  sql.run("set statement_timeout = '20s'");
  expect_settled(settle(job, "select millrace.settle_scan($1::uuid, $2::jsonb, $3::jsonb)",
                        pg::params(job.id, report, kOcrPlan)));
  EXPECT_EQ(waiting(kOcr), 2000);
  EXPECT_EQ(document(file, "page_count"), "2000");
}

}  // namespace
}  // namespace millrace::test
