#include "http/request_reader.h"

#include "base/assert.h"
#include "http/message.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace millrace::http {
namespace {

namespace bhttp = boost::beast::http;
using boost::beast::error_code;
using boost::beast::string_view;

constexpr std::size_t kChunkExtensionMaxBytes = 256;
constexpr std::size_t kChunkFramingMaxBytes = 8 * 1024;  // A chunk's size line, or all trailers.

std::string_view std_view(string_view text) { return {text.data(), text.size()}; }

bool is_token_char(char c) {
  if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')) return true;
  return std::string_view("!#$%&'*+-.^_`|~").contains(c);
}

bool is_known_method(std::string_view method) {
  constexpr std::array<std::string_view, 7> kMethods = {"GET",   "HEAD",   "POST",   "PUT",
                                                        "PATCH", "DELETE", "OPTIONS"};
  return std::ranges::find(kMethods, method) != kMethods.end();
}

// A name or address with an optional port; no user, no path.
bool is_authority(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           std::string_view("-._~:[]").contains(c);
  });
}

bool has_control(std::string_view text) {
  return std::ranges::any_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7F;
  });
}

Refusal refusal_of(const error_code& error) {
  if (error == bhttp::error::bad_method) return {400, "the request line has no valid method"};
  if (error == bhttp::error::bad_target)
    return {400, "the request target has an invalid character"};
  if (error == bhttp::error::bad_version)
    return {400, "the request line does not end with HTTP/1.x"};
  if (error == bhttp::error::bad_field) return {400, "a header line has no valid name"};
  if (error == bhttp::error::bad_value) return {400, "a header has an invalid value"};
  if (error == bhttp::error::bad_content_length) return {400, "Content-Length is not valid here"};
  if (error == bhttp::error::multiple_content_length) return {400, "Content-Length is given twice"};
  if (error == bhttp::error::bad_transfer_encoding) {
    return {400, "Transfer-Encoding is not valid here"};
  }
  if (error == bhttp::error::body_limit) return {413, "the body is larger than this route allows"};
  if (error == bhttp::error::bad_chunk || error == bhttp::error::bad_chunk_extension) {
    return {400, "a chunk of the body is malformed"};
  }
  return {400, "the request is malformed"};
}

}  // namespace

// Beast's parser, storing views instead of copies. It is made anew for every request.
class RequestReader::Parser final {
 public:
  class Grammar final : public bhttp::basic_parser<true> {
   public:
    explicit Grammar(RequestHead& head) : head_(head) {
      body_limit(boost::none);
      eager(true);
    }

    std::string_view target;
    std::optional<Refusal> refusal;
    std::span<char> into;
    std::size_t made = 0;
    std::uint64_t chunk_left = 0;

   private:
    void on_request_impl(bhttp::verb, string_view method, string_view text, int version,
                         error_code&) override {
      head_.method = std_view(method);
      target = std_view(text);
      head_.minor = version - 10;
    }
    void on_response_impl(int, string_view, int, error_code&) override {}

    void on_field_impl(bhttp::field field, string_view name, string_view value,
                       error_code& error) override {
      if (is_header_done()) return;  // Trailers: read, checked by Beast, and dropped.
      head_.headers.push_back({std_view(name), std_view(value)});
      refusal = look_at(field, std_view(value));
      if (refusal) error = bhttp::error::bad_value;
    }

    std::optional<Refusal> look_at(bhttp::field field, std::string_view value) {
      switch (field) {
        case bhttp::field::host:
          if (std::exchange(host_, true)) return Refusal{400, "Host is given twice"};
          if (!is_authority(value)) return Refusal{400, "Host is not valid"};
          head_.host = value;
          break;
        case bhttp::field::content_length:
          return look_at_length(value);
        case bhttp::field::transfer_encoding:
          if (head_.chunked) return Refusal{400, "Transfer-Encoding is given twice"};
          if (!same_name(value, "chunked")) {
            return Refusal{501, "Transfer-Encoding must be chunked and nothing else"};
          }
          head_.chunked = true;
          break;
        case bhttp::field::expect:
          if (std::exchange(expect_, true) || !same_name(value, "100-continue")) {
            return Refusal{417, "Expect must be 100-continue"};
          }
          break;
        case bhttp::field::content_type:
          if (std::exchange(content_type_, true))
            return Refusal{400, "Content-Type is given twice"};
          break;
        case bhttp::field::authorization:
          if (std::exchange(authorization_, true)) {
            return Refusal{400, "Authorization is given twice"};
          }
          break;
        default:
          break;
      }
      return std::nullopt;
    }

    std::optional<Refusal> look_at_length(std::string_view value) {
      if (head_.content_length) return Refusal{400, "Content-Length is given twice"};
      std::uint64_t number = 0;
      const auto* end = value.data() + value.size();
      const auto [at, failed] = std::from_chars(value.data(), end, number);
      if (failed != std::errc() || at != end) return Refusal{400, "Content-Length is not a number"};
      head_.content_length = number;
      return std::nullopt;
    }

    void on_header_impl(error_code&) override {
      head_.keep_alive = keep_alive();
      head_.expect_continue = expect_ && head_.minor == 1;
    }
    void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
    std::size_t on_body_impl(string_view, error_code&) override { return 0; }

    void on_chunk_header_impl(std::uint64_t size, string_view extensions,
                              error_code& error) override {
      chunk_left = size;
      if (extensions.size() > kChunkExtensionMaxBytes || has_control(std_view(extensions))) {
        error = bhttp::error::bad_chunk_extension;
      }
    }

    std::size_t on_chunk_body_impl(std::uint64_t, string_view body, error_code& error) override {
      const auto size = std::min(body.size(), into.size() - made);
      std::memcpy(into.data() + made, body.data(), size);
      made += size;
      chunk_left -= size;
      if (size < body.size() || made == into.size()) error = bhttp::error::need_buffer;
      return size;
    }
    void on_finish_impl(error_code&) override {}

    RequestHead& head_;
    bool host_ = false;
    bool expect_ = false;
    bool content_type_ = false;
    bool authorization_ = false;
  };

  std::optional<Grammar> grammar;
};

void RequestHead::rebase(const char* from, const char* to) {
  const auto move = [this, from, to](std::string_view& view) {
    // Some views are literals, and stay.
    if (view.data() < from || view.data() > from + size_bytes) return;
    view = {to + (view.data() - from), view.size()};
  };
  for (auto* view : {&method, &path, &query, &host}) move(*view);
  for (auto& header : headers) {
    move(header.name);
    move(header.value);
  }
}

RequestReader::RequestReader(HeadLimits limits)
    : limits_(limits), parser_(std::make_unique<Parser>()) {}

RequestReader::~RequestReader() = default;

void RequestReader::reset() {
  begin_ = 0;
  line_begin_ = 0;
  lines_ = 0;
  complete_ = false;
  auto headers = std::move(head_.headers);  // Keeps its memory.
  headers.clear();
  head_ = RequestHead{};
  head_.headers = std::move(headers);
}

std::expected<bool, Refusal> RequestReader::read_head(std::string_view buffered) {
  // Two empty lines in front of a request are forgiven: old clients end a body with one too many.
  while (begin_ < 4 && lines_ == 0 && buffered.substr(begin_).starts_with("\r\n")) begin_ += 2;
  line_begin_ = std::max(line_begin_, begin_);
  if (auto refusal = scan_lines(buffered)) return std::unexpected(*refusal);
  if (!complete_) return false;
  if (auto refusal = parse(buffered.substr(begin_, line_begin_ - begin_))) {
    return std::unexpected(*refusal);
  }
  head_.size_bytes = line_begin_;
  return true;
}

// Looks at lines as they come in, so that nothing has to wait for the end of a head that is wrong
// from its beginning.
std::optional<Refusal> RequestReader::scan_lines(std::string_view text) {
  if (text.size() > begin_ && text[begin_] != '\r' && !is_token_char(text[begin_])) {
    return Refusal{400, "this is not an HTTP request"};
  }
  while (!complete_) {
    const auto end = text.find('\n', line_begin_);
    const auto size = (end == text.npos ? text.size() : end) - line_begin_;
    if (lines_ == 0 && size > limits_.request_line_max_bytes) {
      return Refusal{414, "the request line is too long"};
    }
    if (line_begin_ + size - begin_ > limits_.header_max_bytes) {
      return Refusal{431, "the request header is too long"};
    }
    if (end == text.npos) return std::nullopt;
    if (size == 0 || text[end - 1] != '\r') return Refusal{400, "a line ends without CR LF"};
    complete_ = size == 1;
    if (lines_ == 0 && complete_) return Refusal{400, "the request line is empty"};
    const char first = text[line_begin_];
    if (first == ' ' || first == '\t') return Refusal{400, "a header line is folded"};
    if (!complete_ && lines_++ > limits_.header_max_count) {
      return Refusal{431, "the request has too many header lines"};
    }
    line_begin_ = end + 1;
  }
  return std::nullopt;
}

namespace {

// Takes the target apart: origin form, absolute form, or * with OPTIONS.
std::optional<Refusal> look_at_target(std::string_view target, RequestHead& head) {
  for (const char c : target) {
    if (static_cast<unsigned char>(c) >= 0x80 || c == '#') {
      return Refusal{400, "the request target has an invalid character"};
    }
  }
  if (target == "*" && head.method == "OPTIONS") {
    head.path = target;
    return std::nullopt;
  }
  if (!target.starts_with('/')) {
    const auto scheme = target.find("://");
    if (scheme == target.npos || (!same_name(target.substr(0, scheme), "http") &&
                                  !same_name(target.substr(0, scheme), "https"))) {
      return Refusal{400, "the request target is neither a path nor an http URL"};
    }
    target.remove_prefix(scheme + 3);
    const auto authority = target.substr(0, target.find_first_of("/?"));
    if (!is_authority(authority))
      return Refusal{400, "the host in the request target is not valid"};
    if (head.minor > 0 && !same_name(authority, head.host)) {
      return Refusal{400, "the request target and Host name different hosts"};
    }
    head.host = authority;
    target.remove_prefix(authority.size());
  }
  const auto question = target.find('?');
  head.path = target.substr(0, question);
  if (head.path.empty()) head.path = "/";
  if (question != target.npos) head.query = target.substr(question + 1);
  return std::nullopt;
}

}  // namespace

std::optional<Refusal> RequestReader::parse(std::string_view text) {
  auto& grammar = parser_->grammar.emplace(head_);
  grammar.header_limit(static_cast<std::uint32_t>(text.size() + 1));
  error_code error;
  grammar.put(boost::asio::const_buffer(text.data(), text.size()), error);
  if (grammar.refusal) return grammar.refusal;
  if (error == bhttp::error::bad_version) {
    // "HTTP/2.0" is a version, if not one of ours.
    const auto line = text.substr(0, text.find("\r\n"));
    const auto word = line.substr(line.rfind(' ') + 1);
    const bool version = word.size() == 8 && word.starts_with("HTTP/") && word[6] == '.' &&
                         word[5] >= '0' && word[5] <= '9' && word[7] >= '0' && word[7] <= '9' &&
                         std::ranges::count(line, ' ') == 2;
    if (version) return Refusal{505, "the server speaks HTTP/1.0 and HTTP/1.1"};
  }
  if (error && error != bhttp::error::need_more) return refusal_of(error);
  if (!grammar.is_header_done()) return Refusal{400, "the request is malformed"};
  if (head_.minor > 0 && head_.host.empty()) return Refusal{400, "Host is missing"};
  if (head_.chunked && head_.minor == 0) {
    return Refusal{400, "Transfer-Encoding is not valid in HTTP/1.0"};
  }
  if (head_.chunked && head_.content_length) {
    return Refusal{400, "Content-Length is not valid beside Transfer-Encoding"};
  }
  if (!is_known_method(head_.method)) return Refusal{501, "the method is not known here"};
  return look_at_target(grammar.target, head_);
}

void RequestReader::limit_body(std::uint64_t max_bytes) { parser_->grammar->body_limit(max_bytes); }

std::expected<RequestReader::Decoded, Refusal> RequestReader::decode(std::string_view input,
                                                                     std::span<char> into) {
  auto& grammar = *parser_->grammar;
  MR_ASSERT(head_.chunked);
  MR_ASSERT(!into.empty());
  Decoded decoded;
  grammar.into = into;
  grammar.made = 0;
  // At least "0", CR, LF, CR, LF must follow a chunk; Beast insists on being shown that much.
  const std::size_t least = grammar.chunk_left > 0 ? 1 : 5;
  if (!grammar.is_done() && input.size() >= least) {
    error_code error;
    decoded.taken = grammar.put(boost::asio::const_buffer(input.data(), input.size()), error);
    const bool waits = error == bhttp::error::need_more || error == bhttp::error::need_buffer;
    if (error && !waits) return std::unexpected(refusal_of(error));
    if (input.size() - decoded.taken > kChunkFramingMaxBytes && grammar.made < into.size()) {
      return std::unexpected(Refusal{400, "a chunk's size line or the trailer is too long"});
    }
  }
  decoded.made = grammar.made;
  decoded.finished = grammar.is_done();
  return decoded;
}

}  // namespace millrace::http
