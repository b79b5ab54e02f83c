#include "provider/vision_ocr.h"

#include "provider/base64.h"
#include "provider/refused.h"
#include "provider/reply_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace millrace::provider {
namespace {

using Kind = CallFailure::Kind;

constexpr std::size_t kAroundImage = 512;  // JSON around each image, hints included.
constexpr std::size_t kAroundRequest = 64;
constexpr std::size_t kHintsMax = 16;
constexpr std::size_t kHintBytesMax = 16;

CallFailure bad_request(std::string_view type, std::string message) {
  return {.kind = Kind::permanent, .error_type = std::string(type), .message = std::move(message)};
}

std::optional<CallFailure> check(const VisionRequest& request, const VisionLimits& limits) {
  if (request.images.empty()) return bad_request("bad_request", "the request has no images");
  if (request.images.size() > limits.images_max) {
    return bad_request("too_large", fmt::format("{} images are more than a request may have ({})",
                                                request.images.size(), limits.images_max));
  }
  for (std::size_t i = 0; i < request.images.size(); ++i) {
    const auto size = request.images[i].size();
    if (size == 0) return bad_request("bad_request", fmt::format("image {} is empty", i));
    if (size > limits.image_max_bytes) {
      return bad_request("too_large", fmt::format("image {} has {} bytes, more than {}", i, size,
                                                  limits.image_max_bytes));
    }
  }
  const bool hints = request.language_hints.size() <= kHintsMax &&
                     std::ranges::all_of(request.language_hints, [](const std::string& hint) {
                       return !hint.empty() && hint.size() <= kHintBytesMax;
                     });
  if (!hints) {
    return bad_request("bad_request", fmt::format("language_hints must be at most {} of at most {} "
                                                  "bytes",
                                                  kHintsMax, kHintBytesMax));
  }
  return std::nullopt;
}

// Written by hand: the images are most of it, and need no escaping.
std::string body_of(const VisionRequest& request, std::string_view feature) {
  json::Object rest{{"features", json::Array{json::Object{{"type", feature}}}}};
  if (!request.language_hints.empty()) {
    json::Array hints;
    for (const auto& hint : request.language_hints) hints.emplace_back(hint);
    rest["imageContext"] = json::Object{{"languageHints", std::move(hints)}};
  }
  const auto tail = to_json(rest).substr(1);  // Without its opening brace.
  std::string body = R"({"requests":[)";
  for (const auto& image : request.images) {
    if (body.back() == '}') body += ',';
    body += R"({"image":{"content":")";
    body += base64_encode(image);
    body += R"("},)";
    body += tail;
  }
  body += "]}";
  return body;
}

}  // namespace

Result<void> check_options(const VisionOptions& options) {
  const auto key = [&](std::string_view part) {
    return fmt::format("provider.{}.{}", options.name, part);
  };
  MR_TRY_VOID(check_base_url(key("base_url"), options.base_url, options.allow_http));
  MR_TRY_VOID(check_timeouts(key("timeouts"), options.timeouts));
  if (!options.annotate_path.starts_with('/')) {
    return fail(ErrorKind::invalid_argument, key("annotate_path") + " must begin with /");
  }
  if (options.credential.reveal().empty()) {
    return fail(ErrorKind::invalid_argument, key("api_key") + " is missing");
  }
  return ok();
}

Refusal vision_refusal(const json::Value& error, int status) {
  Refusal refusal{.status = status};
  if (const auto* details = array_at(error, {"details"})) {
    for (const auto& detail : *details) {
      refusal.words.push_back(text_at(detail, {"reason"}));
      // google.rpc.RetryInfo
      if (const auto delay = text_at(detail, {"retryDelay"}); !delay.empty()) {
        refusal.retry_after = parse_go_duration(delay);
      }
    }
  }
  refusal.words.push_back(text_at(error, {"status"}));
  const auto code = count_at(error, {"code"});
  if (code && *code < 100) refusal.words.emplace_back(rpc_code_name(static_cast<int>(*code)));
  std::erase(refusal.words, std::string());
  refusal.message = text_at(error, {"message"});
  return refusal;
}

std::vector<std::size_t> vision_batches(std::span<const std::size_t> image_bytes,
                                        const VisionLimits& limits) {
  std::vector<std::size_t> batches;
  std::size_t bytes = limits.request_max_bytes + 1;  // Full: the first image opens a request.
  for (const auto size : image_bytes) {
    const auto needed = base64_size(size) + kAroundImage;
    const bool fits = !batches.empty() && batches.back() < limits.images_max &&
                      bytes + needed <= limits.request_max_bytes;
    if (fits) {
      ++batches.back();
      bytes += needed;
    } else {
      batches.push_back(1);
      bytes = kAroundRequest + needed;
    }
  }
  return batches;
}

GoogleVisionOcr::GoogleVisionOcr(http::Client& client, const Clock& clock, VisionOptions options)
    : client_(client), clock_(clock), options_(std::move(options)) {
  while (options_.base_url.ends_with('/')) options_.base_url.pop_back();
}

awaitable<Answer<VisionAnswer>> GoogleVisionOcr::annotate(VisionRequest request,
                                                          CancelToken cancel) {
  if (auto wrong = check(request, options_.limits)) {
    wrong->message = options_.name + ": " + wrong->message;
    co_return std::unexpected(*std::move(wrong));
  }
  auto response = co_await exchange(&client_, make_request(request),
                                    {.timeouts = options_.timeouts,
                                     .call_timeout = request.timeout,
                                     .request_max_bytes = options_.limits.request_max_bytes,
                                     .response_max_bytes = options_.response_max_bytes},
                                    std::move(cancel));
  if (!response) co_return std::unexpected(std::move(response).error());
  co_return read(request.images.size(), *response);
}

http::Request GoogleVisionOcr::make_request(const VisionRequest& request) const {
  const auto& secret = options_.credential.reveal();
  http::Request out{.method = "POST",
                    .url = options_.base_url + options_.annotate_path,
                    .headers = {{"Content-Type", "application/json; charset=utf-8"},
                                {"Accept", "application/json"}},
                    .body = body_of(request, options_.feature),
                    .service = options_.name};
  if (options_.auth == VisionOptions::Auth::bearer) {
    out.headers.emplace_back("Authorization", "Bearer " + secret);
  } else {
    out.headers.emplace_back("X-Goog-Api-Key", secret);
  }
  if (!request.correlation_id.empty()) {
    out.headers.emplace_back("X-Correlation-Id", request.correlation_id);
  }
  return out;
}

Answer<VisionAnswer> GoogleVisionOcr::read(std::size_t images,
                                           const http::Response& response) const {
  const auto secrets = std::to_array<std::string_view>({options_.credential.reveal()});
  const CallContext context{
      .service = Service::vision, .name = options_.name, .scrub = {.secrets = secrets}};
  const auto body = body_json(response, options_.response_max_bytes);
  const auto* error = error_at(body, {"error"});
  if (response.status != 200 || error != nullptr) {
    static const json::Value kNothing;
    auto refusal = vision_refusal(error == nullptr ? kNothing : *error, response.status);
    const auto told = refusal.retry_after;
    read_retry_headers(response, clock_.wall(), refusal);
    if (!refusal.retry_after) refusal.retry_after = told;
    return std::unexpected(refused(context, refusal));
  }
  const auto* responses = array_at(body, {"responses"});
  if (responses == nullptr || responses->size() != images) {
    return std::unexpected(
        bad_answer(context, "another number of responses than images", response.status));
  }
  VisionAnswer answer;
  for (const auto& one : *responses) {
    if (const auto* inner = error_at(one, {"error"})) {
      answer.images.emplace_back(std::unexpect,
                                 refused(context, vision_refusal(*inner, response.status)));
      continue;
    }
    answer.images.emplace_back(R"({"responses":[)" + to_json(one) + "]}");
  }
  return answer;
}

}  // namespace millrace::provider
