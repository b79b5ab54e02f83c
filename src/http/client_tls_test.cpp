// TLS as a whole: a real handshake with a certificate made for the test.
#include "base/run.h"
#include "http/client.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <poll.h>
#include <string>
#include <thread>
#include <unistd.h>

namespace millrace::http {
namespace {

namespace asio = boost::asio;

template <auto Free>
struct Freer {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freer<X509_free>>;
using Context = std::unique_ptr<SSL_CTX, Freer<SSL_CTX_free>>;
using Session = std::unique_ptr<SSL, Freer<SSL_free>>;

// Self-signed, for the given subjectAltName ("IP:127.0.0.1").
Certificate make_certificate(EVP_PKEY* key, const std::string& alt_name) {
  Certificate certificate(X509_new());
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_NAME* name = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("millrace test"), -1, -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  X509_set_pubkey(certificate.get(), key);
  for (const auto& [nid, value] : {std::pair<int, std::string>(NID_basic_constraints, "CA:TRUE"),
                                   {NID_subject_alt_name, alt_name}}) {
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value.c_str());
    X509_add_ext(certificate.get(), extension, -1);
    X509_EXTENSION_free(extension);
  }
  X509_sign(certificate.get(), key, EVP_sha256());
  return certificate;
}

// Serves one connection on a thread of its own; what it read of the request is in request().
class TlsServer {
 public:
  explicit TlsServer(const std::string& alt_name)
      : acceptor_(io_, asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {
    const Key key(EVP_EC_gen("P-256"));
    const auto certificate = make_certificate(key.get(), alt_name);
    context_.reset(SSL_CTX_new(TLS_server_method()));
    SSL_CTX_use_certificate(context_.get(), certificate.get());
    SSL_CTX_use_PrivateKey(context_.get(), key.get());
    std::string name = (std::filesystem::temp_directory_path() / "millrace_ca_XXXXXX").string();
    std::FILE* file = ::fdopen(::mkstemp(name.data()), "w");
    PEM_write_X509(file, certificate.get());
    std::fclose(file);
    ca_file_ = name;
    thread_ = std::jthread([this] { serve(); });
  }
  ~TlsServer() { std::filesystem::remove(ca_file_); }

  std::string url() const {
    return "https://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()) + "/";
  }
  const std::string& ca_file() const { return ca_file_; }
  const std::string& request() {
    thread_.join();
    return request_;
  }

 private:
  void serve() {
    // OpenSSL writes with signals; only this thread may ignore them, the client must not need it.
    sigset_t pipe;
    ::sigemptyset(&pipe);
    ::sigaddset(&pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    pollfd wait{.fd = acceptor_.native_handle(), .events = POLLIN, .revents = 0};
    if (::poll(&wait, 1, 60'000) != 1) return;
    asio::ip::tcp::socket socket(io_);
    acceptor_.accept(socket);
    const Session session(SSL_new(context_.get()));
    SSL_set_fd(session.get(), socket.native_handle());
    if (SSL_accept(session.get()) != 1) return;
    char chunk[1024];
    while (!request_.ends_with("\r\n\r\n")) {
      const int size = SSL_read(session.get(), chunk, sizeof chunk);
      if (size <= 0) return;
      request_.append(chunk, static_cast<std::size_t>(size));
    }
    const std::string reply = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret";
    SSL_write(session.get(), reply.data(), static_cast<int>(reply.size()));
    SSL_shutdown(session.get());
  }

  asio::io_context io_{1};
  asio::ip::tcp::acceptor acceptor_;
  Context context_;
  std::string ca_file_;
  std::string request_;  // Written by the thread, read after it has ended.
  std::jthread thread_;
};

Result<Response> send(const std::string& url, const std::string& ca_file) {
  asio::io_context io(1);
  Client client(io.get_executor(), {.ca_file = ca_file});
  return run_blocking(io, client.send({.url = url}));
}

TEST(HttpClientTls, TalksToAServerWithATrustedCertificate) {
  TlsServer server("IP:127.0.0.1");
  const auto response = send(server.url(), server.ca_file());
  ASSERT_TRUE(response.has_value()) << response.error().message;
  EXPECT_EQ(response->body, "secret");
  EXPECT_THAT(server.request(), testing::StartsWith("GET / HTTP/1.1\r\n"));
}

TEST(HttpClientTls, SendsNothingToAServerNobodyVouchesFor) {
  TlsServer server("IP:127.0.0.1");
  const auto response = send(server.url(), "");
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().kind, ErrorKind::unavailable) << response.error().message;
  EXPECT_THAT(response.error().message, testing::HasSubstr("certificate"));
  EXPECT_EQ(server.request(), "");
}

TEST(HttpClientTls, SendsNothingToAServerWithAnotherName) {
  TlsServer server("DNS:other.test");
  const auto response = send(server.url(), server.ca_file());
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().kind, ErrorKind::unavailable) << response.error().message;
  EXPECT_EQ(server.request(), "");
}

}  // namespace
}  // namespace millrace::http
