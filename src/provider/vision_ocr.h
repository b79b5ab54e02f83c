// GoogleVisionOcr: images:annotate of Google Cloud Vision with DOCUMENT_TEXT_DETECTION.
//
// A call takes several pictures, and each of them succeeds or fails on its own: a 200 may hold
// errors. What came of a picture is given as JSON that layout::parse_vision reads; what the words
// are is not looked at here. The service's bounds are checked before anything is sent.
// Threading: any thread. Lifetime: client and clock outlive it; it outlives its calls.
#pragma once

#include "base/cancel.h"
#include "base/clock.h"
#include "base/secret.h"
#include "base/task.h"
#include "http/client.h"
#include "provider/call.h"
#include "provider/classify.h"
#include "provider/exchange.h"

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::provider {

// The service's own.
struct VisionLimits {
  std::size_t images_max = 16;
  std::size_t image_max_bytes = std::size_t{20} * 1000 * 1000;
  std::size_t request_max_bytes = std::size_t{10} * 1000 * 1000;  // Of JSON: images plus a third.
};

struct VisionOptions {
  enum class Auth { api_key, bearer };

  std::string name = "google-vision";
  std::string base_url = "https://vision.googleapis.com";
  std::string annotate_path = "/v1/images:annotate";
  Secret<std::string> credential = {};  // Never in a URL: those get into logs of proxies.
  Auth auth = Auth::api_key;
  std::string feature = "DOCUMENT_TEXT_DETECTION";
  VisionLimits limits = {};
  CallTimeouts timeouts = {};
  std::size_t response_max_bytes = std::size_t{64} * 1024 * 1024;
  bool allow_http = false;
};

// invalid_argument names the setting that is wrong.
Result<void> check_options(const VisionOptions& options);

struct VisionRequest {
  std::vector<std::string> images = {};          // Bytes of PNG, JPEG and the like.
  std::vector<std::string> language_hints = {};  // BCP 47.
  std::chrono::milliseconds timeout{0};          // Of the whole call; 0: the provider's.
  std::string correlation_id = {};
};

struct VisionAnswer {
  // As many as images, in their order: {"responses":[…]} with one entry, or what went wrong.
  std::vector<Answer<std::string>> images = {};
};

class GoogleVisionOcr final {
 public:
  GoogleVisionOcr(http::Client& client, const Clock& clock, VisionOptions options);

  std::string_view name() const { return options_.name; }
  awaitable<Answer<VisionAnswer>> annotate(VisionRequest request, CancelToken cancel);

 private:
  http::Request make_request(const VisionRequest& request) const;
  Answer<VisionAnswer> read(std::size_t images, const http::Response& response) const;

  http::Client& client_;
  const Clock& clock_;
  VisionOptions options_;
};

// How many images go into each request, in their order, so that none is above the limits. An image
// that is above them by itself gets a request of its own, and is refused there.
std::vector<std::size_t> vision_batches(std::span<const std::size_t> image_bytes,
                                        const VisionLimits& limits = {});

// {"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message","details":[{"reason"}]}}, and the
// error of one image, which has a number of google.rpc.Code only.
Refusal vision_refusal(const json::Value& error, int status);

}  // namespace millrace::provider
