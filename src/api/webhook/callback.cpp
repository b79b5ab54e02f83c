#include "api/webhook/callback.h"

#include "base/json_outside.h"
#include "identity/base64url.h"
#include "identity/digest.h"
#include "identity/standard_webhook.h"

#include <boost/json/object.hpp>

#include <algorithm>

namespace millrace::api {
namespace {

constexpr std::size_t kCapabilityBytes = 32;
constexpr std::size_t kTypeMax = 64;

std::string member(const json::Value& value, std::string_view name) {
  const auto* object = value.if_object();
  const auto* found = object == nullptr ? nullptr : object->if_contains(name);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

bool is_event(std::string_view type) {
  return type.starts_with("parse.") && type.size() <= kTypeMax &&
         std::ranges::all_of(type, [](char c) { return c > ' ' && c < 0x7f; });
}

}  // namespace

std::string new_capability(Random& random) {
  std::string bytes;
  while (bytes.size() < kCapabilityBytes) {
    const auto word = random.next();
    for (unsigned i = 0; i < sizeof word; ++i) bytes += static_cast<char>(word >> (8 * i) & 0xff);
  }
  return identity::base64url_encode(bytes);
}

std::string capability_sha256(std::string_view capability) {
  return identity::to_hex(identity::sha256(capability));
}

std::string callback_token(const Secret<std::string>& master, std::string_view capability) {
  return identity::to_hex(
      identity::hmac_sha256(master.reveal(), "callback." + std::string(capability)));
}

std::optional<CallbackEvent> read_callback(std::string_view id_header, std::string_view type_header,
                                           std::string_view raw) {
  const auto mended = mend_surrogates(raw);
  const auto body = parse_json(mended ? *mended : raw, {.max_bytes = raw.size(), .max_depth = 32});
  CallbackEvent event{.id = std::string(id_header), .type = std::string(type_header)};
  if (body) {
    if (event.id.empty()) event.id = member(*body, "event_id");
    if (event.type.empty()) event.type = member(*body, "event_type");
  }
  if (!is_event(event.type)) return std::nullopt;
  if (!identity::check_webhook_id(event.id, true)) {
    event.id = "sha256:" + identity::to_hex(identity::sha256(raw));
  }
  return event;
}

}  // namespace millrace::api
