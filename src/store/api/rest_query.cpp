#include "store/api/rest_query.h"

#include "base/json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace millrace::store {
namespace {

constexpr std::size_t kFiltersMax = 100;

std::unexpected<Error> refuse(std::string_view sqlstate, std::string message) {
  return fail(Error{.kind = ErrorKind::invalid_argument,
                    .message = std::move(message),
                    .sqlstate = std::string(sqlstate)});
}

// Only for names that the surface knows.
std::string quote(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

// What confines the rows of a table to the tenant of the call. Views with the sources' columns have
// none for it: their jobs have.
std::string_view scope_of(std::string_view table) {
  constexpr std::string_view kOwn =
      "((select millrace.tenant_scope()) is null"
      " or r.tenant_id = (select millrace.tenant_scope()))";
  constexpr std::string_view kById =
      "((select millrace.tenant_scope()) is null or exists (select from millrace.job_fact f"
      " where f.job_id = r.id and f.tenant_id = (select millrace.tenant_scope())))";
  constexpr std::string_view kByJobId =
      "((select millrace.tenant_scope()) is null or exists (select from millrace.job_fact f"
      " where f.job_id = r.job_id and f.tenant_id = (select millrace.tenant_scope())))";
  if (table == "export_jobs" || table == "job_queue") return kById;
  if (table == "upload_jobs") return kByJobId;
  return kOwn;
}

std::string_view operator_of(RestFilter::Op op) {
  using enum RestFilter::Op;
  switch (op) {
    case eq:
      return "=";
    case neq:
      return "<>";
    case lt:
      return "<";
    case lte:
      return "<=";
    case gt:
      return ">";
    case gte:
      return ">=";
    case like:
      return "like";
    case ilike:
      return "ilike";
    case in:
    case is:
      return "";
  }
  return "";
}

bool flag(const json::Object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value != nullptr && *value == true;
}

std::string text(const json::Object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  if (value == nullptr || !value->is_string()) return {};
  return std::string(value->get_string());
}

RestFunction read_function(const json::Object& object) {
  RestFunction function{.args = {},
                        .returns_set = flag(object, "set"),
                        .returns_void = flag(object, "void"),
                        .read_only = flag(object, "read_only")};
  const auto* args = object.if_contains("args");
  if (args == nullptr || !args->is_array()) return function;
  for (const auto& item : args->get_array()) {
    if (!item.is_object()) continue;
    const auto& arg = item.get_object();
    function.args.push_back(
        {.name = text(arg, "name"), .type = text(arg, "type"), .optional = flag(arg, "optional")});
  }
  return function;
}

}  // namespace

Result<RestSurface> RestSurface::parse(std::string_view text) {
  MR_TRY(const auto object, parse_json_object(text));
  RestSurface surface;
  const auto* functions = object.if_contains("functions");
  const auto* tables = object.if_contains("tables");
  if (functions == nullptr || tables == nullptr || !functions->is_object() ||
      !tables->is_object()) {
    return fail(ErrorKind::internal, "the answer of rest_surface has no functions and tables");
  }
  for (const auto& member : functions->get_object()) {
    if (!member.value().is_object()) continue;
    surface.functions.emplace(member.key(), read_function(member.value().get_object()));
  }
  for (const auto& member : tables->get_object()) {
    if (!member.value().is_object()) continue;
    auto& columns = surface.tables[std::string(member.key())];
    for (const auto& column : member.value().get_object()) {
      if (column.value().is_string()) {
        columns.emplace(column.key(), std::string(column.value().get_string()));
      }
    }
  }
  return surface;
}

Result<RestSql> RestSql::make(const RestSurface& surface, std::string_view table) {
  if (!surface.tables.contains(table)) {
    return refuse("42P01", fmt::format("relation \"public.{}\" does not exist", table));
  }
  return RestSql(surface, table);
}

Result<std::string> RestSql::column(std::string_view name) const {
  if (!surface_.tables.find(table_)->second.contains(name)) {
    return refuse("42703", fmt::format("column {}.{} does not exist", table_, name));
  }
  return quote(name);
}

Result<std::string> RestSql::columns(const std::vector<std::string>& names,
                                     std::string_view alias) const {
  std::string out;
  const auto add = [&](std::string_view name) -> Result<void> {
    MR_TRY(const auto quoted, column(name));
    out += fmt::format("{}{}.{}", out.empty() ? "" : ", ", alias, quoted);
    return {};
  };
  if (names.empty()) {
    for (const auto& [name, type] : surface_.tables.find(table_)->second) MR_TRY_VOID(add(name));
  }
  for (const auto& name : names) MR_TRY_VOID(add(name));
  return out;
}

std::string RestSql::record() const {
  std::string out;
  for (const auto& [name, type] : surface_.tables.find(table_)->second) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", quote(name), type);
  }
  return out;
}

std::string RestSql::parameter(std::string_view value) {
  params_.add(value);
  return fmt::format("${}", params_.size());
}

Result<std::string> RestSql::condition(const RestFilter& filter) {
  using enum RestFilter::Op;
  MR_TRY(const auto name, column(filter.column));
  const auto no = filter.negated ? "not " : "";
  if (filter.op == in) {
    params_.add_array(filter.values);
    return fmt::format("{}(r.{} = any (${}))", no, name, params_.size());
  }
  if (filter.values.size() != 1) {
    return refuse("22023", fmt::format("the filter on {} needs one value", filter.column));
  }
  const auto& value = filter.values.front();
  if (filter.op == is) {
    if (value != "null" && value != "true" && value != "false") {
      return refuse("22023", fmt::format("{} can be is.null, is.true or is.false", filter.column));
    }
    return fmt::format("{}(r.{} is {})", no, name, value);
  }
  const auto cast = filter.op == like || filter.op == ilike ? "::text" : "";
  return fmt::format("{}(r.{}{} {} {})", no, name, cast, operator_of(filter.op), parameter(value));
}

Result<std::string> RestSql::rows(const RestQuery& query, std::string_view columns) {
  if (query.filters.size() > kFiltersMax) {
    return refuse("54000", fmt::format("a query may have {} filters at most", kFiltersMax));
  }
  auto out = fmt::format("select {} from millrace.{} r where {}", columns, quote(table_),
                         scope_of(table_));
  for (const auto& filter : query.filters) {
    MR_TRY(const auto sql, condition(filter));
    out += " and " + sql;
  }
  return out;
}

Result<std::string> RestSql::order(const std::vector<RestOrder>& orders) const {
  std::string out;
  for (const auto& order : orders) {
    MR_TRY(const auto name, column(order.column));
    out += fmt::format("{} r.{}{}", out.empty() ? " order by" : ",", name,
                       order.descending ? " desc" : "");
    if (order.nulls_first) out += *order.nulls_first ? " nulls first" : " nulls last";
  }
  return out;
}

Result<std::string> rest_call_sql(const RestSurface& surface, std::string_view function,
                                  std::string_view args_json) {
  MR_TRY(const auto given, parse_json_object(args_json));
  const auto no_match = [&] {
    return refuse("42883", fmt::format("Could not find the function public.{} with these "
                                       "parameters in the schema cache",
                                       function));
  };
  const auto found = surface.functions.find(function);
  if (found == surface.functions.end()) return no_match();
  std::string record;
  std::string args;
  std::size_t used = 0;
  for (const auto& arg : found->second.args) {
    if (!given.contains(arg.name)) {
      if (!arg.optional) return no_match();
      continue;
    }
    ++used;
    const auto separator = record.empty() ? "" : ", ";
    record += fmt::format("{}{} {}", separator, quote(arg.name), arg.type);
    args += fmt::format("{}{} => a.{}", separator, quote(arg.name), quote(arg.name));
  }
  if (used != given.size()) return no_match();
  // $1 is the object in both forms: a statement without it would be another one.
  const auto source = record.empty()
                          ? std::string("(select $1::json) a(unused)")
                          : fmt::format("pg_catalog.json_to_record($1::json) a({})", record);
  const auto call = fmt::format("millrace.{}({})", quote(function), args);
  if (found->second.returns_set) {
    return fmt::format(
        "select coalesce(pg_catalog.json_agg(f), '[]')::text from {}"
        " cross join lateral {} f",
        source, call);
  }
  if (found->second.returns_void) return fmt::format("select {}::text from {}", call, source);
  return fmt::format("select pg_catalog.to_json({})::text from {}", call, source);
}

}  // namespace millrace::store
