#include "parser_forms.h"

#include "paid_texts.h"
#include "side.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>

namespace millrace::test {
namespace {

std::string hmac_hex(const std::string& key, const std::string& bytes) {
  std::array<unsigned char, 32> digest{};
  unsigned size = digest.size();
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data(), &size);
  std::string out;
  for (const auto byte : digest) out += fmt::format("{:02x}", byte);
  return out;
}

std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  if (at == text.npos) return {};
  const auto start = at + from.size();
  return text.substr(start, text.find(to, start) - start);
}

std::int64_t unix_seconds(Clock::Wall at) {
  return std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count();
}

}  // namespace

std::optional<std::map<std::string, FormPart>> read_form(const WireRequest& request) {
  const auto type = request.header("content-type");
  const auto at = type.find("boundary=");
  if (!type.starts_with("multipart/form-data") || at == type.npos) return std::nullopt;
  const auto line = "--" + type.substr(at + 9);
  std::map<std::string, FormPart> parts;
  auto from = request.body.find(line);
  while (from != std::string::npos) {
    from += line.size();
    if (request.body.compare(from, 2, "--") == 0) return parts;
    const auto next = request.body.find("\r\n" + line, from);
    if (next == std::string::npos) return std::nullopt;
    const auto part = request.body.substr(from + 2, next - from - 2);
    const auto head_end = part.find("\r\n\r\n");
    if (head_end == std::string::npos) return std::nullopt;
    const auto head = part.substr(0, head_end);
    parts[between(head, "name=\"", "\"")] = {.file_name = between(head, "filename=\"", "\""),
                                             .content = part.substr(head_end + 4)};
    from = next + 2;
  }
  return std::nullopt;
}

std::vector<std::string> split_pages(const std::string& text) {
  std::vector<std::string> pages;
  std::size_t from = 0;
  for (;;) {
    const auto at = text.find('\f', from);
    pages.push_back(text.substr(from, at == text.npos ? text.npos : at - from));
    if (at == text.npos) return pages;
    from = at + 1;
  }
}

http::Request contract_message(const ContractMessage& message) {
  json::Object body{{"job_id", message.job_id}};
  if (message.content) {
    json::Array artifacts;
    artifacts.push_back(json::Object{{"type", "json"}, {"content", "{}"}});
    artifacts.push_back(json::Object{
        {"type", "markdown"},
        {"content", *message.content},
        {"sha256", message.wrong_hash ? std::string(64, 'a') : sha256_hex(*message.content)},
        {"bytes", message.content->size()}});
    body["artifacts"] = std::move(artifacts);
  } else {
    body["status"] = "failed";
    body["error"] = message.error;
  }
  http::Request out{.method = "POST", .url = message.webhook_url, .body = to_json(body)};
  const auto signature =
      message.wrong_signature ? std::string(64, '0') : hmac_hex(message.secret, out.body);
  out.headers = {{"Content-Type", "application/json"},
                 {"X-LlamaParse-Signature", signature},
                 {"X-LlamaParse-Timestamp", std::to_string(unix_seconds(message.at))},
                 {"X-LlamaParse-Webhook-Id", message.webhook_id}};
  return out;
}

std::optional<http::Request> thin_message(const ThinMessage& message) {
  const auto* events = message.configuration.if_contains("webhook_events");
  if (events != nullptr && events->is_array() &&
      std::ranges::none_of(events->get_array(), [&](const json::Value& event) {
        return event.is_string() && std::string_view(event.get_string()) == message.event_type;
      })) {
    return std::nullopt;
  }
  const double seconds = std::chrono::duration<double>(message.at.time_since_epoch()).count();
  http::Request out{.method = "POST", .url = member(message.configuration, "webhook_url")};
  out.body = to_json(
      json::Object{{"event_id", message.event_id},
                   {"event_type", message.event_type},
                   {"timestamp", seconds},
                   {"data", json::Object{{"id", message.parse_id}, {"job_id", message.parse_id}}}});
  out.headers = {{"Content-Type", "application/json"},
                 {"User-Agent", "llamaindex-webhook-service/1.0"},
                 {"X-Webhook-Event-ID", message.event_id},
                 {"X-Webhook-Event-Type", message.event_type}};
  const auto* headers = message.configuration.if_contains("webhook_headers");
  if (headers != nullptr && headers->is_object()) {
    for (const auto& [name, value] : headers->get_object()) {
      out.headers.emplace_back(
          name, message.wrong_token ? std::string("wrong") : std::string(value.as_string()));
    }
  }
  return out;
}

}  // namespace millrace::test
