// ExportFixture: a user with documents, exports them as the source's client does, and plays the
// worker by the source's functions. One world per suite.
#pragma once

#include "api/stream/stream_client.h"
#include "api_world.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace millrace::test {

class ExportFixture : public testing::Test {
 protected:
  static void SetUpTestSuite() { world_ = std::make_unique<ApiWorld>(); }
  static void TearDownTestSuite() { world_.reset(); }
  static ApiWorld& world() { return *world_; }

  ExportFixture()
      : tenant_(world().new_tenant()),
        user_(world().new_user()),
        token_(world().jwt(identity::Role::authenticated, tenant_, user_)),
        sql_(world().sql()) {
    must(sql_.query("select set_config('millrace.tenant_id', $1, false)",
                    pg::params(tenant_.to_string())));
  }

  // One that is kept for this user.
  std::string document(const std::string& title = "CV") {
    const auto made =
        post("/api/v1/export/documents",
             fmt::format(R"({{"title":"{}","data":{{"profile":{{"name":"Ada"}}}}}})", title));
    EXPECT_EQ(made.status, 201) << made.body;
    return std::string(made.json().at("data").at("id").as_string());
  }
  Answered post(const std::string& path, const std::string& body) {
    return world().post(path, token_, body);
  }
  std::string start(const std::string& document, const std::string& more = "") {
    const auto made =
        post("/api/v1/export/pdf", fmt::format(R"({{"documentId":"{}"{}}})", document, more));
    EXPECT_EQ(made.status, 202) << made.body;
    return std::string(made.json().at("data").at("jobId").as_string());
  }
  json::Object status(const std::string& job) {
    const auto got = world().get("/api/v1/export/job/" + job, token_);
    EXPECT_EQ(got.status, 200) << got.body;
    return got.json().at("data").as_object();
  }
  // As the source's worker does: takes the next one; its id and who holds it.
  std::pair<std::string, std::string> claim() {
    const auto rows = must(sql_.query(
        "select id, locked_by from millrace.fetch_next_export_job($1)", pg::params(user_)));
    if (rows.empty()) return {};
    return {std::string(rows[0].text(0)), std::string(rows[0].text(1))};
  }
  // A PDF of this user in bucket exports.
  std::string store(const std::string& name, const std::string& content) {
    const auto path = fmt::format("{}/{}", user_, name);
    const auto put = world().ask({.method = "POST",
                                  .path = "/storage/v1/object/exports/" + path,
                                  .token = token_,
                                  .body = content,
                                  .content_type = "application/pdf"});
    EXPECT_EQ(put.status, 200) << put.body;
    return path;
  }
  void complete(const std::pair<std::string, std::string>& held, const std::string& path) {
    complete_with(held, fmt::format(R"({{"file_path":"{}","file_name":"CV.pdf"}})", path));
  }
  void complete_with(const std::pair<std::string, std::string>& held, const std::string& result) {
    const auto done = must(sql_.query("select millrace.complete_job($1::uuid, $2, $3::jsonb)",
                                      pg::params(held.first, held.second, result)));
    EXPECT_TRUE(done[0].boolean(0));
  }
  // What the source's worker writes beside the end of a job; the id of the export.
  std::string write_history(const std::string& job, const std::string& path,
                            const std::string& name = "CV.pdf") {
    return std::string(
        must(sql_.query("select id from millrace.create_export_history(jsonb_build_object("
                        "'user_id', $1::text, 'file_name', $2::text, 'file_path', $3::text, "
                        "'file_size', 12, 'job_id', $4::text))",
                        pg::params(user_.to_string(), name, path, job)))[0]
            .text(0));
  }
  api::StreamClient watch(const std::string& path) {
    return {world().address(), path,
            fmt::format("Accept: text/event-stream\r\nAuthorization: Bearer {}\r\n", token_)};
  }
  std::string path_of(const std::string& url) {
    const auto begin = url.find("/api/");
    return begin == url.npos ? url : url.substr(begin);
  }

  TenantId tenant_;
  identity::UserId user_;
  std::string token_;
  pg::SyncConnection sql_;

 private:
  static inline std::unique_ptr<ApiWorld> world_;
};

}  // namespace millrace::test
