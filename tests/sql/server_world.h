// What the server's tests share: users with tokens, the server itself, content that was stored.
#pragma once

#include "sql/engine.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace millrace::test {

inline constexpr std::string_view kAda = "00000000-0000-4000-8000-0000000000aa";
inline constexpr std::string_view kBob = "00000000-0000-4000-8000-0000000000bb";
inline constexpr std::string_view kTenant = "00000000-0000-4000-8000-000000000001";
inline constexpr std::string_view kOther = "00000000-0000-4000-8000-000000000002";

inline void set_claims(Session& session, std::string_view user, std::string_view tenant) {
  session.run("select set_config('request.jwt.claims', $1, false)",
              pg::params(fmt::format(R"({{"sub": "{}", "role": "authenticated",
                                         "app_metadata": {{"tenant_id": "{}"}}}})",
                                     user, tenant)));
}

// A person with a token.
class User : public Session {
 public:
  User(const TestDatabase& database, std::string_view user, std::string_view tenant = kTenant)
      : Session(database, "authenticated") {
    set_claims(*this, user, tenant);
  }
};

// The server itself, acting for a tenant; or another engine role.
class ServerSession : public Session {
 public:
  explicit ServerSession(const TestDatabase& database, std::string_view tenant = kTenant,
                         std::string_view role = "millrace_api")
      : Session(database, role) {
    if (!tenant.empty()) as_tenant(*this, std::string(tenant));
  }
};

// What the server says of content that it has stored: the SHA-256 of `content`.
inline std::string stored(Session& sql, std::string_view content,
                          std::string_view stored_at = "now") {
  return sql.value(
      "select jsonb_build_object('sha256', encode(sha256(convert_to($1::text, 'UTF8')), 'hex'),"
      " 'size_bytes', octet_length($1), 'content_type', 'text/plain',"
      " 'store_key', 'sha256/' || encode(sha256(convert_to($1::text, 'UTF8')), 'hex'),"
      " 'stored_at', case $2::text when 'now' then millrace.now() else ($2::text)::timestamptz "
      "end)::text",
      pg::params(content, stored_at));
}

inline std::string member(Session& sql, const std::string& json, std::string_view name) {
  return sql.value("select $1::jsonb ->> $2", pg::params(json, name));
}

// A file upload of a user, announced.
inline std::string begin_file(Session& server, std::string_view user, std::string_view size,
                              std::string_view more = "{}") {
  return server.value(
      "select millrace.begin_upload(jsonb_build_object('kind', 'file', 'user_id', $1::text,"
      " 'size_bytes', $2::bigint, 'file_name', 'scan.pdf') || $3::jsonb)::text",
      pg::params(user, size, more));
}

inline std::string finish(Session& server, const std::string& upload, std::string_view content) {
  return server.value("select millrace.finish_upload($1::uuid, $2::jsonb)::text",
                      pg::params(upload, stored(server, content)));
}

// A user's file, from announcement to row.
inline std::string put_file(Session& server, std::string_view user, std::string_view content,
                            std::string_view more = "{}") {
  const auto begun = begin_file(server, user, std::to_string(content.size()), more);
  return finish(server, member(server, begun, "upload_id"), content);
}

// An export document of a known id, as millrace.put_export_document would make it.
inline void place_export_document(Session& owner, std::string_view id, std::string_view user,
                                  std::string_view tenant = kTenant) {
  owner.run(
      "with d as (insert into millrace.export_document values (($1::text)::uuid, $3::uuid, "
      "$2::uuid, 1, "
      "millrace.now(), millrace.now()))"
      " insert into millrace.export_document_version values (($1::text)::uuid, 1, $3::uuid, 'CV', "
      "'minimal', '{}', sha256(convert_to($1::text, 'UTF8')), millrace.now())",
      pg::params(id, user, tenant));
}

// A storage object, as the Storage routes make one.
inline std::string put_object(Session& server, std::string_view user, const std::string& name,
                              std::string_view content, const std::string& bucket = "medical-docs",
                              bool replace = false) {
  const auto begun = server.value(
      "select millrace.begin_upload(jsonb_build_object('kind', 'object', 'user_id', $1::text,"
      " 'size_bytes', $2::bigint, 'bucket', $3::text, 'object_name', $4::text,"
      " 'replace', $5::boolean))::text",
      pg::params(user, content.size(), bucket, name, replace));
  return finish(server, member(server, begun, "upload_id"), content);
}

}  // namespace millrace::test
