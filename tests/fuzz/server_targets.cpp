#include "api/cursor.h"
#include "api/etag.h"
#include "api/idempotency.h"
#include "api/rest/rest_request.h"
#include "base/result.h"
#include "fuzz/targets.h"
#include "http/multipart.h"
#include "http/router_path.h"
#include "http/server_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace millrace::fuzz {
namespace {

struct FormRead {
  std::vector<std::string> parts;  // "name|file|type|content"
  std::string error;               // What was wrong, if anything.
  bool whole = false;

  friend bool operator==(const FormRead&, const FormRead&) = default;
};

// The body in pieces of so many bytes.
FormRead read_form(std::string_view type, std::string_view body, std::size_t piece_bytes) {
  FormRead out;
  auto parser = http::MultipartParser::make(type);
  if (!parser) {
    check_told(parser.error());
    return {.parts = {}, .error = "type"};
  }
  while (!body.empty()) {
    auto piece = body.substr(0, piece_bytes);
    body.remove_prefix(piece.size());
    for (;;) {
      const auto event = parser->next(piece);
      if (!event) {
        check_told(event.error());
        out.error = event.error().message;
        return out;
      }
      using Kind = http::MultipartEvent::Kind;
      if (event->kind == Kind::need_more) break;
      if (event->kind == Kind::part) {
        const auto& part = parser->part();
        property(!part.file_name || !part.file_name->contains('/'), "a file name is no path");
        out.parts.push_back(
            fmt::format("{}|{}|{}|", part.name, part.file_name.value_or(""), part.content_type));
      }
      if (event->kind == Kind::data) out.parts.back() += event->data;
    }
    property(piece.empty(), "a piece is used up before more is wanted");
  }
  out.whole = parser->finish().has_value();
  return out;
}

}  // namespace

// A line of Content-Type, then the body: read at once and in pieces, it is the same form.
void fuzz_multipart(Input input) {
  const auto type = take_line(input);
  const auto at_once = read_form(type, input, std::max<std::size_t>(input.size(), 1));
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{3}, std::size_t{64}}) {
    const auto in_pieces = read_form(type, input, bytes);
    property(in_pieces.error.empty() == at_once.error.empty(), "it is wrong or it is not", input);
    property(!at_once.error.empty() || in_pieces == at_once, "how a body arrives does not matter",
             input);
  }
  std::size_t told = 0;
  for (const auto& part : at_once.parts) told += part.size();
  property(told <= 2 * input.size() + 64 * (at_once.parts.size() + 1), "nothing is invented");
  check_linear(input, [&](std::string_view text) {
    static_cast<void>(read_form(type, text, text.size() + 1));
  });
}

// Lines: Idempotency-Key, If-None-Match, a cursor, a query; the rest is a path.
void fuzz_request_headers(Input input) {
  const auto key_line = take_line(input);
  const auto key = api::parse_idempotency_key(key_line);
  if (!key) {
    check_told(key.error());
  } else {
    property(!key->empty() && key->size() <= api::kIdempotencyKeyMaxBytes, "a key has bounds");
    property(std::ranges::all_of(*key, [](char c) { return c > ' ' && c < '\x7f'; }),
             "a key is visible", *key);
    property(api::parse_idempotency_key("\"" + *key + "\"").has_value() ||
                 key->find_first_of("\"\\") != key->npos,
             "a key may be quoted", *key);
  }
  const auto condition = take_line(input);
  const auto tag = api::etag_of(condition);
  property(api::names_tag(tag, tag, false), "a tag names itself", tag);
  property(api::names_tag("W/" + tag, tag, true) && !api::names_tag("W/" + tag, tag, false),
           "a weak tag counts for reading only", tag);
  static_cast<void>(api::names_tag(condition, tag, true));
  const auto cursor = take_line(input);
  const auto place = api::read_cursor("jobs", cursor);
  if (!place) {
    check_told(place.error());
  } else {
    const auto again = api::read_cursor("jobs", api::make_cursor("jobs", *place));
    property(again && *again == *place, "a cursor is read back", *place);
    property(!api::read_cursor("audit", cursor), "a cursor is for its list", cursor);
  }
  const auto query = http::parse_query(take_line(input));
  if (!query) {
    check_told(query.error());
  } else {
    for (const auto& [name, value] : *query) {
      property(is_utf8(name) && is_utf8(value), "parameters are text", name);
    }
  }
  check_linear(input, [](std::string_view text) { static_cast<void>(http::parse_query(text)); });
}

// A query of a client of PostgREST: whatever it says, what comes of it has bounds, and nothing of
// it is passed over.
void fuzz_rest_query(Input input) {
  const auto query = http::parse_query(input);
  if (!query) return;
  const auto request = api::parse_rest_request("shell_files", *query);
  if (!request) {
    check_told(request.error());
    property(request.error().sqlstate.starts_with("PGRST"), "a refusal has a code of PostgREST's");
    property(is_utf8(request.error().message), "a refusal is text", request.error().message);
    return;
  }
  property(request->columns.size() <= api::kRestColumnsMax, "columns have bounds");
  property(request->query.filters.size() <= api::kRestFiltersMax, "filters have bounds");
  property(request->query.orders.size() <= api::kRestOrdersMax, "orders have bounds");
  std::size_t filters = 0;
  for (const auto& [name, value] : *query) {
    const bool reserved = name == "select" || name == "order" || name == "limit" ||
                          name == "offset" || name == "on_conflict" || name == "columns";
    filters += reserved ? 0 : 1;
  }
  property(request->query.filters.size() == filters, "every other parameter is a filter", input);
  for (const auto& filter : request->query.filters) {
    property(!filter.column.empty() && filter.column.size() <= 63, "a name has bounds");
    property(filter.values.size() <= api::kRestListMax, "a list has bounds");
    const bool list = filter.op == store::RestFilter::Op::in;
    property(list || filter.values.size() == 1, "a filter has one value", filter.column);
    for (const auto& value : filter.values) property(!value.contains('\0'), "a value is text");
  }
  property(!request->query.limit || *request->query.limit >= 0, "a limit is a count");
  property(request->query.offset >= 0, "an offset is a count");
}

}  // namespace millrace::fuzz
