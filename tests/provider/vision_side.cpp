// Google Vision's images:annotate: INTEGRATIONS §1.6.
//
// It cannot read pictures. Bytes behind the mark kVisionMark, which no decoder looks at, are the
// text that it "sees", line by line; a picture without the mark shows a short letter.
#include "side.h"
#include "stand_in.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>

namespace millrace::test {
namespace {

constexpr std::size_t kImagesMax = 16;
constexpr std::size_t kImageMaxBytes = std::size_t{20} * 1000 * 1000;
constexpr std::size_t kRequestMaxBytes = std::size_t{10} * 1000 * 1000;
constexpr std::string_view kLetter =
    "DISCHARGE SUMMARY\nName: Jane Roe DOB: 12 March 1970\nMetformin 500 mg twice daily\n"
    "Haemoglobin 13.5 g/dL (12.0 - 16.0)\nAllergic to penicillin: rash";

WireReply error(int code, std::string_view status, std::string_view message,
                std::string_view reason = {}) {
  json::Object inner{{"code", code}, {"message", message}, {"status", status}};
  if (!reason.empty()) {
    inner["details"] = json::Array{
        json::Object{{"@type", "type.googleapis.com/google.rpc.ErrorInfo"}, {"reason", reason}}};
  }
  return json_reply(code, json::Object{{"error", std::move(inner)}});
}

// Zeros are left out, as protobuf's JSON does it.
json::Value vertex(int x, int y) {
  json::Object out;
  if (x != 0) out["x"] = x;
  if (y != 0) out["y"] = y;
  return out;
}

json::Value box(int x0, int y0, int x1, int y1) {
  return json::Object{
      {"vertices", json::Array{vertex(x0, y0), vertex(x1, y0), vertex(x1, y1), vertex(x0, y1)}}};
}

json::Value word_json(std::string_view text, int x, int y, bool last) {
  json::Array symbols;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t size = 1;
    while (i + size < text.size() && (static_cast<unsigned char>(text[i + size]) & 0xc0) == 0x80) {
      ++size;
    }
    symbols.push_back(json::Object{{"text", text.substr(i, size)}});
    i += size;
  }
  symbols.back().as_object()["property"] =
      json::Object{{"detectedBreak", json::Object{{"type", last ? "LINE_BREAK" : "SPACE"}}}};
  const int width = static_cast<int>(text.size()) * 12;
  return json::Object{{"confidence", 0.98},
                      {"boundingBox", box(x, y, x + width, y + 22)},
                      {"symbols", std::move(symbols)}};
}

// One paragraph per line.
json::Value annotation(std::string_view text) {
  json::Array paragraphs;
  int y = 0;
  for (std::string_view rest = text; !rest.empty(); y += 40) {
    const auto end = std::min(rest.find('\n'), rest.size());
    auto line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    json::Array words;
    int x = 0;
    while (!line.empty()) {
      const auto space = std::min(line.find(' '), line.size());
      const auto word = line.substr(0, space);
      line.remove_prefix(std::min(space + 1, line.size()));
      if (word.empty()) continue;
      words.push_back(word_json(word, x, y, line.empty()));
      x += static_cast<int>(word.size()) * 12 + 12;
    }
    if (!words.empty()) paragraphs.push_back(json::Object{{"words", std::move(words)}});
  }
  if (paragraphs.empty()) return json::Object();  // An empty page has no annotation.
  json::Array blocks{json::Object{{"blockType", "TEXT"}, {"paragraphs", std::move(paragraphs)}}};
  json::Array pages{json::Object{{"width", 1275}, {"height", 1650}, {"blocks", std::move(blocks)}}};
  return json::Object{
      {"fullTextAnnotation", json::Object{{"text", text}, {"pages", std::move(pages)}}}};
}

std::string_view seen_in(std::string_view image) {
  const auto mark = image.find(kVisionMark);
  return mark == image.npos ? kLetter : image.substr(mark + kVisionMark.size());
}

class VisionSide final : public Side {
 public:
  std::string_view name() const override { return "google-vision"; }

  std::string key_of(const WireRequest& request) const override {
    const auto header = request.header("authorization");
    if (header.starts_with("Bearer ")) return header.substr(7);
    return request.header("x-goog-api-key");
  }

  WireReply wrong_key(bool missing) const override {
    if (missing) {
      return error(403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers.");
    }
    return error(400, "INVALID_ARGUMENT", "API key not valid.", "API_KEY_INVALID");
  }

  std::expected<Question, WireReply> read(const WireRequest& request,
                                          const ModelRules&) const override {
    if (request.body.size() > kRequestMaxBytes) {
      return std::unexpected(
          error(400, "INVALID_ARGUMENT", "Request payload size exceeds the limit."));
    }
    const auto body = parse_json_object(request.body, {.max_bytes = request.body.size()});
    const auto* requests = body ? body->if_contains("requests") : nullptr;
    if (requests == nullptr || !requests->is_array() || requests->get_array().empty()) {
      return std::unexpected(error(400, "INVALID_ARGUMENT", "Request must have requests."));
    }
    if (requests->get_array().size() > kImagesMax) {
      return std::unexpected(
          error(400, "INVALID_ARGUMENT", "Too many images per request. Must be at most 16."));
    }
    Question question;
    for (const auto& one : requests->get_array()) {
      const auto* image = one.as_object().if_contains("image");
      const auto* features = one.as_object().if_contains("features");
      const auto bytes = image == nullptr ? std::nullopt : base64_decode(member(*image, "content"));
      if (!bytes || features == nullptr || !features->is_array()) {
        return std::unexpected(error(400, "INVALID_ARGUMENT", "Base64 decoding failed."));
      }
      if (bytes->size() > kImageMaxBytes) {
        return std::unexpected(error(400, "INVALID_ARGUMENT", "Image size exceeds 20 MB."));
      }
      question.images.push_back(*bytes);
    }
    return question;
  }

  WireReply say(const Question& question, const Saying& saying) const override {
    json::Array responses;
    for (const auto& image : question.images) responses.push_back(annotation(seen_in(image)));
    if (saying.action == Action::wrong_shape) responses.clear();
    if (saying.action == Action::bad_text) {
      responses.front() = json::Object{{"fullTextAnnotation", saying.text}};
    }
    if (saying.action == Action::inner_error) {
      responses.front() =
          json::Object{{"error", json::Object{{"code", 14}, {"message", "Try again."}}}};
    }
    // A picture that the service cannot decode is its own error.
    for (std::size_t i = 0; i < responses.size(); ++i) {
      if (!question.images[i].empty()) continue;
      responses[i] =
          json::Object{{"error", json::Object{{"code", 3}, {"message", "Bad image data."}}}};
    }
    return json_reply(200, json::Object{{"responses", std::move(responses)}});
  }

  WireReply fail(const Trouble& trouble) const override {
    WireReply reply;
    switch (trouble.action) {
      case Action::throttle:
      case Action::throttle_bare:
      case Action::slow_down:
        reply = error(429, "RESOURCE_EXHAUSTED", "Quota exceeded for quota metric 'requests'.",
                      "RATE_LIMIT_EXCEEDED");
        break;
      case Action::quota:
        reply = error(403, "PERMISSION_DENIED", "This API method requires billing.",
                      "BILLING_DISABLED");
        break;
      case Action::unavailable:
      case Action::unavailable_told:
      case Action::overloaded:
        reply = error(503, "UNAVAILABLE", "The service is currently unavailable.");
        break;
      case Action::auth:
        reply = wrong_key(false);
        break;
      case Action::too_large:
        reply = error(400, "INVALID_ARGUMENT", "Request payload size exceeds the limit.");
        break;
      case Action::echo:
        reply = error(400, "INVALID_ARGUMENT", "Invalid value " + trouble.repeated);
        break;
      default:
        reply = error(500, "INTERNAL", "Internal error.");
    }
    const bool told =
        trouble.action == Action::throttle || trouble.action == Action::unavailable_told;
    if (told) reply.headers.emplace_back("Retry-After", trouble.retry_after);
    return reply;
  }

  void add_limits(WireReply&, const Admission&, Clock::Wall) const override {}
};

}  // namespace

std::unique_ptr<Side> make_vision_side() { return std::make_unique<VisionSide>(); }

}  // namespace millrace::test
