// What must not go on must end: an exception in one of the worker's own loops, and a handler that
// nobody can run.
#include "worker/blocking_pool.h"
#include "worker/runtime_fixture.h"

#include <csignal>
#include <stdexcept>
#include <sys/resource.h>

namespace millrace::worker::test {
namespace {

using namespace std::chrono_literals;

using CrashDeathTest = RuntimeTest;

TEST_F(CrashDeathTest, AnExceptionInALoopEndsTheProcessAtOnce) {
  // Called by the loop that keeps the process lease; with that loop gone, the process would run
  // jobs under a lease that nobody renews.
  options.on_registered = [](const std::string&) { throw std::runtime_error("broken"); };
  EXPECT_EXIT(
      {
        start();
        advance(5s);
        std::_Exit(0);
      },
      ::testing::KilledBySignal(SIGABRT), "");
}

TEST_F(CrashDeathTest, WhatAHandlerThrowsIsARetry) {
  gated().on_start = [](JobContext&) { throw std::bad_alloc(); };
  const auto id = store.add("gated");
  start();
  ASSERT_NE(store.end_of(id), nullptr);
  EXPECT_EQ(store.end_of(id)->outcome.kind, Outcome::Kind::retry);
}

// The sanitizers reserve most of the address space for themselves.
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)

[[noreturn]] void submit_without_room_for_a_stack() {
  bool ran = false;
  bool refused = false;
  {
    BlockingPool pool;
    rlimit room{};
    ::getrlimit(RLIMIT_AS, &room);
    const rlimit none{.rlim_cur = 1024UL * 1024, .rlim_max = room.rlim_max};
    ::setrlimit(RLIMIT_AS, &none);
    try {
      pool.submit([&] { ran = true; });
    } catch (const std::exception&) {
      refused = true;
    }
    ::setrlimit(RLIMIT_AS, &room);
  }
  std::_Exit(refused && !ran ? 0 : 1);
}

TEST(BlockingPoolDeathTest, ATaskWithoutAThreadIsRefusedAndNeverRun) {
  EXPECT_EXIT(submit_without_room_for_a_stack(), ::testing::ExitedWithCode(0), "");
}

#endif

}  // namespace
}  // namespace millrace::worker::test
