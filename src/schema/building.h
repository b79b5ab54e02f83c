// Building: what the makers of rules know of the schema they are reading.
//
// Each add_…_rules reads the keywords it knows from one schema and adds their rules to its node.
// They check what they read: a document may have a meta-schema of its own that allows anything.
#pragma once

#include "base/result.h"
#include "schema/dialect.h"
#include "schema/node.h"
#include "schema/registry.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::schema {

// The part of the compiler that rules need: other nodes, and patterns.
class NodeSource {
 public:
  virtual ~NodeSource() = default;
  // `keyword` is a word of the program.
  virtual const Node* node(const Target& target, std::string_view keyword) = 0;
  virtual const Target& at(const json::Value& value) = 0;
  virtual Result<Target> resolve(const Target& from, std::string_view reference) = 0;
  virtual Result<Regex> pattern(std::string_view text) = 0;
};

class Building {
 public:
  Building(NodeSource& source, Node& node, const Target& target, bool assert_formats);

  const Dialect& dialect() const { return target_.resource->dialect; }
  bool assert_formats() const { return assert_formats_; }
  const json::Value* find(std::string_view keyword) const { return schema_.if_contains(keyword); }

  // The schema under a keyword, or a part of what is under it.
  Result<const Node*> child(std::string_view keyword, const json::Value& value);
  Result<const Node*> child(std::string_view keyword, const boost::json::key_value_pair& member);
  // The schemas in an array.
  Result<std::vector<const Node*>> children(std::string_view keyword, const json::Value& value);
  Result<Target> resolve(std::string_view keyword, std::string_view reference);
  const Node* node(const Target& target, std::string_view keyword) {
    return source_.node(target, keyword);
  }
  Result<Regex> pattern(std::string_view keyword, std::string_view text);

  // The non-negative whole number under a keyword, if there is one.
  Result<std::optional<std::size_t>> count(std::string_view keyword);
  Result<std::vector<std::string>> names(std::string_view keyword, const json::Value& value);

  // "/properties/age/minimum must be a number"
  std::unexpected<Error> wrong(std::string_view keyword, std::string_view rule) const;

  template <class R, class... Arguments>
  void add(std::string_view keyword, Arguments&&... arguments) {
    node_.rules.push_back(
        std::make_unique<R>(keyword, node_, std::forward<Arguments>(arguments)...));
  }
  template <class R, class... Arguments>
  void add_late(std::string_view keyword, Arguments&&... arguments) {
    node_.late_rules.push_back(
        std::make_unique<R>(keyword, node_, std::forward<Arguments>(arguments)...));
  }
  void always(const Node* other) { node_.always.push_back(other); }

 private:
  Result<const Node*> child_at(std::string_view keyword, const Place& place,
                               const json::Value& value);
  std::string path_of(std::string_view keyword) const;

  NodeSource& source_;
  Node& node_;
  const Target& target_;
  const json::Object& schema_;
  bool assert_formats_;
};

// In the order in which rules are checked, and defaults filled in.
Result<void> add_value_rules(Building& building);        // type, enum, const, numbers, texts
Result<void> add_array_rules(Building& building);        // items, contains, …
Result<void> add_object_rules(Building& building);       // properties, required, …
Result<void> add_reference_rules(Building& building);    // $ref, $dynamicRef
Result<void> add_logic_rules(Building& building);        // allOf, if, anyOf, oneOf, not
Result<void> add_unevaluated_rules(Building& building);  // unevaluatedItems, …Properties

}  // namespace millrace::schema
