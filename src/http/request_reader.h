// RequestReader: bytes of a connection in, the head of one request and its body out.
//
// Beast reads the grammar: request line, header lines, chunks. In front of it and behind it stand
// stricter rules, because a proxy in front of us may read a sloppy message differently and let one
// request pass as two: lines end with CRLF and nothing else, no folded lines, one Host, one
// Content-Length that is a plain number, no Content-Length beside Transfer-Encoding, "chunked"
// alone, no Transfer-Encoding in HTTP/1.0, an absolute target that names the same host. Every
// refusal says which status to answer. Pure: no I/O. Head views point into the caller's buffer.
#pragma once

#include "http/server_request.h"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace millrace::http {

struct HeadLimits {
  std::size_t request_line_max_bytes = 8 * 1024;  // 414
  std::size_t header_max_bytes = 16 * 1024;       // 431: the whole head.
  std::size_t header_max_count = 100;             // 431
};

// The answer to a request that cannot be served.
struct Refusal {
  int status = 400;
  std::string_view detail;  // A literal: nothing that the client sent.
};

struct RequestHead {
  std::string_view method;
  std::string_view path;  // "*" for OPTIONS *.
  std::string_view query;
  std::string_view host;
  int minor = 1;  // HTTP/1.x
  bool keep_alive = true;
  bool expect_continue = false;
  bool chunked = false;
  std::optional<std::uint64_t> content_length;
  std::vector<HeaderView> headers;
  std::size_t size_bytes = 0;  // Of the whole head in the buffer.

  bool has_body() const { return chunked || content_length.value_or(0) > 0; }
  // The buffer has been moved: all views follow.
  void rebase(const char* from, const char* to);
};

class RequestReader {
 public:
  explicit RequestReader(HeadLimits limits = {});
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  // Ready for the next request.
  void reset();

  // `buffered` is all that has come since the request began; call again with more of it. True when
  // the head is complete.
  std::expected<bool, Refusal> read_head(std::string_view buffered);
  RequestHead& head() { return head_; }

  struct Decoded {
    std::size_t taken = 0;  // Of the input; offer the rest again, with more behind it.
    std::size_t made = 0;   // Bytes of the body.
    bool finished = false;
  };
  // Chunked bodies only. 413 when the chunks announce more than the limit.
  void limit_body(std::uint64_t max_bytes);
  std::expected<Decoded, Refusal> decode(std::string_view input, std::span<char> into);

 private:
  class Parser;
  std::optional<Refusal> scan_lines(std::string_view text);
  std::optional<Refusal> parse(std::string_view text);

  HeadLimits limits_;
  std::size_t begin_ = 0;       // Behind empty lines that some clients send first.
  std::size_t line_begin_ = 0;  // Of the first line that is not complete yet.
  std::size_t lines_ = 0;
  bool complete_ = false;
  RequestHead head_;
  std::unique_ptr<Parser> parser_;
};

}  // namespace millrace::http
