#include "store/raw_enqueue.h"

#include "base/fault.h"
#include "store/sqlstate.h"

#include <libpq-fe.h>

#include <memory>
#include <string>

namespace millrace::store {
namespace {

struct Clear {
  void operator()(PGresult* result) const { PQclear(result); }
};

std::string field(const PGresult* result, int code) {
  const char* text = PQresultErrorField(result, code);
  return text != nullptr ? text : "";
}

}  // namespace

Result<std::vector<EnqueueAnswer>> enqueue_on(pg_conn* connection, const json::Array& jobs) {
  const std::string text = to_json(json::Value(jobs));
  const char* values[] = {text.c_str()};
  MR_FAULT("enqueue_on.before");
  const std::unique_ptr<PGresult, Clear> result(PQexecParams(
      connection,
      "select e.job_id::text, e.answer from millrace.enqueue_jobs($1::jsonb) e order by e.ord", 1,
      nullptr, values, nullptr, nullptr, 0));
  MR_FAULT("enqueue_on.after");
  if (PQstatus(connection) != CONNECTION_OK) {
    return fail(ErrorKind::in_doubt, "the connection was lost during enqueue");
  }
  if (PQresultStatus(result.get()) != PGRES_TUPLES_OK) {
    return fail(translate(Error{.kind = ErrorKind::internal,
                                .message = field(result.get(), PG_DIAG_MESSAGE_PRIMARY),
                                .sqlstate = field(result.get(), PG_DIAG_SQLSTATE),
                                .hint = field(result.get(), PG_DIAG_MESSAGE_HINT),
                                .detail = field(result.get(), PG_DIAG_MESSAGE_DETAIL)}));
  }
  std::vector<EnqueueAnswer> answers;
  for (int row = 0; row < PQntuples(result.get()); ++row) {
    MR_TRY(const auto id, JobId::parse(PQgetvalue(result.get(), row, 0)));
    answers.push_back(
        {.id = id, .created = std::string_view(PQgetvalue(result.get(), row, 1)) == "created"});
  }
  return answers;
}

}  // namespace millrace::store
