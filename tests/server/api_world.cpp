#include "api_world.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace millrace::test {

const std::string ApiWorld::kSecret = "a secret for the tests of the server, long enough";

ApiWorld::ApiWorld(const Options& options)
    : options_(options),
      tokens_(must(
          identity::TokenMaker::make({.secret = Secret<std::string>(kSecret)}, clock_, random_))) {
  const auto ready = folder_.path() / "ready.json";
  std::vector<std::string> arguments{"serve", "--listen", "127.0.0.1:0", "--ready-file",
                                     ready.string()};
  arguments.insert(arguments.end(), options_.arguments.begin(), options_.arguments.end());
  program_ = std::make_unique<BackgroundProgram>(
      arguments, RunOptions{.env = environment("millrace_api"), .stdin_text = {}, .cwd = {}});
  ready_ = program_->wait_for_ready(ready);
  const std::string url(ready_.at("http_url").as_string());
  address_ = must(http::parse_listen(url.substr(url.rfind('/') + 1)));
}

ApiWorld::~ApiWorld() {
  client_.reset();
  leave_marks();
  program_->signal(SIGTERM);
  try {
    const int code = program_->wait();
    EXPECT_EQ(code, 0) << program_->err();
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();  // The program is killed by whoever holds it.
  }
}

Contract& ApiWorld::contract() {
  if (!contract_) {
    const auto document = hear({.path = "/openapi.json"});
    if (document.status != 200) throw std::runtime_error("there is no document");
    contract_ = std::make_unique<Contract>(document.json().as_object());
  }
  return *contract_;
}

// One small file for each, so that programs that run at once do not wait for one another.
void ApiWorld::leave_marks() const {
  const auto folder = std::filesystem::path(MILLRACE_ANSWERS_DIR) / program_invocation_short_name;
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  for (const auto& [operation, status] : seen_) {
    std::ofstream(folder / fmt::format("{}.{}", operation, status)) << status << '\n';
  }
}

std::map<std::string, std::string> ApiWorld::environment(std::string_view user) const {
  std::map<std::string, std::string> env{
      {"DATABASE_URL", database_.url(user)},        {"MILLRACE_AUTH_JWT_SECRET", kSecret},
      {"MILLRACE_KEEPER_ENABLED", "false"},         {"MILLRACE_SERVER_REQUESTS_PER_MINUTE", "0"},
      {"MILLRACE_SERVER_REFUSALS_PER_MINUTE", "0"}, {"LOG_LEVEL", "info"}};
  for (const auto& [name, value] : options_.env) env[name] = value;
  return env;
}

RunResult ApiWorld::run(const std::vector<std::string>& arguments) {
  return run_millrace(arguments, {.env = environment("postgres"), .stdin_text = {}, .cwd = {}});
}

std::string ApiWorld::bytes_of(const Ask& ask) {
  std::string bytes = fmt::format("{} {} HTTP/1.1\r\nHost: test\r\n", ask.method, ask.path);
  if (!ask.token.empty()) bytes += fmt::format("Authorization: Bearer {}\r\n", ask.token);
  for (const auto& [name, value] : ask.headers) bytes += fmt::format("{}: {}\r\n", name, value);
  if (ask.body) {
    if (!ask.content_type.empty()) bytes += fmt::format("Content-Type: {}\r\n", ask.content_type);
    bytes += fmt::format("Content-Length: {}\r\n", ask.body->size());
  }
  bytes += "\r\n";
  if (ask.body) bytes += *ask.body;
  return bytes;
}

Answered ApiWorld::ask(const Ask& ask) {
  auto& document = contract();
  auto answered = hear(ask);
  if (answered.status == 0) return answered;
  EXPECT_EQ(document.judge(ask, answered), "")
      << ask.method << " " << ask.path << " " << ask.body.value_or("").substr(0, 1000) << " -> "
      << answered.status << " " << answered.body.substr(0, 1000);
  if (const auto* operation = document.operation_of(ask.method, ask.path)) {
    seen_.emplace(operation->id, answered.status);
  }
  return answered;
}

Answered ApiWorld::hear(const Ask& ask) {
  const auto bytes = bytes_of(ask);
  // The server closes connections as it sees fit; a request that was not answered is sent again
  // on a new one, once.
  for (int attempt = 0;; ++attempt) {
    const bool fresh = client_ == nullptr;
    if (fresh) client_ = std::make_unique<WireClient>(address_);
    auto heard = client_->ask(bytes, {.head_only = ask.method == "HEAD"});
    EXPECT_FALSE(heard.quiet) << ask.method << " " << ask.path << " got no answer";
    if (!client_->open()) client_.reset();
    if (heard.status == 0 && !heard.quiet && !fresh && attempt == 0) continue;
    return {.status = heard.status,
            .headers = std::move(heard.headers),
            .body = std::move(heard.body),
            .streams = heard.streams,
            .head_only = ask.method == "HEAD"};
  }
}

Answered ApiWorld::get(const std::string& path, const std::string& token) {
  return ask({.path = path, .token = token});
}

Answered ApiWorld::post(const std::string& path, const std::string& token, const std::string& body,
                        std::vector<http::Header> headers) {
  return ask({.method = "POST",
              .path = path,
              .token = token,
              .body = body,
              .headers = std::move(headers)});
}

std::string ApiWorld::jwt(identity::Role role, std::optional<TenantId> tenant,
                          std::optional<identity::UserId> user) {
  return must(tokens_.make_token({.role = role, .tenant = tenant, .user = user})).token.reveal();
}

std::string ApiWorld::key(identity::Role role, std::optional<TenantId> tenant) {
  std::vector<std::string> arguments{
      "token", "create", "--role", std::string(identity::to_string(role)), "--kind", "api_key"};
  if (tenant) arguments.insert(arguments.end(), {"--tenant", tenant->to_string()});
  const auto made = run(arguments);
  EXPECT_EQ(made.code, 0) << made.err;
  return made.out.substr(0, made.out.find('\n'));
}

std::string ApiWorld::credentials(identity::Role role, std::optional<TenantId> tenant,
                                  std::optional<identity::UserId> user) {
  return identity::is_database_role(role) ? jwt(role, tenant, user) : key(role, tenant);
}

}  // namespace millrace::test
