#include "sandbox/jail.h"

#include "sandbox/file_view.h"
#include "sandbox/landlock.h"
#include "sandbox/privileges.h"
#include "sandbox/syscall_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <sched.h>
#include <string_view>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace millrace::sandbox {
namespace {

std::string error_text(int error) { return std::generic_category().message(error); }

std::unexpected<Error> fail_errno(std::string_view what, int error) {
  return fail(ErrorKind::unavailable, fmt::format("{}: {}", what, error_text(error)));
}

struct Mapped {
  std::uint64_t all_bytes = 0;
  std::uint64_t data_bytes = 0;
};

Result<Mapped> mapped_now(int proc) {
  const UniqueFd file(::openat(proc, "self/statm", O_RDONLY | O_CLOEXEC));
  std::array<char, 256> text{};
  if (!file.valid() || ::read(file.get(), text.data(), text.size() - 1) <= 0) {
    return fail_errno("cannot see how much memory is mapped", errno);
  }
  unsigned long all = 0;
  unsigned long data = 0;
  if (std::sscanf(text.data(), "%lu %*u %*u %*u %*u %lu", &all, &data) != 2) {
    return fail(ErrorKind::unavailable, "cannot read how much memory is mapped");
  }
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return Mapped{.all_bytes = all * page, .data_bytes = data * page};
}

// The first to go when memory runs out. Not being allowed to is no reason to stop.
bool volunteer_for_the_oom_killer(int proc) {
  const UniqueFd file(::openat(proc, "self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  return file.valid() && ::write(file.get(), "1000", 4) == 4;
}

// Where the kernel shares the processor among sessions (autogroup), what a process says of itself
// counts inside its session only. False: it does not, or this process leads no session.
bool give_way_as_a_session(int proc) {
  if (::getsid(0) != ::getpid()) return false;
  const UniqueFd file(::openat(proc, "self/autogroup", O_WRONLY | O_CLOEXEC));
  const auto nice = std::to_string(kTaskNice);
  return file.valid() &&
         ::write(file.get(), nice.data(), nice.size()) == static_cast<ssize_t>(nice.size());
}

Result<void> set_limit(__rlimit_resource_t resource, const char* name, std::uint64_t wanted,
                       std::uint64_t margin = 0) {
  rlimit now{};
  if (::getrlimit(resource, &now) != 0) return fail_errno(name, errno);
  const rlim_t hard = std::min<rlim_t>(wanted + margin, now.rlim_max);
  const rlimit limit{.rlim_cur = std::min<rlim_t>(wanted, hard), .rlim_max = hard};
  if (::setrlimit(resource, &limit) != 0) return fail_errno(name, errno);
  return ok();
}

Result<void> set_limits(const JailLimits& limits, const Mapped& mapped) {
  MR_TRY_VOID(set_limit(RLIMIT_CORE, "core limit", 0));
  MR_TRY_VOID(set_limit(RLIMIT_FSIZE, "file limit", limits.file_bytes));
  MR_TRY_VOID(set_limit(RLIMIT_NOFILE, "descriptor limit", limits.open_files));
  MR_TRY_VOID(set_limit(RLIMIT_NPROC, "process limit", limits.processes));
  MR_TRY_VOID(set_limit(RLIMIT_MEMLOCK, "locked memory limit", 0));
  MR_TRY_VOID(set_limit(RLIMIT_MSGQUEUE, "message queue limit", 0));
  MR_TRY_VOID(set_limit(RLIMIT_STACK, "stack limit", limits.stack_bytes));
  // SIGXCPU, and SIGKILL a second later for those who catch it.
  MR_TRY_VOID(set_limit(RLIMIT_CPU, "CPU limit", limits.cpu_seconds, 1));
  // The warm program has mapped much that costs this child nothing; the limit is on top.
  MR_TRY_VOID(set_limit(RLIMIT_DATA, "data limit", mapped.data_bytes + limits.memory_bytes));
  return set_limit(RLIMIT_AS, "memory limit", mapped.all_bytes + limits.memory_bytes);
}

struct Namespace {
  int flag;
  const char* name;
};
constexpr std::array<Namespace, 3> kNamespaces = {{{CLONE_NEWNET, "network_namespace"},
                                                   {CLONE_NEWIPC, "ipc_namespace"},
                                                   {CLONE_NEWNS, "mount_namespace"}}};

JailFeature in_use(std::string name, std::string detail, bool required = false) {
  return {.name = std::move(name), .used = true, .required = required, .detail = std::move(detail)};
}

JailFeature not_in_use(std::string name, std::string detail) {
  return {.name = std::move(name), .used = false, .required = false, .detail = std::move(detail)};
}

void write_proc(const char* file, const std::string& text) {
  const UniqueFd fd(::open(file, O_WRONLY | O_CLOEXEC));
  if (fd.valid() && ::write(fd.get(), text.data(), text.size()) < 0) return;
}

// This user is nobody in there. Without a number of its own it could not make the folders of its
// root; nothing else depends on it.
void name_the_user(uid_t user, gid_t group) {
  write_proc("/proc/self/setgroups", "deny");
  write_proc("/proc/self/uid_map", fmt::format("{} {} 1", kNobody, user));
  write_proc("/proc/self/gid_map", fmt::format("{} {} 1", kNobody, group));
}

}  // namespace

Namespaces share_nothing() {
  Namespaces made;
  auto& description = made.description;
  // An ordinary user may have namespaces only inside a user namespace, and so may a root that has
  // nobody to become.
  if (!can_become_nobody()) {
    const uid_t user = ::geteuid();
    const gid_t group = ::getegid();
    if (::unshare(CLONE_NEWUSER) != 0) {
      const std::string why = fmt::format("no user namespace: {}", error_text(errno));
      for (const auto& space : kNamespaces) description.push_back(not_in_use(space.name, why));
      return made;
    }
    name_the_user(user, group);
    description.push_back(in_use("user_namespace", "own"));
  }
  for (const auto& space : kNamespaces) {
    if (::unshare(space.flag) != 0) {
      description.push_back(not_in_use(space.name, error_text(errno)));
      continue;
    }
    description.push_back(in_use(space.name, "own"));
    // Or a mount made here would be seen outside.
    if (space.flag == CLONE_NEWNS) {
      made.own_mounts = ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
    }
  }
  return made;
}

Result<JailPlan> prepare_jail(const Namespaces& namespaces,
                              const std::vector<std::string>& read_paths) {
  JailPlan plan;
  MR_TRY(plan.filter, build_syscall_filter());
  plan.proc.reset(::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!plan.proc.valid()) return fail_errno("/proc", errno);
  // Before the files are hidden: the folder of the groups is one of them.
  auto groups = TaskGroups::open();
  const Result<void> hidden = namespaces.own_mounts
                                  ? hide_files(read_paths)
                                  : fail(ErrorKind::unavailable, "no mount namespace");
  MR_TRY(auto landlock, build_landlock(read_paths));
  plan.ruleset = std::move(landlock.ruleset);
  plan.description = {
      in_use("seccomp", fmt::format("{} system calls", allowed_call_count()), true),
      in_use("landlock", fmt::format("ABI {}", landlock.abi), true),
      hidden.has_value() ? in_use("own_root", "no file but those it may read")
                         : not_in_use("own_root", hidden.error().message),
      in_use("user", describe_user()),
      in_use("capabilities", "none"),
      in_use("memory_shortage", "killed first"),
      in_use("rlimits", "memory, CPU, files, descriptors, processes, stack, core"),
      in_use("priority", give_way_as_a_session(plan.proc.get())
                             ? fmt::format("nice {}, and of the session", kTaskNice)
                             : fmt::format("nice {}", kTaskNice)),
      groups.has_value()
          ? in_use("cgroup", fmt::format("memory, in {}", groups->path()))
          : not_in_use("cgroup", fmt::format("rlimits alone: {}", groups.error().message)),
  };
  plan.description.insert(plan.description.end(), namespaces.description.begin(),
                          namespaces.description.end());
  if (groups.has_value()) plan.groups = *std::move(groups);
  return plan;
}

Result<void> take_jail(JailPlan& plan, const JailLimits& limits, int first_closed) {
  MR_TRY(const Mapped mapped, mapped_now(plan.proc.get()));
  volunteer_for_the_oom_killer(plan.proc.get());
  // An extra that may fail: rlimits follow.
  if (limits.group >= 0) join_group(limits.group);
  if (::setpriority(PRIO_PROCESS, 0, std::max(kTaskNice, ::getpriority(PRIO_PROCESS, 0))) != 0) {
    return fail_errno("priority", errno);
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return fail_errno("no_new_privs", errno);
  if (const int error = apply_landlock(plan.ruleset); error != 0) {
    return fail_errno("landlock", error);
  }
  if (::syscall(SYS_close_range, first_closed, ~0U, 0) != 0) {
    return fail_errno("cannot close descriptors", errno);
  }
  static_cast<void>(plan.ruleset.release());
  static_cast<void>(plan.proc.release());
  if (plan.groups) static_cast<void>(plan.groups->folder().release());
  MR_TRY_VOID(drop_privileges());
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return fail_errno("dumpable", errno);
  // Here, because a change of user forgets it.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return fail_errno("death signal", errno);
  MR_TRY_VOID(set_limits(limits, mapped));
  if (const int error = apply_syscall_filter(plan.filter); error != 0) {
    return fail_errno("seccomp", error);
  }
  return ok();
}

JailDescription describe_jail() {
  const auto broken = [](std::string why) {
    return JailDescription{
        {.name = "jail", .used = false, .required = true, .detail = std::move(why)}};
  };
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return broken(error_text(errno));
  const UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return broken(error_text(errno));
  if (pid == 0) {
    // Above what take_jail closes is nothing that this child needs but the pipe.
    if (::dup2(theirs.get(), 3) < 0) ::_exit(1);
    const int out = 3;
    ::setsid();  // As the warm program.
    auto plan = prepare_jail(share_nothing(), {});
    JailDescription found = plan.has_value() ? plan->description : broken(plan.error().message);
    if (plan.has_value()) {
      const auto taken = take_jail(*plan, {.memory_bytes = 1U << 26U, .cpu_seconds = 10}, out + 1);
      if (!taken.has_value()) found = broken(taken.error().message);
    }
    const std::string text = encode(found);
    const auto written = ::write(out, text.data(), text.size());
    ::_exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  theirs.reset();
  std::string text;
  std::array<char, 4096> chunk{};
  for (ssize_t size = 0; (size = ::read(ours.get(), chunk.data(), chunk.size())) > 0;) {
    text.append(chunk.data(), static_cast<std::size_t>(size));
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return broken("the test process did not end well");
  return decode_description(text);
}

// One feature per line, its parts between unit separators; none of them contains either.
std::string encode(const JailDescription& description) {
  std::string text;
  for (const auto& feature : description) {
    text += fmt::format("{}\x1f{:d}\x1f{:d}\x1f{}\n", feature.name, feature.used, feature.required,
                        feature.detail);
  }
  return text;
}

JailDescription decode_description(std::string_view text) {
  JailDescription description;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    std::array<std::string_view, 4> parts{};
    std::string_view rest = line;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      parts[i] = i + 1 < parts.size() ? rest.substr(0, rest.find('\x1f')) : rest;
      rest.remove_prefix(std::min(rest.size(), parts[i].size() + 1));
    }
    description.push_back({.name = std::string(parts[0]),
                           .used = parts[1] == "1",
                           .required = parts[2] == "1",
                           .detail = std::string(parts[3])});
  }
  return description;
}

}  // namespace millrace::sandbox
