#include "base/file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <sys/stat.h>

namespace millrace {
namespace {

namespace fs = std::filesystem;

class FileTest : public ::testing::Test {
 protected:
  FileTest() {
    std::string name = (fs::temp_directory_path() / "millrace-file-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~FileTest() override { fs::remove_all(folder_); }

  fs::path folder_;
};

TEST_F(FileTest, ReplacesAFileAndLeavesNothingElse) {
  const auto path = folder_ / "a.json";
  ASSERT_TRUE(write_file_atomically(path, "one", 0600));
  ASSERT_TRUE(write_file_atomically(path, std::string(200'000, 'x') + '\0', 0640));
  EXPECT_EQ(read_file(path)->size(), 200'001U);
  struct stat info{};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0640U);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(FileTest, SaysWhichFileIsMissingOrTooLarge) {
  const auto missing = read_file(folder_ / "none");
  EXPECT_EQ(missing.error().kind, ErrorKind::not_found);
  EXPECT_TRUE(missing.error().message.contains("none"));
  ASSERT_TRUE(write_file_atomically(folder_ / "b", "12345"));
  EXPECT_EQ(read_file(folder_ / "b", 4).error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(read_file(folder_).error().kind, ErrorKind::invalid_argument);
}

TEST_F(FileTest, KeepsTheOldTextWhenTheNewCannotBeWritten) {
  EXPECT_EQ(write_file_atomically(folder_ / "no" / "such", "x").error().kind, ErrorKind::not_found);
  fs::create_directory(folder_ / "d");
  EXPECT_FALSE(write_file_atomically(folder_ / "d", "x"));  // A folder is in the way.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace millrace
