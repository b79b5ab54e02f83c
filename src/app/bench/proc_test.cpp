#include "app/bench/proc.h"

#include <gtest/gtest.h>

#include <unistd.h>

namespace millrace::app {
namespace {

// pid (name) state ppid pgrp session tty tpgid flags minflt cminflt majflt cmajflt utime stime
// cutime cstime ...
ProcessTable three() {
  ProcessTable table;
  table.add("10 (parent) S 1 10 10 0 -1 0 0 0 0 0 100 50 10 5 20 0 1 0");
  table.add("11 (odd) name)) S 10 10 10 0 -1 0 0 0 0 0 200 0 0 0 20 0 1 0");
  table.add("12 (grandchild) S 11 10 10 0 -1 0 0 0 0 0 0 300 0 0 20 0 1 0");
  table.add("not a line");
  return table;
}

TEST(ProcTest, TimeOfATreeWithoutABranch) {
  const auto table = three();
  const auto tick = static_cast<double>(::sysconf(_SC_CLK_TCK));
  EXPECT_EQ(table.size(), 3U);
  EXPECT_DOUBLE_EQ(table.cpu_seconds(10), 665 / tick);
  EXPECT_DOUBLE_EQ(table.cpu_seconds(10, 11), 165 / tick);
  EXPECT_DOUBLE_EQ(table.cpu_seconds(12), 300 / tick);
  EXPECT_DOUBLE_EQ(table.cpu_seconds(99), 0);
  EXPECT_EQ(table.parent(12), 11);
  EXPECT_EQ(table.family(11), (std::vector<pid_t>{11, 12}));
}

TEST(ProcTest, ThisProcessIsThere) {
  EXPECT_EQ(ProcessTable::read().parent(::getpid()), ::getppid());
  EXPECT_GT(resident_bytes(::getpid()), 100'000);
  EXPECT_EQ(resident_bytes(0x7fffffff), 0);
}

}  // namespace
}  // namespace millrace::app
