// Exports as their users have them: a server, a worker with a real browser, and everything over
// HTTP, from the data to the bytes of the PDF.
#include "export_fixture.h"

#include <gmock/gmock.h>

#include <set>
#include <vector>

namespace millrace::test {
namespace {

using identity::Role;
using testing::StartsWith;

// The fixture's own world has no worker: this one shares its storage with one.
class ApiExportWorker : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TempFolder>();
    const auto storage = (folder_->path() / "blobs").string();
    world_ = std::make_unique<ApiWorld>(
        ApiWorld::Options{.env = {{"MILLRACE_STORAGE_FOLDER", storage}}});
    const auto ready = folder_->path() / "worker.ready";
    RunOptions how{.env = {{"DATABASE_URL", world_->database().url()},
                           {"MILLRACE_STORAGE_FOLDER", storage},
                           {"MILLRACE_DATABASE_DATA_DIR", (folder_->path() / "data").string()}},
                   .stdin_text = {},
                   .cwd = {}};
    worker_ = std::make_unique<BackgroundProgram>(
        std::vector<std::string>{"worker", "--ready-file", ready.string()}, how);
    worker_->wait_for_ready(ready);
  }
  static void TearDownTestSuite() {
    worker_->signal(SIGTERM);
    EXPECT_EQ(worker_->wait(), 0) << worker_->err();
    worker_.reset();
    world_.reset();
    folder_.reset();
  }
  static ApiWorld& world() { return *world_; }

  ApiExportWorker()
      : tenant_(world().new_tenant()),
        user_(world().new_user()),
        token_(world().jwt(Role::authenticated, tenant_, user_)) {}

  Answered post(const std::string& path, const std::string& body) {
    return world().post(path, token_, body);
  }
  Answered get(const std::string& path) { return world().get(path, token_); }
  std::string document(const std::string& title, const std::string& slug, const json::Value& data) {
    const auto made =
        post("/api/v1/export/documents",
             to_json(json::Object{{"title", title}, {"templateSlug", slug}, {"data", data}}));
    EXPECT_EQ(made.status, 201) << made.body;
    return std::string(made.json().at("data").at("id").as_string());
  }
  std::string sample(const std::string& slug) {
    const auto entry = get("/api/v1/export/templates/" + slug).json().at("data");
    return document("Sample of " + slug, slug, entry.at("sample"));
  }
  json::Object ended(const std::string& path) {
    json::Object state;
    EXPECT_TRUE(eventually([&] {
      state = get(path).json().at("data").as_object();
      return state.contains("finished") ? state.at("finished") == json::Value(true)
                                        : state.at("status") != json::Value("pending") &&
                                              state.at("status") != json::Value("processing");
    })) << path;
    return state;
  }
  static std::string path_of(const std::string& url) {
    const auto begin = url.find("/api/");
    return begin == url.npos ? url : url.substr(begin);
  }

  TenantId tenant_;
  identity::UserId user_;
  std::string token_;

 private:
  static inline std::unique_ptr<TempFolder> folder_;
  static inline std::unique_ptr<ApiWorld> world_;
  static inline std::unique_ptr<BackgroundProgram> worker_;
};

// X-01, X-03 to X-08, H-01, H-02, H-04, H-05, H-09, H-11: one document, all the way.
TEST_F(ApiExportWorker, AnOrderBecomesAPdfThatSaysWhatItIs) {
  const auto id = sample("report");
  auto sql = world().sql();
  // Whoever follows it is there before it begins.
  must(sql.query("select millrace.pause_queue('export')"));
  const auto made = post(
      "/api/v1/export/pdf",
      fmt::format(R"({{"documentId":"{}","options":{{"pageSize":"A4","preview":true}}}})", id));
  EXPECT_EQ(made.status, 202) << made.body;
  const std::string job(made.json().at("data").at("jobId").as_string());
  api::StreamClient live(
      world().address(), "/api/v1/export/job/" + job + "/stream",
      fmt::format("Accept: text/event-stream\r\nAuthorization: Bearer {}\r\n", token_));
  EXPECT_EQ(live.next_name(), "progress");
  must(sql.query("select millrace.resume_queue('export')"));
  std::vector<std::int64_t> steps;
  std::string url;
  for (auto got = live.next(); got; got = live.next()) {
    const auto data = must(parse_json_object(got->data));
    ASSERT_NE(got->event, "failed") << got->data;
    if (data.contains("progress")) {
      const auto step = data.at("progress").to_number<std::int64_t>();
      if (steps.empty() || steps.back() != step) steps.push_back(step);
    }
    if (got->event == "completed") url = data.at("resultUrl").as_string();
  }
  EXPECT_EQ(steps, (std::vector<std::int64_t>{0, 25, 50, 75, 90, 100}));  // X-04
  ASSERT_FALSE(url.empty());
  const auto pdf = world().get(path_of(url));
  ASSERT_EQ(pdf.status, 200);
  EXPECT_THAT(pdf.body.substr(0, 5), "%PDF-");
  EXPECT_EQ(pdf.header("content-type"), "application/pdf");
  EXPECT_EQ(pdf.header("cache-control"), "private, max-age=3600");  // X-06
  EXPECT_THAT(pdf.header("content-disposition"),
              StartsWith("attachment; filename=\"Sample of report.pdf\""));  // X-08

  const auto state = ended("/api/v1/export/job/" + job);
  EXPECT_EQ(state.at("progress"), json::Value(100));
  EXPECT_NE(state.at("resultUrl"), json::Value(url)) << "made anew for whoever asks (X-07)";
  const auto result = get("/api/v1/jobs/" + job).json().at("result");
  EXPECT_GT(result.at("page_count").as_int64(), 2) << "counted, not assumed (X-05)";
  EXPECT_THAT(std::string(result.at("file_path").as_string()),
              StartsWith(fmt::format("{}/{}_", user_, id)));  // X-06

  const auto history = get("/api/v1/export/history").json().at("data").at("items").as_array();
  ASSERT_EQ(history.size(), 1U);
  const auto& line = history.at(0).as_object();
  EXPECT_EQ(line.at("file_name"), json::Value("Sample of report.pdf"));  // X-08
  EXPECT_EQ(line.at("document_version"), json::Value(1));
  EXPECT_EQ(line.at("template_slug"), json::Value("report"));
  EXPECT_EQ(line.at("file_size"), json::Value(static_cast<std::int64_t>(pdf.body.size())));
  const auto download = get("/api/v1/export/download/" + std::string(line.at("id").as_string()));
  ASSERT_EQ(download.status, 302) << download.body;
  EXPECT_EQ(world().get(path_of(download.header("location"))).body, pdf.body);

  const auto preview = get("/api/v1/export/job/" + job + "/preview");
  ASSERT_EQ(preview.status, 200) << preview.body;
  EXPECT_EQ(preview.header("content-type"), "image/png");
}

// V-14, X-09, X-10, X-12 to X-14: five at once are queued, not refused, and come as one archive.
TEST_F(ApiExportWorker, ABatchOfFiveBecomesOneArchive) {
  std::string ids;
  for (const char* slug : {"minimal", "modern", "letter", "invoice", "minimal"}) {
    ids += fmt::format("{}\"{}\"", ids.empty() ? "" : ",", sample(slug));
  }
  const auto made = post("/api/v1/export/batch", fmt::format(R"({{"documentIds":[{}]}})", ids));
  ASSERT_EQ(made.status, 202) << made.body;
  const auto path =
      "/api/v1/export/batch/" + std::string(made.json().at("data").at("batchId").as_string());
  const auto state = ended(path);
  EXPECT_EQ(state.at("completedCount"), json::Value(5)) << to_json(state);
  EXPECT_EQ(state.at("progress"), json::Value(100));
  EXPECT_EQ(state.at("meanProgress"), json::Value(100));
  const auto zip = get(path + "/download");
  ASSERT_EQ(zip.status, 200) << zip.body;
  EXPECT_EQ(zip.header("content-disposition"),
            fmt::format("attachment; filename=\"resumes-{}.zip\"",
                        std::string_view(made.json().at("data").at("batchId").as_string())));
  const TempFolder folder;
  const auto tested = run_command(
      {"/usr/bin/python3", "-c",
       "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; "
       "print(len([n for n in z.namelist() if z.read(n).startswith(b'%PDF-')]), "
       "all(i.compress_type == zipfile.ZIP_DEFLATED for i in z.infolist()), "
       "'Sample of minimal (2).pdf' in z.namelist())",
       folder.write("batch.zip", zip.body).string()});
  EXPECT_EQ(tested.out, "5 True True\n") << tested.err;
}

// X-02: what was chosen is on the paper.
TEST_F(ApiExportWorker, OptionsChangeThePaper) {
  const auto id = sample("letter");
  std::set<std::string> boxes;
  for (const char* size : {"A4", "Letter", "Legal"}) {
    const auto made =
        post("/api/v1/export/pdf",
             fmt::format(R"({{"documentId":"{}","options":{{"pageSize":"{}"}}}})", id, size));
    ASSERT_EQ(made.status, 202) << made.body;
    const auto state =
        ended("/api/v1/export/job/" + std::string(made.json().at("data").at("jobId").as_string()));
    ASSERT_EQ(state.at("status"), json::Value("completed")) << to_json(state);
    const auto pdf = world().get(path_of(std::string(state.at("resultUrl").as_string()))).body;
    const auto at = pdf.find("/MediaBox");
    ASSERT_NE(at, pdf.npos);
    boxes.insert(pdf.substr(at, pdf.find(']', at) - at));
  }
  EXPECT_EQ(boxes.size(), 3U);
}

}  // namespace
}  // namespace millrace::test
