#include "sandbox/task_groups.h"

#include "base/file.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace millrace::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUnified =
    "22 1 0:20 / /proc rw,nosuid - proc proc rw\n"
    "29 22 0:26 / /sys/fs/cgroup rw,nosuid shared:4 master:2 - cgroup2 cgroup2 rw,nsdelegate\n";

TEST(OwnGroup, IsBelowTheMount) {
  const auto own = find_own_group(kUnified, "0::/system.slice/millrace.service/worker\n");
  ASSERT_TRUE(own.has_value()) << own.error().message;
  EXPECT_EQ(own->mount, "/sys/fs/cgroup");
  EXPECT_EQ(own->folder, "/sys/fs/cgroup/system.slice/millrace.service/worker");
}

TEST(OwnGroup, IsTheMountInANamespaceOfItsOwn) {
  const auto own = find_own_group(kUnified, "0::/\n");
  ASSERT_TRUE(own.has_value());
  EXPECT_EQ(own->folder, own->mount);
}

TEST(OwnGroup, IsFoundWhereAPartOfTheTreeIsMounted) {
  const auto* const part = "30 1 0:26 /docker/ab /cg rw - cgroup2 cgroup2 rw\n";
  const auto own = find_own_group(part, "0::/docker/ab/worker\n");
  ASSERT_TRUE(own.has_value());
  EXPECT_EQ(own->folder, "/cg/worker");
  EXPECT_FALSE(find_own_group(part, "0::/docker/abc\n").has_value());
  EXPECT_FALSE(find_own_group(part, "0::/../other\n").has_value());
}

TEST(OwnGroup, OfOldHierarchiesIsNone) {
  const auto* const old = "30 1 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
  const auto none = find_own_group(old, "4:memory:/a\n");
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().message, "no cgroup v2 is mounted");
  EXPECT_FALSE(find_own_group(kUnified, "4:memory:/a\n").has_value());
}

// A folder with the files that the kernel would make in a cgroup. What the kernel does with them
// is not played.
class MadeGroups : public ::testing::Test {
 protected:
  MadeGroups() {
    std::string name = (fs::temp_directory_path() / "millrace_groups_XXXXXX").string();
    path_ = ::mkdtemp(name.data());
    write("cgroup.subtree_control", "cpu memory\n");
    write("cgroup.procs", "");
  }
  ~MadeGroups() override { fs::remove_all(path_); }

  void write(const std::string& name, std::string_view text) const {
    std::ofstream(path_ / name) << text;
  }
  std::string read(const std::string& name) const {
    return read_file(path_ / name).value_or("(none)");
  }
  std::string group(pid_t owner, int id) const {
    return "millrace-task-" + std::to_string(owner) + "-" + std::to_string(id);
  }
  void prepare(const std::string& name) const {
    fs::create_directories(path_ / name);
    for (const auto* file : {"memory.max", "memory.oom.group", "memory.swap.max", "cgroup.procs"}) {
      write(name + "/" + file, "");
    }
  }

  fs::path path_;
};

TEST_F(MadeGroups, HaveALimitAndDieAsOne) {
  prepare(group(::getpid(), 0));  // For the trial.
  prepare(group(77, 5));
  const auto groups = TaskGroups::open_in(path_.string());
  ASSERT_TRUE(groups.has_value()) << groups.error().message;
  EXPECT_EQ(read(group(::getpid(), 0) + "/cgroup.procs"), "0");
  const auto made = groups->make(77, 5, 1'000'000);
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_EQ(read(group(77, 5) + "/memory.max"), "1000000");
  EXPECT_EQ(read(group(77, 5) + "/memory.oom.group"), "1");
  EXPECT_EQ(read(group(77, 5) + "/memory.swap.max"), "0");
  EXPECT_FALSE(groups->ran_out(77, 5));
  write(group(77, 5) + "/memory.events", "low 0\nhigh 0\nmax 9\noom 1\noom_kill 1\n");
  EXPECT_TRUE(groups->ran_out(77, 5));
  write(group(77, 5) + "/memory.events", "low 0\nhigh 0\nmax 9\noom 1\noom_kill 0\n");
  EXPECT_FALSE(groups->ran_out(77, 5));
  ASSERT_TRUE(join_group(made->get()));
  EXPECT_EQ(read(group(77, 5) + "/cgroup.procs"), "0");
}

TEST_F(MadeGroups, WithoutTheControllerAreRefusedWithTheReason) {
  const auto groups = TaskGroups::open_in(path_.string());
  ASSERT_FALSE(groups.has_value());
  EXPECT_TRUE(groups.error().message.contains("memory.max")) << groups.error().message;
  // And leave nothing behind.
  EXPECT_FALSE(fs::exists(path_ / group(::getpid(), 0)));
}

TEST_F(MadeGroups, OfTheDeadAreRemovedAndThoseOfTheLivingStay) {
  const pid_t gone = ::fork();
  if (gone == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(gone, nullptr, 0), gone);
  prepare(group(::getpid(), 0));
  fs::create_directories(path_ / group(gone, 3));
  fs::create_directories(path_ / group(::getppid(), 3));
  fs::create_directories(path_ / "millrace-task-");
  fs::create_directories(path_ / "others");
  ASSERT_TRUE(TaskGroups::open_in(path_.string()).has_value());
  EXPECT_FALSE(fs::exists(path_ / group(gone, 3)));
  EXPECT_TRUE(fs::exists(path_ / group(::getppid(), 3)));
  EXPECT_TRUE(fs::exists(path_ / "millrace-task-"));
  EXPECT_TRUE(fs::exists(path_ / "others"));
}

// How a process in a group ends that has touched so much memory.
int end_of_one_that_uses(int group, std::size_t bytes) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (!join_group(group)) ::_exit(2);
    auto* const block = static_cast<char*>(
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (block == MAP_FAILED) ::_exit(3);
    for (std::size_t i = 0; i < bytes; i += 4096) block[i] = 1;
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return status;
}

// Where this machine gives groups, the kernel keeps the limit; where not, the reason is said.
TEST(TaskGroups, f16_AreKeptByTheKernelOrNotUsedForAReason) {
  constexpr std::uint64_t kMega = 1024 * 1024;
  const auto groups = TaskGroups::open();
  if (!groups.has_value()) {
    EXPECT_EQ(groups.error().kind, ErrorKind::unavailable);
    EXPECT_FALSE(groups.error().message.empty());
    GTEST_SKIP() << groups.error().message;
  }
  const pid_t self = ::getpid();
  const auto small = groups->make(self, 1, 32 * kMega);
  ASSERT_TRUE(small.has_value()) << small.error().message;
  EXPECT_EQ(end_of_one_that_uses(small->get(), 8 * kMega), 0);
  EXPECT_FALSE(groups->ran_out(self, 1));
  const int status = end_of_one_that_uses(small->get(), 128 * kMega);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  EXPECT_TRUE(groups->ran_out(self, 1));
  groups->remove(self, 1);
  EXPECT_FALSE(
      fs::exists(fs::path(groups->path()) / ("millrace-task-" + std::to_string(self) + "-1")));
}

}  // namespace
}  // namespace millrace::sandbox
