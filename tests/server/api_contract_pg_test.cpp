// Every answer of every operation is as the document says, in a world where the things that are
// asked for exist: jobs in all their states, batches, schedules, limits, tenants, tokens, files.
#include "api_world.h"
#include "contract.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <set>

namespace millrace::test {
namespace {

using identity::Role;

class ApiContract : public testing::Test {
 protected:
  ApiContract() {
    const auto document = world_.get("/openapi.json");
    contract_ = std::make_unique<Contract>(document.json().as_object());
    service_ = world_.jwt(Role::service_role, tenant_);
    admin_ = world_.key(Role::admin);
    make_jobs();
    make_the_rest();
  }

  std::string made(const Answered& answered, std::string_view id) {
    EXPECT_LT(answered.status, 300) << answered.body;
    return std::string(answered.json().at(id).as_string());
  }
  std::string enqueue(const std::string& type) {
    const auto job = fmt::format(
        R"({{"job_type":"{}","payload":{{"shell_file_id":"x"}},"owner_id":"{}"}})", type, user_);
    return made(world_.post("/api/v1/jobs", service_, job), "job_id");
  }

  // One that failed for good, one that was cancelled, one that waits.
  void make_jobs() {
    jobs_.push_back(enqueue("fast_queue_ocr"));
    auto sql = world_.sql();
    must(sql.query("select set_config('millrace.tenant_id', $1, false)",
                   pg::params(tenant_.to_string())));
    must(
        sql.query("select millrace.fail_job(c.job_id, 'a test', "
                  "'{\"error_type\":\"broken\",\"message\":\"for good\"}', false, null)"
                  " from millrace.claim_next_job_v3('a test', null) c"));
    jobs_.push_back(enqueue("noop"));
    EXPECT_EQ(world_.post("/api/v1/jobs/" + jobs_.back() + "/cancel", service_, "").status, 200);
    jobs_.push_back(enqueue("noop"));
  }

  // A file with its first job, and an export that can be downloaded.
  void make_files() {
    const auto token = world_.jwt(Role::authenticated, tenant_, user_);
    ids_["/api/v1/files"] = made(world_.ask({.method = "POST",
                                             .path = "/api/v1/uploads?file_name=scan.pdf",
                                             .token = token,
                                             .body = "%PDF-1.7 a scan",
                                             .content_type = "application/pdf"}),
                                 "id");
    const auto path = fmt::format("{}/cv.pdf", user_);
    const auto put = world_.ask({.method = "POST",
                                 .path = "/storage/v1/object/exports/" + path,
                                 .token = token,
                                 .body = "%PDF-1.7 an export",
                                 .content_type = "application/pdf"});
    EXPECT_EQ(put.status, 200) << put.body;
    auto sql = world_.sql();
    must(sql.query("select set_config('millrace.tenant_id', $1, false)",
                   pg::params(tenant_.to_string())));
    const auto row = must(
        sql.query("select id from millrace.create_export_history(jsonb_build_object('user_id', "
                  "$1::text, 'file_name', 'cv.pdf', 'file_path', $2::text, 'file_size', 18))",
                  pg::params(user_, path)));
    ids_["/api/v1/export/download"] = row[0].text(0);
    ids_["/api/v1/export/history"] = row[0].text(0);
  }

  void make_the_rest() {
    ids_["/api/v1/batches"] =
        made(world_.post("/api/v1/batches", service_,
                         R"({"name":"b","jobs":[{"job_type":"noop","payload":{"n":1}}]})"),
             "batch_id");
    ids_["/api/v1/profiles"] =
        made(world_.post("/api/v1/profiles", world_.jwt(Role::authenticated, tenant_, user_),
                         R"({"display_name":"Ada"})"),
             "id");
    ids_["/api/v1/tenants"] =
        made(world_.post("/api/v1/tenants", admin_,
                         fmt::format(R"({{"name":"Acme","tenant_id":"{}"}})", tenant_)),
             "tenant_id");
    make_files();
    const auto set = world_.ask(
        {.method = "PUT",
         .path = "/api/v1/cron/nightly",
         .token = world_.key(Role::operator_, tenant_),
         .body = R"({"schedule":"0 2 * * *","job":{"job_type":"noop","payload":{"n":1}}})"});
    EXPECT_EQ(set.status, 200) << set.body;
    EXPECT_EQ(world_
                  .post("/api/v1/audit", service_,
                        R"({"table_name":"t","record_id":"1","operation":"UPDATE"})")
                  .status,
              201);
  }

  // The things that a path is about.
  std::map<std::string, std::string> ids_for(const ContractOperation& operation, Random& random) {
    const auto& job = jobs_[random.below(jobs_.size())];
    std::map<std::string, std::string> ids{{"id", job},
                                           {"job_id", job},
                                           {"queue", "default"},
                                           {"name", "nightly"},
                                           {"provider", "google_vision"},
                                           {"endpoint", "ocr"},
                                           {"bucket", "medical-docs"},
                                           {"table", "shell_files"}};
    for (const auto& [prefix, id] : ids_) {
      if (operation.path.starts_with(prefix)) ids["id"] = id;
    }
    return ids;
  }

  ApiWorld world_;
  TenantId tenant_ = world_.new_tenant();
  identity::UserId user_ = world_.new_user();
  std::unique_ptr<Contract> contract_;
  std::string service_;
  std::string admin_;
  std::vector<std::string> jobs_;
  std::map<std::string, std::string> ids_;  // By the beginning of the paths.
};

// Reading first, many times and by everybody; what changes things comes after it.
TEST_F(ApiContract, EveryAnswerOfEveryOperationIsAsTheDocumentSays) {
  SeededRandom random(7);
  std::vector<std::string> tokens{"", service_, admin_};
  tokens.push_back(world_.jwt(Role::authenticated, tenant_, user_));
  tokens.push_back(world_.key(Role::reader, tenant_));
  tokens.push_back(world_.key(Role::operator_));
  std::set<std::string> answered_well;
  int asked = 0;
  for (const bool reading : {true, false}) {
    for (const auto& operation : contract_->operations()) {
      if ((operation.method == "GET") != reading) continue;
      for (const auto& token : tokens) {
        for (int i = 0; i < (reading ? 4 : 2); ++i) {
          const auto ids = ids_for(operation, random);
          const auto ask = i == 0 ? contract_->sample_request(operation, token, ids)
                                  : contract_->varied_request(operation, token, ids, random);
          const auto answered = world_.ask(ask);
          ++asked;
          EXPECT_EQ(contract_->judge(operation, answered), "")
              << operation.id << ": " << ask.method << " " << ask.path << " "
              << ask.body.value_or("") << " -> " << answered.status << " " << answered.body;
          // 507 is no fault of the server: a varied request has set the quota that is used up.
          if (answered.status != 507) {
            // A tenant whose quota was just set to nothing may store nothing.
            EXPECT_TRUE(answered.status < 500 || answered.status == 507)
                << operation.id << " " << answered.body;
          }
          if (answered.status < 400) answered_well.insert(operation.id);
        }
      }
    }
  }
  std::printf("%d requests, %zu of %zu operations succeeded\n", asked, answered_well.size(),
              contract_->operations().size());
  for (const auto& operation : contract_->operations()) {
    if (!answered_well.contains(operation.id)) std::printf("refused: %s\n", operation.id.c_str());
  }
  // A document is not held to its word by refusals alone.
  for (const auto* id : {"jobs.get",
                         "jobs.list",
                         "jobs.logs",
                         "jobs.history",
                         "jobs.audit",
                         "jobs.create",
                         "jobs.create_many",
                         "jobs.cancel_many",
                         "batches.get",
                         "batches.list",
                         "batches.create",
                         "dead_letters.list",
                         "dead_letters.groups",
                         "queues.list",
                         "queues.get",
                         "queues.pause",
                         "queues.resume",
                         "job_types.list",
                         "limits.list",
                         "workers.list",
                         "cron.list",
                         "audit.list",
                         "audit.verify",
                         "scale",
                         "scale.queue",
                         "configuration.list",
                         "tenants.list",
                         "tenants.get",
                         "profiles.list",
                         "profiles.get",
                         "tokens.list",
                         "tokens.create",
                         "me",
                         "health",
                         "metrics",
                         "openapi",
                         "docs",
                         "stream_tokens.create",
                         "files.list",
                         "files.get",
                         "files.content",
                         "export.history",
                         "export.download",
                         "export.create",
                         "export.create_batch"}) {
    EXPECT_TRUE(answered_well.contains(id)) << id;
  }
}

}  // namespace
}  // namespace millrace::test
