#include "identity/key_set.h"

#include "base/json.h"
#include "identity/refusal.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace millrace::identity {

Result<KeySet> KeySet::parse_jwks(std::string_view text) {
  auto document = parse_json_object(text, {.max_bytes = kKeySetMaxBytes, .max_depth = 8});
  if (!document) return fail_with_context("the key set", std::move(document).error());
  const auto* member = document->if_contains("keys");
  const auto* list = member == nullptr ? nullptr : member->if_array();
  if (list == nullptr) {
    return invalid("the key set must have an array \"keys\"");
  }
  if (list->size() > kKeySetMaxKeys) {
    return invalid(
        fmt::format("the key set has {} keys, more than {}", list->size(), kKeySetMaxKeys));
  }
  KeySet set;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const auto* jwk = (*list)[i].if_object();
    auto key = jwk == nullptr ? Result<VerifyKey>(invalid("it must be a JSON object"))
                              : VerifyKey::from_jwk(*jwk);
    if (key) {
      set.keys_.push_back(*std::move(key));
    } else {
      set.skipped_.push_back(fmt::format("key {}: {}", i + 1, key.error().message));
    }
  }
  return set;
}

Result<void> KeySet::add(VerifyKey key) {
  if (keys_.size() >= kKeySetMaxKeys) {
    return invalid(fmt::format("there can be at most {} keys", kKeySetMaxKeys));
  }
  keys_.push_back(std::move(key));
  return ok();
}

KeySet::Selection KeySet::select(Algorithm algorithm,
                                 const std::optional<std::string>& key_id) const {
  Selection selection;
  selection.key_id_known =
      key_id && std::ranges::any_of(keys_, [&](const auto& key) { return key.key_id() == key_id; });
  for (const auto& key : keys_) {
    if (selection.keys.size() == kKeysTriedMax) break;
    if (key.algorithm() != algorithm) continue;
    const bool fits = !key_id                  ? true
                      : selection.key_id_known ? key.key_id() == key_id
                                               : !key.key_id().has_value();
    if (fits) selection.keys.push_back(&key);
  }
  return selection;
}

}  // namespace millrace::identity
