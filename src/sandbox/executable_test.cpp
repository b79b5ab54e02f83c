#include "sandbox/executable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace millrace::sandbox {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class FindExecutable : public testing::Test {
 protected:
  FindExecutable() {
    std::string name = (std::filesystem::temp_directory_path() / "millrace_exe_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    std::filesystem::create_directories(folder_ / "first" / "tool");
    std::filesystem::create_directories(folder_ / "second");
    make_file(folder_ / "second" / "tool", 0755);
    make_file(folder_ / "second" / "data", 0644);
  }
  ~FindExecutable() override { std::filesystem::remove_all(folder_); }

  static void make_file(const std::filesystem::path& file, mode_t mode) {
    std::ofstream(file) << "#!/bin/sh\n";
    ::chmod(file.c_str(), mode);
  }

  std::string folder(const std::string& name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
};

TEST_F(FindExecutable, TakesAPathAsItIs) {
  EXPECT_EQ(find_executable({.program = folder("second/tool")}).value(), folder("second/tool"));
}

TEST_F(FindExecutable, TakesARelativePathFromTheWorkingDirectory) {
  const auto found = find_executable({.program = "second/tool", .cwd = folder_.string()});
  EXPECT_EQ(found.value(), folder("second/tool"));
}

TEST_F(FindExecutable, SearchesPathInOrderAndSkipsWhatCannotRun) {
  const auto path = folder("missing") + ":" + folder("first") + ":" + folder("second");
  EXPECT_EQ(find_executable({.program = "tool", .path = path}).value(), folder("second/tool"));
}

TEST_F(FindExecutable, EmptyPathEntryIsTheWorkingDirectory) {
  const auto found =
      find_executable({.program = "tool", .cwd = folder("second"), .path = "/nowhere:"});
  EXPECT_TRUE(found.has_value()) << found.error().message;
}

TEST_F(FindExecutable, NamesTheMissingFile) {
  const auto found = find_executable({.program = folder("absent")});
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().kind, ErrorKind::not_found);
  EXPECT_EQ(found.error().message, "program '" + folder("absent") + "' does not exist");
}

TEST_F(FindExecutable, SaysWhereItLooked) {
  const auto found = find_executable({.program = "absent", .path = folder("second")});
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().kind, ErrorKind::not_found);
  EXPECT_EQ(found.error().message, "program 'absent' is not in PATH (" + folder("second") + ")");
}

TEST_F(FindExecutable, RefusesADirectory) {
  const auto found = find_executable({.program = folder("first/tool")});
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().kind, ErrorKind::invalid_argument);
  EXPECT_THAT(found.error().message,
              AllOf(HasSubstr(folder("first/tool")), HasSubstr("directory")));
}

TEST_F(FindExecutable, RefusesAFileWithoutPermission) {
  for (const auto& search : {ExecutableSearch{.program = folder("second/data")},
                             ExecutableSearch{.program = "data", .path = folder("second")}}) {
    const auto found = find_executable(search);
    ASSERT_FALSE(found.has_value());
    EXPECT_EQ(found.error().kind, ErrorKind::invalid_argument);
    EXPECT_THAT(found.error().message,
                AllOf(HasSubstr(folder("second/data")), HasSubstr("not executable")));
  }
}

TEST_F(FindExecutable, RefusesADevice) {
  const auto found = find_executable({.program = "/dev/null"});
  ASSERT_FALSE(found.has_value());
  EXPECT_THAT(found.error().message, HasSubstr("'/dev/null' is not a file"));
}

TEST_F(FindExecutable, RefusesAnEmptyName) {
  const auto found = find_executable({.program = ""});
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().kind, ErrorKind::invalid_argument);
}

TEST_F(FindExecutable, AFileAsAFolderIsNotFound) {
  const auto found = find_executable({.program = folder("second/tool/inner")});
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().kind, ErrorKind::not_found);
}

}  // namespace
}  // namespace millrace::sandbox
