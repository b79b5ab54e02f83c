#include "contract.h"

#include "support/must.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace millrace::test {
namespace {

const json::Value* find(const json::Value& value, std::string_view name) {
  const auto* object = value.if_object();
  return object == nullptr ? nullptr : object->if_contains(name);
}

std::string text(const json::Value* value) {
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

// Texts whose pattern a generator would have to understand.
std::string sample_text(const json::Value& schema) {
  const auto format = text(find(schema, "format"));
  if (format == "uuid") return "0190a000-0000-7000-8000-000000000001";
  if (format == "date-time") return "2031-01-01T00:00:00Z";
  if (text(find(schema, "pattern")).starts_with("^/api/v1/")) return "/api/v1/jobs/x/events";
  return "sample";
}

std::vector<std::string> segments_of(std::string_view path) {
  std::vector<std::string> out;
  while (!path.empty()) {
    path.remove_prefix(1);  // The slash.
    const auto end = std::min(path.find('/'), path.size());
    out.emplace_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return out;
}

bool takes_rest(const json::Value& spec) {
  const auto* parameters = find(spec, "parameters");
  return parameters != nullptr &&
         std::ranges::any_of(parameters->as_array(), [](const json::Value& parameter) {
           return find(parameter, "x-millrace-rest-of-path") != nullptr;
         });
}

// How a path fits a pattern, segment by segment: 0 a literal, 1 a parameter, 2 the rest. Of several
// that fit, the router takes the one that sorts first. Nothing: it does not fit.
std::optional<std::string> fit(const ContractOperation& operation,
                               const std::vector<std::string>& path) {
  const auto& pattern = operation.segments;
  if (operation.takes_rest ? path.size() < pattern.size() : path.size() != pattern.size()) {
    return std::nullopt;
  }
  std::string rank;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const bool parameter = pattern[i].starts_with('{');
    if (parameter ? path[i].empty() : path[i] != pattern[i]) return std::nullopt;
    if (!parameter) {
      rank += '0';
    } else {
      rank += operation.takes_rest && i + 1 == pattern.size() ? '2' : '1';
    }
  }
  return rank;
}

// Members whose values must be known to the server to mean anything, as JSON.
const std::map<std::string, std::string, std::less<>> kKnownValues = {
    {"job_type", R"("noop")"},
    {"queue", R"("default")"},
    {"payload", R"({"n":1})"},
    {"schedule", R"("0 2 * * *")"},
    {"start_deadline", R"("2031-01-01T00:00:00Z")"}};

}  // namespace

std::string ContractOperation::access() const {
  return text(spec.if_contains("x-millrace-access"));
}

bool ContractOperation::admits(std::string_view role) const {
  const auto* roles = spec.if_contains("x-millrace-roles");
  if (roles == nullptr) return true;
  return std::ranges::any_of(roles->as_array(), [&](const json::Value& known) {
    return std::string_view(known.as_string()) == role;
  });
}

bool ContractOperation::for_all_tenants() const {
  const auto* all = spec.if_contains("x-millrace-all-tenants");
  return all != nullptr && all->is_bool() && all->get_bool();
}

bool ContractOperation::long_lived() const { return spec.contains("x-millrace-long-lived"); }

bool ContractOperation::takes_key() const {
  const auto* parameters = spec.if_contains("parameters");
  return parameters != nullptr &&
         std::ranges::any_of(parameters->as_array(), [](const json::Value& parameter) {
           return text(find(parameter, "name")) == "Idempotency-Key";
         });
}

std::string ContractOperation::path_with(const std::map<std::string, std::string>& values) const {
  std::string out;
  std::string_view rest(path);
  for (auto brace = rest.find('{'); brace != rest.npos; brace = rest.find('{')) {
    out += rest.substr(0, brace);
    const auto end = rest.find('}', brace);
    const std::string name(rest.substr(brace + 1, end - brace - 1));
    const auto value = values.find(name);
    out += value == values.end() ? "sample" : value->second;
    rest.remove_prefix(end + 1);
  }
  return out.append(rest);
}

Contract::Contract(json::Object document) : document_(std::move(document)) {
  for (const auto& [path, methods] : document_.at("paths").as_object()) {
    for (const auto& [method, spec] : methods.as_object()) {
      std::string upper(method);
      std::ranges::transform(upper, upper.begin(),
                             [](char c) { return static_cast<char>(c & ~0x20); });
      operations_.push_back({.id = text(find(spec, "operationId")),
                             .method = std::move(upper),
                             .path = std::string(path),
                             .spec = spec.as_object(),
                             .segments = segments_of(std::string(path)),
                             .takes_rest = takes_rest(spec)});
    }
  }
}

const ContractOperation* Contract::operation_of(std::string_view method,
                                                std::string_view target) const {
  const auto path = segments_of(target.substr(0, target.find('?')));
  std::optional<std::string> best;
  for (const auto& operation : operations_) {
    const auto rank = fit(operation, path);
    if (rank && (!best || *rank < *best)) best = rank;
  }
  const ContractOperation* by_get = nullptr;
  for (const auto& operation : operations_) {
    if (!best || fit(operation, path) != best) continue;
    if (operation.method == method) return &operation;
    if (operation.method == "GET" && method == "HEAD") by_get = &operation;
  }
  return by_get;
}

const json::Value& Contract::resolve(const json::Value& schema) const {
  const auto ref = text(find(schema, "$ref"));
  if (ref.empty()) return schema;
  constexpr std::string_view kPrefix = "#/components/schemas/";
  if (!ref.starts_with(kPrefix)) throw std::runtime_error("a reference leads to " + ref);
  return document_.at("components").at("schemas").at(ref.substr(kPrefix.size()));
}

json::Value Contract::sample(const json::Value& given, int depth, Random* chance) const {
  if (depth > 20) throw std::runtime_error("a schema is too deep for a sample");
  const auto& schema = resolve(given);
  if (const auto* value = find(schema, "const")) return *value;
  if (const auto* values = find(schema, "enum")) {
    const auto& list = values->as_array();
    return list.at(chance == nullptr ? 0 : chance->below(list.size()));
  }
  auto type = text(find(schema, "type"));
  if (const auto* types = find(schema, "type"); types != nullptr && types->is_array()) {
    type = text(&types->as_array().at(0));
  }
  if (type == "integer" || type == "number") {
    const auto* least = find(schema, "minimum");
    return least == nullptr ? json::Value(1) : *least;
  }
  if (type == "boolean") return chance == nullptr || chance->below(2) == 0;
  if (type == "string") return json::Value(sample_text(schema));
  if (type == "array") {
    json::Array out;
    if (const auto* items = find(schema, "items")) out.push_back(sample(*items, depth + 1, chance));
    return out;
  }
  return sample_object(schema, depth, chance);
}

json::Object Contract::sample_object(const json::Value& schema, int depth, Random* chance) const {
  json::Object out;
  const auto* properties = find(schema, "properties");
  if (properties == nullptr) return out;
  const auto add = [&](std::string_view name) {
    const auto known = kKnownValues.find(name);
    out[name] = known == kKnownValues.end() ? sample(properties->at(name), depth + 1, chance)
                                            : must(parse_json(known->second));
  };
  if (const auto* required = find(schema, "required")) {
    for (const auto& name : required->as_array()) add(name.as_string());
  }
  // Of alternatives the first; of objects that must not be empty, any member.
  if (const auto* any = find(schema, "anyOf"); any != nullptr && find(any->at(0), "required")) {
    add(any->at(0).at("required").at(0).as_string());
  }
  if (out.empty() && find(schema, "minProperties") != nullptr) {
    add(properties->as_object().begin()->key());
  }
  if (chance == nullptr || depth > 3) return out;
  for (const auto& member : properties->as_object()) {
    if (!out.contains(member.key()) && chance->below(4) == 0) add(member.key());
  }
  return out;
}

std::optional<std::string> Contract::make_body(const ContractOperation& operation,
                                               Random* chance) const {
  const auto* body = operation.spec.if_contains("requestBody");
  if (body == nullptr) return std::nullopt;
  const auto* content = find(body->at("content"), "application/json");
  const auto* schema = content == nullptr ? nullptr : find(*content, "schema");
  if (schema == nullptr) return std::nullopt;
  return to_json(sample(*schema, 0, chance));
}

std::optional<std::string> Contract::sample_body(const ContractOperation& operation) const {
  return make_body(operation, nullptr);
}

bool Contract::accepts(const ContractOperation& operation, const std::string& body) {
  const auto* wanted = operation.spec.if_contains("requestBody");
  if (wanted == nullptr) return body.empty();
  const auto* required = find(*wanted, "required");
  if (body.empty()) return required == nullptr || !required->as_bool();
  const auto* content = find(wanted->at("content"), "application/json");
  const auto* schema = content == nullptr ? nullptr : find(*content, "schema");
  const auto value = parse_json(body);
  return schema == nullptr || (value && compiled(*schema).validate(*value).empty());
}

void Contract::add_content(const ContractOperation& operation, Ask& ask, Random* chance) const {
  const auto* body = operation.spec.if_contains("requestBody");
  if (body == nullptr) return;
  ask.body = make_body(operation, chance);
  if (ask.body) return;
  ask.content_type = std::string(body->at("content").as_object().begin()->key());
  if (ask.content_type == "*/*") ask.content_type = "application/octet-stream";
  ask.body = "sample";
  if (ask.content_type == "multipart/form-data") {
    ask.content_type += "; boundary=edge";
    ask.body =
        "--edge\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n"
        "Content-Type: text/plain\r\n\r\nsample\r\n--edge--\r\n";
  }
}

void Contract::add_parameters(const ContractOperation& operation, Ask& ask, Random* chance) const {
  const auto* parameters = operation.spec.if_contains("parameters");
  if (parameters == nullptr) return;
  for (const auto& parameter : parameters->as_array()) {
    const auto* required = find(parameter, "required");
    const bool wanted = required != nullptr && required->is_bool() && required->get_bool();
    if (!wanted && (chance == nullptr || chance->below(3) != 0)) continue;
    const auto value = sample(parameter.at("schema"), 0, chance);
    const auto shown = value.is_string() ? std::string(value.get_string()) : to_json(value);
    const auto name = text(find(parameter, "name"));
    const auto in = text(find(parameter, "in"));
    if (in == "header") ask.headers.emplace_back(name, shown);
    if (in == "query") {
      ask.path += fmt::format("{}{}={}", ask.path.contains('?') ? "&" : "?", name, shown);
    }
  }
}

Ask Contract::make_request(const ContractOperation& operation, const std::string& token,
                           const std::map<std::string, std::string>& ids, Random* chance) const {
  Ask ask{.method = operation.method, .path = operation.path_with(ids), .token = token};
  add_parameters(operation, ask, chance);
  add_content(operation, ask, chance);
  return ask;
}

Ask Contract::sample_request(const ContractOperation& operation, const std::string& token,
                             const std::map<std::string, std::string>& ids) const {
  return make_request(operation, token, ids, nullptr);
}

Ask Contract::varied_request(const ContractOperation& operation, const std::string& token,
                             const std::map<std::string, std::string>& ids, Random& random) const {
  return make_request(operation, token, ids, &random);
}

const schema::Schema& Contract::compiled(const json::Value& schema) {
  auto key = to_json(schema);
  const auto found = compiled_.find(key);
  if (found != compiled_.end()) return found->second;
  auto document = schema;
  document.as_object()["components"] = document_.at("components");
  schema::SchemaOptions options;
  options.assert_formats = true;
  auto made = must(schema::Schema::compile(std::move(document), std::move(options)));
  return compiled_.emplace(std::move(key), std::move(made)).first->second;
}

std::string Contract::judge_body(const json::Value& schema, const Answered& answered) {
  const auto body = parse_json(answered.body, {.max_bytes = 64 * 1024 * 1024, .max_depth = 128});
  if (!body) return body.error().message;
  const auto violations = compiled(schema).validate(*body);
  if (violations.empty()) return {};
  return fmt::format("{} ({})", violations.front().message, violations.front().schema_path);
}

int Contract::meant_status(const Answered& answered) {
  if (answered.status < 400 || answered.header("content-type") != "application/json") {
    return answered.status;
  }
  const auto body = parse_json(answered.body);
  const auto inside = body ? text(find(*body, "statusCode")) : std::string();
  int status = answered.status;
  std::from_chars(inside.data(), inside.data() + inside.size(), status);
  return status;
}

std::string Contract::judge_problem(const Answered& answered) {
  if (answered.header("x-correlation-id").empty()) return "there is no x-correlation-id";
  return judge_body(json::Value{{"$ref", "#/components/schemas/Problem"}}, answered);
}

std::string Contract::judge(const ContractOperation& operation, const Answered& answered) {
  const auto& responses = operation.spec.at("responses").as_object();
  const auto* response = responses.if_contains(std::to_string(answered.status));
  if (response == nullptr) {
    if (answered.status < 400) return "the document does not know this status";
    response = &responses.at("default");
  }
  if (answered.header("x-correlation-id").empty()) return "there is no x-correlation-id";
  const auto* content = find(*response, "content");
  if (content == nullptr) {
    return answered.body.empty() ? "" : "the document promises an empty body";
  }
  auto type = answered.header("content-type");
  type = type.substr(0, type.find(';'));
  // PostgREST's way: rows that nobody asked to see are not sent.
  if (operation.access() == "database" && type.empty() && answered.body.empty()) return {};
  const auto* media = find(*content, type);
  if (media == nullptr) media = find(*content, "*/*");
  if (media == nullptr) return "the document does not know the content type " + type;
  const auto* schema = find(*media, "schema");
  if (schema == nullptr || answered.head_only) return {};
  if (type != "application/json" && !type.ends_with("+json")) return {};
  return judge_body(*schema, answered);
}

std::string Contract::judge(const Ask& ask, const Answered& answered) {
  const bool problem = answered.header("content-type") == "application/problem+json";
  const auto* operation = operation_of(ask.method, ask.path);
  if (operation != nullptr && !(ask.bent && problem)) return judge(*operation, answered);
  if (ask.method == "OPTIONS") return {};  // What a browser asks before it asks.
  if (answered.status < 400) return "the document does not know this operation";
  return problem && !answered.head_only ? judge_problem(answered) : std::string();
}

}  // namespace millrace::test
