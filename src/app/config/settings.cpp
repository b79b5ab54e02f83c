#include "app/config/settings.h"

#include "app/cli/command.h"
#include "base/assert.h"
#include "base/duration.h"
#include "base/file.h"

#include <boost/json/array.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace millrace::app {
namespace {

using std::chrono::milliseconds;

Result<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || stopped != text.data() + text.size()) {
    return fail(ErrorKind::invalid_argument, fmt::format("'{}' is not a whole number", text));
  }
  return value;
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    auto item = text.substr(0, comma);
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    if (!item.empty()) out.emplace_back(item);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return out;
}

Result<std::string> in_range(const SettingSpec& spec, std::int64_t value, std::string text) {
  if (value >= spec.min && value <= spec.max) return text;
  const auto shown = [&](std::int64_t bound) {
    return spec.type == SettingType::duration ? format_duration(milliseconds(bound))
                                              : fmt::format("{}", bound);
  };
  return fail(ErrorKind::invalid_argument,
              fmt::format("'{}' is not between {} and {}", text, shown(spec.min), shown(spec.max)));
}

// The value in its one written form, or why it cannot be.
Result<std::string> normalise(const SettingSpec& spec, std::string_view text) {
  switch (spec.type) {
    case SettingType::text:
    case SettingType::list:
      return std::string(text);
    case SettingType::integer: {
      MR_TRY(const auto value, parse_integer(text));
      return in_range(spec, value, fmt::format("{}", value));
    }
    case SettingType::duration: {
      MR_TRY(const auto value, parse_duration(text));
      return in_range(spec, value.count(), format_duration(value));
    }
    case SettingType::boolean: {
      for (const char* yes : {"true", "yes", "on", "1"}) {
        if (text == yes) return "true";
      }
      for (const char* no : {"false", "no", "off", "0"}) {
        if (text == no) return "false";
      }
      return fail(ErrorKind::invalid_argument, fmt::format("'{}' is not true or false", text));
    }
    case SettingType::choice: {
      if (std::ranges::find(spec.choices, text) != spec.choices.end()) return std::string(text);
      return fail(ErrorKind::invalid_argument,
                  fmt::format("'{}' is not {}", text, one_of(spec.choices)));
    }
  }
  return fail(ErrorKind::internal, "unknown type of setting");
}

Result<std::string> from_toml(const SettingSpec& spec, const json::Value& value) {
  if (spec.type == SettingType::list && value.is_array()) {
    std::string joined;
    for (const auto& item : value.as_array()) {
      if (!item.is_string()) {
        return fail(ErrorKind::invalid_argument, "must be a list of texts");
      }
      if (!joined.empty()) joined += ',';
      joined += std::string_view(item.as_string());
    }
    return joined;
  }
  if (value.is_string()) return normalise(spec, std::string_view(value.as_string()));
  if (spec.type == SettingType::duration) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("{} needs a unit, such as \"30s\"", to_json(value)));
  }
  if (spec.type == SettingType::integer && value.is_int64()) return normalise(spec, to_json(value));
  if (spec.type == SettingType::boolean && value.is_bool()) return normalise(spec, to_json(value));
  return fail(ErrorKind::invalid_argument, fmt::format("{} has the wrong type", to_json(value)));
}

Result<std::string> from_alias(const SettingSpec& spec, const Alias& alias,
                               const std::string& text) {
  if (alias.unit == AliasUnit::same) return normalise(spec, text);
  MR_TRY(const auto number, parse_integer(text));
  constexpr std::int64_t kAbsurd = 1'000'000'000'000;
  if (number < 0 || number > kAbsurd) {
    return fail(ErrorKind::invalid_argument, fmt::format("'{}' is out of range", text));
  }
  switch (alias.unit) {
    case AliasUnit::same:
      break;
    case AliasUnit::milliseconds:
      return normalise(spec, format_duration(milliseconds(number)));
    case AliasUnit::seconds:
      return normalise(spec, format_duration(milliseconds(number * 1000)));
    case AliasUnit::doubled_seconds:
      return normalise(spec, format_duration(milliseconds(number * 2000)));
    case AliasUnit::plus_one:
      return normalise(spec, fmt::format("{}", number + 1));
    case AliasUnit::port:
      if (number > 65535) {
        return fail(ErrorKind::invalid_argument, fmt::format("'{}' is not a port", text));
      }
      return normalise(spec, fmt::format("0.0.0.0:{}", number));
  }
  return fail(ErrorKind::internal, "unknown unit of an alias");
}

// The value of NAME, or of the file that NAME_FILE names.
Result<std::optional<std::string>> look_up(const Environment& environment, const std::string& name,
                                           bool secret) {
  std::optional<std::string> out;
  if (const auto found = environment.find(name); found != environment.end()) out = found->second;
  if (!secret) return out;
  const auto file = environment.find(name + "_FILE");
  if (file == environment.end()) return out;
  if (out) {
    return fail(ErrorKind::invalid_argument, fmt::format("{0} and {0}_FILE are both set", name));
  }
  auto text = read_file(file->second, 64 * 1024);
  if (!text) return fail_with_context(name + "_FILE", text.error());
  while (text->ends_with('\n') || text->ends_with('\r') || text->ends_with(' ')) text->pop_back();
  return std::optional<std::string>(std::move(*text));
}

// Variables of ours whose section exists but whose key does not: a misspelt setting.
Result<void> refuse_unknown_variables(const Environment& environment) {
  std::vector<std::string> known;
  std::vector<std::string> sections;
  for (const auto& spec : setting_specs()) {
    known.push_back(spec.variable());
    if (spec.secret) known.push_back(spec.variable() + "_FILE");
    const auto variable = spec.variable();
    sections.push_back(variable.substr(0, variable.size() - spec.key.size()));
  }
  for (const auto& [name, value] : environment) {
    const bool ours = std::ranges::any_of(
        sections, [&](const std::string& section) { return name.starts_with(section); });
    if (!ours || std::ranges::find(known, name) != known.end()) continue;
    auto message = fmt::format("unknown environment variable {}", name);
    if (auto near = nearest(name, known)) message += fmt::format("; did you mean {}?", *near);
    return fail(ErrorKind::invalid_argument, std::move(message));
  }
  return {};
}

}  // namespace

Result<Settings> Settings::load(const Sources& sources) {
  Settings settings;
  for (const auto& spec : setting_specs()) {
    settings.values_[spec.name()] = {std::string(spec.default_value), "default", false};
  }
  const auto usual = sources.folder / "millrace.toml";
  const auto named = sources.environment.find("MILLRACE_CONFIG");
  if (sources.file) {
    MR_TRY_VOID(settings.read_file(*sources.file, sources.environment));
  } else if (named != sources.environment.end() && !named->second.empty()) {
    MR_TRY_VOID(settings.read_file(named->second, sources.environment));
  } else if (std::error_code ignored; std::filesystem::exists(usual, ignored)) {
    MR_TRY_VOID(settings.read_file(usual.lexically_normal(), sources.environment));
  }
  MR_TRY_VOID(settings.read_environment(sources.environment));
  return settings;
}

Result<void> Settings::read_file(const std::filesystem::path& path, const Environment&) {
  auto text = millrace::read_file(path, 1024 * 1024);
  if (!text) return fail_with_context("cannot read the configuration", text.error());
  MR_TRY(const auto file, TomlFile::parse(*text, path.string()));
  for (const auto& [name, value] : file.values) {
    const auto* spec = find_setting(name);
    const auto where = fmt::format("{}:{}", file.name, value.line);
    if (spec == nullptr) {
      auto known = setting_names();
      known.insert(known.end(), {"handler", "queue"});
      auto message = fmt::format("{}: unknown key {}", where, name);
      if (auto near = nearest(name, known)) message += fmt::format("; did you mean {}?", *near);
      return fail(ErrorKind::invalid_argument, std::move(message));
    }
    auto normal = from_toml(*spec, value.value);
    if (!normal) return fail_with_context(fmt::format("{}: {}", where, name), normal.error());
    values_[name] = {std::move(*normal), where, true};
  }
  for (const auto& [name, tables] : file.arrays) {
    if (name == "handler" || name == "queue") continue;
    return fail(ErrorKind::invalid_argument,
                fmt::format("{}:{}: unknown table [[{}]]; there are [[handler]] and [[queue]]",
                            file.name, tables.front().line, name));
  }
  const auto folder = std::filesystem::absolute(path).parent_path();
  MR_TRY(handlers_, read_handlers(file, folder));
  MR_TRY(queues_, read_queues(file));
  file_ = path;
  return {};
}

Result<void> Settings::read_environment(const Environment& environment) {
  MR_TRY_VOID(refuse_unknown_variables(environment));
  for (const auto& spec : setting_specs()) {
    std::optional<std::string> chosen;
    std::string chosen_name;
    std::vector<Alias> names{{.name = {}, .unit = AliasUnit::same}};
    names.insert(names.end(), spec.aliases.begin(), spec.aliases.end());
    for (const auto& alias : names) {
      const auto name = alias.name.empty() ? spec.variable() : std::string(alias.name);
      MR_TRY(auto raw, look_up(environment, name, spec.secret));
      if (!raw || raw->empty()) continue;
      auto value = from_alias(spec, alias, *raw);
      if (!value) return fail_with_context("environment variable " + name, value.error());
      if (chosen && *chosen != *value) {
        return fail(ErrorKind::invalid_argument,
                    fmt::format("{} and {} disagree about {}; set one of them", chosen_name, name,
                                spec.name()));
      }
      chosen = std::move(*value);
      chosen_name = name;
    }
    if (chosen) values_[spec.name()] = {std::move(*chosen), "environment " + chosen_name, true};
  }
  return {};
}

Result<void> Settings::set_flag(std::string_view name, std::string value, std::string_view flag) {
  const auto* spec = find_setting(name);
  MR_ASSERT(spec != nullptr);
  auto normal = normalise(*spec, value);
  if (!normal) return fail_with_context(flag, normal.error());
  values_[std::string(name)] = {std::move(*normal), std::string(flag), true};
  return {};
}

const Setting& Settings::get(std::string_view name) const {
  const auto found = values_.find(name);
  MR_ASSERT(found != values_.end());
  return found->second;
}

std::int64_t Settings::integer(std::string_view name) const {
  const auto value = parse_integer(text(name));
  MR_ASSERT(value.has_value());
  return *value;
}

bool Settings::boolean(std::string_view name) const { return text(name) == "true"; }

milliseconds Settings::duration(std::string_view name) const {
  const auto value = parse_duration(text(name));
  MR_ASSERT(value.has_value());
  return *value;
}

std::optional<milliseconds> Settings::optional_duration(std::string_view name) const {
  if (text(name).empty()) return std::nullopt;
  return duration(name);
}

std::vector<std::string> Settings::list(std::string_view name) const {
  return split_list(text(name));
}

}  // namespace millrace::app
