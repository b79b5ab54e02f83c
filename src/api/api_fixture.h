// ApiWorldWithoutDatabase: a pipeline behind a real server on loopback, with tokens made on the
// spot and directories in memory. For tests only.
#pragma once

#include "api/guard.h"
#include "api/pipeline.h"
#include "api/server_metrics.h"
#include "base/run.h"
#include "http/server_fixture.h"
#include "identity/authenticator.h"
#include "identity/test_keys.h"
#include "identity/token_maker.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace millrace::api {

class MemoryDirectory final : public identity::KeyDirectory {
 public:
  Task<std::optional<identity::ApiKeyRecord>> find_api_key(identity::ApiKeyDigest key) override {
    ++asked;
    if (away) co_return fail(ErrorKind::unavailable, "cannot reach 10.0.0.7 port 5432");
    const auto found = keys.find(key.public_id);
    if (found == keys.end()) co_return std::nullopt;
    co_return found->second;
  }
  Task<bool> is_token_revoked(std::string token_id) override {
    if (away) co_return fail(ErrorKind::unavailable, "cannot reach 10.0.0.7 port 5432");
    co_return revoked.contains(token_id);
  }
  std::optional<bool> remembers_revoked(const std::string& token_id) override {
    if (away) return std::nullopt;
    return revoked.contains(token_id);
  }
  void note_good_key(const identity::ApiKeyDigest& key, const std::string&) override {
    good.insert(key.public_id);
  }
  bool was_good_key(const identity::ApiKeyDigest& key) const override {
    return good.contains(key.public_id);
  }

  std::map<std::string, identity::ApiKeyRecord> keys;
  std::set<std::string> revoked;
  std::set<std::string> good;
  int asked = 0;  // For keys.
  bool away = false;
};

class MemoryPolicies final : public TenantPolicies {
 public:
  Task<TenantPolicy> policy_of(TenantId tenant) override { co_return policies[tenant]; }
  std::optional<TenantPolicy> known_policy(const TenantId& tenant) override {
    return policies[tenant];
  }

  std::map<TenantId, TenantPolicy> policies;
};

// As the database keeps them, without leases that end.
class MemoryRequests final : public store::RequestStore {
 public:
  Task<store::RequestBegun> begin_request(store::CallContext caller, std::string scope,
                                          std::string key, std::string fingerprint,
                                          store::RequestTimes) override {
    using State = store::RequestBegun::State;
    auto& row = rows[name_of(caller, scope, key)];
    if (row.fingerprint.empty()) {
      row.fingerprint = std::move(fingerprint);
      co_return store::RequestBegun{.state = State::started, .token = Uuid{}};
    }
    if (row.fingerprint != fingerprint) co_return store::RequestBegun{.state = State::mismatch};
    if (!row.done) {
      co_return store::RequestBegun{.state = State::running,
                                    .retry_after = std::chrono::seconds(7)};
    }
    co_return store::RequestBegun{.state = State::done, .answer = row.answer};
  }
  Task<void> finish_request(store::CallContext caller, store::RequestKey key,
                            store::KeptAnswer answer) override {
    auto& row = rows[name_of(caller, key.scope, key.key)];
    row.done = true;
    row.answer = std::move(answer);
    co_return ok();
  }
  Task<void> release_request(store::CallContext caller, store::RequestKey key) override {
    rows.erase(name_of(caller, key.scope, key.key));
    co_return ok();
  }

  struct Row {
    std::string fingerprint;
    bool done = false;
    store::KeptAnswer answer;
  };
  static std::string name_of(const store::CallContext& caller, const std::string& scope,
                             const std::string& key) {
    return (caller.tenant ? caller.tenant->to_string() : "-") + " " + scope + " " + key;
  }
  std::map<std::string, Row> rows;
};

// `handler` for tests that are not about it.
inline Task<Reply> says_ok(Call&) { co_return Reply::json_text(R"({"ok":true})"); }

inline const std::map<std::string, std::string> kTestComponents = {
    {"Ok", R"({"type":"object","required":["ok"],"properties":{"ok":{"type":"boolean"}}})"},
    {"Problem", R"({"type":"object"})"},
    {"EnvelopeError", R"({"type":"object"})"},
    {"RestError", R"({"type":"object"})"},
    {"StorageError", R"({"type":"object"})"}};

// An operation with everything that is required and nothing else.
inline Operation plain_operation(std::string id, std::string method, std::string path,
                                 Access access) {
  return {.id = std::move(id),
          .method = std::move(method),
          .path = std::move(path),
          .tag = "test",
          .summary = "A test.",
          .access = access,
          .answers = {{.status = 200, .description = "Done.", .schema = "Ok"}},
          .handler = says_ok};
}

class ApiFixture {
 public:
  explicit ApiFixture(std::vector<Operation> operations, PipelineOptions options = {},
                      std::map<std::string, std::string> components = kTestComponents) {
    identity::KeySet keys;
    const Secret<std::string> secret(identity::kTestSecret);
    EXPECT_TRUE(keys.add(*identity::VerifyKey::from_secret(secret)));
    verifier_.emplace(*identity::TokenVerifier::make({.keys = std::move(keys)}, clock_));
    maker_.emplace(*identity::TokenMaker::make({.secret = secret}, clock_, random_));
    tickets_.emplace(*identity::TicketMaker::make({secret}, clock_));
    authenticator_.emplace(*verifier_, directory, clock_);
    guard_.emplace(*authenticator_, *tickets_, directory, policies);
    auto table = OperationTable::make(std::move(operations), std::move(components));
    if (!table) ADD_FAILURE() << table.error().message;
    pipeline_.emplace(*std::move(table),
                      Pipeline::Parts{.guard = *guard_,
                                      .limiter = limiter_,
                                      .metrics = metrics_,
                                      .log = log_,
                                      .requests = &requests},
                      options);
    http::ServerOptions server;
    server.problem = Pipeline::reply_refused;
    server.on_error = [this](const Error& error, const http::ServerRequest& request,
                             http::ResponseWriter& response) {
      pipeline_->reply_error(error, request, response);
    };
    server_.emplace(pipeline_->routes(), std::move(server));
  }

  std::string token(identity::Role role, std::optional<TenantId> tenant = {},
                    std::optional<identity::UserId> user = {}) {
    const auto made = maker_->make_token({.role = role, .tenant = tenant, .user = user});
    if (!made) {
      ADD_FAILURE() << made.error().message;
      return {};
    }
    last_token_id = made->token_id;
    return made->token.reveal();
  }
  // An API key, for the roles that no JWT may name.
  std::string key(identity::Role role, std::optional<TenantId> tenant = {}) {
    auto made = identity::create_api_key(identity::ApiKeyForm::own, random_);
    directory.keys[made.digest.public_id] = {.key_id = "key-" + made.digest.public_id,
                                             .hash = made.digest.hash,
                                             .role = role,
                                             .tenant = tenant};
    last_token_id = "key-" + made.digest.public_id;
    return made.text.reveal();
  }
  std::string credentials(identity::Role role, std::optional<TenantId> tenant = {},
                          std::optional<identity::UserId> user = {}) {
    return identity::is_database_role(role) ? token(role, tenant, user) : key(role, tenant);
  }
  static std::string bearer(const std::string& token) {
    return "Authorization: Bearer " + token + "\r\n";
  }

  http::Reply get(std::string_view path, std::string_view headers = {}) {
    return server_->ask(http::get(path, headers));
  }
  http::Reply post(std::string_view path, std::string_view body, std::string headers = {}) {
    return server_->ask(http::post(path, body, "Content-Type: application/json\r\n" + headers));
  }
  http::Reply ask(std::string_view bytes) { return server_->ask(bytes); }
  http::ListenAddress address() const { return server_->address(); }
  std::string metrics_text() const { return registry_.render(); }
  identity::TicketMaker& tickets() { return *tickets_; }
  const SystemClock& clock() const { return clock_; }
  const Pipeline& pipeline() const { return *pipeline_; }

  MemoryDirectory directory;
  MemoryPolicies policies;
  MemoryRequests requests;
  std::string last_token_id;

 private:
  SystemClock clock_;
  SystemRandom random_;
  Logger log_ = Logger::silent();
  MetricRegistry registry_;
  ServerMetrics metrics_{registry_};
  http::RateLimiter limiter_{clock_};
  std::optional<identity::TokenVerifier> verifier_;
  std::optional<identity::TokenMaker> maker_;
  std::optional<identity::TicketMaker> tickets_;
  std::optional<identity::Authenticator> authenticator_;
  std::optional<Guard> guard_;
  std::optional<Pipeline> pipeline_;
  std::optional<http::TestServer> server_;
};

inline json::Object object_of(const http::Reply& reply) {
  auto parsed = parse_json_object(reply.body);
  if (!parsed) ADD_FAILURE() << reply.status << " " << reply.body;
  return parsed ? *std::move(parsed) : json::Object();
}

inline std::string text_of(const json::Object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  if (value == nullptr || !value->is_string()) return {};
  return std::string(value->get_string());
}

}  // namespace millrace::api
