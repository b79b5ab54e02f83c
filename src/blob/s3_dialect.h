// S3Dialect: signs Calls by Signature Version 4 and reads S3's refusals.
#pragma once

#include "blob/remote.h"
#include "blob/sigv4.h"

#include <string>

namespace millrace::blob {

class S3Dialect final : public Dialect {
 public:
  // `endpoint` already names the bucket, in its host or in its path.
  S3Dialect(Endpoint endpoint, AwsCredentials credentials, AwsScope scope)
      : endpoint_(std::move(endpoint)),
        credentials_(std::move(credentials)),
        scope_(std::move(scope)) {}

  Result<http::Request> sign(const Call& call, Clock::Wall now) const override;
  Error refusal(const http::Response& answer) const override;
  bool is_refusal(const http::Response& answer) const override;

  // A URL for a GET of `path`; `endpoint` may be another way to the same bucket.
  std::string presigned(const Endpoint& endpoint, const std::string& path, Query query,
                        Clock::Wall now, std::chrono::seconds ttl) const;

 private:
  Endpoint endpoint_;
  AwsCredentials credentials_;
  AwsScope scope_;
};

}  // namespace millrace::blob
