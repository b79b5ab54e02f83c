#include "api/routes/documents.h"

#include "api/api_fixture.h"
#include "api/schemas.h"
#include "api/upload/upload_fixture.h"

#include <gmock/gmock.h>

namespace millrace::api {
namespace {

using identity::Role;
using testing::HasSubstr;
using testing::Not;

const TenantId kTenant = *TenantId::parse("11111111-1111-4111-8111-111111111111");
const identity::UserId kUser{*Uuid::parse("22222222-2222-4222-8222-222222222222")};
const identity::UserId kOther{*Uuid::parse("44444444-4444-4444-8444-444444444444")};
const Uuid kDocument = *Uuid::parse("0190a000-0000-7000-8000-000000000001");
const JobId kJob = *JobId::parse("0190a000-0000-7000-8000-000000000002");
const std::string kText = "--- page 1 of 1 ---\nMetformin\n";

// One document, of kUser; remembers what it was asked.
class MemoryCatalog final : public store::DocumentCatalog {
 public:
  struct Output {
    std::string kind;
    int page = 0;
    std::string created_at = "2026-11-18T10:00:01+00:00";
    store::DocumentOutput content = {};
  };

  Task<std::string> get_document(store::CallContext caller, Uuid document) override {
    if (!is_seen(caller, document)) co_return unknown();
    json::Array list;
    for (const auto& output : outputs) {
      list.push_back(
          json::Object{{"kind", output.kind},
                       {"page", output.page == 0 ? json::Value(nullptr) : json::Value(output.page)},
                       {"created_at", output.created_at}});
    }
    co_return to_json(json::Object{
        {"id", document.to_string()},
        {"state", state},
        {"stage", state == "processing" ? json::Value("fast_queue_ocr") : json::Value(nullptr)},
        {"finished_at",
         state == "processing" ? json::Value(nullptr) : json::Value("2026-11-18T10:00:01+00:00")},
        {"page_count", pages},
        {"outputs", std::move(list)}});
  }
  Task<std::string> list_documents(store::CallContext, store::DocumentList list) override {
    last_list = list;
    co_return rows;
  }
  Task<std::string> list_pages(store::CallContext caller, Uuid document, int after,
                               int limit) override {
    if (!is_seen(caller, document)) co_return unknown();
    std::string out;
    for (int page = after + 1; page <= std::min(pages, after + limit); ++page) {
      out += fmt::format(R"({}{{"page":{}}})", out.empty() ? "" : ",", page);
    }
    co_return "[" + out + "]";
  }
  Task<std::string> list_facts(store::CallContext caller, Uuid document, std::optional<Uuid> after,
                               int) override {
    if (!is_seen(caller, document)) co_return unknown();
    last_fact = after;
    co_return rows;
  }
  Task<std::optional<store::DocumentOutput>> get_output(store::CallContext, Uuid, std::string kind,
                                                        int page) override {
    for (const auto& output : outputs) {
      if (output.kind == kind && output.page == page) co_return output.content;
    }
    co_return std::nullopt;
  }
  Task<JobId> ask_image(store::CallContext, Uuid, int page) override {
    if (page > pages) co_return unknown();
    asked.push_back(page);
    co_return kJob;
  }
  Task<std::string> retry_document(store::CallContext caller, Uuid document) override {
    if (!is_seen(caller, document)) co_return unknown();
    if (state == "processing") {
      co_return fail(Error{
          .kind = ErrorKind::conflict, .message = "it is being processed", .sqlstate = "MR042"});
    }
    co_return fmt::format(R"({{"id":"{}","job_id":"{}","run":2}})", document, kJob);
  }
  Task<std::string> list_quarantine(store::CallContext, int) override { co_return rows; }
  Task<std::int64_t> release_quarantine(store::CallContext, std::string sha256) override {
    co_return sha256 == quarantined ? 1 : 0;
  }
  Task<std::string> list_spend(store::CallContext, int days) override {
    last_days = days;
    co_return rows;
  }
  Task<void> set_budget(store::CallContext, std::string provider,
                        std::optional<std::int64_t> micros) override {
    budgets.emplace_back(std::move(provider), micros);
    co_return ok();
  }

  std::string state = "completed";
  int pages = 5;
  std::vector<Output> outputs;
  std::string rows = "[]";
  std::string quarantined = std::string(64, 'a');
  store::DocumentList last_list;
  std::optional<Uuid> last_fact;
  int last_days = 0;
  std::vector<int> asked;
  std::vector<std::pair<std::string, std::optional<std::int64_t>>> budgets;

 private:
  static bool is_seen(const store::CallContext& caller, Uuid document) {
    return document == kDocument && caller.claims_json.contains(kUser.to_string());
  }
  static std::unexpected<Error> unknown() {
    return fail(
        Error{.kind = ErrorKind::not_found, .message = "it does not exist", .sqlstate = "MR041"});
  }
};

class DocumentRoutes : public testing::Test {
 protected:
  DocumentRoutes() {
    const Secret<std::string> secret(identity::kTestSecret);
    tickets_.emplace(*identity::TicketMaker::make({secret}, clock_));
    links_.emplace(
        SignedLinks::Services{
            .tickets = *tickets_, .directory = directory_, .policies = policies_, .clock = clock_},
        "");
    api_.emplace(
        document_operations(
            {.documents = catalog_, .blobs = blobs_, .links = *links_, .signer = &signer_}, {}),
        PipelineOptions{}, component_schemas());
    put("text", 0, kText, "text/plain; charset=utf-8", "text.txt");
  }

  void put(const std::string& kind, int page, const std::string& bytes, const std::string& type,
           const std::string& name) {
    catalog_.outputs.push_back({.kind = kind,
                                .page = page,
                                .content = {.file_name = name,
                                            .content_type = type,
                                            .size_bytes = static_cast<std::int64_t>(bytes.size()),
                                            .sha256 = blob::sha256(bytes).hex(),
                                            .store_key = blobs_.put(bytes)}});
  }
  std::string user(identity::UserId who = kUser) {
    return ApiFixture::bearer(api_->token(Role::authenticated, kTenant, who));
  }
  std::string staff(Role role) { return ApiFixture::bearer(api_->credentials(role, kTenant)); }
  static std::string path(const std::string& rest = {}) {
    return "/api/v1/documents/" + kDocument.to_string() + rest;
  }
  http::Reply get(const std::string& rest, const std::string& headers = {}) {
    return api_->get(path(rest), user() + headers);
  }
  http::Reply put_budget(const std::string& body, const std::string& who) {
    return api_->ask("PUT /api/v1/budgets/openai HTTP/1.1\r\nHost: test\r\n" + who +
                     "Content-Type: application/json\r\nContent-Length: " +
                     std::to_string(body.size()) + "\r\n\r\n" + body);
  }

  ManualClock clock_;
  MemoryBlobs blobs_{clock_};
  MemoryCatalog catalog_;
  MemoryDirectory directory_;
  MemoryPolicies policies_;
  std::optional<identity::TicketMaker> tickets_;
  std::optional<SignedLinks> links_;
  identity::ContentSigner signer_ =
      identity::ContentSigner::make(Secret<std::string>(identity::kTestSecret)).value();
  std::optional<ApiFixture> api_;
};

TEST_F(DocumentRoutes, AnOutputComesWithItsDigestAndInASandbox) {
  const auto reply = get("/outputs/text");
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(reply.body, kText);
  EXPECT_EQ(reply.header("content-type"), "text/plain; charset=utf-8");
  EXPECT_EQ(reply.header("etag"), "\"" + blob::sha256(kText).hex() + "\"");
  EXPECT_THAT(reply.header("content-security-policy"), HasSubstr("sandbox"));
  EXPECT_THAT(reply.header("content-disposition"), HasSubstr("text.txt"));
  EXPECT_EQ(get("/outputs/text", "Range: bytes=0-2\r\n").body, "---");
  EXPECT_EQ(get("/outputs/text", "If-None-Match: " + reply.header("etag") + "\r\n").status, 304);
}

TEST_F(DocumentRoutes, WhatWasNotMadeIsSaidWithWhatThereIs) {
  const auto reply = get("/outputs/fhir");
  EXPECT_EQ(reply.status, 404);
  EXPECT_THAT(reply.body, HasSubstr("no output fhir; it has text"));
  EXPECT_EQ(get("/outputs/nothing").status, 400);
  const auto paged = get("/outputs/text?page=1");
  EXPECT_EQ(paged.status, 400);
  EXPECT_THAT(paged.body, HasSubstr("page must be given with the kind image only"));
  const auto pageless = get("/outputs/image");
  EXPECT_EQ(pageless.status, 400);
  EXPECT_THAT(pageless.body, HasSubstr("page must be given with the kind image"));
  const auto image = get("/outputs/image?page=2");
  EXPECT_EQ(image.status, 404);
  EXPECT_THAT(image.body, HasSubstr("/image"));
  EXPECT_THAT(get("/outputs/image?page=6").body, HasSubstr("the document has no page 6"));
}

// Over the bytes that the database knows by their digest: others are not signed.
TEST_F(DocumentRoutes, AManifestComesWithASignatureThatAnybodyCanCheck) {
  EXPECT_EQ(get("/outputs/manifest_signature").status, 404);
  const std::string manifest = R"({"schema":"manifest/1"})";
  put("manifest", 0, manifest, "application/json", "manifest.json");
  const auto reply = get("/outputs/manifest_signature");
  ASSERT_EQ(reply.status, 200) << reply.body;
  const auto signature = parse_json_object(reply.body).value();
  const std::vector<std::string> keys = {signer_.public_key()};
  EXPECT_TRUE(identity::check_signature(signature, "manifest.json", manifest, keys).has_value());
  EXPECT_FALSE(
      identity::check_signature(signature, "manifest.json", manifest + " ", keys).has_value());

  const auto made = api_->post(path("/outputs/manifest_signature/link"), "{}", user());
  ASSERT_EQ(made.status, 201) << made.body;
  const auto url = std::string(parse_json_object(made.body).value().at("url").as_string());
  EXPECT_EQ(api_->get(url.substr(std::string("http://test").size())).body, reply.body);
  EXPECT_EQ(api_->get(path("/outputs/manifest_signature"), user(kOther)).status, 404);

  catalog_.outputs.back().content.sha256 = blob::sha256("other bytes").hex();
  EXPECT_EQ(get("/outputs/manifest_signature").status, 500);
}

TEST_F(DocumentRoutes, WhileItIsProcessedAClientIsToldToComeAgain) {
  catalog_.state = "processing";
  const auto reply = get("/outputs/fhir");
  EXPECT_EQ(reply.status, 409);
  EXPECT_THAT(reply.body, HasSubstr("\"document_busy\""));
  EXPECT_THAT(reply.body, HasSubstr("fast_queue_ocr"));
  EXPECT_FALSE(reply.header("retry-after").empty());
  EXPECT_EQ(get("/outputs/text").status, 200) << "of the run before";
  const auto again = api_->post(path("/retry"), "", user());
  EXPECT_EQ(again.status, 409);
  EXPECT_THAT(again.body, HasSubstr("\"document_busy\""));
  EXPECT_EQ(api_->post(path("/outputs/fhir/link"), "{}", user()).status, 409);
}

TEST_F(DocumentRoutes, OthersSeeNothing) {  // T-02
  for (const auto* rest : {"", "/pages", "/facts", "/outputs/text", "/outputs/fhir"}) {
    const auto reply = api_->get(path(rest), user(kOther));
    EXPECT_EQ(reply.status, 404) << rest;
    EXPECT_THAT(reply.body, Not(HasSubstr("it has text"))) << rest;
  }
  for (const auto* rest : {"/retry", "/pages/1/image", "/outputs/text/link"}) {
    EXPECT_EQ(api_->post(path(rest), "", user(kOther)).status, 404) << rest;
  }
  EXPECT_TRUE(catalog_.asked.empty());
}

TEST_F(DocumentRoutes, ALinkOpensItsOutputForAWhileAndNothingElse) {  // T-13
  put("image", 1, "a picture", "image/png", "page-1.png");
  put("image", 2, "another", "image/png", "page-2.png");
  const auto made = api_->post(path("/outputs/image/link?page=1"), R"({"expires_in":60})", user());
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.header("cache-control"), "no-store");
  const auto url = std::string(parse_json(made.body)->at("url").as_string());
  const auto link = url.substr(std::string("http://test").size());
  EXPECT_EQ(api_->get(link).body, "a picture");
  auto other = link;
  other.replace(other.find("page=1"), 6, "page=2");
  EXPECT_EQ(api_->get(other).status, 401);
  other = link;
  other.replace(other.find("/image/"), 7, "/text/");
  EXPECT_EQ(api_->get(other).status, 401);
  clock_.advance(std::chrono::seconds(61));
  EXPECT_EQ(api_->get(link).status, 401);
}

TEST_F(DocumentRoutes, TheStoresOwnLinkIsGivenWhereItHasSuch) {
  blobs_.signs = true;
  const auto made = api_->post(path("/outputs/text/link"), "", user());
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_THAT(made.body, HasSubstr("https://objects.example/"));
}

TEST_F(DocumentRoutes, PagesComeByNumberAndACursorGoesOnBehindThem) {
  const auto first = get("/pages?limit=2");
  EXPECT_EQ(first.status, 200) << first.body;
  EXPECT_THAT(first.body, HasSubstr(R"("items":[{"page":1},{"page":2}])"));
  const auto cursor = std::string(parse_json(first.body)->at("next_cursor").as_string());
  const auto second = get("/pages?limit=3&cursor=" + cursor);
  EXPECT_THAT(second.body, HasSubstr(R"("items":[{"page":3},{"page":4},{"page":5}])"));
  EXPECT_THAT(second.body, HasSubstr(R"("next_cursor":null)"));
  EXPECT_EQ(get("/facts?cursor=" + cursor).status, 400) << "of another list";
}

TEST_F(DocumentRoutes, AListKnowsStatesAndPatients) {
  const auto patient = kOther.to_string();
  EXPECT_EQ(api_->get("/api/v1/documents?state=partial&patient_id=" + patient + "&limit=7", user())
                .status,
            200);
  EXPECT_EQ(catalog_.last_list.state, "partial");
  EXPECT_EQ(catalog_.last_list.patient, kOther.value);
  EXPECT_EQ(catalog_.last_list.limit, 8);
  EXPECT_EQ(api_->get("/api/v1/documents?state=done", user()).status, 400);
}

TEST_F(DocumentRoutes, APictureIsDrawnOnceAndAgainAfterANewRun) {
  const auto asked = api_->post(path("/pages/3/image"), "", user());
  EXPECT_EQ(asked.status, 202) << asked.body;
  EXPECT_THAT(asked.body, HasSubstr(kJob.to_string()));
  put("image", 3, "a picture", "image/png", "page-3.png");
  catalog_.outputs.back().created_at = "2026-11-18T10:00:01.5+00:00";
  const auto there = api_->post(path("/pages/3/image"), "", user());
  EXPECT_EQ(there.status, 200) << there.body;
  EXPECT_THAT(there.body, HasSubstr(R"("job_id":null)"));
  catalog_.outputs.back().created_at = "2026-11-18T10:00:00.5+00:00";  // Before it ended.
  EXPECT_EQ(api_->post(path("/pages/3/image"), "", user()).status, 202);
  EXPECT_EQ(api_->post(path("/pages/6/image"), "", user()).status, 404);
  EXPECT_EQ(api_->post(path("/pages/0/image"), "", user()).status, 400);
  EXPECT_THAT(catalog_.asked, testing::ElementsAre(3, 3));
}

TEST_F(DocumentRoutes, WhatIsForStaffIsClosedToPeople) {
  EXPECT_EQ(api_->get("/api/v1/quarantine", user()).status, 403);
  EXPECT_EQ(api_->get("/api/v1/spend", user()).status, 403);
  EXPECT_EQ(put_budget(R"({"per_day":"5.00"})", user()).status, 403);
  EXPECT_EQ(put_budget(R"({"per_day":"5.00"})", staff(Role::service_role)).status, 403);
  const auto release = "/api/v1/quarantine/" + catalog_.quarantined + "/release";
  EXPECT_EQ(api_->post(release, "", staff(Role::reader)).status, 403);
  EXPECT_EQ(api_->post(release, "", staff(Role::operator_)).status, 200);
  EXPECT_EQ(api_->post("/api/v1/quarantine/" + std::string(64, 'b') + "/release", "",
                       staff(Role::operator_))
                .status,
            404);
  EXPECT_EQ(api_->post("/api/v1/quarantine/xyz/release", "", staff(Role::operator_)).status, 400);
}

TEST_F(DocumentRoutes, ABudgetIsAnAmountOrNone) {
  const auto who = staff(Role::operator_);
  EXPECT_EQ(put_budget(R"({"per_day":"5.00"})", who).status, 204);
  EXPECT_EQ(put_budget(R"({"per_day":null})", who).status, 204);
  for (const auto* wrong : {R"({"per_day":5})", R"({"per_day":"-1"})", R"({"per_day":"1e3"})",
                            R"({"per_day":"0.0000001"})", R"({})"}) {
    EXPECT_EQ(put_budget(wrong, who).status, 400) << wrong;
  }
  ASSERT_EQ(catalog_.budgets.size(), 2U);
  EXPECT_EQ(catalog_.budgets[0].second, 5'000'000);
  EXPECT_EQ(catalog_.budgets[1].second, std::nullopt);
}

TEST(Amounts, AreExactToTheMillionth) {
  EXPECT_EQ(*parse_amount("5"), 5'000'000);
  EXPECT_EQ(*parse_amount("0.000001"), 1);
  EXPECT_EQ(*parse_amount("12.5"), 12'500'000);
  EXPECT_EQ(*parse_amount("999999999.999999"), 999'999'999'999'999);
  for (const auto* wrong : {"", ".", "5.", ".5", "-1", "1,5", "1.0000001", "1000000000", "1.5.5"}) {
    EXPECT_FALSE(parse_amount(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace millrace::api
