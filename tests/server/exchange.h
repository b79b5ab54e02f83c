// Ask and Answered: one request to the server under test, and what came back.
#pragma once

#include "base/json.h"
#include "http/message.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::test {

struct Ask {
  std::string method = "GET";
  std::string path;
  std::string token = {};  // Sent as bearer; empty: nobody.
  std::optional<std::string> body = {};
  std::vector<http::Header> headers = {};
  std::string content_type = "application/json";  // Of the body.
  // Nonsense, which the server may refuse before it knows which operation is meant.
  bool bent = false;
};

struct Answered {
  int status = 0;
  std::vector<http::Header> headers = {};
  std::string body = {};
  bool streams = false;    // An event stream, of which the body is the beginning.
  bool head_only = false;  // To a HEAD: the headers of a body that is not there.

  std::string header(std::string_view name) const;
  json::Value json() const;  // Throws when the body is none.
};

}  // namespace millrace::test
