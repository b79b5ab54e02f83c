#include "hostile.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace millrace::test {
namespace {

constexpr std::string_view kMethods[] = {"GET",   "HEAD",   "POST",   "PUT",
                                         "PATCH", "DELETE", "OPTIONS"};

constexpr std::string_view kNumbers[] = {"0",
                                         "-1",
                                         "1",
                                         "2147483648",
                                         "9223372036854775807",
                                         "9223372036854775808",
                                         "-9223372036854775809",
                                         "18446744073709551616",
                                         "1e308",
                                         "1e999",
                                         "NaN",
                                         "Infinity",
                                         "0x10",
                                         "1.5",
                                         "00",
                                         "1e-400"};

const std::string kTexts[] = {"",
                              " ",
                              "null",
                              "true",
                              "..",
                              "../../../etc/passwd",
                              "a/../../b",
                              "'; drop table millrace.job_fact; --",
                              "$1",
                              "%s%n%x",
                              "{}",
                              "[]",
                              "eq.1",
                              "in.(1,2)",
                              "not.is.null",
                              "*",
                              "select",
                              "<script>alert(1)</script>",
                              "\\",
                              "\"",
                              "a,b",
                              "0190a000-0000-7000-8000-00000000000g",
                              "00000000-0000-0000-0000-000000000000",
                              "ffffffff-ffff-ffff-ffff-ffffffffffff",
                              "infinity",
                              "-infinity",
                              "2031-02-30T00:00:00Z",
                              "9999999-01-01T00:00:00Z",
                              "default",
                              "noop",
                              "medical-docs",
                              "exports",
                              std::string("\0", 1),
                              std::string("a\0b", 3),
                              "\xff\xfe",
                              "\xc0\x80",
                              "\xed\xa0\x80",
                              "\xf4\x90\x80\x80",
                              "\xe2\x80\xae",
                              "\xf0\x9f\x92\xa9",
                              "\x01\x1f\x7f",
                              std::string(300, 'a'),
                              std::string(5000, 'z')};

constexpr std::string_view kHeaderNames[] = {"Accept",
                                             "Accept-Profile",
                                             "Content-Profile",
                                             "Prefer",
                                             "Range",
                                             "Range-Unit",
                                             "If-None-Match",
                                             "If-Match",
                                             "If-Range",
                                             "Idempotency-Key",
                                             "x-correlation-id",
                                             "traceparent",
                                             "tracestate",
                                             "x-millrace-tenant",
                                             "apikey",
                                             "Last-Event-ID",
                                             "Tus-Resumable",
                                             "Upload-Length",
                                             "Upload-Offset",
                                             "Upload-Metadata",
                                             "Upload-Defer-Length",
                                             "Upload-Concat",
                                             "x-upsert",
                                             "cache-control",
                                             "Origin",
                                             "Content-Encoding",
                                             "Cookie",
                                             "x-client-info",
                                             "X-Forwarded-For",
                                             "Forwarded",
                                             "X-HTTP-Method-Override",
                                             "x-signature",
                                             "x-metadata",
                                             "Digest",
                                             "Accept-Encoding"};

const std::string kHeaderValues[] = {"*",
                                     "W/\"x\"",
                                     "\"x",
                                     "bytes=0-",
                                     "bytes=-0",
                                     "bytes=5-1",
                                     "bytes=0-18446744073709551616",
                                     "bytes=0-1,2-3",
                                     "count=exact",
                                     "resolution=merge-duplicates,return=representation",
                                     "return=headers-only",
                                     "tx=rollback",
                                     "application/vnd.pgrst.object+json",
                                     "text/csv",
                                     "text/event-stream",
                                     "1.0.0",
                                     "filename d29ybGQ=",
                                     "filename !!!",
                                     "gzip",
                                     "information_schema",
                                     "00-00000000000000000000000000000000-0000000000000000-01",
                                     "https://evil.example",
                                     "\xff\xfe",
                                     "\t"};

constexpr std::string_view kContentTypes[] = {"application/json",
                                              "application/json; charset=utf-16",
                                              "text/plain",
                                              "application/octet-stream",
                                              "application/offset+octet-stream",
                                              "multipart/form-data",
                                              "multipart/form-data; boundary=",
                                              "multipart/form-data; boundary=edge",
                                              "application/vnd.pgrst.object+json",
                                              "a",
                                              ""};

bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

// Whether a bent path still means this operation, and not another one beside it.
bool leads_to(const ContractOperation& operation, std::string_view path) {
  return std::ranges::count(path, '/') == std::ranges::count(operation.path, '/') &&
         !path.contains("//") && !path.contains("/..");
}

}  // namespace

HostileRequests::HostileRequests(const Contract& contract, Pool pool, std::uint64_t seed)
    : contract_(contract), pool_(std::move(pool)), random_(seed) {}

std::string HostileRequests::text() {
  if (chance(80)) return any_of(kTexts);
  std::string bytes;
  for (auto left = random_.below(40); left > 0; --left) {
    bytes += static_cast<char>(random_.below(256));
  }
  return bytes;
}

std::string HostileRequests::value() {
  if (chance(40)) return any_of(pool_.ids);
  if (chance(20)) return std::string(any_of(kNumbers));
  if (chance(10)) return random_.uuid().to_string();
  return text();
}

// Encoded as it should be, mostly; otherwise as it comes, without what would end the line.
std::string HostileRequests::in_url(std::string_view text) {
  const bool right = chance(85);
  std::string out;
  for (const char c : text) {
    const bool breaks_line =
        c == '\r' || c == '\n' || c == ' ' || c == '\0' || c == '#' || c == '?';
    if (is_plain(c) || (!right && !breaks_line)) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  if (chance(3)) out += any_of(std::vector<std::string>{"%", "%zz", "%0", "%u0041"});
  return out;
}

std::string HostileRequests::path_of(const ContractOperation& operation) {
  std::string out;
  std::string_view rest(operation.path);
  for (auto brace = rest.find('{'); brace != rest.npos; brace = rest.find('{')) {
    out += rest.substr(0, brace);
    out += in_url(value());
    rest.remove_prefix(rest.find('}', brace) + 1);
  }
  out += rest;
  if (chance(2)) out += "/";
  if (chance(2)) out += "/" + in_url(value());
  return out;
}

std::string HostileRequests::query_of(const ContractOperation& operation) {
  std::string out;
  const auto add = [&](std::string_view name) {
    out += fmt::format("{}{}={}", out.empty() ? "?" : "&", in_url(name), in_url(value()));
  };
  if (const auto* parameters = operation.spec.if_contains("parameters")) {
    for (const auto& parameter : parameters->as_array()) {
      const auto& entry = parameter.as_object();
      if (std::string_view(entry.at("in").as_string()) != "query" || !chance(40)) continue;
      add(std::string(entry.at("name").as_string()));
    }
  }
  if (chance(10)) add(text());
  if (chance(10)) {
    add(any_of(std::vector<std::string>{"token", "select", "order", "limit", "cursor", "apikey",
                                        "id", "or", "on_conflict", "download"}));
  }
  return out;
}

std::string HostileRequests::header_value() {
  auto chosen = chance(60) ? any_of(kHeaderValues) : value();
  std::erase_if(chosen, [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
  return chosen;
}

std::string HostileRequests::headers() {
  std::string out;
  for (int i = 0; i < 3; ++i) {
    if (!chance(30)) continue;
    out += fmt::format("{}: {}\r\n", any_of(kHeaderNames), header_value());
  }
  return out;
}

json::Value HostileRequests::any_json(int depth) {
  switch (random_.below(depth > 3 ? 5 : 8)) {
    case 0:
      return nullptr;
    case 1:
      return chance(50);
    case 2:
      return random_.between(-3, 3);
    case 3:
      return chance(50) ? json::Value(9.0e15) : json::Value(-0.5);
    case 4: {
      // What is no text cannot stand in a JSON value; the bytes are bent afterwards.
      std::string chosen = value();
      std::erase_if(chosen, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
      return json::Value(chosen);
    }
    case 5: {
      json::Array list;
      for (auto left = random_.below(4); left > 0; --left) list.push_back(any_json(depth + 1));
      return list;
    }
    default: {
      json::Object object;
      for (auto left = random_.below(3); left > 0; --left) {
        std::string name = value();
        std::erase_if(name, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
        object[name] = any_json(depth + 1);
      }
      return object;
    }
  }
}

// Replaces something inside, adds a member, or takes one away.
void HostileRequests::bend(json::Value& value, int depth) {
  if (auto* object = value.if_object(); object != nullptr && !object->empty() && chance(75)) {
    auto chosen = object->begin() + static_cast<std::ptrdiff_t>(random_.below(object->size()));
    if (chance(15)) {
      object->erase(chosen);
    } else if (chance(15)) {
      (*object)[any_of(kTexts).substr(0, 20)] = any_json(depth + 1);
    } else {
      bend(chosen->value(), depth + 1);
    }
    return;
  }
  if (auto* list = value.if_array(); list != nullptr && !list->empty() && chance(75)) {
    bend((*list)[random_.below(list->size())], depth + 1);
    return;
  }
  value = any_json(depth);
}

std::string HostileRequests::body_of(const ContractOperation& operation, const Ask& sample) {
  auto body = sample.body.value_or("");
  if (contract_.sample_body(operation)) {
    auto value = parse_json(body);
    if (value && chance(80)) {
      for (auto times = random_.below(3); times > 0; --times) bend(*value, 0);
      body = to_json(*value);
    }
  }
  if (chance(10)) body = text();
  if (chance(8) && !body.empty()) body.resize(random_.below(body.size()));
  if (chance(8) && !body.empty()) {
    body[random_.below(body.size())] = static_cast<char>(random_.below(256));
  }
  if (chance(3)) body = std::string(random_.below(2000), '[');
  if (chance(2)) body += body;
  return body;
}

HostileRequest HostileRequests::next() {
  const auto& operation = any_of(contract_.operations());
  const auto& token = any_of(pool_.tokens);
  auto ask = contract_.sample_request(operation, token, {});
  const bool other_method = chance(5);
  if (other_method) ask.method = any_of(kMethods);
  const auto path = path_of(operation);
  ask.path = path + query_of(operation);
  std::string head = fmt::format("{} {} HTTP/1.1\r\nHost: test\r\n", ask.method, ask.path);
  if (!token.empty()) {
    head += fmt::format("{}{}\r\n", chance(85) ? "Authorization: Bearer " : "apikey: ", token);
  }
  // What the operation wants, unless it is left out or bent.
  for (const auto& [name, wanted] : ask.headers) {
    if (chance(10)) continue;
    head += fmt::format("{}: {}\r\n", name, chance(25) ? header_value() : wanted);
  }
  head += headers();
  std::string body;
  if (ask.body || chance(3)) {
    body = body_of(operation, ask);
    if (!chance(5)) {
      head += fmt::format("Content-Type: {}\r\n",
                          chance(90) ? ask.content_type : std::string(any_of(kContentTypes)));
    }
    head += fmt::format("Content-Length: {}\r\n", body.size());
  }
  const bool get_may_stream =
      std::ranges::any_of(contract_.operations(), [&](const ContractOperation& known) {
        return known.path == operation.path && known.long_lived();
      });
  return {.operation = &operation,
          .bytes = head + "\r\n" + body,
          .head_only = ask.method == "HEAD",
          .may_wait = get_may_stream,
          .as_described = !other_method && leads_to(operation, path)};
}

}  // namespace millrace::test
