// AzureDialect: signs Calls by Shared Key and reads Azure's refusals.
#pragma once

#include "blob/azure_sign.h"
#include "blob/remote.h"

namespace millrace::blob {

class AzureDialect final : public Dialect {
 public:
  AzureDialect(Endpoint endpoint, AzureAccount account)
      : endpoint_(std::move(endpoint)), account_(std::move(account)) {}

  Result<http::Request> sign(const Call& call, Clock::Wall now) const override;
  Error refusal(const http::Response& answer) const override;

  const AzureAccount& account() const { return account_; }

 private:
  Endpoint endpoint_;
  AzureAccount account_;
};

}  // namespace millrace::blob
