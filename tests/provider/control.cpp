#include "control.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <charconv>
#include <functional>

namespace millrace::test {
namespace {

constexpr std::size_t kRecordsMax = 10'000;
constexpr std::int64_t kTimesMax = 100'000;

using std::chrono::milliseconds;

WireReply wrong(std::string message) {
  return json_reply(400, json::Object{{"error", std::move(message)}});
}

std::optional<std::int64_t> whole(const json::Object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  if (value == nullptr || !value->is_int64() || value->get_int64() < 0) return std::nullopt;
  return value->get_int64();
}

std::optional<std::uint64_t> limit(const json::Object& object, std::string_view name) {
  const auto value = whole(object, name);
  if (!value) return std::nullopt;
  return static_cast<std::uint64_t>(*value);
}

Result<RandomMode> random_of(const json::Object& object) {
  RandomMode mode{.seed = limit(object, "seed").value_or(1)};
  if (const auto* rates = object.if_contains("rates"); rates != nullptr && rates->is_object()) {
    for (const auto& member : rates->get_object()) {
      const auto action = parse_action(member.key());
      if (!action || !member.value().is_number()) {
        return fail(ErrorKind::invalid_argument,
                    fmt::format("rates.{} is no action", std::string_view(member.key())));
      }
      mode.rates[*action] = member.value().to_number<double>();
    }
  }
  if (const auto* latency = object.if_contains("latency_ms");
      latency != nullptr && latency->is_array() && latency->get_array().size() == 2) {
    mode.latency_min = milliseconds(latency->get_array()[0].to_number<std::int64_t>());
    mode.latency_max = milliseconds(latency->get_array()[1].to_number<std::int64_t>());
  }
  return mode;
}

Result<void> script(Controlled& core, const json::Object& body) {
  const auto* steps = body.if_contains("steps");
  if (steps == nullptr || !steps->is_array()) {
    return fail(ErrorKind::invalid_argument, "steps must be a list");
  }
  for (const auto& value : steps->get_array()) {
    const auto action = parse_action(member(value, "do"));
    if (!action) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("'{}' is no action", member(value, "do")));
    }
    const auto& object = value.get_object();
    Step step{
        .action = *action, .service = member(value, "service"), .body = member(value, "body")};
    if (const auto after = member(value, "retry_after"); !after.empty()) step.retry_after = after;
    step.delay = milliseconds(whole(object, "delay_ms").value_or(0));
    step.pause = milliseconds(whole(object, "pause_ms").value_or(50));
    step.status = static_cast<int>(whole(object, "status").value_or(500));
    const auto times = std::min(whole(object, "times").value_or(1), kTimesMax);
    for (std::int64_t i = 0; i < times; ++i) core.add_step(step);
  }
  return ok();
}

// Of a query that is this parameter and nothing else; 0 when it is not.
std::uint64_t number_in(std::string_view query, std::string_view name) {
  std::uint64_t number = 0;
  if (!query.starts_with(name)) return number;
  std::from_chars(query.data() + name.size(), query.data() + query.size(), number);
  return number;
}

WireReply texts(const Controlled& core, std::string_view query) {
  return json_reply(
      200, json::Object{{"texts", core.paid().list(number_in(query, "over="), kRecordsMax)}});
}

WireReply requests(const Controlled& core, std::string_view query) {
  const auto after = number_in(query, "after=");
  json::Array out;
  for (const auto& record : core.records()) {
    if (record.number < after || out.size() >= kRecordsMax) continue;
    out.push_back(json::Object{{"number", record.number},
                               {"at_ms", record.at.count()},
                               {"service", record.service},
                               {"key", record.key},
                               {"model", record.model},
                               {"tokens", record.tokens},
                               {"inputs", record.inputs},
                               {"idempotency_key", record.idempotency_key},
                               {"correlation_id", record.correlation_id},
                               {"action", to_string(record.action)},
                               {"status", record.status}});
  }
  return json_reply(200, json::Object{{"requests", std::move(out)}});
}

}  // namespace

Result<void> apply_settings(Controlled& core, const json::Object& body) {
  if (const auto window = whole(body, "window_ms")) core.set_window(milliseconds(*window));
  if (const auto context = limit(body, "context_tokens")) core.set_context(*context);
  if (const auto* models = body.if_contains("models"); models != nullptr && models->is_array()) {
    for (const auto& model : models->get_array()) core.add_model(std::string(model.as_string()));
  }
  if (const auto* models = body.if_contains("embedding_models");
      models != nullptr && models->is_object()) {
    for (const auto& [model, dimensions] : models->get_object()) {
      core.add_embedding_model(model, dimensions.to_number<std::size_t>());
    }
  }
  if (const auto* embed = body.if_contains("embed"); embed != nullptr && embed->is_object()) {
    const auto& object = embed->get_object();
    const EmbedBounds real;
    core.set_embed_bounds(
        {.inputs = limit(object, "inputs").value_or(real.inputs),
         .input_tokens = limit(object, "input_tokens").value_or(real.input_tokens),
         .request_tokens = limit(object, "request_tokens").value_or(real.request_tokens)});
  }
  if (const auto* keys = body.if_contains("keys"); keys != nullptr && keys->is_object()) {
    for (const auto& member : keys->get_object()) {
      const auto* limits = member.value().if_object();
      if (limits == nullptr) return fail(ErrorKind::invalid_argument, "keys must be objects");
      core.set_limits(member.key(), {.requests = limit(*limits, "requests"),
                                     .tokens = limit(*limits, "tokens"),
                                     .concurrency = limit(*limits, "concurrency")});
    }
  }
  if (const auto* random = body.if_contains("random"); random != nullptr && random->is_object()) {
    MR_TRY(auto mode, random_of(random->get_object()));
    core.set_random(std::move(mode));
  }
  return ok();
}

WireReply control(Controlled& core, const WireRequest& request) {
  const auto what = request.path.substr(std::string_view("/control/").size());
  if (request.method == "GET" && what == "state") return json_reply(200, core.state());
  if (request.method == "GET" && what == "texts") return texts(core, request.query);
  if (request.method == "GET" && what == "requests") return requests(core, request.query);
  if (request.method != "POST") return wrong("no such control");
  if (what == "reset") {
    core.reset();
    return json_reply(200, core.state());
  }
  const auto body = parse_json_object(request.body);
  if (!body) return wrong(body.error().message);
  if (what != "settings" && what != "script") return wrong("no such control");
  const auto done = what == "settings" ? apply_settings(core, *body) : script(core, *body);
  if (!done) return wrong(done.error().message);
  return json_reply(200, core.state());
}

}  // namespace millrace::test
