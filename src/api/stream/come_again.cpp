#include "api/stream/come_again.h"

#include "http/sse.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace millrace::api {
namespace {

constexpr std::string_view kEventsType = "text/event-stream";

bool streams_events(const Operation& operation) {
  return std::ranges::any_of(operation.answers, [](const auto& answer) {
    return std::string_view(answer.content_type) == kEventsType;
  });
}

// Not the same for all who were sent away together.
std::chrono::milliseconds pause_of(const http::ServerRequest& request) {
  return std::chrono::milliseconds(3'000 +
                                   std::hash<std::string_view>()(request.correlation_id) % 4'000);
}

}  // namespace

std::optional<Reply> come_again(const Operation& operation, const http::ServerRequest& request,
                                int status) {
  if (status != 503 || !streams_events(operation)) return std::nullopt;
  if (!request.header("accept").value_or("").contains(kEventsType)) return std::nullopt;
  const auto frame = http::SseFrame::retry(pause_of(request));
  Reply reply{.content_type = std::string(kEventsType) + "; charset=utf-8",
              .body = std::string(frame.text())};
  return std::move(reply).with("Cache-Control", "no-store");
}

}  // namespace millrace::api
