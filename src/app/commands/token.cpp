#include "api/credential_maker.h"
#include "app/commands/commands.h"
#include "app/commands/job_spec.h"
#include "app/context.h"
#include "app/exit_code.h"
#include "app/serve/signing_secrets.h"
#include "base/duration.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <memory>

namespace millrace::app {
namespace {

struct CreateOptions {
  std::string role;
  std::optional<std::string> kind;
  std::optional<std::string> user;
  std::optional<std::string> ttl;
  std::optional<std::string> name;
  std::vector<std::string> scopes;
};

Result<api::CredentialSpec> read_spec(const Context& context, const CreateOptions& options) {
  api::CredentialSpec spec;
  MR_TRY(spec.role, identity::parse_role(options.role));
  if (options.kind) {
    MR_TRY(spec.kind, api::parse_credential_kind(*options.kind));
  }
  if (context.global.tenant) {
    MR_TRY(spec.tenant, parse_id<TenantId>("--tenant", *context.global.tenant));
  }
  if (options.user) {
    MR_TRY(spec.user, parse_id<identity::UserId>("--user", *options.user));
  }
  if (options.ttl) {
    auto ttl = parse_duration(*options.ttl);
    if (!ttl) return fail_with_context("--ttl", ttl.error());
    spec.ttl = std::chrono::ceil<std::chrono::seconds>(*ttl);
    if (spec.ttl->count() < 1) {
      return fail(ErrorKind::invalid_argument, "--ttl must be at least a second");
    }
  }
  spec.name = options.name.value_or("");
  spec.scopes = options.scopes;
  return spec;
}

// The credential goes to standard output alone, so that $(millrace token create …) is the token.
Result<int> run_create(Context& context, const CreateOptions& options) {
  MR_TRY(const auto spec, read_spec(context, options));
  MR_TRY(const auto database, find_database(context.settings));
  MR_TRY(auto secrets, find_signing_secrets(context.settings, database, context.random));
  std::optional<identity::TokenMaker> tokens;
  if (!secrets.ephemeral) {
    MR_TRY(tokens, identity::TokenMaker::make({.secret = secrets.all.front()}, context.clock,
                                              context.random));
  }
  const api::CredentialMaker maker(tokens ? &*tokens : nullptr, context.clock, context.random);
  MR_TRY(const auto made, maker.make(spec));
  MR_TRY(auto store, context.connect());
  MR_TRY(const auto id, store.create_api_token(made.record));
  if (context.json()) {
    json::Object out{{"token_id", id.to_string()},
                     {"token", made.text.reveal()},
                     {"role", identity::to_string(spec.role)},
                     {"kind", api::to_string(made.kind)}};
    if (const auto* expires = made.record.if_contains("expires_at")) out["expires_at"] = *expires;
    context.print_json(out);
  } else {
    context.print(made.text.reveal() + "\n");
  }
  return kExitOk;
}

void add_create(Command& token) {
  auto options = std::make_shared<CreateOptions>();
  auto& command = token.add("create", "Make a token and print it, once");
  command.option("--role", "ROLE", options->role, "What it may do")
      .choices({"anon", "authenticated", "service_role", "reader", "operator", "admin"});
  command.option("--user", "UUID", options->user, "The user it stands for (authenticated)");
  command.option("--ttl", "TIME", options->ttl, "How long it is good, such as 12h");
  command.option("--name", "TEXT", options->name, "For people, in the list");
  command
      .option("--kind", "KIND", options->kind,
              "jwt, api_key or supabase_key (default: jwt where the role may have one)")
      .choices({"jwt", "api_key", "supabase_key"});
  command.option("--scope", "CAPABILITY", options->scopes,
                 "Of an API key: only this of what the role may (repeatable)");
  command.footer(
      "anon, authenticated and service_role are JWTs that supabase-js takes as keys; reader,\n"
      "operator and admin are API keys. --tenant confines it to one tenant. JWTs last an hour for\n"
      "a user and a year otherwise, API keys until they are revoked.\n"
      "  export TOKEN=$(millrace token create --role service_role)");
  command.action([options](Context& context) -> Result<int> {
    if (options->role.empty()) return fail(ErrorKind::invalid_argument, "--role is required");
    return run_create(context, *options);
  });
}

void add_list(Command& token) {
  auto all = std::make_shared<bool>(false);
  auto& command = token.add("list", "Tokens that were made, newest first");
  command.flag("--all", *all, "Also those that were revoked or have expired");
  command.action([all](Context& context) -> Result<int> {
    MR_TRY(auto store, context.connect());
    MR_TRY(const auto rows, store.list_api_tokens(*all));
    print_rows(context, rows,
               {{"ID", "token_id"},
                {"ROLE", "role"},
                {"KIND", "kind"},
                {"KEY", "prefix"},
                {"NAME", "name"},
                {"TENANT", "tenant_id"},
                {"CREATED", "created_at", false, show_age},
                {"USED", "last_used_at", false, show_age},
                {"EXPIRES", "expires_at"},
                {"REVOKED", "revoked_at", false, show_age}},
               "no tokens");
    return kExitOk;
  });
}

void add_revoke(Command& token) {
  auto id = std::make_shared<std::string>();
  auto reason = std::make_shared<std::optional<std::string>>();
  auto& command = token.add("revoke", "Refuse a token from now on");
  command.argument("ID", *id, "From the list; or jti:… of a JWT that was made elsewhere");
  command.option("--reason", "TEXT", *reason, "For people and the audit");
  command.action([id, reason](Context& context) -> Result<int> {
    MR_TRY(auto store, context.connect());
    MR_TRY(const auto revoked, store.revoke_api_token(*id, *reason));
    if (context.json()) {
      context.print_json(json::Object{{"token_id", revoked.to_string()}});
    } else {
      context.note(fmt::format("token {} is revoked", revoked));
    }
    return kExitOk;
  });
}

}  // namespace

void add_token_commands(Command& root) {
  auto& token = root.add("token", "Tokens and API keys for the server").group("Operation");
  add_create(token);
  add_list(token);
  add_revoke(token);
}

}  // namespace millrace::app
