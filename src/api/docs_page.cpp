#include "api/docs_page.h"

#include "base/assert.h"
#include "http/response.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

namespace millrace::api {
namespace {

constexpr std::string_view kStyle = R"css(
:root{color-scheme:light dark;--line:#8884;--soft:#8881;--get:#1a7f37;--post:#0969da;--put:#9a6700;--delete:#cf222e}
body{font:15px/1.5 system-ui,sans-serif;margin:0 auto;max-width:68rem;padding:1rem 1.5rem 4rem}
nav{columns:14rem;margin:1rem 0 2rem}nav a{display:block;text-decoration:none}
code,pre{font:13px/1.45 ui-monospace,monospace}pre{background:var(--soft);padding:.75rem;overflow:auto;border-radius:.4rem}
details{border:1px solid var(--line);border-radius:.4rem;margin:.4rem 0}summary{cursor:pointer;padding:.45rem .7rem}
details>div{padding:0 .9rem .7rem}table{border-collapse:collapse;width:100%}
td,th{border-top:1px solid var(--line);padding:.3rem .5rem;text-align:left;vertical-align:top}
.method{display:inline-block;min-width:4.2rem;font-weight:700}.GET{color:var(--get)}.POST{color:var(--post)}
.PUT,.PATCH{color:var(--put)}.DELETE{color:var(--delete)}.who{opacity:.75}h3{margin:.9rem 0 .3rem;font-size:1rem}
)css";

std::string list_of(const std::vector<identity::Role>& roles) {
  std::string out;
  for (const auto role : roles) out += (out.empty() ? "" : ", ") + std::string(to_string(role));
  return out;
}

std::string who_may(const Access& access) {
  switch (access.kind()) {
    case Access::Kind::open:
      return "Everybody, without a token.";
    case Access::Kind::signature:
      return "Whoever can sign the request.";
    case Access::Kind::database:
      return fmt::format("Roles {}; grants and row security decide.", list_of(access.roles()));
    case Access::Kind::caller:
    case Access::Kind::stream:
      break;
  }
  auto text = fmt::format("Roles {}.", list_of(access.roles()));
  if (access.confinement() == Confinement::installation) {
    text += " Not with credentials that are confined to a tenant.";
  }
  if (access.admits(identity::Role::authenticated)) text += " People reach their own rows only.";
  if (access.kind() == Access::Kind::stream) text += " Or a stream token for this path.";
  return text;
}

std::string pretty_schema(const OperationTable& table, const std::string& schema) {
  auto value = table.schema_value(schema);
  MR_ASSERT(value.has_value());
  return html_escape(to_pretty_json(*value));
}

std::string schema_block(const OperationTable& table, const std::string& schema) {
  if (schema.empty()) return {};
  if (!schema.starts_with('{')) {
    return fmt::format("<a href=\"#schema-{0}\"><code>{0}</code></a>", html_escape(schema));
  }
  return fmt::format("<pre>{}</pre>", pretty_schema(table, schema));
}

void append_parameters(std::string& out, const CheckedOperation& checked) {
  if (checked.parameters.empty()) return;
  out += "<h3>Parameters</h3><table><tr><th>Name<th>In<th>Schema<th>Meaning</tr>";
  for (const auto& [parameter, schema, type] : checked.parameters) {
    out += fmt::format("<tr><td><code>{}</code>{}<td>{}<td><code>{}</code><td>{}</tr>",
                       html_escape(parameter.name), parameter.required ? " (required)" : "",
                       to_string(parameter.in), html_escape(to_json(schema.document())),
                       html_escape(parameter.description));
  }
  out += "</table>";
}

void append_operation(std::string& out, const OperationTable& table,
                      const CheckedOperation& checked) {
  const auto& operation = checked.operation;
  out += fmt::format(
      "<details id=\"{}\"><summary><span class=\"method {}\">{}</span> <code>{}</code> {}</summary>"
      "<div><p class=\"who\">{}</p>",
      html_escape(operation.id), operation.method, operation.method, html_escape(operation.path),
      html_escape(operation.summary), html_escape(who_may(operation.access)));
  if (!operation.description.empty()) {
    out += fmt::format("<p>{}</p>", html_escape(operation.description));
  }
  if (operation.idempotency_key) out += "<p>Takes <code>Idempotency-Key</code>.</p>";
  if (operation.guards_change) out += "<p>Takes <code>If-Match</code>.</p>";
  if (operation.conditional) {
    out += "<p>Answers with an <code>ETag</code>; takes <code>If-None-Match</code>.</p>";
  }
  append_parameters(out, checked);
  if (operation.body) {
    out += fmt::format("<h3>Body</h3><p>{}, at most {} bytes. {}</p>",
                       html_escape(operation.body->content_types.front()), operation.body_max_bytes,
                       schema_block(table, operation.body->schema));
  }
  out += "<h3>Answers</h3><table>";
  for (const auto& answer : operation.answers) {
    out += fmt::format("<tr><td>{}<td>{}<td>{}</tr>", answer.status,
                       html_escape(answer.description), schema_block(table, answer.schema));
  }
  for (const int status : error_statuses(operation)) {
    out +=
        fmt::format("<tr><td>{}<td>{}<td></tr>", status, html_escape(http::reason_phrase(status)));
  }
  out += "</table></div></details>";
}

}  // namespace

std::string html_escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string make_docs_page(const OperationTable& table, const ApiInfo& info) {
  std::map<std::string, std::vector<const CheckedOperation*>> by_tag;
  for (const auto& checked : table.all()) by_tag[checked->operation.tag].push_back(checked.get());
  std::string out = fmt::format(
      "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\"><title>{0} API</title>"
      "<style>{1}</style></head><body><h1>{0} API <small>{2}</small></h1><p>{3} The same as a "
      "document for programs: <a href=\"openapi.json\">openapi.json</a>.</p><nav>",
      html_escape(info.title), kStyle, html_escape(info.version), html_escape(info.description));
  for (const auto& [tag, operations] : by_tag) {
    out += fmt::format("<a href=\"#tag-{0}\">{0} ({1})</a>", html_escape(tag), operations.size());
  }
  out += "<a href=\"#schemas\">Schemas</a></nav>";
  for (const auto& [tag, operations] : by_tag) {
    out += fmt::format("<h2 id=\"tag-{0}\">{0}</h2>", html_escape(tag));
    for (const auto* checked : operations) append_operation(out, table, *checked);
  }
  out += "<h2 id=\"schemas\">Schemas</h2>";
  for (const auto& [name, schema] : table.components().at("schemas").as_object()) {
    out += fmt::format(
        "<details id=\"schema-{0}\"><summary><code>{0}</code></summary><div><pre>{1}"
        "</pre></div></details>",
        html_escape(name), html_escape(to_pretty_json(schema)));
  }
  return out + "</body></html>\n";
}

}  // namespace millrace::api
