// jail_probe: a program for TaskPool whose tasks try to get out. The request is "attempt argument".
//
// Options stand for machines and mistakes: --as-nobody (an ordinary user), --deny <system call
// number> (a kernel without it), --read <path>, --fail-warm-up, --hang-warm-up, --leave-thread,
// --open <path> (descriptors that warm-up leaves behind).
#include "attempts.h"
#include "sandbox/task_server.h"

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace millrace;

// Filters add up, and the strictest answer counts: the call is not there for anybody below.
bool deny(unsigned number) {
  std::array<sock_filter, 4> steps = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{.len = steps.size(), .filter = steps.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool become_nobody() {
  constexpr unsigned kNobody = 65534;
  if (::geteuid() != 0) return true;
  if (::setresgid(kNobody, kNobody, kNobody) != 0) return errno == EINVAL;  // There is no nobody.
  if (::setresuid(kNobody, kNobody, kNobody) != 0) return false;
  return ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0;  // As a program is that nobody started.
}

int g_remembered = 0;  // Changed by tasks; a new process does not see it.

}  // namespace

int main(int argc, char** argv) {
  test::Attempts attempts;
  test::add_calls(attempts);
  test::add_files(attempts);
  test::add_limits(attempts);
  attempts["remember"] = [](const test::Attempt&) { return std::to_string(++g_remembered); };

  sandbox::TaskServer server;
  server.warm_up = [] { return ok(); };
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    const char* const value = i + 1 < argc ? argv[i + 1] : "";
    if (option == "--as-nobody" && !become_nobody()) return 3;
    if (option == "--deny" && !deny(static_cast<unsigned>(std::atoi(value)))) return 4;
    if (option == "--read") server.read_paths.emplace_back(value);
    if (option == "--open" && ::open(value, O_RDWR) < 0) return 5;
    if (option == "--fail-warm-up") {
      server.warm_up = [] { return fail(ErrorKind::internal, "no language data"); };
    }
    if (option == "--hang-warm-up") {
      server.warm_up = [] {
        ::pause();
        return ok();
      };
    }
    if (option == "--leave-thread") {
      server.warm_up = [] {
        std::thread([] { ::pause(); }).detach();  // check:allow a mistake to be found
        return ok();
      };
    }
  }
  server.run = [&](sandbox::TaskChannel& channel) -> Result<std::string> {
    channel.progress(::getpid(), std::numeric_limits<int>::max());
    const std::string_view request = channel.request();
    const auto space = std::min(request.find(' '), request.size());
    const auto found = attempts.find(std::string(request.substr(0, space)));
    if (found == attempts.end()) return fail(ErrorKind::not_found, "no such attempt");
    const std::string argument(request.substr(std::min(space + 1, request.size())));
    if (found->first == "refuse") return fail(ErrorKind::invalid_argument, argument);
    return found->second({.channel = channel, .argument = argument});
  };
  return sandbox::serve_tasks(server);
}
