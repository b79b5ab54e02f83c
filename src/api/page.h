// Pages: lists as clients get them, {"items": […], "next_cursor": …}, made of the database's JSON.
#pragma once

#include "api/call.h"
#include "api/reply.h"
#include "base/result.h"
#include "base/uuid.h"

#include <optional>
#include <string>
#include <string_view>

namespace millrace::api {

// Parameters `limit` and `cursor` of every list.
Parameter limit_parameter(int most = 200, int usual = 50);
Parameter cursor_parameter();

struct PageRequest {
  int limit = 50;
  std::optional<std::string> after = {};  // The key that the cursor holds.
};
// invalid_argument for a cursor of another list.
Result<PageRequest> read_page(const Call& call, std::string_view kind, int usual = 50);
Result<std::optional<Uuid>> uuid_key(const PageRequest& page);

// `items` is the text of a JSON array; no cursor on the last page.
Reply page_reply(std::string_view items, const std::optional<std::string>& next_cursor);
Reply list_reply(std::string_view items);

// A page of rows that were asked for with one more than `limit`: that one is cut off, and the
// cursor is made of `key` in the last row that stays.
Result<Reply> cut_page(std::string_view kind, const std::string& rows, int limit,
                       std::string_view key);

}  // namespace millrace::api
