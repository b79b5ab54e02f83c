#include "pipeline/definition/parse.h"

#include "base/duration.h"
#include "blob/digest.h"
#include "pipeline/definition/draft.h"
#include "pipeline/definition/source.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <cmath>

namespace millrace::pipeline {
namespace {

constexpr std::string_view kSchema = "pipeline/1";

std::string hash_of(const json::Object& definition) {
  return blob::sha256(canonical_json(definition)).hex();
}

json::Array to_array(const std::vector<std::string>& texts) {
  json::Array out;
  for (const auto& text : texts) out.emplace_back(text);
  return out;
}

// Puts a value where there is one.
class Members {
 public:
  explicit Members(json::Object& object) : object_(object) {}

  void put(std::string_view key, const std::optional<std::int64_t>& value) {
    if (value) object_[key] = *value;
  }
  void put(std::string_view key, const std::optional<std::uint64_t>& value) {
    if (value) object_[key] = static_cast<std::int64_t>(*value);
  }
  void put(std::string_view key, const std::optional<std::chrono::milliseconds>& value) {
    if (value) object_[key] = format_duration(*value);
  }

 private:
  json::Object& object_;
};

json::Object limits_json(const StageLimits& limits) {
  json::Object out;
  Members members(out);
  members.put("memory", limits.memory_bytes);
  members.put("cpu", limits.cpu);
  members.put("wall", limits.wall);
  members.put("output", limits.output_bytes);
  members.put("file_size", limits.file_bytes);
  members.put("files", limits.files);
  members.put("processes", limits.processes);
  return out;
}

json::Object stage_json(const Stage& stage) {
  json::Object out{{"name", stage.name},
                   {"title", stage.title},
                   {"run", stage.run},
                   {"queue", stage.queue},
                   {"each", to_string(stage.each)},
                   {"after", to_array(stage.after)},
                   {"provider", stage.provider},
                   {"timeout", format_duration(stage.timeout)},
                   {"requires", to_array(stage.required)},
                   {"outputs", to_array(stage.outputs)},
                   {"revision", stage.revision}};
  Members members(out);
  members.put("call_timeout", stage.call_timeout);
  members.put("max_attempts", stage.max_attempts);
  if (stage.each == Each::page) out["on_page_failure"] = to_string(stage.on_page_failure);
  if (auto limits = limits_json(stage.limits); !limits.empty()) out["limits"] = std::move(limits);
  if (!stage.options.empty()) out["options"] = stage.options;
  return out;
}

// What PostgreSQL gives back for 0.5 and for 2 may be held as another type of number.
void normalise(json::Value& value) {
  constexpr double kExact = 9'007'199'254'740'992.0;
  if (auto* number = value.if_double()) {
    if (std::trunc(*number) == *number && std::abs(*number) < kExact) {
      value = static_cast<std::int64_t>(*number);
    }
  } else if (auto* big = value.if_uint64()) {
    if (*big <= INT64_MAX) value = static_cast<std::int64_t>(*big);
  } else if (auto* array = value.if_array()) {
    for (auto& entry : *array) normalise(entry);
  } else if (auto* object = value.if_object()) {
    for (auto& member : *object) normalise(member.value());
  }
}

}  // namespace

json::Object pipeline_to_json(const Pipeline& pipeline) {
  json::Array queues;
  for (const auto& queue : pipeline.queues) {
    auto object = queue.policy;
    object["name"] = queue.name;
    queues.push_back(std::move(object));
  }
  json::Array stages;
  for (const auto& stage : pipeline.stages) stages.push_back(stage_json(stage));
  json::Object out{{"schema", kSchema},
                   {"name", pipeline.name},
                   {"version", pipeline.version},
                   {"stage", std::move(stages)}};
  if (pipeline.takes != Takes::file) out["takes"] = to_string(pipeline.takes);
  if (!pipeline.description.empty()) out["description"] = pipeline.description;
  if (!queues.empty()) out["queue"] = std::move(queues);
  return out;
}

std::string pipeline_hash(const Pipeline& pipeline) { return hash_of(pipeline_to_json(pipeline)); }

Checked parse_pipeline(std::string_view text, const Known& known) {
  Problems problems;
  const auto source = read_toml(text, problems);
  if (!problems.empty()) return {.problems = problems.take()};
  auto draft = read_draft(source, problems);
  check_structure(draft, source, problems);
  check_sense(draft, source, problems);
  if (!problems.empty()) return {.problems = problems.take()};
  Problems warnings;
  check_surroundings(draft, source, known, warnings);
  put_in_order(draft.pipeline);
  draft.pipeline.hash = pipeline_hash(draft.pipeline);
  return {.pipeline = std::move(draft.pipeline), .warnings = warnings.take()};
}

Result<Pipeline> pipeline_from_json(const json::Object& object) {
  const auto* schema = object.if_contains("schema");
  if (schema == nullptr || !schema->is_string() || schema->get_string() != kSchema) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("a pipeline definition must have schema \"{}\"", kSchema));
  }
  Source source{.root = object, .places = {}};
  source.root.erase("schema");
  for (auto& member : source.root) normalise(member.value());
  Problems problems;
  auto draft = read_draft(source, problems);
  check_structure(draft, source, problems);
  if (!problems.empty()) {
    const auto first = problems.take().front();
    return fail(ErrorKind::invalid_argument, first.text("pipeline definition"));
  }
  put_in_order(draft.pipeline);
  auto whole = source.root;
  whole["schema"] = kSchema;
  draft.pipeline.hash = hash_of(whole);
  return std::move(draft.pipeline);
}

}  // namespace millrace::pipeline
