#include "provider/chat.h"

#include "provider/price.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace millrace::provider {
namespace {

constexpr std::uint64_t kMessageTokens = 64;  // Roles and separators around the texts.
constexpr std::size_t kHeaderMax = 255;
constexpr auto kImageTypes =
    std::to_array<std::string_view>({"image/png", "image/jpeg", "image/webp", "image/gif"});

CallFailure bad_request(std::string message) {
  return {.kind = CallFailure::Kind::permanent,
          .error_type = "bad_request",
          .message = std::move(message)};
}

bool fits_header(std::string_view text) {
  return text.size() <= kHeaderMax &&
         std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; });
}

}  // namespace

Usage estimate_usage(const ChatRequest& request, std::uint64_t image_tokens) {
  const auto schema = request.schema.is_null() ? std::string() : to_json(request.schema);
  Usage usage;
  usage.input = estimate_tokens(request.system) + estimate_tokens(request.user) +
                estimate_tokens(schema) + kMessageTokens + (request.image ? image_tokens : 0);
  usage.output = static_cast<std::uint64_t>(std::max(request.max_output_tokens, 0));
  return usage;
}

std::string wire_name(std::string_view schema_name) {
  constexpr std::size_t kMax = 64;
  std::string name(schema_name.substr(0, kMax));
  for (char& c : name) {
    const bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-';
    if (!fine) c = '_';
  }
  return name.empty() ? "answer" : name;
}

std::string schema_in_words(const json::Value& schema) {
  return "\n\nThe answer is one JSON object, without any text around it, that is valid under this "
         "JSON Schema:\n" +
         to_json(schema);
}

std::optional<CallFailure> check_chat_request(const ChatRequest& request) {
  if (request.model.empty()) return bad_request("the request names no model");
  if (request.user.empty() && !request.image) return bad_request("the request has no input");
  if (request.max_output_tokens < 1) return bad_request("max_output_tokens must be above zero");
  if (!request.schema.is_null() && !request.schema.is_object()) {
    return bad_request("the schema of the answer must be an object");
  }
  if (request.image &&
      std::ranges::find(kImageTypes, request.image->media_type) == kImageTypes.end()) {
    return bad_request("the image must be PNG, JPEG, WebP or GIF");
  }
  if (request.image && request.image->bytes.empty()) return bad_request("the image is empty");
  if (!fits_header(request.idempotency_key) || !fits_header(request.correlation_id)) {
    return bad_request(fmt::format(
        "idempotency key and correlation id must be at most {} printable characters", kHeaderMax));
  }
  return std::nullopt;
}

}  // namespace millrace::provider
