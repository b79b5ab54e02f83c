// UploadWorld: the real server over PostgreSQL and a folder of its own, and what tests of uploads
// ask of all three.
#pragma once

#include "api_world.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace millrace::test {

class UploadWorld {
 public:
  explicit UploadWorld(std::map<std::string, std::string> env = {})
      : env_(with_folder(std::move(env))), world_({.env = env_}) {}

  ApiWorld& api() { return world_; }
  const std::filesystem::path& blobs() const { return folder_.path(); }

  // A person of a tenant of its own.
  struct Person {
    TenantId tenant;
    identity::UserId user;
    std::string token;
  };
  Person person() { return person_of(world_.new_tenant()); }
  Person person_of(TenantId tenant) {
    const auto user = world_.new_user();
    return {tenant, user, world_.jwt(identity::Role::authenticated, tenant, user)};
  }

  // The requests of the three forms.
  static Ask raw(const Person& who, const std::string& content, const std::string& key = {},
                 const std::string& name = "scan.pdf") {
    Ask ask{.method = "POST",
            .path = "/api/v1/uploads?file_name=" + name,
            .token = who.token,
            .body = content,
            .content_type = "application/pdf"};
    if (!key.empty()) ask.headers.emplace_back("Idempotency-Key", key);
    return ask;
  }
  static Ask form(const Person& who, const std::string& content, const std::string& key = {}) {
    std::string body;
    if (!key.empty()) {
      body += "--edge\r\nContent-Disposition: form-data; name=\"idempotency_key\"\r\n\r\n" + key +
              "\r\n";
    }
    body +=
        "--edge\r\nContent-Disposition: form-data; name=\"file\"; filename=\"scan.pdf\"\r\n\r\n" +
        content + "\r\n--edge--\r\n";
    return {.method = "POST",
            .path = "/api/v1/uploads",
            .token = who.token,
            .body = std::move(body),
            .content_type = "multipart/form-data; boundary=edge"};
  }
  static Ask tus(std::string method, std::string path, const Person& who,
                 std::vector<http::Header> headers, std::optional<std::string> body = {}) {
    headers.emplace_back("Tus-Resumable", "1.0.0");
    return {.method = std::move(method),
            .path = std::move(path),
            .token = who.token,
            .body = std::move(body),
            .headers = std::move(headers),
            .content_type = "application/offset+octet-stream"};
  }

  // Begins a resumable upload; its path.
  std::string begin(const Person& who, std::size_t size_bytes,
                    std::vector<http::Header> headers = {}) {
    headers.emplace_back("Upload-Length", std::to_string(size_bytes));
    const auto begun = world_.ask(tus("POST", "/api/v1/tus", who, std::move(headers)));
    EXPECT_EQ(begun.status, 201) << begun.body;
    return begun.header("location");
  }
  Answered patch(const std::string& path, const Person& who, std::size_t offset,
                 const std::string& bytes) {
    return world_.ask(tus("PATCH", path, who, {{"Upload-Offset", std::to_string(offset)}}, bytes));
  }

  std::int64_t count(const std::string& query, pg::Params params = {}) {
    auto sql = world_.sql();
    return must(sql.query(query, std::move(params)))[0].i64(0);
  }
  std::int64_t files_of(const Person& who) {
    return count("select count(*) from millrace.shell_files where owner_id = $1",
                 pg::params(who.user));
  }
  std::int64_t jobs_of(const Person& who) {
    return count("select count(*) from millrace.job_fact where owner_id = $1",
                 pg::params(who.user));
  }
  // There is one file with this content, and one job, whatever happened on the way.
  void expect_one_file(const Person& who, const std::string& id, const std::string& content) {
    EXPECT_EQ(files_of(who), 1);
    EXPECT_EQ(jobs_of(who), 1);
    EXPECT_EQ(content_of(who, id), content);
  }
  std::size_t staged() const {
    std::error_code ignored;
    std::size_t found = 0;
    for (auto entry = std::filesystem::directory_iterator(blobs() / "staging", ignored);
         entry != std::filesystem::directory_iterator(); ++entry) {
      ++found;
    }
    return found;
  }
  // What is stored under the id of a file, by the server's own word.
  std::string content_of(const Person& who, const std::string& file) {
    return world_.get("/api/v1/files/" + file + "/content", who.token).body;
  }

  // The environment of another server on the same database and store.
  std::map<std::string, std::string> other_env() const {
    auto env = env_;
    env["DATABASE_URL"] = world_.database().url("millrace_api");
    env["MILLRACE_AUTH_JWT_SECRET"] = ApiWorld::kSecret;
    env["MILLRACE_KEEPER_ENABLED"] = "false";
    env["MILLRACE_SERVER_REQUESTS_PER_MINUTE"] = "0";
    return env;
  }

 private:
  std::map<std::string, std::string> with_folder(std::map<std::string, std::string> env) {
    env["MILLRACE_STORAGE_FOLDER"] = folder_.path().string();
    return env;
  }

  TempFolder folder_;
  std::map<std::string, std::string> env_;
  ApiWorld world_;
};

inline std::string text_of(const Answered& answered, const char* member) {
  return std::string(answered.json().at(member).as_string());
}

}  // namespace millrace::test
