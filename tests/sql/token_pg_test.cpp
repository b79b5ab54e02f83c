// API tokens: written down by hash or jti, found, listed without what could be used, revoked.
#include "sql/server_world.h"

namespace millrace::test {
namespace {

class Tokens : public EngineTest {
 protected:
  static std::string hash_of(std::string_view letter) {
    std::string hash;
    for (int i = 0; i < 64; ++i) hash += letter;
    return hash;
  }
  std::string make(const std::string& fields) {
    return api.value("select millrace.create_api_token($1::jsonb)", pg::params(fields));
  }
  std::string make_key(std::string_view letter, const std::string& more = "{}") {
    return api.value(
        "select millrace.create_api_token(jsonb_build_object('kind', 'api_key', 'role', 'operator',"
        " 'hash', $1::text, 'prefix', 'mr_abc') || $2::jsonb)",
        pg::params(hash_of(letter), more));
  }
  std::string found(std::string_view letter) {
    return api.value(
        "select format('%s %s %s', token_id, tenant_id, revoked) "
        "from millrace.find_api_token(null, decode($1, 'hex'))",
        pg::params(hash_of(letter)));
  }
  ServerSession api{database, ""};
};

TEST_F(Tokens, a_key_is_found_by_its_hash_or_public_id_and_by_nothing_else) {
  const auto plain = make_key("a");
  const auto own =
      make_key("b", fmt::format(R"({{"public_id": "7k2m", "tenant_id": "{}", "user_id": "{}",
                                    "scopes": ["read", "work"]}})",
                                kTenant, kAda));
  EXPECT_EQ(found("a"), plain + "  f");
  EXPECT_EQ(found("b"), fmt::format("{} {} f", own, kTenant));
  EXPECT_EQ(found("c"), "(none)");
  EXPECT_EQ(
      api.value("select format('%s %s %s %s', token_id, encode(hash, 'hex'), user_id, scopes) "
                "from millrace.find_api_token('7k2m', decode($1, 'hex'))",
                pg::params(hash_of("0"))),
      fmt::format("{} {} {} {{read,work}}", own, hash_of("b"), kAda));
  EXPECT_EQ(api.value("select token_id from millrace.find_api_token('mr_abc', null)"), "(none)");
}

// T-07: what could be used never leaves: not in lists, not in the audit.
TEST_F(Tokens, t07_lists_and_audit_do_not_show_hashes) {
  make_key("a");
  EXPECT_EQ(sql.number("select count(*) from pg_proc p cross join unnest(p.proargnames) n where "
                       "p.proname = 'list_api_tokens' and n in ('hash', 'jti', 'public_id')"),
            0);
  EXPECT_EQ(sql.number("select count(*) from millrace.audit where new_values::text like $1",
                       pg::params("%" + hash_of("a") + "%")),
            0);
  EXPECT_EQ(sql.value("select action from millrace.audit where table_name = 'api_token'"),
            "token_created");
  for (const auto* role : {"millrace_reader", "millrace_api", "service_role", "authenticated"}) {
    Session session{database, role};
    EXPECT_EQ(session.refused("select hash from millrace.api_token").sqlstate, "42501") << role;
  }
}

TEST_F(Tokens, a_revoked_key_is_known_as_revoked_and_revoking_twice_is_harmless) {
  const auto id = make_key("a");
  EXPECT_EQ(api.value("select millrace.revoke_api_token($1, 'leaked')", pg::params(id)), id);
  EXPECT_EQ(api.value("select millrace.revoke_api_token($1)", pg::params(id)), id);
  EXPECT_EQ(found("a"), id + "  t");
  EXPECT_EQ(sql.number("select count(*) from millrace.audit where action = 'token_revoked'"), 1);
  EXPECT_EQ(api.value("select count(*) from millrace.list_api_tokens()"), "0");
  EXPECT_EQ(api.value("select count(*) from millrace.list_api_tokens(null, 10, true)"), "1");
  EXPECT_EQ(api.refused("select millrace.revoke_api_token($1)", pg::params(kAda)).sqlstate,
            "MR035");
  EXPECT_EQ(api.refused("select millrace.revoke_api_token('')").sqlstate, "MR024");
}

// JWTs are known by their jti, those made elsewhere too once they are revoked.
TEST_F(Tokens, jwts_are_revoked_by_their_jti) {
  const auto id = make(R"({"kind": "jwt", "role": "service_role", "jti": "j-1"})");
  EXPECT_FALSE(api.yes("select millrace.is_token_revoked('j-1')"));
  EXPECT_EQ(api.value("select millrace.revoke_api_token('jti:j-1')"), id);
  EXPECT_TRUE(api.yes("select millrace.is_token_revoked('j-1')"));
  EXPECT_FALSE(api.yes("select millrace.is_token_revoked('made-elsewhere')"));
  const auto written = api.value("select millrace.revoke_api_token('jti:made-elsewhere')");
  EXPECT_EQ(api.value("select millrace.revoke_api_token('jti:made-elsewhere')"), written);
  EXPECT_TRUE(api.yes("select millrace.is_token_revoked('made-elsewhere')"));
  EXPECT_EQ(api.refused("select millrace.revoke_api_token('made-elsewhere-too')").sqlstate,
            "MR035");
}

// Tickets carry the id of the key they were made with, and end with it.
TEST_F(Tokens, a_key_is_known_as_revoked_by_its_id) {
  const auto id = make_key("a");
  const auto other = make_key("b");
  const auto revoked = [&](const std::string& token) {
    return api.yes("select millrace.is_token_revoked($1)", pg::params(token));
  };
  EXPECT_FALSE(revoked(id));
  api.run("select millrace.revoke_api_token($1)", pg::params(id));
  EXPECT_TRUE(revoked(id));
  EXPECT_FALSE(revoked(other));
}

TEST_F(Tokens, keys_of_a_disabled_tenant_count_as_revoked) {
  api.run("select millrace.create_tenant('clinic', $1)", pg::params(kTenant));
  const auto id = make_key("a", fmt::format(R"({{"tenant_id": "{}"}})", kTenant));
  make(fmt::format(R"({{"kind": "jwt", "role": "anon", "jti": "j", "tenant_id": "{}"}})", kTenant));
  api.run("select millrace.disable_tenant($1)", pg::params(kTenant));
  EXPECT_EQ(found("a"), fmt::format("{} {} t", id, kTenant));
  EXPECT_TRUE(api.yes("select millrace.is_token_revoked('j')"));
  EXPECT_TRUE(api.yes("select millrace.is_token_revoked($1)", pg::params(id)));
  EXPECT_EQ(
      api.refused("select millrace.create_api_token(jsonb_build_object('kind', 'jwt', 'role', "
                  "'anon', 'jti', 'k', 'tenant_id', $1::text))",
                  pg::params(kTenant))
          .sqlstate,
      "MR026");
}

// I08: an administrator of one tenant has nothing to say about another's tokens.
TEST_F(Tokens, i08_a_confined_administrator_sees_and_revokes_the_own_tenants_alone) {
  const auto mine = make_key("a", fmt::format(R"({{"tenant_id": "{}"}})", kTenant));
  const auto theirs = make_key("b", fmt::format(R"({{"tenant_id": "{}"}})", kOther));
  const auto all = make_key("c");
  ServerSession confined{database, kTenant};
  EXPECT_EQ(
      confined.value("select string_agg(token_id::text, ' ') from millrace.list_api_tokens()"),
      mine);
  for (const auto& id : {theirs, all}) {
    EXPECT_EQ(confined.refused("select millrace.revoke_api_token($1)", pg::params(id)).sqlstate,
              "MR035");
  }
  EXPECT_EQ(confined.refused("select millrace.revoke_api_token('jti:any')").sqlstate, "MR035");
  EXPECT_EQ(confined.value("select millrace.revoke_api_token($1)", pg::params(mine)), mine);
  // Nor does it hand out more than it has.
  for (const auto& tenant : {fmt::format(R"(, "tenant_id": "{}")", kOther), std::string()}) {
    EXPECT_EQ(confined
                  .refused("select millrace.create_api_token($1::jsonb)",
                           pg::params(fmt::format(
                               R"({{"kind": "jwt", "role": "anon", "jti": "x"{}}})", tenant)))
                  .sqlstate,
              "MR015")
        << tenant;
  }
}

TEST_F(Tokens, a_repeat_finds_its_own_success_and_a_clash_is_refused) {
  const auto id = make_key("a");
  EXPECT_EQ(make_key("a"), id);
  EXPECT_EQ(sql.number("select count(*) from millrace.audit where action = 'token_created'"), 1);
  EXPECT_EQ(api.refused("select millrace.create_api_token(jsonb_build_object('kind', 'api_key', "
                        "'role', 'admin', 'hash', $1::text))",
                        pg::params(hash_of("a")))
                .sqlstate,
            "MR024");
}

TEST_F(Tokens, bad_fields_are_refused) {
  for (const auto* fields : {"{}", R"({"kind": "jwt", "role": "root", "jti": "x"})",
                             R"({"kind": "jwt", "role": "anon"})",
                             R"({"kind": "api_key", "role": "anon", "hash": "abc"})",
                             R"({"kind": "api_key", "role": "anon", "jti": "x"})",
                             R"({"kind": "jwt", "role": "anon", "jti": "x", "secret": "y"})",
                             R"({"kind": "jwt", "role": "anon", "jti": "x", "tenant_id": "y"})",
                             R"({"kind": "jwt", "role": "anon", "jti": ""})"}) {
    EXPECT_EQ(
        api.refused("select millrace.create_api_token($1::jsonb)", pg::params(fields)).sqlstate,
        "MR024")
        << fields;
  }
  EXPECT_EQ(api.refused("select millrace.create_api_token('{\"kind\": \"jwt\", \"role\": \"anon\", "
                        "\"jti\": \"x\", \"expires_at\": \"tomorrow\"}')")
                .sqlstate,
            "MR006");
}

// Use is noted to five minutes, however often it is told.
TEST_F(Tokens, use_is_noted_coarsely) {
  stop_clock(sql);
  const auto id = make_key("a");
  make(R"({"kind": "jwt", "role": "anon", "jti": "j"})");
  const auto touch = [&] {
    return api.number("select millrace.touch_api_tokens(array[$1, 'j', 'unknown'])",
                      pg::params(id));
  };
  EXPECT_EQ(touch(), 2);
  EXPECT_EQ(touch(), 0);
  pass(sql, "4 minutes");
  EXPECT_EQ(touch(), 0);
  pass(sql, "2 minutes");
  EXPECT_EQ(touch(), 2);
}

}  // namespace
}  // namespace millrace::test
