#include "sandbox/run_delay.h"

#include "sandbox/unique_fd.h"

#include <gtest/gtest.h>

#include <csignal>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace millrace::sandbox {
namespace {

using std::chrono::milliseconds;

// A child that does nothing but run, on the first processor that this process may use.
class Spinner {
 public:
  explicit Spinner(int nice) : pid_(::fork()) {
    if (pid_ == 0) {
      cpu_set_t all;
      cpu_set_t one;
      CPU_ZERO(&one);
      ::sched_getaffinity(0, sizeof all, &all);
      int first = 0;
      while (!CPU_ISSET(first, &all)) ++first;
      CPU_SET(first, &one);
      ::sched_setaffinity(0, sizeof one, &one);
      ::setpriority(PRIO_PROCESS, 0, nice);
      for (volatile unsigned turn = 0;; turn = turn + 1) {
      }
    }
    pidfd_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  }
  Spinner(const Spinner&) = delete;
  Spinner& operator=(const Spinner&) = delete;
  ~Spinner() { end(); }

  int pidfd() const { return pidfd_.get(); }
  void end() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_;
  UniqueFd pidfd_;
};

TEST(RunDelay, IsWhatAProcessWaitsForAnotherOnItsProcessor) {
  const Spinner other(0);
  Spinner polite(19);
  ASSERT_GE(polite.pidfd(), 0);
  while (run_delay(polite.pidfd()) < milliseconds(50)) ::sched_yield();
  polite.end();
  EXPECT_EQ(run_delay(polite.pidfd()), milliseconds(0)) << "of one that is gone nothing is known";
}

TEST(RunDelay, OfWhatIsNoProcessIsNone) { EXPECT_EQ(run_delay(-1), milliseconds(0)); }

TEST(RunDelay, ExtendsTheWallClockUpToFiveTimes) {
  EXPECT_EQ(wall_with_delay(milliseconds(100), milliseconds(0)), milliseconds(100));
  EXPECT_EQ(wall_with_delay(milliseconds(100), milliseconds(70)), milliseconds(170));
  EXPECT_EQ(wall_with_delay(milliseconds(100), milliseconds(9000)), milliseconds(500));
}

}  // namespace
}  // namespace millrace::sandbox
