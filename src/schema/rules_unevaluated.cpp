// unevaluatedProperties and unevaluatedItems: what no other rule of the schema has looked at.
#include "schema/building.h"

namespace millrace::schema {
namespace {

class UnevaluatedPropertiesRule final : public Rule {
 public:
  UnevaluatedPropertiesRule(std::string_view keyword, const Node& owner, const Node* node)
      : Rule(keyword, owner), node_(node) {}

  bool check(Walk& walk, const Subject& subject) const override {
    const auto* object = subject.value.if_object();
    if (object == nullptr) return true;
    bool holds = true;
    std::size_t index = 0;
    for (const auto& member : *object) {
      const auto i = index++;
      if (subject.evaluated->has(i)) continue;
      const auto place = Place::member(subject.place, member.key());
      if (walk.check(*node_, {.value = member.value(), .place = place})) {
        subject.evaluated->mark(i);
        continue;
      }
      holds = false;
      if (walk.report() == nullptr || walk.report()->full() || walk.stopped()) return false;
    }
    return holds;
  }

 private:
  const Node* node_;
};

class UnevaluatedItemsRule final : public Rule {
 public:
  UnevaluatedItemsRule(std::string_view keyword, const Node& owner, const Node* node)
      : Rule(keyword, owner), node_(node) {}

  bool check(Walk& walk, const Subject& subject) const override {
    const auto* array = subject.value.if_array();
    if (array == nullptr) return true;
    bool holds = true;
    for (std::size_t i = 0; i < array->size(); ++i) {
      if (subject.evaluated->has(i)) continue;
      const auto place = Place::item(subject.place, i);
      if (walk.check(*node_, {.value = (*array)[i], .place = place})) {
        subject.evaluated->mark(i);
        continue;
      }
      holds = false;
      if (walk.report() == nullptr || walk.report()->full() || walk.stopped()) return false;
    }
    return holds;
  }

 private:
  const Node* node_;
};

}  // namespace

Result<void> add_unevaluated_rules(Building& building) {
  if (building.dialect().is_draft7() || !building.dialect().unevaluated) return ok();
  if (const auto* items = building.find("unevaluatedItems")) {
    MR_TRY(const auto* node, building.child("unevaluatedItems", *items));
    building.add_late<UnevaluatedItemsRule>("unevaluatedItems", node);
  }
  if (const auto* properties = building.find("unevaluatedProperties")) {
    MR_TRY(const auto* node, building.child("unevaluatedProperties", *properties));
    building.add_late<UnevaluatedPropertiesRule>("unevaluatedProperties", node);
  }
  return ok();
}

}  // namespace millrace::schema
