// Tests of the handler against the real engine on a throw-away PostgreSQL.
#include "invoice_handler.h"

#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <millrace/testing.h>

#include <memory>

namespace {

using millrace::client::run_one;
using millrace::client::TestDatabase;

class InvoiceHandler : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto made = TestDatabase::create();
    ASSERT_TRUE(made.has_value()) << made.error().message;
    database = std::make_unique<TestDatabase>(std::move(*made));
    query("create table invoice (order_id bigint primary key, cents bigint not null)");
  }
  static void TearDownTestSuite() { database.reset(); }

  static std::string query(const char* sql) {
    PGconn* connection = PQconnectdb(database->url().c_str());
    PGresult* result = PQexec(connection, sql);
    const bool rows = PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) > 0;
    std::string text = rows ? PQgetvalue(result, 0, 0) : PQresultErrorMessage(result);
    PQclear(result);
    PQfinish(connection);
    return text;
  }

  static std::unique_ptr<TestDatabase> database;
};

std::unique_ptr<TestDatabase> InvoiceHandler::database;

TEST_F(InvoiceHandler, StoresTheInvoiceWithTheResult) {
  const auto ran = run_one(
      *database, {.job_type = "render_invoice", .payload = R"({"order_id": 7, "cents": 1000})"},
      render_invoice);
  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  EXPECT_EQ(ran->status, "completed") << ran->json;
  EXPECT_EQ(ran->result, R"({"cents":1200})");
  EXPECT_EQ(query("select cents from invoice where order_id = 7"), "1200");
}

TEST_F(InvoiceHandler, RefusesAnOrderWithoutAmountForGood) {
  const auto ran = run_one(
      *database, {.job_type = "render_invoice", .payload = R"({"order_id": 8})"}, render_invoice);
  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  EXPECT_EQ(ran->status, "failed") << ran->json;
  EXPECT_NE(ran->error.find("bad_payload"), std::string::npos) << ran->error;
  EXPECT_EQ(query("select count(*) from invoice where order_id = 8"), "0");
}

}  // namespace
