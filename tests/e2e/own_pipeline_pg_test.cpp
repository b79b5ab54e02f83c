// Pipelines of users' own, run by the real program (Q-24, K10): the example, programs and addresses
// as stages, what becomes of their failures, and a file that changes while documents are on their
// way.
#include "base/file.h"
#include "program.h"
#include "small_server.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <thread>

namespace millrace::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr std::string_view kUser = "00000000-0000-4000-8000-00000000000a";

// Sends stdin, prints the answer, whatever its status.
constexpr const char* kPost = R"(
import sys, urllib.error, urllib.request
request = urllib.request.Request(sys.argv[1], sys.stdin.buffer.read(),
    {"Authorization": "Bearer " + sys.argv[2], "Content-Type": "text/plain"})
try:
    print(urllib.request.urlopen(request).read().decode())
except urllib.error.HTTPError as error:
    print(error.read().decode())
)";

class OwnPipeline : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_.path() / name).parent_path());
    ASSERT_TRUE(write_file_atomically(folder_.path() / name, text, 0755));
  }
  // A pipeline file whose stages begin with a scan, in a queue that tries again at once.
  void write_pipeline(const std::string& name, const std::string& version,
                      const std::string& stages) const {
    write(
        fmt::format("pipelines/{}.toml", name),
        fmt::format("name = \"{0}\"\nversion = \"{1}\"\n[[queue]]\nname = \"{0}\"\nmax_attempts = "
                    "1000\nbackoff_base = \"50ms\"\nbackoff_cap = \"50ms\"\n[[stage]]\nname = "
                    "\"{0}_scan\"\nrun = \"scan\"\nqueue = \"{0}\"\n{2}",
                    name, version, stages));
    write("millrace.toml", "[pipeline]\ndir = \"pipelines\"\n");
  }
  // A stage, in a queue of its own, that tries until write("open", "").
  static std::string gated(const std::string& word) {
    return fmt::format(
        "[[stage]]\nname = \"notes_{0}\"\nrun = \"exec:./gate.py {0}\"\nqueue = \"notes_{0}\"\n"
        "[[queue]]\nname = \"notes_{0}\"\nmax_attempts = 1000\nbackoff_base = \"50ms\"\n"
        "backoff_cap = \"50ms\"\n",
        word);
  }
  void write_gate() const {
    write("pipelines/gate.py",
          "#!/usr/bin/env python3\nimport json, os, sys\n"
          "if not os.path.exists('../open'): sys.exit(75)\nprint(json.dumps(sys.argv[1]))\n");
  }
  void use_example() const {
    fs::copy(fs::path(MILLRACE_SOURCE_DIR) / "examples/pipeline", folder_.path(),
             fs::copy_options::recursive);
  }

  void up() {
    const auto ready = folder_.path() / "ready.json";
    program_ = std::make_unique<BackgroundProgram>(
        std::vector<std::string>{"up", "--ready-file", ready.string()}, here());
    url_ = program_->wait_for_ready(ready).at("http_url").as_string();
    auto token = run({"token", "create", "--role", "authenticated", "--user", std::string(kUser)});
    ASSERT_EQ(token.code, 0) << token.err;
    token_ = token.out.substr(0, token.out.find('\n'));
  }
  void down() {
    program_->signal(SIGTERM);
    EXPECT_EQ(program_->wait(), 0) << program_->err();
  }
  RunOptions here() const { return {.env = {}, .stdin_text = {}, .cwd = folder_.path()}; }
  RunResult run(const std::vector<std::string>& arguments) const {
    return run_millrace(arguments, here());
  }
  // The answer of the server.
  json::Value upload(const std::string& text, const std::string& pipeline) const {
    auto options = here();
    options.stdin_text = text;
    const auto done = run_command(
        {"python3", "-c", kPost,
         fmt::format("{}/api/v1/uploads?pipeline={}&file_name=a.txt", url_, pipeline), token_},
        options);
    EXPECT_EQ(done.code, 0) << done.err;
    return done.json();
  }
  std::string upload_id(const std::string& text, const std::string& pipeline) const {
    const auto answer = upload(text, pipeline);
    EXPECT_TRUE(answer.as_object().contains("job_id")) << to_json(answer);
    return answer.as_object().contains("id") ? std::string(answer.at("id").as_string()) : "";
  }
  std::string sql(const std::string& text) const {
    auto out = run({"psql", "--", "-Atc", text}).out;
    if (out.ends_with('\n')) out.pop_back();
    return out;
  }
  // Waits for the end of the document; how it ended.
  std::string end_of(const std::string& id) const {
    const auto state = fmt::format("select state from millrace.document where file_id = '{}'", id);
    EXPECT_TRUE(eventually([&] {
      const auto now = sql(state);
      return !now.empty() && now != "processing";
    })) << sql("select jsonb_pretty(processing_error) from millrace.shell_files")
        << program_->err();
    return sql(state);
  }
  // What a stage answered: page:result, in order.
  std::string results(const std::string& id, const std::string& stage) const {
    return sql(
        fmt::format("select string_agg(page || ':' || (meta -> 'result')::text, ' ' order by "
                    "page) from millrace.page_result where file_id = '{}' and stage = '{}'",
                    id, stage));
  }

  TempFolder folder_;
  std::unique_ptr<BackgroundProgram> program_;
  std::string url_;
  std::string token_;
};

TEST_F(OwnPipeline, TheExampleDoesWhatItSays) {
  use_example();
  const auto checked = run({"pipeline", "check", "pipelines"});
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_EQ(checked.err, "");
  up();
  const auto refused = upload("x", "invoicez");
  EXPECT_EQ(refused.at("status").as_int64(), 400);
  EXPECT_EQ(refused.at("detail").as_string(),
            "pipeline must be one that a worker has: guardian, ingest, invoices");

  const auto invoice = read_file(folder_.path() / "invoice.txt");
  ASSERT_TRUE(invoice);
  const auto id = upload_id(*invoice, "invoices");
  EXPECT_EQ(end_of(id), "completed");
  EXPECT_THAT(results(id, "invoices_totals"), HasSubstr(R"("page_cents": 49990)"));
  EXPECT_EQ(results(id, "invoices_sum"), R"(0:{"cents": 51500, "pages": 2, "currency": "EUR"})");
  // Its queue was made as the file says, and its result is told with the document.
  EXPECT_EQ(sql("select max_attempts || ' ' || concurrency_max from millrace.queue where queue = "
                "'invoices'"),
            "4 16");
  EXPECT_EQ(sql("select summary #>> '{invoices_sum,cents}' from millrace.document"), "51500");
  EXPECT_EQ(
      sql("select count(*) from millrace.document_output where kind in ('results', 'manifest', "
          "'text', 'pdf')"),
      "4");
  const auto exported = run({"documents", "export", id, "--format", "results", "--out", "out"});
  EXPECT_EQ(exported.code, 0) << exported.err;
  const auto lines = read_file(folder_.path() / "out/results.jsonl").value_or("");
  EXPECT_THAT(lines, HasSubstr(R"({"stage":"invoices_totals","page":2,"result":{"currency")"));
  EXPECT_THAT(lines, HasSubstr(R"({"stage":"invoices_sum","result":{"currency": "EUR")"));
  // The same content again: no page is done twice.
  const auto again = upload_id(*invoice, "invoices");
  EXPECT_EQ(end_of(again), "completed");
  EXPECT_EQ(
      sql(fmt::format("select bool_and(reused) from millrace.page_result where file_id = '{}' "
                      "and stage in ('invoices_read', 'invoices_totals')",
                      again)),
      "t");
  down();
}

TEST_F(OwnPipeline, AFailedPageIsGivenUpAndTheOthersGoOn) {
  write_pipeline(
      "notes", "1.0.0",
      "[[stage]]\nname = \"notes_read\"\nrun = \"ocr\"\nqueue = \"notes\"\n"
      "[[stage]]\nname = \"notes_shout\"\nrun = \"exec:./shout.py\"\neach = \"page\"\nqueue "
      "= \"notes\"\nrequires = [\"text\", \"pages\"]\noutputs = [\"loud\"]\noptions = { mark "
      "= \"!\" }\n"
      "[[stage]]\nname = \"notes_all\"\nrun = \"exec:./all.py\"\nqueue = \"notes\"\nrequires "
      "= [\"loud\", \"text\", \"pages\"]\n");
  write("pipelines/shout.py",
        "#!/usr/bin/env python3\nimport json, os, signal, sys\njob = json.load(sys.stdin)\n"
        "text = job['inputs']['text'].strip()\n"
        "if text == 'wrong': sys.exit(65)\n"
        "if text == 'dies' and job['attempt'] == 1: os.kill(os.getpid(), signal.SIGSEGV)\n"
        "assert job['inputs']['pages']['page'] == job['page'] == job['payload']['page']\n"
        "print(json.dumps(text.upper() + job['options']['mark']))\n");
  write("pipelines/all.py",
        "#!/usr/bin/env python3\nimport json, sys\njob = json.load(sys.stdin)\n"
        "i = job['inputs']\nd = job['document']\n"
        "json.dump([d['page_count'], d['kind'], [p['page'] for p in i['loud']], [p['content'] for "
        "p in "
        "i['loud']], len(i['text']), len(i['pages'])], sys.stdout)\n");
  up();
  const auto id = upload_id("good\fwrong\fdies\n", "notes");
  EXPECT_EQ(end_of(id), "partial");
  EXPECT_EQ(results(id, "notes_shout"), R"(1:"GOOD!" 3:"DIES!")");
  EXPECT_EQ(results(id, "notes_all"), R"(0:[3, "text", [1, 3], ["GOOD!", "DIES!"], 3, 3])");
  EXPECT_EQ(
      sql("select page || ' ' || failed_stage || ' ' || failed_reason from millrace.page where "
          "state = 'failed'"),
      "2 notes_shout exit_code");
  // What killed its program is the program's affair: others may read the page.
  EXPECT_EQ(sql("select count(*) from millrace.quarantine"), "0");
  down();
}

TEST_F(OwnPipeline, AnAddressIsAskedLikeAProgram) {
  boost::asio::io_context io;
  std::mutex mutex;  // Guards asked.
  std::vector<StandInRequest> asked;
  SmallServer server(io, [&](const StandInRequest& request) {
    const std::lock_guard lock(mutex);
    asked.push_back(request);
    if (asked.size() == 1) return StandInAnswer{.status = 503, .body = "not yet"};
    return StandInAnswer{.headers = {{"content-type", "application/json"}},
                         .body = "{\"filed\":\n true}"};
  });
  auto work = boost::asio::make_work_guard(io);
  std::thread thread([&io] { io.run(); });
  write_pipeline(
      "notes", "1.0.0",
      fmt::format("[[stage]]\nname = \"notes_read\"\nrun = \"ocr\"\nqueue = "
                  "\"notes\"\n[[stage]]\nname = \"notes_file\"\nrun = "
                  "\"http://127.0.0.1:{}/file\"\nqueue = \"notes\"\nrequires = [\"text\"]\n",
                  server.port()));
  up();
  const auto id = upload_id("hello\n", "notes");
  EXPECT_EQ(end_of(id), "completed");
  EXPECT_EQ(results(id, "notes_file"), R"(0:{"filed": true})");
  down();
  work.reset();
  io.stop();
  thread.join();
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_EQ(asked[1].path, "/file");
  EXPECT_EQ(asked[0].header("idempotency-key"), asked[1].header("idempotency-key"));
  const auto body = parse_json_object(asked[1].body);
  ASSERT_TRUE(body);
  EXPECT_EQ(body->at("document").at("id").as_string(), id);
  EXPECT_THAT(to_json(body->at("inputs").at("text")), HasSubstr("hello"));
}

// The file is replaced, its stage renamed, and the worker started anew while a document waits in
// it.
TEST_F(OwnPipeline, AChangedFileIsForDocumentsThatComeLater) {
  write_gate();
  write_pipeline("notes", "1.0.0", gated("one"));
  up();
  const auto old = upload_id("old\n", "notes");
  EXPECT_TRUE(eventually([&] { return sql("select stage from millrace.document") == "notes_one"; }))
      << program_->err();
  down();
  write_pipeline("notes", "2.0.0", gated("two"));
  up();
  const auto next = upload_id("next\n", "notes");
  write("open", "");
  EXPECT_EQ(end_of(old), "completed");
  EXPECT_EQ(end_of(next), "completed");
  EXPECT_EQ(results(old, "notes_one"), R"(0:"one")");
  EXPECT_EQ(results(next, "notes_two"), R"(0:"two")");
  EXPECT_EQ(sql("select string_agg(v.version, ' ' order by d.started_at) from millrace.document d "
                "join millrace.pipeline_version v on v.hash = d.pipeline_hash"),
            "1.0.0 2.0.0");
  down();
}

TEST_F(OwnPipeline, ADocumentIsFinishedWhoseFileWasTakenAway) {
  write_gate();
  write_pipeline("notes", "1.0.0", gated("one"));
  up();
  const auto id = upload_id("old\n", "notes");
  EXPECT_TRUE(eventually([&] { return sql("select stage from millrace.document") == "notes_one"; }))
      << program_->err();
  down();
  fs::remove(folder_.path() / "pipelines/notes.toml");
  write("open", "");
  up();
  EXPECT_EQ(end_of(id), "completed");
  EXPECT_EQ(results(id, "notes_one"), R"(0:"one")");
  down();
}

TEST_F(OwnPipeline, AWorkerStartsWithoutAProviderAndSaysSo) {
  write_pipeline(
      "notes", "1.0.0",
      "[[stage]]\nname = \"notes_read\"\nrun = \"ocr\"\nqueue = \"notes\"\nprovider = "
      "\"google\"\noptions = { mode = \"ocr\" }\n[[stage]]\nname = \"notes_gone\"\nrun = "
      "\"exec:./gone.py\"\nqueue = \"notes\"\n");
  const auto checked = run({"pipeline", "check"});
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_THAT(checked.err,
              HasSubstr("notes.toml:16:1: stage \"notes_read\": provider \"google\" is "
                        "not configured here"));
  EXPECT_THAT(checked.err, HasSubstr("./gone.py is not there"));
  up();
  const auto id = upload_id("hello\n", "notes");
  EXPECT_TRUE(eventually([&] {
    return sql("select count(*) from millrace.attempt where outcome = 'blocked'") != "0";
  })) << program_->err();
  EXPECT_EQ(sql("select state from millrace.document"), "processing");
  EXPECT_THAT(program_->err(), HasSubstr("provider \\\"google\\\" is not configured here"));
  down();
}

TEST_F(OwnPipeline, AWorkerDoesNotStartWithABrokenFile) {
  write_pipeline("notes", "1.0.0",
                 "[[stage]]\nname = \"notes_x\"\nrun = \"exec:x\"\ntimout = \"1s\"\n");
  const auto worker = run({"up"});
  EXPECT_EQ(worker.code, 2) << worker.err;
  EXPECT_THAT(worker.err,
              HasSubstr("notes.toml:15:1: stage \"notes_x\": unknown key \"timout\"; did "
                        "you mean timeout?"));
}

}  // namespace
}  // namespace millrace::test
