#include "api/rest/rest_headers.h"

#include "api/rest/rest_error.h"
#include "http/message.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <utility>
#include <vector>

namespace millrace::api {
namespace {

using OnConflict = store::RestInsert::OnConflict;

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// The elements of a list header, of all headers of that name, without what is empty.
std::vector<std::string_view> list_of(const http::ServerRequest& request, std::string_view name) {
  std::vector<std::string_view> out;
  for (const auto& header : request.headers) {
    if (!http::same_name(header.name, name)) continue;
    auto rest = header.value;
    for (;;) {
      const auto comma = rest.find(',');
      if (const auto item = trim(rest.substr(0, comma)); !item.empty()) out.push_back(item);
      if (comma == rest.npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
  return out;
}

// True: known, and done.
bool take_preference(RestPreferences& preferences, std::string_view item) {
  using Return = RestPreferences::Return;
  if (item == "return=representation") {
    preferences.returning = Return::representation;
  } else if (item == "return=minimal" || item == "return=headers-only") {
    preferences.returning = Return::minimal;
  } else if (item == "resolution=merge-duplicates") {
    preferences.resolution = OnConflict::merge;
  } else if (item == "resolution=ignore-duplicates") {
    preferences.resolution = OnConflict::ignore;
  } else if (item == "count=exact" || item == "count=planned" || item == "count=estimated") {
    preferences.count = true;
    item = "count=exact";
  } else if (item != "missing=default" && item != "missing=null" && item != "tx=commit" &&
             item != "handling=strict" && item != "handling=lenient") {
    return false;
  }
  preferences.applied += fmt::format("{}{}", preferences.applied.empty() ? "" : ", ", item);
  return true;
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

}  // namespace

Result<RestPreferences> read_preferences(const http::ServerRequest& request) {
  RestPreferences preferences;
  bool strict = false;
  std::string unknown;
  for (const auto item : list_of(request, "prefer")) {
    strict = strict || item == "handling=strict";
    if (item == "tx=rollback") {
      // Ignored, it would do what was only to be tried.
      return rest_refuse("PGRST122", {.message = "tx=rollback is not offered"});
    }
    if (take_preference(preferences, item)) continue;
    unknown += fmt::format("{}{}", unknown.empty() ? "" : ", ", item);
  }
  if (strict && !unknown.empty()) {
    return rest_refuse("PGRST122", {.message = "Invalid preferences given with handling=strict",
                                    .details = fmt::format("Invalid preferences: {}", unknown)});
  }
  return preferences;
}

Result<RestShape> read_shape(const http::ServerRequest& request) {
  const auto wanted = list_of(request, "accept");
  if (wanted.empty()) return RestShape::array;
  bool array = false;
  for (const auto item : wanted) {
    const auto type = trim(item.substr(0, item.find(';')));
    if (item.contains("nulls=stripped")) continue;
    if (http::same_name(type, kRestObjectType)) return RestShape::object;
    array = array || http::same_name(type, "application/json") || type == "*/*" ||
            http::same_name(type, "application/*") ||
            http::same_name(type, "application/vnd.pgrst.array+json");
  }
  if (array) return RestShape::array;
  return rest_refuse("PGRST107",
                     {.message = "None of the media types that are accepted is available",
                      .hint = fmt::format("Rows come as application/json or {}", kRestObjectType)});
}

Result<void> check_schema(const http::ServerRequest& request) {
  for (const auto* const name : {"accept-profile", "content-profile"}) {
    const auto schema = request.header(name);
    if (!schema || trim(*schema) == kRestSchema) continue;
    return rest_refuse(
        "PGRST106",
        {.message = fmt::format("The schema must be one of the following: {}", kRestSchema)});
  }
  return ok();
}

Result<std::optional<RestRange>> read_range(const http::ServerRequest& request) {
  std::optional<RestRange> none;
  const auto header = request.header("range");
  if (!header) return none;
  const auto text = trim(*header);
  const auto dash = text.find('-');
  if (dash == text.npos) return none;
  const auto first = number(text.substr(0, dash));
  if (!first) return none;
  RestRange range{.offset = *first};
  if (const auto end = text.substr(dash + 1); !end.empty()) {
    const auto last = number(end);
    if (!last) return none;
    if (*last < *first) {
      return rest_refuse("PGRST103",
                         {.message = "Requested range not satisfiable",
                          .details = "The lower boundary must be lower than or equal to the upper "
                                     "boundary in the Range header."});
    }
    // Both ends count, and the last number that there is means all.
    const auto between = *last - *first;
    range.limit = between == std::numeric_limits<std::int64_t>::max() ? between : between + 1;
  }
  return range;
}

std::string content_range(std::int64_t offset, std::int64_t returned,
                          std::optional<std::int64_t> total) {
  const auto rows =
      returned == 0 ? std::string("*") : fmt::format("{}-{}", offset, offset + (returned - 1));
  return fmt::format("{}/{}", rows, total ? std::to_string(*total) : std::string("*"));
}

}  // namespace millrace::api
