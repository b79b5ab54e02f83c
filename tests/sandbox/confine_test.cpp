// Without the jail there is no task (ADR 9): kernels without seccomp or Landlock are played by a
// filter on the program that makes those system calls unknown.
#include "sandbox/probe_pool.h"

#include <gtest/gtest.h>

#include <iostream>
#include <sys/syscall.h>

namespace millrace::test {
namespace {

constexpr int kLandlockCreate = 444;
constexpr int kLandlockRestrict = 446;

class WithoutACall : public ::testing::TestWithParam<std::pair<int, std::string>> {};

INSTANTIATE_TEST_SUITE_P(
    Kernels, WithoutACall,
    ::testing::Values(std::pair{static_cast<int>(SYS_seccomp), std::string("seccomp")},
                      std::pair{kLandlockCreate, std::string("Landlock")},
                      std::pair{kLandlockRestrict, std::string("landlock")},
                      std::pair{static_cast<int>(SYS_close_range), std::string("close")},
                      std::pair{static_cast<int>(SYS_capset), std::string("capabilities")}));

TEST_P(WithoutACall, NoTaskRunsAndNoByteIsRead) {
  OpenFolder folder;
  const auto document = folder.write("document", "bytes of a stranger");
  ProbePool pool(probe_spec({"--deny", std::to_string(GetParam().first)}));
  auto file = open_file(document);
  std::vector<UniqueFd> files;
  files.emplace_back(::fcntl(file.get(), F_DUPFD_CLOEXEC, 0));
  const auto result = pool.result("read_file", small_limits(), std::move(files));
  EXPECT_EQ(result.end, End::cannot_confine) << describe(result);
  EXPECT_EQ(result.code, "cannot_confine");
  EXPECT_TRUE(result.message.contains(GetParam().second)) << result.message;
  EXPECT_FALSE(sandbox::blames_the_input(result.end));
  // The task would have shared this offset.
  EXPECT_EQ(::lseek(file.get(), 0, SEEK_CUR), 0);
}

TEST(Jail, IsDescribedWithWhatIsUsedAndWhatIsNot) {
  const auto jail = sandbox::describe_jail();
  const auto find = [&](std::string_view name) {
    return std::ranges::find(jail, name, &sandbox::JailFeature::name);
  };
  for (const char* name : {"seccomp", "landlock"}) {
    ASSERT_NE(find(name), jail.end()) << name;
    EXPECT_TRUE(find(name)->used);
    EXPECT_TRUE(find(name)->required);
    EXPECT_FALSE(find(name)->detail.empty());
  }
  for (const char* name : {"user", "capabilities", "rlimits", "network_namespace", "ipc_namespace",
                           "mount_namespace", "memory_shortage", "priority", "cgroup"}) {
    ASSERT_NE(find(name), jail.end()) << name;
    EXPECT_FALSE(find(name)->required);
    EXPECT_FALSE(find(name)->detail.empty());
  }
}

TEST(Jail, IsDescribedByTheWarmProgramToo) {
  ProbePool pool;
  ASSERT_TRUE(run_blocking(pool.io(), pool.pool().ready()).has_value());
  EXPECT_EQ(pool.pool().state().jail, sandbox::describe_jail());
}

// F16: an extra. With one a task is in a group of its own while it runs, and the group goes with
// it; without one the reason is told, and the limits hold as `Limits` shows.
TEST(Jail, SaysWhetherTasksHaveACgroup) {
  ProbePool pool;
  ASSERT_TRUE(run_blocking(pool.io(), pool.pool().ready()).has_value());
  const auto jail = pool.pool().state().jail;
  const auto line = std::ranges::find(jail, "cgroup", &sandbox::JailFeature::name);
  ASSERT_NE(line, jail.end());
  const auto groups = sandbox::TaskGroups::open();
  EXPECT_EQ(line->used, groups.has_value()) << line->detail;
  std::cout << "cgroup: " << (line->used ? "used, " : "not used, ") << line->detail << '\n';
  std::string own;
  Seen seen;
  CancelSource source;
  auto task = probe_task("sleep", small_limits(), seen);
  task.on_progress = [&](int pid, int) {
    std::ifstream lines("/proc/" + std::to_string(pid) + "/cgroup");
    for (std::string text; std::getline(lines, text);) own += text.starts_with("0::") ? text : "";
    source.cancel("seen");
  };
  const auto result = run_blocking(pool.io(), pool.pool().run(std::move(task), source.token()));
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(own.contains("/millrace-task-"), line->used) << own;
  if (!line->used) {
    EXPECT_TRUE(line->detail.starts_with("rlimits alone: ")) << line->detail;
    EXPECT_EQ(line->detail, "rlimits alone: " + groups.error().message);
    return;
  }
  const auto name = own.substr(own.rfind('/') + 1);
  EXPECT_FALSE(std::filesystem::exists(groups->path() + "/" + name));
}

TEST(Jail, DescriptionsSurviveThePipe) {
  const sandbox::JailDescription jail = {
      {.name = "a", .used = true, .required = false, .detail = "of all kinds, 1"},
      {.name = "b", .used = false, .required = true, .detail = ""}};
  EXPECT_EQ(sandbox::decode_description(sandbox::encode(jail)), jail);
  EXPECT_EQ(sandbox::decode_description(""), sandbox::JailDescription{});
}

}  // namespace
}  // namespace millrace::test
