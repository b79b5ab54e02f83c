#include "api/routes/compute.h"

#include "api/api_fixture.h"
#include "api/compute/inputs_hash.h"
#include "api/schemas.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>

namespace millrace::api {
namespace {

namespace fs = std::filesystem;
using identity::Role;
using testing::HasSubstr;
using testing::Not;

const TenantId kTenant = *TenantId::parse("11111111-1111-4111-8111-111111111111");
const identity::UserId kUser = *identity::UserId::parse("33333333-3333-4333-8333-333333333333");
const std::string kJob = "0190a000-0000-7000-8000-000000000001";
const std::string kArtifact = "0190a000-0000-7000-8000-0000000000a1";

class FakeCompute final : public store::ComputeStore {
 public:
  Task<store::ComputeAnswer> submit_compute(store::CallContext caller, store::NewCompute question,
                                            store::RequestKey key) override {
    last_caller = std::move(caller);
    last_question = std::move(question);
    last_key = std::move(key);
    ++submitted;
    co_return store::ComputeAnswer{.job = *JobId::parse(kJob), .state = state};
  }
  Task<std::string> get_result(store::CallContext, JobId job) override {
    if (job.to_string() != kJob) {
      co_return fail(Error{.kind = ErrorKind::not_found,
                           .message = "job " + job.to_string() + " does not exist",
                           .sqlstate = "MR009"});
    }
    co_return result;
  }

  store::ComputeAnswer::State state = store::ComputeAnswer::State::created;
  std::string result;
  store::CallContext last_caller;
  store::NewCompute last_question;
  store::RequestKey last_key;
  int submitted = 0;
};

// One blob, in memory; signs URLs only when told to.
class OneBlob final : public blob::BlobStore {
 public:
  class Reader final : public blob::BlobReader {
   public:
    explicit Reader(std::string bytes) : bytes_(std::move(bytes)) {
      info_.size_bytes = bytes_.size();
    }
    const blob::BlobInfo& info() const override { return info_; }
    std::uint64_t left_bytes() const override { return bytes_.size() - at_; }
    Task<std::size_t> read(std::span<std::byte> buffer) override {
      const auto size = std::min(buffer.size(), bytes_.size() - at_);
      std::memcpy(buffer.data(), bytes_.data() + at_, size);
      at_ += size;
      co_return size;
    }

   private:
    std::string bytes_;
    std::size_t at_ = 0;
    blob::BlobInfo info_;
  };

  std::string_view name() const override { return "memory"; }
  Task<std::unique_ptr<blob::BlobWriter>> create(blob::PutOptions) override {
    co_return fail(ErrorKind::unavailable, "read only");
  }
  Task<std::unique_ptr<blob::BlobReader>> open(blob::BlobKey key, blob::ByteRange) override {
    if (key != blob::BlobKey{blob::sha256(bytes)}) co_return fail(ErrorKind::not_found, "none");
    co_return std::make_unique<Reader>(bytes);
  }
  Task<blob::BlobInfo> stat(blob::BlobKey) override { co_return blob::BlobInfo(); }
  Task<bool> remove(blob::BlobKey, blob::RemoveOptions) override { co_return false; }
  Task<blob::BlobPage> list(blob::ListOptions) override { co_return blob::BlobPage(); }
  Task<std::optional<blob::SignedUrl>> signed_url(blob::BlobKey, blob::SignOptions) override {
    if (url.empty()) co_return std::nullopt;
    co_return blob::SignedUrl{.url = Secret<std::string>(url), .expires_at = {}};
  }
  Task<std::size_t> sweep_staging(Clock::Duration) override { co_return 0; }
  Task<void> check() override { co_return ok(); }

  std::string bytes = "<svg/>";
  std::string url;
};

class ComputeRoutes : public testing::Test {
 protected:
  ComputeRoutes() {
    std::string name = (fs::temp_directory_path() / "contracts-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    fs::create_directories(folder_ / "beam" / "1.0.0");
    std::ofstream(folder_ / "beam" / "1.0.0" / "inputs.schema.json") << R"({
      "type": "object", "required": ["span"], "additionalProperties": false,
      "properties": {"span": {"type": "number", "minimum": 0},
                     "unit": {"type": "string", "default": "m"}}})";
    contracts_ = ContractDirectory::open(folder_, log_).value();
    api_.emplace(compute_operations({.store = store_,
                                     .requests = requests_,
                                     .contracts = *contracts_,
                                     .tickets = tickets_,
                                     .clock = clock_,
                                     .log = log_,
                                     .blobs = &blobs_,
                                     .result_ttl = std::chrono::seconds(300)}),
                 PipelineOptions{}, component_schemas());
  }
  ~ComputeRoutes() override { fs::remove_all(folder_); }

  std::string service() { return ApiFixture::bearer(api_->token(Role::service_role, kTenant)); }
  std::string person() {
    return ApiFixture::bearer(api_->token(Role::authenticated, kTenant, kUser));
  }
  http::Reply run(const std::string& body, const std::string& headers) {
    return api_->post("/jobs/run", body, headers);
  }
  static std::string result_of(const std::string& status, const std::string& rest = "") {
    return R"({"job_id": ")" + kJob + R"(", "status": ")" + status +
           R"(", "attempts": 2, "job_type": "compute_solve", "last_error": null, "result": null,)" +
           R"( "artifacts": [])" + rest + "}";
  }

  fs::path folder_;
  SystemClock clock_;
  Logger log_ = Logger::silent();
  FakeCompute store_;
  MemoryRequests requests_;
  OneBlob blobs_;
  identity::TicketMaker tickets_ =
      identity::TicketMaker::make({Secret<std::string>(identity::kTestSecret)}, clock_).value();
  std::unique_ptr<ContractDirectory> contracts_;
  std::optional<ApiFixture> api_;
};

TEST_F(ComputeRoutes, AQuestionBecomesAJobWithItsDefaults) {  // J-01, J-05, H-13
  const auto reply =
      run(R"({"app_id":"app","definition":"beam","version":"1.0.0","inputs":{"span":6.0}})",
          service() + "x-correlation-id: order-17\r\n");
  ASSERT_EQ(reply.status, 202) << reply.body;
  EXPECT_EQ(text_of(object_of(reply), "job_id"), kJob);
  EXPECT_EQ(text_of(object_of(reply), "answer"), "created");
  EXPECT_EQ(reply.header("location"), "/jobs/status/" + kJob);
  const auto& question = store_.last_question;
  EXPECT_EQ(question.app_id, "app");
  EXPECT_EQ(question.correlation_id, "order-17");
  EXPECT_EQ(question.owner, std::nullopt);
  EXPECT_EQ(canonical_json(parse_json(question.inputs_json).value()), R"({"span":6,"unit":"m"})");
  // sha256('{"span":6.0,"unit":"m"}beam1.0.0')
  EXPECT_EQ(question.inputs_hash,
            inputs_hash(parse_json(R"({"unit":"m","span":6.0})").value(), "beam", "1.0.0"));
  EXPECT_EQ(question.ttl, std::chrono::seconds(300));
  EXPECT_EQ(question.max_age, std::nullopt);
}

TEST_F(ComputeRoutes, InputsThatBreakTheContractMakeNoJob) {  // J-02, H-16
  const auto reply = run(
      R"({"definition":"beam","version":"1.0.0","inputs":{"span":-1,"colour":"red"}})", service());
  EXPECT_EQ(reply.status, 400) << reply.body;
  EXPECT_THAT(reply.body, HasSubstr("#/inputs/span"));
  EXPECT_THAT(reply.body, HasSubstr("invalid_inputs"));
  EXPECT_THAT(reply.body, Not(HasSubstr("red")));
  EXPECT_EQ(store_.submitted, 0);
}

TEST_F(ComputeRoutes, WhatTheBodyMayNotHoldIsNamed) {
  const auto refused = [&](const std::string& body, const std::string& who) {
    const auto reply = run(body, who);
    EXPECT_EQ(reply.status, 400) << reply.body;
    return reply.body;
  };
  EXPECT_THAT(refused(R"({"definition":"beam","version":"1.0.0"})", service()), HasSubstr("anyOf"));
  EXPECT_THAT(refused(R"({"definition":"../x","version":"1.0.0","inputs":{}})", service()),
              HasSubstr("#/definition"));
  EXPECT_THAT(refused(R"({"definition":"a:b","version":"1.0.0","inputs":{}})", service()),
              HasSubstr("#/definition"));
  EXPECT_THAT(refused(R"({"definition":"beam","version":"1.0.0","inputs":{"span":1},"payload":{}})",
                      service()),
              HasSubstr("#/payload"));
  EXPECT_THAT(refused(R"({"definition":"beam","version":"1.0.0","inputs":{"span":1},"priority":9})",
                      person()),
              HasSubstr("#/priority"));
  EXPECT_THAT(
      refused(R"({"definition":"beam","version":"1.0.0","inputs":{"span":18446744073709551616}})",
              service()),
      HasSubstr("64 bits"));
  EXPECT_EQ(store_.submitted, 0);
}

TEST_F(ComputeRoutes, AnUnknownContractIsNotFound) {
  EXPECT_EQ(run(R"({"definition":"beam","version":"9.0.0","inputs":{}})", service()).status, 404);
  EXPECT_EQ(store_.submitted, 0);
}

TEST_F(ComputeRoutes, APersonOwnsTheJobAndSharesItWithNobody) {  // T-02, T-12
  const std::string body = R"({"definition":"beam","version":"1.0.0","payload":{"span":6}})";
  ASSERT_EQ(run(body, person()).status, 202);
  EXPECT_EQ(store_.last_question.owner, kUser.value);
  const auto own = store_.last_question.key;
  ASSERT_EQ(run(body, service()).status, 202);
  EXPECT_NE(store_.last_question.key, own);
  const auto shared = store_.last_question.key;
  ASSERT_EQ(
      run(R"({"definition":"beam","version":"1.0.0","inputs":{"unit":"m","span":6.0}})", service())
          .status,
      202);
  EXPECT_EQ(store_.last_question.key, shared);
}

TEST_F(ComputeRoutes, ACachedAnswerIsSaidToBeOne) {  // J-04, J-13
  store_.state = store::ComputeAnswer::State::cached;
  const auto reply =
      run(R"({"definition":"beam","version":"1.0.0","inputs":{"span":6},"max_age_seconds":10})",
          service());
  EXPECT_EQ(reply.status, 202);
  EXPECT_EQ(text_of(object_of(reply), "answer"), "cached");
  EXPECT_EQ(store_.last_question.max_age, std::chrono::seconds(10));
}

TEST_F(ComputeRoutes, StatusHasTheWordsOfTheSource) {  // H-14, Q-04
  for (const auto& [ours, theirs] :
       std::map<std::string, std::string>{{"pending", "queued"},
                                          {"retrying", "queued"},
                                          {"deferred", "queued"},
                                          {"processing", "running"},
                                          {"completed", "succeeded"},
                                          {"failed", "failed"},
                                          {"cancelled", "cancelled"}}) {
    store_.result = result_of(ours);
    const auto reply = api_->get("/jobs/status/" + kJob, person());
    EXPECT_EQ(reply.status, 200) << reply.body;
    EXPECT_EQ(text_of(object_of(reply), "status"), theirs);
    EXPECT_EQ(object_of(reply).at("attempts"), json::Value(2));
    EXPECT_FALSE(object_of(reply).contains("last_error"));
  }
  EXPECT_EQ(api_->get("/jobs/status/" + kArtifact, person()).status, 404);
}

TEST_F(ComputeRoutes, AResultIsTheOutputsDigitByDigit) {  // H-15
  store_.result = result_of("completed", R"(, "outputs_json": {"y": 1.00000000000000000001})");
  const auto reply = api_->get("/jobs/result/" + kJob, person());
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, R"({"y": 1.00000000000000000001})");
}

TEST_F(ComputeRoutes, WithoutAResultTheAnswerSaysWhy) {  // H-15
  store_.result = result_of("processing");
  const auto early = api_->get("/jobs/result/" + kJob, person());
  EXPECT_EQ(early.status, 409);
  EXPECT_EQ(text_of(object_of(early), "code"), "not_finished");
  EXPECT_EQ(early.header("retry-after"), "1");
  store_.result = R"({"job_type": "compute_solve", "status": "failed", "attempts": 1,)"
                  R"( "last_error": {"message": "no", "error_type": "app_server_422"}})";
  const auto failed = api_->get("/jobs/result/" + kJob, person());
  EXPECT_EQ(failed.status, 422) << failed.body;
  EXPECT_EQ(text_of(object_of(failed), "code"), "job_failed");
  EXPECT_EQ(text_of(object_of(failed).at("last_error").as_object(), "error_type"),
            "app_server_422");
  store_.result = result_of("cancelled");
  EXPECT_EQ(api_->get("/jobs/result/" + kJob, person()).status, 409);
}

TEST_F(ComputeRoutes, AnotherKindOfJobIsNoComputation) {
  store_.result = R"({"job_type": "noop", "status": "completed", "attempts": 1})";
  EXPECT_EQ(api_->get("/jobs/status/" + kJob, service()).status, 404);
  EXPECT_EQ(api_->get("/jobs/result/" + kJob, service()).status, 404);
}

TEST_F(ComputeRoutes, ContractsCanBeRead) {
  EXPECT_THAT(api_->get("/api/v1/contracts", person()).body, HasSubstr("beam"));
  const auto contract = api_->get("/api/v1/contracts/beam/1.0.0", person());
  EXPECT_EQ(contract.status, 200) << contract.body;
  EXPECT_TRUE(object_of(contract).at("inputs").as_object().contains("properties"));
  EXPECT_TRUE(object_of(contract).at("outputs").is_null());
  EXPECT_EQ(api_->get("/api/v1/contracts/beam/2.0.0", person()).status, 404);
  EXPECT_EQ(api_->get("/api/v1/contracts").status, 401);
}

class ComputeArtifacts : public ComputeRoutes {
 protected:
  ComputeArtifacts() {
    const blob::BlobKey key{blob::sha256(blobs_.bytes)};
    store_.result =
        R"({"job_type": "compute_solve", "status": "completed", "attempts": 1, "artifacts": [{"id": ")" +
        kArtifact + R"(", "kind": "drawing", "file_name": "a\"b.svg", "sha256": ")" +
        key.sha256.hex() +
        R"(", "size_bytes": 6, "content_type": "image/svg+xml", "expires_at": null, "store_key": ")" +
        key.text() + R"("}]})";
  }
};

TEST_F(ComputeArtifacts, AreHandedOutByLinksThatNeedNothingElse) {  // J-11, I11, V-19
  const auto list = api_->get("/jobs/artifacts/" + kJob, person());
  ASSERT_EQ(list.status, 200) << list.body;
  EXPECT_EQ(list.header("cache-control"), "no-store");
  EXPECT_THAT(list.body, Not(HasSubstr("store_key")));
  const auto item = object_of(list).at("items").at(0).as_object();
  const auto url = text_of(item, "url");
  const auto path = url.substr(url.find("/jobs/"));
  EXPECT_THAT(path, testing::StartsWith(artifact_path(*JobId::parse(kJob), kArtifact) + "?token="));
  EXPECT_TRUE(item.contains("url_expires_at"));
}

TEST_F(ComputeArtifacts, OfAStoreWithLinksOfItsOwnUseThose) {
  blobs_.url = "https://blobs.example/x?sig=y";
  const auto list = api_->get("/jobs/artifacts/" + kJob, person());
  EXPECT_EQ(text_of(object_of(list).at("items").at(0).as_object(), "url"), blobs_.url);
}

TEST_F(ComputeArtifacts, AreStreamedWithANameThatBreaksNoHeader) {
  const auto reply = api_->get("/jobs/artifacts/" + kJob + "/" + kArtifact, service());
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(reply.body, blobs_.bytes);
  EXPECT_EQ(reply.header("content-type"), "image/svg+xml");
  EXPECT_THAT(reply.header("content-disposition"), testing::StartsWith("attachment"));
  EXPECT_EQ(api_->get("/jobs/artifacts/" + kJob + "/" + kJob, service()).status, 404);
  EXPECT_EQ(api_->get("/jobs/artifacts/" + kJob + "/" + kArtifact).status, 401);
}

}  // namespace
}  // namespace millrace::api
