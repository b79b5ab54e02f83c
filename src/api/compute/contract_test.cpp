#include "api/compute/contract.h"

#include "api/compute/contract_directory.h"
#include "base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace millrace::api {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr std::string_view kInputs = R"({
  "type": "object", "required": ["x"], "additionalProperties": false,
  "properties": {"x": {"type": "number", "minimum": 0},
                 "unit": {"type": "string", "default": "m"},
                 "options": {"type": "object", "default": {},
                             "properties": {"steps": {"type": "integer", "default": 10}}}}
})";

class Contracts : public testing::Test {
 protected:
  Contracts() {
    std::string name = (fs::temp_directory_path() / "contracts-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~Contracts() override { fs::remove_all(folder_); }

  void write(const std::string& name, std::string_view text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  std::string refusal() const {
    const auto loaded = ContractSet::load(folder_);
    return loaded ? std::string() : loaded.error().message;
  }

  fs::path folder_;
  Logger log_ = Logger::silent();
};

TEST_F(Contracts, AreFoundByDefinitionAndVersion) {  // J-01
  write("beam/1.0.0/inputs.schema.json", kInputs);
  write("beam/1.1.0/inputs.schema.json", "{}");
  write("README.md", "not a contract");
  write(".git/config/inputs.schema.json", "not JSON");
  const auto set = ContractSet::load(folder_);
  ASSERT_TRUE(set.has_value()) << set.error().message;
  EXPECT_EQ(set->size(), 2U);
  const auto contract = set->find({.app_id = "any", .definition = "beam", .version = "1.0.0"});
  ASSERT_NE(contract, nullptr);
  EXPECT_EQ(contract->name.text(), "beam@1.0.0");
  EXPECT_EQ(set->find({.app_id = "", .definition = "beam", .version = "2.0.0"}), nullptr);
}

TEST_F(Contracts, OfAnAppComeBeforeThoseForAll) {
  write("beam/1.0.0/inputs.schema.json", "{}");
  write("special/beam/1.0.0/inputs.schema.json", kInputs);
  const auto set = ContractSet::load(folder_).value();
  const auto own = set.find({.app_id = "special", .definition = "beam", .version = "1.0.0"});
  ASSERT_NE(own, nullptr);
  EXPECT_EQ(own->name.text(), "special/beam@1.0.0");
  EXPECT_EQ(set.find({.app_id = "other", .definition = "beam", .version = "1.0.0"})->name.text(),
            "beam@1.0.0");
}

TEST_F(Contracts, FillInDefaultsBeforeTheyCheck) {  // J-01, J-02
  write("beam/1.0.0/inputs.schema.json", kInputs);
  const auto set = ContractSet::load(folder_).value();
  const auto contract = set.find({.app_id = "", .definition = "beam", .version = "1.0.0"});
  const auto good = contract->check_inputs(parse_json(R"({"x":1})").value()).value();
  EXPECT_TRUE(good.violations.empty());
  EXPECT_EQ(canonical_json(good.value), R"({"options":{"steps":10},"unit":"m","x":1})");
  const auto bad = contract->check_inputs(parse_json(R"({"x":-1,"y":2})").value()).value();
  ASSERT_EQ(bad.violations.size(), 2U);
  EXPECT_TRUE(contract->check_outputs(parse_json("17").value()).empty());
}

TEST_F(Contracts, FilesOfOneFolderMayReferToEachOther) {
  write("beam/1.0.0/inputs.schema.json",
        R"({"properties":{"at":{"$ref":"point.schema.json#/$defs/point"}}})");
  write("beam/1.0.0/outputs.schema.json", R"({"$ref":"point.schema.json#/$defs/point"})");
  write("beam/1.0.0/point.schema.json", R"({"$defs":{"point":{"type":"array","minItems":2}}})");
  const auto set = ContractSet::load(folder_);
  ASSERT_TRUE(set.has_value()) << set.error().message;
  const auto contract = set->find({.app_id = "", .definition = "beam", .version = "1.0.0"});
  EXPECT_EQ(contract->check_inputs(parse_json(R"({"at":[1]})").value())->violations.size(), 1U);
  EXPECT_EQ(contract->check_outputs(parse_json("[1,2]").value()).size(), 0U);
}

TEST_F(Contracts, AreRefusedWithFileAndRule) {
  write("beam/1.0.0/inputs.schema.json", "{");
  EXPECT_THAT(refusal(), HasSubstr("beam/1.0.0/inputs.schema.json: invalid JSON"));
  write("beam/1.0.0/inputs.schema.json", R"({"type":"nonsense"})");
  EXPECT_THAT(refusal(), HasSubstr("inputs.schema.json"));
  write("beam/1.0.0/inputs.schema.json", R"({"$ref":"https://example.org/other.json"})");
  EXPECT_THAT(refusal(), HasSubstr("inputs.schema.json"));
  write("beam/1.0.0/inputs.schema.json", R"({"properties":{"n":{"type":"string","default":17}}})");
  EXPECT_THAT(refusal(), HasSubstr("a default breaks its own rule"));
  write("beam/1.0.0/inputs.schema.json",
        R"({"properties":{"n":{"default":18446744073709551616}}})");
  EXPECT_THAT(refusal(), HasSubstr("64 bits"));
  write("beam/1.0.0/inputs.schema.json", "{}");
  EXPECT_EQ(refusal(), "");
  write("beam/one two/inputs.schema.json", "{}");
  EXPECT_THAT(refusal(), HasSubstr("names of letters, digits"));
}

TEST_F(Contracts, ASingleOneIsNamedByItsFolder) {  // D-04: CONTRACTS_DIR=/contracts/<def>/<ver>
  write("beam/1.0.0/inputs.schema.json", kInputs);
  const auto set = ContractSet::load(folder_ / "beam" / "1.0.0");
  ASSERT_TRUE(set.has_value()) << set.error().message;
  EXPECT_NE(set->find({.app_id = "", .definition = "beam", .version = "1.0.0"}), nullptr);
}

TEST_F(Contracts, AreReadAgainWhenAFileChanges) {
  write("beam/1.0.0/inputs.schema.json", kInputs);
  const auto opened = ContractDirectory::open(folder_, log_);
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  auto& directory = **opened;
  EXPECT_FALSE(directory.refresh().value());
  const ContractName later{.app_id = "", .definition = "beam", .version = "2.0.0"};
  EXPECT_EQ(directory.find(later), nullptr);
  write("beam/2.0.0/inputs.schema.json", "{}");
  EXPECT_TRUE(directory.refresh().value());
  EXPECT_NE(directory.find(later), nullptr);
}

TEST_F(Contracts, ThatBecomeBrokenLeaveTheOldOnesInUse) {
  write("beam/1.0.0/inputs.schema.json", kInputs);
  const auto opened = ContractDirectory::open(folder_, log_);
  ASSERT_TRUE(opened.has_value());
  auto& directory = **opened;
  write("beam/1.0.0/inputs.schema.json", "{");
  EXPECT_FALSE(directory.refresh().has_value());
  EXPECT_NE(directory.find({.app_id = "", .definition = "beam", .version = "1.0.0"}), nullptr);
  // Tried again, since what kept it from being read may have passed.
  EXPECT_FALSE(directory.refresh().has_value());
  write("beam/1.0.0/inputs.schema.json", "{} ");
  EXPECT_TRUE(directory.refresh().value());
}

// As ConfigMaps and `current ->` deployments have it: what a link leads to is replaced.
TEST_F(Contracts, BehindALinkAreReadAgainToo) {
  write("old/beam/1.0.0/inputs.schema.json", kInputs);
  write("new/beam/1.0.0/inputs.schema.json", kInputs);
  write("new/beam/2.0.0/inputs.schema.json", "{}");
  fs::create_directory(folder_ / "contracts");
  const auto link = folder_ / "contracts" / "beam";
  fs::create_directory_symlink(folder_ / "old" / "beam", link);
  fs::create_directory_symlink(folder_, folder_ / "old" / "beam" / "1.0.0" / "circle");
  const auto opened = ContractDirectory::open(folder_ / "contracts", log_);
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  auto& directory = **opened;
  EXPECT_EQ(directory.all().size(), 1U);
  EXPECT_FALSE(directory.refresh().value());
  fs::remove(link);
  fs::create_directory_symlink(folder_ / "new" / "beam", link);
  EXPECT_TRUE(directory.refresh().value());
  EXPECT_EQ(directory.all().size(), 2U);
}

TEST_F(Contracts, AFolderThatIsNotThereIsAnErrorAndNoFolderIsNone) {
  EXPECT_FALSE(ContractDirectory::open(folder_ / "nowhere", log_).has_value());
  const auto none = ContractDirectory::open({}, log_);
  ASSERT_TRUE(none.has_value());
  EXPECT_TRUE((*none)->all().empty());
  EXPECT_FALSE((*none)->refresh().value());
}

TEST_F(Contracts, AreWatchedUntilStopped) {
  write("beam/1.0.0/inputs.schema.json", kInputs);
  auto opened = ContractDirectory::open(folder_, log_);
  ASSERT_TRUE(opened.has_value());
  (*opened)->watch(std::chrono::milliseconds(1));
  write("beam/2.0.0/inputs.schema.json", "{}");
  while ((*opened)->all().size() < 2) std::this_thread::yield();
  (*opened)->stop();
  (*opened)->stop();
}

TEST(ContractNames, AreThoseThatMayStandInAUrl) {  // I13
  EXPECT_TRUE(is_definition("beam_v2.1-x"));
  EXPECT_TRUE(is_version("1.0.0-rc.1+build"));
  EXPECT_TRUE(is_app_id("team:app"));
  for (const auto* bad : {"", "..", "../x", "a/b", "a b", ".a", "a:b", "a%2fb", "ä"}) {
    EXPECT_FALSE(is_definition(bad)) << bad;
    EXPECT_FALSE(is_version(bad)) << bad;
  }
  EXPECT_FALSE(is_definition(std::string(128, 'a')));
}

}  // namespace
}  // namespace millrace::api
