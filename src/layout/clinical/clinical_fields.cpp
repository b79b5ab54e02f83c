#include "layout/clinical/clinical_fields.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::layout::clinical {
namespace {

bool is_id(std::string_view text, std::size_t bytes_max) {
  return !text.empty() && text.size() <= bytes_max && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
}

std::string id_rule(const PassLimits& limits) {
  return fmt::format("must be 1 to {} letters, figures, dashes or underscores",
                     limits.id_bytes_max);
}

}  // namespace

Result<std::string> id_of(const Fields& fields, std::string_view name, const PassLimits& limits) {
  MR_TRY(const auto text, fields.text(name, limits.text_bytes_max));
  if (!is_id(text, limits.id_bytes_max)) return fields.wrong(name, id_rule(limits));
  return std::string(text);
}

Result<std::vector<std::string>> ids_of(const Fields& fields, std::string_view name,
                                        const PassLimits& limits, std::size_t count_max) {
  MR_TRY(const auto* array, fields.array(name, count_max));
  std::vector<std::string> ids;
  ids.reserve(array->size());
  for (const auto& element : *array) {
    if (!element.is_string() || !is_id(element.get_string(), limits.id_bytes_max)) {
      return fields.wrong(name, "must be ids: each " + id_rule(limits));
    }
    ids.emplace_back(std::string_view(element.get_string()));
  }
  return ids;
}

Result<double> conf_of(const Fields& fields) { return fields.number("conf", 0, 1); }

Result<WordRange> words_of(const Fields& fields, std::string_view name) {
  MR_TRY(const auto* array, fields.array(name, 2));
  const auto first = array->size() == 2 ? to_count((*array)[0]) : std::nullopt;
  const auto last = array->size() == 2 ? to_count((*array)[1]) : std::nullopt;
  if (!first || !last || *first > *last) {
    return fields.wrong(name, "must be [first, last], both included");
  }
  return WordRange{.first = *first, .last = *last};
}

Result<std::string> text_of(const Fields& fields, std::string_view name, const PassLimits& limits) {
  MR_TRY(const auto text, fields.text(name, limits.text_bytes_max));
  return std::string(text);
}

Result<void> check_schema(const Fields& fields, Pass pass) {
  MR_TRY(const auto schema, fields.text("schema", 100));
  if (schema != schema_id(pass)) {
    return fields.wrong("schema", fmt::format("must be {}", schema_id(pass)));
  }
  return ok();
}

json::Array ids_json(const std::vector<std::string>& ids) {
  json::Array array;
  for (const auto& id : ids) array.emplace_back(id);
  return array;
}

json::Array words_json(WordRange words) { return {words.first, words.last}; }

}  // namespace millrace::layout::clinical
