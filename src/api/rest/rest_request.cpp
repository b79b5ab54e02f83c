#include "api/rest/rest_request.h"

#include "api/rest/rest_error.h"
#include "base/json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>

namespace millrace::api {
namespace {

using store::RestFilter;
using store::RestOrder;

constexpr std::size_t kNameMaxBytes = 63;
constexpr JsonLimits kRowLimits{.max_bytes = 256UL * 1024 * 1024, .max_depth = 128};

struct Operator {
  std::string_view name;
  RestFilter::Op op;
};
constexpr std::array kOperators{
    Operator{"eq", RestFilter::Op::eq},     Operator{"neq", RestFilter::Op::neq},
    Operator{"lt", RestFilter::Op::lt},     Operator{"lte", RestFilter::Op::lte},
    Operator{"gt", RestFilter::Op::gt},     Operator{"gte", RestFilter::Op::gte},
    Operator{"in", RestFilter::Op::in},     Operator{"is", RestFilter::Op::is},
    Operator{"like", RestFilter::Op::like}, Operator{"ilike", RestFilter::Op::ilike}};
constexpr std::string_view kOperatorList = "eq, neq, lt, lte, gt, gte, in, is, like, ilike";

// What was sent, as an error may repeat it: a line of it, whole letters.
std::string shown(std::string_view text) {
  constexpr std::size_t kShownMaxBytes = 100;
  auto size = std::min(text.size(), kShownMaxBytes);
  while (size > 0 && size < text.size() &&
         (static_cast<unsigned char>(text[size]) & 0xc0U) == 0x80U)
    --size;
  std::string out(text.substr(0, size));
  std::ranges::replace_if(out, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return out;
}

std::unexpected<Error> unreadable(std::string_view what, std::string_view text,
                                  std::string details) {
  return rest_refuse("PGRST100",
                     {.message = fmt::format("\"failed to parse {} ({})\"", what, shown(text)),
                      .details = std::move(details)});
}

std::string_view trim(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// At commas that stand in no quotes and no parentheses.
Result<std::vector<std::string_view>> split(std::string_view what, std::string_view text) {
  std::vector<std::string_view> out;
  std::size_t begin = 0;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '(') {
      ++depth;
    } else if (c == ')') {
      if (--depth < 0) return unreadable(what, text, "a parenthesis is closed that was not opened");
    } else if (c == ',' && depth == 0) {
      out.push_back(trim(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  if (quoted || depth != 0) return unreadable(what, text, "a quote or parenthesis is not closed");
  out.push_back(trim(text.substr(begin)));
  return out;
}

// A name of the database, perhaps in quotes.
Result<std::string> parse_name(std::string_view what, std::string_view text) {
  std::string name;
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    const auto inner = text.substr(1, text.size() - 2);
    for (std::size_t i = 0; i < inner.size(); ++i) {
      if (inner[i] == '\\' && i + 1 < inner.size()) ++i;
      name += inner[i];
    }
  } else {
    name = text;
  }
  if (name.empty() || name.size() > kNameMaxBytes || name.contains('\0')) {
    return unreadable(what, text, "a name must have 1 to 63 bytes");
  }
  return name;
}

// What PostgREST would do with it, and this does not.
Result<void> refuse_select_item(std::string_view item) {
  if (item.ends_with("()")) {
    return rest_refuse("PGRST123", {.message = "Use of aggregate functions is not allowed",
                                    .hint = "Prefer: count=exact counts rows"});
  }
  if (item.contains('(') || item.starts_with("...")) {
    const auto name = item.substr(0, item.find('('));
    return rest_refuse(
        "PGRST200",
        {.message =
             fmt::format("Could not find a relationship to '{}' in the schema cache", shown(name)),
         .details = "Rows of other tables cannot be embedded; ask for them by their own table."});
  }
  if (item.contains("->")) {
    return unreadable("select parameter", item, "paths into JSON are not offered");
  }
  if (item.contains("::")) {
    return unreadable("select parameter", item, "casts are not offered");
  }
  return ok();
}

Result<RestColumn> parse_column(std::string_view item) {
  if (item == "*") return RestColumn{.name = "*"};
  MR_TRY_VOID(refuse_select_item(item));
  RestColumn column;
  const auto colon = item.starts_with('"') ? item.find(':', item.find('"', 1)) : item.find(':');
  if (colon != item.npos) {
    MR_TRY(column.alias, parse_name("select parameter", item.substr(0, colon)));
    item.remove_prefix(colon + 1);
  }
  MR_TRY(column.name, parse_name("select parameter", item));
  if (column.name == "*") return unreadable("select parameter", item, "* has no alias");
  return column;
}

Result<RestOrder> parse_order_term(std::string_view term) {
  RestOrder order;
  auto name = term;
  for (bool more = true; more;) {
    more = false;
    const auto dot = name.rfind('.');
    if (dot == name.npos) break;
    const auto word = name.substr(dot + 1);
    if (word == "asc" || word == "desc") {
      order.descending = word == "desc";
    } else if ((word == "nullsfirst" || word == "nullslast") && !order.nulls_first) {
      order.nulls_first = word == "nullsfirst";
      more = true;  // asc or desc may stand before it.
    } else {
      return unreadable("order", term, "behind a column come asc or desc, nullsfirst or nullslast");
    }
    name = name.substr(0, dot);
  }
  MR_TRY(order.column, parse_name("order", name));
  return order;
}

Result<std::int64_t> parse_count(std::string_view name, std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return unreadable(name, text, "a whole number is needed");
  }
  if (value < 0) {
    return rest_refuse("PGRST103", {.message = "Requested range not satisfiable",
                                    .details = fmt::format("{} must not be negative", name)});
  }
  return value;
}

bool is_logic(std::string_view name) {
  return name == "and" || name == "or" || name == "not.and" || name == "not.or";
}

Result<void> take_select(RestRequest& request, std::string_view text) {
  MR_TRY(auto columns, parse_rest_select(text));
  std::set<std::string, std::less<>> names;
  for (auto& column : columns) {
    if (column.name == "*") {
      request.all_columns = true;
      continue;
    }
    const auto name = column.alias.empty() ? column.name : column.alias;
    if (!names.insert(name).second) {
      return unreadable("select parameter", text, fmt::format("{} is there twice", shown(name)));
    }
    request.columns.push_back(std::move(column));
  }
  if (request.all_columns) return ok();  // All of them come; names of their own are given later.
  for (const auto& column : request.columns) {
    auto& wanted = request.query.columns;
    if (std::ranges::find(wanted, column.name) == wanted.end()) wanted.push_back(column.name);
  }
  return ok();
}

// Parameters with a meaning of their own. False: it is a filter.
Result<bool> take_reserved(RestRequest& request, std::string_view name, std::string_view value) {
  auto& query = request.query;
  if (name == "select") {
    MR_TRY_VOID(take_select(request, value));
  } else if (name == "order") {
    MR_TRY(query.orders, parse_rest_order(value));
  } else if (name == "limit") {
    MR_TRY(query.limit, parse_count(name, value));
  } else if (name == "offset") {
    MR_TRY(query.offset, parse_count(name, value));
  } else if (name == "on_conflict") {
    request.conflict_columns = value;
  } else if (name == "columns") {
    MR_TRY(const auto items, split("columns parameter", value));
    for (const auto item : items) {
      MR_TRY(auto column, parse_name("columns parameter", item));
      request.body_columns.push_back(std::move(column));
    }
  } else {
    return false;
  }
  return true;
}

}  // namespace

bool RestRequest::has_aliases() const {
  return std::ranges::any_of(columns, [](const auto& column) { return !column.alias.empty(); });
}

Result<RestRequest> parse_rest_request(std::string_view table,
                                       const std::vector<http::QueryParameter>& parameters) {
  RestRequest request;
  request.query.table = table;
  std::set<std::string_view> seen;
  for (const auto& [name, value] : parameters) {
    if (value.contains('\0') || name.contains('\0')) {
      return unreadable("query", name, "text must not hold U+0000");
    }
    if (is_logic(name)) {
      return unreadable("logic tree", value, fmt::format("{} is not offered", name));
    }
    MR_TRY(const bool reserved, take_reserved(request, name, value));
    if (reserved) {
      if (!seen.insert(name).second) {
        return unreadable("query", name, "the parameter is given twice");
      }
      continue;
    }
    if (const auto dot = name.find('.'); dot != name.npos) {
      return rest_refuse("PGRST108",
                         {.message = fmt::format("'{}' is not an embedded resource in this request",
                                                 shown(std::string_view(name).substr(0, dot)))});
    }
    if (request.query.filters.size() == kRestFiltersMax) {
      return unreadable("query", name,
                        fmt::format("a request may have {} filters at most", kRestFiltersMax));
    }
    MR_TRY(auto filter, parse_rest_filter(name, value));
    request.query.filters.push_back(std::move(filter));
  }
  return request;
}

Result<std::vector<RestColumn>> parse_rest_select(std::string_view text) {
  std::vector<RestColumn> out;
  if (trim(text).empty()) return out;
  MR_TRY(const auto items, split("select parameter", text));
  if (items.size() > kRestColumnsMax) {
    return unreadable("select parameter", text,
                      fmt::format("{} columns are the most", kRestColumnsMax));
  }
  for (const auto item : items) {
    MR_TRY(auto column, parse_column(item));
    out.push_back(std::move(column));
  }
  return out;
}

Result<RestFilter> parse_rest_filter(std::string_view column, std::string_view text) {
  RestFilter filter;
  MR_TRY(filter.column, parse_name("filter", column));
  auto rest = text;
  if (rest.starts_with("not.")) {
    filter.negated = true;
    rest.remove_prefix(4);
  }
  const auto dot = rest.find('.');
  const auto word = rest.substr(0, dot);
  const auto known = std::ranges::find(kOperators, word, &Operator::name);
  if (dot == rest.npos || known == kOperators.end()) {
    return unreadable("filter", text,
                      fmt::format("expecting \"not\" or one of {}, and a dot", kOperatorList));
  }
  filter.op = known->op;
  rest.remove_prefix(dot + 1);
  if (filter.op == RestFilter::Op::in) {
    MR_TRY(filter.values, parse_rest_list(rest));
    return filter;
  }
  std::string value(rest);
  if (filter.op == RestFilter::Op::is && value == "not_null") {
    filter.negated = !filter.negated;
    value = "null";
  }
  if (filter.op == RestFilter::Op::like || filter.op == RestFilter::Op::ilike) {
    // In URLs * stands for %, which would have to be encoded.
    std::ranges::replace(value, '*', '%');
  }
  filter.values.push_back(std::move(value));
  return filter;
}

Result<std::vector<RestOrder>> parse_rest_order(std::string_view text) {
  MR_TRY(const auto terms, split("order", text));
  if (terms.size() > kRestOrdersMax) {
    return unreadable("order", text, fmt::format("{} columns are the most", kRestOrdersMax));
  }
  std::vector<RestOrder> out;
  for (const auto term : terms) {
    MR_TRY(auto order, parse_order_term(term));
    out.push_back(std::move(order));
  }
  return out;
}

Result<std::vector<std::string>> parse_rest_list(std::string_view text) {
  std::vector<std::string> out;
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') {
    return unreadable("filter", text, "expecting a list in parentheses: in.(a,b)");
  }
  auto rest = text.substr(1, text.size() - 2);
  if (rest.empty()) return out;
  for (;;) {
    std::string value;
    if (rest.starts_with('"')) {
      std::size_t i = 1;
      for (; i < rest.size() && rest[i] != '"'; ++i) {
        if (rest[i] == '\\' && i + 1 < rest.size()) ++i;
        value += rest[i];
      }
      if (i >= rest.size()) return unreadable("filter", text, "a quote is not closed");
      rest.remove_prefix(i + 1);
      if (!rest.empty() && rest.front() != ',') {
        return unreadable("filter", text, "behind a quoted value comes a comma");
      }
    } else {
      value = rest.substr(0, rest.find(','));
      rest.remove_prefix(value.size());
    }
    out.push_back(std::move(value));
    if (out.size() > kRestListMax) {
      return unreadable("filter", text,
                        fmt::format("a list may have {} values at most", kRestListMax));
    }
    if (rest.empty()) return out;
    rest.remove_prefix(1);  // The comma.
  }
}

Result<std::string> rename_columns(const RestRequest& request, std::string_view rows_json) {
  MR_TRY(const auto rows, parse_json(rows_json, kRowLimits));
  json::Array out;
  for (const auto& row : rows.as_array()) {
    const auto& given = row.as_object();
    json::Object renamed = request.all_columns ? given : json::Object();
    for (const auto& column : request.columns) {
      const auto* value = given.if_contains(column.name);
      auto& slot = renamed[column.alias.empty() ? column.name : column.alias];
      slot = value == nullptr ? json::Value(nullptr) : *value;
    }
    out.push_back(std::move(renamed));
  }
  return to_json(json::Value(std::move(out)));
}

}  // namespace millrace::api
