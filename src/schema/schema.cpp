#include "schema/schema.h"

#include "schema/compiled.h"

#include <fmt/format.h>

#include <utility>

namespace millrace::schema {
namespace {

Violation limit_violation(std::string message) {
  return {.instance_path = "",
          .schema_path = "",
          .keyword = std::string(kLimitKeyword),
          .message = std::move(message)};
}

}  // namespace

std::vector<Violation> validate_with(const Limits& limits, const Node& node,
                                     const json::Value& value) {
  const auto place = Place::root();
  Walk quick(limits, nullptr);
  if (quick.check(node, {.value = value, .place = place})) return {};
  if (quick.stopped()) {
    return {limit_violation(fmt::format("the value cannot be checked: {}", quick.why_stopped()))};
  }
  Report report(limits.violations_max);
  Walk thorough(limits, &report);
  thorough.check(node, {.value = value, .place = place});
  auto violations = report.take();
  if (violations.empty()) {
    violations.push_back(limit_violation(
        fmt::format("the value is not valid; why cannot be said: {}", thorough.why_stopped())));
  }
  return violations;
}

Result<Schema> Schema::compile(json::Value document, SchemaOptions options) {
  MR_TRY(auto compiled, compile_schema(std::move(document), std::move(options)));
  return Schema(std::move(compiled));
}

std::vector<Violation> Schema::validate(const json::Value& value) const {
  return validate_with(compiled_->limits, *compiled_->root, value);
}

Result<json::Value> Schema::with_defaults(json::Value value) const {
  Walk walk(compiled_->limits, nullptr);
  walk.fill(*compiled_->root, value);
  if (walk.stopped()) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("the defaults cannot be filled in: {}", walk.why_stopped()));
  }
  return value;
}

std::vector<Violation> Schema::check_defaults() const {
  std::vector<Violation> all;
  for (const auto* node : compiled_->with_default) {
    auto value = *node->default_value;
    Walk walk(compiled_->limits, nullptr);
    walk.fill(*node, value);
    if (walk.stopped()) {
      all.push_back(
          limit_violation(fmt::format("the default of {} cannot be filled in: {}",
                                      node->place->shown("the schema"), walk.why_stopped())));
      continue;
    }
    for (auto& violation : validate_with(compiled_->limits, *node, value)) {
      violation.message =
          fmt::format("default of {}: {}", node->place->shown("the schema"), violation.message);
      all.push_back(std::move(violation));
    }
  }
  return all;
}

Draft Schema::draft() const { return compiled_->draft; }

const json::Value& Schema::document() const { return *compiled_->document; }

}  // namespace millrace::schema
