#include "sandbox/syscall_filter.h"

#include "sandbox/unique_fd.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <memory>
#include <sched.h>
#include <seccomp.h>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

namespace millrace::sandbox {
namespace {

// Names that a machine does not have (open on ARM, say) are passed over.
constexpr auto kAllowed = std::to_array<const char*>({
    // What is open already, or what Landlock lets be opened.
    "read",
    "readv",
    "pread64",
    "preadv",
    "write",
    "writev",
    "lseek",
    "close",
    "dup",
    "dup2",
    "dup3",
    "fstat",
    "newfstatat",
    "stat",
    "lstat",
    "statx",
    "access",
    "faccessat",
    "faccessat2",
    "getdents64",
    "getcwd",
    "fadvise64",
    "readahead",
    "poll",
    "ppoll",
    // Memory; mmap and mprotect have rules of their own.
    "munmap",
    "mremap",
    "brk",
    "madvise",
    // Itself.
    "exit",
    "exit_group",
    "futex",
    "rseq",
    "set_robust_list",
    "restart_syscall",
    "rt_sigreturn",
    "rt_sigprocmask",
    "sigaltstack",
    "getpid",
    "gettid",
    "getppid",
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "getrlimit",
    "getrusage",
    "times",
    "sched_yield",
    "sched_getaffinity",
    "getcpu",
    // Time, randomness, and what machine this is.
    "clock_gettime",
    "clock_getres",
    "clock_nanosleep",
    "nanosleep",
    "gettimeofday",
    "time",
    "getrandom",
    "uname",
    "sysinfo",
});

// Nothing is written and nothing is followed; fontconfig and the like try, and go on without.
constexpr auto kNoAccess = std::to_array<const char*>({
    "creat",      "mkdir",     "mkdirat",    "rmdir",      "unlink",      "unlinkat",  "rename",
    "renameat",   "renameat2", "link",       "linkat",     "chmod",       "fchmod",    "fchmodat",
    "chown",      "fchown",    "lchown",     "fchownat",   "truncate",    "ftruncate", "fallocate",
    "utime",      "utimes",    "futimesat",  "utimensat",  "chdir",       "fchdir",    "readlink",
    "readlinkat", "setxattr",  "lsetxattr",  "fsetxattr",  "removexattr", "getxattr",  "lgetxattr",
    "fgetxattr",  "listxattr", "llistxattr", "flistxattr",
});

constexpr auto kNotPermitted = std::to_array<const char*>({
    "pipe",
    "pipe2",
    "eventfd",
    "eventfd2",
    "epoll_create",
    "epoll_create1",
    "memfd_create",
    "mlock",
    "mlock2",
    "mlockall",
    "munlock",
    "msync",
    "membarrier",
    "mbind",
    "set_mempolicy",
    "get_mempolicy",
    "setpriority",
    "getpriority",
    "sched_setaffinity",
    "sched_setscheduler",
    "sched_setparam",
    "sched_getparam",
    "sched_getscheduler",
    "setrlimit",
    "statfs",
    "fstatfs",
    "flock",
    "fsync",
    "fdatasync",
    "sync_file_range",
    "pwrite64",
    "pwritev",
    "umask",
    "alarm",
    "setitimer",
    "timer_create",
    "timerfd_create",
    "inotify_init",
    "inotify_init1",
    "signalfd",
    "signalfd4",
    "rt_sigtimedwait",
    "getgroups",
    "getpgrp",
    "getpgid",
    "getsid",
});

// Callers ask for these first and know the older call.
constexpr auto kNotThere = std::to_array<const char*>({
    "clone3",
    "openat2",
    "copy_file_range",
    "sendfile",
    "splice",
    "preadv2",
    "pwritev2",
});

struct Release {
  void operator()(void* filter) const { seccomp_release(filter); }
};
using Filter = std::unique_ptr<void, Release>;

// Collects the first failure, so that the list below reads as a list.
class Rules {
 public:
  explicit Rules(scmp_filter_ctx filter) : filter_(filter) {}

  template <class... Conditions>
  void add(std::uint32_t action, const char* name, Conditions... conditions) {
    const int call = seccomp_syscall_resolve_name(name);
    if (call == __NR_SCMP_ERROR) return note(-EINVAL, name);
    if (call < 0) return;  // Another machine's.
    const std::array<scmp_arg_cmp, sizeof...(conditions)> list{conditions...};
    note(seccomp_rule_add_array(filter_, action, call, static_cast<unsigned>(list.size()),
                                list.data()),
         name);
  }
  template <class Names>
  void add_all(std::uint32_t action, const Names& names) {
    for (const char* name : names) add(action, name);
  }
  void note(int answer, std::string_view what) {
    if (answer < 0 && failed_.empty()) {
      failed_ = fmt::format("{}: {}", what, std::generic_category().message(-answer));
    }
  }
  const std::string& failed() const { return failed_; }

 private:
  scmp_filter_ctx filter_;
  std::string failed_;
};

void add_files(Rules& rules) {
  // Open means: for reading. The paths are Landlock's matter.
  constexpr unsigned kTemporary = 020000000;  // The bit of O_TMPFILE that is not O_DIRECTORY.
  constexpr unsigned kWriting = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND | kTemporary;
  for (const auto& [name, argument] : {std::pair{"openat", 2U}, std::pair{"open", 1U}}) {
    rules.add(SCMP_ACT_ALLOW, name, SCMP_CMP(argument, SCMP_CMP_MASKED_EQ, kWriting | O_PATH, 0));
    for (const unsigned bit :
         {unsigned{O_WRONLY}, unsigned{O_RDWR}, unsigned{O_CREAT}, unsigned{O_TRUNC},
          unsigned{O_APPEND}, kTemporary, unsigned{O_PATH}}) {
      rules.add(SCMP_ACT_ERRNO(EACCES), name, SCMP_CMP(argument, SCMP_CMP_MASKED_EQ, bit, bit));
    }
  }
  for (const int command : {F_GETFD, F_SETFD, F_GETFL, F_DUPFD, F_DUPFD_CLOEXEC}) {
    rules.add(SCMP_ACT_ALLOW, "fcntl",
              SCMP_A1_32(SCMP_CMP_EQ, static_cast<std::uint32_t>(command)));
  }
  for (const int command : {F_SETFL, F_GETLK, F_SETLK, F_SETLKW, 1033 /* F_ADD_SEALS */}) {
    rules.add(SCMP_ACT_ERRNO(EPERM), "fcntl",
              SCMP_A1_32(SCMP_CMP_EQ, static_cast<std::uint32_t>(command)));
  }
  // isatty() and its like; every other ioctl traps.
  for (const std::uint32_t command : {0x5401U /* TCGETS */, 0x5413U /* TIOCGWINSZ */}) {
    rules.add(SCMP_ACT_ERRNO(ENOTTY), "ioctl", SCMP_A1_32(SCMP_CMP_EQ, command));
  }
}

void add_memory(Rules& rules) {
  for (const char* name : {"mmap", "mprotect"}) {
    rules.add(SCMP_ACT_ALLOW, name, SCMP_A2_64(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    rules.add(SCMP_ACT_ERRNO(EPERM), name, SCMP_A2_64(SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC));
  }
}

void add_process(Rules& rules) {
  // A thread is refused, so that a library goes on with one; a process is an attack.
  rules.add(SCMP_ACT_ERRNO(EPERM), "clone",
            SCMP_A0_64(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
  rules.add(SCMP_ACT_ALLOW, "tgkill", SCMP_A0_32(SCMP_CMP_EQ, kPidPlaceholder));
  // The handler of SIGSYS is what ends a child that trapped: nobody takes it away. "Not SIGSYS" is
  // said bit by bit, because the kernel looks at the lower half of the argument only, and a plain
  // comparison at all of it. Signals beyond 127 do not exist, and trap.
  rules.add(SCMP_ACT_KILL_PROCESS, "rt_sigaction",
            SCMP_A0_64(SCMP_CMP_MASKED_EQ, 0xFFFFFFFFULL, SIGSYS));
  for (std::uint64_t bit = 1; bit <= 64; bit *= 2) {
    rules.add(SCMP_ACT_ALLOW, "rt_sigaction",
              SCMP_A0_64(SCMP_CMP_MASKED_EQ, 0xFFFFFF80ULL | bit, ~std::uint64_t{SIGSYS} & bit));
  }
  constexpr std::uint32_t kSetVma = 0x53564d41;  // Names for memory, from newer C libraries.
  rules.add(SCMP_ACT_ALLOW, "prctl", SCMP_A0_32(SCMP_CMP_EQ, PR_SET_NAME));
  rules.add(SCMP_ACT_ERRNO(EINVAL), "prctl", SCMP_A0_32(SCMP_CMP_EQ, kSetVma));
  rules.add(SCMP_ACT_ALLOW, "prlimit64", SCMP_A0_32(SCMP_CMP_EQ, 0), SCMP_A2_64(SCMP_CMP_EQ, 0));
  rules.add(SCMP_ACT_ERRNO(EPERM), "prlimit64", SCMP_A0_32(SCMP_CMP_EQ, 0),
            SCMP_A2_64(SCMP_CMP_NE, 0));
  // A logger that asks whether its stderr is a socket shall say its line; it was to crash anyway.
  rules.add(SCMP_ACT_ERRNO(ENOTSOCK), "getpeername");
  rules.add(SCMP_ACT_ERRNO(ENOTSOCK), "getsockname");
  // The C library asks nscd about users and syslog about nothing; both go on without.
  rules.add(SCMP_ACT_ERRNO(EPERM), "socket", SCMP_A0_32(SCMP_CMP_EQ, AF_UNIX));
}

// libseccomp writes a program to a descriptor only.
Result<std::vector<sock_filter>> exported(scmp_filter_ctx filter) {
  const UniqueFd file(::memfd_create("seccomp", MFD_CLOEXEC));
  if (!file.valid()) return fail(ErrorKind::unavailable, "seccomp: no memory for the filter");
  if (const int answer = seccomp_export_bpf(filter, file.get()); answer < 0) {
    return fail(ErrorKind::unavailable,
                fmt::format("seccomp: {}", std::generic_category().message(-answer)));
  }
  const off_t size = ::lseek(file.get(), 0, SEEK_END);
  if (size <= 0 || size % static_cast<off_t>(sizeof(sock_filter)) != 0) {
    return fail(ErrorKind::internal, "seccomp: the filter is not a program");
  }
  std::vector<sock_filter> program(static_cast<std::size_t>(size) / sizeof(sock_filter));
  if (::pread(file.get(), program.data(), static_cast<std::size_t>(size), 0) != size) {
    return fail(ErrorKind::internal, "seccomp: the filter cannot be read back");
  }
  return program;
}

Result<void> check_kernel() {
  for (std::uint32_t action : {SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_TRAP}) {
    if (::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) != 0) {
      return fail(ErrorKind::unavailable, fmt::format("this kernel gives no seccomp filters: {}",
                                                      std::generic_category().message(errno)));
    }
  }
  return ok();
}

bool compares_pid(const sock_filter& step) {
  return BPF_CLASS(step.code) == BPF_JMP && step.k == kPidPlaceholder;
}

}  // namespace

Result<std::vector<sock_filter>> build_syscall_filter() {
  MR_TRY_VOID(check_kernel());
  const Filter filter(seccomp_init(SCMP_ACT_TRAP));
  if (!filter) return fail(ErrorKind::unavailable, "seccomp: no memory for the filter");
  Rules rules(filter.get());
  // Another instruction set has other numbers: no second list for what nobody here uses.
  rules.note(seccomp_attr_set(filter.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS),
             "architecture");
  rules.add_all(SCMP_ACT_ALLOW, kAllowed);
  rules.add_all(SCMP_ACT_ERRNO(EACCES), kNoAccess);
  rules.add_all(SCMP_ACT_ERRNO(EPERM), kNotPermitted);
  rules.add_all(SCMP_ACT_ERRNO(ENOSYS), kNotThere);
  add_files(rules);
  add_memory(rules);
  add_process(rules);
  if (!rules.failed().empty()) {
    return fail(ErrorKind::unavailable, fmt::format("seccomp: {}", rules.failed()));
  }
  MR_TRY(auto program, exported(filter.get()));
  if (!std::ranges::any_of(program, compares_pid)) {
    return fail(ErrorKind::internal, "seccomp: the filter has no place for the pid");
  }
  return program;
}

std::size_t allowed_call_count() {
  constexpr std::size_t kWithConditions = 9;  // open(at), fcntl, mmap, mprotect, tgkill, …
  return kAllowed.size() + kWithConditions;
}

int apply_syscall_filter(std::vector<sock_filter>& filter) noexcept {
  for (sock_filter& step : filter) {
    if (compares_pid(step)) step.k = static_cast<std::uint32_t>(::getpid());
  }
  const sock_fprog program{.len = static_cast<unsigned short>(filter.size()),
                           .filter = filter.data()};
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0 ? 0 : errno;
}

std::string syscall_name(std::uint32_t number) {
  char* const name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, static_cast<int>(number));
  if (name == nullptr) return fmt::format("number {}", number);
  std::string copy(name);
  std::free(name);
  return copy;
}

}  // namespace millrace::sandbox
