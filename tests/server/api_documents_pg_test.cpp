// Documents over HTTP, with the real database: states, pages, facts, outputs, and what is for
// staff.
#include "support/document_script.h"
#include "upload_world.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::test {
namespace {

using identity::Role;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::string kText = "--- page 1 of 2 ---\nMetformin 500 mg\n";
const std::string kPicture = "the picture of a page";

class ApiDocuments : public testing::Test {
 protected:
  static void SetUpTestSuite() { world_ = std::make_unique<UploadWorld>(); }
  static void TearDownTestSuite() { world_.reset(); }

  static ApiWorld& api() { return world_->api(); }

  std::string upload(const std::string& content, const std::string& name = "scan.pdf") {
    const auto made = api().ask(UploadWorld::raw(who_, content, {}, name));
    EXPECT_EQ(made.status, 201) << made.body;
    return text_of(made, "id");
  }
  DocumentScript script(const std::string& file) { return DocumentScript(api().database(), file); }
  // Two pages, the second of which nobody could read.
  std::string partial() {
    const auto file = upload("%PDF-1.7 partial");
    upload(kText, "text.txt");
    auto worker = script(file);
    worker.begin();
    worker.scan(2);
    worker.page(1, DocumentScript::fact("Metformin"));
    worker.end({{"text", "text.txt", "text/plain; charset=utf-8", kText}});
    return file;
  }
  Answered get(const std::string& path) { return api().get(path, who_.token); }
  Answered post(const std::string& path, const std::string& body = {}) {
    return api().post(path, who_.token, body);
  }
  static std::string path(const std::string& id, const std::string& rest = {}) {
    return "/api/v1/documents/" + id + rest;
  }
  std::string staff(Role role) { return api().credentials(role, who_.tenant); }

  UploadWorld::Person who_ = world_->person();

 private:
  static std::unique_ptr<UploadWorld> world_;
};

std::unique_ptr<UploadWorld> ApiDocuments::world_;

TEST_F(ApiDocuments, AnUploadIsADocumentThatWaits) {
  const auto id = upload("%PDF-1.7 waits");
  const auto document = get(path(id));
  ASSERT_EQ(document.status, 200) << document.body;
  EXPECT_EQ(text_of(document, "state"), "uploaded");
  EXPECT_TRUE(document.json().at("outputs").as_array().empty());
  EXPECT_EQ(get(path(id, "/pages")).json().at("items").as_array().size(), 0U);
  const auto early = get(path(id, "/outputs/text"));
  EXPECT_EQ(early.status, 409) << early.body;
  EXPECT_EQ(text_of(early, "code"), "document_busy");
  EXPECT_FALSE(early.header("retry-after").empty());
  EXPECT_EQ(post(path(id, "/retry")).status, 409);
}

TEST_F(ApiDocuments, WhileItIsReadItSaysHowFarItIs) {
  const auto id = upload("%PDF-1.7 on its way");
  auto worker = script(id);
  worker.begin();
  worker.scan_for_pages(3);
  const auto document = get(path(id));
  EXPECT_EQ(text_of(document, "state"), "processing") << document.body;
  EXPECT_EQ(text_of(document, "stage"), "fast_queue_ocr");
  EXPECT_EQ(document.json().at("stage_total").as_int64(), 3);
  EXPECT_EQ(document.json().at("stage_done").as_int64(), 0);
  EXPECT_EQ(document.json().at("page_count").as_int64(), 3);
  // Asked again with its tag, nothing is sent.
  const auto again = api().ask({.path = path(id),
                                .token = who_.token,
                                .headers = {{"If-None-Match", document.header("etag")}}});
  EXPECT_EQ(again.status, 304);
}

TEST_F(ApiDocuments, APageThatFailedIsNamedAndTheOthersAreHandedOut) {  // Partial success.
  const auto id = partial();
  const auto document = get(path(id));
  EXPECT_EQ(text_of(document, "state"), "partial") << document.body;
  EXPECT_EQ(document.json().at("pages_failed").as_int64(), 1);
  const auto pages = get(path(id, "/pages?limit=1"));
  EXPECT_EQ(pages.json().at("items").at(0).at("state").as_string(), "completed") << pages.body;
  EXPECT_EQ(
      pages.json().at("items").at(0).at("stages").at("fast_queue_ocr").at("source").as_string(),
      "ocr");
  const auto next = get(path(id, "/pages?cursor=" + text_of(pages, "next_cursor")));
  EXPECT_EQ(next.json().at("items").at(0).at("state").as_string(), "failed") << next.body;
  EXPECT_EQ(next.json().at("items").at(0).at("failed_stage").as_string(), "fast_queue_ocr");
  EXPECT_TRUE(next.json().at("next_cursor").is_null());
  const auto facts = get(path(id, "/facts"));
  EXPECT_EQ(facts.json().at("items").at(0).at("name").as_string(), "Metformin") << facts.body;
  const auto text = get(path(id, "/outputs/text"));
  EXPECT_EQ(text.status, 200);
  EXPECT_EQ(text.body, kText);
  const auto part = api().ask({.path = path(id, "/outputs/text"),
                               .token = who_.token,
                               .headers = {{"Range", "bytes=0-2"}}});
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "---");
  const auto none = get(path(id, "/outputs/fhir"));
  EXPECT_EQ(none.status, 404);
  EXPECT_THAT(none.body, HasSubstr("it has text"));
}

TEST_F(ApiDocuments, FactsComeInTheOrderOfThePagesAndNoneIsLeftOut) {
  const auto id = upload("%PDF-1.7 facts");
  auto worker = script(id);
  worker.begin();
  worker.scan(2);
  worker.page(2, DocumentScript::fact("Warfarin"));  // Whoever is read first.
  worker.page(1, DocumentScript::fact("Metformin"));
  const auto first = get(path(id, "/facts?limit=1"));
  EXPECT_EQ(first.json().at("items").at(0).at("name").as_string(), "Metformin") << first.body;
  const auto next = path(id, "/facts?cursor=" + text_of(first, "next_cursor"));
  EXPECT_EQ(get(next).json().at("items").at(0).at("name").as_string(), "Warfarin");
  worker.page(1, DocumentScript::fact("Torasemide"));
  const auto stale = get(next);
  EXPECT_EQ(stale.status, 409) << stale.body;
  EXPECT_THAT(stale.body, HasSubstr("from the beginning"));
}

TEST_F(ApiDocuments, ARejectedFileNamesTheRuleAndNeverTheContent) {
  const auto id = upload("%PDF-1.7 rejected");
  auto worker = script(id);
  worker.begin();
  worker.reject("pdf_javascript");
  const auto document = get(path(id));
  EXPECT_EQ(text_of(document, "state"), "rejected") << document.body;
  EXPECT_EQ(document.json().at("findings").at(0).at("rule").as_string(), "pdf_javascript");
  EXPECT_FALSE(document.json().at("processing_error").is_null());
}

TEST_F(ApiDocuments, ARetryBeginsANewRunAndASecondOneIsRefused) {
  const auto id = partial();
  const auto begun = post(path(id, "/retry"));
  ASSERT_EQ(begun.status, 202) << begun.body;
  EXPECT_EQ(begun.json().at("run").as_int64(), 2);
  EXPECT_EQ(text_of(get(path(id)), "state"), "processing");
  const auto again = post(path(id, "/retry"));
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(text_of(again, "code"), "document_busy");
  EXPECT_EQ(get(path(id, "/outputs/text")).status, 200) << "of the run before";
}

TEST_F(ApiDocuments, d06_ADocumentInQuarantineIsNotBegunAnewAndSaysHowItCanBe) {
  const auto id = partial();
  const auto sha256 = text_of(get(path(id)), "sha256");
  script(id).quarantine(sha256);
  const auto refused = post(path(id, "/retry"));
  EXPECT_EQ(refused.status, 409) << refused.body;
  EXPECT_EQ(text_of(refused, "code"), "document_busy");
  EXPECT_THAT(refused.body, HasSubstr("is in quarantine"));
  EXPECT_THAT(refused.body, HasSubstr("millrace documents release " + sha256));
  EXPECT_EQ(text_of(get(path(id)), "state"), "partial");
  EXPECT_EQ(get(path(id, "/facts")).json().at("items").as_array().size(), 1U);
  const auto release = "/api/v1/quarantine/" + sha256 + "/release";
  EXPECT_EQ(api().post(release, staff(Role::operator_), "").status, 200);
  EXPECT_EQ(post(path(id, "/retry")).status, 202);
}

TEST_F(ApiDocuments, APictureIsDrawnWhenSomebodyAsks) {
  const auto id = partial();
  upload(kPicture, "page.png");
  EXPECT_EQ(get(path(id, "/outputs/image?page=1")).status, 404);
  const auto asked = post(path(id, "/pages/1/image"));
  ASSERT_EQ(asked.status, 202) << asked.body;
  const auto again = post(path(id, "/pages/1/image"));
  EXPECT_EQ(again.status, 202);
  EXPECT_EQ(text_of(again, "job_id"), text_of(asked, "job_id")) << "while it is drawn";
  script(id).draw(text_of(asked, "job_id"), 1, kPicture);
  const auto there = post(path(id, "/pages/1/image"));
  EXPECT_EQ(there.status, 200) << there.body;
  const auto picture = get(path(id, "/outputs/image?page=1"));
  EXPECT_EQ(picture.status, 200);
  EXPECT_EQ(picture.body, kPicture);
  EXPECT_EQ(picture.header("content-type"), "image/png");
  EXPECT_EQ(post(path(id, "/pages/3/image")).status, 404);
}

TEST_F(ApiDocuments, ALinkOpensOneOutputToWhoeverHasIt) {  // T-13
  const auto id = partial();
  const auto made = post(path(id, "/outputs/text/link"), R"({"expires_in":60})");
  ASSERT_EQ(made.status, 201) << made.body;
  const auto url = text_of(made, "url");
  const auto link = url.substr(url.find("/api/"));
  const auto opened = api().get(link);
  EXPECT_EQ(opened.status, 200) << opened.body;
  EXPECT_EQ(opened.body, kText);
  EXPECT_EQ(api().get(path(id, "/outputs/pdf/download" + link.substr(link.find('?')))).status, 401);
}

TEST_F(ApiDocuments, AListIsByStateAndPatientAndOnlyOfTheCaller) {  // T-02
  const auto first = upload("%PDF-1.7 one");
  const auto second = partial();
  const auto ids = [](const Answered& answered) {
    std::vector<std::string> out;
    for (const auto& item : answered.json().at("items").as_array()) {
      out.emplace_back(item.at("id").as_string());
    }
    return out;
  };
  EXPECT_THAT(ids(get("/api/v1/documents?state=partial")), ElementsAre(second));
  const auto patient = text_of(get(path(first)), "patient_id");
  EXPECT_EQ(ids(get("/api/v1/documents?patient_id=" + patient)).size(), 3U);
  const auto page = get("/api/v1/documents?limit=1");
  EXPECT_EQ(ids(page).size(), 1U);
  EXPECT_EQ(ids(get("/api/v1/documents?cursor=" + text_of(page, "next_cursor"))).size(), 2U);
  const auto stranger = api().jwt(Role::authenticated, who_.tenant, api().new_user());
  EXPECT_TRUE(ids(api().get("/api/v1/documents", stranger)).empty());
  for (const auto* rest : {"", "/pages", "/facts", "/outputs/text"}) {
    EXPECT_EQ(api().get(path(second, rest), stranger).status, 404) << rest;
  }
  for (const auto* rest : {"/retry", "/pages/1/image", "/outputs/text/link"}) {
    EXPECT_EQ(api().post(path(second, rest), stranger, "").status, 404) << rest;
  }
}

TEST_F(ApiDocuments, QuarantineIsSeenAndReleasedByTheTenantsStaffAlone) {
  const auto id = upload("%PDF-1.7 poison");
  const std::string sha256(64, 'f');
  script(id).quarantine(sha256);
  const auto seen = api().get("/api/v1/quarantine", staff(Role::reader));
  EXPECT_EQ(seen.json().at("items").at(0).at("sha256").as_string(), sha256) << seen.body;
  const auto release = "/api/v1/quarantine/" + sha256 + "/release";
  const auto other = api().credentials(Role::operator_, api().new_tenant());
  EXPECT_EQ(api().post(release, other, "").status, 404);
  EXPECT_THAT(api().get("/api/v1/quarantine", other).body, Not(HasSubstr(sha256)));
  EXPECT_EQ(api().post(release, staff(Role::reader), "").status, 403);
  const auto released = api().post(release, staff(Role::operator_), "");
  EXPECT_EQ(released.status, 200) << released.body;
  EXPECT_EQ(api().post(release, staff(Role::operator_), "").status, 404) << "once";
  EXPECT_TRUE(
      api().get("/api/v1/quarantine", staff(Role::reader)).json().at("items").as_array().empty());
}

TEST_F(ApiDocuments, ABudgetStandsBesideWhatWasSpent) {
  const auto id = upload("%PDF-1.7 paid for");
  const auto set = api().ask({.method = "PUT",
                              .path = "/api/v1/budgets/openai",
                              .token = staff(Role::operator_),
                              .body = R"({"per_day":"0.50"})"});
  EXPECT_EQ(set.status, 204) << set.body;
  auto sql = api().database().connect("millrace_worker");
  must(sql.query(
      "select millrace.begin_call(jsonb_build_object('job_id', $1::text, 'delivery_count',"
      " 1, 'stage', 'ai_queue_pass1', 'provider', 'openai', 'model', 'm',"
      " 'request_sha256', repeat('a', 64), 'estimated_tokens', 10, 'reserved_micros',"
      " 300000))",
      pg::params(script(id).first_job())));
  const auto spend = api().get("/api/v1/spend?days=1", staff(Role::reader));
  ASSERT_EQ(spend.json().at("items").as_array().size(), 1U) << spend.body;
  const auto row = spend.json().at("items").at(0);
  EXPECT_EQ(row.at("provider").as_string(), "openai");
  EXPECT_EQ(row.at("reserved_micros").as_int64(), 300'000);
  EXPECT_EQ(row.at("budget_micros").as_int64(), 500'000);
  const auto other = api().credentials(Role::reader, api().new_tenant());
  EXPECT_TRUE(api().get("/api/v1/spend", other).json().at("items").as_array().empty());
  EXPECT_EQ(api().get("/api/v1/spend", who_.token).status, 403);
}

}  // namespace
}  // namespace millrace::test
