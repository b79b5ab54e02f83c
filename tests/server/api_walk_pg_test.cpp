// Every operation of the server's own document, as nobody, as others, and with every role.
#include "api_world.h"
#include "belongings.h"
#include "contract.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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
  static void SetUpTestSuite() { world_ = std::make_unique<ApiWorld>(Belongings::options()); }
  static void TearDownTestSuite() { world_.reset(); }

  static ApiWorld& world() { return *world_; }
  static Contract& contract() { return world_->contract(); }

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
};

std::unique_ptr<ApiWorld> ApiWalk::world_;

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
TEST_F(ApiWalk, WhoeverCannotSignGetsNothingOfWhatIsSigned) {  // T-13
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

// Everybody who may call, and to whom nothing of the owner belongs.
std::vector<std::string> strangers_to(ApiWorld& world, TenantId first, identity::UserId owner) {
  const auto second = world.new_tenant();
  std::vector<std::string> tokens;
  for (const auto role : {Role::service_role, Role::reader, Role::operator_, Role::admin}) {
    tokens.push_back(world.credentials(role, second));
  }
  tokens.push_back(world.jwt(Role::authenticated, second, world.new_user()));
  tokens.push_back(world.jwt(Role::authenticated, first, world.new_user()));
  // The owner's id in another tenant is another user.
  tokens.push_back(world.jwt(Role::authenticated, second, owner));
  return tokens;
}

// A stranger is told nothing but what it said itself.
void expect_nothing_of(const Belongings& things, const Ask& ask, const Answered& answered) {
  EXPECT_THAT(answered.body, Not(HasSubstr(kMarker))) << ask.method << " " << ask.path;
  EXPECT_LT(answered.status, 500) << ask.method << " " << ask.path << " " << answered.body;
  const auto said = ask.path + ask.body.value_or("");
  for (const auto& id : things.ids()) {
    if (said.contains(id)) continue;
    EXPECT_THAT(answered.body, Not(HasSubstr(id))) << ask.method << " " << ask.path;
  }
}

// What the first tenant has, nobody of the second ever sees or changes: by id, by name, in a list,
// in a body, or by a key that was used before.
TEST_F(ApiWalk, AnotherTenantSeesNothingOfTheFirst) {  // T-02, F05, I08
  const auto first = world().new_tenant();
  const auto owner = world().new_user();
  const Belongings things(world(), first, owner, std::string(kMarker));
  const auto before = things.rows();
  for (const auto& token : strangers_to(world(), first, owner)) {
    for (const auto& operation : contract().operations()) {
      if (!asks_who(operation)) continue;
      const bool by_id = operation.path.contains("id}");
      // What the path is about, and then everything else in its place.
      auto ids = by_id && !operation.long_lived() ? things.ids() : std::vector<std::string>();
      ids.insert(ids.begin(), things.values_for(operation).at("id"));
      for (const auto& id : ids) {
        auto values = things.values_for(operation);
        values["id"] = id;
        auto ask = things.aimed(contract().sample_request(operation, token, values));
        if (operation.takes_key()) ask.headers.emplace_back("Idempotency-Key", things.key());
        const auto answered = world().ask(ask);
        expect_nothing_of(things, ask, answered);
        // A stream of the source says it in an event.
        if (by_id && !answered.streams) {
          EXPECT_GE(answered.status, 400) << operation.id << " " << answered.body;
        }
      }
    }
    for (const auto* table : {"shell_files", "export_jobs", "export_history", "user_profiles",
                              "job_queue", "upload_jobs", "job"}) {
      const Ask ask{.path = fmt::format("/rest/v1/{}", table), .token = token};
      expect_nothing_of(things, ask, world().ask(ask));
    }
  }
  EXPECT_EQ(things.rows(), before) << "something of the first tenant was changed";
  const auto after =
      world().get("/api/v1/jobs/" + things.job(), world().jwt(Role::authenticated, first, owner));
  EXPECT_EQ(after.status, 200) << after.body;
}

// A link opens what it was made for, also to whoever found it, and nothing beside that.
TEST_F(ApiWalk, ALinkOpensOneThing) {  // T-13, H-04
  const auto first = world().new_tenant();
  const auto owner = world().new_user();
  const Belongings things(world(), first, owner, std::string(kMarker));
  for (const auto& link : things.links()) {
    const auto opened = world().get(link);
    EXPECT_EQ(opened.status, 200) << link << " " << opened.body;
    if (!opened.streams) {
      EXPECT_THAT(opened.body, HasSubstr(kMarker)) << link;
    }
  }
  const auto before = things.rows();
  for (const auto& link : things.links()) {
    const auto path = link.substr(0, link.find('?'));
    const auto token = link.substr(link.find("token=") + 6);
    for (const auto& operation : contract().operations()) {
      if (operation.open()) continue;
      auto ask =
          things.aimed(contract().sample_request(operation, {}, things.values_for(operation)));
      ask.path.erase(std::min(ask.path.find("?token="), ask.path.size()));  // Of the sample.
      const bool same_object = path.ends_with(things.object()) &&
                               ask.path.ends_with(things.object()) &&
                               operation.access() == "signature";
      if (same_object || (ask.method == "GET" && ask.path == path)) continue;
      ask.path += fmt::format("{}token={}", ask.path.contains('?') ? "&" : "?", token);
      const auto answered = world().ask(ask);
      expect_nothing_of(things, ask, answered);
      EXPECT_GE(answered.status, 400) << operation.id << " " << link << " " << answered.body;
    }
    EXPECT_EQ(world().get("/api/v1/me", token).status, 401) << link;
  }
  EXPECT_EQ(things.rows(), before) << "something was changed by a link";
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
      // It needs no body, and what it is about is not named.
      if (operation.id == "export.cleanup_function" && body.empty()) continue;
      auto nowhere = unknown_ids();
      nowhere["queue"] = "nobody-made-it";
      auto ask = contract().sample_request(operation, token, nowhere);
      ask.body = body;
      ask.bent = true;
      const auto answered = world().ask(ask);
      EXPECT_LT(answered.status, 500) << operation.id << " " << body << answered.body;
      if (answered.status < 400) {
        EXPECT_TRUE(contract().accepts(operation, body)) << operation.id << " " << body;
      }
    }
    if (!operation.path.contains('{')) continue;
    for (auto id : ids) {
      std::string encoded;
      for (const char c : id) encoded += c == ' ' ? "%20" : std::string(1, c);
      std::map<std::string, std::string> values;
      for (const auto& [name, unused] : unknown_ids()) values[name] = encoded;
      auto ask = contract().sample_request(operation, token, values);
      ask.bent = true;
      const auto answered = world().ask(ask);
      EXPECT_LT(answered.status, 500) << operation.id << " " << id << " " << answered.body;
      EXPECT_GT(answered.status, 0) << operation.id << " " << id;
    }
  }
  EXPECT_EQ(world().get("/readyz").status, 200);
}

}  // namespace
}  // namespace millrace::test
