#include "base/duration.h"
#include "base/fault.h"
#include "base/json.h"
#include "base/log.h"
#include "base/uuid.h"
#include "fuzz/targets.h"
#include "model/job.h"
#include "model/outcome.h"
#include "model/settlement.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>

namespace millrace::fuzz {
namespace {

std::size_t depth_of(const json::Value& value) {
  std::size_t deepest = 0;
  if (const auto* array = value.if_array()) {
    for (const auto& element : *array) deepest = std::max(deepest, depth_of(element));
    return deepest + 1;
  }
  if (const auto* object = value.if_object()) {
    for (const auto& member : *object) deepest = std::max(deepest, depth_of(member.value()));
    return deepest + 1;
  }
  return 0;
}

// The same value with the members of every object in reverse order.
json::Value reversed(const json::Value& value) {
  if (const auto* array = value.if_array()) {
    json::Array out;
    for (const auto& element : *array) out.push_back(reversed(element));
    return out;
  }
  const auto* object = value.if_object();
  if (object == nullptr) return value;
  json::Object out;
  std::vector<const boost::json::key_value_pair*> members;
  for (const auto& member : *object) members.push_back(&member);
  std::ranges::reverse(members);
  for (const auto* member : members) out[member->key()] = reversed(member->value());
  return out;
}

json::Value must_parse(const std::string& text, std::string_view what) {
  auto parsed = parse_json(text, {.max_bytes = std::numeric_limits<std::size_t>::max()});
  if (!parsed) broken(what, text);
  return std::move(*parsed);
}

void check_writers(const json::Value& value) {
  const auto text = to_json(value);
  const auto canonical = canonical_json(value);
  property(is_utf8(text), "what is written is UTF-8", text);
  property(to_json(must_parse(text, "to_json is read back")) == text,
           "writing what was read gives the same text", text);
  property(canonical_json(must_parse(text, "to_json is read back")) == canonical,
           "nothing is lost by writing and reading", text);
  property(
      canonical_json(must_parse(to_pretty_json(value), "pretty text is read back")) == canonical,
      "the pretty form says the same", text);
  property(canonical_json(must_parse(canonical, "canonical text is read back")) == canonical,
           "the canonical form is its own canonical form", canonical);
  property(canonical_json(reversed(value)) == canonical,
           "the canonical form does not depend on the order of members", canonical);
}

}  // namespace

// The first byte chooses the limits.
void fuzz_json(Input input) {
  const auto choice = take_byte(input);
  const JsonLimits limits{.max_bytes = choice >= 0x80 ? 16U : 1024U * 1024,
                          .max_depth = 1U + choice % 64};
  const auto parsed = parse_json(input, limits);
  const auto as_object = parse_json_object(input, limits);
  const auto generous = parse_json(input, {.max_bytes = input.size(), .max_depth = 64});
  if (!parsed) {
    check_told(parsed.error());
    check_told(as_object.error());
    if (!generous) check_told(generous.error());
  } else {
    property(input.size() <= limits.max_bytes, "the limit of bytes holds");
    property(depth_of(*parsed) <= limits.max_depth, "the limit of depth holds");
    property(generous.has_value(), "wider limits refuse nothing more");
    property(as_object.has_value() == parsed->is_object(), "only objects are objects");
    check_writers(*parsed);
    if (const auto* object = parsed->if_object(); object != nullptr && !object->empty()) {
      const auto twice =
          "{" + json_quote(object->begin()->key()) + ":0," + to_json(*object).substr(1);
      const auto again = parse_json(twice);
      property(!again, "a key that appears twice is refused", twice);
      check_told(again.error());
    }
  }
  check_linear(input, [](std::string_view text) { static_cast<void>(parse_json(text)); });
}

// The first byte chooses how much of the text is kept.
void fuzz_text(Input input) {
  const std::size_t max_bytes = take_byte(input);
  const auto quoted = json_quote(input);
  const auto read = must_parse(quoted, "a quoted text is a JSON text");
  property(read.is_string(), "a quoted text is a text");
  if (is_utf8(input)) property(read.get_string() == input, "quoting loses nothing", quoted);

  const auto stored = storable_text(input, max_bytes);
  property(!stored.contains('\0'), "PostgreSQL can hold it");
  property(stored.size() <= max_bytes + 3, "at most the limit and the mark of a cut");
  if (is_utf8(input)) property(is_utf8(stored), "no character is cut in two", stored);
  if (input.size() <= max_bytes && !input.contains('\0')) {
    property(stored == input, "what fits is not touched");
  }

  const auto error = must_parse(error_json(input, stored), "an error is a JSON object");
  property(error.as_object().size() == 2, "an error has a type and a message");
  check_linear(input, [](std::string_view text) {
    static_cast<void>(json_quote(text));
    static_cast<void>(storable_text(text));
  });
}

namespace {

// "1h30m" in whole numbers, read another way: nothing for what has fractions or is malformed.
std::optional<std::int64_t> whole_duration(Input text) {
  std::int64_t total = 0;
  while (!text.empty()) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || number > 10'000'000'000) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const bool ms = text.starts_with("ms");
    const auto unit = text.empty() ? '?' : text.front();
    const std::int64_t factor = ms            ? 1
                                : unit == 's' ? 1000
                                : unit == 'm' ? 60'000
                                : unit == 'h' ? 3'600'000
                                : unit == 'd' ? 86'400'000
                                              : 0;
    if (factor == 0) return std::nullopt;
    total += number * factor;
    text.remove_prefix(ms ? 2 : 1);
  }
  return total;
}

}  // namespace

void fuzz_duration(Input input) {
  using std::chrono::milliseconds;
  const auto parsed = parse_duration(input);
  if (!parsed) {
    check_told(parsed.error());
  } else {
    property(*parsed >= milliseconds(0), "not negative");
    property(*parsed <= std::chrono::days(36'600), "at most 100 years");
    const auto text = format_duration(*parsed);
    const auto again = parse_duration(text);
    property(again.has_value(), "what is printed is read", text);
    property(*again == *parsed, "printing and reading gives the same time", text);
    if (const auto whole = input == "0" ? std::nullopt : whole_duration(input)) {
      property(parsed->count() == *whole, "whole numbers are exact", input);
    }
  }
  std::int64_t any = 0;
  std::memcpy(&any, input.data(), std::min(sizeof any, input.size()));
  property(!format_duration(milliseconds(any)).empty(), "any time can be printed");
  check_linear(input, [](std::string_view text) { static_cast<void>(parse_duration(text)); });
}

void fuzz_names(Input input) {
  std::string lower(input);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto uuid = Uuid::parse(input);
  if (uuid) {
    property(uuid->to_string() == lower, "a UUID is printed as it was, in lower case", input);
    property(JobId::parse(input)->value == *uuid, "an id is its UUID");
  } else {
    check_told(uuid.error());
    property(uuid.error().message.size() < 200, "the message shows a bounded part");
    const auto shape = [&] {
      if (input.size() != 36) return false;
      for (std::size_t i = 0; i < input.size(); ++i) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? input[i] != '-' : std::isxdigit(static_cast<unsigned char>(input[i])) == 0) {
          return false;
        }
      }
      return true;
    };
    property(!shape(), "what looks like a UUID is one", input);
  }
  const auto check_label = [&](const auto& parsed, ErrorKind kind) {
    if (parsed) {
      property(to_string(*parsed) == input, "a label is printed as it was", input);
    } else {
      check_told(parsed.error(), kind);
    }
  };
  check_label(parse_job_status(input), ErrorKind::invalid_argument);
  check_label(parse_outcome_kind(input), ErrorKind::invalid_argument);
  check_label(parse_log_level(input), ErrorKind::invalid_argument);
  check_label(parse_answer(input), ErrorKind::internal);
}

// Nothing goes off: no point is reached while a plan is armed.
void fuzz_fault_plan(Input input) {
  const auto armed = fault::arm(input);
  fault::disarm();
  if (!armed) check_told(armed.error());
  if (armed && !input.empty() && !input.ends_with(';')) {
    const auto twice = std::string(input) + ";" + std::string(input);
    property(fault::arm(twice).has_value(), "two plans make a plan", twice);
    fault::disarm();
  }
  check_linear(input, [](std::string_view text) {
    static_cast<void>(fault::arm(text));
    fault::disarm();
  });
}

}  // namespace millrace::fuzz
