// make_handler: the `run` line of a handler in millrace.toml, as a handler.
//
//   exec:./thumbnail.py --size 200     http://localhost:8080/solve     noop     sleep
#pragma once

#include "base/result.h"
#include "http/client.h"
#include "worker/handlers/exec_handler.h"
#include "worker/handlers/http_handler.h"

#include <memory>
#include <string_view>

namespace millrace::worker {

struct HandlerSettings {
  ExecOptions exec;                  // Of exec: all but argv.
  HttpOptions http;                  // Of http and https: all but url.
  bool allow_test_outcomes = false;  // Of sleep.
};

// `client` outlives the handler. invalid_argument says what is wrong with `run`.
Result<std::unique_ptr<Handler>> make_handler(std::string_view run, HandlerSettings settings,
                                              http::Client& client);

// Words separated by blanks; '...' and "..." keep blanks, \ keeps the next character. No variables,
// no globs: nothing here is a shell.
Result<std::vector<std::string>> split_words(std::string_view text);

}  // namespace millrace::worker
