#include "api/page.h"

#include "api/cursor.h"

#include <boost/json/array.hpp>
#include <fmt/format.h>

namespace millrace::api {
namespace {

constexpr JsonLimits kRowsLimits{.max_bytes = 256 * 1024 * 1024, .max_depth = 128};

}  // namespace

Parameter limit_parameter(int most, int usual) {
  return {.name = "limit",
          .description = fmt::format("How many at most; {} unless said.", usual),
          .schema = fmt::format(R"({{"type":"integer","minimum":1,"maximum":{}}})", most)};
}

Parameter cursor_parameter() {
  return {.name = "cursor",
          .description = "The next_cursor of the page before.",
          .schema = R"({"type":"string","minLength":1,"maxLength":1000})"};
}

Result<PageRequest> read_page(const Call& call, std::string_view kind, int usual) {
  PageRequest page;
  page.limit = static_cast<int>(call.parameters.integer("limit").value_or(usual));
  if (const auto cursor = call.parameters.text("cursor")) {
    MR_TRY(page.after, read_cursor(kind, *cursor));
  }
  return page;
}

Result<std::optional<Uuid>> uuid_key(const PageRequest& page) {
  if (!page.after) return std::nullopt;
  const auto key = Uuid::parse(*page.after);
  if (!key) {
    return fail(ErrorKind::invalid_argument,
                "cursor must be the next_cursor of a page of this list");
  }
  return *key;
}

Reply page_reply(std::string_view items, const std::optional<std::string>& next_cursor) {
  return Reply::json_text(fmt::format(R"({{"items":{},"next_cursor":{}}})", items,
                                      next_cursor ? json_quote(*next_cursor) : "null"));
}

Reply list_reply(std::string_view items) {
  return Reply::json_text(fmt::format(R"({{"items":{}}})", items));
}

Result<Reply> cut_page(std::string_view kind, const std::string& rows, int limit,
                       std::string_view key) {
  MR_TRY(auto value, parse_json(rows, kRowsLimits));
  auto& array = value.as_array();
  if (array.size() <= static_cast<std::size_t>(limit)) return page_reply(rows, std::nullopt);
  array.resize(static_cast<std::size_t>(limit));
  const auto& last = array.back().at(key);
  const auto text = last.is_string() ? std::string(last.get_string()) : to_json(last);
  return page_reply(to_json(value), make_cursor(kind, text));
}

}  // namespace millrace::api
