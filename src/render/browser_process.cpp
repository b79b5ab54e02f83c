#include "render/browser_process.h"

#include "base/assert.h"
#include "render/confine.h"
#include "sandbox/privileges.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace millrace::render {
namespace {

using sandbox::Limit;
using sandbox::UniqueFd;

// Descriptors that the child renumbers to 0…5 stay clear of those numbers.
constexpr int kLowestFd = 10;
constexpr const char* kScratchInside = "/scratch";
constexpr unsigned long kAllNamespaces =
    CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
// What Chromium reads: itself, libraries, fonts, the time zone.
constexpr std::array kSeen = {"/usr",
                              "/lib",
                              "/lib64",
                              "/bin",
                              "/etc/fonts",
                              "/etc/ld.so.cache",
                              "/etc/localtime",
                              "/etc/alternatives",
                              "/var/cache/fontconfig",
                              "/dev/null",
                              "/dev/zero",
                              "/dev/urandom",
                              "/dev/random"};

std::string error_text(int error) { return std::generic_category().message(error); }

std::unexpected<Error> fail_errno(std::string_view what, int error) {
  return fail(ErrorKind::unavailable, fmt::format("{}: {}", what, error_text(error)));
}

Result<UniqueFd> move_up(UniqueFd fd) {
  if (fd.get() >= kLowestFd) return fd;
  UniqueFd moved(::fcntl(fd.get(), F_DUPFD_CLOEXEC, kLowestFd));
  if (!moved.valid()) return fail_errno("cannot open a descriptor for a browser", errno);
  return moved;
}

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
};

Result<Pipe> open_pipe() {
  int fds[2] = {-1, -1};
  if (::pipe2(fds, O_CLOEXEC) != 0) return fail_errno("cannot open a pipe", errno);
  Pipe pipe{.read_end = UniqueFd(fds[0]), .write_end = UniqueFd(fds[1])};
  MR_TRY(pipe.read_end, move_up(std::move(pipe.read_end)));
  MR_TRY(pipe.write_end, move_up(std::move(pipe.write_end)));
  // Fewer turns for a PDF; not getting it is no loss.
  ::fcntl(pipe.read_end.get(), F_SETPIPE_SZ, 1 << 20);
  return pipe;
}

void unblock(const UniqueFd& fd) {
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

Limit limit(int resource, std::uint64_t value) {
  rlimit now{};
  ::getrlimit(static_cast<__rlimit_resource_t>(resource), &now);
  const rlim_t hard = std::min<rlim_t>(value, now.rlim_max);
  return {.resource = resource, .soft = hard, .hard = hard};
}

std::vector<Limit> make_limits(const BrowserSpec& spec) {
  // Address space is not limited: V8 reserves terabytes of it. The data limit counts what is
  // writable; the renderer's watch counts what is used.
  return {limit(RLIMIT_CORE, 0),     limit(RLIMIT_NOFILE, 4096),
          limit(RLIMIT_NPROC, 8192), limit(RLIMIT_FSIZE, spec.file_max_bytes),
          limit(RLIMIT_CPU, 3600),   limit(RLIMIT_DATA, spec.data_max_bytes)};
}

// The views of a root of its own, and the text they point to.
struct Root {
  std::string stage;
  std::string scratch;
  std::vector<View> views;
  std::vector<const char*> folders;
};

Result<void> add_view(Root& root, const char* path, const char* target, bool writable) {
  struct stat info{};
  if (::stat(path, &info) != 0) {
    if (errno == ENOENT) return ok();
    return fail_errno(path, errno);
  }
  root.views.push_back(
      {.source = path, .target = target, .is_folder = S_ISDIR(info.st_mode), .writable = writable});
  return ok();
}

// In the heap, because the views point into it.
Result<std::unique_ptr<Root>> make_root(const std::filesystem::path& stage,
                                        const std::filesystem::path& scratch) {
  auto root = std::make_unique<Root>();
  root->stage = stage.string();
  root->scratch = scratch.string();
  root->folders = {"etc", "var", "var/cache", "dev", "dev/shm", "proc", "tmp"};
  for (const char* path : kSeen) MR_TRY_VOID(add_view(*root, path, path + 1, false));
  MR_TRY_VOID(add_view(*root, root->scratch.c_str(), kScratchInside + 1, true));
  return root;
}

unsigned long clone_flags(const Confinement& confinement) {
  unsigned long flags = 0;
  if (confinement.own_root) flags |= kAllNamespaces;
  if (confinement.network_namespace) flags |= CLONE_NEWNET | CLONE_NEWIPC;
  if (confinement.user_namespace) flags |= CLONE_NEWUSER;
  return flags;
}

// As fork, with all signals blocked: no handler of ours may run in the child. The system call
// itself, because fork cannot make namespaces; the child makes nothing but system calls.
pid_t clone_and_confine(unsigned long flags, const ConfinePlan& plan) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const auto pid =
      static_cast<pid_t>(::syscall(SYS_clone, flags | SIGCHLD, nullptr, nullptr, nullptr, 0));
  const int error = errno;
  if (pid == 0) confine_and_exec(plan);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid > 0) ::setpgid(pid, pid);
  errno = error;
  return pid;
}

std::string_view step_text(ConfineStep step) {
  switch (step) {
    case ConfineStep::none:
      return "nothing";
    case ConfineStep::set_up:
      return "the process cannot be set up";
    case ConfineStep::user_map:
      return "no user can be mapped in a user namespace";
    case ConfineStep::mounts:
      return "no root of its own can be mounted";
    case ConfineStep::user:
      return "it cannot become user 65534";
    case ConfineStep::limits:
      return "its limits cannot be set";
    case ConfineStep::exec:
      return "it cannot be executed";
  }
  std::unreachable();
}

std::optional<ConfineReport> read_report(const UniqueFd& fd) {
  ConfineReport report;
  std::optional<ConfineReport> last;
  // A failed exec is told behind the report that all went well before.
  while (::read(fd.get(), &report, sizeof report) == static_cast<ssize_t>(sizeof report)) {
    last = report;
  }
  return last;
}

int wait_for(pid_t pid) {
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED) != 0 && errno == EINTR) {
  }
  return info.si_code == CLD_EXITED ? info.si_status : -info.si_status;
}

struct Maps {
  std::string uid = fmt::format("{} {} 1", sandbox::kNobody, ::geteuid());
  std::string gid = fmt::format("{} {} 1", sandbox::kNobody, ::getegid());
};

Result<UniqueFd> open_null() {
  UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null.valid()) return fail_errno("/dev/null", errno);
  return move_up(std::move(null));
}

// One rung of the ladder: does all of `wanted` work here?
Result<Confinement> try_out(const std::filesystem::path& stage, Confinement wanted) {
  MR_TRY(const auto root, make_root(stage, stage));
  MR_TRY(const UniqueFd null, open_null());
  MR_TRY(Pipe report, open_pipe());
  const Maps maps;
  const pid_t pid = clone_and_confine(clone_flags(wanted), {.user_namespace = wanted.user_namespace,
                                                            .uid_map = maps.uid.c_str(),
                                                            .gid_map = maps.gid.c_str(),
                                                            .own_root = wanted.own_root,
                                                            .stage = root->stage.c_str(),
                                                            .views = root->views,
                                                            .folders = root->folders,
                                                            .become_nobody = wanted.nobody,
                                                            .null_fd = null.get(),
                                                            .errors_fd = null.get(),
                                                            .input_fd = null.get(),
                                                            .output_fd = null.get(),
                                                            .report_fd = report.write_end.get()});
  if (pid < 0) return fail_errno("no namespaces", errno);
  report.write_end.reset();
  const auto said = read_report(report.read_end);
  wait_for(pid);
  if (!said) return fail(ErrorKind::unavailable, "the trial process said nothing");
  if (said->step != ConfineStep::none) return fail_errno(step_text(said->step), said->error);
  wanted.chromium_sandbox = said->may_nest;
  return wanted;
}

}  // namespace

std::string Confinement::missing_walls() const {
  std::string names;
  for (const auto& [name, stands] :
       {std::pair("network_namespace", network_namespace),
        std::pair("pid_namespace", pid_namespace), std::pair("own_root", own_root),
        std::pair("chromium_sandbox", chromium_sandbox)}) {
    if (!stands) names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  }
  return names;
}

std::vector<std::string> Confinement::lines() const {
  const auto line = [](std::string_view name, bool stands) {
    return fmt::format("{}: {}", name, stands ? "yes" : "no");
  };
  std::vector<std::string> lines = {line("network_namespace", network_namespace),
                                    line("pid_namespace", pid_namespace),
                                    line("own_root", own_root),
                                    line("user_namespace", user_namespace),
                                    line("nobody", nobody),
                                    line("chromium_sandbox", chromium_sandbox)};
  if (!missing.empty()) lines.push_back("missing: " + missing);
  return lines;
}

Result<Confinement> Confinement::probe(const std::filesystem::path& stage, bool namespaces) {
  const bool is_root = ::geteuid() == 0;
  const bool nobody = is_root && sandbox::can_become_nobody();
  const Confinement all{
      .network_namespace = true, .pid_namespace = true, .own_root = true, .nobody = nobody};
  std::vector<Confinement> ladder;
  if (namespaces) {
    if (is_root) ladder.push_back(all);
    Confinement mapped = all;
    mapped.user_namespace = true;
    mapped.nobody = false;
    ladder.push_back(mapped);
    Confinement network{.network_namespace = true, .user_namespace = !is_root, .nobody = nobody};
    ladder.push_back(network);
  }
  ladder.push_back({.nobody = nobody, .missing = namespaces ? "" : "namespaces are switched off"});
  std::string missing;
  for (const auto& rung : ladder) {
    auto tried = try_out(stage, rung);
    if (tried.has_value()) {
      if (!missing.empty()) tried->missing = missing;
      if (!tried->chromium_sandbox && tried->missing.empty()) {
        tried->missing = "user namespaces are not allowed to the browser";
      }
      return tried;
    }
    missing += (missing.empty() ? "" : "; ") + tried.error().message;
  }
  return fail(ErrorKind::unavailable, "no process for a browser: " + missing);
}

Result<void> prepare_scratch(const std::filesystem::path& scratch, const Confinement& confinement) {
  const auto folder = scratch.string();
  const auto tmp = folder + "/tmp";
  for (const auto* path : {&folder, &tmp}) {
    if (::mkdir(path->c_str(), 0700) != 0 && errno != EEXIST) return fail_errno(*path, errno);
    if (confinement.nobody && ::chown(path->c_str(), sandbox::kNobody, sandbox::kNobody) != 0) {
      return fail_errno(*path, errno);
    }
  }
  return ok();
}

std::string scratch_inside(const BrowserSpec& spec) {
  return spec.confinement.own_root ? kScratchInside : spec.scratch.string();
}

Result<BrowserProcess> BrowserProcess::start(const BrowserSpec& spec) {
  MR_TRY(Pipe input, open_pipe());
  MR_TRY(Pipe output, open_pipe());
  MR_TRY(Pipe errors, open_pipe());
  MR_TRY(Pipe report, open_pipe());
  MR_TRY(const UniqueFd null, open_null());
  MR_TRY(const auto root, make_root(spec.stage, spec.scratch));

  const std::string inside = scratch_inside(spec);
  std::vector<std::string> words = {spec.file};
  words.insert(words.end(), spec.switches.begin(), spec.switches.end());
  if (!spec.confinement.chromium_sandbox) words.emplace_back("--no-sandbox");
  std::vector<std::string> variables = {"HOME=" + inside,
                                        "TMPDIR=" + inside + "/tmp",
                                        "XDG_CONFIG_HOME=" + inside,
                                        "XDG_CACHE_HOME=" + inside,
                                        "LANG=C.UTF-8",
                                        "TZ=UTC",
                                        "DBUS_SESSION_BUS_ADDRESS=disabled:",
                                        "DBUS_SYSTEM_BUS_ADDRESS=disabled:"};
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::vector<char*> envp;
  for (auto& variable : variables) envp.push_back(variable.data());
  envp.push_back(nullptr);
  const auto limits = make_limits(spec);
  const Maps maps;

  BrowserProcess process;
  process.pid_ = clone_and_confine(clone_flags(spec.confinement),
                                   {.file = spec.file.c_str(),
                                    .argv = argv.data(),
                                    .envp = envp.data(),
                                    .limits = limits,
                                    .user_namespace = spec.confinement.user_namespace,
                                    .uid_map = maps.uid.c_str(),
                                    .gid_map = maps.gid.c_str(),
                                    .own_root = spec.confinement.own_root,
                                    .stage = root->stage.c_str(),
                                    .views = root->views,
                                    .folders = root->folders,
                                    .become_nobody = spec.confinement.nobody,
                                    .null_fd = null.get(),
                                    .errors_fd = errors.write_end.get(),
                                    .input_fd = input.read_end.get(),
                                    .output_fd = output.write_end.get(),
                                    .report_fd = report.write_end.get()});
  if (process.pid_ < 0) return fail_errno(fmt::format("cannot start '{}'", spec.file), errno);
  process.pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, process.pid_, 0)));
  if (!process.pidfd_.valid()) return fail_errno("cannot watch a browser (pidfd_open)", errno);
  process.input_ = std::move(input.write_end);
  process.output_ = std::move(output.read_end);
  process.errors_ = std::move(errors.read_end);
  process.report_ = std::move(report.read_end);
  for (const auto* fd : {&process.input_, &process.output_, &process.errors_, &process.report_}) {
    unblock(*fd);
  }
  return process;
}

BrowserProcess::BrowserProcess(BrowserProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      input_(std::move(other.input_)),
      output_(std::move(other.output_)),
      errors_(std::move(other.errors_)),
      pidfd_(std::move(other.pidfd_)),
      report_(std::move(other.report_)) {}

BrowserProcess::~BrowserProcess() {
  if (pid_ > 0) static_cast<void>(end());
}

void BrowserProcess::kill() const {
  MR_ASSERT(pid_ > 0);
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
}

std::string BrowserProcess::end() {
  kill();
  const int ended = wait_for(std::exchange(pid_, -1));
  const auto said = read_report(report_);
  if (said && said->step != ConfineStep::none) {
    return fmt::format("{}: {}", step_text(said->step), error_text(said->error));
  }
  return ended >= 0 ? fmt::format("exited with {}", ended)
                    : fmt::format("was ended by signal {}", -ended);
}

}  // namespace millrace::render
