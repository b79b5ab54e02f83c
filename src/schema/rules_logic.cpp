// Rules that put schemas together: references, allOf, if, anyOf, oneOf and not.
#include "schema/building.h"
#include "schema/uri.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace millrace::schema {
namespace {

class ReferenceRule final : public Rule {
 public:
  ReferenceRule(std::string_view keyword, const Node& owner, const Node* target)
      : Rule(keyword, owner), target_(target) {}

  bool check(Walk& walk, const Subject& subject) const override {
    return walk.check(*target_, subject);
  }
  void fill(Walk& walk, json::Value& value) const override { walk.fill(*target_, value); }

 private:
  const Node* target_;
};

class DynamicReferenceRule final : public Rule {
 public:
  DynamicReferenceRule(std::string_view keyword, const Node& owner, std::string name,
                       const Node* lexical)
      : Rule(keyword, owner), name_(std::move(name)), lexical_(lexical) {}

  bool check(Walk& walk, const Subject& subject) const override {
    return walk.check(*walk.dynamic_target(name_, lexical_), subject);
  }
  void fill(Walk& walk, json::Value& value) const override {
    walk.fill(*walk.dynamic_target(name_, lexical_), value);
  }

 private:
  std::string name_;
  const Node* lexical_;
};

using Nodes = std::vector<const Node*>;

class AllRule final : public Rule {
 public:
  AllRule(std::string_view keyword, const Node& owner, Nodes nodes)
      : Rule(keyword, owner), nodes_(std::move(nodes)) {}

  bool check(Walk& walk, const Subject& subject) const override {
    bool holds = true;
    for (const auto* node : nodes_) {
      if (walk.check(*node, subject)) continue;
      holds = false;
      if (walk.report() == nullptr || walk.report()->full() || walk.stopped()) return false;
    }
    return holds;
  }

  void fill(Walk& walk, json::Value& value) const override {
    for (const auto* node : nodes_) walk.fill(*node, value);
  }

 private:
  Nodes nodes_;
};

class IfRule final : public Rule {
 public:
  struct Parts {
    const Node* condition = nullptr;
    const Node* then = nullptr;       // May be null.
    const Node* otherwise = nullptr;  // May be null.
  };

  IfRule(std::string_view keyword, const Node& owner, Parts parts)
      : Rule(keyword, owner), parts_(parts) {}

  bool check(Walk& walk, const Subject& subject) const override {
    const bool condition = walk.tries(*parts_.condition, subject);
    if (walk.stopped()) return false;
    const auto* next = condition ? parts_.then : parts_.otherwise;
    return next == nullptr || walk.check(*next, subject);
  }

  void fill(Walk& walk, json::Value& value) const override {
    const auto place = Place::root();
    const bool condition = walk.tries(*parts_.condition, {.value = value, .place = place});
    if (walk.stopped()) return;
    if (condition) walk.fill(*parts_.condition, value);
    const auto* next = condition ? parts_.then : parts_.otherwise;
    if (next != nullptr) walk.fill(*next, value);
  }

 private:
  Parts parts_;
};

// How far a value is from a schema: wrong type or wrong constant count most, because they say that
// another alternative was meant.
std::size_t distance(const Report& report, std::size_t place_size) {
  std::size_t sum = 0;
  for (const auto& violation : report.violations()) {
    const bool fixed =
        violation.keyword == "type" || violation.keyword == "const" || violation.keyword == "enum";
    const bool here = violation.instance_path.size() == place_size;
    const bool next = std::ranges::count(violation.instance_path.substr(place_size), '/') == 1;
    sum += here && fixed ? 10'000 : next && fixed && violation.keyword != "type" ? 100 : 1;
  }
  return sum;
}

// Adds, to the violation of anyOf or oneOf, those of the alternative that comes closest.
void explain(Walk& walk, const Nodes& nodes, const Subject& subject) {
  auto* const report = walk.report();
  if (report == nullptr || report->full() || nodes.empty()) return;
  const auto place_size = subject.place.pointer().size();
  Report best(report->max());
  auto best_distance = std::numeric_limits<std::size_t>::max();
  for (const auto* node : nodes) {
    Report own(report->max());
    walk.exchange_report(&own);
    walk.check(*node, {.value = subject.value, .place = subject.place});
    walk.exchange_report(report);
    if (walk.stopped()) return;
    if (const auto d = distance(own, place_size); d < best_distance) {
      best_distance = d;
      best = std::move(own);
    }
  }
  report->add(std::move(best));
}

class AnyRule final : public Rule {
 public:
  AnyRule(std::string_view keyword, const Node& owner, Nodes nodes)
      : Rule(keyword, owner), nodes_(std::move(nodes)) {}

  bool check(Walk& walk, const Subject& subject) const override {
    bool found = false;
    for (const auto* node : nodes_) {
      if (walk.tries(*node, subject)) found = true;
      if (walk.stopped()) return false;
      // All have to be asked when somebody wants to know what they looked at.
      if (found && subject.evaluated == nullptr) return true;
    }
    if (found) return true;
    walk.broken(*this, subject, [&] {
      return fmt::format("must match one of the {} schemas of anyOf", nodes_.size());
    });
    explain(walk, nodes_, subject);
    return false;
  }

  // The alternatives that hold are found before any of them adds something.
  void fill(Walk& walk, json::Value& value) const override {
    const auto place = Place::root();
    Nodes holding;
    for (const auto* node : nodes_) {
      if (walk.tries(*node, {.value = value, .place = place})) holding.push_back(node);
    }
    for (const auto* node : holding) walk.fill(*node, value);
  }

 private:
  Nodes nodes_;
};

class OneRule final : public Rule {
 public:
  OneRule(std::string_view keyword, const Node& owner, Nodes nodes)
      : Rule(keyword, owner), nodes_(std::move(nodes)) {}

  bool check(Walk& walk, const Subject& subject) const override {
    std::optional<std::size_t> first;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const bool holds = walk.tries(*nodes_[i], subject);
      if (walk.stopped()) return false;
      if (!holds) continue;
      if (first) {
        return walk.broken(*this, subject, [&] {
          return fmt::format("must match exactly one schema of oneOf, matches {} and {}", *first,
                             i);
        });
      }
      first = i;
    }
    if (first) return true;
    walk.broken(*this, subject, [&] {
      return fmt::format("must match one of the {} schemas of oneOf", nodes_.size());
    });
    explain(walk, nodes_, subject);
    return false;
  }

  void fill(Walk& walk, json::Value& value) const override {
    const auto place = Place::root();
    const Node* only = nullptr;
    for (const auto* node : nodes_) {
      if (!walk.tries(*node, {.value = value, .place = place})) continue;
      if (only != nullptr) return;  // Not valid: nothing says which is meant.
      only = node;
    }
    if (only != nullptr && !walk.stopped()) walk.fill(*only, value);
  }

 private:
  Nodes nodes_;
};

class NotRule final : public Rule {
 public:
  NotRule(std::string_view keyword, const Node& owner, const Node* node)
      : Rule(keyword, owner), node_(node) {}

  bool check(Walk& walk, const Subject& subject) const override {
    const bool holds = walk.tries(*node_, {.value = subject.value, .place = subject.place});
    if (walk.stopped()) return false;
    if (!holds) return true;
    return walk.broken(*this, subject, [] { return "must not match the schema of not"; });
  }

 private:
  const Node* node_;
};

}  // namespace

Result<void> add_reference_rules(Building& building) {
  if (const auto* reference = building.find("$ref")) {
    if (!reference->is_string()) return building.wrong("$ref", "must be a string");
    MR_TRY(const auto target, building.resolve("$ref", reference->get_string()));
    const auto* node = building.node(target, "$ref");
    building.add<ReferenceRule>("$ref", node);
    building.always(node);
  }
  const auto* reference = building.find("$dynamicRef");
  if (reference == nullptr || building.dialect().is_draft7()) return ok();
  if (!reference->is_string()) return building.wrong("$dynamicRef", "must be a string");
  MR_TRY(const auto target, building.resolve("$dynamicRef", reference->get_string()));
  const auto* node = building.node(target, "$dynamicRef");
  // Only a $dynamicAnchor makes the reference dynamic; to anything else it leads like $ref.
  auto name = percent_decoded(fragment_of(reference->get_string()));
  const auto& anchors = target.resource->dynamic_anchors;
  const auto anchor = anchors.find(name);
  if (anchor != anchors.end() && anchor->second.value == target.value) {
    building.add<DynamicReferenceRule>("$dynamicRef", std::move(name), node);
  } else {
    building.add<ReferenceRule>("$dynamicRef", node);
    building.always(node);
  }
  return ok();
}

Result<void> add_logic_rules(Building& building) {
  if (!building.dialect().applicators) return ok();
  if (const auto* all = building.find("allOf")) {
    MR_TRY(auto nodes, building.children("allOf", *all));
    for (const auto* node : nodes) building.always(node);
    building.add<AllRule>("allOf", std::move(nodes));
  }
  if (const auto* condition = building.find("if")) {
    IfRule::Parts parts;
    MR_TRY(parts.condition, building.child("if", *condition));
    if (const auto* then = building.find("then")) {
      MR_TRY(parts.then, building.child("then", *then));
    }
    if (const auto* otherwise = building.find("else")) {
      MR_TRY(parts.otherwise, building.child("else", *otherwise));
    }
    building.add<IfRule>("if", parts);
  }
  if (const auto* any = building.find("anyOf")) {
    MR_TRY(auto nodes, building.children("anyOf", *any));
    building.add<AnyRule>("anyOf", std::move(nodes));
  }
  if (const auto* one = building.find("oneOf")) {
    MR_TRY(auto nodes, building.children("oneOf", *one));
    building.add<OneRule>("oneOf", std::move(nodes));
  }
  if (const auto* inverse = building.find("not")) {
    MR_TRY(const auto* node, building.child("not", *inverse));
    building.add<NotRule>("not", node);
  }
  return ok();
}

}  // namespace millrace::schema
