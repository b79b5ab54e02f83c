#include "http/server_request.h"

#include "base/assert.h"
#include "http/message.h"
#include "http/router_path.h"
#include "http/server_utf8.h"

#include <algorithm>
#include <limits>

namespace millrace::http {
namespace {

constexpr std::size_t kQueryParametersMax = 256;

Result<std::string> decode_component(std::string_view text) {
  std::string decoded;
  if (!append_percent_decoded(decoded, text, true)) {
    return fail(ErrorKind::invalid_argument, "the query has a % without two hexadecimal digits");
  }
  if (!is_utf8(decoded) || decoded.contains('\0')) {
    return fail(ErrorKind::invalid_argument, "the query is not UTF-8 text");
  }
  return decoded;
}

}  // namespace

std::optional<std::string_view> ServerRequest::header(std::string_view name) const {
  for (const auto& header : headers) {
    if (header.name.size() == name.size() && same_name(header.name, name)) return header.value;
  }
  return std::nullopt;
}

std::string_view ServerRequest::parameter(std::string_view name) const {
  const auto found = std::ranges::find(parameters, name, &PathParameter::name);
  MR_ASSERT(found != parameters.end());
  return found->value;
}

Result<std::vector<QueryParameter>> ServerRequest::query_parameters() const {
  return parse_query(query);
}

Task<std::string> ServerRequest::read_whole_body() {
  constexpr std::uint64_t kStep = 16 * 1024;
  constexpr auto kUnknown = std::numeric_limits<std::uint64_t>::max();
  const auto length = body_length().value_or(kUnknown);
  std::string body;
  std::size_t size = 0;
  while (size < length) {
    // A length is only a promise: memory is taken for what may come next, not for all of it.
    const auto step = std::min<std::uint64_t>(length - size, std::max<std::uint64_t>(kStep, size));
    body.resize(size + step);
    MR_CO_TRY(const auto got, co_await read_body(std::span(body).subspan(size)));
    if (got == 0) break;
    size += got;
  }
  body.resize(size);
  co_return body;
}

Result<std::vector<QueryParameter>> parse_query(std::string_view query) {
  std::vector<QueryParameter> parameters;
  while (!query.empty()) {
    const auto end = query.find('&');
    const auto pair = query.substr(0, end);
    query.remove_prefix(end == query.npos ? query.size() : end + 1);
    if (pair.empty()) continue;
    if (parameters.size() == kQueryParametersMax) {
      return fail(ErrorKind::invalid_argument, "the query has too many parameters");
    }
    const auto equals = pair.find('=');
    MR_TRY(auto name, decode_component(pair.substr(0, equals)));
    MR_TRY(auto value,
           decode_component(equals == pair.npos ? std::string_view() : pair.substr(equals + 1)));
    parameters.emplace_back(std::move(name), std::move(value));
  }
  return parameters;
}

}  // namespace millrace::http
