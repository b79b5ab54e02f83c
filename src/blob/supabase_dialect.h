// SupabaseDialect: adds the keys to Calls and finds the true status in Supabase Storage's refusals,
// which nearly always come as 400.
#pragma once

#include "base/secret.h"
#include "blob/remote.h"

#include <string>

namespace millrace::blob {

class SupabaseDialect final : public Dialect {
 public:
  // `endpoint` ends in /storage/v1. An empty bearer is not sent.
  SupabaseDialect(Endpoint endpoint, Secret<std::string> api_key, Secret<std::string> bearer)
      : endpoint_(std::move(endpoint)), api_key_(std::move(api_key)), bearer_(std::move(bearer)) {}

  Result<http::Request> sign(const Call& call, Clock::Wall now) const override;
  Error refusal(const http::Response& answer) const override;

 private:
  Endpoint endpoint_;
  Secret<std::string> api_key_;
  Secret<std::string> bearer_;
};

}  // namespace millrace::blob
