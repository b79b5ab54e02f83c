#include "pipeline/definition/object_reader.h"

#include "base/byte_size.h"
#include "base/duration.h"
#include "base/words.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace millrace::pipeline {
namespace {

bool has_control(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

}  // namespace

std::string shown(const json::Value& value) {
  auto text = to_json(value);
  constexpr std::size_t kShownMax = 48;
  if (text.size() > kShownMax) {
    auto end = kShownMax;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    text = text.substr(0, end) + "…";
  }
  return text;
}

std::string any_of_text(const std::vector<std::string_view>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? " or " : ", ";
    out += fmt::format("\"{}\"", words[i]);
  }
  return out;
}

ObjectReader::ObjectReader(const Source& source, const json::Object& object, std::string path,
                           std::string who, Problems& problems, std::string within)
    : source_(source),
      object_(object),
      path_(std::move(path)),
      who_(std::move(who)),
      within_(std::move(within)),
      problems_(problems) {}

std::string ObjectReader::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

const json::Value* ObjectReader::take(std::string_view key) {
  taken_.emplace_back(key);
  return object_.if_contains(key);
}

void ObjectReader::wrong(std::string_view key, const std::string& rule) {
  problems_.add(place(key), fmt::format("{}{}{} {}", who_, within_, key, rule));
}

void ObjectReader::wrong_value(std::string_view key, const std::string& rule) {
  const auto* value = object_.if_contains(key);
  wrong(key, value == nullptr ? rule : fmt::format("{} (got {})", rule, shown(*value)));
}

std::optional<std::string> ObjectReader::text(std::string_view key, std::size_t size_max) {
  const auto* value = take(key);
  if (value == nullptr) return std::nullopt;
  const auto* text = value->if_string();
  if (text == nullptr) {
    wrong_value(key, "must be a text in quotes");
    return std::nullopt;
  }
  if (text->empty() || text->size() > size_max || has_control(*text)) {
    wrong_value(key, fmt::format("must be one line of 1 to {} bytes", size_max));
    return std::nullopt;
  }
  return std::string(*text);
}

std::optional<std::string> ObjectReader::choice(std::string_view key,
                                                std::vector<std::string_view> allowed) {
  const auto* value = take(key);
  if (value == nullptr) return std::nullopt;
  const auto* text = value->if_string();
  if (text == nullptr || std::ranges::find(allowed, std::string_view(*text)) == allowed.end()) {
    wrong_value(key, fmt::format("must be {}", any_of_text(allowed)));
    return std::nullopt;
  }
  return std::string(*text);
}

std::optional<bool> ObjectReader::boolean(std::string_view key) {
  const auto* value = take(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* flag = value->if_bool()) return *flag;
  wrong_value(key, "must be true or false");
  return std::nullopt;
}

std::optional<std::int64_t> ObjectReader::integer(std::string_view key, Count bounds) {
  const auto* value = take(key);
  if (value == nullptr) return std::nullopt;
  const auto* number = value->if_int64();
  if (number == nullptr || *number < bounds.min || *number > bounds.max) {
    wrong_value(key, fmt::format("must be a whole number from {} to {}", bounds.min, bounds.max));
    return std::nullopt;
  }
  return *number;
}

std::optional<double> ObjectReader::number(std::string_view key, Number bounds) {
  const auto* value = take(key);
  if (value == nullptr) return std::nullopt;
  const auto number = value->is_int64()    ? static_cast<double>(value->get_int64())
                      : value->is_double() ? value->get_double()
                                           : std::nan("");
  if (!(number >= bounds.min && number <= bounds.max)) {  // Also: not a number.
    wrong_value(key, fmt::format("must be a number from {} to {}", bounds.min, bounds.max));
    return std::nullopt;
  }
  return number;
}

std::optional<std::chrono::milliseconds> ObjectReader::duration(std::string_view key, Time bounds) {
  const auto* value = take(key);
  if (value == nullptr) return std::nullopt;
  const auto* text = value->if_string();
  const auto parsed = text == nullptr
                          ? Result<std::chrono::milliseconds>(fail(ErrorKind::invalid_argument, ""))
                          : parse_duration(std::string_view(*text).substr(0, 64));
  if (!parsed) {
    wrong_value(key, "must be a duration like \"90s\"");
    return std::nullopt;
  }
  if (*parsed < bounds.min || *parsed > bounds.max) {
    wrong_value(key, fmt::format("must be from {} to {}", format_duration(bounds.min),
                                 format_duration(bounds.max)));
    return std::nullopt;
  }
  return *parsed;
}

std::optional<std::uint64_t> ObjectReader::size(std::string_view key, Size bounds) {
  const auto* value = take(key);
  if (value == nullptr) return std::nullopt;
  std::optional<std::uint64_t> bytes;
  if (const auto* number = value->if_int64(); number != nullptr && *number > 0) {
    bytes = static_cast<std::uint64_t>(*number);
  } else if (const auto* text = value->if_string()) {
    if (const auto parsed = parse_byte_size(std::string_view(*text).substr(0, 64))) bytes = *parsed;
  }
  if (!bytes) {
    wrong_value(key, "must be a size like \"512M\"");
    return std::nullopt;
  }
  if (*bytes < bounds.min || *bytes > bounds.max) {
    wrong_value(key, fmt::format("must be from {} to {}", format_byte_size(bounds.min),
                                 format_byte_size(bounds.max)));
    return std::nullopt;
  }
  return bytes;
}

std::optional<std::vector<std::string>> ObjectReader::texts(std::string_view key,
                                                            std::size_t count_max) {
  const auto* value = take(key);
  if (value == nullptr) return std::nullopt;
  const auto* array = value->if_array();
  const bool all_text = array != nullptr && std::ranges::all_of(*array, [](const auto& entry) {
                          return entry.is_string() && !entry.get_string().empty() &&
                                 entry.get_string().size() <= 200 &&
                                 !has_control(entry.get_string());
                        });
  if (!all_text) {
    wrong_value(key, "must be a list of texts like [\"a\", \"b\"]");
    return std::nullopt;
  }
  if (array->size() > count_max) {
    wrong(key, fmt::format("has {} entries; at most {} are allowed", array->size(), count_max));
    return std::nullopt;
  }
  std::vector<std::string> out;
  for (const auto& entry : *array) {
    std::string text(entry.get_string());
    if (std::ranges::find(out, text) != out.end()) {
      wrong(key, fmt::format("names \"{}\" twice", text));
      continue;
    }
    out.push_back(std::move(text));
  }
  return out;
}

const json::Object* ObjectReader::object(std::string_view key) {
  const auto* value = take(key);
  if (value == nullptr) return nullptr;
  const auto* object = value->if_object();
  if (object == nullptr) wrong_value(key, "must be a table like { name = \"value\" }");
  return object;
}

void ObjectReader::finish() {
  for (const auto& [key, value] : object_) {
    const std::string name(key);
    if (std::ranges::find(taken_, name) != taken_.end()) continue;
    constexpr std::size_t kNameMax = 64;
    const auto shown_name = name.size() <= kNameMax ? name : name.substr(0, kNameMax) + "…";
    auto message = fmt::format("{}unknown key {}", who_, json_quote(within_ + shown_name));
    if (const auto near = name.size() <= kNameMax ? nearest_word(name, taken_) : std::nullopt) {
      message += fmt::format("; did you mean {}{}?", within_, *near);
    } else {
      auto known = taken_;
      std::ranges::sort(known);
      message += fmt::format("; known are {}", fmt::join(known, ", "));
    }
    problems_.add(place(key), std::move(message));
  }
}

}  // namespace millrace::pipeline
