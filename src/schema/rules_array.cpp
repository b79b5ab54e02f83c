// Rules about arrays.
#include "schema/building.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace millrace::schema {
namespace {

// prefixItems and items; in draft 7 items as an array and additionalItems.
class ItemsRule final : public Rule {
 public:
  ItemsRule(std::string_view keyword, const Node& owner, std::vector<const Node*> first,
            const Node* rest)
      : Rule(keyword, owner), first_(std::move(first)), rest_(rest) {}

  bool check(Walk& walk, const Subject& subject) const override {
    const auto* array = subject.value.if_array();
    if (array == nullptr) return true;
    bool holds = true;
    for (std::size_t i = 0; i < array->size(); ++i) {
      const auto* node = node_for(i);
      if (node == nullptr) break;
      const auto place = Place::item(subject.place, i);
      if (walk.check(*node, {.value = (*array)[i], .place = place})) {
        if (subject.evaluated != nullptr) subject.evaluated->mark(i);
        continue;
      }
      holds = false;
      if (walk.report() == nullptr || walk.report()->full() || walk.stopped()) return false;
    }
    return holds;
  }

  void fill(Walk& walk, json::Value& value) const override {
    auto* array = value.if_array();
    if (array == nullptr) return;
    for (std::size_t i = 0; i < array->size() && !walk.stopped(); ++i) {
      const auto* node = node_for(i);
      if (node == nullptr) break;
      walk.fill(*node, (*array)[i]);
    }
  }

 private:
  const Node* node_for(std::size_t i) const { return i < first_.size() ? first_[i] : rest_; }

  std::vector<const Node*> first_;
  const Node* rest_;  // May be null.
};

class ContainsRule final : public Rule {
 public:
  struct Range {
    std::size_t min = 1;
    std::optional<std::size_t> max = {};
  };

  ContainsRule(std::string_view keyword, const Node& owner, const Node* node, Range range)
      : Rule(keyword, owner), node_(node), range_(range) {}

  bool check(Walk& walk, const Subject& subject) const override {
    const auto* array = subject.value.if_array();
    if (array == nullptr) return true;
    std::size_t count = 0;
    for (std::size_t i = 0; i < array->size(); ++i) {
      const auto place = Place::item(subject.place, i);
      if (walk.tries(*node_, {.value = (*array)[i], .place = place})) {
        ++count;
        if (subject.evaluated != nullptr) subject.evaluated->mark(i);
      }
      if (walk.stopped()) return false;
      if (count >= range_.min && !range_.max && subject.evaluated == nullptr) return true;
    }
    if (count < range_.min) {
      return walk.broken(*this, subject, [&] {
        return fmt::format("must contain at least {} item{} of the kind that {} describes, has {}",
                           range_.min, range_.min == 1 ? "" : "s", keyword(), count);
      });
    }
    if (range_.max && count > *range_.max) {
      return walk.broken(*this, subject, [&] {
        return fmt::format("must contain at most {} item{} of the kind that {} describes, has {}",
                           *range_.max, *range_.max == 1 ? "" : "s", keyword(), count);
      });
    }
    return true;
  }

 private:
  const Node* node_;
  Range range_;
};

class ItemCountRule final : public Rule {
 public:
  ItemCountRule(std::string_view keyword, const Node& owner, bool is_min, std::size_t limit)
      : Rule(keyword, owner), is_min_(is_min), limit_(limit) {}

  bool check(Walk& walk, const Subject& subject) const override {
    const auto* array = subject.value.if_array();
    if (array == nullptr) return true;
    if (is_min_ ? array->size() >= limit_ : array->size() <= limit_) return true;
    return walk.broken(*this, subject, [&] {
      return fmt::format("must have at {} {} items, has {}", is_min_ ? "least" : "most", limit_,
                         array->size());
    });
  }

 private:
  bool is_min_;
  std::size_t limit_;
};

class UniqueRule final : public Rule {
 public:
  using Rule::Rule;

  bool check(Walk& walk, const Subject& subject) const override {
    const auto* array = subject.value.if_array();
    if (array == nullptr || array->size() < 2) return true;
    auto& budget = walk.budget();
    std::unordered_multimap<std::uint64_t, std::size_t> seen;
    for (std::size_t i = 0; i < array->size(); ++i) {
      const auto key = hash((*array)[i], budget);
      const auto [from, to] = seen.equal_range(key);
      const auto same = std::find_if(from, to, [&](const auto& entry) {
        return equal((*array)[entry.second], (*array)[i], budget);
      });
      if (same != to) {
        return walk.broken(*this, subject, [&] {
          return fmt::format("must not have equal items, {} and {} are", same->second, i);
        });
      }
      if (!budget.spend(8)) return false;
      seen.emplace(key, i);
    }
    return true;
  }
};

Result<void> add_items(Building& building) {
  const bool draft7 = building.dialect().is_draft7();
  const auto* items = building.find("items");
  const auto* first = draft7 && items != nullptr && items->is_array() ? items : nullptr;
  const auto* rest = first != nullptr ? building.find("additionalItems") : items;
  std::string_view rest_keyword = first != nullptr ? "additionalItems" : "items";
  std::string_view first_keyword = "items";
  if (!draft7) {
    first = building.find("prefixItems");
    first_keyword = "prefixItems";
  }
  if (first == nullptr && rest == nullptr) return ok();
  std::vector<const Node*> first_nodes;
  const Node* rest_node = nullptr;
  if (first != nullptr) {
    MR_TRY(first_nodes, building.children(first_keyword, *first));
  }
  if (rest != nullptr) {
    MR_TRY(rest_node, building.child(rest_keyword, *rest));
  }
  building.add<ItemsRule>("items", std::move(first_nodes), rest_node);
  return ok();
}

Result<void> add_contains(Building& building) {
  const auto* contains = building.find("contains");
  if (contains == nullptr) return ok();
  MR_TRY(const auto* node, building.child("contains", *contains));
  ContainsRule::Range range;
  if (!building.dialect().is_draft7() && building.dialect().validation) {
    MR_TRY(const auto min, building.count("minContains"));
    range.min = min.value_or(1);
    MR_TRY(range.max, building.count("maxContains"));
  }
  building.add<ContainsRule>("contains", node, range);
  return ok();
}

}  // namespace

Result<void> add_array_rules(Building& building) {
  if (building.dialect().validation) {
    for (const auto* keyword : {"minItems", "maxItems"}) {
      MR_TRY(const auto limit, building.count(keyword));
      if (limit) {
        building.add<ItemCountRule>(keyword, std::string_view(keyword) == "minItems", *limit);
      }
    }
    if (const auto* unique = building.find("uniqueItems")) {
      if (!unique->is_bool()) return building.wrong("uniqueItems", "must be true or false");
      if (unique->get_bool()) building.add<UniqueRule>("uniqueItems");
    }
  }
  if (!building.dialect().applicators) return ok();
  MR_TRY_VOID(add_items(building));
  return add_contains(building);
}

}  // namespace millrace::schema
