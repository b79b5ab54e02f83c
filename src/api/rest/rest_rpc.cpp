#include "api/rest/rest_api.h"
#include "api/rest/rest_error.h"
#include "api/rest/rest_headers.h"
#include "base/json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace millrace::api {
namespace {

constexpr JsonLimits kAnswerLimits{.max_bytes = 256UL * 1024 * 1024, .max_depth = 128};
// They would select from what the function returns, which is given as it is here.
constexpr std::array<std::string_view, 7> kModifiers{"select", "order", "limit",  "offset",
                                                     "and",    "or",    "columns"};

std::unexpected<Error> no_function(std::string_view name) {
  return rest_refuse(
      "PGRST202", {.message = fmt::format("Could not find the function {}.{} in the schema cache",
                                          kRestSchema, name),
                   .details = "There is no function of this name, or it takes other parameters."});
}

const store::RestArgument* argument_of(const store::RestFunction& function, std::string_view name) {
  const auto found = std::ranges::find(function.args, name, &store::RestArgument::name);
  return found == function.args.end() ? nullptr : &*found;
}

Result<void> refuse_modifiers(const std::vector<http::QueryParameter>& parameters,
                              const store::RestFunction& function) {
  for (const auto& [name, value] : parameters) {
    if (std::ranges::find(kModifiers, name) == kModifiers.end()) continue;
    if (argument_of(function, name) != nullptr) continue;
    return rest_refuse("PGRST100",
                       {.message = fmt::format("{} is not offered for functions", name)});
  }
  return ok();
}

// Arguments in a query are texts; the database reads each as its type. JSON is JSON there too.
Result<std::string> arguments_of(const std::vector<http::QueryParameter>& parameters,
                                 const store::RestFunction& function, std::string_view name) {
  json::Object out;
  for (const auto& [key, value] : parameters) {
    const auto* argument = argument_of(function, key);
    if (argument == nullptr) return no_function(name);
    if (value.contains('\0')) {
      return rest_refuse("PGRST100", {.message = fmt::format("{} must not hold U+0000", key)});
    }
    if (out.contains(key)) {
      return rest_refuse("PGRST100", {.message = fmt::format("{} is given twice", key)});
    }
    if (argument->type == "json" || argument->type == "jsonb") {
      auto parsed = parse_json(value);
      if (!parsed) {
        return rest_refuse("22P02", {.message = "invalid input syntax for type json",
                                     .details = parsed.error().message});
      }
      out[key] = *std::move(parsed);
    } else {
      out[key] = value;
    }
  }
  return to_json(out);
}

// An answer that is a list of rows: how many.
Result<std::int64_t> rows_in(std::string_view text) {
  MR_TRY(const auto value, parse_json(text, kAnswerLimits));
  const auto* array = value.if_array();
  return array == nullptr ? std::int64_t{1} : static_cast<std::int64_t>(array->size());
}

Result<Reply> answer_reply(const store::RestFunction& function, store::RestAnswer answer,
                           RestShape shape, const RestPreferences& preferences) {
  if (answer.is_void) return Reply::empty(204);
  std::optional<std::int64_t> rows;
  const bool counted = preferences.count;
  if (function.returns_set && (shape == RestShape::object || counted)) {
    MR_TRY(rows, rows_in(answer.body_json));
  }
  Reply reply = Reply::json_text(std::move(answer.body_json));
  if (shape == RestShape::object) {
    if (function.returns_set) {
      MR_TRY(reply.body, only_row(std::move(reply.body), rows.value_or(0)));
    }
    reply.content_type = kRestObjectType;
  }
  if (counted) {
    const auto total = rows.value_or(1);
    reply.headers.emplace_back("Content-Range", content_range(0, total, total));
  }
  return reply;
}

Task<Reply> call_function(Call& call, RestApi& rest, bool by_get) {
  MR_CO_TRY_VOID(check_schema(call.request));
  MR_CO_TRY(const auto preferences, read_preferences(call.request));
  MR_CO_TRY(const auto shape, read_shape(call.request));
  MR_CO_TRY(const auto parameters, call.request.query_parameters());
  MR_CO_TRY(const auto surface, co_await rest.surface());
  const auto& name = call.parameters.required("function");
  const auto found = surface->functions.find(name);
  if (found == surface->functions.end()) co_return no_function(name);
  const auto& function = found->second;
  MR_CO_TRY_VOID(refuse_modifiers(parameters, function));
  store::RestCall request{.function = name,
                          .args_json = call.body_text,
                          .reading = by_get || function.read_only,
                          .single = shape == RestShape::object};
  if (by_get) {
    MR_CO_TRY(request.args_json, arguments_of(parameters, function, name));
  } else if (!parameters.empty()) {
    co_return rest_refuse("PGRST100", {.message = "arguments belong into the body",
                                       .details = parameters.front().first});
  }
  auto answer = co_await rest.store().call_function(call.context(), surface, std::move(request));
  if (!answer) {
    auto error = std::move(answer).error();
    // Said by our own lookup of the arguments, before PostgreSQL was asked.
    if (error.sqlstate == "42883" && error.message.starts_with("Could not find the function")) {
      co_return no_function(name);
    }
    if (by_get && error.sqlstate == "25006") error.kind = ErrorKind::invalid_argument;
    co_return fail(rest_denial(call, {}, std::move(error)));
  }
  co_return answer_reply(function, *std::move(answer), shape, preferences);
}

}  // namespace

Task<Reply> rest_call(Call& call, RestApi& rest) { return call_function(call, rest, false); }

Task<Reply> rest_call_reading(Call& call, RestApi& rest) { return call_function(call, rest, true); }

}  // namespace millrace::api
