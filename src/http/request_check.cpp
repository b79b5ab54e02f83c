#include "http/request_check.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

namespace millrace::http {
namespace {

std::unexpected<Error> refuse(std::string message) {
  return fail(ErrorKind::invalid_argument, std::move(message));
}

bool is_token_char(char c) {
  if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')) return true;
  return std::string_view("!#$%&'*+-.^_`|~").contains(c);
}

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_char);
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t') || byte == 0x7F;
}

Result<void> check_header(const Header& header) {
  constexpr std::array<std::string_view, 6> kOurs = {"Connection", "Content-Length",    "Expect",
                                                     "TE",         "Transfer-Encoding", "Upgrade"};
  const auto& [name, value] = header;
  if (!is_token(name)) {
    // The name may hold anything, so it is not repeated.
    return refuse("a header name is empty or has a character that is not allowed");
  }
  for (const auto ours : kOurs) {
    if (same_name(name, ours)) return refuse(fmt::format("header {} is set by the client", name));
  }
  if (std::any_of(value.begin(), value.end(), is_control)) {
    return refuse(fmt::format("header {} has a control character in its value", name));
  }
  return ok();
}

using UrlHandle = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;

Result<std::string> part_of(CURLU* url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return refuse("url is not a valid URL");
  std::string copy(text);
  curl_free(text);
  return copy;
}

Result<std::string> check_url(const std::string& text) {
  if (text.empty()) return refuse("url is empty");
  if (text.contains('\0')) return refuse("url is not a valid URL: it contains a zero byte");
  const auto begins_with = [&text](std::string_view scheme) {
    return same_name(std::string_view(text).substr(0, scheme.size()), scheme);
  };
  if (!begins_with("http://") && !begins_with("https://")) {
    return refuse("url must begin with http:// or https://");
  }
  // libcurl takes "http:///name" for a sloppy "http://name".
  if (begins_with("http:///") || begins_with("https:///")) {
    return refuse("url is not a valid URL: it has no host");
  }
  const UrlHandle url(curl_url(), &curl_url_cleanup);
  if (!url) return fail(ErrorKind::unavailable, "no memory for a URL");
  const auto code = curl_url_set(url.get(), CURLUPART_URL, text.c_str(), CURLU_PATH_AS_IS);
  if (code != CURLUE_OK) {
    return refuse(fmt::format("url is not a valid URL: {}", curl_url_strerror(code)));
  }
  MR_TRY(const std::string scheme, part_of(url.get(), CURLUPART_SCHEME));
  MR_TRY(const std::string host, part_of(url.get(), CURLUPART_HOST));
  MR_TRY(const std::string port, part_of(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT));
  return fmt::format("{}://{}:{}", scheme, host, port);
}

}  // namespace

Result<std::string> check_request(const Request& request) {
  if (!is_token(request.method)) return refuse("method is empty or not a token");
  if (request.method == "CONNECT") return refuse("method CONNECT is not supported");
  if (request.connect_timeout <= std::chrono::milliseconds::zero()) {
    return refuse("connect_timeout must be above zero");
  }
  if (request.total_timeout <= std::chrono::milliseconds::zero()) {
    return refuse("total_timeout must be above zero");
  }
  for (const auto& header : request.headers) MR_TRY_VOID(check_header(header));
  return check_url(request.url);
}

}  // namespace millrace::http
