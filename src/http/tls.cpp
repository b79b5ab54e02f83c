#include "http/tls.h"

#include "base/assert.h"
#include "base/file.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <cstring>
#include <ctime>
#include <string>
#include <string_view>

namespace millrace::http {
namespace {

constexpr std::size_t kFileMaxBytes = 1024 * 1024;

template <auto Free>
struct Freer {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Bio = std::unique_ptr<BIO, Freer<BIO_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freer<X509_free>>;
using Context = std::unique_ptr<SSL_CTX, Freer<SSL_CTX_free>>;

std::unexpected<Error> refuse(const std::filesystem::path& file, std::string_view why) {
  ERR_clear_error();  // Its words may quote the file.
  return fail(ErrorKind::invalid_argument, fmt::format("{}: {}", file.string(), why));
}

// A key with a pass phrase is an error, not a question on somebody's terminal.
int no_pass_phrase(char*, int, int, void*) { return -1; }

// Clients offer a list of protocols; http/1.1 is the only one spoken here.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* chosen_size,
                    const unsigned char* offered, unsigned int offered_size, void*) {
  static constexpr std::string_view kOurs = "\x08http/1.1";
  const auto* ours = reinterpret_cast<const unsigned char*>(kOurs.data());
  unsigned char* found = nullptr;
  const int answer = SSL_select_next_proto(
      &found, chosen_size, ours, static_cast<unsigned int>(kOurs.size()), offered, offered_size);
  if (answer != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_ALERT_FATAL;
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

Result<Bio> open(const std::filesystem::path& file, std::string& text) {
  auto read = read_file(file, kFileMaxBytes);
  if (!read) return fail(ErrorKind::invalid_argument, read.error().message);
  text = *std::move(read);
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// The leaf first, then the chain, in the order of the file.
Result<Certificate> use_chain(SSL_CTX* context, const std::filesystem::path& file) {
  std::string text;
  MR_TRY(const auto bio, open(file, text));
  Certificate leaf(PEM_read_bio_X509_AUX(bio.get(), nullptr, no_pass_phrase, nullptr));
  if (!leaf) return refuse(file, "no certificate in PEM form");
  if (SSL_CTX_use_certificate(context, leaf.get()) != 1) {
    return refuse(file, "the certificate cannot be used");
  }
  for (;;) {
    Certificate next(PEM_read_bio_X509(bio.get(), nullptr, no_pass_phrase, nullptr));
    if (!next) break;
    if (SSL_CTX_add0_chain_cert(context, next.get()) != 1) {
      return refuse(file, "a certificate of the chain cannot be used");
    }
    next.release();  // The context owns it now.
  }
  ERR_clear_error();  // The end of the file is reported as an error.
  return leaf;
}

Result<void> use_key(SSL_CTX* context, const std::filesystem::path& file) {
  std::string text;
  auto bio = open(file, text);
  if (!bio) return fail(std::move(bio).error());
  const Key key(PEM_read_bio_PrivateKey(bio->get(), nullptr, no_pass_phrase, nullptr));
  OPENSSL_cleanse(text.data(), text.size());
  if (!key) return refuse(file, "no private key in PEM form without a pass phrase");
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1 || SSL_CTX_check_private_key(context) != 1) {
    return refuse(file, "the private key does not belong to the certificate");
  }
  return ok();
}

std::chrono::system_clock::time_point time_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return {};
  return std::chrono::system_clock::from_time_t(::timegm(&parts));
}

}  // namespace

struct TlsCertificate::Loaded {
  Context context;
  std::chrono::system_clock::time_point expires_at;
};

TlsCertificate::TlsCertificate(TlsFiles files, std::shared_ptr<const Loaded> loaded)
    : files_(std::move(files)), loaded_(std::move(loaded)) {}

Result<std::shared_ptr<const TlsCertificate::Loaded>> TlsCertificate::read(const TlsFiles& files) {
  auto loaded = std::make_shared<Loaded>();
  loaded->context.reset(SSL_CTX_new(TLS_server_method()));
  SSL_CTX* context = loaded->context.get();
  if (context == nullptr) return fail(ErrorKind::internal, "OpenSSL cannot make a TLS context");
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  // Ciphers of TLS 1.2: forward secrecy and authenticated encryption only.
  SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20");
  // Thousands of open streams: no buffers while nothing moves, and writes may resume from another
  // address.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  MR_TRY(const auto leaf, use_chain(context, files.certificate));
  MR_TRY_VOID(use_key(context, files.key));
  loaded->expires_at = time_of(X509_get0_notAfter(leaf.get()));
  return loaded;
}

Result<std::unique_ptr<TlsCertificate>> TlsCertificate::load(TlsFiles files) {
  MR_TRY(auto loaded, read(files));
  return std::unique_ptr<TlsCertificate>(new TlsCertificate(std::move(files), std::move(loaded)));
}

Result<void> TlsCertificate::reload() {
  MR_TRY(auto fresh, read(files_));
  const std::lock_guard lock(mutex_);
  loaded_ = std::move(fresh);
  return ok();
}

std::shared_ptr<const TlsCertificate::Loaded> TlsCertificate::loaded() const {
  const std::lock_guard lock(mutex_);
  return loaded_;
}

std::chrono::system_clock::time_point TlsCertificate::expires_at() const {
  return loaded()->expires_at;
}

ssl_st* TlsCertificate::new_session() const {
  // The session keeps the context it was made from, whatever reload() does meanwhile.
  SSL* session = SSL_new(loaded()->context.get());
  MR_ASSERT(session != nullptr);
  SSL_set_accept_state(session);
  return session;
}

}  // namespace millrace::http
