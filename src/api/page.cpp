#include "api/page.h"

#include "api/cursor.h"
#include "api/raw_json.h"

#include <fmt/format.h>

namespace millrace::api {

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
  // What PostgreSQL wrote goes out as it is: numbers may have more digits than a double.
  const auto items = raw_elements(rows);
  if (items.size() <= static_cast<std::size_t>(limit)) return page_reply(rows, std::nullopt);
  const auto last = items.at(static_cast<std::size_t>(limit) - 1);
  const auto raw = raw_member(last, key);
  if (!raw) return fail(ErrorKind::internal, fmt::format("a row has no {}", key));
  MR_TRY(const auto value, parse_json(*raw));
  const auto text = value.is_string() ? std::string(value.get_string()) : std::string(*raw);
  const auto end = static_cast<std::size_t>(last.data() + last.size() - rows.data());
  return page_reply(rows.substr(0, end) + "]", make_cursor(kind, text));
}

}  // namespace millrace::api
