// Exports from order to file: the real server, a real worker and a real browser (X, V-13 to V-17).
#include "integration/exports_world.h"

namespace millrace::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class MadeExports : public Exports {
 protected:
  static void SetUpTestSuite() {
    Exports::SetUpTestSuite();
    worker_ = std::make_unique<ExportWorkerProgram>(*world_);
  }
  // A test that is without one says so, and may fail meanwhile.
  void SetUp() override {
    if (!worker_) worker_ = std::make_unique<ExportWorkerProgram>(*world_);
  }
};

// V-13: pending → processing → completed, download works, history row.
TEST_F(MadeExports, v13_a_single_export_from_order_to_download) {
  const auto id =
      keep("My CV", R"({"profile":{"name":"Ada Lovelace","headline":"Mathematician"}})");
  const auto job = order(id);
  ASSERT_EQ(ended(job), "completed") << to_json(state(job));
  EXPECT_EQ(state(job).at("progress").to_number<int>(), 100);  // X-04
  const auto file = download(job);
  ASSERT_EQ(file.status, 200) << file.body;
  EXPECT_EQ(file.header("content-type"), "application/pdf");
  EXPECT_THAT(file.body, StartsWith("%PDF-"));
  EXPECT_THAT(words_of(file.body), HasSubstr("Ada Lovelace"));
  EXPECT_EQ(std::to_string(file.body.size()), result(job, "file_size"));
  EXPECT_EQ(result(job, "page_count"), "1");  // X-05
  EXPECT_EQ(result(job, "template"), "minimal");
  EXPECT_EQ(result(job, "template_hash").size(), 64U);
  // X-03
  const auto info = info_of(file.body);
  EXPECT_THAT(info, testing::ContainsRegex("Title: +My CV"));
  EXPECT_THAT(info, testing::ContainsRegex("Author: +Ada Lovelace"));
  EXPECT_THAT(info, testing::ContainsRegex("Subject: +Resume"));
  EXPECT_THAT(info, testing::Not(testing::ContainsRegex("Keywords: +[A-Za-z]")));
  EXPECT_THAT(info, testing::ContainsRegex("Creator: +ResumePair"));
  EXPECT_THAT(info, testing::ContainsRegex("Page size: +612 x 792"));  // X-02: Letter
  EXPECT_THAT(info, testing::ContainsRegex("Tagged: +yes"));
  // X-06, X-08
  EXPECT_EQ(value("select file_name || ' ' || document_version || ' ' || template_slug from "
                  "millrace.export_history where job_id = $1::uuid and file_path = $2",
                  pg::params(job, result(job, "file_path"))),
            "My CV.pdf 1 minimal");
  EXPECT_THAT(result(job, "file_path"),
              testing::MatchesRegex(who_.user.to_string() + "/" + id + "_[0-9]{13}\\.pdf"));
  expect_sound();
}

// A picture costs about as much as half a print: only who asks for one gets it.
TEST_F(MadeExports, ThereIsAPictureOfTheFirstPageWhereTheOrderAsksForOne) {
  const auto id = keep("My CV", R"({"profile":{"name":"Ada Lovelace"}})");
  const auto pictures = [&](const std::string& job) {
    return value(
        "select coalesce(string_agg(kind || ' ' || content_type, ','), 'none') from "
        "millrace.artifact where job_id = $1::uuid",
        pg::params(job));
  };
  const auto plain = order(id);
  ASSERT_EQ(ended(plain), "completed");
  EXPECT_EQ(pictures(plain), "none");
  const auto pictured = order(id, R"(,"options":{"preview":true})");
  ASSERT_EQ(ended(pictured), "completed");
  EXPECT_EQ(pictures(pictured), "preview image/png");
  expect_sound();
}

TEST_F(MadeExports, options_decide_what_the_paper_shows) {  // X-02
  const auto id = keep("Options", resume("Grace Hopper"));
  const auto job =
      order(id, R"(,"templateSlug":"modern","options":{"pageSize":"A4","margins":)"
                R"({"top":0.5,"bottom":0.5},"quality":"draft","colorMode":"grayscale"})");
  ASSERT_EQ(ended(job), "completed") << to_json(state(job));
  const auto file = download(job);
  EXPECT_THAT(info_of(file.body), testing::ContainsRegex("Page size: +59[45]\\.[0-9]+ x 84[12]"));
  EXPECT_EQ(result(job, "template"), "modern");
  // A draft has no backgrounds, and grey has no colours: nothing of the column is left.
  const auto plain = order(id, R"(,"templateSlug":"modern","options":{"pageSize":"A4"})");
  ASSERT_EQ(ended(plain), "completed") << to_json(state(plain));
  const auto pixels = [&](const std::string& pdf) {
    const auto file_name = save(pdf).string();
    return run_tool("pdftoppm -r 20 -f 1 -l 1 " + file_name + " | tail -c +16");  // Past its head.
  };
  const auto dark_and_coloured = [](const std::string& rgb) {
    std::pair<std::size_t, std::size_t> found;
    for (std::size_t i = 0; i + 2 < rgb.size(); i += 3) {
      const auto byte = [&](std::size_t j) { return static_cast<unsigned char>(rgb[i + j]); };
      found.first += byte(0) < 110 && byte(1) < 110 && byte(2) < 110 ? 1 : 0;
      found.second += byte(0) != byte(1) || byte(1) != byte(2) ? 1 : 0;
    }
    return found;
  };
  const auto normal = dark_and_coloured(pixels(download(plain).body));
  const auto draft = dark_and_coloured(pixels(file.body));
  EXPECT_GT(normal.first, 5'000U);  // Of 165 x 234.
  EXPECT_GT(normal.second, 5'000U);
  EXPECT_LT(draft.first, 1'000U);
  EXPECT_EQ(draft.second, 0U);
}

TEST_F(MadeExports, the_page_count_is_the_real_one) {  // X-05
  const auto job = order(keep("Long", long_resume("Ada", 40)));
  ASSERT_EQ(ended(job), "completed") << to_json(state(job));
  const auto pages = std::stoi(result(job, "page_count"));
  EXPECT_GT(pages, 3);
  EXPECT_THAT(info_of(download(job).body),
              testing::ContainsRegex(fmt::format("Pages: +{}\n", pages)));
}

TEST_F(MadeExports, every_template_that_ships_is_exported) {
  const auto folder = fs::path(MILLRACE_SOURCE_DIR) / "templates";
  std::vector<std::string> jobs;
  for (const auto* slug : {"minimal", "modern", "letter", "invoice", "report"}) {
    const auto sample = read_file(folder / slug / "sample.json");
    ASSERT_TRUE(sample);
    // Three may run: a new order waits for one to end.
    const auto job = order(keep(slug, *sample, slug));
    ASSERT_EQ(ended(job), "completed") << slug << ": " << to_json(state(job));
    EXPECT_EQ(result(job, "template"), slug);
  }
  expect_sound();
}

// A table of contents has page numbers, which only a first printing can tell.
TEST_F(MadeExports, a_report_says_on_which_page_its_parts_are) {
  const auto sample =
      must(read_file(fs::path(MILLRACE_SOURCE_DIR) / "templates/report/sample.json"));
  const auto job = order(keep("Report", sample, "report"));
  ASSERT_EQ(ended(job), "completed") << to_json(state(job));
  const auto file = save(download(job).body).string();
  const auto page = [&](int n) {
    return run_tool(fmt::format("pdftotext -enc UTF-8 -layout -f {} -l {} {} -", n, n, file));
  };
  const auto title =
      std::string(must(parse_json_object(sample)).at("sections").at(0).at("title").as_string());
  int at = 0;
  for (int n = 3; n <= std::stoi(result(job, "page_count")) && at == 0; ++n) {
    if (page(n).find(title) != std::string::npos) at = n;
  }
  ASSERT_GT(at, 0);
  EXPECT_THAT(page(2), testing::ContainsRegex(fmt::format("{}.* {}\n", title, at)));
}

TEST_F(MadeExports, the_file_shows_the_version_that_was_ordered) {  // X-21, F06
  const auto id = keep("CV", resume("Before"));
  // Nobody works while the order is made and the document changed.
  worker_.reset();
  const auto first = order(id);
  change(id, "CV", resume("After"));
  const auto second = order(id);
  EXPECT_NE(first, second);
  EXPECT_EQ(order(id), second);
  worker_ = std::make_unique<ExportWorkerProgram>(world());
  ASSERT_EQ(ended(first), "completed");
  ASSERT_EQ(ended(second), "completed");
  EXPECT_THAT(words_of(download(first).body), HasSubstr("Before"));
  EXPECT_THAT(words_of(download(second).body), HasSubstr("After"));
}

TEST_F(MadeExports, data_that_does_not_fit_fails_for_good_and_says_where) {
  const auto job = order(keep("CV", R"({"profile":{"name":7}})"));
  ASSERT_EQ(ended(job), "failed");
  EXPECT_EQ(error_type(job), "invalid_document");
  EXPECT_THAT(text_at(state(job), "error"), HasSubstr("/profile/name"));
}

TEST_F(MadeExports, a_template_that_no_worker_has_is_waited_for_without_a_charge) {
  const auto job = order(keep("CV", resume("Ada"), "nobody-has-it"));
  ASSERT_TRUE(eventually([&] {
    return engine_status(job) == "pending" && error_type(job) != "(none)";
  })) << engine_status(job);
  EXPECT_EQ(value("select count(*) filter (where a.charged) from millrace.attempt a where a.job_id "
                  "= $1::uuid",
                  pg::params(job)),
            "0");
  // A worker that has it.
  TempFolder templates;
  fs::copy(fs::path(MILLRACE_SOURCE_DIR) / "templates/minimal", templates.path() / "nobody-has-it",
           fs::copy_options::recursive);
  const auto manifest = templates.path() / "nobody-has-it/template.toml";
  auto text = must(read_file(manifest));
  text.replace(text.find("\"minimal\""), 9, "\"nobody-has-it\"");
  ASSERT_TRUE(write_file_atomically(manifest, text));
  ExportWorkerProgram other(world(),
                            {{"MILLRACE_EXPORT_TEMPLATE_DIRS", templates.path().string()}});
  worker_.reset();
  run_now(job);
  EXPECT_EQ(ended(job), "completed") << to_json(state(job));
  worker_ = std::make_unique<ExportWorkerProgram>(world());
}

// A worker that has printed and whose browsers start no more gives its exports to others at once,
// and says why; it is no fault of theirs.
TEST_F(MadeExports, browsers_that_stop_starting_cost_no_attempt) {
  worker_.reset();
  const auto scratch = folder_.path() / "scratch";
  const auto aside = folder_.path() / "aside";
  const auto warm = order(keep("Warm", resume("Ada")));
  {
    const ExportWorkerProgram ill(world(), {{"MILLRACE_EXPORT_SCRATCH_DIR", scratch.string()},
                                            {"MILLRACE_EXPORT_BROWSERS", "1"}});
    ASSERT_EQ(ended(warm), "completed");
    fs::rename(scratch, aside);
    ill.signal_browsers(SIGKILL);
    ASSERT_TRUE(eventually([&] { return ill.err().contains("browser_not_started"); }));
    const auto job = order(keep("CV", resume("Grace")));
    ASSERT_TRUE(eventually([&] { return error_type(job) != "(none)"; }));
    EXPECT_EQ(value("select outcome || ' ' || charged || ' ' || (error ->> 'message' ~ '^no "
                    "browser: .*No such file or directory') from millrace.attempt where job_id = "
                    "$1::uuid order by attempt_seq limit 1",
                    pg::params(job)),
              "throttled false true")
        << value("select error::text from millrace.attempt where job_id = $1::uuid",
                 pg::params(job));
    EXPECT_EQ(status(job), "pending");
    fs::rename(aside, scratch);
  }
  worker_ = std::make_unique<ExportWorkerProgram>(world());
}

TEST_F(MadeExports, a_file_over_the_quota_is_not_stored) {  // X-24
  config("export.quota_bytes", "4096");
  const auto job = order(keep("CV", resume("Ada")));
  const auto end = ended(job);
  config("export.quota_bytes", "104857600");
  EXPECT_EQ(end, "failed");
  EXPECT_EQ(error_type(job), "quota_exceeded");
  EXPECT_THAT(text_at(state(job), "error"),
              testing::MatchesRegex("Storage quota exceeded \\(0\\.00MB / 0MB\\)\\. Delete old "
                                    "exports to continue\\. This file has 0\\.[0-9]+MB\\."));
  EXPECT_EQ(world().count("select count(*) from millrace.storage_object where owner_id = $1",
                          pg::params(who_.user)),
            0);
  EXPECT_EQ(world().staged(), 0U);
}

// V-17, X-09, X-10, X-12 to X-16: one batch, one ZIP.
TEST_F(MadeExports, v17_a_batch_of_three_is_a_zip_of_three) {
  std::string ids;
  for (const auto* title : {"CV", "CV", "Letter/to ../you"}) {
    ids += fmt::format("{}\"{}\"", ids.empty() ? "" : ",", keep(title, resume("Ada")));
  }
  const auto made = post("/api/v1/export/batch", fmt::format(R"({{"documentIds":[{}]}})", ids));
  ASSERT_EQ(made.status, 202) << made.body;
  const auto batch = text_at(made.json().at("data"), "batchId");
  EXPECT_EQ(made.json().at("data").at("jobs").as_array().size(), 3U);
  ASSERT_TRUE(eventually([&] {
    const auto seen = api().get("/api/v1/export/batch/" + batch, who_.token);
    return seen.json().at("data").at("progress").to_number<int>() == 100;
  }));
  const auto zip = api().get("/api/v1/export/batch/" + batch + "/download", who_.token);
  ASSERT_EQ(zip.status, 200) << zip.body;
  const auto file = save(zip.body, "all.zip").string();
  EXPECT_THAT(run_tool("unzip -t " + file), HasSubstr("No errors detected"));
  const auto names = run_tool("unzip -Z1 " + file);
  EXPECT_EQ(std::ranges::count(names, '\n'), 3) << names;
  EXPECT_THAT(names, testing::Not(HasSubstr("/"))) << "no folders, so no way out of one";
  for (const auto* name : {"CV.pdf", "CV (2).pdf", "Letter_to .._you.pdf"}) {
    EXPECT_THAT(names, HasSubstr(std::string(name) + "\n"));
    EXPECT_THAT(run_tool(fmt::format("unzip -p {} '{}'", file, name)), StartsWith("%PDF-"));
  }
}

// V-14, C-18: five at once over two workers with browsers for six, never more than three at a time.
TEST_F(MadeExports, v14_of_five_at_once_three_run_and_the_rest_follow) {
  ExportWorkerProgram second(world(), {{"MILLRACE_EXPORT_BROWSERS", "3"}});
  std::string ids;
  for (int i = 0; i < 5; ++i) {
    ids += fmt::format("{}\"{}\"", i == 0 ? "" : ",", keep("CV", long_resume("Ada", 60, 4)));
  }
  const auto made = post("/api/v1/export/batch", fmt::format(R"({{"documentIds":[{}]}})", ids));
  ASSERT_EQ(made.status, 202) << made.body;
  std::vector<std::string> jobs;
  for (const auto& job : made.json().at("data").at("jobs").as_array()) {
    jobs.push_back(text_at(job, "jobId"));
  }
  for (const auto& job : jobs) EXPECT_EQ(ended(job), "completed") << to_json(state(job));
  // How many ran at the moment each began.
  EXPECT_EQ(value("with run as (select h.started_at as a, h.finished_at as b from "
                  "millrace.job_history h join millrace.job_fact f using (job_id) where f.owner_id "
                  "= $1) select max((select count(*) from run o where o.a <= r.a and o.b > r.a)) "
                  "from run r",
                  pg::params(who_.user)),
            "3");
}

// X-20: cancelled at once while it waits; while it runs, the browser is stopped.
TEST_F(MadeExports, an_export_that_waits_is_cancelled_at_once) {
  worker_.reset();
  const auto job = order(keep("CV", resume("Ada")));
  const auto cancelled =
      api().ask({.method = "DELETE", .path = "/api/v1/export/job/" + job, .token = who_.token});
  EXPECT_EQ(cancelled.status, 200) << cancelled.body;
  EXPECT_EQ(status(job), "cancelled");
  worker_ = std::make_unique<ExportWorkerProgram>(world());
  EXPECT_EQ(api()
                .ask({.method = "DELETE", .path = "/api/v1/export/job/" + job, .token = who_.token})
                .status,
            409);
}

TEST_F(MadeExports, an_export_that_runs_is_stopped_in_its_browser) {
  worker_.reset();
  // It prints for as long as it is let: a time limit far beyond the test's patience.
  TempFolder pipelines;
  auto text = must(read_file(fs::path(MILLRACE_SOURCE_DIR) / "pipelines/export.toml"));
  text.replace(text.find("wall = \"8s\""), 11, "wall = \"50s\"");
  text.replace(text.find("1.0.0"), 5, "1.0.1");
  pipelines.write("export.toml", text);
  ExportWorkerProgram slow(world(), {{"MILLRACE_PIPELINE_DIR", pipelines.path().string()}});
  const auto warm = order(keep("CV", resume("Ada")));
  ASSERT_EQ(ended(warm), "completed");
  // Stopped browsers print nothing.
  slow.signal_browsers(SIGSTOP);
  const auto job = order(keep("CV", resume("Ada")));
  ASSERT_TRUE(eventually([&] { return status(job) == "processing"; }));
  const auto before = slow.browsers();
  const auto cancelled =
      api().ask({.method = "DELETE", .path = "/api/v1/export/job/" + job, .token = who_.token});
  EXPECT_EQ(cancelled.status, 200) << cancelled.body;
  EXPECT_EQ(ended(job), "cancelled");
  // Its browser is gone, and the next export has another.
  slow.signal_browsers(SIGCONT);
  const auto next = order(keep("CV", resume("Ada")));
  EXPECT_EQ(ended(next), "completed") << to_json(state(next));
  EXPECT_NE(slow.browsers(), before);
  EXPECT_EQ(world().count("select count(*) from millrace.export_history h where h.job_id = "
                          "$1::uuid",
                          pg::params(job)),
            0);
  worker_ = std::make_unique<ExportWorkerProgram>(world());
}

// V-15, X-25, R-02: too slow is tried again after 1, 2, 4, 8 minutes, and failed after five times.
TEST_F(MadeExports, v15_what_takes_too_long_is_tried_again_and_then_fails) {
  worker_.reset();
  TempFolder pipelines;
  auto text = must(read_file(fs::path(MILLRACE_SOURCE_DIR) / "pipelines/export.toml"));
  text.replace(text.find("wall = \"8s\""), 11, "wall = \"1s\"");
  text.replace(text.find("1.0.0"), 5, "1.0.2");
  pipelines.write("export.toml", text);
  ExportWorkerProgram hasty(world(), {{"MILLRACE_PIPELINE_DIR", pipelines.path().string()}});
  const auto job = order(keep("CV", long_resume("Ada", 60, 30)));
  for (int attempt = 1; attempt <= 4; ++attempt) {
    ASSERT_TRUE(eventually([&] {
      return value("select count(*) from millrace.attempt where job_id = $1::uuid and charged",
                   pg::params(job)) == std::to_string(attempt);
    }));
    EXPECT_EQ(status(job), "pending") << "in the source's words";
    EXPECT_EQ(error_type(job), "render_timed_out");
    // 60·2ⁿ seconds, a fifth more or less.
    EXPECT_EQ(value("select a.due_at - a.ended_at between $2::int * interval '47 seconds' and "
                    "$2::int * interval '73 seconds' from millrace.attempt a where a.job_id = "
                    "$1::uuid order by a.attempt_seq desc limit 1",
                    pg::params(job, 1 << (attempt - 1))),
              "t")
        << attempt;
    run_now(job);
  }
  ASSERT_EQ(ended(job), "failed");
  EXPECT_THAT(text_at(state(job), "error"), HasSubstr("Reduce its content"));
  worker_ = std::make_unique<ExportWorkerProgram>(world());
}

// V-16, X-18, X-22: what has expired says so, and then goes, object and row.
TEST_F(MadeExports, v16_an_expired_export_is_removed_with_its_object) {
  const auto job = order(keep("CV", resume("Ada")));
  ASSERT_EQ(ended(job), "completed");
  const auto history = value(
      "update millrace.export_history set expires_at = now() - interval '3 days' where "
      "job_id = $1::uuid returning id",
      pg::params(job));
  const auto told = api().get("/api/v1/export/download/" + history, who_.token);
  EXPECT_EQ(told.status, 410) << told.body;
  EXPECT_TRUE(state(job).at("resultUrl").is_null());
  const auto cleaned =
      api().post("/functions/v1/cleanup-exports", api().jwt(identity::Role::service_role), "{}");
  EXPECT_EQ(cleaned.status, 200) << cleaned.body;
  EXPECT_EQ(api().get("/api/v1/export/download/" + history, who_.token).status, 404);
  EXPECT_EQ(world().count("select count(*) from millrace.storage_object where owner_id = $1",
                          pg::params(who_.user)),
            0);
}

TEST_F(MadeExports, x28_a_worker_warns_when_it_has_grown_with_its_browsers) {
  worker_.reset();
  {
    const ExportWorkerProgram small(world(), {{"MILLRACE_LOG_MEMORY_MAX_MB", "1"}});
    for (const auto* title : {"One", "Two"}) {  // The first one starts the browsers.
      ASSERT_EQ(ended(order(keep(title, resume("Ada")))), "completed");
    }
    EXPECT_THAT(small.err(), HasSubstr("memory_with_browsers"));
  }
  worker_ = std::make_unique<ExportWorkerProgram>(world());
}

TEST_F(MadeExports, a_file_cannot_be_sent_into_the_pipeline_of_orders) {
  const auto id = keep("CV", resume("Ada"));
  ASSERT_EQ(ended(order(id)), "completed");  // A worker has told of its pipelines.
  auto ask = UploadWorld::raw(who_, "%PDF-1.4 not an order");
  ask.path += "&pipeline=export";
  const auto refused = api().ask(ask);
  EXPECT_EQ(refused.status, 400) << refused.body;
  EXPECT_THAT(refused.body, HasSubstr("takes orders, not files"));
}

}  // namespace
}  // namespace millrace::test
