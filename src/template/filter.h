// Filter: what stands behind a '|': a pure function of a value, its arguments and the language.
//
// The list is closed: templates can call these and nothing else. Where a filter gives markup
// (markdown, chart), it is made by us from escaped text, and the parser lets it be printed between
// tags only. docs/templates.md describes each of them.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "template/locale.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::templates {

// A value on its way: part of the data, or made on the way.
class Value {
 public:
  Value();  // null
  explicit Value(const json::Value& lasting) : value_(&lasting) {}
  static Value own(json::Value value);
  static Value text(std::string_view text);
  static Value markup(std::string_view html);

  const json::Value& operator*() const { return *value_; }
  const json::Value* operator->() const { return value_; }
  bool is_markup() const { return markup_; }
  const std::shared_ptr<const json::Value>& held() const { return held_; }
  // A member or item of it, which lives as long; null when there is none.
  Value part(std::string_view name) const;

 private:
  const json::Value* value_;
  std::shared_ptr<const json::Value> held_;  // Shared: loops and lets keep what they look at alive.
  bool markup_ = false;
};

// null, false, "", [] and {} do not count; 0 does.
bool is_there(const json::Value& value);
// As it is printed: texts as they are, numbers as JSON has them, null as nothing.
Result<std::string> printed(const json::Value& value);

struct FilterCallInput {
  const Value& value;
  std::span<const Value> arguments;
  const Locale& locale;

  bool has(std::size_t index) const { return index < arguments.size(); }
  Result<std::string> text(std::size_t index) const;
  Result<std::int64_t> whole(std::size_t index, std::int64_t min, std::int64_t max) const;
};

// Errors say what the value must be: "must be a number"; the place is added by the renderer.
using FilterFunction = Result<Value>(const FilterCallInput& input);

struct Filter {
  std::string_view name;
  std::size_t arguments_min = 0;
  std::size_t arguments_max = 0;
  FilterFunction* call = nullptr;
  bool gives_markup = false;
};

const Filter* find_filter(std::string_view name);
std::vector<std::string> filter_names();

// The groups the list is made of, each in a file of its own.
std::span<const Filter> text_filters();
std::span<const Filter> number_filters();
std::span<const Filter> list_filters();
std::span<const Filter> markup_filters();

}  // namespace millrace::templates
