// Documents through the real programs, for tests: the server, workers that read, a provider that
// can be told to misbehave, and what must hold of every document whatever happened.
//
// The server runs on a database of its own with its blobs in a folder; each worker is a process.
#pragma once

#include "base/file.h"
#include "blob/digest.h"
#include "integration/made_pdf.h"
#include "upload_world.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace millrace::test {

namespace fs = std::filesystem;

// A worker that takes documents, as its own process; keeper too.
class DocumentWorker {
 public:
  DocumentWorker(UploadWorld& world, std::map<std::string, std::string> more = {}) {
    std::map<std::string, std::string> env{
        {"DATABASE_URL", world.api().database().url()},
        {"MILLRACE_STORAGE_FOLDER", world.blobs().string()},
        {"MILLRACE_DOCUMENTS_SCRATCH_DIR", (folder_.path() / "scratch").string()},
        {"MILLRACE_DOCUMENTS_CHILDREN_MAX", "2"},
        {"LOG_LEVEL", "info"}};
    for (auto& [name, value] : more) env[name] = value;
    const bool doomed = env.contains("MILLRACE_FAULT");
    const auto ready = folder_.path() / "ready.json";
    program_ = std::make_unique<BackgroundProgram>(
        std::vector<std::string>{"worker", "--slots", "4", "--lease", "3s", "--ready-file",
                                 ready.string()},
        RunOptions{.env = std::move(env), .stdin_text = {}, .cwd = {}});
    if (!doomed) program_->wait_for_ready(ready);  // It may die before anybody has seen it ready.
  }
  ~DocumentWorker() {
    if (killed_) return;
    program_->signal(SIGTERM);
    EXPECT_EQ(program_->wait(), 0) << program_->err();
  }
  void kill() {
    killed_ = true;
    program_->signal(SIGKILL);
    program_->wait();
  }
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
  fs::path scratch() const { return folder_.path() / "scratch"; }
  // What its files without names take there: they are to be seen in its descriptors only.
  std::uint64_t scratch_bytes() const {
    std::map<ino_t, std::uint64_t> files;
    std::error_code error;
    const auto folder = fs::path("/proc") / std::to_string(program_->pid()) / "fd";
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      const auto target = fs::read_symlink(entry.path(), error).string();
      struct stat info{};
      if (!target.starts_with(scratch().string()) || ::stat(entry.path().c_str(), &info) != 0) {
        continue;
      }
      files[info.st_ino] = static_cast<std::uint64_t>(info.st_blocks) * 512;
    }
    std::uint64_t total = 0;
    for (const auto& [inode, bytes] : files) total += bytes;
    return total;
  }
  // The processes of the program that reads documents: the warm one, and its children.
  std::vector<pid_t> readers() const {
    std::vector<pid_t> found;
    std::set<pid_t> family{program_->pid()};
    for (bool more = true; std::exchange(more, false);) {
      for (const auto& entry : fs::directory_iterator("/proc")) {
        const auto name = entry.path().filename().string();
        if (name.find_first_not_of("0123456789") != name.npos) continue;
        const auto stat = read_file(entry.path() / "stat");
        if (!stat) continue;
        const auto after = stat->rfind(')');
        const pid_t pid = std::stoi(name);
        const pid_t parent = std::stoi(stat->substr(after + 4));
        if (!family.contains(parent) || !family.insert(pid).second) continue;
        found.push_back(pid);
        more = true;
      }
    }
    return found;
  }

 private:
  TempFolder folder_;
  std::unique_ptr<BackgroundProgram> program_;
  bool killed_ = false;
};

class Documents : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    world_ = std::make_unique<UploadWorld>();
    worker_ = std::make_unique<DocumentWorker>(*world_);
  }
  static void TearDownTestSuite() {
    worker_.reset();
    world_.reset();
  }
  static UploadWorld& world() { return *world_; }
  static ApiWorld& api() { return world_->api(); }

  std::string upload(const std::string& content, const std::string& name = "letter.pdf",
                     const std::string& pipeline = {}) {
    auto ask = UploadWorld::raw(who_, content, {}, name);
    if (!pipeline.empty()) ask.path += "&pipeline=" + pipeline;
    const auto made = api().ask(ask);
    EXPECT_EQ(made.status, 201) << made.body;
    return text_of(made, "id");
  }
  std::string value(const std::string& query, pg::Params params = {}) {
    auto sql = api().sql();
    const auto rows = must(sql.query(query, std::move(params)));
    return rows.empty() ? "(none)" : rows[0].opt_text(0).value_or("(null)");
  }
  std::string state(const std::string& id) {
    return value("select status from millrace.shell_files where id = $1::uuid", pg::params(id));
  }
  // Its state in the end.
  std::string ended(const std::string& id) {
    eventually([&] { return state(id) != "uploaded" && state(id) != "processing"; });
    return state(id);
  }
  json::Object document(const std::string& id) {
    const auto answered = api().get("/api/v1/documents/" + id, who_.token);
    EXPECT_EQ(answered.status, 200) << answered.body;
    return answered.json().as_object();
  }
  std::string output(const std::string& id, const std::string& kind) {
    const auto answered =
        api().get(fmt::format("/api/v1/documents/{}/outputs/{}", id, kind), who_.token);
    EXPECT_EQ(answered.status, 200) << kind << ": " << answered.body.substr(0, 300);
    return answered.body;
  }
  std::string pages(const std::string& id, std::string_view stage) {
    return value(
        "select string_agg(r.page || case when r.reused then ' reused' else ' done' end, ', ' "
        "order by "
        "r.page) from millrace.page_result r where r.file_id = $1::uuid and r.stage = $2 and "
        "r.page > 0",
        pg::params(id, stage));
  }
  // Every file of the manifest has the digest and size it says, and nothing else is handed out.
  void expect_manifest(const std::string& id) {
    const auto manifest = must(parse_json_object(output(id, "manifest")));
    std::set<std::string> kinds;
    for (const auto& one : manifest.at("artifacts").as_array()) {
      const std::string kind(one.at("kind").as_string());
      const auto content = output(id, kind);
      EXPECT_EQ(blob::sha256(content).hex(), one.at("sha256").as_string()) << kind;
      EXPECT_EQ(content.size(), one.at("size_bytes").to_number<std::size_t>()) << kind;
      kinds.insert(kind);
    }
    for (const auto* kind :
         {"text", "words", "hocr", "alto", "pdf", "facts", "facts_csv", "fhir", "narrative"}) {
      EXPECT_TRUE(kinds.contains(kind)) << kind;
    }
    EXPECT_EQ(value("select count(*) from millrace.document_output where file_id = $1::uuid",
                    pg::params(id)),
              std::to_string(kinds.size() + 1));
  }
  // A-05 and the books, after whatever happened.
  void expect_sound() {
    EXPECT_EQ(
        value(
            "select count(*) from millrace.page_result r join millrace.shell_files f on f.id = "
            "r.file_id "
            "where not exists (select from millrace.audit a where a.patient_id = f.patient_id and "
            "a.record_id like r.file_id || '%')"),
        "0");
    EXPECT_EQ(value("select count(*) from millrace.clinical_fact c where not exists (select from "
                    "millrace.audit a "
                    "where a.patient_id = c.patient_id and a.record_id like c.file_id || '/' || "
                    "c.page || '/%')"),
              "0");
    EXPECT_EQ(value("select count(*) from millrace.queue_counts() c where c.enqueued <> "
                    "c.completed + c.failed + "
                    "c.cancelled + c.live"),
              "0");
  }

  UploadWorld::Person who_ = world_->person();
  inline static std::unique_ptr<UploadWorld> world_;
  inline static std::unique_ptr<DocumentWorker> worker_;
};

inline PdfPage letter(const std::string& name, const std::string& drug) {
  return {"Calder Valley Medical Centre",
          "Re: " + name,
          "Diagnoses",
          "Hypertension",
          "Medications",
          drug + " 500 mg twice daily",
          "Yours sincerely, Dr Quayle"};
}

// --- A provider ---

// The stand-in of tests/provider as a process of its own; ends with this one.
class StandInProgram {
 public:
  explicit StandInProgram(const std::string& settings) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::execl(MILLRACE_STAND_IN, MILLRACE_STAND_IN, "0", settings.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    std::string line;
    for (char c = 0; ::read(ends[0], &c, 1) == 1 && c != '\n';) line += c;
    ::close(ends[0]);
    url_ = line.substr(line.find("http://"));
    client_ =
        std::make_unique<WireClient>(must(http::parse_listen(url_.substr(url_.rfind('/') + 1))));
  }
  ~StandInProgram() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  const std::string& url() const { return url_; }
  json::Object ask(const std::string& method, const std::string& path,
                   const std::string& body = {}) {
    const auto heard = client_->ask(
        ApiWorld::bytes_of(
            {.method = method, .path = path, .body = body, .content_type = "application/json"}),
        {});
    EXPECT_EQ(heard.status, 200) << heard.body;
    return heard.body.empty() ? json::Object() : must(parse_json_object(heard.body));
  }

 private:
  pid_t pid_ = -1;
  std::string url_;
  std::unique_ptr<WireClient> client_;
};

inline constexpr const char* kPaid = R"(
name = "paid"
version = "1.0.0"

[[queue]]
name = "paid"
max_attempts = 7
backoff_base = "100ms"
backoff_factor = 2
backoff_cap = "1s"

[[stage]]
name = "paid_scan"
run = "scan"
queue = "paid"

[[stage]]
name = "paid_read"
run = "ocr"
queue = "paid"

[[stage]]
name = "paid_map"
run = "spatial"
queue = "paid"

[[stage]]
name = "paid_pass1"
run = "detect"
queue = "paid"
provider = "openai"
timeout = "20s"
call_timeout = "2s"

[[stage]]
name = "paid_pass2"
run = "extract"
queue = "paid"
provider = "openai"
timeout = "20s"
call_timeout = "2s"

[[stage]]
name = "paid_pass3"
run = "narrate"
queue = "paid"
provider = "openai"
timeout = "20s"
call_timeout = "2s"
)";

class PaidDocuments : public Documents {
 protected:
  static void SetUpTestSuite() { world_ = std::make_unique<UploadWorld>(); }

  void SetUp() override {
    stand_in_ = std::make_unique<StandInProgram>(
        R"({"keys": {"k": {"requests": 25, "concurrency": 2}}, "window_ms": 2000})");
    pipelines_.write("paid.toml", kPaid);
    // Half a minute of cooldown is meant for services, not for tests.
    value(
        "select millrace.set_limit('openai', 'stand-in', '{\"concurrent_requests\": 2, "
        "\"requests_per_minute\": 20, "
        "\"minute_window\": \"2 seconds\", \"breaker_cooldown\": \"500 milliseconds\"}')");
    worker_ = std::make_unique<DocumentWorker>(*world_, paid_env());
  }
  void TearDown() override { worker_.reset(); }

  std::map<std::string, std::string> paid_env() const {
    return {{"MILLRACE_PIPELINE_DIR", pipelines_.path().string()},
            {"MILLRACE_OPENAI_BASE_URL", stand_in_->url() + "/v1"},
            {"OPENAI_API_KEY", "k"},
            {"MILLRACE_OPENAI_ALLOW_HTTP", "true"},
            {"MILLRACE_OPENAI_MODEL", "stand-in"},
            {"MILLRACE_OPENAI_PRICE_INPUT", "1.00"},
            {"MILLRACE_OPENAI_PRICE_OUTPUT", "2.00"}};
  }
  static void TearDownTestSuite() { world_.reset(); }

  // What the provider itself counted.
  void expect_within_limits() {
    const auto state = stand_in_->ask("GET", "/control/state");
    const auto& use = state.at("keys").at("k").as_object();
    EXPECT_EQ(use.at("refused"), 0) << to_json(state);
    EXPECT_LE(use.at("open_max").to_number<int>(), 2) << to_json(state);
    EXPECT_EQ(state.at("script_left"), 0) << to_json(state);
  }

  TempFolder pipelines_;
  std::unique_ptr<StandInProgram> stand_in_;
};

}  // namespace millrace::test
