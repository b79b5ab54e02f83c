// Transfer: one request on its way, as one easy handle of libcurl.
//
// Flow: make() checks the request and sets the handle up; Client adds it to the multi handle, whose
// work calls back into the Transfer with headers and body; finish() records how it ended; result()
// turns that into a Response or an Error. Whenever the owner may have something to do (it ended,
// the headers are there, a piece of the body came, or one of the request's body is wanted) wake()
// is set. A body that comes or goes in pieces is never held whole: libcurl is paused until the
// owner has taken, or supplied, the next piece. Threading: the client's strand, except wake, which
// anyone may set. Lifetime: must be out of the multi handle before it is destroyed.
#pragma once

#include "base/event.h"
#include "base/result.h"
#include "http/client.h"

#include <curl/curl.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace millrace::http {

class Transfer {
 public:
  enum class Delivery { whole, streamed };  // Of the answer's body.

  static Result<std::unique_ptr<Transfer>> make(Request request, const ClientOptions& options,
                                                Delivery delivery);

  static Transfer& of(CURL* easy);
  CURL* easy() const { return easy_.get(); }

  void finish(CURLcode code);
  bool finished() const { return code_.has_value(); }
  Event wake() const { return wake_; }

  // At least one byte of the request has been handed to the network.
  bool sent() const;
  const std::string& origin() const { return origin_; }
  const Request& request() const { return request_; }

  // The request's body, when it has a source.
  bool wants_body() const { return body_wanted_; }
  void supply(std::span<const std::byte> bytes);  // At least one, and not more than is left.
  std::uint64_t body_left() const { return body_left_; }  // To be supplied.

  // The answer in pieces (Delivery::streamed).
  bool head_complete() const { return headers_complete_ && response_.status >= 200; }
  const Response& head() const { return response_; }
  bool has_piece() const { return incoming_taken_ < incoming_.size(); }
  std::size_t take(std::span<std::byte> buffer);  // 0: nothing there at the moment.

  Result<Response> result();  // After finish().

 private:
  Transfer(Request request, std::string origin, Delivery delivery);

  bool set_up(const ClientOptions& options);
  bool set_headers();
  bool set_method();
  bool set_body();
  template <class Value>
  bool set(CURLoption option, Value value);

  void take_header_line(std::string_view line);
  std::size_t keep_whole(std::string_view bytes);
  std::size_t keep_piece(std::string_view bytes);
  void go_on();
  std::string describe(CURLcode code) const;

  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_body_wanted(char* data, std::size_t size, std::size_t count, void* self);
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
  Delivery delivery_;
  Response response_;
  std::string
      outgoing_;  // Of the request's body: supplied, and from outgoing_sent_ on not yet sent.
  std::size_t outgoing_sent_ = 0;
  std::uint64_t body_left_ = 0;
  bool body_wanted_ = false;  // libcurl is paused until supply().
  std::string incoming_;  // Of the answer's body: come, and from incoming_taken_ on not yet taken.
  std::size_t incoming_taken_ = 0;
  bool incoming_paused_ = false;  // libcurl holds the next piece until take().
  std::size_t header_bytes_ = 0;
  bool headers_complete_ = false;  // The empty line after them has come.
  bool header_overflow_ = false;
  bool resend_refused_ = false;
  std::array<char, CURL_ERROR_SIZE> error_text_{};
  std::optional<CURLcode> code_;
  Event wake_;
  std::unique_ptr<curl_slist, FreeList> header_list_;
  std::unique_ptr<CURL, FreeEasy> easy_;  // Last: it refers to everything above.
};

}  // namespace millrace::http
