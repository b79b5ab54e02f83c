#include "program.h"

#include "base/file.h"

#include <boost/json/object.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace millrace::test {
namespace {

std::string read_or_empty(const std::filesystem::path& path) {
  const auto text = read_file(path);
  return text ? *text : std::string();
}

// Output goes to files: no pipe can fill up, and nothing has to be read meanwhile.
struct Files {
  std::filesystem::path in;
  std::filesystem::path out;
  std::filesystem::path err;
};

pid_t start(const std::vector<std::string>& argv, const RunOptions& options, const Files& files,
            const std::filesystem::path& fallback_cwd) {
  std::vector<std::string> variables;
  for (const char* name : {"PATH", "HOME", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS",
                           "TSAN_OPTIONS", "LSAN_OPTIONS"}) {
    if (const char* value = std::getenv(name)) variables.push_back(std::string(name) + "=" + value);
  }
  for (const auto& [name, value] : options.env) variables.push_back(name + "=" + value);
  std::vector<char*> envp;
  for (auto& variable : variables) envp.push_back(variable.data());
  envp.push_back(nullptr);
  std::vector<char*> args;
  for (const auto& word : argv) args.push_back(const_cast<char*>(word.c_str()));
  args.push_back(nullptr);
  const auto cwd = options.cwd.empty() ? fallback_cwd : options.cwd;

  const pid_t pid = ::fork();
  if (pid < 0) throw std::runtime_error("fork failed");
  if (pid > 0) return pid;
  const int in = ::open(files.in.c_str(), O_RDONLY);
  const int out = ::open(files.out.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  const int err = ::open(files.err.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (in < 0 || out < 0 || err < 0 || ::chdir(cwd.c_str()) != 0) ::_exit(126);
  ::dup2(in, 0);
  ::dup2(out, 1);
  ::dup2(err, 2);
  ::execvpe(args[0], args.data(), envp.data());
  ::_exit(127);
}

int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

std::optional<int> poll_end(pid_t pid) {
  int status = 0;
  const pid_t got = ::waitpid(pid, &status, WNOHANG);
  if (got == 0) return std::nullopt;
  return code_of(status);
}

Files files_in(const TempFolder& folder, const std::string& stdin_text) {
  Files files{folder.path() / "stdin", folder.path() / "stdout", folder.path() / "stderr"};
  folder.write("stdin", stdin_text);
  return files;
}

std::vector<std::string> with_program(const std::vector<std::string>& arguments) {
  std::vector<std::string> argv{MILLRACE_PROGRAM};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return argv;
}

}  // namespace

std::size_t RunResult::error_lines() const {
  return static_cast<std::size_t>(std::ranges::count(err, '\n'));
}

json::Value RunResult::json() const {
  auto parsed = parse_json(out, {.max_bytes = 64UL * 1024 * 1024});
  if (!parsed) throw std::runtime_error("not JSON: " + out + err);
  return *parsed;
}

TempFolder::TempFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "millrace-e2e-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  path_ = pattern;
  // The private cluster may run as another user, who must be able to pass.
  std::filesystem::permissions(path_, std::filesystem::perms::owner_all |
                                          std::filesystem::perms::group_exec |
                                          std::filesystem::perms::others_exec);
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path TempFolder::write(const std::string& name, const std::string& text) const {
  const auto path = path_ / name;
  if (!write_file_atomically(path, text, 0600)) throw std::runtime_error("cannot write " + name);
  return path;
}

RunResult run_command(const std::vector<std::string>& argv, const RunOptions& options) {
  const TempFolder folder;
  const auto files = files_in(folder, options.stdin_text);
  const pid_t pid = start(argv, options, files, folder.path());
  const auto give_up = std::chrono::steady_clock::now() + options.timeout;
  std::optional<int> code;
  while (!(code = poll_end(pid))) {
    if (std::chrono::steady_clock::now() > give_up) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
      throw std::runtime_error("it did not end in time: " + read_or_empty(files.err));
    }
    timespec pause{.tv_sec = 0, .tv_nsec = 2'000'000};
    ::nanosleep(&pause, nullptr);
  }
  return {*code, read_or_empty(files.out), read_or_empty(files.err)};
}

RunResult run_millrace(const std::vector<std::string>& arguments, const RunOptions& options) {
  return run_command(with_program(arguments), options);
}

BackgroundProgram::BackgroundProgram(const std::vector<std::string>& arguments,
                                     const RunOptions& options) {
  pid_ = start(with_program(arguments), options, files_in(folder_, options.stdin_text),
               folder_.path());
}

BackgroundProgram::~BackgroundProgram() {
  if (ended()) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

std::optional<int> BackgroundProgram::ended() {
  if (!code_) code_ = poll_end(pid_);
  return code_;
}

json::Object BackgroundProgram::wait_for_ready(const std::filesystem::path& ready_file) {
  std::optional<json::Object> content;
  eventually([&] {
    if (ended()) return true;
    const auto text = read_file(ready_file);
    if (!text) return false;
    const auto parsed = parse_json_object(*text);
    if (parsed) content = *parsed;
    return parsed.has_value();
  });
  if (!content) throw std::runtime_error("it never got ready: " + err());
  return *content;
}

void BackgroundProgram::signal(int number) const { ::kill(pid_, number); }

int BackgroundProgram::wait() {
  if (!eventually([&] { return ended().has_value(); })) {
    throw std::runtime_error("it did not end: " + err());
  }
  return *code_;
}

std::string BackgroundProgram::err() const { return read_or_empty(folder_.path() / "stderr"); }

}  // namespace millrace::test
