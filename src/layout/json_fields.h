// Fields: the members of a JSON object, read with their rules.
//
// Whoever wrote the JSON is not trusted: every read has a type and a bound, and an error names the
// place and the rule, "words[3].conf must be a number between 0 and 1", never the value, which may
// be somebody's health. The value that is read must outlive its Fields.
#pragma once

#include "base/json.h"
#include "base/result.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::layout {

class Fields {
 public:
  // `path` is how errors call the object; empty for the outermost one.
  static Result<Fields> of(const json::Value& value, std::string path);

  // Null when the member is absent or null: both mean that there is no value.
  const json::Value* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }

  // UTF-8 of at most `bytes_max`.
  Result<std::string_view> text(std::string_view name, std::size_t bytes_max) const;
  Result<std::optional<std::string_view>> optional_text(std::string_view name,
                                                        std::size_t bytes_max) const;
  Result<double> number(std::string_view name, double low, double high) const;
  Result<std::optional<double>> optional_number(std::string_view name, double low,
                                                double high) const;
  // A whole number from 0 on.
  Result<std::uint32_t> count(std::string_view name, std::uint32_t high) const;
  Result<std::uint32_t> count_or(std::string_view name, std::uint32_t otherwise,
                                 std::uint32_t high) const;
  Result<bool> flag_or(std::string_view name, bool otherwise) const;
  Result<const json::Array*> array(std::string_view name, std::size_t size_max) const;
  // Null when it is absent.
  Result<const json::Array*> optional_array(std::string_view name, std::size_t size_max) const;
  Result<Fields> object(std::string_view name) const;

  // Refuses members of any other name.
  Result<void> only(std::initializer_list<std::string_view> names) const;

  const json::Object& value() const { return *object_; }
  std::string path_of(std::string_view name) const;
  std::string path_of(std::string_view name, std::size_t index) const;
  // "path.name rule"
  std::unexpected<Error> wrong(std::string_view name, std::string_view rule) const;

 private:
  Fields(const json::Object& object, std::string path) : object_(&object), path_(std::move(path)) {}

  const json::Object* object_;
  std::string path_;
};

// The number in any of the forms that the parser has for it.
std::optional<double> to_number(const json::Value& value);
// A whole number from 0 on, also when it was written as 3.0.
std::optional<std::uint32_t> to_count(const json::Value& value);

}  // namespace millrace::layout
