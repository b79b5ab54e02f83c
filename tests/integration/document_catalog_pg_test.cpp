// DocumentCatalog against PostgreSQL, through the login of the server: who sees which document, and
// what is refused.
#include "base/random.h"
#include "base/run.h"
#include "sql/server_world.h"
#include "store/api/documents.h"
#include "support/document_script.h"

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>

namespace millrace::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class DocumentCatalogPg : public EngineTest {
 protected:
  template <class T>
  T run(Task<T> task) {
    return must(run_blocking(io, std::move(task)));
  }
  template <class T>
  std::string refused(Task<T> task) {
    const auto result = run_blocking(io, std::move(task));
    return result ? "was not refused" : result.error().sqlstate;
  }
  static store::CallContext person(std::string_view user, std::string_view tenant = kTenant) {
    return {
        .role = "authenticated",
        .tenant = TenantId::parse(tenant).value(),
        .claims_json = fmt::format(
            R"({{"sub": "{}", "role": "authenticated", "app_metadata": {{"tenant_id": "{}"}}}})",
            user, tenant)};
  }
  static store::CallContext of_role(std::string role, std::string_view tenant) {
    store::CallContext caller{.role = std::move(role), .actor = "key:k1"};
    if (!tenant.empty()) caller.tenant = TenantId::parse(tenant).value();
    return caller;
  }
  // Ada's, of one page, with its text.
  Uuid completed() {
    ServerSession server(database);
    const auto file = member(sql, put_file(server, kAda, "content of the text"), "id");
    DocumentScript worker(database, file);
    worker.begin();
    worker.scan(1);
    worker.page(1, DocumentScript::fact("Metformin"));
    worker.end({{"text", "text.txt", "text/plain", "content of the text"}});
    return Uuid::parse(file).value();
  }

  boost::asio::io_context io{1};
  SeededRandom random{7};
  pg::Pool pool{io.get_executor(),
                pg::connect_options(database.url("millrace_api")),
                {.connections_max = 1},
                random};
  store::ApiSession session{pool};
  std::unique_ptr<store::DocumentCatalog> documents = store::make_document_catalog(session);
};

TEST_F(DocumentCatalogPg, ADocumentIsThereForItsOwnerItsTenantsServicesAndStaffAlone) {  // T-02
  const auto id = completed();
  const auto sees = [&](const store::CallContext& caller) {
    const bool listed =
        run(documents->list_documents(caller, {})).find(id.to_string()) != std::string::npos;
    const auto one = run_blocking(io, documents->get_document(caller, id));
    const auto pages = run_blocking(io, documents->list_pages(caller, id, 0, 10));
    const auto facts = run_blocking(io, documents->list_facts(caller, id, {}, 10));
    EXPECT_EQ(one.has_value(), listed);
    EXPECT_EQ(pages.has_value(), listed);
    EXPECT_EQ(facts.has_value(), listed);
    if (!one) EXPECT_EQ(one.error().sqlstate, "MR041");
    return listed;
  };
  EXPECT_TRUE(sees(person(kAda)));
  EXPECT_TRUE(sees(of_role("service_role", kTenant)));
  EXPECT_TRUE(sees(of_role("millrace_reader", kTenant)));
  EXPECT_TRUE(sees(of_role("millrace_api", "")));
  EXPECT_FALSE(sees(person(kBob)));
  EXPECT_FALSE(sees(person(kAda, kOther)));
  EXPECT_FALSE(sees(of_role("service_role", kOther)));
  EXPECT_FALSE(sees(of_role("millrace_api", kOther)));
}

TEST_F(DocumentCatalogPg, AnOutputIsFoundByKindAndPage) {
  const auto id = completed();
  const auto text = run(documents->get_output(person(kAda), id, "text", 0));
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(text->file_name, "text.txt");
  EXPECT_EQ(text->size_bytes, 19);
  EXPECT_EQ(text->store_key, "sha256/" + text->sha256);
  EXPECT_FALSE(run(documents->get_output(person(kAda), id, "text", 1)).has_value());
  EXPECT_FALSE(run(documents->get_output(person(kAda), id, "fhir", 0)).has_value());
  EXPECT_EQ(refused(documents->get_output(person(kAda, kOther), id, "text", 0)), "MR041");
}

TEST_F(DocumentCatalogPg, OnlyTheOwnerMayHaveItReadAgainAndOnlyAtItsEnd) {
  const auto id = completed();
  EXPECT_EQ(refused(documents->retry_document(person(kBob), id)), "MR041");
  EXPECT_EQ(refused(documents->ask_image(person(kBob), id, 1)), "MR041");
  const auto job = run(documents->ask_image(person(kAda), id, 1));
  EXPECT_EQ(run(documents->ask_image(person(kAda), id, 1)), job) << "while it is drawn";
  EXPECT_EQ(refused(documents->ask_image(person(kAda), id, 2)), "MR041");
  EXPECT_THAT(run(documents->retry_document(person(kAda), id)), HasSubstr("\"run\": 2"));
  EXPECT_EQ(refused(documents->retry_document(person(kAda), id)), "MR042");
}

TEST_F(DocumentCatalogPg, QuarantineAndBudgetsAreOfATenant) {
  const auto id = completed();
  const std::string sha256(64, 'f');
  DocumentScript(database, id.to_string()).quarantine(sha256);
  const auto here = of_role("millrace_api", kTenant);
  const auto elsewhere = of_role("millrace_api", kOther);
  EXPECT_THAT(run(documents->list_quarantine(here, 10)), HasSubstr(sha256));
  EXPECT_THAT(run(documents->list_quarantine(elsewhere, 10)), Not(HasSubstr(sha256)));
  EXPECT_EQ(run(documents->release_quarantine(elsewhere, sha256)), 0);
  EXPECT_EQ(run(documents->release_quarantine(here, sha256)), 1);
  EXPECT_EQ(run(documents->release_quarantine(here, sha256)), 0);
  EXPECT_EQ(refused(documents->release_quarantine(here, "abc")), "MR024");
  run(documents->set_budget(here, "openai", 500'000));
  EXPECT_EQ(sql.value("select string_agg(tenant_id || ' ' || micros_per_day, ',') from "
                      "millrace.provider_budget"),
            std::string(kTenant) + " 500000");
  EXPECT_EQ(refused(documents->set_budget(here, "No Such", 1)), "MR024");
  run(documents->set_budget(here, "openai", std::nullopt));
  EXPECT_EQ(sql.number("select count(*) from millrace.provider_budget"), 0);
  EXPECT_EQ(run(documents->list_spend(here, 7)), "[]");
}

}  // namespace
}  // namespace millrace::test
