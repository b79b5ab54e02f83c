// Transfer: one request on its way, as one easy handle of libcurl.
//
// Flow: make() checks the request and sets the handle up; Client adds it to the multi handle, whose
// work calls back into the Transfer with headers and body; finish() records how it ended; result()
// turns that into a Response or an Error.
// Threading: the client's strand, except done, which anyone may set. Lifetime: must be out of the
// multi handle before it is destroyed.
#pragma once

#include "base/event.h"
#include "base/result.h"
#include "http/client.h"

#include <curl/curl.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::http {

class Transfer {
 public:
  static Result<std::unique_ptr<Transfer>> make(Request request, const ClientOptions& options);

  static Transfer& of(CURL* easy);
  CURL* easy() const { return easy_.get(); }

  void finish(CURLcode code);
  bool finished() const { return code_.has_value(); }
  Event done() const { return done_; }  // Set by finish(), or by whoever wants it to stop.

  // At least one byte of the request has been handed to the network.
  bool sent() const;
  const std::string& origin() const { return origin_; }

  Result<Response> result();  // After finish().

 private:
  Transfer(Request request, std::string origin);

  bool set_up(const ClientOptions& options);
  bool set_headers();
  bool set_method();
  template <class Value>
  bool set(CURLoption option, Value value);

  void take_header_line(std::string_view line);
  std::string describe(CURLcode code) const;

  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self);
  static int on_request_start(void* self, char* remote_ip, char* local_ip, int remote_port,
                              int local_port);

  struct FreeEasy {
    void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
  };
  struct FreeList {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  };

  Request request_;
  std::string origin_;
  Response response_;
  std::size_t header_bytes_ = 0;
  bool headers_complete_ = false;  // The empty line after them has come.
  bool header_overflow_ = false;
  bool resend_refused_ = false;
  std::array<char, CURL_ERROR_SIZE> error_text_{};
  std::optional<CURLcode> code_;
  Event done_;
  std::unique_ptr<curl_slist, FreeList> header_list_;
  std::unique_ptr<CURL, FreeEasy> easy_;  // Last: it refers to everything above.
};

}  // namespace millrace::http
