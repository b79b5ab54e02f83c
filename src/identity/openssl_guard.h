// What every use of OpenSSL's keys in this folder needs: owners, and a clean error queue.
//
// OpenSSL keeps errors per thread until somebody asks. TLS on the same thread would take ours for
// its own, so each function that may fail holds an ErrorQueueGuard. For source files only.
#pragma once

#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include <memory>

namespace millrace::identity {

class ErrorQueueGuard {
 public:
  ErrorQueueGuard() { ERR_set_mark(); }
  ~ErrorQueueGuard() { ERR_pop_to_mark(); }
  ErrorQueueGuard(const ErrorQueueGuard&) = delete;
  ErrorQueueGuard& operator=(const ErrorQueueGuard&) = delete;
};

template <auto Free>
struct FreeWith {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};

using PkeyPtr = std::unique_ptr<EVP_PKEY, FreeWith<&EVP_PKEY_free>>;
using PkeyContextPtr = std::unique_ptr<EVP_PKEY_CTX, FreeWith<&EVP_PKEY_CTX_free>>;
using DigestContextPtr = std::unique_ptr<EVP_MD_CTX, FreeWith<&EVP_MD_CTX_free>>;
using BignumPtr = std::unique_ptr<BIGNUM, FreeWith<&BN_free>>;

}  // namespace millrace::identity
