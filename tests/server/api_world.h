// ApiWorld: the real binary serving on a free port, a database of its own, and a client.
//
// `millrace serve` connects as millrace_api, so that what it may not do, it cannot do here either.
// The test makes tokens itself with the secret it gave the server; API keys come from `millrace
// token create`. sql() is the eye and hand of the test. One world per test suite: starting costs
// some hundred milliseconds.
//
// Whatever ask() hears is held against the server's own document, and which operation answered with
// which status is left in a folder of the build, where server.every_operation looks whether each
// has succeeded in some test.
#pragma once

#include "base/json.h"
#include "base/random.h"
#include "contract.h"
#include "exchange.h"
#include "http/server_fixture.h"
#include "identity/token_maker.h"
#include "program.h"
#include "support/database.h"
#include "wire_client.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace millrace::test {

class ApiWorld {
 public:
  struct Options {
    std::map<std::string, std::string> env = {};
    std::vector<std::string> arguments = {};  // Of serve.
  };

  ApiWorld() : ApiWorld(Options()) {}
  explicit ApiWorld(const Options& options);
  ~ApiWorld();

  Answered ask(const Ask& ask);
  Answered get(const std::string& path, const std::string& token = {});
  Answered post(const std::string& path, const std::string& token, const std::string& body,
                std::vector<http::Header> headers = {});

  // The bytes of a request.
  static std::string bytes_of(const Ask& ask);

  // A JWT of one of the database's roles.
  std::string jwt(identity::Role role, std::optional<TenantId> tenant = {},
                  std::optional<identity::UserId> user = {});
  // An API key, made by the program's own command.
  std::string key(identity::Role role, std::optional<TenantId> tenant = {});
  std::string credentials(identity::Role role, std::optional<TenantId> tenant = {},
                          std::optional<identity::UserId> user = {});

  // Another command of the program on the same database, as its owner.
  RunResult run(const std::vector<std::string>& arguments);
  pg::SyncConnection sql() { return database_.connect(); }
  const TestDatabase& database() const { return database_; }
  const json::Object& ready() const { return ready_; }
  BackgroundProgram& program() { return *program_; }
  http::ListenAddress address() const { return address_; }
  // What the server says of itself.
  Contract& contract();

  TenantId new_tenant() { return TenantId{random_.uuid()}; }
  identity::UserId new_user() { return identity::UserId{random_.uuid()}; }

  static const std::string kSecret;

 private:
  std::map<std::string, std::string> environment(std::string_view user) const;
  Answered hear(const Ask& ask);
  void leave_marks() const;

  SystemClock clock_;
  SystemRandom random_;
  TestDatabase database_;
  TempFolder folder_;
  Options options_;
  std::unique_ptr<BackgroundProgram> program_;
  json::Object ready_;
  http::ListenAddress address_;
  std::unique_ptr<WireClient> client_;          // Kept open between requests.
  std::unique_ptr<Contract> contract_;          // Read when it is needed first.
  std::set<std::pair<std::string, int>> seen_;  // Operations and how they answered.
  identity::TokenMaker tokens_;
};

}  // namespace millrace::test
