// AWS Signature Version 4 for S3: in headers, and in URLs that expire.
//
// Pure functions of their input. S3 encodes a path once and signs it as sent; the digest of the
// body is signed with it, so a server that checks signatures has checked the body too.
#pragma once

#include "base/clock.h"
#include "base/secret.h"
#include "blob/url.h"
#include "http/message.h"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::blob {

struct AwsCredentials {
  std::string access_key_id;
  Secret<std::string> secret_access_key;
  Secret<std::string> session_token;  // Empty unless the credentials are temporary.
};

struct AwsScope {
  std::string region;
  std::string service = "s3";
};

struct AwsRequest {
  std::string method;
  std::string host;                   // As the Host header has it.
  std::string path;                   // Encoded.
  Query query;                        // Not encoded.
  std::vector<http::Header> headers;  // All are signed.
  std::string payload_sha256;         // Hexadecimal, of the body.
};

inline constexpr std::string_view kEmptySha256 =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

// The headers to send besides those of the request: Authorization, x-amz-date,
// x-amz-content-sha256, and x-amz-security-token with temporary credentials.
std::vector<http::Header> aws_sign(const AwsRequest& request, const AwsCredentials& credentials,
                                   const AwsScope& scope, Clock::Wall now);

// The query of a GET that anybody can send until it expires, in the form "a=1&b=2". `request.query`
// (response-content-type …) is part of the signature; only the Host header is.
std::string aws_presign(const AwsRequest& request, const AwsCredentials& credentials,
                        const AwsScope& scope, Clock::Wall now, std::chrono::seconds ttl);

}  // namespace millrace::blob
