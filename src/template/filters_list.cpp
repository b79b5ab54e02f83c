#include "template/decimal.h"
#include "template/escape.h"
#include "template/filter.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <array>

namespace millrace::templates {
namespace {

std::unexpected<Error> not_a_list() { return fail(ErrorKind::invalid_argument, "must be a list"); }

std::size_t letters_of(std::string_view text) {
  std::size_t letters = 0;
  for (const char c : text) letters += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1U : 0U;
  return letters;
}

Result<Value> length(const FilterCallInput& input) {
  const auto& value = *input.value;
  std::size_t size = 0;
  if (const auto* array = value.if_array()) size = array->size();
  if (const auto* object = value.if_object()) size = object->size();
  if (const auto* text = value.if_string()) size = letters_of(*text);
  return Value::own(static_cast<std::int64_t>(size));
}

// Of texts, or of one member of each: {{ skills | join: ", ", "name" }}.
Result<Value> join(const FilterCallInput& input) {
  if (input.value->is_null()) return input.value;
  const auto* array = input.value->if_array();
  if (array == nullptr) return not_a_list();
  MR_TRY(const auto between, input.has(0) ? input.text(0) : Result<std::string>(", "));
  std::string member;
  if (input.has(1)) {
    MR_TRY(member, input.text(1));
  }
  std::string out;
  for (const auto& item : *array) {
    const auto value = member.empty() ? Value(item) : Value(item).part(member);
    MR_TRY(const auto text, printed(*value));
    if (text.empty()) continue;
    if (!out.empty()) out += between;
    out += text;
  }
  return Value::text(out);
}

Result<Value> sum(const FilterCallInput& input) {
  if (input.value->is_null()) return input.value;
  const auto* array = input.value->if_array();
  if (array == nullptr) return not_a_list();
  std::string member;
  if (input.has(0)) {
    MR_TRY(member, input.text(0));
  }
  Decimal total;
  for (std::size_t i = 0; i < array->size(); ++i) {
    const auto value = member.empty() ? Value((*array)[i]) : Value((*array)[i]).part(member);
    auto number = Decimal::of(*value);
    if (!number) return fail_with_context(fmt::format("item {}", i), number.error());
    total = total + *number;
  }
  return Value::own(total.to_value());
}

Result<Value> first(const FilterCallInput& input) { return input.value.part("0"); }

Result<Value> last(const FilterCallInput& input) {
  const auto* array = input.value->if_array();
  if (array == nullptr || array->empty()) return Value();
  return input.value.part(std::to_string(array->size() - 1));
}

Result<Value> item(const FilterCallInput& input) {
  MR_TRY(const auto name, input.text(0));
  return input.value.part(name);
}

// The lines of a text, for addresses.
Result<Value> lines(const FilterCallInput& input) {
  MR_TRY(const auto text, printed(*input.value));
  json::Array out;
  for (std::string_view rest = text; !rest.empty();) {
    const auto end = rest.find('\n');
    auto line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    out.emplace_back(line);
    if (end == rest.npos) break;
    rest.remove_prefix(end + 1);
  }
  return Value::own(std::move(out));
}

constexpr auto kFilters = std::to_array<Filter>({
    {"length", 0, 0, length},
    {"join", 0, 2, join},
    {"sum", 0, 1, sum},
    {"first", 0, 0, first},
    {"last", 0, 0, last},
    {"item", 1, 1, item},
    {"lines", 0, 0, lines},
});

}  // namespace

std::span<const Filter> list_filters() { return kFilters; }

}  // namespace millrace::templates
