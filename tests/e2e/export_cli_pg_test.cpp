// The commands about exports: documents kept, printed by a real worker with a real browser, fetched
// as PDFs and as one archive.
#include "base/file.h"
#include "program.h"
#include "support/database.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>

namespace millrace::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ExportCli : public testing::Test {
 protected:
  RunOptions options() const {
    RunOptions options;
    options.env["MILLRACE_STORAGE_FOLDER"] = (folder_.path() / "blobs").string();
    options.env["MILLRACE_DATABASE_DATA_DIR"] = (folder_.path() / "data").string();
    options.cwd = folder_.path();
    options.timeout = std::chrono::seconds(120);
    return options;
  }
  RunResult run(std::vector<std::string> arguments, const std::string& input = {}) {
    arguments.insert(arguments.end(), {"--database-url", database_.url()});
    auto how = options();
    how.stdin_text = input;
    return run_millrace(arguments, how);
  }
  json::Value json(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const auto result = run(std::move(arguments));
    EXPECT_EQ(result.code, 0) << result.err;
    return result.code == 0 ? result.json() : json::Value();
  }
  std::string file(const std::string& name, const std::string& content) {
    return folder_.write(name, content).string();
  }
  std::string add(const std::string& name, const std::string& title) {
    const auto made = json(
        {"export", "add", file(name, R"({"profile":{"name":"Ada Lovelace"}})"), "--title", title});
    return std::string(made.at("id").as_string());
  }
  std::unique_ptr<BackgroundProgram> worker() {
    const auto ready = folder_.path() / "worker.ready";
    auto how = options();
    auto program = std::make_unique<BackgroundProgram>(
        std::vector<std::string>{"worker", "--database-url", database_.url(), "--ready-file",
                                 ready.string()},
        how);
    program->wait_for_ready(ready);
    return program;
  }

  TestDatabase database_;
  TempFolder folder_;
};

TEST_F(ExportCli, ADocumentIsKeptListedShownAndDeleted) {
  const auto path = file("cv.json", R"({"profile":{"name":"Ada"}})");
  const auto made = run({"export", "add", path});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("Ada  minimal, version 1, added"));
  const auto id = made.out.substr(0, 36);
  EXPECT_EQ(json({"export", "list"}).as_array().size(), 1U);
  const auto again = run({"export", "add", path, "--replace", id, "--title", "Ada"});
  EXPECT_THAT(again.out, HasSubstr("version 1, as it was"));
  const auto second = run({"export", "add", path, "--replace", id, "--template", "modern"});
  EXPECT_THAT(second.out, HasSubstr("modern, version 2, written")) << second.err;
  const auto shown = run({"export", "show", id});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("template  modern"));
  EXPECT_THAT(shown.out, HasSubstr("\"name\""));
  EXPECT_EQ(json({"export", "show", id}).at("version"), json::Value(2));
  EXPECT_EQ(run({"export", "delete", id}).code, 0);
  EXPECT_EQ(run({"export", "delete", id}).code, 3);
  EXPECT_EQ(run({"export", "show", id}).code, 3);
}

TEST_F(ExportCli, DataComesFromStandardInputToo) {
  const auto sample = run({"export", "templates", "letter"});
  ASSERT_EQ(sample.code, 0) << sample.err;
  const auto made = run({"export", "add", "-", "--template", "letter"}, sample.out);
  EXPECT_EQ(made.code, 0) << made.err;
}

TEST_F(ExportCli, TemplatesTellWhatTheyTake) {
  const auto list = run({"export", "templates"});
  for (const char* name : {"minimal", "modern", "letter", "invoice", "report"}) {
    EXPECT_THAT(list.out, HasSubstr(name));
  }
  EXPECT_TRUE(run({"export", "templates", "invoice", "--schema"})
                  .json()
                  .as_object()
                  .contains("properties"));
  EXPECT_EQ(run({"export", "templates", "brochure"}).code, 3);
}

// One line that names the field and the rule, and nothing done.
TEST_F(ExportCli, BadInputIsRefusedInOneLine) {
  struct Bad {
    std::vector<std::string> arguments;
    int code;
    std::string says;
  };
  const auto good = add("good.json", "Good");
  const std::string nobody = "0190a000-0000-7000-8000-00000000ffff";
  std::vector<std::string> eleven{"export", "run"};
  for (int i = 0; i < 11; ++i)
    eleven.push_back(fmt::format("0190a000-0000-7000-8000-0000000000{:02}", i));
  const std::vector<Bad> all{
      {{"export", "add", file("a.json", "{")}, 2, "invalid JSON"},
      {{"export", "add", file("b.json", "[]")}, 2, "must be a JSON object"},
      {{"export", "add", file("c.json", R"({"profile":{"name":7}})")}, 2, "/profile/name"},
      {{"export", "add", file("d.json", "{}")}, 2, "required"},
      {{"export", "add", folder_.path() / "none.json"}, 2, "none.json"},
      {{"export", "add", file("e.json", "{}"), "--template", "brochure"}, 2, "there are:"},
      {{"export", "add", file("f.json", R"({"profile":{"name":"x"}})"), "--user", "me"},
       2,
       "--user"},
      {{"export", "add", file("g.json", R"({"profile":{"name":"x"}})"), "--replace", nobody},
       3,
       "Document not found"},
      {{"export", "add", file("h.json", R"({"profile":{"name":"x"}})"), "--title", ""}, 2, "title"},
      {{"export", "show", "x"}, 2, "document id"},
      {{"export", "show", nobody}, 3, "Document not found"},
      {{"export", "show", good, "--version", "0"}, 2, "--version"},
      {{"export", "list", "--limit", "0"}, 2, "--limit"},
      {{"export", "history", "--limit", "1001"}, 2, "--limit"},
      {{"export", "run"}, 2, "ID"},
      {{"export", "run", nobody}, 3, "Document not found"},
      {eleven, 2, "Maximum 10 documents per batch"},
      {{"export", "run", good, "--page-size", "A3"}, 2, "--page-size"},
      {{"export", "run", good, "--quality", "best"}, 2, "--quality"},
      {{"export", "run", good, "--margins", "3"}, 2, "--margins"},
      {{"export", "run", good, "--margins", "wide"}, 2, "--margins"},
      {{"export", "run", good, "--language", "deutsch!"}, 2, "language"},
      {{"export", "run", good, "--template", "invoice"}, 2, "--template"},
      {{"export", "run", good, "--zip", "a.zip", "--out", "b"}, 2, "--zip"},
      {{"export", "run", good, "--no-wait", "--out", "b"}, 2, "--no-wait"},
      {{"export", "run", good, "--timeout", "soon"}, 2, "--timeout"},
      {{"export", "run", good, "--zip", folder_.path() / "none/a.zip"}, 5, "cannot write"},
      {{"export", "run", good, "--out", "/proc/none"}, 5, "cannot write"},
      {{"export", "run", good, "--out", "/proc"}, 5, "cannot write"},
      {{"export", "cancel", nobody}, 3, "not"},
      {{"export", "templates", "minimal", "modern"}, 2, "one template"},
      {{"export", "templates", "--schema"}, 2, "--schema"},
  };
  for (const auto& bad : all) {
    const auto result = run(bad.arguments);
    EXPECT_EQ(result.code, bad.code) << bad.arguments.at(1) << " " << bad.says << " " << result.err;
    EXPECT_THAT(result.err, HasSubstr(bad.says)) << bad.arguments.at(1);
    EXPECT_EQ(result.error_lines(), 1U) << result.err;
  }
  EXPECT_EQ(json({"export", "list"}).as_array().size(), 1U) << "nothing was kept";
  EXPECT_TRUE(json({"jobs", "list"}).as_array().empty()) << "nothing was ordered";
}

// X-20: what waits is cancelled at once; what has ended is a conflict.
TEST_F(ExportCli, AnExportThatWaitsIsCancelled) {
  const auto id = add("cv.json", "CV");
  const auto ordered = json({"export", "run", id, "--no-wait"});
  const std::string job(ordered.at("jobs").at(0).at("jobId").as_string());
  const auto cancelled = run({"export", "cancel", job});
  EXPECT_EQ(cancelled.code, 0) << cancelled.err;
  EXPECT_THAT(cancelled.out, HasSubstr("cancelled"));
  EXPECT_EQ(run({"export", "cancel", job}).code, 4);
  const auto watched = run({"export", "run", id, "--timeout", "1s"});
  EXPECT_EQ(watched.code, 5) << "there is no worker";
  EXPECT_THAT(watched.err, HasSubstr("still not finished"));
  EXPECT_EQ(run({"export", "cleanup"}).code, 0);
}

// A file that is gone by the time it is fetched is no success, and leaves none that is empty.
TEST_F(ExportCli, AnExportWithoutItsFileIsNoSuccess) {
  const auto id = add("cv.json", "CV");
  const auto zip = folder_.path() / "all.zip";
  BackgroundProgram follows(
      {"export", "run", id, "--zip", zip.string(), "--database-url", database_.url()}, options());
  auto sql = database_.connect();
  std::string job;
  std::string holder;
  ASSERT_TRUE(eventually([&] {
    const auto rows = must(sql.query("select id, locked_by from millrace.fetch_next_export_job()"));
    if (rows.empty()) return false;
    job = rows[0].text(0);
    holder = rows[0].text(1);
    return true;
  }));
  must(sql.query("select millrace.complete_job($1::uuid, $2, '{}')", pg::params(job, holder)));
  EXPECT_EQ(follows.wait(), 9) << follows.err();
  EXPECT_THAT(follows.err(), HasSubstr("CV: its file is gone, deleted or expired"));
  EXPECT_FALSE(std::filesystem::exists(zip));
}

// X-02: what the order asks for reaches the job.
TEST_F(ExportCli, APreviewIsOrdered) {
  const auto id = add("cv.json", "CV");
  ASSERT_EQ(run({"export", "run", id, "--preview", "--no-wait"}).code, 0);
  ASSERT_EQ(run({"export", "run", id, "--no-wait"}).code, 0);
  auto sql = database_.connect();
  const auto rows =
      must(sql.query("select count(*), count(*) filter (where options -> 'preview' = 'true') from "
                     "millrace.export_jobs"));
  EXPECT_EQ(rows[0].i64(0), 2);
  EXPECT_EQ(rows[0].i64(1), 1);
}

// What lies in the folder may be somebody's only copy: an export comes beside it, and says so.
TEST_F(ExportCli, FilesThatAreThereAreNotReplaced) {
  const auto first = add("one.json", "CV");
  const auto second = add("two.json", "CV");
  const auto out = folder_.path() / "pdfs";
  std::filesystem::create_directory(out);
  folder_.write("pdfs/CV.pdf", "mine");
  const auto working = worker();
  const auto both = run({"export", "run", first, second, "--out", out.string()});
  ASSERT_EQ(both.code, 0) << both.err << both.out;
  const auto content = [&](const std::string& name) {
    return must(read_file(out / name, std::size_t{64} * 1024 * 1024));
  };
  EXPECT_EQ(content("CV.pdf"), "mine");
  EXPECT_THAT(content("CV (2).pdf"), StartsWith("%PDF-"));
  EXPECT_THAT(content("CV (3).pdf"), StartsWith("%PDF-"));
  EXPECT_THAT(both.out, HasSubstr((out / "CV (2).pdf").string() + "  "));
  EXPECT_THAT(both.out, HasSubstr("(CV.pdf was there)"));
  const auto again = json({"export", "run", first, "--out", out.string()});
  EXPECT_EQ(again.at("jobs").at(0).at("file"), json::Value((out / "CV (4).pdf").string()));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(out), {}), 4)
      << "and nothing half written";
}

// X-01, X-04, X-09, X-14: the whole way, through a worker and its browser.
TEST_F(ExportCli, DocumentsBecomePdfsAndAnArchive) {
  const auto first = add("one.json", "Résumé 2025/26");
  const auto second = add("two.json", "Résumé 2025/26");
  const auto working = worker();
  const auto out = (folder_.path() / "pdfs").string();
  const auto one = run({"export", "run", first, "--page-size", "A4", "--grayscale", "--out", out});
  ASSERT_EQ(one.code, 0) << one.err << one.out;
  EXPECT_THAT(one.out, HasSubstr("completed"));
  EXPECT_THAT(one.out, HasSubstr("Résumé 2025_26.pdf"));
  const auto pdf = must(
      read_file(std::filesystem::path(out) / "Résumé 2025_26.pdf", std::size_t{64} * 1024 * 1024));
  EXPECT_TRUE(pdf.starts_with("%PDF-"));

  const auto zip = (folder_.path() / "all.zip").string();
  const auto both = json({"export", "run", first, second, "--zip", zip});
  EXPECT_TRUE(both.at("batchId").is_string());
  ASSERT_EQ(both.at("jobs").as_array().size(), 2U);
  EXPECT_EQ(both.at("jobs").at(0).at("status"), json::Value("completed"));
  EXPECT_GE(both.at("jobs").at(0).at("result").at("page_count").as_int64(), 1);
  const auto listed = run_command({"/usr/bin/python3", "-c",
                                   "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); "
                                   "assert z.testzip() is None; print(sorted(z.namelist()))",
                                   zip});
  EXPECT_EQ(listed.out, "['Résumé 2025_26 (2).pdf', 'Résumé 2025_26.pdf']\n") << listed.err;

  const auto history = json({"export", "history"}).as_array();
  EXPECT_EQ(history.size(), 3U);
  const std::string made(history.at(0).at("id").as_string());
  EXPECT_EQ(run({"export", "delete", "--history", made}).code, 0);
  EXPECT_EQ(json({"export", "history"}).as_array().size(), 2U);
}

}  // namespace
}  // namespace millrace::test
