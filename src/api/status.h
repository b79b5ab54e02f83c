// Status: from an Error to an HTTP status, a word for programs and a sentence for people.
//
// The one place where ErrorKind becomes a status. What an Error says goes to the client only when
// our own SQL functions or our own checks said it: PostgreSQL's other messages, paths and host
// names stay in the log (T-08).
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace millrace::api {

struct Fault {
  int status = 500;
  std::string_view code;  // "not_found": stable, also the end of the problem's type.
  std::string detail;     // For people; free of SQL, paths and secrets.
};

Fault fault_of(const Error& error);

}  // namespace millrace::api
