#include "template/evaluate.h"

#include "schema/uri.h"
#include "schema/value.h"
#include "template/escape.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <ranges>

namespace millrace::templates {
namespace {

constexpr std::size_t kWarningsMax = 20;

Value loop_value(std::size_t index, std::size_t count) {
  return Value::own(json::Object{{"index", static_cast<std::int64_t>(index + 1)},
                                 {"index0", static_cast<std::int64_t>(index)},
                                 {"length", static_cast<std::int64_t>(count)},
                                 {"first", index == 0},
                                 {"last", index + 1 == count},
                                 {"odd", index % 2 == 0},
                                 {"even", index % 2 == 1}});
}

bool decide(Comparison comparison, std::partial_ordering order) {
  switch (comparison) {
    case Comparison::equal:
      return order == 0;
    case Comparison::not_equal:
      return order != 0;
    case Comparison::less:
      return order < 0;
    case Comparison::less_equal:
      return order <= 0;
    case Comparison::greater:
      return order > 0;
    case Comparison::greater_equal:
      return order >= 0;
  }
  return false;
}

}  // namespace

std::unexpected<Error> Evaluator::wrong(Place place, std::string_view message) const {
  return fail_at(file_->name, place, message);
}

Result<void> Evaluator::spend(std::uint64_t steps, Place place) {
  steps_ += steps;
  if (steps_ > limits_.steps_max) {
    return wrong(place, fmt::format("the template takes more than {} steps for this data",
                                    limits_.steps_max));
  }
  return {};
}

Result<std::string> Evaluator::run(const ParsedFile& file) {
  bytes_before_ += out_.size();
  out_.clear();
  file_ = &file;
  MR_TRY_VOID(block(file.block));
  bytes_before_ += out_.size();
  return std::exchange(out_, {});
}

Result<void> Evaluator::block(const Block& block) {
  if (++depth_ > limits_.depth_max) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("{}: nested more than {} deep", file_->name, limits_.depth_max));
  }
  const auto kept = variables_.size();
  for (const auto& part : block) {
    MR_TRY_VOID(std::visit([&](const auto& what) { return node(what); }, part.what));
    if (bytes_before_ + out_.size() > limits_.output_max_bytes) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("{}: the page would have more than {} bytes", file_->name,
                              limits_.output_max_bytes));
    }
  }
  variables_.resize(kept);
  --depth_;
  return {};
}

Result<void> Evaluator::node(const Node::Text& node) {
  out_ += node.text;
  return {};
}

Result<void> Evaluator::node(const Node::Print& node) {
  MR_TRY(const auto value, value_of(node.expression));
  if (value.is_markup()) {
    out_ += std::string_view(value->get_string());
    return {};
  }
  const auto text = printed(*value);
  if (!text) {
    return wrong(node.expression.place,
                 fmt::format("{} {}", subject_of(node.expression.start), text.error().message));
  }
  MR_TRY_VOID(spend(text->size() / 64, node.expression.place));
  if (!print_text(*text, node.context, out_) && warnings_.size() < kWarningsMax) {
    warnings_.push_back(
        at(file_->name, node.expression.place,
           fmt::format("{} is not allowed as {} and was left out",
                       subject_of(node.expression.start), to_string(node.context.kind))));
  }
  return {};
}

Result<void> Evaluator::node(const Node::If& node) {
  for (const auto& branch : node.branches) {
    MR_TRY(const bool chosen, holds(branch.condition));
    if (chosen) return block(branch.block);
  }
  return block(node.otherwise);
}

Result<void> Evaluator::node(const Node::For& node) {
  MR_TRY(const auto list, value_of(node.list));
  std::size_t count = 0;
  if (const auto* array = list->if_array()) count = array->size();
  if (const auto* object = list->if_object()) count = object->size();
  if (count == 0) {
    const bool is_list = list->is_null() || list->is_array() || list->is_object();
    if (!is_list) {
      return wrong(node.list.place, fmt::format("{} must be a list", subject_of(node.list.start)));
    }
    return block(node.otherwise);
  }
  std::optional<std::string> pointer;
  if (const auto* path = std::get_if<Path>(&node.list.start.what);
      path && node.list.filters.empty()) {
    pointer = pointer_of(*path);
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (++items_ > limits_.items_max) {
      return wrong(node.list.place,
                   fmt::format("loops may have {} turns together", limits_.items_max));
    }
    if (list->is_array()) {
      MR_TRY_VOID(turn(node, list.part(std::to_string(i)), i, count, pointer));
      continue;
    }
    const auto member = list->get_object().begin() + static_cast<std::ptrdiff_t>(i);
    const auto pair = Value::own(json::Object{{"key", member->key()}, {"value", member->value()}});
    MR_TRY_VOID(turn(node, pair, i, count, std::nullopt));
  }
  return {};
}

Result<void> Evaluator::turn(const Node::For& node, const Value& item, std::size_t index,
                             std::size_t count, const std::optional<std::string>& pointer) {
  MR_TRY_VOID(spend(1, node.list.place));
  const auto kept = variables_.size();
  variables_.push_back({.name = node.variable,
                        .value = item,
                        .pointer = pointer.value_or(""),
                        .index = index,
                        .from_data = pointer.has_value()});
  variables_.push_back({.name = "loop", .value = loop_value(index, count)});
  MR_TRY_VOID(block(node.body));
  variables_.resize(kept);
  return {};
}

Result<void> Evaluator::node(const Node::Let& node) {
  MR_TRY(auto value, value_of(node.expression));
  variables_.push_back({.name = node.variable, .value = std::move(value)});
  return {};
}

Result<void> Evaluator::node(const Node::Include& node) {
  const auto* outer = std::exchange(file_, node.file.get());
  MR_TRY_VOID(block(node.file->block));
  file_ = outer;
  return {};
}

Result<bool> Evaluator::holds(const Condition& condition) {
  return std::visit(
      [&]<class T>(const T& what) -> Result<bool> {
        if constexpr (std::is_same_v<T, Condition::Truth>) {
          MR_TRY(const auto value, value_of(what.expression));
          return is_there(*value);
        } else if constexpr (std::is_same_v<T, Condition::Compare>) {
          return compare(what);
        } else if constexpr (std::is_same_v<T, Condition::Not>) {
          MR_TRY(const bool inner, holds(*what.inner));
          return !inner;
        } else {
          constexpr bool is_both = std::is_same_v<T, Condition::Both>;
          MR_TRY(const bool left, holds(*what.left));
          if (left != is_both) return left;
          return holds(*what.right);
        }
      },
      condition.what);
}

Result<bool> Evaluator::compare(const Condition::Compare& compare) {
  MR_TRY(const auto left, value_of(compare.left));
  MR_TRY(const auto right, value_of(compare.right));
  auto order = std::partial_ordering::unordered;
  if (left->is_number() && right->is_number()) {
    order = schema::compare_numbers(*left, *right);
  } else if (left->is_string() && right->is_string()) {
    order = std::string_view(left->get_string()) <=> std::string_view(right->get_string());
  } else {
    schema::Budget budget(100'000, 64);
    if (schema::equal(*left, *right, budget)) order = std::partial_ordering::equivalent;
  }
  return decide(compare.comparison, order);
}

Result<Value> Evaluator::value_of(const Expression& expression) {
  MR_TRY_VOID(spend(1 + expression.filters.size(), expression.place));
  auto value = value_of(expression.start);
  for (const auto& call : expression.filters) {
    std::vector<Value> arguments;
    arguments.reserve(call.arguments.size());
    for (const auto& argument : call.arguments) arguments.push_back(value_of(argument));
    auto made = call.filter->call(
        {.value = value, .arguments = arguments, .locale = *surroundings_.locale});
    if (!made) {
      return wrong(call.place, fmt::format("{} | {}: {}", subject_of(expression.start),
                                           call.filter->name, made.error().message));
    }
    value = std::move(*made);
    const auto* text = value->if_string();
    if (text != nullptr) MR_TRY_VOID(spend(text->size() / 64, call.place));
  }
  return value;
}

Value Evaluator::value_of(const Operand& operand) const {
  if (const auto* literal = std::get_if<json::Value>(&operand.what)) return Value(*literal);
  return value_of(std::get<Path>(operand.what));
}

Value Evaluator::value_of(const Path& path) const {
  const auto& first = path.names.front();
  Value value;
  std::size_t next = 1;
  const auto known = std::ranges::find(std::views::reverse(variables_), first, &Variable::name);
  if (known != variables_.rend()) {
    value = known->value;
  } else if (first == "labels") {
    value = Value(*surroundings_.labels);
  } else if (first == "page") {
    value = Value(*surroundings_.page);
  } else {
    value = Value(*surroundings_.data);
    next = first == "data" ? 1 : 0;
  }
  for (; next < path.names.size(); ++next) value = value.part(path.names[next]);
  return value;
}

std::optional<std::string> Evaluator::pointer_of(const Path& path) const {
  const auto& first = path.names.front();
  std::string pointer;
  std::size_t next = 1;
  const auto known = std::ranges::find(std::views::reverse(variables_), first, &Variable::name);
  if (known != variables_.rend()) {
    if (!known->from_data) return std::nullopt;
    pointer = fmt::format("{}/{}", known->pointer, known->index);
  } else if (first == "labels" || first == "page") {
    return std::nullopt;
  } else {
    next = first == "data" ? 1 : 0;
  }
  for (; next < path.names.size(); ++next) schema::append_token(pointer, path.names[next]);
  return pointer;
}

std::string Evaluator::subject_of(const Operand& operand) const {
  const auto* path = std::get_if<Path>(&operand.what);
  if (path == nullptr) return "a literal";
  if (auto pointer = pointer_of(*path)) return *pointer;
  std::string out;
  for (const auto& name : path->names) out += (out.empty() ? "" : ".") + name;
  return out;
}

}  // namespace millrace::templates
