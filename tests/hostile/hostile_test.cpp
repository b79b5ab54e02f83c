// T18: every hostile file, through the real program in its real jail, is refused or ends inside the
// limits, and the worker does not notice: not in its memory, not on its disk, not in its
// descriptors, and not in what it does beside. F16, F17, J01, J02, J03, J06.
#include "base/both.h"
#include "base/json.h"
#include "base/run.h"
#include "corpus.h"
#include "sandbox/memory_file.h"
#include "sandbox/task.h"

#include <boost/asio/io_context.hpp>
#include <boost/json/array.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <malloc.h>
#include <set>
#include <sys/stat.h>

namespace millrace::hostile {
namespace {

using End = sandbox::TaskResult::End;

constexpr std::uint64_t kMega = 1024 * 1024;
constexpr std::uint64_t kMemoryMax = 512 * kMega;
constexpr std::chrono::seconds kCpuMax{10};
constexpr std::uint64_t kWorkerGrowthMax = 32 * kMega;

// A line of /proc/self/status in bytes: VmRSS, VmHWM.
std::uint64_t memory_of_this_process(std::string_view what) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(what)) return std::stoull(line.substr(what.size() + 1)) * 1024;
  }
  return 0;
}

void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

// The file's bytes are gone from this process when this returns. Opened again to be read only.
sandbox::UniqueFd file_of(const HostileFile& file) {
  const auto written = sandbox::make_memory_file("hostile", file.make());
  if (!written.has_value()) return {};
  const auto path = fmt::format("/proc/self/fd/{}", written->get());
  return sandbox::UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

// Where the program would put files if it could: the only folder it is told of.
class Folder {
 public:
  Folder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "millrace_hostile_XXXXXX").string();
    path_ = ::mkdtemp(name.data());
    // So that permissions are not what keeps it empty.
    std::filesystem::permissions(path_, std::filesystem::perms::all);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string path() const { return path_.string(); }
  bool empty() const { return std::filesystem::is_empty(path_); }

 private:
  std::filesystem::path path_;
};

std::size_t open_descriptors() {
  std::size_t count = 0;
  for (auto entry = std::filesystem::directory_iterator("/proc/self/fd");
       entry != std::filesystem::directory_iterator(); ++entry) {
    ++count;
  }
  return count;
}

// Files of a process that lie on a disk and are open for writing, named or not.
std::vector<std::string> written_files(pid_t pid) {
  std::vector<std::string> found;
  std::error_code error;
  const auto folder = std::filesystem::path("/proc") / std::to_string(pid) / "fd";
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const auto target = std::filesystem::read_symlink(entry.path(), error).string();
    struct stat info{};
    struct stat link{};
    if (::stat(entry.path().c_str(), &info) != 0 || ::lstat(entry.path().c_str(), &link) != 0) {
      continue;
    }
    const bool in_memory = target.starts_with("/memfd:");
    if (S_ISREG(info.st_mode) && (link.st_mode & S_IWUSR) != 0 && !in_memory) {
      found.push_back(target);
    }
  }
  return found;
}

struct Outcome {
  sandbox::TaskResult result;
  std::uint64_t worker_growth = 0;  // At its peak while the task ran.
  json::Object answer = {};         // With End::ok.

  std::string verdict() const {
    const auto* value = answer.if_contains("verdict");
    return value != nullptr && value->is_string() ? std::string(value->as_string()) : "";
  }
  std::string rules() const {
    std::string text;
    const auto* findings = answer.if_contains("findings");
    if (findings == nullptr) return text;
    for (const auto& finding : findings->as_array()) {
      text += std::string(finding.as_object().at("rule").as_string()) + " ";
    }
    return text;
  }
};

class Hostile : public testing::Test {
 protected:
  void SetUp() override {
    auto started = sandbox::TaskPool::start(
        io_.get_executor(),
        {.program = MILLRACE_DOCUMENT_PROGRAM,
         .env = {{"OMP_THREAD_LIMIT", "1"}, {"TMPDIR", folder_.path()}, {"HOME", folder_.path()}},
         .size = kPlaces});
    ASSERT_TRUE(started.has_value()) << started.error().message;
    pool_ = std::move(*started);
    const auto ready = run_blocking(io_, pool_->ready());
    ASSERT_TRUE(ready.has_value()) << ready.error().message;
    program_pid_ = pool_->state().program_pid;
  }

  void TearDown() override {
    if (pool_ == nullptr) return;
    // One bad file must not cost the next one its warm program.
    EXPECT_EQ(pool_->state().program_pid, program_pid_);
    EXPECT_EQ(written_files(program_pid_), std::vector<std::string>());
    EXPECT_TRUE(folder_.empty());
    run_blocking(io_, pool_->stop());
  }

  Outcome run(const HostileFile& file, json::Object request = {{"op", "inspect"}}) {
    auto document = file_of(file);
    EXPECT_TRUE(document.valid());
    request["file_name"] = file.file_name;
    sandbox::TaskSpec spec{
        .request = to_json(request),
        .limits = {.memory_bytes = kMemoryMax, .cpu = kCpuMax, .wall = std::chrono::seconds(60)}};
    spec.files.push_back(std::move(document));
    malloc_trim(0);
    const auto descriptors = open_descriptors();
    const auto before = memory_of_this_process("VmRSS:");
    forget_peak();
    auto result = run_blocking(io_, pool_->run(std::move(spec), {}));
    const auto peak = memory_of_this_process("VmHWM:");
    EXPECT_TRUE(result.has_value())
        << file.name << ": " << (result.has_value() ? "" : result.error().message);
    if (!result.has_value()) return {};
    // Nothing is left of a task: no file, and no descriptor that would keep one. The document's own
    // descriptor went with it.
    EXPECT_TRUE(folder_.empty()) << file.name;
    EXPECT_EQ(open_descriptors(), descriptors - 1) << file.name;
    Outcome outcome{.result = std::move(*result),
                    .worker_growth = peak > before ? peak - before : 0};
    if (outcome.result.end == End::ok) {
      auto answer = parse_json_object(outcome.result.result, {.max_bytes = 8 * kMega});
      EXPECT_TRUE(answer.has_value()) << file.name;
      if (answer.has_value()) outcome.answer = std::move(*answer);
    }
    return outcome;
  }

  void judge(const HostileFile& file, const Outcome& outcome) {
    const auto& result = outcome.result;
    EXPECT_LE(outcome.worker_growth, kWorkerGrowthMax) << file.name;
    EXPECT_LE(result.peak_rss_bytes, 2 * kMemoryMax) << file.name;
    if (result.end != End::ok) {
      // Stopped by the jail: counted, listed, and allowed where nothing better is promised.
      ends_.push_back(fmt::format("{}: end {}, {} {}", file.name, static_cast<int>(result.end),
                                  result.code, result.message));
      EXPECT_TRUE(result.end == End::crashed || result.end == End::out_of_memory ||
                  result.end == End::cpu_time)
          << file.name << ": " << result.message;
      EXPECT_NE(file.expect, Expect::clean) << file.name;
      EXPECT_NE(file.expect, Expect::flagged) << file.name;
      return;
    }
    const auto rules = outcome.rules();
    switch (file.expect) {
      case Expect::refused:
        EXPECT_EQ(outcome.verdict(), "refused") << file.name << ": " << rules;
        break;
      case Expect::flagged:
        EXPECT_EQ(outcome.verdict(), "flagged") << file.name << ": " << rules;
        break;
      case Expect::clean:
        EXPECT_EQ(outcome.verdict(), "clean") << file.name << ": " << rules;
        break;
      case Expect::bounded:
        break;
    }
    if (!file.rule.empty()) {
      EXPECT_NE((" " + rules).find(" " + file.rule + " "), std::string::npos)
          << file.name << ": " << rules;
    }
  }

  void run_all(const Corpus& corpus) {
    std::chrono::microseconds cpu{0};
    const HostileFile* slowest = nullptr;
    std::chrono::microseconds slowest_cpu{0};
    std::uint64_t peak = 0;
    for (const auto& file : corpus) {
      const auto outcome = run(file);
      judge(file, outcome);
      cpu += outcome.result.cpu_time;
      peak = std::max(peak, outcome.result.peak_rss_bytes);
      if (outcome.result.cpu_time > slowest_cpu) {
        slowest_cpu = outcome.result.cpu_time;
        slowest = &file;
      }
      if (verbose()) {
        fmt::print("{:8} us {:5} MB {:10} {} [{}]\n", outcome.result.cpu_time.count(),
                   outcome.result.peak_rss_bytes / kMega, outcome.verdict(), file.name,
                   outcome.rules());
      }
    }
    fmt::print("{} files, {} ms of CPU, slowest {} ms ({}), peak {} MB, stopped by the jail: {}\n",
               corpus.size(), cpu.count() / 1'000, slowest_cpu.count() / 1'000,
               slowest == nullptr ? "" : slowest->name, peak / kMega, ends_.size());
    for (const auto& end : ends_) fmt::print("  {}\n", end);
    // Libraries may fall over hostile bytes, that is what the jail is for; but rarely.
    EXPECT_LE(ends_.size() * 50, corpus.size() + 49);
  }

  static bool verbose() { return std::getenv("HOSTILE_VERBOSE") != nullptr; }

  static constexpr std::size_t kPlaces = 2;
  Folder folder_;
  boost::asio::io_context io_{1};
  std::unique_ptr<sandbox::TaskPool> pool_;
  pid_t program_pid_ = -1;

 private:
  std::vector<std::string> ends_;
};

// Other people's documents in the same pool, in line with the hostile ones: all come out right.
TEST_F(Hostile, t18_GoodFilesAmongHostileOnesComeOutRight) {
  const auto good = good_files();
  const auto bad = hostile_corpus();
  std::size_t right = 0;
  std::size_t bad_ended = 0;
  const auto spec_of = [&](const HostileFile& file) {
    sandbox::TaskSpec spec{
        .request = to_json(json::Object{{"op", "inspect"}, {"file_name", file.file_name}}),
        .limits = {.memory_bytes = kMemoryMax, .cpu = kCpuMax, .wall = std::chrono::seconds(120)}};
    spec.files.push_back(file_of(file));
    return spec;
  };
  // Hostile ones without a pause in every place but the last, while one good file after the other
  // is asked for.
  const auto attack = [&](std::size_t first) -> awaitable<void> {
    for (std::size_t i = first; i < bad.size(); i += 4 * kPlaces) {
      const auto ended = co_await pool_->run(spec_of(bad[i]), {});
      EXPECT_TRUE(ended.has_value()) << bad[i].name;
      ++bad_ended;
    }
  };
  const auto work = [&]() -> awaitable<void> {
    for (const auto& file : good) {
      const auto result = co_await pool_->run(spec_of(file), {});
      EXPECT_TRUE(result.has_value() && result->end == End::ok) << file.name;
      if (!result.has_value() || result->end != End::ok) continue;
      const auto answer = parse_json_object(result->result, {.max_bytes = 8 * kMega});
      EXPECT_EQ(answer.value().at("verdict"), "clean") << file.name;
      ++right;
    }
  };
  run_blocking(io_, both(work(), both(attack(0), both(attack(1), attack(2)))));
  EXPECT_EQ(right, good.size());
  EXPECT_GE(bad_ended, bad.size() / 4);
  EXPECT_EQ(pool_->state().starts, 1U);
  fmt::print("{} good files among {} hostile ones\n", right, bad_ended);
}

// Some hostile files break no rule of inspect: what they do to those who read and draw them.
TEST_F(Hostile, WhatIsLetInIsReadAndDrawnWithinTheLimits) {
  std::size_t tasks = 0;
  std::vector<std::string> stopped;
  for (const auto& file : hostile_corpus()) {
    if (file.expect == Expect::refused) continue;
    const auto inspected = run(file);
    if (inspected.verdict() == "refused" || inspected.result.end != End::ok) continue;
    const auto kind = inspected.answer.at("kind").as_string();
    for (const json::Object& request :
         {json::Object{{"op", "read"}, {"kind", kind}, {"page", 1}, {"mode", "text"}},
          json::Object{{"op", "image"}, {"kind", kind}, {"page", 1}, {"width_px_max", 200}}}) {
      const auto outcome = run(file, request);
      ++tasks;
      const auto end = outcome.result.end;
      EXPECT_LE(outcome.worker_growth, kWorkerGrowthMax) << file.name;
      if (end == End::ok || end == End::refused) continue;
      stopped.push_back(fmt::format("{} of {}: {} {}", std::string(request.at("op").as_string()),
                                    file.name, outcome.result.code, outcome.result.message));
      EXPECT_TRUE(end == End::crashed || end == End::out_of_memory || end == End::cpu_time)
          << stopped.back();
    }
  }
  fmt::print("{} tasks, stopped by the jail: {}\n", tasks, stopped.size());
  for (const auto& line : stopped) fmt::print("  {}\n", line);
  EXPECT_GE(tasks, 100U);
  EXPECT_LE(stopped.size() * 20, tasks);
}

TEST_F(Hostile, Archives) { run_all(archives()); }
TEST_F(Hostile, OfficeFiles) { run_all(office_files()); }
TEST_F(Hostile, PdfBombs) { run_all(pdf_bombs()); }
TEST_F(Hostile, PdfStructures) { run_all(pdf_structures()); }
TEST_F(Hostile, PdfActions) { run_all(pdf_actions()); }
TEST_F(Hostile, Images) { run_all(images()); }
TEST_F(Hostile, OtherFiles) { run_all(other_files()); }
TEST_F(Hostile, DamagedFiles) { run_all(damaged_files()); }
TEST_F(Hostile, GoodFilesAreClean) { run_all(good_files()); }

TEST(HostileCorpus, HasTwoHundredDistinctFiles) {
  std::set<std::string> names;
  std::set<std::size_t> contents;
  std::size_t count = 0;
  for (const auto& file : hostile_corpus()) {
    EXPECT_TRUE(names.insert(file.name).second) << file.name;
    // Files that differ by their name only are the ones about names.
    const auto bytes = file.make();
    EXPECT_TRUE(contents.insert(std::hash<std::string>()(bytes + file.file_name)).second)
        << file.name;
    ++count;
  }
  EXPECT_GE(count, 200U);
  fmt::print("{} hostile files\n", count);
}

}  // namespace
}  // namespace millrace::hostile
