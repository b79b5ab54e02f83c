// Every operation of the server's own document, as nobody, as others, and with every role.
#include "api_world.h"
#include "contract.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace millrace::test {
namespace {

using identity::Role;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kMarker = "only-for-the-eyes-of-the-first-tenant";

// Paths that a source or a platform fixes as open; everything else must be guarded.
const std::set<std::string> kOpenPaths = {"/livez",   "/readyz",       "/health",
                                          "/metrics", "/openapi.json", "/docs"};

class ApiWalk : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    world_ = std::make_unique<ApiWorld>();
    const auto document = world_->get("/openapi.json");
    ASSERT_EQ(document.status, 200);
    contract_ = std::make_unique<Contract>(document.json().as_object());
  }
  static void TearDownTestSuite() {
    contract_.reset();
    world_.reset();
  }

  static ApiWorld& world() { return *world_; }
  static Contract& contract() { return *contract_; }

  static std::map<std::string, std::string> unknown_ids() {
    return {{"id", "0190a000-0000-7000-8000-00000000ffff"},
            {"queue", "no-such-queue"},
            {"name", "no-such-name"},
            {"provider", "nobody"},
            {"endpoint", "nothing"},
            {"job_id", "0190a000-0000-7000-8000-00000000ffff"},
            {"batch_id", "0190a000-0000-7000-8000-00000000ffff"},
            {"history_id", "0190a000-0000-7000-8000-00000000ffff"}};
  }

  static Answered call(const ContractOperation& operation, const std::string& token,
                       const std::map<std::string, std::string>& ids) {
    return world().ask(contract().sample_request(operation, token, ids));
  }

  // Whoever calls it is asked who they are.
  static bool asks_who(const ContractOperation& operation) {
    return !operation.open() && operation.access() != "signature";
  }

 private:
  static std::unique_ptr<ApiWorld> world_;
  static std::unique_ptr<Contract> contract_;
};

std::unique_ptr<ApiWorld> ApiWalk::world_;
std::unique_ptr<Contract> ApiWalk::contract_;

TEST_F(ApiWalk, OnlyTheFewPagesThatMustBeOpenAreOpen) {  // I08, I09, T-01
  std::set<std::string> open;
  for (const auto& operation : contract().operations()) {
    if (operation.open()) open.insert(operation.path);
  }
  EXPECT_EQ(open, kOpenPaths);
  EXPECT_GT(contract().operations().size(), 40U);
}

TEST_F(ApiWalk, NobodyIsTurnedAwayEverywhereElse) {  // I08
  for (const auto& operation : contract().operations()) {
    if (!asks_who(operation)) continue;
    for (const std::string token : {"", "nonsense", "a.b.c", "mr_nobody_nothing"}) {
      const auto answered = call(operation, token, unknown_ids());
      EXPECT_EQ(Contract::meant_status(answered), 401)
          << operation.id << " with '" << token << "' " << answered.body;
      EXPECT_EQ(contract().judge(operation, answered), "") << operation.id << answered.body;
    }
  }
}

TEST_F(ApiWalk, ATokenThatWasSignedBySomebodyElseOpensNothing) {
  SystemClock clock;
  SystemRandom random;
  const auto maker = must(identity::TokenMaker::make(
      {.secret = Secret<std::string>("another secret, which the server does not know at all")},
      clock, random));
  const auto token = must(maker.make_token({.role = Role::service_role})).token.reveal();
  for (const auto& operation : contract().operations()) {
    if (!asks_who(operation)) continue;
    const auto answered = call(operation, token, unknown_ids());
    EXPECT_EQ(Contract::meant_status(answered), 401) << operation.id << " " << answered.body;
  }
}

// What is opened by a signature is closed to everybody who cannot make one, whoever they are.
TEST_F(ApiWalk, WhoeverCannotSignGetsNothingOfWhatIsSigned) {  // T-10, T-13
  for (const auto& operation : contract().operations()) {
    if (operation.access() != "signature") continue;
    for (const auto& token : {std::string(), world().credentials(Role::admin)}) {
      const auto answered = call(operation, token, unknown_ids());
      EXPECT_GE(answered.status, 400) << operation.id << " " << answered.body;
      EXPECT_LT(answered.status, 500) << operation.id << " " << answered.body;
      EXPECT_EQ(contract().judge(operation, answered), "") << operation.id << answered.body;
    }
  }
}

// A token in the URL opens streams only, and only its own.
TEST_F(ApiWalk, ATokenInTheUrlOpensNothing) {  // H-04
  const auto token = world().jwt(Role::service_role);
  for (const auto& operation : contract().operations()) {
    if (!asks_who(operation)) continue;
    auto ask = contract().sample_request(operation, {}, unknown_ids());
    for (const auto* name : {"token", "apikey", "access_token"}) {
      auto with = ask;
      with.path += fmt::format("{}{}={}", with.path.contains('?') ? "&" : "?", name, token);
      EXPECT_EQ(Contract::meant_status(world().ask(with)), 401) << operation.id << " " << name;
    }
  }
}

TEST_F(ApiWalk, EveryRoleReachesExactlyWhatTheDocumentSays) {  // deny by default
  const auto tenant = world().new_tenant();
  const auto user = world().new_user();
  for (const auto role : identity::all_roles()) {
    const auto name = std::string(identity::to_string(role));
    const bool person = role == Role::anon || role == Role::authenticated;
    const auto token =
        person ? world().jwt(role, tenant, role == Role::anon ? std::nullopt : std::optional(user))
               : world().credentials(role);
    for (const auto& operation : contract().operations()) {
      if (!asks_who(operation)) continue;
      const auto answered = call(operation, token, unknown_ids());
      EXPECT_EQ(contract().judge(operation, answered), "")
          << name << " " << operation.id << " " << answered.status << " " << answered.body;
      EXPECT_LT(answered.status, 500) << name << " " << operation.id << " " << answered.body;
      if (operation.admits(name)) {
        // Behind that door the database's own grants decide.
        if (operation.access() == "database") continue;
        EXPECT_NE(answered.status, 401) << name << " " << operation.id << " " << answered.body;
        EXPECT_NE(answered.status, 403) << name << " " << operation.id << " " << answered.body;
      } else {
        EXPECT_EQ(Contract::meant_status(answered), 403)
            << name << " " << operation.id << " " << answered.body;
      }
    }
  }
}

TEST_F(ApiWalk, CredentialsOfOneTenantReachNothingThatBelongsToAll) {
  const auto tenant = world().new_tenant();
  for (const auto role : {Role::service_role, Role::reader, Role::operator_, Role::admin}) {
    const auto token = world().credentials(role, tenant);
    for (const auto& operation : contract().operations()) {
      if (!operation.for_all_tenants()) continue;
      EXPECT_EQ(call(operation, token, unknown_ids()).status, 403)
          << identity::to_string(role) << " " << operation.id;
    }
  }
}

// What the first tenant has, nobody of the second ever sees, by id or in a list.
TEST_F(ApiWalk, AnotherTenantSeesNothingOfTheFirst) {  // T-02, F05, I08
  const auto first = world().new_tenant();
  const auto second = world().new_tenant();
  const auto owner = world().new_user();
  const auto service = world().jwt(Role::service_role, first);
  const auto job = world().post(
      "/api/v1/jobs", service,
      fmt::format(
          R"({{"job_type":"noop","payload":{{"note":"{}"}},"owner_id":"{}","job_name":"{}"}})",
          kMarker, owner, kMarker));
  ASSERT_EQ(job.status, 201) << job.body;
  const auto batch = world().post(
      "/api/v1/batches", service,
      fmt::format(R"({{"name":"{0}","jobs":[{{"job_type":"noop","payload":{{"note":"{0}"}}}}]}})",
                  kMarker));
  ASSERT_EQ(batch.status, 201) << batch.body;
  const auto profile =
      world().post("/api/v1/profiles", world().jwt(Role::authenticated, first, owner),
                   fmt::format(R"({{"display_name":"{}"}})", kMarker));
  ASSERT_EQ(profile.status, 201) << profile.body;

  const std::vector<std::string> ids{std::string(job.json().at("job_id").as_string()),
                                     std::string(batch.json().at("batch_id").as_string()),
                                     std::string(profile.json().at("id").as_string()),
                                     first.to_string()};
  std::vector<std::string> strangers;
  for (const auto role : {Role::service_role, Role::reader, Role::operator_, Role::admin}) {
    strangers.push_back(world().credentials(role, second));
  }
  strangers.push_back(world().jwt(Role::authenticated, second, world().new_user()));
  strangers.push_back(world().jwt(Role::authenticated, first, world().new_user()));
  // The owner's id in another tenant is another user.
  strangers.push_back(world().jwt(Role::authenticated, second, owner));
  for (const auto& token : strangers) {
    for (const auto& operation : contract().operations()) {
      if (!asks_who(operation)) continue;
      const bool by_id = operation.path.contains("id}");
      for (const auto& id : ids) {
        auto values = unknown_ids();
        for (const auto* name : {"id", "job_id", "batch_id", "history_id"}) values[name] = id;
        const auto answered = call(operation, token, values);
        EXPECT_THAT(answered.body, Not(HasSubstr(kMarker))) << operation.id;
        EXPECT_LT(answered.status, 500) << operation.id << " " << answered.body;
        // A stream of the source says it in an event.
        if (by_id && !answered.streams) {
          EXPECT_GE(answered.status, 400) << operation.id << " " << answered.body;
        }
        if (!by_id) break;
      }
    }
  }
  // Nothing was changed, and the owner still sees it.
  const auto after =
      world().get("/api/v1/jobs/" + ids[0], world().jwt(Role::authenticated, first, owner));
  ASSERT_EQ(after.status, 200) << after.body;
  EXPECT_EQ(after.json().at("status"), json::Value("pending"));
}

// Bodies, paths and headers that no client would send: never a 5xx, never a hang.
TEST_F(ApiWalk, HostileInputIsRefusedAndNothingBreaks) {
  const auto token = world().credentials(Role::admin);
  const std::vector<std::string> bodies = {"",
                                           "null",
                                           "[]",
                                           "{",
                                           "\"\"",
                                           "{\"a\":",
                                           "[[[[[[[[[]",
                                           "1e999",
                                           "{\"\\u0000\":1}",
                                           "{\"reason\":\"\\u0000\"}",
                                           "{\"job_type\":1}",
                                           "\xff\xfe",
                                           std::string(100, '['),
                                           "{\"a\":1,\"a\":2}"};
  const std::vector<std::string> ids = {"%00",
                                        "..%2f..%2fetc",
                                        "%ff",
                                        "'; drop table millrace.job_fact; --",
                                        "0190a000-0000-7000-8000-00000000000g",
                                        "-1",
                                        std::string(600, 'a'),
                                        "%F0%9F%92%A9"};
  for (const auto& operation : contract().operations()) {
    for (const auto& body : bodies) {
      if (!contract().sample_body(operation)) break;
      auto nowhere = unknown_ids();
      nowhere["queue"] = "nobody-made-it";
      auto ask = contract().sample_request(operation, token, nowhere);
      ask.body = body;
      const auto answered = world().ask(ask);
      EXPECT_LT(answered.status, 500) << operation.id << " " << body << answered.body;
      EXPECT_GE(answered.status, 400) << operation.id << " " << body << answered.body;
    }
    if (!operation.path.contains('{')) continue;
    for (auto id : ids) {
      std::string encoded;
      for (const char c : id) encoded += c == ' ' ? "%20" : std::string(1, c);
      std::map<std::string, std::string> values;
      for (const auto& [name, unused] : unknown_ids()) values[name] = encoded;
      const auto answered = call(operation, token, values);
      EXPECT_LT(answered.status, 500) << operation.id << " " << id << " " << answered.body;
      EXPECT_GT(answered.status, 0) << operation.id << " " << id;
    }
  }
  EXPECT_EQ(world().get("/readyz").status, 200);
}

}  // namespace
}  // namespace millrace::test
