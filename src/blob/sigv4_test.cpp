// The examples of Amazon's "Signature Calculations for the Authorization Header" and
// "Authenticating Requests: Using Query Parameters", which name the results.
#include "blob/sigv4.h"

#include "blob/digest.h"
#include "blob/wire_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace millrace::blob {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

AwsCredentials example_credentials() {
  return {.access_key_id = "AKIAIOSFODNN7EXAMPLE",
          .secret_access_key = Secret<std::string>("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
          .session_token = {}};
}
const AwsScope kScope{.region = "us-east-1"};
Clock::Wall example_time() { return parse_iso_time("2013-05-24T00:00:00Z").value(); }

AwsRequest example_request(std::string method, std::string path) {
  return {.method = std::move(method),
          .host = "examplebucket.s3.amazonaws.com",
          .path = std::move(path),
          .query = {},
          .headers = {},
          .payload_sha256 = std::string(kEmptySha256)};
}

std::string authorization(const AwsRequest& request) {
  return aws_sign(request, example_credentials(), kScope, example_time()).back().second;
}

TEST(BlobSigV4, GetObjectWithARange) {
  auto request = example_request("GET", "/test.txt");
  request.headers = {{"Range", "bytes=0-9"}};
  EXPECT_EQ(authorization(request),
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
            "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
            "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST(BlobSigV4, PutObjectInOnePiece) {
  auto request = example_request("PUT", "/test%24file.text");
  request.headers = {{"Date", "Fri, 24 May 2013 00:00:00 GMT"},
                     {"x-amz-storage-class", "REDUCED_REDUNDANCY"}};
  request.payload_sha256 = sha256("Welcome to Amazon S3.").hex();
  EXPECT_EQ(authorization(request),
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
            "SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class,"
            "Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

TEST(BlobSigV4, QueryWithoutAValue) {
  auto request = example_request("GET", "/");
  request.query = {{"lifecycle", ""}};
  EXPECT_THAT(authorization(request),
              EndsWith("fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"));
}

TEST(BlobSigV4, QueryIsSorted) {
  auto request = example_request("GET", "/");
  request.query = {{"prefix", "J"}, {"max-keys", "2"}};
  EXPECT_THAT(authorization(request),
              EndsWith("34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"));
}

TEST(BlobSigV4, PresignedUrl) {
  const auto query = aws_presign(example_request("GET", "/test.txt"), example_credentials(), kScope,
                                 example_time(), 86'400s);
  EXPECT_EQ(query,
            "X-Amz-Algorithm=AWS4-HMAC-SHA256"
            "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
            "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
            "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
}

TEST(BlobSigV4, EveryPartOfARequestChangesTheSignature) {
  const auto request = example_request("GET", "/test.txt");
  const auto original = authorization(request);
  auto other = request;
  other.method = "PUT";
  EXPECT_NE(authorization(other), original);
  other = request;
  other.host = "other.s3.amazonaws.com";
  EXPECT_NE(authorization(other), original);
  other = request;
  other.path = "/test.txu";
  EXPECT_NE(authorization(other), original);
  other = request;
  other.payload_sha256 = sha256("x").hex();
  EXPECT_NE(authorization(other), original);
  EXPECT_NE(aws_sign(request, example_credentials(), {.region = "eu-west-1"}, example_time())
                .back()
                .second,
            original);
}

// INTEGRATIONS 4.4: temporary credentials are signed with their token, in headers and in URLs.
TEST(BlobSigV4, SessionTokenIsSentAndSigned) {
  auto credentials = example_credentials();
  credentials.session_token = Secret<std::string>("token/with+signs=");
  const auto request = example_request("GET", "/test.txt");
  const auto headers = aws_sign(request, credentials, kScope, example_time());
  EXPECT_THAT(headers,
              testing::Contains(http::Header("x-amz-security-token", "token/with+signs=")));
  EXPECT_THAT(headers.back().second, HasSubstr(";x-amz-security-token,"));
  EXPECT_THAT(aws_presign(request, credentials, kScope, example_time(), 60s),
              HasSubstr("X-Amz-Security-Token=token%2Fwith%2Bsigns%3D&"));
}

TEST(BlobSigV4, ResponseHeadersAreUnderTheSignature) {
  auto plain = example_request("GET", "/test.txt");
  auto named = plain;
  named.query = {{"response-content-disposition", "attachment; filename=\"a b\""}};
  const auto signature = [](const std::string& query) { return query.substr(query.size() - 64); };
  const auto first = aws_presign(plain, example_credentials(), kScope, example_time(), 60s);
  const auto second = aws_presign(named, example_credentials(), kScope, example_time(), 60s);
  EXPECT_THAT(second,
              HasSubstr("response-content-disposition=attachment%3B%20filename%3D%22a%20b%22"));
  EXPECT_NE(signature(first), signature(second));
}

TEST(BlobSigV4, HeaderValuesAreSqueezed) {
  auto request = example_request("GET", "/");
  request.headers = {{"X-Amz-Meta-A", "  a   b "}};
  const auto spaced = authorization(request);
  request.headers = {{"x-amz-meta-a", "a b"}};
  EXPECT_EQ(authorization(request), spaced);
}

TEST(BlobSigV4, NoSecretIsInWhatIsSent) {
  for (const auto& [name, value] :
       aws_sign(example_request("GET", "/"), example_credentials(), kScope, example_time())) {
    EXPECT_THAT(value, Not(HasSubstr("wJalrXUtnFEMI")));
  }
}

}  // namespace
}  // namespace millrace::blob
