// What the headers of a REST request ask for: Prefer, Accept, Range and the schema.
//
// Pure: text in, values out. Errors carry PostgREST's codes (rest_error.h).
#pragma once

#include "base/result.h"
#include "http/server_request.h"
#include "store/api/rest.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::api {

// The schema that clients know; there is no other.
inline constexpr std::string_view kRestSchema = "public";

struct RestPreferences {
  enum class Return { minimal, representation };

  Return returning = Return::minimal;
  std::optional<store::RestInsert::OnConflict> resolution = {};
  bool count = false;   // Planned and estimated counts are exact here.
  std::string applied;  // For Preference-Applied: "return=representation, count=exact".
};

// All `Prefer` headers together. Preferences that are not known are ignored, as RFC 7240 wants it,
// unless handling=strict is one of them: PGRST122.
Result<RestPreferences> read_preferences(const http::ServerRequest& request);

enum class RestShape {
  array,   // application/json
  object,  // application/vnd.pgrst.object+json: exactly one row, without brackets.
};

inline constexpr std::string_view kRestObjectType = "application/vnd.pgrst.object+json";

// PGRST107 for a client that takes neither.
Result<RestShape> read_shape(const http::ServerRequest& request);

// PGRST106 for another schema than `public`.
Result<void> check_schema(const http::ServerRequest& request);

struct RestRange {
  std::int64_t offset = 0;
  std::optional<std::int64_t> limit = {};
};

// `Range: 0-9`, both ends counted. Nothing without one, or for one in other units; PGRST103 for one
// that ends before it begins.
Result<std::optional<RestRange>> read_range(const http::ServerRequest& request);

// "0-9/57": what of how many. "*/0" where there is none.
std::string content_range(std::int64_t offset, std::int64_t returned,
                          std::optional<std::int64_t> total);

}  // namespace millrace::api
