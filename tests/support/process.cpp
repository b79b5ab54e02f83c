#include "support/process.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <pwd.h>
#include <spawn.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

extern char** environ;

namespace millrace::test {
namespace {

namespace fs = std::filesystem;

Error os_error(std::string_view what) {
  return {.kind = ErrorKind::internal,
          .message = fmt::format("{}: {}", what, std::generic_category().message(errno))};
}

}  // namespace

Result<std::string> run_program(const std::vector<std::string>& argv) {
  // Output goes to a file, not a pipe: a server that stays behind would hold the pipe open for
  // ever.
  std::array<char, 32> name{"/tmp/millrace-run-XXXXXX"};
  const int output = ::mkostemp(name.data(), O_CLOEXEC);
  if (output < 0) return fail(os_error("cannot create a temporary file"));
  ::unlink(name.data());

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, output, 1);
  ::posix_spawn_file_actions_adddup2(&actions, output, 2);
  // The server outlives us: it must not keep what we inherited, such as somebody's lock file.
  ::posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  std::vector<char*> pointers;
  for (const auto& arg : argv) pointers.push_back(const_cast<char*>(arg.c_str()));
  pointers.push_back(nullptr);
  pid_t pid = -1;
  errno = ::posix_spawnp(&pid, pointers[0], &actions, nullptr, pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (errno != 0) {
    auto error = os_error(fmt::format("cannot start {}", argv[0]));
    ::close(output);
    return fail(std::move(error));
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  std::string text;
  ::lseek(output, 0, SEEK_SET);
  std::array<char, 4096> chunk;
  for (ssize_t got = 0; (got = ::read(output, chunk.data(), chunk.size())) > 0;) {
    text.append(chunk.data(), static_cast<std::size_t>(got));
  }
  ::close(output);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return text;
  return fail(ErrorKind::internal, fmt::format("{} failed: {}", fmt::join(argv, " "), text));
}

Result<std::string> run_as_postgres(std::vector<std::string> argv) {
  if (::geteuid() == 0) {
    argv.insert(argv.begin(),
                {"setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"});
  }
  return run_program(argv);
}

Result<void> give_to_postgres(const fs::path& path) {
  if (::geteuid() != 0) return {};
  const auto* user = ::getpwnam("postgres");
  if (user == nullptr)
    return fail(ErrorKind::internal, "there is no user postgres; run tools/setup");
  if (::chown(path.c_str(), user->pw_uid, user->pw_gid) != 0) {
    return fail(os_error(fmt::format("cannot give {} to postgres", path.string())));
  }
  return {};
}

Result<fs::path> postgres_bindir() {
  if (auto told = run_program({"pg_config", "--bindir"})) {
    const fs::path bindir = told->substr(0, told->find('\n'));
    if (fs::exists(bindir / "postgres")) return bindir;
  }
  fs::path newest;
  int newest_version = 0;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/usr/lib/postgresql", ignored)) {
    const int version = std::atoi(entry.path().filename().c_str());
    if (version < newest_version || !fs::exists(entry.path() / "bin" / "postgres")) continue;
    newest_version = version;
    newest = entry.path() / "bin";
  }
  if (newest.empty())
    return fail(ErrorKind::not_found, "PostgreSQL is not installed; run tools/setup");
  return newest;
}

}  // namespace millrace::test
