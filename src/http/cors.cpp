#include "http/cors.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::http {
namespace {

// "scheme://host[:port]" in lower case with nothing behind it, as browsers send it.
bool is_origin(std::string_view text) {
  const auto scheme_end = text.find("://");
  if (scheme_end == text.npos || scheme_end == 0) return false;
  const auto host = text.substr(scheme_end + 3);
  if (host.empty() || host.find_first_of("/?#@") != host.npos) return false;
  return std::ranges::all_of(text, [](char c) {
    return c > ' ' && c < 0x7F && c != ',' && c != '"' && c != '\\' && (c < 'A' || c > 'Z');
  });
}

bool is_header_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' ||
           c == '_';
  });
}

Result<std::string> joined(const std::vector<std::string>& names) {
  for (const auto& name : names) {
    if (!is_header_name(name)) {
      return fail(ErrorKind::invalid_argument, fmt::format("\"{}\" is not a header name", name));
    }
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Result<Cors> Cors::make(CorsOptions options) {
  Cors cors;
  cors.credentials_ = options.credentials;
  for (auto& origin : options.origins) {
    if (origin == "*") {
      cors.any_ = true;
    } else if (is_origin(origin)) {
      cors.origins_.push_back(std::move(origin));
    } else {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("\"{}\" is not an origin: expected * or scheme://host[:port] in "
                              "lower case",
                              origin));
    }
  }
  if (cors.any_ && cors.credentials_) {
    return fail(ErrorKind::invalid_argument,
                "origin * cannot be combined with credentials: name the origins");
  }
  MR_TRY(const auto requested, joined(options.request_headers));
  MR_TRY(const auto exposed, joined(options.response_headers));
  if (!requested.empty()) {
    cors.preflight_tail_ = fmt::format("Access-Control-Allow-Headers: {}\r\n", requested);
  }
  cors.preflight_tail_ +=
      fmt::format("Access-Control-Max-Age: {}\r\n", options.preflight_age.count());
  if (!exposed.empty())
    cors.expose_ = fmt::format("Access-Control-Expose-Headers: {}\r\n", exposed);
  return cors;
}

bool Cors::allows(std::string_view origin) const {
  if (origin.empty()) return false;
  return any_ || std::ranges::find(origins_, origin) != origins_.end();
}

std::string Cors::origin_lines(std::string_view origin) const {
  // The answer depends on Origin unless everybody gets the same: caches must know.
  if (any_) return "Access-Control-Allow-Origin: *\r\n";
  std::string lines = "Vary: Origin\r\n";
  if (!allows(origin)) return lines;
  lines.append("Access-Control-Allow-Origin: ").append(origin).append("\r\n");
  if (credentials_) lines.append("Access-Control-Allow-Credentials: true\r\n");
  return lines;
}

std::string Cors::answer_lines(std::string_view origin) const {
  if (!enabled()) return {};
  auto lines = origin_lines(origin);
  if (allows(origin)) lines += expose_;
  return lines;
}

std::string Cors::preflight_lines(std::string_view origin, std::string_view allow) const {
  if (!enabled()) return {};
  auto lines = origin_lines(origin);
  if (allows(origin)) {
    lines.append("Access-Control-Allow-Methods: ").append(allow).append("\r\n");
    lines += preflight_tail_;
  }
  return lines;
}

}  // namespace millrace::http
