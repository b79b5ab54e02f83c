// ConnectOptions: how to reach a server. Comes from configuration, goes to Connection and Pool.
#pragma once

#include "base/secret.h"

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace millrace::pg {

struct ConnectOptions {
  Secret<std::string>
      url;  // postgres://... or "host=... dbname=..."; several hosts are tried in order.
  std::string application_name = "millrace";
  std::chrono::milliseconds connect_timeout{10'000};  // For all hosts together.
  std::map<std::string, std::string>
      overrides;  // libpq keywords that win over the url: {"user", "x"}.
  // What the server says besides results (RAISE NOTICE): severity and message. Nothing: dropped.
  std::function<void(std::string_view severity, std::string_view message)> on_notice;
};

inline ConnectOptions connect_options(std::string url) {
  return {.url = Secret<std::string>(std::move(url))};
}

}  // namespace millrace::pg
