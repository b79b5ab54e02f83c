#include "base/duration.h"
#include "pipeline/definition/draft.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <array>

namespace millrace::pipeline {
namespace {

constexpr double kSecond = 1'000;
constexpr double kDay = 86'400 * kSecond;
constexpr double kYear = 365 * kDay;

// The bounds are those of the table `queue`; times in milliseconds.
struct PolicyField {
  enum class Type { integer, number, time };
  std::string_view name;
  Type type;
  double min;
  double max;
};
using enum PolicyField::Type;
constexpr std::array kPolicyFields{
    PolicyField{"max_attempts", integer, 1, 1000},
    PolicyField{"backoff_base", time, 0, 7 * kDay},
    PolicyField{"backoff_factor", number, 1, 100},
    PolicyField{"backoff_cap", time, 0, 7 * kDay},
    PolicyField{"jitter_low", number, 0, 10},
    PolicyField{"jitter_high", number, 0, 10},
    PolicyField{"lease", time, kSecond, kDay},
    PolicyField{"beat", time, 1, kDay},
    PolicyField{"run_timeout", time, 10, 7 * kDay},
    PolicyField{"reclaim_jitter", time, 0, 3600 * kSecond},
    PolicyField{"max_age", time, 1, 10 * kYear},
    PolicyField{"max_snoozes", integer, 1, 1e9},
    PolicyField{"concurrency_max", integer, 0, 100'000},
    PolicyField{"key_concurrency_max", integer, 1, 100'000},
    PolicyField{"depth_max", integer, 0, 1e12},
    PolicyField{"priority_default", integer, 0, 1000},
    PolicyField{"age_step", time, 1, kYear},
};

// The larger must not be smaller; times and numbers.
struct Ordered {
  std::string_view small;
  std::string_view large;
  bool may_be_equal;
};
constexpr std::array kOrdered{Ordered{"backoff_base", "backoff_cap", true},
                              Ordered{"jitter_low", "jitter_high", true},
                              Ordered{"beat", "lease", false}};

double amount(const json::Value& value) {
  if (const auto* text = value.if_string()) {
    return static_cast<double>(
        parse_duration(std::string_view(*text)).value_or(std::chrono::milliseconds(0)).count());
  }
  return value.is_double() ? value.get_double() : static_cast<double>(value.as_int64());
}

QueuePolicy read_queue(ObjectReader& in) {
  QueuePolicy queue;
  if (const auto name = in.text("name"); name && is_job_name(*name)) {
    queue.name = *name;
  } else if (name) {
    in.wrong_value("name",
                   "must begin with a letter or digit and have at most 63 of a-z 0-9 _ . : -");
  } else if (!in.has("name")) {
    in.wrong("name", "is missing: every queue needs one");
  }
  for (const auto& field : kPolicyFields) {
    const auto low = static_cast<std::int64_t>(field.min);
    const auto high = static_cast<std::int64_t>(field.max);
    if (field.type == integer) {
      if (const auto value = in.integer(field.name, {low, high})) queue.policy[field.name] = *value;
    } else if (field.type == number) {
      // As written: 2 stays an integer.
      if (in.number(field.name, {field.min, field.max})) {
        queue.policy[field.name] = *in.take(field.name);
      }
    } else if (const auto value = in.duration(
                   field.name, {std::chrono::milliseconds(low), std::chrono::milliseconds(high)})) {
      queue.policy[field.name] = format_duration(*value);
    }
  }
  for (const auto& pair : kOrdered) {
    const auto* small = queue.policy.if_contains(pair.small);
    const auto* large = queue.policy.if_contains(pair.large);
    if (small == nullptr || large == nullptr) continue;
    const bool fine =
        pair.may_be_equal ? amount(*small) <= amount(*large) : amount(*small) < amount(*large);
    if (!fine) {
      in.wrong(pair.large, fmt::format("must be {} than {}", pair.may_be_equal ? "no less" : "more",
                                       pair.small));
    }
  }
  in.finish();
  return queue;
}

}  // namespace

void read_queues(ObjectReader& root, const Source& source, Pipeline& pipeline, Problems& problems) {
  const auto* value = root.take("queue");
  if (value == nullptr) return;
  const auto* array = value->if_array();
  if (array == nullptr) {
    root.wrong("queue", "must be tables that begin with [[queue]]");
    return;
  }
  if (array->size() > kQueuesMax) {
    root.wrong("queue",
               fmt::format("has {} tables; at most {} are allowed", array->size(), kQueuesMax));
    return;
  }
  for (std::size_t i = 0; i < array->size(); ++i) {
    const auto path = fmt::format("queue.{}", i);
    const auto* object = (*array)[i].if_object();
    if (object == nullptr) {
      problems.add(source.place(path), "queue must be tables that begin with [[queue]]");
      continue;
    }
    const auto* name = object->if_contains("name");
    const auto who =
        name != nullptr && name->is_string()
            ? fmt::format("queue {}: ",
                          json_quote(std::string_view(name->get_string()).substr(0, 64)))
            : fmt::format("queue {}: ", i + 1);
    ObjectReader in(source, *object, path, who, problems);
    auto queue = read_queue(in);
    for (const auto& other : pipeline.queues) {
      if (!queue.name.empty() && other.name == queue.name)
        in.wrong("name", "is that of another [[queue]]");
    }
    pipeline.queues.push_back(std::move(queue));
  }
}

}  // namespace millrace::pipeline
