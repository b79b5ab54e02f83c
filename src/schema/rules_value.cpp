// Rules about single values: type, enum, const, numbers and texts.
#include "schema/building.h"
#include "schema/format.h"
#include "schema/regex/code_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>

namespace millrace::schema {
namespace {

constexpr std::size_t kHashedEnumMin = 8;

class TypeRule final : public Rule {
 public:
  TypeRule(std::string_view keyword, const Node& owner, const std::vector<std::string>& names)
      : Rule(keyword, owner) {
    for (const auto& name : names) {
      if (name == "integer") integers_ = true;
      for (std::size_t i = 0; i < kNames.size(); ++i) {
        if (kNames[i] == name) types_ |= 1U << i;
      }
    }
  }

  static bool is_name(std::string_view name) {
    return name == "integer" || std::ranges::find(kNames, name) != kNames.end();
  }

  bool check(Walk& walk, const Subject& subject) const override {
    const auto type = type_of(subject.value);
    if ((types_ & (1U << static_cast<unsigned>(type))) != 0) return true;
    if (integers_ && is_integer(subject.value)) return true;
    return walk.broken(*this, subject,
                       [&] { return fmt::format("must be {}, is {}", wanted(), to_string(type)); });
  }

 private:
  // In the order of Type.
  static constexpr std::array<std::string_view, 6> kNames = {"null",  "boolean", "object",
                                                             "array", "number",  "string"};

  std::string wanted() const {
    std::string text;
    const auto add = [&](std::string_view name) {
      if (!text.empty()) text += " or ";
      text += name;
    };
    if (integers_ && (types_ & (1U << static_cast<unsigned>(Type::number))) == 0) {
      add("a whole number");
    }
    for (unsigned i = 0; i < kNames.size(); ++i) {
      if ((types_ & (1U << i)) != 0) add(to_string(static_cast<Type>(i)));
    }
    return text.empty() ? "nothing at all" : text;
  }

  unsigned types_ = 0;
  bool integers_ = false;
};

class EnumRule final : public Rule {
 public:
  EnumRule(std::string_view keyword, const Node& owner, const json::Array& values)
      : Rule(keyword, owner), values_(values) {
    if (values_.size() < kHashedEnumMin) return;
    Budget budget(std::numeric_limits<std::uint64_t>::max(),
                  std::numeric_limits<std::uint32_t>::max());
    for (const auto& value : values_) by_hash_.emplace(hash(value, budget), &value);
  }

  bool check(Walk& walk, const Subject& subject) const override {
    if (has(subject.value, walk.budget())) return true;
    return walk.broken(*this, subject, [&] {
      return fmt::format("must be one of {}", excerpt(json::Value(values_)));
    });
  }

 private:
  bool has(const json::Value& value, Budget& budget) const {
    if (by_hash_.empty()) {
      return std::ranges::any_of(values_, [&](const auto& v) { return equal(v, value, budget); });
    }
    const auto [from, to] = by_hash_.equal_range(hash(value, budget));
    return std::any_of(from, to, [&](const auto& v) { return equal(*v.second, value, budget); });
  }

  const json::Array& values_;  // In the document.
  std::unordered_multimap<std::uint64_t, const json::Value*> by_hash_;
};

class ConstRule final : public Rule {
 public:
  ConstRule(std::string_view keyword, const Node& owner, const json::Value& value)
      : Rule(keyword, owner), value_(value) {}

  bool check(Walk& walk, const Subject& subject) const override {
    if (equal(value_, subject.value, walk.budget())) return true;
    return walk.broken(*this, subject, [&] { return fmt::format("must be {}", excerpt(value_)); });
  }

 private:
  const json::Value& value_;  // In the document.
};

enum class Bound { minimum, maximum, exclusive_minimum, exclusive_maximum };

class BoundRule final : public Rule {
 public:
  BoundRule(std::string_view keyword, const Node& owner, Bound bound, const json::Value& limit)
      : Rule(keyword, owner), bound_(bound), limit_(limit) {}

  bool check(Walk& walk, const Subject& subject) const override {
    if (!subject.value.is_number()) return true;
    if (holds(compare_numbers(subject.value, limit_))) return true;
    return walk.broken(*this, subject, [&] {
      const auto limit = excerpt(limit_);
      switch (bound_) {
        case Bound::minimum:
          return fmt::format("must be {} or more", limit);
        case Bound::maximum:
          return fmt::format("must be {} or less", limit);
        case Bound::exclusive_minimum:
          return fmt::format("must be more than {}", limit);
        case Bound::exclusive_maximum:
          break;
      }
      return fmt::format("must be less than {}", limit);
    });
  }

 private:
  bool holds(std::partial_ordering order) const {
    switch (bound_) {
      case Bound::minimum:
        return order >= 0;
      case Bound::maximum:
        return order <= 0;
      case Bound::exclusive_minimum:
        return order > 0;
      case Bound::exclusive_maximum:
        break;
    }
    return order < 0;
  }

  Bound bound_;
  const json::Value& limit_;  // In the document.
};

class MultipleRule final : public Rule {
 public:
  MultipleRule(std::string_view keyword, const Node& owner, const json::Value& divisor)
      : Rule(keyword, owner), divisor_(divisor) {}

  bool check(Walk& walk, const Subject& subject) const override {
    if (!subject.value.is_number() || is_multiple_of(subject.value, divisor_)) return true;
    return walk.broken(*this, subject,
                       [&] { return fmt::format("must be a multiple of {}", excerpt(divisor_)); });
  }

 private:
  const json::Value& divisor_;  // In the document.
};

class LengthRule final : public Rule {
 public:
  LengthRule(std::string_view keyword, const Node& owner, bool is_min, std::size_t limit)
      : Rule(keyword, owner), is_min_(is_min), limit_(limit) {}

  bool check(Walk& walk, const Subject& subject) const override {
    const auto* text = subject.value.if_string();
    if (text == nullptr) return true;
    // A code point has one to four bytes: long and short texts need not be counted.
    if (is_min_ ? text->size() / 4 >= limit_ : text->size() <= limit_) return true;
    if (!walk.budget().spend(text->size() / 8)) return false;
    const auto length = count_code_points(*text);
    if (is_min_ ? length >= limit_ : length <= limit_) return true;
    return walk.broken(*this, subject, [&] {
      return fmt::format("must have at {} {} characters, has {}", is_min_ ? "least" : "most",
                         limit_, length);
    });
  }

 private:
  bool is_min_;
  std::size_t limit_;
};

class PatternRule final : public Rule {
 public:
  PatternRule(std::string_view keyword, const Node& owner, std::string text, Regex regex)
      : Rule(keyword, owner), text_(std::move(text)), regex_(std::move(regex)) {}

  bool check(Walk& walk, const Subject& subject) const override {
    const auto* text = subject.value.if_string();
    if (text == nullptr || walk.finds(regex_, *text)) return true;
    return walk.broken(*this, subject, [&] {
      return fmt::format("must match the pattern {}", quoted_name(text_));
    });
  }

 private:
  std::string text_;
  Regex regex_;
};

class FormatRule final : public Rule {
 public:
  FormatRule(std::string_view keyword, const Node& owner, std::string name, FormatCheck* check)
      : Rule(keyword, owner), name_(std::move(name)), check_(check) {}

  bool check(Walk& walk, const Subject& subject) const override {
    const auto* text = subject.value.if_string();
    if (text == nullptr) return true;
    if (!walk.budget().spend(text->size())) return false;
    if (check_(*text)) return true;
    return walk.broken(*this, subject,
                       [&] { return fmt::format("must have the format {}", name_); });
  }

 private:
  std::string name_;
  FormatCheck* check_;
};

Result<void> add_type(Building& building) {
  const auto* value = building.find("type");
  if (value == nullptr) return ok();
  std::vector<std::string> names;
  if (value->is_string()) {
    names.emplace_back(value->get_string());
  } else {
    MR_TRY(names, building.names("type", *value));
  }
  for (const auto& name : names) {
    if (!TypeRule::is_name(name)) {
      return building.wrong("type", fmt::format("names {}, which is no type", quoted_name(name)));
    }
  }
  building.add<TypeRule>("type", names);
  return ok();
}

Result<void> add_numbers(Building& building) {
  constexpr std::pair<std::string_view, Bound> kBounds[] = {
      {"minimum", Bound::minimum},
      {"maximum", Bound::maximum},
      {"exclusiveMinimum", Bound::exclusive_minimum},
      {"exclusiveMaximum", Bound::exclusive_maximum}};
  for (const auto& [keyword, bound] : kBounds) {
    const auto* value = building.find(keyword);
    if (value == nullptr) continue;
    if (!value->is_number()) return building.wrong(keyword, "must be a number");
    building.add<BoundRule>(keyword, bound, *value);
  }
  const auto* divisor = building.find("multipleOf");
  if (divisor == nullptr) return ok();
  if (!divisor->is_number() || !(compare_numbers(*divisor, json::Value(0)) > 0)) {
    return building.wrong("multipleOf", "must be a number greater than 0");
  }
  building.add<MultipleRule>("multipleOf", *divisor);
  return ok();
}

Result<void> add_texts(Building& building) {
  for (const auto* keyword : {"minLength", "maxLength"}) {
    MR_TRY(const auto limit, building.count(keyword));
    if (limit) building.add<LengthRule>(keyword, std::string_view(keyword) == "minLength", *limit);
  }
  const auto* pattern = building.find("pattern");
  if (pattern == nullptr) return ok();
  if (!pattern->is_string()) return building.wrong("pattern", "must be a string");
  MR_TRY(auto regex, building.pattern("pattern", pattern->get_string()));
  building.add<PatternRule>("pattern", std::string(pattern->get_string()), std::move(regex));
  return ok();
}

}  // namespace

Result<void> add_value_rules(Building& building) {
  if (building.assert_formats() || building.dialect().format_assertion) {
    const auto* name = building.find("format");
    auto* check = name != nullptr && name->is_string() ? find_format(name->get_string()) : nullptr;
    if (check != nullptr) {
      building.add<FormatRule>("format", std::string(name->get_string()), check);
    }
  }
  if (!building.dialect().validation) return ok();
  MR_TRY_VOID(add_type(building));
  if (const auto* values = building.find("enum")) {
    if (!values->is_array()) return building.wrong("enum", "must be an array");
    building.add<EnumRule>("enum", values->get_array());
  }
  if (const auto* value = building.find("const")) building.add<ConstRule>("const", *value);
  MR_TRY_VOID(add_numbers(building));
  return add_texts(building);
}

}  // namespace millrace::schema
