// The two digests of a question for the compute pipeline.
//
// inputs_hash is what clients know: SHA-256, in hexadecimal, of the inputs as CPython's json.dumps
// writes them (keys sorted by code point, no blanks, text as UTF-8), followed by definition and
// version (J-03). Nothing separates the parts and no tenant is in it, so it decides nothing here.
//
// compute_key is what equal questions are found by: every part with its length in front, a domain,
// the tenant first, and the inputs in a form where equal values, and only those, have equal text
// (F04, F05). Threading: plain functions.
#pragma once

#include "base/json.h"
#include "base/uuid.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::api {

// As json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False): 1.0 stays 1.0,
// 1e16 becomes 1e+16.
std::string python_json(const json::Value& value);

std::string inputs_hash(const json::Value& inputs, std::string_view definition,
                        std::string_view version);

struct ComputeKeyParts {
  TenantId tenant;
  std::optional<Uuid> owner;  // Of callers who see their own jobs only.
  std::string_view app_id;
  std::string_view definition;
  std::string_view version;
  const json::Value& inputs;
};

std::array<std::uint8_t, 32> compute_key(const ComputeKeyParts& parts);

// Python keeps whole numbers of any size, we keep 64 bits of them: others would get another hash
// than the source's. invalid_argument says where the first one stands. `text` is valid JSON.
Result<void> check_whole_numbers(std::string_view text);

}  // namespace millrace::api
