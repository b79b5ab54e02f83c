// G-12: the functions that the sources kept beside their queue are gone, under every way in.
#include "api_world.h"

#include <boost/json/object.hpp>
#include <gtest/gtest.h>

#include <algorithm>

namespace millrace::test {
namespace {

const std::vector<std::string> kRemoved = {"document-processor",
                                           "document-processor-complex",
                                           "document-processor-simple",
                                           "queue-worker",
                                           "audit-events",
                                           "ai-diagnostic"};

std::string snake(std::string name) {
  std::ranges::replace(name, '-', '_');
  return name;
}

class Removed : public testing::Test {
 protected:
  static void SetUpTestSuite() { world_ = std::make_unique<ApiWorld>(); }
  static void TearDownTestSuite() { world_.reset(); }
  inline static std::unique_ptr<ApiWorld> world_;
};

TEST_F(Removed, g12_NoFunctionAnswersToAnOldName) {
  const auto service = world_->credentials(identity::Role::service_role);
  for (const auto& name : kRemoved) {
    for (const auto& path :
         {"/functions/v1/" + name, "/api/v1/" + name, "/rest/v1/rpc/" + snake(name)}) {
      EXPECT_EQ(world_->post(path, service, "{}").status, 404) << path;
    }
    EXPECT_EQ(world_->get("/functions/v1/" + name, service).status, 404) << name;
  }
  // The one that the sources' clients still call is there: 404 is not all that can be heard.
  EXPECT_EQ(world_->post("/functions/v1/cleanup-exports", service, "{}").status / 100, 2);
}

TEST_F(Removed, g12_TheContractHasNoneBesideTheOneThatIsKept) {
  const auto contract = world_->get("/openapi.json").json();
  std::vector<std::string> functions;
  for (const auto& [path, operations] : contract.at("paths").as_object()) {
    if (path.starts_with("/functions/")) functions.emplace_back(path);
    for (const auto& name : kRemoved) {
      EXPECT_EQ(path.find(name), path.npos) << std::string(path);
    }
  }
  EXPECT_EQ(functions, std::vector<std::string>{"/functions/v1/cleanup-exports"});
}

TEST_F(Removed, g12_TheDatabaseHasNoneAndNoTestFunctions) {
  auto sql = world_->sql();
  std::string names;
  for (const auto& name : kRemoved) names += (names.empty() ? "" : " ") + snake(name);
  const auto found = must(sql.query(
      "select count(*) filter (where p.proname = any (string_to_array($1, ' '))), "
      "count(*) filter (where p.proname ~ '^test_|_test$'), count(*) from pg_proc p where "
      "p.pronamespace = 'millrace'::regnamespace",
      pg::params(names)));
  EXPECT_EQ(found[0].i64(0), 0);
  EXPECT_EQ(found[0].i64(1), 0);
  EXPECT_GT(found[0].i64(2), 100);
}

}  // namespace
}  // namespace millrace::test
