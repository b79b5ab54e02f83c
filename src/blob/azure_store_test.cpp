// What is Azure's own: blocks, and answers that are not what they seem. Everything that all stores
// promise is tried in tests/blob against Azurite.
#include "blob/azure_store.h"

#include "blob/store_world.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace millrace::blob {
namespace {

using namespace std::chrono_literals;
using http::answer;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

class AzureBlobs : public StoreWorld {
 protected:
  void serve(std::vector<http::Step> steps) {
    script(std::move(steps));
    auto made = AzureStore::make({.account = "acme",
                                  .key = Secret<std::string>("dG9wc2VjcmV0"),
                                  .container = "docs",
                                  .prefix = "p",
                                  .endpoint = server_->url("/acme"),
                                  .block_bytes = 1 << 20,
                                  .limits = limits()},
                                 services());
    ASSERT_TRUE(made.has_value()) << made.error().message;
    store_ = *std::move(made);
  }

  static http::Step error(int status, const std::string& code) {
    return answer(status,
                  "<Error><Code>Other</Code><Message>topsecret dG9wc2VjcmV0</Message></Error>",
                  fmt::format("x-ms-error-code: {}\r\n", code));
  }
  static http::Step head(std::size_t size) {
    return {.reply = fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n"
                                 "Last-Modified: Tue, 01 Jan 2030 00:00:00 GMT\r\n\r\n",
                                 size)};
  }

  const std::string large_ = std::string(1 << 20, 'a') + "tail";
  const std::string path_ = "/acme/docs/p/" + BlobKey{sha256(large_)}.text();
};

TEST_F(AzureBlobs, SmallContentIsOnePutUnderItsNameWithItsMd5) {
  serve({answer(201, "")});
  ASSERT_TRUE(put("abc", {.content_type = "text/plain"}).has_value());
  EXPECT_EQ(line(0),
            "PUT /acme/docs/p/sha256/ba/"
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_THAT(request(0), AllOf(HasSubstr("x-ms-blob-type: BlockBlob\r\n"),
                                HasSubstr("Content-MD5: kAFQmDzST7DWlj99KOF/cg==\r\n"),
                                HasSubstr("Authorization: SharedKey acme:"),
                                EndsWith("\r\n\r\nabc"), Not(HasSubstr("dG9wc2VjcmV0"))));
}

TEST_F(AzureBlobs, LargeContentIsBlocksOfTheFinalNameAndThenTheirList) {
  serve({answer(201, ""), answer(201, ""), answer(201, ""), head(large_.size())});
  ASSERT_TRUE(put(large_, {.content_type = "text/plain"}).has_value());
  const auto first = to_base64(std::string_view("00000000-0000000001048576"));
  const auto second = to_base64(std::string_view("00000001-0000000001048576"));
  EXPECT_EQ(line(0), fmt::format("PUT {}?comp=block&blockid={}", path_, percent_encode(first)));
  EXPECT_EQ(body(0), large_.substr(0, 1 << 20));
  EXPECT_EQ(line(1), fmt::format("PUT {}?comp=block&blockid={}", path_, percent_encode(second)));
  EXPECT_EQ(body(1), "tail");
  EXPECT_EQ(line(2), fmt::format("PUT {}?comp=blocklist", path_));
  EXPECT_THAT(body(2),
              EndsWith(fmt::format("<BlockList><Latest>{}</Latest><Latest>{}</Latest></BlockList>",
                                   first, second)));
  EXPECT_THAT(request(2), HasSubstr("x-ms-blob-content-type: text/plain\r\n"));
  EXPECT_EQ(line(3), "HEAD " + path_);
}

TEST_F(AzureBlobs, AnotherWriterOfTheSameContentWasQuicker) {
  serve({answer(201, ""), answer(201, ""), error(400, "InvalidBlockList"), head(large_.size())});
  EXPECT_TRUE(put(large_).has_value());
  serve({answer(201, ""),
         answer(201, ""),
         error(400, "InvalidBlockList"),
         {.reply = "HTTP/1.1 404 Not Found\r\nx-ms-error-code: BlobNotFound\r\n\r\n",
          .close = true}});
  EXPECT_EQ(put(large_).error().kind, ErrorKind::unavailable);
}

TEST_F(AzureBlobs, StoredWithAnotherSizeIsAnError) {
  serve({answer(201, ""), answer(201, ""), answer(201, ""), head(7)});
  EXPECT_EQ(put(large_).error().kind, ErrorKind::internal);
}

TEST_F(AzureBlobs, RefusalsAreSortedByWhatToDo) {
  const std::pair<http::Step, ErrorKind> cases[] = {
      {error(404, "BlobNotFound"), ErrorKind::not_found},
      {error(404, "ContainerNotFound"), ErrorKind::internal},
      {error(503, "ServerBusy"), ErrorKind::throttled},
      {error(500, "OperationTimedOut"), ErrorKind::unavailable},
      {error(400, "Md5Mismatch"), ErrorKind::unavailable},
      {error(413, "RequestBodyTooLarge"), ErrorKind::invalid_argument},
      {error(403, "AuthenticationFailed"), ErrorKind::internal},
      {answer(502, "<html>bad gateway</html>"), ErrorKind::unavailable},
  };
  for (const auto& [step, kind] : cases) {
    serve({step});
    const auto stored = put("abc");
    ASSERT_FALSE(stored.has_value());
    EXPECT_EQ(stored.error().kind, kind) << stored.error().message;
    EXPECT_THAT(stored.error().describe(),
                AllOf(Not(HasSubstr("topsecret")), Not(HasSubstr("dG9wc2VjcmV0"))));
  }
}

TEST_F(AzureBlobs, ConditionalRemovalIsOneRequest) {
  serve({error(412, "ConditionNotMet"), answer(202, ""), error(404, "BlobNotFound")});
  const BlobKey key{sha256("abc")};
  const auto before = clock_.wall();
  EXPECT_FALSE(run(store_->remove(key, {.if_modified_before = before})).value());
  EXPECT_THAT(request(0), HasSubstr("If-Unmodified-Since: Mon, 31 Dec 2029 23:59:59 GMT\r\n"));
  EXPECT_TRUE(run(store_->remove(key, {.if_modified_before = before})).value());
  EXPECT_TRUE(run(store_->remove(key, {})).value());
  EXPECT_THAT(request(2), Not(HasSubstr("If-Unmodified-Since")));
}

TEST_F(AzureBlobs, SignedUrlOfTheRealServiceAllowsReadingByHttpsOnly) {
  const auto made = AzureStore::make({.account = "acme",
                                      .key = Secret<std::string>("dG9wc2VjcmV0"),
                                      .container = "docs",
                                      .limits = limits()},
                                     services());
  ASSERT_TRUE(made.has_value());
  const BlobKey key{sha256("abc")};
  const auto url = run((*made)->signed_url(key, {.ttl = 300s, .content_type = "application/pdf"}));
  EXPECT_THAT(
      url->value().url.reveal(),
      AllOf(StartsWith("https://acme.blob.core.windows.net/docs/" + key.text() +
                       "?sv=2021-12-02&sp=r"),
            HasSubstr("&st=2029-12-31T23%3A55%3A00Z&se=2030-01-01T00%3A05%3A00Z&sr=b&spr=https"),
            HasSubstr("&rsct=application%2Fpdf&sig="), Not(HasSubstr("dG9wc2VjcmV0"))));
  EXPECT_EQ(url->value().expires_at, clock_.wall() + 300s);
}

TEST_F(AzureBlobs, OptionsThatCannotWorkAreRefusedByName) {
  const auto refused = [this](auto change) {
    AzureOptions options{.account = "acme",
                         .key = Secret<std::string>("dG9wc2VjcmV0"),
                         .container = "docs",
                         .limits = limits()};
    change(options);
    const auto made = AzureStore::make(std::move(options), services());
    return made ? std::string("accepted") : made.error().message;
  };
  EXPECT_THAT(refused([](AzureOptions& o) { o.account = "a/b"; }), StartsWith("account must be"));
  EXPECT_THAT(refused([](AzureOptions& o) { o.container = "A"; }), StartsWith("container must be"));
  EXPECT_THAT(refused([](AzureOptions& o) { o.key = Secret<std::string>("not base64"); }),
              AllOf(StartsWith("key must be"), Not(HasSubstr("not base64"))));
  EXPECT_THAT(refused([](AzureOptions& o) { o.endpoint = "x"; }), StartsWith("endpoint must"));
  EXPECT_THAT(refused([](AzureOptions& o) { o.block_bytes = 1; }),
              StartsWith("block_bytes must be"));
}

}  // namespace
}  // namespace millrace::blob
