// Node: one schema, compiled to rules; Walk: one value going through them.
//
// A Rule is one keyword, or a few that only make sense together (properties, patternProperties and
// additionalProperties). It checks a value and, where it leads to other schemas, passes on
// defaults. Nodes point at each other as the schema's parts and references do, in circles too; they
// belong to Schema::Compiled and never change. A Walk belongs to one call.
#pragma once

#include "base/json.h"
#include "schema/budget.h"
#include "schema/place.h"
#include "schema/regex/regex.h"
#include "schema/schema.h"
#include "schema/value.h"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::schema {

class Walk;
struct Node;

// Which members of an object, or items of an array, some schema has had its say about.
class Evaluated {
 public:
  void mark(std::size_t index) {
    if (index >= marks_.size()) marks_.resize(index + 1);
    marks_[index] = true;
  }
  bool has(std::size_t index) const { return index < marks_.size() && marks_[index]; }
  void add(const Evaluated& other);

 private:
  std::vector<bool> marks_;
};

struct Subject {
  const json::Value& value;
  const Place& place;
  Evaluated* evaluated = nullptr;  // Null when nobody asks.
};

class Rule {
 public:
  Rule(std::string_view keyword, const Node& node) : keyword_(keyword), node_(node) {}
  virtual ~Rule() = default;
  Rule(const Rule&) = delete;
  Rule& operator=(const Rule&) = delete;

  virtual bool check(Walk& walk, const Subject& subject) const = 0;
  virtual void fill(Walk&, json::Value&) const {}

  std::string_view keyword() const { return keyword_; }
  Place place() const;  // In the schema.

 private:
  std::string_view keyword_;  // A word of the program.
  const Node& node_;          // The schema it belongs to.
};

// The $dynamicAnchors of a resource.
using DynamicAnchors = std::map<std::string, const Node*, std::less<>>;

struct Node {
  const Place* place = nullptr;   // In the schema document.
  std::string_view keyword = {};  // Under which it lies: "properties".
  bool refuses = false;           // The schema `false`.
  std::vector<std::unique_ptr<Rule>> rules = {};
  // unevaluatedItems and -Properties: after all others, and only if those hold.
  std::vector<std::unique_ptr<Rule>> late_rules = {};
  const DynamicAnchors* anchors = nullptr;  // Of its resource, if it has any.
  // Its own, or else the first along `always`.
  const json::Value* default_value = nullptr;
  std::vector<const Node*> always = {};  // Schemas that hold wherever this one does.
};

// What a call has found wrong. Bounded in number and in size.
class Report {
 public:
  explicit Report(std::size_t violations_max) : violations_max_(violations_max) {}

  void add(Violation violation);
  void add(Report&& other);
  bool full() const { return violations_.size() >= violations_max_ || bytes_ >= kBytesMax; }
  std::size_t max() const { return violations_max_; }
  const std::vector<Violation>& violations() const { return violations_; }
  std::vector<Violation> take() { return std::move(violations_); }

 private:
  static constexpr std::size_t kBytesMax = std::size_t{256} * 1024;

  std::size_t violations_max_;
  std::size_t bytes_ = 0;
  std::vector<Violation> violations_;
};

class Walk {
 public:
  // Without a report the first broken rule ends the walk.
  Walk(const Limits& limits, Report* report);

  bool check(const Node& node, const Subject& subject);
  // A failure is no violation here, and leaves no marks.
  bool tries(const Node& node, const Subject& subject);
  void fill(const Node& node, json::Value& value);

  // False, and a violation when there is a report. `message` follows the place: "must be …".
  template <class Message>
  bool broken(const Rule& rule, const Subject& subject, Message&& message) {
    if (report_ != nullptr) {
      add_violation(rule.place(), rule.keyword(), subject.place, message());
    }
    return false;
  }

  // The pattern occurs in the text; false when that was too costly to find out.
  bool finds(const Regex& regex, std::string_view text);
  // What a $dynamicRef means here: the outermost anchor of that name, or `lexical`.
  const Node* dynamic_target(std::string_view name, const Node* lexical) const;
  // Puts a copy in, if there is room for it.
  void insert_default(json::Object& object, std::string_view name, const json::Value& value);

  Budget& budget() { return budget_; }
  bool stopped() const { return budget_.stopped() || defaults_full_; }
  Report* report() const { return report_; }
  Report* exchange_report(Report* report) { return std::exchange(report_, report); }
  std::string why_stopped() const;

 private:
  class Scope;

  bool knows(const DynamicAnchors* anchors) const;
  void add_violation(const Place& rule, std::string_view keyword, const Place& place,
                     std::string_view message);
  bool check_rules(const Node& node, const Subject& subject);

  const Limits& limits_;
  Budget budget_;
  Report* report_;
  Matcher matcher_;
  std::vector<const DynamicAnchors*> scopes_;  // The resources we are in, outermost first.
  std::size_t default_bytes_ = 0;
  bool defaults_full_ = false;
};

}  // namespace millrace::schema
