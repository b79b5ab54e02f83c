// From PostgreSQL's SQLSTATE to our ErrorKind, for the codes PostgreSQL itself raises. Codes that
// an application registers (class MR and the like) stay `internal` here and are translated by their
// owner.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

struct pg_result;

namespace millrace::pg {

ErrorKind kind_of_sqlstate(std::string_view sqlstate);

// The error a result carries, with message, SQLSTATE, detail, hint and constraint.
Error error_of_result(const pg_result* result);
// FATAL or PANIC: the session is over.
bool ends_session(const pg_result* result);

// libpq's multi-line messages begin with the useful part: the first line, without "ERROR:  " and
// the like.
std::string first_line(std::string_view message);

}  // namespace millrace::pg
