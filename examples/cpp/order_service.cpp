// A producer: the order and the job that renders its invoice are written in one transaction. If it
// rolls back, neither exists; if it commits, both do.
#include <libpq-fe.h>
#include <millrace/producer.h>

#include <cstdio>
#include <cstdlib>

namespace {

bool run(PGconn* connection, const char* sql) {
  PGresult* result = PQexec(connection, sql);
  const bool ok =
      PQresultStatus(result) == PGRES_COMMAND_OK || PQresultStatus(result) == PGRES_TUPLES_OK;
  if (!ok) std::fprintf(stderr, "%s", PQresultErrorMessage(result));
  PQclear(result);
  return ok;
}

}  // namespace

int main() {
  const char* url = std::getenv("DATABASE_URL");
  if (url == nullptr) {
    std::fputs("set DATABASE_URL\n", stderr);
    return 2;
  }
  PGconn* connection = PQconnectdb(url);
  bool ok = PQstatus(connection) == CONNECTION_OK &&
            run(connection,
                "create table if not exists customer_order (id bigint primary key, cents bigint "
                "not null)") &&
            run(connection,
                "create table if not exists invoice (order_id bigint primary key, cents bigint not "
                "null)") &&
            run(connection, "begin") &&
            run(connection, "insert into customer_order values (42, 1999)");
  if (ok) {
    const auto job =
        millrace::client::enqueue(connection, {.job_type = "render_invoice",
                                               .payload = R"({"order_id": 42, "cents": 1999})",
                                               .dedupe_key = "order-42"});
    ok = job.has_value() && run(connection, "commit");
    if (job) {
      std::printf("order 42 stored, invoice job %s\n", job->job_id.c_str());
    } else {
      std::fprintf(stderr, "%s\n", job.error().message.c_str());
    }
  }
  if (!ok) std::fprintf(stderr, "nothing was stored\n");
  PQfinish(connection);
  return ok ? 0 : 1;
}
