#include "schema/node.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace millrace::schema {
namespace {

// What entering a schema and describing a violation cost, in steps.
constexpr std::uint64_t kNodeSteps = 8;
constexpr std::uint64_t kViolationSteps = 200;

std::string_view why_refused(std::string_view keyword) {
  if (keyword == "additionalProperties" || keyword == "unevaluatedProperties") {
    return "is a property that the schema does not allow";
  }
  if (keyword == "items" || keyword == "additionalItems" || keyword == "unevaluatedItems") {
    return "is an item too many";
  }
  return "is not allowed";
}

// The size of a value in memory, more or less.
std::size_t size_of(const json::Value& value) {
  std::size_t bytes = sizeof(json::Value);
  if (const auto* text = value.if_string()) return bytes + text->size();
  if (const auto* array = value.if_array()) {
    for (const auto& item : *array) bytes += size_of(item);
  } else if (const auto* object = value.if_object()) {
    for (const auto& member : *object) bytes += member.key().size() + size_of(member.value());
  }
  return bytes;
}

}  // namespace

void Evaluated::add(const Evaluated& other) {
  if (other.marks_.size() > marks_.size()) marks_.resize(other.marks_.size());
  for (std::size_t i = 0; i < other.marks_.size(); ++i) {
    if (other.marks_[i]) marks_[i] = true;
  }
}

Place Rule::place() const { return Place::member(*node_.place, keyword_); }

void Report::add(Violation violation) {
  if (full()) return;
  bytes_ += violation.instance_path.size() + violation.schema_path.size();
  violations_.push_back(std::move(violation));
}

void Report::add(Report&& other) {
  for (auto& violation : other.violations_) add(std::move(violation));
}

// Depth, and the dynamic scope, while one schema is looked at.
class Walk::Scope {
 public:
  Scope(Walk& walk, const Node& node) : walk_(walk) {
    inside_ = walk_.budget_.enter();
    if (node.anchors == nullptr || walk_.knows(node.anchors)) return;
    walk_.scopes_.push_back(node.anchors);
    pushed_ = true;
  }
  ~Scope() {
    if (pushed_) walk_.scopes_.pop_back();
    walk_.budget_.leave();
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  bool inside() const { return inside_; }

 private:
  Walk& walk_;
  bool inside_ = false;
  bool pushed_ = false;
};

Walk::Walk(const Limits& limits, Report* report)
    : limits_(limits), budget_(limits.steps_max, limits.depth_max), report_(report) {}

bool Walk::knows(const DynamicAnchors* anchors) const {
  return std::ranges::find(scopes_, anchors) != scopes_.end();
}

bool Walk::check(const Node& node, const Subject& subject) {
  if (!budget_.spend(kNodeSteps + scopes_.size())) return false;
  const Scope scope(*this, node);
  if (!scope.inside()) return false;
  if (node.refuses) {
    if (report_ != nullptr) {
      add_violation(*node.place, node.keyword, subject.place, why_refused(node.keyword));
    }
    return false;
  }
  if (node.late_rules.empty()) return check_rules(node, subject);
  // What others outside have looked at does not count here: a set of its own.
  Evaluated evaluated;
  const Subject own{.value = subject.value, .place = subject.place, .evaluated = &evaluated};
  if (!check_rules(node, own)) return false;
  if (subject.evaluated != nullptr) subject.evaluated->add(evaluated);
  return true;
}

bool Walk::check_rules(const Node& node, const Subject& subject) {
  bool holds = true;
  for (const auto* rules : {&node.rules, &node.late_rules}) {
    if (!holds) break;
    for (const auto& rule : *rules) {
      if (rule->check(*this, subject)) continue;
      holds = false;
      if (report_ == nullptr || report_->full() || stopped()) return false;
    }
  }
  return holds && !stopped();
}

bool Walk::tries(const Node& node, const Subject& subject) {
  auto* const outer = exchange_report(nullptr);
  Evaluated evaluated;
  const bool holds =
      check(node, {.value = subject.value,
                   .place = subject.place,
                   .evaluated = subject.evaluated == nullptr ? nullptr : &evaluated});
  exchange_report(outer);
  if (holds && subject.evaluated != nullptr) subject.evaluated->add(evaluated);
  return holds;
}

void Walk::fill(const Node& node, json::Value& value) {
  if (!budget_.spend(kNodeSteps + scopes_.size())) return;
  const Scope scope(*this, node);
  if (!scope.inside()) return;
  for (const auto& rule : node.rules) {
    if (stopped()) return;
    rule->fill(*this, value);
  }
}

void Walk::add_violation(const Place& rule, std::string_view keyword, const Place& place,
                         std::string_view message) {
  if (report_->full()) return;
  Violation violation{.instance_path = place.pointer(),
                      .schema_path = rule.pointer(),
                      .keyword = std::string(keyword),
                      .message = fmt::format("{} {}", place.shown("the value"), message)};
  // Alternatives are told apart by their violations, so there may be many more than are listed.
  budget_.spend(kViolationSteps +
                (violation.instance_path.size() + violation.schema_path.size()) / 8);
  report_->add(std::move(violation));
}

bool Walk::finds(const Regex& regex, std::string_view text) {
  switch (regex.search(text, budget_.steps_left(), matcher_)) {
    case Search::found:
      return true;
    case Search::absent:
      return false;
    case Search::too_costly:
      break;
  }
  budget_.exhaust();
  return false;
}

const Node* Walk::dynamic_target(std::string_view name, const Node* lexical) const {
  for (const auto* anchors : scopes_) {
    if (const auto found = anchors->find(name); found != anchors->end()) return found->second;
  }
  return lexical;
}

void Walk::insert_default(json::Object& object, std::string_view name, const json::Value& value) {
  const auto bytes = name.size() + size_of(value);
  if (!budget_.spend(bytes / sizeof(json::Value))) return;
  default_bytes_ += bytes;
  if (default_bytes_ > limits_.defaults_bytes_max) {
    defaults_full_ = true;
    return;
  }
  object.emplace(name, value);
}

std::string Walk::why_stopped() const {
  if (defaults_full_) {
    return fmt::format("filling in the defaults would add more than {} bytes, the limit",
                       limits_.defaults_bytes_max);
  }
  if (budget_.too_deep()) {
    return fmt::format("schema and value are nested deeper than {} levels, the limit",
                       limits_.depth_max);
  }
  return fmt::format("it would take more than {} steps, the limit", limits_.steps_max);
}

}  // namespace millrace::schema
