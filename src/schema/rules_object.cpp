// Rules about objects.
#include "schema/building.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace millrace::schema {
namespace {

struct NamedNode {
  std::string name;
  const Node* node = nullptr;
};

struct PatternNode {
  Regex regex;
  const Node* node = nullptr;
};

// properties, patternProperties and additionalProperties.
class MembersRule final : public Rule {
 public:
  struct Parts {
    std::vector<NamedNode> properties = {};  // In the order of the schema.
    std::vector<PatternNode> patterns = {};
    const Node* additional = nullptr;
  };

  MembersRule(std::string_view keyword, const Node& owner, Parts parts)
      : Rule(keyword, owner), parts_(std::move(parts)) {
    for (const auto& [name, node] : parts_.properties) by_name_.emplace(name, node);
  }

  bool check(Walk& walk, const Subject& subject) const override {
    const auto* object = subject.value.if_object();
    if (object == nullptr) return true;
    bool holds = true;
    std::size_t index = 0;
    for (const auto& member : *object) {
      const auto place = Place::member(subject.place, member.key());
      const Subject inner{.value = member.value(), .place = place};
      bool known = false;
      const bool good = each_node(walk, member.key(), known,
                                  [&](const Node& node) { return walk.check(node, inner); });
      if (known && subject.evaluated != nullptr) subject.evaluated->mark(index);
      ++index;
      if (good) continue;
      holds = false;
      if (walk.report() == nullptr || walk.report()->full() || walk.stopped()) return false;
    }
    return holds;
  }

  void fill(Walk& walk, json::Value& value) const override {
    auto* object = value.if_object();
    if (object == nullptr) return;
    for (const auto& [name, node] : parts_.properties) {
      if (node->default_value == nullptr || object->contains(name)) continue;
      walk.insert_default(*object, name, *node->default_value);
      if (walk.stopped()) return;
    }
    for (auto& member : *object) {
      bool known = false;
      each_node(walk, member.key(), known, [&](const Node& node) {
        walk.fill(node, member.value());
        return true;
      });
      if (walk.stopped()) return;
    }
  }

 private:
  // Calls `apply` with every schema that a member of this name falls under; false when it once is.
  template <class Apply>
  bool each_node(Walk& walk, std::string_view name, bool& known, Apply&& apply) const {
    if (!walk.budget().spend(4)) return false;
    bool good = true;
    if (const auto found = by_name_.find(name); found != by_name_.end()) {
      known = true;
      good = apply(*found->second);
    }
    for (const auto& [regex, node] : parts_.patterns) {
      if (!walk.finds(regex, name)) continue;
      known = true;
      if (!apply(*node)) good = false;
    }
    if (known || parts_.additional == nullptr) return good && !walk.stopped();
    known = true;
    return apply(*parts_.additional);
  }

  Parts parts_;
  std::unordered_map<std::string_view, const Node*> by_name_;  // Names are in parts_.
};

class RequiredRule final : public Rule {
 public:
  RequiredRule(std::string_view keyword, const Node& owner, std::vector<std::string> names)
      : Rule(keyword, owner), names_(std::move(names)) {}

  bool check(Walk& walk, const Subject& subject) const override {
    const auto* object = subject.value.if_object();
    if (object == nullptr) return true;
    if (!walk.budget().spend(names_.size())) return false;
    bool holds = true;
    for (const auto& name : names_) {
      if (object->contains(name)) continue;
      holds = walk.broken(*this, subject, [&] {
        return fmt::format("must have the property {}", quoted_name(name));
      });
      if (walk.report() == nullptr) return false;
    }
    return holds;
  }

 private:
  std::vector<std::string> names_;
};

class MemberCountRule final : public Rule {
 public:
  MemberCountRule(std::string_view keyword, const Node& owner, bool is_min, std::size_t limit)
      : Rule(keyword, owner), is_min_(is_min), limit_(limit) {}

  bool check(Walk& walk, const Subject& subject) const override {
    const auto* object = subject.value.if_object();
    if (object == nullptr) return true;
    if (is_min_ ? object->size() >= limit_ : object->size() <= limit_) return true;
    return walk.broken(*this, subject, [&] {
      return fmt::format("must have at {} {} properties, has {}", is_min_ ? "least" : "most",
                         limit_, object->size());
    });
  }

 private:
  bool is_min_;
  std::size_t limit_;
};

class NamesRule final : public Rule {
 public:
  NamesRule(std::string_view keyword, const Node& owner, const Node* node)
      : Rule(keyword, owner), node_(node) {}

  bool check(Walk& walk, const Subject& subject) const override {
    const auto* object = subject.value.if_object();
    if (object == nullptr) return true;
    bool holds = true;
    for (const auto& member : *object) {
      const json::Value name(member.key());
      const auto place = Place::member(subject.place, member.key());
      if (walk.tries(*node_, {.value = name, .place = place})) continue;
      if (walk.stopped()) return false;
      holds = walk.broken(*this, subject, [&] {
        return fmt::format("must not have a property of the name {}", quoted_name(member.key()));
      });
      if (walk.report() == nullptr) return false;
    }
    return holds;
  }

 private:
  const Node* node_;
};

// dependentRequired, and the arrays under dependencies.
class DependentNamesRule final : public Rule {
 public:
  using Dependent = std::pair<std::string, std::vector<std::string>>;

  DependentNamesRule(std::string_view keyword, const Node& owner, std::vector<Dependent> dependents)
      : Rule(keyword, owner), dependents_(std::move(dependents)) {}

  bool check(Walk& walk, const Subject& subject) const override {
    const auto* object = subject.value.if_object();
    if (object == nullptr) return true;
    bool holds = true;
    for (const auto& [name, others] : dependents_) {
      if (!walk.budget().spend(1 + others.size())) return false;
      if (!object->contains(name)) continue;
      for (const auto& other : others) {
        if (object->contains(other)) continue;
        holds = walk.broken(*this, subject, [&] {
          return fmt::format("must have the property {}, because it has {}", quoted_name(other),
                             quoted_name(name));
        });
        if (walk.report() == nullptr) return false;
      }
    }
    return holds;
  }

 private:
  std::vector<Dependent> dependents_;
};

// dependentSchemas, and the schemas under dependencies.
class DependentSchemasRule final : public Rule {
 public:
  DependentSchemasRule(std::string_view keyword, const Node& owner,
                       std::vector<NamedNode> dependents)
      : Rule(keyword, owner), dependents_(std::move(dependents)) {}

  bool check(Walk& walk, const Subject& subject) const override {
    const auto* object = subject.value.if_object();
    if (object == nullptr) return true;
    bool holds = true;
    for (const auto& [name, node] : dependents_) {
      if (!walk.budget().spend(1)) return false;
      if (!object->contains(name) || walk.check(*node, subject)) continue;
      holds = false;
      if (walk.report() == nullptr) return false;
    }
    return holds;
  }

  void fill(Walk& walk, json::Value& value) const override {
    for (const auto& [name, node] : dependents_) {
      const auto* object = value.if_object();
      if (object == nullptr || walk.stopped()) return;
      if (object->contains(name)) walk.fill(*node, value);
    }
  }

 private:
  std::vector<NamedNode> dependents_;
};

Result<const json::Object*> object_under(Building& building, std::string_view keyword) {
  const auto* value = building.find(keyword);
  if (value == nullptr) return nullptr;
  if (!value->is_object()) return building.wrong(keyword, "must be an object");
  return &value->get_object();
}

Result<void> add_members(Building& building) {
  MembersRule::Parts parts;
  MR_TRY(const auto* properties, object_under(building, "properties"));
  MR_TRY(const auto* patterns, object_under(building, "patternProperties"));
  const auto* additional = building.find("additionalProperties");
  if (properties == nullptr && patterns == nullptr && additional == nullptr) return ok();
  if (properties != nullptr) {
    for (const auto& member : *properties) {
      MR_TRY(const auto* node, building.child("properties", member));
      parts.properties.push_back({.name = std::string(member.key()), .node = node});
    }
  }
  if (patterns != nullptr) {
    for (const auto& member : *patterns) {
      MR_TRY(auto regex, building.pattern("patternProperties", member.key()));
      MR_TRY(const auto* node, building.child("patternProperties", member));
      parts.patterns.push_back({.regex = std::move(regex), .node = node});
    }
  }
  if (additional != nullptr) {
    MR_TRY(parts.additional, building.child("additionalProperties", *additional));
  }
  building.add<MembersRule>("properties", std::move(parts));
  return ok();
}

// Each member is an array of names, or a schema.
Result<void> add_dependents(Building& building, std::string_view keyword) {
  std::vector<DependentNamesRule::Dependent> names;
  std::vector<NamedNode> schemas;
  MR_TRY(const auto* object, object_under(building, keyword));
  if (object == nullptr) return ok();
  for (const auto& member : *object) {
    if (member.value().is_array()) {
      MR_TRY(auto others, building.names(keyword, member.value()));
      names.emplace_back(member.key(), std::move(others));
    } else {
      MR_TRY(const auto* node, building.child(keyword, member));
      schemas.push_back({.name = std::string(member.key()), .node = node});
    }
  }
  if (!names.empty()) building.add<DependentNamesRule>(keyword, std::move(names));
  if (!schemas.empty()) building.add<DependentSchemasRule>(keyword, std::move(schemas));
  return ok();
}

}  // namespace

Result<void> add_object_rules(Building& building) {
  if (building.dialect().validation) {
    if (const auto* required = building.find("required")) {
      MR_TRY(auto names, building.names("required", *required));
      building.add<RequiredRule>("required", std::move(names));
    }
    for (const auto* keyword : {"minProperties", "maxProperties"}) {
      MR_TRY(const auto limit, building.count(keyword));
      if (limit) {
        building.add<MemberCountRule>(keyword, std::string_view(keyword) == "minProperties",
                                      *limit);
      }
    }
  }
  if (building.dialect().applicators) {
    if (const auto* names = building.find("propertyNames")) {
      MR_TRY(const auto* node, building.child("propertyNames", *names));
      building.add<NamesRule>("propertyNames", node);
    }
    MR_TRY_VOID(add_members(building));
  }
  const bool draft7 = building.dialect().is_draft7();
  if (building.dialect().validation && !draft7) {
    MR_TRY_VOID(add_dependents(building, "dependentRequired"));
  }
  if (!building.dialect().applicators) return ok();
  // 2020-12 has split it in two; whoever still writes it means it.
  MR_TRY_VOID(add_dependents(building, "dependencies"));
  return draft7 ? ok() : add_dependents(building, "dependentSchemas");
}

}  // namespace millrace::schema
