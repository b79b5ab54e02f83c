#include "attempts.h"

#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace millrace::test {
namespace {

// A system call by its number, as an intruder without a C library would make it.
template <class... Arguments>
auto call(long number, Arguments... arguments) {
  return [=](const Attempt&) { return outcome(::syscall(number, arguments...)); };
}

void* idle(void*) { return nullptr; }

void add_network(Attempts& attempts) {
  for (const auto& [name, family] : {std::pair{"inet", AF_INET},
                                     {"inet6", AF_INET6},
                                     {"unix", AF_UNIX},
                                     {"netlink", AF_NETLINK},
                                     {"packet", AF_PACKET},
                                     {"vsock", AF_VSOCK},
                                     {"alg", AF_ALG},
                                     {"bluetooth", AF_BLUETOOTH}}) {
    attempts[std::string("socket_") + name] = call(SYS_socket, family, SOCK_STREAM, 0);
  }
  attempts["socketpair"] = [](const Attempt&) {
    int ends[2];
    return outcome(::syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, ends));
  };
  attempts["connect"] = call(SYS_connect, 3, nullptr, 0);
  attempts["bind"] = call(SYS_bind, 3, nullptr, 0);
  attempts["listen"] = call(SYS_listen, 3, 1);
  attempts["accept"] = call(SYS_accept4, 3, nullptr, nullptr, 0);
  attempts["sendto"] = call(SYS_sendto, 3, "x", 1, 0, nullptr, 0);
  attempts["sendmsg"] = call(SYS_sendmsg, 3, nullptr, 0);
  attempts["recvmsg"] = call(SYS_recvmsg, 3, nullptr, 0);
  attempts["io_uring"] = [](const Attempt&) {
    char parameters[256] = {};
    return outcome(::syscall(SYS_io_uring_setup, 8, parameters));
  };
}

void add_processes(Attempts& attempts) {
  attempts["fork"] = [](const Attempt&) { return outcome(::fork()); };
  attempts["fork_bomb"] = [](const Attempt&) {
    for (;;) ::fork();
    return std::string();
  };
#ifdef SYS_vfork
  attempts["vfork"] = call(SYS_vfork);
#endif
  attempts["clone_process"] = call(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  attempts["clone_thread"] =
      call(SYS_clone, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD, 0, 0, 0, 0);
  attempts["clone3"] = [](const Attempt&) {
    unsigned long arguments[11] = {};
    return outcome(::syscall(SYS_clone3, arguments, sizeof arguments));
  };
  attempts["thread_bomb"] = [](const Attempt&) {
    int started = 0;
    for (int i = 0; i < 1000; ++i) {
      pthread_t thread{};
      if (::pthread_create(&thread, nullptr, idle, nullptr) == 0) ++started;
    }
    return std::to_string(started);
  };
  attempts["exec"] = [](const Attempt&) {
    char* const none[] = {nullptr};
    return outcome(::execve("/bin/sh", none, none));
  };
  attempts["exec_descriptor"] = [](const Attempt&) {
    char* const none[] = {nullptr};
    return outcome(::syscall(SYS_execveat, 5, "", none, none, AT_EMPTY_PATH));
  };
  attempts["memfd_create"] = call(SYS_memfd_create, "x", 0U);
  attempts["ptrace_me"] = call(SYS_ptrace, PTRACE_TRACEME, 0, nullptr, nullptr);
  attempts["ptrace_parent"] = [](const Attempt&) {
    return outcome(::syscall(SYS_ptrace, PTRACE_ATTACH, ::getppid(), nullptr, nullptr));
  };
  attempts["kill_zygote"] = [](const Attempt&) { return outcome(::kill(::getppid(), SIGKILL)); };
  attempts["kill_worker"] = [](const Attempt& attempt) {
    return outcome(::kill(std::stoi(attempt.argument), SIGKILL));
  };
  attempts["kill_everybody"] = [](const Attempt&) { return outcome(::kill(-1, SIGKILL)); };
  attempts["kill_group"] = [](const Attempt&) { return outcome(::kill(0, SIGKILL)); };
  attempts["tgkill_zygote"] = [](const Attempt&) {
    return outcome(::syscall(SYS_tgkill, ::getppid(), ::getppid(), SIGKILL));
  };
  attempts["tkill_zygote"] = [](const Attempt&) {
    return outcome(::syscall(SYS_tkill, ::getppid(), SIGKILL));
  };
  attempts["queue_signal"] = [](const Attempt&) {
    siginfo_t info{};
    return outcome(::syscall(SYS_rt_sigqueueinfo, ::getppid(), SIGTERM, &info));
  };
  attempts["pidfd_open"] = [](const Attempt&) {
    return outcome(::syscall(SYS_pidfd_open, ::getppid(), 0));
  };
  attempts["pidfd_getfd"] = call(SYS_pidfd_getfd, 3, 3, 0);
  attempts["pidfd_signal"] = call(SYS_pidfd_send_signal, 3, SIGKILL, nullptr, 0);
  attempts["signal_by_fcntl"] = [](const Attempt&) {
    return outcome(::fcntl(3, F_SETOWN, ::getppid()));
  };
  attempts["read_zygote_memory"] = [](const Attempt&) {
    char byte = 0;
    iovec here{&byte, 1};
    return outcome(::syscall(SYS_process_vm_readv, ::getppid(), &here, 1UL, &here, 1UL, 0UL));
  };
  attempts["write_zygote_memory"] = [](const Attempt&) {
    char byte = 0;
    iovec here{&byte, 1};
    return outcome(::syscall(SYS_process_vm_writev, ::getppid(), &here, 1UL, &here, 1UL, 0UL));
  };
  attempts["compare_zygote"] = [](const Attempt&) {
    return outcome(::syscall(SYS_kcmp, ::getpid(), ::getppid(), 0, 0, 0));
  };
  attempts["limit_zygote"] = [](const Attempt&) {
    const rlimit none{};
    return outcome(::syscall(SYS_prlimit64, ::getppid(), RLIMIT_NOFILE, &none, nullptr));
  };
  attempts["leave_group"] = call(SYS_setpgid, 0, 0);
  attempts["leave_session"] = call(SYS_setsid);
}

void add_privileges(Attempts& attempts) {
  attempts["unshare"] = call(SYS_unshare, CLONE_NEWUSER);
  attempts["setns"] = call(SYS_setns, 3, 0);
  attempts["setuid"] = call(SYS_setuid, 0);
  attempts["setresuid"] = call(SYS_setresuid, 0, 0, 0);
  attempts["setgid"] = call(SYS_setgid, 0);
  attempts["setgroups"] = call(SYS_setgroups, 0, nullptr);
  attempts["capset"] = [](const Attempt&) {
    __user_cap_header_struct head{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    __user_cap_data_struct all[2] = {{~0U, ~0U, ~0U}, {~0U, ~0U, ~0U}};
    return outcome(::syscall(SYS_capset, &head, all));
  };
  attempts["dumpable"] = call(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0);
  attempts["forget_parent"] = call(SYS_prctl, PR_SET_PDEATHSIG, 0, 0, 0, 0);
  attempts["second_filter"] = call(SYS_seccomp, 1, 0, nullptr);
  attempts["read_implies_exec"] = call(SYS_personality, 0x0400000);
  attempts["keyctl"] = call(SYS_keyctl, 0, 0, 0, 0, 0);
  attempts["add_key"] = call(SYS_add_key, "user", "x", "y", 1, 0);
  attempts["request_key"] = call(SYS_request_key, "user", "x", nullptr, 0);
  attempts["bpf"] = call(SYS_bpf, 0, nullptr, 0);
  attempts["perf_event_open"] = call(SYS_perf_event_open, nullptr, 0, -1, -1, 0);
  attempts["userfaultfd"] = call(SYS_userfaultfd, 0);
  attempts["init_module"] = call(SYS_init_module, nullptr, 0, "");
  attempts["kexec_load"] = call(SYS_kexec_load, 0, 0, nullptr, 0);
  attempts["reboot"] = call(SYS_reboot, 0, 0, 0, nullptr);
  attempts["set_host_name"] = call(SYS_sethostname, "x", 1);
  attempts["set_clock"] = call(SYS_clock_settime, 0, nullptr);
  attempts["kernel_log"] = call(SYS_syslog, 3, nullptr, 0);
  attempts["raise_limits"] = [](const Attempt&) {
    const rlimit all{RLIM_INFINITY, RLIM_INFINITY};
    return outcome(::setrlimit(RLIMIT_AS, &all));
  };
  attempts["type_into_terminal"] = call(SYS_ioctl, 0, TIOCSTI, "x");
  attempts["is_terminal"] = [](const Attempt&) { return outcome(::isatty(0) == 1 ? 0 : -1); };
  attempts["replace_trap"] = [](const Attempt&) {
    struct sigaction action{};
    action.sa_handler = SIG_IGN;
    return outcome(::sigaction(SIGSYS, &action, nullptr));
  };
  // The kernel reads half of the argument; a filter that reads all of it sees another signal.
  attempts["replace_trap_by_high_bits"] = [](const Attempt&) {
    unsigned char ignore[64] = {1};  // The kernel's own structure: SIG_IGN.
    return outcome(::syscall(SYS_rt_sigaction, (1L << 32U) | SIGSYS, ignore, nullptr, 8));
  };
  attempts["block_trap"] = [](const Attempt&) {
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    return outcome(::fork());
  };
  attempts["other_instruction_set"] = [](const Attempt&) {
#ifdef __x86_64__
    int answer = 0;
    __asm__ volatile("int $0x80" : "=a"(answer) : "a"(20) : "memory");  // getpid of 32 bits.
    return std::to_string(answer);
#else
    ::raise(SIGSYS);
    return std::string();
#endif
  };
  attempts["unknown_call"] = call(9999);
}

void add_memory(Attempts& attempts) {
  attempts["mmap_exec"] = [](const Attempt&) {
    void* const page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return outcome(page == MAP_FAILED ? -1 : 0);
  };
  attempts["mmap_exec_file"] = [](const Attempt& attempt) {
    void* const page =
        ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, attempt.channel.file(0), 0);
    return outcome(page == MAP_FAILED ? -1 : 0);
  };
  attempts["mprotect_exec"] = [](const Attempt&) {
    void* const page =
        ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return outcome(::mprotect(page, 4096, PROT_READ | PROT_EXEC));
  };
  attempts["pkey_mprotect"] = call(SYS_pkey_mprotect, nullptr, 4096, PROT_EXEC, -1);
  attempts["shared_memory"] = call(SYS_shmget, 1, 4096, 01600);
  attempts["lock_memory"] = call(SYS_mlockall, MCL_CURRENT);
}

}  // namespace

void add_calls(Attempts& attempts) {
  add_network(attempts);
  add_processes(attempts);
  add_privileges(attempts);
  add_memory(attempts);
}

}  // namespace millrace::test
