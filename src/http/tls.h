// TlsCertificate: a certificate and its key from files, exchanged while the server runs.
//
// Flow: the server loads it at start; reload() reads the files again, and connections accepted from
// then on use the new one, while those that are open keep the old. When the files cannot be used,
// the certificate in use stays. TLS 1.2 and newer; HTTP/1.1 is what ALPN agrees on. Threading: any
// thread; files are read by the caller of load and reload.
#pragma once

#include "base/result.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>

struct ssl_ctx_st;
struct ssl_st;

namespace millrace::http {

struct TlsFiles {
  std::filesystem::path certificate;  // PEM, the server's own first, then the chain.
  std::filesystem::path key;          // PEM, without a pass phrase.
};

class TlsCertificate {
 public:
  // invalid_argument names the file and what is wrong; never what is in it.
  static Result<std::unique_ptr<TlsCertificate>> load(TlsFiles files);

  Result<void> reload();
  std::chrono::system_clock::time_point expires_at() const;

  // A session for one accepted connection; the caller frees it with SSL_free.
  ssl_st* new_session() const;

 private:
  struct Loaded;
  TlsCertificate(TlsFiles files, std::shared_ptr<const Loaded> loaded);
  static Result<std::shared_ptr<const Loaded>> read(const TlsFiles& files);

  std::shared_ptr<const Loaded> loaded() const;

  TlsFiles files_;
  mutable std::mutex mutex_;              // Guards loaded_.
  std::shared_ptr<const Loaded> loaded_;  // Shared with calls under way.
};

}  // namespace millrace::http
