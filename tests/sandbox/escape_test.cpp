// Escape attempts (T19, F18, J01): each is made by a task inside the jail, from a warm program that
// is root where the tests are, and again from one that is an ordinary user. Denied and reported: an
// errno where libraries must be able to go on, else the end of the task with the name of the call.
#include "sandbox/probe_pool.h"

#include <gtest/gtest.h>

#include <sys/syscall.h>

namespace millrace::test {
namespace {

struct Denial {
  std::string attempt;
  std::string errno_name;      // Empty: the task is ended for it.
  std::string forbidden_call;  // The name in the report; empty: the kernel gives none.
};

Denial errno_of(std::string attempt, std::string name) {
  return {std::move(attempt), std::move(name), {}};
}
// Refused by Landlock, or not even there in a root of its own.
Denial unseen(std::string attempt) { return {std::move(attempt), "EACCES or ENOENT", {}}; }
Denial ends(std::string attempt, std::string call) {
  return {std::move(attempt), {}, std::move(call)};
}

std::vector<Denial> network() {
  return {ends("socket_inet", "socket"),
          ends("socket_inet6", "socket"),
          errno_of("socket_unix", "EPERM"),
          ends("socket_netlink", "socket"),
          ends("socket_packet", "socket"),
          ends("socket_vsock", "socket"),
          ends("socket_alg", "socket"),
          ends("socket_bluetooth", "socket"),
          ends("socketpair", "socketpair"),
          ends("connect", "connect"),
          ends("bind", "bind"),
          ends("listen", "listen"),
          ends("accept", "accept4"),
          ends("sendto", "sendto"),
          ends("sendmsg", "sendmsg"),
          ends("recvmsg", "recvmsg"),
          ends("io_uring", "io_uring_setup")};
}

std::vector<Denial> processes() {
  return {ends("fork", "clone"),
          ends("fork_bomb", "clone"),
#ifdef SYS_vfork
          ends("vfork", "vfork"),
#endif
          ends("clone_process", "clone"),
          errno_of("clone_thread", "EPERM"),
          errno_of("clone3", "ENOSYS"),
          errno_of("thread_bomb", "0"),  // Of a thousand threads none is started.
          ends("exec", "execve"),
          ends("exec_descriptor", "execveat"),
          errno_of("memfd_create", "EPERM"),
          ends("ptrace_me", "ptrace"),
          ends("ptrace_parent", "ptrace"),
          ends("kill_zygote", "kill"),
          ends("kill_worker " + std::to_string(::getpid()), "kill"),
          ends("kill_everybody", "kill"),
          ends("kill_group", "kill"),
          ends("tgkill_zygote", "tgkill"),
          ends("tkill_zygote", "tkill"),
          ends("queue_signal", "rt_sigqueueinfo"),
          ends("pidfd_open", "pidfd_open"),
          ends("pidfd_getfd", "pidfd_getfd"),
          ends("pidfd_signal", "pidfd_send_signal"),
          ends("signal_by_fcntl", "fcntl"),
          ends("read_zygote_memory", "process_vm_readv"),
          ends("write_zygote_memory", "process_vm_writev"),
          ends("compare_zygote", "kcmp"),
          ends("limit_zygote", "prlimit64"),
          ends("leave_group", "setpgid"),
          ends("leave_session", "setsid")};
}

std::vector<Denial> privileges() {
  return {ends("unshare", "unshare"),
          ends("setns", "setns"),
          ends("setuid", "setuid"),
          ends("setresuid", "setresuid"),
          ends("setgid", "setgid"),
          ends("setgroups", "setgroups"),
          ends("capset", "capset"),
          ends("dumpable", "prctl"),
          ends("forget_parent", "prctl"),
          ends("second_filter", "seccomp"),
          ends("read_implies_exec", "personality"),
          ends("keyctl", "keyctl"),
          ends("add_key", "add_key"),
          ends("request_key", "request_key"),
          ends("bpf", "bpf"),
          ends("perf_event_open", "perf_event_open"),
          ends("userfaultfd", "userfaultfd"),
          ends("init_module", "init_module"),
          ends("kexec_load", "kexec_load"),
          ends("reboot", "reboot"),
          ends("set_host_name", "sethostname"),
          ends("set_clock", "clock_settime"),
          ends("kernel_log", "syslog"),
          errno_of("raise_limits", "EPERM"),
          ends("type_into_terminal", "ioctl"),
          errno_of("is_terminal", "ENOTTY"),
          ends("replace_trap", ""),
          ends("replace_trap_by_high_bits", ""),
          ends("block_trap", ""),
          ends("other_instruction_set", ""),
          ends("unknown_call", "number 9999"),
          errno_of("mmap_exec", "EPERM"),
          errno_of("mmap_exec_file", "EPERM"),
          errno_of("mprotect_exec", "EPERM"),
          ends("pkey_mprotect", "pkey_mprotect"),
          ends("shared_memory", "shmget"),
          errno_of("lock_memory", "EPERM")};
}

// {readable}: a file under the path that the program may read. {secret}: one beside it.
std::vector<Denial> files() {
  return {unseen("open /etc/passwd"),
          unseen("open /etc/shadow"),
          unseen("open {secret}"),
          unseen("open {folder}/../secret"),
          unseen("open {folder}/link"),
          unseen("open /proc/self/environ"),
          unseen("open /proc/1/environ"),
          unseen("open /proc/self/maps"),
          errno_of("open_for_both /proc/self/mem", "EACCES"),
          errno_of("zygote_memory_file", "EACCES"),
          unseen("zygote_environment"),
          unseen("zygote_descriptors"),
          errno_of("open_for_both /dev/tty", "EACCES"),
          unseen("open /dev/zero"),
          unseen("open /dev/urandom"),
          unseen("open_folder /"),
          unseen("open_folder /etc"),
          errno_of("open_path_only /", "EACCES"),
          errno_of("open_for_writing {readable}", "EACCES"),
          errno_of("open_for_both {secret}", "EACCES"),
          errno_of("create {folder}/new", "EACCES"),
          errno_of("create /tmp/new", "EACCES"),
          errno_of("temporary /tmp", "EACCES"),
          errno_of("openat2 {secret}", "ENOSYS"),
          ends("open_by_handle", "open_by_handle_at"),
          errno_of("read_link", "EACCES"),
          errno_of("write_file", "EBADF"),
          errno_of("cut_file", "EACCES"),
          errno_of("lock_file", "EPERM"),
          errno_of("reopen_file", "EACCES"),
          errno_of("too_many_descriptors", "EMFILE"),
          errno_of("mkdir {readable}", "EACCES"),
          errno_of("unlink {readable}", "EACCES"),
          errno_of("rename {readable}", "EACCES"),
          errno_of("chmod {readable}", "EACCES"),
          errno_of("truncate {readable}", "EACCES"),
          ends("symlink {readable}", "symlink"),
          errno_of("hard_link {readable}", "EACCES"),
          ends("mknod {readable}", "mknod"),
          ends("mount {folder}", "mount"),
          ends("umount", "umount2"),
          ends("open_tree", "open_tree"),
          ends("pivot_root", "pivot_root"),
          ends("chroot", "chroot")};
}

// Also where the C library makes a newer call of the same family: symlinkat, mknodat.
bool names_call(const std::string& message, const std::string& call) {
  return message.contains("system call " + call);
}

class Escape : public ::testing::TestWithParam<bool> {
 protected:
  Escape() {
    std::filesystem::create_directory(folder_.path() + "/readable");
    readable_ = folder_.write("readable/font", "glyphs");
    secret_ = folder_.write("secret", "password");
    std::filesystem::create_symlink(secret_, folder_.path() + "/readable/link");
    std::vector<std::string> args = {"--read", folder_.path() + "/readable"};
    if (GetParam()) args.insert(args.begin(), "--as-nobody");
    pool_ = std::make_unique<ProbePool>(probe_spec(args));
  }

  std::string filled_in(std::string text) const {
    const std::vector<std::pair<std::string, std::string>> places = {
        {"{readable}", readable_},
        {"{secret}", secret_},
        {"{folder}", folder_.path() + "/readable"}};
    for (const auto& [name, value] : places) {
      if (const auto at = text.find(name); at != std::string::npos) {
        text.replace(at, name.size(), value);
      }
    }
    return text;
  }

  void expect_denied(const std::vector<Denial>& denials) {
    for (const auto& denial : denials) {
      std::vector<UniqueFd> files;
      files.push_back(open_file(readable_));
      const auto result =
          pool_->result(filled_in(denial.attempt), small_limits(), std::move(files));
      const std::string what = denial.attempt + ": " + describe(result);
      EXPECT_TRUE(is_gone(pool_->seen().child)) << what;
      if (!denial.errno_name.empty()) {
        EXPECT_EQ(result.end, End::ok) << what;
        EXPECT_FALSE(result.result.empty()) << what;
        EXPECT_TRUE(denial.errno_name.contains(result.result)) << what;
        continue;
      }
      EXPECT_EQ(result.end, End::crashed) << what;
      EXPECT_EQ(result.code, "forbidden_call") << what;
      EXPECT_EQ(result.signal, SIGSYS) << what;
      if (!denial.forbidden_call.empty()) {
        EXPECT_TRUE(names_call(result.message, denial.forbidden_call)) << what;
      }
    }
    // Nothing of it did harm: the same program serves on, and the files are as they were.
    EXPECT_EQ(pool_->result("echo still here").result, "still here");
    EXPECT_EQ(pool_->pool().state().starts, 1U);
    std::string text;
    std::getline(std::ifstream(readable_), text);
    EXPECT_EQ(text, "glyphs");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path() + "/readable"), {}),
              2);
  }

  OpenFolder folder_;
  std::string readable_;
  std::string secret_;
  std::unique_ptr<ProbePool> pool_;
};

INSTANTIATE_TEST_SUITE_P(Users, Escape, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Ordinary" : "AsTheTests"; });

TEST_P(Escape, NoWayToTheNetwork) { expect_denied(network()); }
TEST_P(Escape, NoOtherProcess) { expect_denied(processes()); }
TEST_P(Escape, NoPrivilegeAndNoNewCode) { expect_denied(privileges()); }
TEST_P(Escape, NoFileThatWasNotGiven) { expect_denied(files()); }

TEST_P(Escape, ReadsWhatItWasGiven) {
  std::vector<UniqueFd> files;
  files.push_back(open_file(secret_));  // By descriptor: the path alone would be refused.
  EXPECT_EQ(pool_->result("read_file", small_limits(), std::move(files)).result, "password");
  EXPECT_EQ(pool_->result("read_path " + readable_).result, "glyphs");
}

// Where there is a mount namespace, names and sizes of other files are not seen either.
TEST_P(Escape, SeesNoOtherFile) {
  ASSERT_TRUE(run_blocking(pool_->io(), pool_->pool().ready()).has_value());
  const auto jail = pool_->pool().state().jail;
  const auto own_root = std::ranges::find(jail, "own_root", &sandbox::JailFeature::name);
  ASSERT_NE(own_root, jail.end());
  EXPECT_EQ(pool_->result("see " + readable_).result, "allowed");
  if (!own_root->used) GTEST_SKIP() << own_root->detail;
  for (const std::string& path : {std::string("/etc/passwd"), secret_, std::string("/proc/self"),
                                  std::string("/usr"), folder_.path() + "/readable/../secret"}) {
    EXPECT_EQ(pool_->result("see " + path).result, "ENOENT") << path;
  }
}

TEST_P(Escape, HoldsOnlyTheDescriptorsOfItsTask) {
  EXPECT_EQ(pool_->result("descriptors").result, "0 1 2 3");
  std::vector<UniqueFd> files;
  files.push_back(open_file(readable_));
  files.push_back(open_file(secret_));
  EXPECT_EQ(pool_->result("descriptors", small_limits(), std::move(files)).result, "0 1 2 3 5 6");
}

TEST_P(Escape, IsNeverRoot) {
  const auto users = pool_->result("user").result;
  EXPECT_NE(users, "0 0");
  EXPECT_FALSE(users.empty());
}

TEST_P(Escape, FindsNothingInTheEnvironmentButWhatWasGiven) {
  ::setenv("DATABASE_URL", "postgresql://secret", 1);
  ProbePool pool;
  EXPECT_EQ(pool.result("environment").result, "LANG=C.UTF-8\nOMP_THREAD_LIMIT=1\n");
}

// What warm-up opened, say a database, is not open in a task.
TEST(Inherited, DescriptorsOfTheWarmProgramAreClosed) {
  OpenFolder folder;
  const auto file = folder.write("database", "rows");
  ProbePool pool(probe_spec({"--open", file, "--open", file, "--open", file}));
  EXPECT_EQ(pool.result("descriptors").result, "0 1 2 3");
}

}  // namespace
}  // namespace millrace::test
