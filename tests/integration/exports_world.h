// Exports through the real programs, for tests: the server, workers with a real browser, a user.
//
// The server runs on a database of its own with its blobs in a folder; each worker is a process
// with browsers of its own. PDFs are looked at with poppler.
#pragma once

#include "base/file.h"
#include "upload_world.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <set>
#include <signal.h>
#include <sys/wait.h>

namespace millrace::test {

namespace fs = std::filesystem;

// A worker that takes exports, as its own process; keeper too.
class ExportWorkerProgram {
 public:
  explicit ExportWorkerProgram(UploadWorld& world, std::map<std::string, std::string> more = {}) {
    std::map<std::string, std::string> env{
        {"DATABASE_URL", world.api().database().url()},
        {"MILLRACE_STORAGE_FOLDER", world.blobs().string()},
        {"MILLRACE_EXPORT_SCRATCH_DIR", (folder_.path() / "browsers").string()},
        {"MILLRACE_DOCUMENTS_ENABLED", "false"},
        {"LOG_LEVEL", "info"}};
    for (auto& [name, value] : more) env[name] = value;
    const bool doomed = env.contains("MILLRACE_FAULT");
    const auto ready = folder_.path() / "ready.json";
    program_ = std::make_unique<BackgroundProgram>(
        std::vector<std::string>{"worker", "--slots", "8", "--lease", "3s", "--ready-file",
                                 ready.string()},
        RunOptions{.env = std::move(env), .stdin_text = {}, .cwd = {}});
    if (!doomed) program_->wait_for_ready(ready);
  }
  ~ExportWorkerProgram() {
    if (killed_) return;
    program_->signal(SIGTERM);
    EXPECT_EQ(program_->wait(), 0) << program_->err();
  }
  void kill() {
    killed_ = true;
    program_->signal(SIGKILL);
    program_->wait();
  }
  void stop() const { program_->signal(SIGTERM); }
  // Whether it dies by itself: of a fault point that it was armed with (MILLRACE_FAULT).
  bool dies() {
    const bool ended = eventually([&] {
      siginfo_t info{};
      return ::waitid(P_PID, static_cast<id_t>(program_->pid()), &info,
                      WEXITED | WNOHANG | WNOWAIT) == 0 &&
             info.si_pid == program_->pid();
    });
    if (!ended) return false;
    killed_ = true;
    return program_->wait() == 128 + SIGKILL;
  }
  // Its children: the leaders of its browsers.
  std::vector<pid_t> browsers() const { return children_of({program_->pid()}); }
  // All processes of its browsers.
  std::vector<pid_t> processes() const {
    std::vector<pid_t> all;
    for (auto more = browsers(); !more.empty(); more = children_of({more.begin(), more.end()})) {
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }
  void signal_browsers(int number) const {
    for (const auto pid : processes()) ::kill(pid, number);
  }
  std::string err() const { return program_->err(); }

 private:
  static std::vector<pid_t> children_of(const std::set<pid_t>& parents) {
    std::vector<pid_t> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const auto name = entry.path().filename().string();
      if (name.find_first_not_of("0123456789") != name.npos) continue;
      const auto stat = read_file(entry.path() / "stat");
      if (!stat) continue;
      const auto after = stat->rfind(')');
      if (parents.contains(std::stoi(stat->substr(after + 4)))) found.push_back(std::stoi(name));
    }
    return found;
  }

  TempFolder folder_;
  std::unique_ptr<BackgroundProgram> program_;
  bool killed_ = false;
};

inline std::string run_tool(const std::string& command) {
  std::string out;
  auto* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return out;
  char piece[4096];
  for (std::size_t got = 0; (got = std::fread(piece, 1, sizeof piece, pipe)) > 0;) {
    out.append(piece, got);
  }
  ::pclose(pipe);
  return out;
}

class Exports : public testing::Test {
 protected:
  static void SetUpTestSuite() { world_ = std::make_unique<UploadWorld>(); }
  static void TearDownTestSuite() {
    worker_.reset();
    world_.reset();
  }
  static UploadWorld& world() { return *world_; }
  static ApiWorld& api() { return world_->api(); }

  std::string value(const std::string& query, pg::Params params = {}) {
    auto sql = api().sql();
    const auto rows = must(sql.query(query, std::move(params)));
    return rows.empty() ? "(none)" : rows[0].opt_text(0).value_or("(null)");
  }
  void config(std::string_view key, std::string_view to) {
    value("select millrace.set_config_value($1, $2)::text", pg::params(key, to));
  }
  Answered post(const std::string& path, const std::string& body) {
    return api().post(path, who_.token, body);
  }
  static std::string text_at(const json::Value& value, std::string_view name) {
    const auto* member = value.as_object().if_contains(name);
    return member != nullptr && member->is_string() ? std::string(member->get_string()) : "";
  }

  // A résumé whose words tests look for.
  static std::string resume(const std::string& name, const std::string& more = {}) {
    return fmt::format(R"({{"profile":{{"name":"{}"}}{}}})", name, more);
  }
  // With so many jobs behind them (60 at most), each with so many lines (30 at most) of half a
  // kilobyte: 60 of 30 are hundreds of pages, more than a browser prints in a second.
  static std::string long_resume(const std::string& name, int jobs, int lines = 2) {
    std::string sentence;
    while (sentence.size() < 440) sentence += "Did one thing after another. ";
    std::string points;
    for (int i = 0; i < lines; ++i) points += fmt::format("{}\"{}\"", i == 0 ? "" : ",", sentence);
    std::string list;
    for (int i = 0; i < jobs; ++i) {
      list += fmt::format(R"({}{{"position":"Engineer {}","start":"2001","highlights":[{}]}})",
                          i == 0 ? "" : ",", i, points);
    }
    return resume(name, R"(,"experience":[)" + list + "]");
  }
  std::string keep(const std::string& title, const std::string& data,
                   const std::string& slug = "minimal") {
    return value(
        "select millrace.put_export_document($1, null, jsonb_build_object('title', $2::text, "
        "'templateSlug', $3::text, 'data', $4::jsonb)) ->> 'id' from set_config("
        "'millrace.tenant_id', $5, false)",
        pg::params(who_.user, title, slug, data, who_.tenant.to_string()));
  }
  void change(const std::string& id, const std::string& title, const std::string& data) {
    value(
        "select millrace.put_export_document($1, $2::uuid, jsonb_build_object('title', $3::text, "
        "'data', $4::jsonb))::text from set_config('millrace.tenant_id', $5, false)",
        pg::params(who_.user, id, title, data, who_.tenant.to_string()));
  }
  std::string order(const std::string& document, const std::string& more = {}) {
    const auto made =
        post("/api/v1/export/pdf", fmt::format(R"({{"documentId":"{}"{}}})", document, more));
    EXPECT_EQ(made.status, 202) << made.body;
    return made.status == 202 ? text_at(made.json().at("data"), "jobId") : "";
  }
  json::Object state(const std::string& job) {
    const auto got = api().get("/api/v1/export/job/" + job, who_.token);
    EXPECT_EQ(got.status, 200) << got.body;
    return got.status == 200 ? got.json().at("data").as_object() : json::Object();
  }
  std::string status(const std::string& job) { return text_at(state(job), "status"); }
  // Its status in the end.
  std::string ended(const std::string& job) {
    std::string now;
    eventually([&] {
      now = status(job);
      return now == "completed" || now == "failed" || now == "cancelled";
    });
    return now;
  }
  // In the words of the engine, which knows retrying.
  std::string engine_status(const std::string& job) {
    return value("select millrace.get_job($1::uuid) ->> 'status'", pg::params(job));
  }
  std::string error_type(const std::string& job) {
    return value(
        "select a.error ->> 'error_type' from millrace.attempt a where a.job_id = $1::uuid order "
        "by a.attempt_seq desc limit 1",
        pg::params(job));
  }
  // As an operator does: it waits no longer.
  void run_now(const std::string& job) {
    EXPECT_NE(value("select answer from millrace.run_now(array[$1::uuid])", pg::params(job)),
              "not_found");
  }
  std::string result(const std::string& job, std::string_view name) {
    return value("select millrace.get_job($1::uuid) -> 'result' ->> $2", pg::params(job, name));
  }
  // By the link that the state of the job has.
  Answered download(const std::string& job) {
    auto url = text_at(state(job), "resultUrl");
    url = url.substr(std::min(url.size(), url.find("/api/")));
    return api().get(url);
  }
  fs::path save(const std::string& bytes, const std::string& name = "file.pdf") {
    const auto path = folder_.path() / name;
    EXPECT_TRUE(write_file_atomically(path, bytes));
    return path;
  }
  std::string words_of(const std::string& pdf) {
    return run_tool("pdftotext -enc UTF-8 " + save(pdf).string() + " -");
  }
  std::string info_of(const std::string& pdf) {
    return run_tool("pdfinfo -enc UTF-8 " + save(pdf).string());
  }
  // Every file that can be downloaded has its object and content, and the other way round; the
  // books of the queue balance; nothing is reserved.
  void expect_sound() {
    EXPECT_EQ(value("select count(*) from millrace.export_history h full join "
                    "millrace.storage_object o on o.tenant_id = h.tenant_id and o.name = "
                    "h.file_path and o.bucket = 'exports' and o.size_bytes = h.file_size where "
                    "h.id is null or (o.object_id is null)"),
              "0");
    EXPECT_EQ(value("select count(*) from (select from millrace.export_history group by job_id "
                    "having count(*) > 1) twice"),
              "0");
    EXPECT_EQ(value("select count(*) from millrace.queue_counts() c where c.enqueued <> "
                    "c.completed + c.failed + c.cancelled + c.live"),
              "0");
    EXPECT_EQ(value("select count(*) from millrace.export_reservation r join millrace.job_history "
                    "h using (job_id) where h.status = 'completed'"),
              "0");
  }

  UploadWorld::Person who_ = world_->person();
  TempFolder folder_;
  inline static std::unique_ptr<UploadWorld> world_;
  inline static std::unique_ptr<ExportWorkerProgram> worker_;
};

}  // namespace millrace::test
