// TestCertificate and TlsClient: certificates made for a test, and a client that sends exact bytes
// over TLS. For tests only.
#pragma once

#include "http/server_fixture.h"
#include "http/tls.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace millrace::http {

// A folder with cert.pem and key.pem, self-signed for 127.0.0.1.
class TestCertificate {
 public:
  explicit TestCertificate(const std::string& name = "first") {
    std::string pattern = (std::filesystem::temp_directory_path() / "millrace_tls_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    write(name);
  }
  ~TestCertificate() { std::filesystem::remove_all(folder_); }
  TestCertificate(const TestCertificate&) = delete;
  TestCertificate& operator=(const TestCertificate&) = delete;

  TlsFiles files() const {
    return {.certificate = folder_ / "cert.pem", .key = folder_ / "key.pem"};
  }
  std::filesystem::path folder() const { return folder_; }

  // A new key and certificate in the same files, or only one of them.
  void write(const std::string& name, bool with_key = true, bool with_certificate = true) {
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"),
                                                                  EVP_PKEY_free);
    const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), X509_free);
    X509_set_version(certificate.get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
    X509_NAME* subject = X509_get_subject_name(certificate.get());
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    X509_set_issuer_name(certificate.get(), subject);
    X509_set_pubkey(certificate.get(), key.get());
    for (const auto& [nid, value] : {std::pair<int, const char*>(NID_basic_constraints, "CA:TRUE"),
                                     {NID_subject_alt_name, "IP:127.0.0.1"}}) {
      X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value);
      X509_add_ext(certificate.get(), extension, -1);
      X509_EXTENSION_free(extension);
    }
    X509_sign(certificate.get(), key.get(), EVP_sha256());
    if (with_certificate) {
      std::FILE* file = std::fopen(files().certificate.c_str(), "w");
      PEM_write_X509(file, certificate.get());
      std::fclose(file);
    }
    if (with_key) {
      std::FILE* file = std::fopen(files().key.c_str(), "w");
      PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
      std::fclose(file);
    }
  }

 private:
  std::filesystem::path folder_;
};

// Blocking. Accepts any certificate and says whose it got.
class TlsClient {
 public:
  explicit TlsClient(const ListenAddress& address, int newest = TLS1_3_VERSION,
                     std::string_view protocols = {})
      : raw_(address),
        context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free),
        session_(nullptr, SSL_free) {
    SSL_CTX_set_max_proto_version(context_.get(), newest);
    SSL_CTX_set_security_level(context_.get(), 0);
    SSL_CTX_set_min_proto_version(context_.get(), TLS1_VERSION);
    session_.reset(SSL_new(context_.get()));
    if (!protocols.empty()) {
      SSL_set_alpn_protos(session_.get(), reinterpret_cast<const unsigned char*>(protocols.data()),
                          static_cast<unsigned>(protocols.size()));
    }
    SSL_set_fd(session_.get(), raw_.fd());
    connected_ = SSL_connect(session_.get()) == 1;
  }

  bool connected() const { return connected_; }
  std::string version() const { return SSL_get_version(session_.get()); }
  std::string server_name() const {
    const std::unique_ptr<X509, decltype(&X509_free)> certificate(
        SSL_get1_peer_certificate(session_.get()), X509_free);
    char name[64] = {};
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate.get()), NID_commonName, name,
                              sizeof name);
    return name;
  }
  std::string protocol() const {
    const unsigned char* data = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(session_.get(), &data, &size);
    return {reinterpret_cast<const char*>(data), size};
  }

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const int sent = SSL_write(session_.get(), bytes.data(), static_cast<int>(bytes.size()));
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  std::string read_until(std::string_view end) {
    std::string text;
    char bytes[16 * 1024];
    while (!text.ends_with(end)) {
      const int got = SSL_read(session_.get(), bytes, sizeof bytes);
      if (got <= 0) break;
      text.append(bytes, static_cast<std::size_t>(got));
    }
    return text;
  }
  // The server has said that this is the end, and nobody cut it off.
  bool told_end() const { return (SSL_get_shutdown(session_.get()) & SSL_RECEIVED_SHUTDOWN) != 0; }
  RawClient& raw() { return raw_; }

 private:
  RawClient raw_;
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  std::unique_ptr<SSL, decltype(&SSL_free)> session_;
  bool connected_ = false;
};

}  // namespace millrace::http
