// Every answer of every operation is as the document says, in a world where the things that are
// asked for exist: jobs in all their states, batches, schedules, limits, tenants, tokens, files.
#include "api_world.h"
#include "belongings.h"
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
  ApiContract()
      : service_(world_.jwt(Role::service_role, tenant_)), admin_(world_.key(Role::admin)) {
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
                  " from millrace.claim_next_job_v3('a test', '{fast_queue_ocr}') c"));
    jobs_.push_back(enqueue("noop"));
    EXPECT_EQ(world_.post("/api/v1/jobs/" + jobs_.back() + "/cancel", service_, "").status, 200);
    jobs_.push_back(enqueue("noop"));
  }

  void make_the_rest() {
    made(world_.post("/api/v1/tenants", admin_,
                     fmt::format(R"({{"name":"Acme","tenant_id":"{}"}})", tenant_)),
         "tenant_id");
    EXPECT_EQ(world_
                  .post("/api/v1/audit", service_,
                        R"({"table_name":"t","record_id":"1","operation":"UPDATE"})")
                  .status,
              201);
  }

  // The things that a path is about.
  std::map<std::string, std::string> ids_for(const ContractOperation& operation, Random& random) {
    auto ids = things_.values_for(operation);
    if (operation.path.starts_with("/api/v1/jobs")) ids["id"] = jobs_[random.below(jobs_.size())];
    return ids;
  }

  ApiWorld world_{Belongings::options()};
  TenantId tenant_ = world_.new_tenant();
  identity::UserId user_ = world_.new_user();
  Belongings things_{world_, tenant_, user_, "a-word"};
  std::string service_;
  std::string admin_;
  std::vector<std::string> jobs_;
};

// Reading first, many times and by everybody; what changes things comes after it.
TEST_F(ApiContract, EveryAnswerOfEveryOperationIsAsTheDocumentSays) {
  SeededRandom random(7);
  auto& contract = world_.contract();
  std::vector<std::string> tokens{"", service_, admin_};
  tokens.push_back(world_.jwt(Role::authenticated, tenant_, user_));
  tokens.push_back(world_.key(Role::reader, tenant_));
  tokens.push_back(world_.key(Role::operator_));
  std::set<std::string> answered_well;
  int asked = 0;
  for (const bool reading : {true, false}) {
    for (const auto& operation : contract.operations()) {
      if ((operation.method == "GET") != reading) continue;
      for (const auto& token : tokens) {
        for (int i = 0; i < (reading ? 4 : 2); ++i) {
          const auto ids = ids_for(operation, random);
          const auto ask = i == 0 ? contract.sample_request(operation, token, ids)
                                  : contract.varied_request(operation, token, ids, random);
          EXPECT_EQ(contract.operation_of(ask.method, ask.path), &operation) << ask.path;
          const auto answered = world_.ask(ask);  // Judges it.
          ++asked;
          // 507 is no fault of the server: a varied request has set the quota that is used up.
          EXPECT_TRUE(answered.status < 500 || answered.status == 507)
              << operation.id << " " << answered.body;
          if (answered.status < 400) answered_well.insert(operation.id);
        }
      }
    }
  }
  std::printf("%d requests, %zu of %zu operations succeeded\n", asked, answered_well.size(),
              contract.operations().size());
  for (const auto& operation : contract.operations()) {
    if (!answered_well.contains(operation.id)) std::printf("refused: %s\n", operation.id.c_str());
  }
  // A document is not held to its word by refusals alone; what no sample can make succeed, other
  // tests do (server.every_operation).
  EXPECT_GT(answered_well.size(), contract.operations().size() / 2);
}

// The judge of all these tests, judged.
TEST_F(ApiContract, AnAnswerThatBreaksItsWordIsSeen) {
  auto& contract = world_.contract();
  const Ask ask{.path = "/api/v1/jobs/" + jobs_.back(), .token = service_};
  const auto right = world_.ask(ask);
  ASSERT_EQ(right.status, 200) << right.body;
  ASSERT_EQ(contract.judge(ask, right), "");
  auto wrong = right;
  wrong.body = R"({"job_id":"not an id"})";
  EXPECT_NE(contract.judge(ask, wrong), "") << "a body that is not as its schema says";
  wrong = right;
  wrong.status = 202;
  EXPECT_NE(contract.judge(ask, wrong), "") << "a status that is not described";
  wrong.status = 404;
  EXPECT_NE(contract.judge(ask, wrong), "") << "an error that is no problem";
  wrong = right;
  std::erase_if(wrong.headers, [](const http::Header& header) {
    return http::same_name(header.first, "content-type");
  });
  EXPECT_NE(contract.judge(ask, wrong), "") << "a body of no type";
  wrong = right;
  std::erase_if(wrong.headers, [](const http::Header& header) {
    return http::same_name(header.first, "x-correlation-id");
  });
  EXPECT_NE(contract.judge(ask, wrong), "") << "no id of the request";
  EXPECT_NE(contract.judge(Ask{.path = "/api/v1/nothing"}, right), "") << "a success of nothing";
}

// What no other test asks for, in the one way that succeeds.
TEST_F(ApiContract, WhatNoSampleCanMakeSucceedIsAskedForByHand) {
  const auto person = world_.jwt(Role::authenticated, tenant_, user_);
  const auto set = world_.ask({.method = "PUT",
                               .path = "/api/v1/configuration/queue.backpressure_delay_seconds",
                               .token = admin_,
                               .body = R"({"value":"31"})"});
  EXPECT_EQ(set.status, 204) << set.body;
  const auto contract = world_.get("/api/v1/contracts/beam/1.0.0", service_);
  EXPECT_EQ(contract.status, 200) << contract.body;
  const http::Header tus{"Tus-Resumable", "1.0.0"};
  const auto begun = world_.ask({.method = "POST",
                                 .path = "/api/v1/tus",
                                 .token = person,
                                 .headers = {tus, {"Upload-Length", "10"}}});
  ASSERT_EQ(begun.status, 201) << begun.body;
  const auto path = begun.header("location");
  const auto ended =
      world_.ask({.method = "DELETE", .path = path, .token = person, .headers = {tus}});
  EXPECT_EQ(ended.status, 204) << ended.body;
  const auto gone = world_.ask({.method = "HEAD", .path = path, .token = person, .headers = {tus}});
  EXPECT_GE(gone.status, 400);
}

}  // namespace
}  // namespace millrace::test
