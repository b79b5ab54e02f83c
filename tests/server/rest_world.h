// RestTest: the Supabase-compatible surface of the real server and database, asked as people and
// services do. One server for a suite, a tenant of its own for each test.
#pragma once

#include "api_world.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::test {

inline const http::Header kRepresentation{"Prefer", "return=representation"};
inline const http::Header kOne{"Accept", "application/vnd.pgrst.object+json"};
inline constexpr auto kDocument = "0190a000-0000-7000-8000-0000000000d0";

class RestTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TempFolder>();
    world_ = std::make_unique<ApiWorld>(
        ApiWorld::Options{.env = {{"MILLRACE_STORAGE_FOLDER", folder_->path().string()}}});
  }
  static void TearDownTestSuite() {
    world_.reset();
    folder_.reset();
  }

  static ApiWorld& world() { return *world_; }

  // A person with a profile.
  struct Person {
    identity::UserId id;
    std::string token;
    std::string profile;

    std::string file(std::string_view name) const { return fmt::format("{}/{}", id, name); }
  };
  Person person(std::optional<TenantId> tenant = {}) {
    Person out{.id = world().new_user(), .token = {}, .profile = {}};
    out.token = world().jwt(identity::Role::authenticated, tenant ? tenant : tenant_, out.id);
    const auto made = world().post("/api/v1/profiles", out.token, R"({"display_name":"Ada"})");
    EXPECT_EQ(made.status, 201) << made.body;
    out.profile = std::string(made.json().at("id").as_string());
    return out;
  }

  static Answered ask(std::string method, std::string path, const std::string& token,
                      std::optional<std::string> body = {},
                      std::vector<http::Header> headers = {}) {
    return world().ask({.method = std::move(method),
                        .path = std::move(path),
                        .token = token,
                        .body = std::move(body),
                        .headers = std::move(headers)});
  }
  static std::string text(const Answered& answered, std::string_view member) {
    return std::string(answered.json().at(member).as_string());
  }

  static Answered upload(const Person& who, const std::string& name, const std::string& content,
                         std::string_view bucket = "medical-docs") {
    return ask("POST", fmt::format("/storage/v1/object/{}/{}", bucket, who.file(name)), who.token,
               content);
  }
  static Answered upsert(const Person& who, const std::string& path, const std::string& key) {
    return ask("POST", "/rest/v1/shell_files?on_conflict=idempotency_key&select=id,job_id",
               who.token,
               fmt::format(R"({{"patient_id":"{}","storage_path":"{}","idempotency_key":"{}",)"
                           R"("status":"uploaded"}})",
                           who.profile, path, key),
               {{"Prefer", "resolution=merge-duplicates,return=representation"}, kOne});
  }
  std::int64_t jobs_of(const Person& who) {
    auto sql = world().sql();
    return must(sql.query("select count(*) from millrace.job_fact f where f.owner_id = $1",
                          pg::params(who.id.value)))[0]
        .i64(0);
  }

  TenantId tenant_ = world().new_tenant();

 private:
  static inline std::unique_ptr<TempFolder> folder_;
  static inline std::unique_ptr<ApiWorld> world_;
};

}  // namespace millrace::test
