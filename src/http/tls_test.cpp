#include "http/tls.h"

#include "base/event.h"
#include "base/file.h"
#include "http/client.h"
#include "http/tls_fixture.h"

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

namespace millrace::http {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

std::vector<Route> routes() {
  return {
      {"GET", "/hello", says([](auto& r) { return r.secure ? "hello over tls" : "hello"; })},
      {"POST", "/echo", echo, {.body_max_bytes = 16 << 20}},
      {"GET",
       "/events",
       [](ServerRequest&, ResponseWriter& response) -> Task<void> {
         MR_CO_TRY(auto stream, co_await response.start_events());
         for (int i = 0; i < 100; ++i) {
           MR_CO_TRY_VOID(co_await stream.send(*SseFrame::make({.data = std::string(5000, 'e')})));
         }
         co_return ok();
       },
       {.long_lived = true}}};
}

class Tls : public testing::Test {
 protected:
  TestCertificate certificate_;
  TestServer server_{routes(), {.tls = certificate_.files()}, 2};
};

TEST_F(Tls, ServesAClientThatTrustsTheCertificate) {
  boost::asio::io_context io(1);
  Client client(io.get_executor(), {.ca_file = certificate_.files().certificate});
  const auto url = "https://" + server_.address().to_string();
  const auto hello = run_blocking(io, client.send({.url = url + "/hello"}));
  ASSERT_TRUE(hello.has_value()) << hello.error().message;
  EXPECT_EQ(hello->body, "hello over tls");
  std::string body;
  for (int i = 0; body.size() < 5 << 20; ++i) body += std::to_string(i);
  const auto echoed = run_blocking(
      io,
      client.send(
          {.method = "POST", .url = url + "/echo", .body = body, .response_max_bytes = 16 << 20}));
  ASSERT_TRUE(echoed.has_value()) << echoed.error().message;
  EXPECT_TRUE(echoed->body == body);
}

TEST_F(Tls, SpeaksVersions12And13AndNoOlder) {
  TlsClient modern(server_.address());
  EXPECT_EQ(modern.version(), "TLSv1.3");
  TlsClient older(server_.address(), TLS1_2_VERSION);
  ASSERT_TRUE(older.connected());
  EXPECT_EQ(older.version(), "TLSv1.2");
  older.send(get("/hello"));
  EXPECT_THAT(older.read_until("hello over tls"), HasSubstr("200 OK"));
  EXPECT_FALSE(TlsClient(server_.address(), TLS1_1_VERSION).connected());
}

TEST_F(Tls, AgreesOnHttp11) {
  EXPECT_EQ(TlsClient(server_.address(), TLS1_3_VERSION, "\x02h2\x08http/1.1").protocol(),
            "http/1.1");
  EXPECT_FALSE(TlsClient(server_.address(), TLS1_3_VERSION, "\x02h2").connected());
}

TEST_F(Tls, KeepsConnectionsAndPipelines) {
  TlsClient client(server_.address());
  for (int i = 0; i < 20; ++i) {
    client.send(get("/hello") + get("/hello"));
    std::string text;
    while (text.size() < 10 || text.find("tls", text.find("tls") + 1) == text.npos) {
      const auto more = client.read_until("hello over tls");
      ASSERT_FALSE(more.empty());
      text += more;
    }
  }
}

// One on each thread and more: none of them may spin until the rest of the record comes.
TEST_F(Tls, ARecordThatIsNotWholeIsWaitedFor) {
  std::vector<std::unique_ptr<TlsClient>> stopped;
  for (int i = 0; i < 6; ++i) {
    auto& client = *stopped.emplace_back(std::make_unique<TlsClient>(server_.address()));
    client.send(get("/hello"));
    ASSERT_THAT(client.read_until("hello over tls"), HasSubstr("200 OK"));
    client.raw().send("\x17\x03\x03");
  }
  for (int i = 0; i < 4; ++i) {
    TlsClient other(server_.address());
    other.send(get("/hello"));
    EXPECT_THAT(other.read_until("hello over tls"), HasSubstr("200 OK"));
  }
}

// An answer without a length ends with the connection: only this tells a whole one from a part.
TEST_F(Tls, AConnectionThatEndsSaysSo) {
  TlsClient client(server_.address());
  client.send("GET /hello HTTP/1.0\r\n\r\n");
  EXPECT_THAT(client.read_until("there is no such end"), HasSubstr("hello over tls"));
  EXPECT_TRUE(client.told_end());
}

TEST_F(Tls, StreamsEvents) {
  TlsClient client(server_.address());
  client.send(get("/events"));
  const auto text = client.read_until("0\r\n\r\n");
  std::size_t count = 0;
  for (auto at = text.find("data: "); at != text.npos; at = text.find("data: ", at + 1)) ++count;
  EXPECT_EQ(count, 100U);
}

TEST_F(Tls, AReloadedCertificateIsForNewConnections) {
  TlsClient before(server_.address());
  EXPECT_EQ(before.server_name(), "first");
  certificate_.write("second");
  ASSERT_TRUE(server_.server().reload_tls().has_value());
  TlsClient after(server_.address());
  EXPECT_EQ(after.server_name(), "second");
  before.send(get("/hello"));
  EXPECT_THAT(before.read_until("hello over tls"), HasSubstr("200 OK")) << "nobody was dropped";
}

TEST_F(Tls, ABadReloadChangesNothing) {
  certificate_.write("second", true, false);  // A key that belongs to no certificate here.
  const auto reloaded = server_.server().reload_tls();
  ASSERT_FALSE(reloaded.has_value());
  EXPECT_THAT(reloaded.error().message, HasSubstr("does not belong to the certificate"));
  std::filesystem::remove(certificate_.files().certificate);
  EXPECT_FALSE(server_.server().reload_tls().has_value());
  TlsClient client(server_.address());
  EXPECT_EQ(client.server_name(), "first");
}

TEST_F(Tls, PlainTextIsNotAnswered) {
  auto client = server_.connect();
  client.send(get("/hello"));
  EXPECT_THAT(client.read_until_closed(), Not(HasSubstr("hello")));
  TlsClient good(server_.address());
  EXPECT_TRUE(good.connected());
}

TEST_F(Tls, AClientThatGoesAwayInTheMiddleHarmsNobody) {
  for (int i = 0; i < 20; ++i) {
    TlsClient client(server_.address());
    client.send(get("/events"));
    client.raw().close_with_reset();
  }
  TlsClient good(server_.address());
  good.send(get("/hello"));
  EXPECT_THAT(good.read_until("hello over tls"), HasSubstr("200 OK"));
}

TEST(TlsTimes, AHandshakeThatDoesNotEndIsCut) {
  ManualClock clock;
  TestCertificate certificate;
  TestServer server(routes(), {.tls = certificate.files(), .limits = {.header_time_max = 5s}}, 1,
                    &clock);
  auto client = server.connect();
  client.send("\x16\x03\x01");
  EXPECT_GE(advance_until(clock, 100ms, [&](auto wait) { return client.readable(wait); }), 5s);
  EXPECT_TRUE(client.closed_without_answer());
}

// A byte now and then is no request: the time for its head goes on.
TEST(TlsTimes, ARecordThatNeverEndsIsCut) {
  ManualClock clock;
  TestCertificate certificate;
  TestServer server(routes(), {.tls = certificate.files(), .limits = {.header_time_max = 5s}}, 1,
                    &clock);
  TlsClient client(server.address());
  ASSERT_TRUE(client.connected());
  client.raw().send(std::string_view("\x17\x03\x03\x40\x00", 5));
  const auto moved = advance_until(clock, 100ms, [&](auto wait) {
    client.raw().send("x");
    return server.has_logged(1, wait) || server.server().connections() == 0;
  });
  EXPECT_GE(moved, 5s);
}

TEST(TlsCertificateFiles, ErrorsNameTheFileAndNothingInIt) {
  TestCertificate certificate;
  const auto files = certificate.files();
  EXPECT_TRUE(TlsCertificate::load(files).has_value());
  const auto error = [&](const TlsFiles& broken) {
    const auto loaded = TlsCertificate::load(broken);
    return loaded ? "loaded" : loaded.error().message;
  };
  const auto missing = certificate.folder() / "missing.pem";
  EXPECT_THAT(error({missing, files.key}), HasSubstr("missing.pem"));
  EXPECT_THAT(error({files.certificate, missing}), HasSubstr("missing.pem"));
  EXPECT_THAT(error({files.key, files.key}), HasSubstr("no certificate"));
  EXPECT_THAT(error({files.certificate, files.certificate}), HasSubstr("no private key"));
  const auto garbage = certificate.folder() / "garbage.pem";
  ASSERT_TRUE(write_file_atomically(garbage, "PRIVATE WORDS").has_value());
  EXPECT_THAT(error({files.certificate, garbage}), Not(HasSubstr("PRIVATE WORDS")));
}

TEST(TlsCertificateFiles, AKeyWithAPassPhraseIsRefusedWithoutAsking) {
  TestCertificate certificate;
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  std::FILE* file = std::fopen(certificate.files().key.c_str(), "w");
  std::string phrase = "phrase";
  PEM_write_PrivateKey(file, key.get(), EVP_aes_256_cbc(), nullptr, 0, nullptr, phrase.data());
  std::fclose(file);
  const auto loaded = TlsCertificate::load(certificate.files());
  ASSERT_FALSE(loaded.has_value());
  EXPECT_THAT(loaded.error().message, HasSubstr("without a pass phrase"));
}

TEST(TlsCertificateFiles, KnowWhenTheyExpire) {
  TestCertificate certificate;
  const auto loaded = TlsCertificate::load(certificate.files());
  ASSERT_TRUE(loaded.has_value());
  const auto left = (*loaded)->expires_at() - SystemClock().wall();
  EXPECT_GT(left, 50min);
  EXPECT_LE(left, 60min);
}

}  // namespace
}  // namespace millrace::http
