#include "embed/model/model_folder.h"

#include "base/file.h"
#include "embed/embedder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>

namespace millrace::embed {
namespace {

using testing::HasSubstr;

constexpr std::array<KnownFile, 2> kFiles = {{
    {"a.bin", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},  // abc
    {"b.bin", 3, "cb8379ac2098aa165029e3938a51da0bcecfc008fd6795f401178647f96c5b34"},  // def
}};
constexpr KnownModel kModel = {
    .name = "tiny", .version = "1.0", .package = "npm package tiny 1.0", .files = kFiles};

class ModelFolders : public testing::Test {
 protected:
  ModelFolders() {
    std::string name = (std::filesystem::temp_directory_path() / "embed_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~ModelFolders() override { std::filesystem::remove_all(folder_); }
  void write(const char* name, std::string_view text) {
    ASSERT_TRUE(write_file_atomically(folder_ / name, text).has_value());
  }
  std::filesystem::path folder_;
};

TEST_F(ModelFolders, OpenWhenEveryFileIsTheKnownOne) {
  write("a.bin", "abc");
  write("b.bin", "def");
  const auto opened = ModelFolder::open(folder_, kModel);
  ASSERT_TRUE(opened.has_value()) << opened.error().describe();
  EXPECT_EQ(opened->file("a.bin"), "abc");
  EXPECT_EQ(opened->file("b.bin"), "def");
}

TEST_F(ModelFolders, SayWhatToInstallWhenAFileIsMissing) {
  write("a.bin", "abc");
  const auto opened = ModelFolder::open(folder_, kModel);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().kind, ErrorKind::not_found);
  EXPECT_THAT(opened.error().message, HasSubstr("b.bin"));
  EXPECT_THAT(opened.error().describe(), HasSubstr("npm package tiny 1.0"));
}

TEST_F(ModelFolders, RefuseAFileOfAnotherSize) {
  write("a.bin", "abc");
  write("b.bin", "de");
  const auto opened = ModelFolder::open(folder_, kModel);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().kind, ErrorKind::internal);
  EXPECT_THAT(opened.error().message, HasSubstr("b.bin has 2 bytes instead of 3"));
}

TEST_F(ModelFolders, RefuseAFileOfOtherBytes) {
  write("a.bin", "abc");
  write("b.bin", "dEf");
  const auto opened = ModelFolder::open(folder_, kModel);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().kind, ErrorKind::internal);
  EXPECT_THAT(opened.error().message, HasSubstr("b.bin is damaged or of another version"));
}

TEST_F(ModelFolders, RefuseAnEmptyFileAndAFolderInItsPlace) {
  write("a.bin", "");
  EXPECT_FALSE(ModelFolder::open(folder_, kModel).has_value());
  std::filesystem::remove(folder_ / "a.bin");
  std::filesystem::create_directory(folder_ / "a.bin");
  EXPECT_FALSE(ModelFolder::open(folder_, kModel).has_value());
}

TEST_F(ModelFolders, AreAskedForByEveryModel) {
  for (const auto model : {kUseLite, kMiniLm}) {
    const auto opened = open_embedder({.model = std::string(model), .folder = folder_ / "none"});
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().kind, ErrorKind::not_found);
    EXPECT_THAT(opened.error().message, HasSubstr(std::string(model)));
    EXPECT_THAT(opened.error().hint, HasSubstr("package"));
  }
  const auto other = open_embedder({.model = "gpt", .folder = folder_});
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().kind, ErrorKind::invalid_argument);
  EXPECT_THAT(other.error().message, HasSubstr("universal-sentence-encoder-lite"));
}

}  // namespace
}  // namespace millrace::embed
