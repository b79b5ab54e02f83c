#include "pipeline/definition/draft.h"
#include "pipeline/definition/stage_kind.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace millrace::pipeline {
namespace {

constexpr std::size_t kOptionsMaxBytes = 16 * 1024;
constexpr int kOptionsMaxDepth = 8;

bool is_language(std::string_view text) {
  const auto letters = [](std::string_view part) {
    return std::ranges::all_of(part, [](char c) { return c >= 'a' && c <= 'z'; });
  };
  if (text.size() < 3 || text.size() > 16 || !letters(text.substr(0, 3))) return false;
  if (text.size() == 3) return true;
  return text.size() > 4 && text[3] == '_' && letters(text.substr(4));
}

void read_languages(ObjectReader& in, std::string_view name, json::Object& options) {
  const auto languages = in.texts(name, 8);
  if (!languages) return;
  if (languages->empty() || !std::ranges::all_of(*languages, is_language)) {
    in.wrong_value(name, "must be one to eight languages like [\"eng\", \"deu\"]");
    return;
  }
  json::Array list;
  for (const auto& language : *languages) list.emplace_back(language);
  options[name] = std::move(list);
}

void read_option(ObjectReader& in, const OptionSpec& spec, json::Object& options) {
  using enum OptionSpec::Type;
  const auto keep = [&](const auto& value) {
    if (value) options[spec.name] = *value;
  };
  switch (spec.type) {
    case text:
      return keep(in.text(spec.name));
    case choice:
      return keep(in.choice(spec.name, spec.choices));
    case boolean:
      return keep(in.boolean(spec.name));
    case integer:
      return keep(in.integer(
          spec.name, {static_cast<std::int64_t>(spec.min), static_cast<std::int64_t>(spec.max)}));
    case number:
      // As written: 1 stays an integer, as it comes back from the database.
      if (in.number(spec.name, {spec.min, spec.max})) options[spec.name] = *in.take(spec.name);
      return;
    case languages:
      return read_languages(in, spec.name, options);
  }
}

// What a program of the author's gets is the author's business, as long as it is JSON that the
// database keeps as it is.
std::string flaw(const json::Value& value, int depth) {
  if (depth > kOptionsMaxDepth) {
    return fmt::format("is nested deeper than {} levels", kOptionsMaxDepth);
  }
  if (const auto* number = value.if_double(); number != nullptr) {
    if (!(std::abs(*number) < 1e15)) return "has a number that is not finite or above 1e15";
  } else if (const auto* text = value.if_string()) {
    if (text->find('\0') != text->npos) return "has a text with a zero byte";
  } else if (const auto* array = value.if_array()) {
    for (const auto& entry : *array) {
      if (auto found = flaw(entry, depth + 1); !found.empty()) return found;
    }
  } else if (const auto* object = value.if_object()) {
    for (const auto& [key, entry] : *object) {
      if (key.find('\0') != key.npos) return "has a key with a zero byte";
      if (auto found = flaw(entry, depth + 1); !found.empty()) return found;
    }
  }
  return {};
}

}  // namespace

void read_options(ObjectReader& stage_reader, const Source& source, const std::string& who,
                  Stage& stage, bool run_known, Problems& problems) {
  const auto* object = stage_reader.object("options");
  if (object == nullptr || !run_known) return;
  const auto& kind = stage_kind(stage.kind);
  if (!kind.built_in()) {
    auto found = flaw(*object, 1);
    if (found.empty() && to_json(*object).size() > kOptionsMaxBytes) {
      found = fmt::format("are larger than {} bytes", kOptionsMaxBytes);
    }
    if (!found.empty()) return stage_reader.wrong("options", found);
    stage.options = *object;
    return;
  }
  ObjectReader in(source, *object, stage_reader.path_of("options"), who, problems, "options.");
  for (const auto& spec : kind.options) read_option(in, spec, stage.options);
  // Of the models in this process there are several that embed.
  if (stage.options.contains("model") && stage.provider == kLocalProvider &&
      stage.kind != RunKind::embed) {
    in.wrong("model", "is of a provider, and local has none");
  }
  const auto number = [&](std::string_view name, double otherwise) {
    const auto* value = stage.options.if_contains(name);
    if (value == nullptr) return otherwise;
    return value->is_double() ? value->get_double() : static_cast<double>(value->as_int64());
  };
  if (stage.kind == RunKind::extract) {
    for (const char* accept : {"accept_min", "accept_min_critical"}) {
      if (number("review_min", 0) > number(accept, 1)) {
        in.wrong("review_min", fmt::format("must not be above {}", accept));
      }
    }
  }
  if (stage.kind == RunKind::chunk) {
    const auto most = number("max_tokens", 1e6);
    const auto target = number("target_tokens", most);
    if (target > most) in.wrong("target_tokens", "must not be above max_tokens");
    if (number("min_tokens", 0) * 2 > target) {
      in.wrong("min_tokens", "must be at most half of target_tokens");
    }
    if (number("overlap_tokens", 0) > 0.15 * most) {
      in.wrong("overlap_tokens", "must be at most 15 % of max_tokens");
    }
  }
  in.finish();
}

}  // namespace millrace::pipeline
