#include "http/transfer.h"

#include "base/assert.h"
#include "http/request_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace millrace::http {
namespace {

constexpr std::size_t kHeaderMaxBytes = 64 * 1024;
// Of a streamed answer; libcurl hands over 16 KiB at a time and keeps one such piece back.
constexpr std::size_t kIncomingMaxBytes = 128 * 1024;
// libcurl keeps milliseconds in 32 bits.
constexpr std::chrono::milliseconds kTimeoutMax = std::chrono::days(7);

long to_curl(std::chrono::milliseconds timeout) {
  return static_cast<long>(std::min(timeout, kTimeoutMax).count());
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

}  // namespace

Result<std::unique_ptr<Transfer>> Transfer::make(Request request, const ClientOptions& options,
                                                 Delivery delivery) {
  MR_TRY(std::string origin, check_request(request));
  if (request.body_source && !request.body.empty()) {
    return fail(ErrorKind::invalid_argument, "a request has either body or body_source");
  }
  if (delivery == Delivery::streamed && request.idle_timeout <= std::chrono::milliseconds::zero()) {
    return fail(ErrorKind::invalid_argument, "idle_timeout must be above zero");
  }
  std::unique_ptr<Transfer> transfer(new Transfer(std::move(request), std::move(origin), delivery));
  if (!transfer->easy_ || !transfer->set_up(options)) {
    return fail(ErrorKind::unavailable,
                fmt::format("cannot prepare a request to {}", transfer->origin_));
  }
  return transfer;
}

Transfer::Transfer(Request request, std::string origin, Delivery delivery)
    : request_(std::move(request)),
      origin_(std::move(origin)),
      delivery_(delivery),
      body_left_(request_.body_source ? request_.body_source_bytes : 0),
      easy_(curl_easy_init()) {}

Transfer& Transfer::of(CURL* easy) {
  char* self = nullptr;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, &self);
  MR_ASSERT(self != nullptr);
  return *reinterpret_cast<Transfer*>(self);
}

template <class Value>
bool Transfer::set(CURLoption option, Value value) {
  return curl_easy_setopt(easy_.get(), option, value) == CURLE_OK;
}

bool Transfer::set_up(const ClientOptions& options) {
  const bool certificates = options.ca_file.empty() || set(CURLOPT_CAINFO, options.ca_file.c_str());
  return certificates && set(CURLOPT_PRIVATE, static_cast<void*>(this)) &&
         set(CURLOPT_ERRORBUFFER, error_text_.data()) && set(CURLOPT_URL, request_.url.c_str()) &&
         // Signed URLs are used as they are.
         set(CURLOPT_PATH_AS_IS, 1L) && set(CURLOPT_PROTOCOLS_STR, "http,https") &&
         set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1)) &&
         set(CURLOPT_FOLLOWLOCATION, 0L) &&
         // Not from the environment.
         set(CURLOPT_PROXY, "") &&
         // No signals (threads), and do not wait for a name look-up that nobody wants any more.
         set(CURLOPT_NOSIGNAL, 1L) && set(CURLOPT_QUICK_EXIT, 1L) &&
         set(CURLOPT_TCP_KEEPALIVE, 1L) &&
         set(CURLOPT_CONNECTTIMEOUT_MS, to_curl(request_.connect_timeout)) &&
         // A streamed answer takes as long as its reader; its owner watches the time.
         set(CURLOPT_TIMEOUT_MS,
             delivery_ == Delivery::streamed ? 0L : to_curl(request_.total_timeout)) &&
         set(CURLOPT_USERAGENT, options.user_agent.c_str()) &&
         set(CURLOPT_HEADERFUNCTION, &Transfer::on_header) &&
         set(CURLOPT_HEADERDATA, static_cast<void*>(this)) &&
         set(CURLOPT_WRITEFUNCTION, &Transfer::on_body) &&
         set(CURLOPT_WRITEDATA, static_cast<void*>(this)) &&
         set(CURLOPT_PREREQFUNCTION, &Transfer::on_request_start) &&
         set(CURLOPT_PREREQDATA, static_cast<void*>(this)) && set_method() && set_headers();
}

bool Transfer::set_method() {
  const auto& method = request_.method;
  if (method == "HEAD") return set(CURLOPT_NOBODY, 1L);
  const bool has_body = !request_.body.empty() || body_left_ > 0 || method == "POST" ||
                        method == "PUT" || method == "PATCH";
  return (!has_body || set_body()) && set(CURLOPT_CUSTOMREQUEST, method.c_str());
}

bool Transfer::set_body() {
  const auto size = body_left_ > 0 ? body_left_ : request_.body.size();
  if (!set(CURLOPT_POST, 1L)) return false;
  if (!set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(size))) return false;
  if (body_left_ == 0) return set(CURLOPT_POSTFIELDS, request_.body.c_str());
  return set(CURLOPT_READFUNCTION, &Transfer::on_body_wanted) &&
         set(CURLOPT_READDATA, static_cast<void*>(this));
}

bool Transfer::set_headers() {
  bool has_type = false;
  const auto append = [this](const std::string& line) {
    curl_slist* longer = curl_slist_append(header_list_.get(), line.c_str());
    if (longer == nullptr) return false;
    static_cast<void>(header_list_.release());
    header_list_.reset(longer);
    return true;
  };
  for (const auto& [name, value] : request_.headers) {
    if (same_name(name, "Content-Type")) has_type = true;
    // libcurl takes "Name:" as "leave this header out" and "Name;" as "send it without a value".
    if (!append(trim(value).empty() ? name + ";" : fmt::format("{}: {}", name, value))) {
      return false;
    }
  }
  // libcurl would call any body a form, and would wait for "100 Continue" before a large one.
  if (!has_type && !append("Content-Type:")) return false;
  return append("Expect:") && set(CURLOPT_HTTPHEADER, header_list_.get());
}

void Transfer::finish(CURLcode code) {
  code_ = code;
  wake_.set();
}

void Transfer::go_on() {
  const bool in = incoming_paused_;
  const bool out = body_wanted_;
  // May hand over a piece, or ask for one, before it returns.
  curl_easy_pause(easy_.get(), (in ? CURLPAUSE_RECV : 0) | (out ? CURLPAUSE_SEND : 0));
}

void Transfer::supply(std::span<const std::byte> bytes) {
  MR_ASSERT(body_wanted_);
  MR_ASSERT(!bytes.empty());
  MR_ASSERT(bytes.size() <= body_left_);
  outgoing_.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  outgoing_sent_ = 0;
  body_left_ -= bytes.size();
  body_wanted_ = false;
  if (!finished()) go_on();
}

std::size_t Transfer::take(std::span<std::byte> buffer) {
  const std::size_t size = std::min(buffer.size(), incoming_.size() - incoming_taken_);
  std::copy_n(incoming_.data() + incoming_taken_, size, reinterpret_cast<char*>(buffer.data()));
  incoming_taken_ += size;
  const bool low = incoming_.size() - incoming_taken_ <= kIncomingMaxBytes / 2;
  if (incoming_paused_ && low && !finished()) {
    incoming_paused_ = false;
    go_on();
  }
  return size;
}

bool Transfer::sent() const {
  long bytes = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_REQUEST_SIZE, &bytes);
  return bytes > 0;
}

Result<Response> Transfer::result() {
  MR_ASSERT(finished());
  const CURLcode code = *code_;
  // libcurl is content with headers that end with the connection; half an answer is none.
  const bool whole = code == CURLE_OK && headers_complete_;
  if (whole || response_.body_truncated) return std::move(response_);
  const bool was_sent = sent();
  if (!was_sent && (code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL)) {
    return fail(ErrorKind::invalid_argument, fmt::format("{}: {}", origin_, describe(code)));
  }
  std::string message = fmt::format("{}: {}", origin_, describe(code));
  if (was_sent && response_.status != 0) {
    message += fmt::format(" (status {} and {} bytes of the answer had come)", response_.status,
                           response_.body.size());
  }
  return fail(was_sent ? ErrorKind::in_doubt : ErrorKind::unavailable, std::move(message));
}

std::string Transfer::describe(CURLcode code) const {
  if (header_overflow_) {
    return fmt::format("the answer has more than {} bytes of headers", kHeaderMaxBytes);
  }
  if (resend_refused_) return "the connection was closed after the request was sent";
  if (code == CURLE_OK) return "the connection was closed within the headers of the answer";
  if (code == CURLE_OPERATION_TIMEDOUT) {
    curl_off_t connected = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_PRETRANSFER_TIME_T, &connected);
    return connected > 0
               ? fmt::format("no whole answer within {} ms", request_.total_timeout.count())
               : fmt::format("no connection within {} ms",
                             std::min(request_.connect_timeout, request_.total_timeout).count());
  }
  if (error_text_[0] != '\0') return error_text_.data();
  return curl_easy_strerror(code);
}

std::size_t Transfer::on_header(char* data, std::size_t size, std::size_t count, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  const std::string_view line(data, size * count);
  transfer.header_bytes_ += line.size();
  if (transfer.header_bytes_ > kHeaderMaxBytes) {
    transfer.header_overflow_ = true;
    return CURL_WRITEFUNC_ERROR;
  }
  transfer.take_header_line(line);
  return line.size();
}

void Transfer::take_header_line(std::string_view line) {
  if (line.starts_with("HTTP/")) {  // Also after "103 Early Hints": only the last answer counts.
    long status = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    response_.status = static_cast<int>(status);
    response_.headers.clear();
    headers_complete_ = false;
    return;
  }
  if (trim(line).empty()) {
    headers_complete_ = true;
    wake_.set();
    return;
  }
  if (line.starts_with(' ') || line.starts_with('\t')) {  // The header before goes on here.
    if (!response_.headers.empty()) {
      response_.headers.back().second.append(" ").append(trim(line));
    }
    return;
  }
  const auto colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) return;
  response_.headers.emplace_back(trim(line.substr(0, colon)), trim(line.substr(colon + 1)));
}

std::size_t Transfer::on_body(char* data, std::size_t size, std::size_t count, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  const std::string_view bytes(data, size * count);
  return transfer.delivery_ == Delivery::whole ? transfer.keep_whole(bytes)
                                               : transfer.keep_piece(bytes);
}

std::size_t Transfer::keep_whole(std::string_view bytes) {
  auto& body = response_.body;
  const std::size_t room = request_.response_max_bytes - body.size();
  body.append(bytes.substr(0, room));
  if (bytes.size() <= room) return bytes.size();
  response_.body_truncated = true;
  return CURL_WRITEFUNC_ERROR;
}

std::size_t Transfer::keep_piece(std::string_view bytes) {
  incoming_.erase(0, incoming_taken_);
  incoming_taken_ = 0;
  if (!incoming_.empty() && incoming_.size() + bytes.size() > kIncomingMaxBytes) {
    incoming_paused_ = true;
    return CURL_WRITEFUNC_PAUSE;
  }
  incoming_.append(bytes);
  wake_.set();
  return bytes.size();
}

std::size_t Transfer::on_body_wanted(char* data, std::size_t size, std::size_t count, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  const std::size_t ready = transfer.outgoing_.size() - transfer.outgoing_sent_;
  if (ready == 0 && transfer.body_left_ == 0) return 0;
  if (ready == 0) {
    transfer.body_wanted_ = true;
    transfer.wake_.set();
    return CURL_READFUNC_PAUSE;
  }
  const std::size_t given = std::min(ready, size * count);
  std::copy_n(transfer.outgoing_.data() + transfer.outgoing_sent_, given, data);
  transfer.outgoing_sent_ += given;
  return given;
}

// When a reused connection dies without an answer, libcurl sends the request again by itself, a
// POST as well. Whether that is safe is the caller's decision.
int Transfer::on_request_start(void* self, char*, char*, int, int) {
  auto& transfer = *static_cast<Transfer*>(self);
  if (!transfer.sent()) return CURL_PREREQFUNC_OK;
  transfer.resend_refused_ = true;
  return CURL_PREREQFUNC_ABORT;
}

}  // namespace millrace::http
