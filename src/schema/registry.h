// Registry: the documents that one schema is made of, and where references lead.
//
// Holds the root document, the documents handed in and, when asked for, the drafts' own
// meta-schemas. Each is scanned once for $id, $anchor and $dynamicAnchor, only at places where
// schemas lie: an $id inside an enum is a value. A document that cannot be read is an error for
// those who refer to it and for nobody else. Used while compiling; values outlive it in Documents.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "schema/dialect.h"
#include "schema/place.h"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace millrace::schema {

struct Document {
  json::Value root;
  std::string name = {};     // In front of pointers into it; empty for the root document.
  bool is_standard = false;  // One of the drafts' own: known to be good.
  bool in_use = false;       // Something refers to it.
  std::optional<Error> broken = {};
};
// Addresses stay.
using Documents = std::deque<Document>;
using Places = std::deque<Place>;

struct Resource;

// A schema: its value, what it belongs to, and where it lies.
struct Target {
  const json::Value* value = nullptr;
  Resource* resource = nullptr;
  const Place* place = nullptr;
};

// A document, or a part of one that has an $id of its own.
struct Resource {
  std::string uri;
  Target root;
  Dialect dialect;
  Document* document = nullptr;
  std::map<std::string, Target, std::less<>> anchors = {};
  std::map<std::string, Target, std::less<>> dynamic_anchors = {};
};

class Registry {
 public:
  Registry(Documents& documents, Places& places, Limits limits)
      : documents_(documents), places_(places), limits_(limits) {}

  // The root decides how documents are read that do not say so themselves.
  Result<Target> add_root(json::Value document, SchemaOptions& options);
  // Where `reference`, seen from `from`, leads to.
  Result<Target> resolve(const Resource& from, std::string_view reference);
  // A schema that lies where schemas lie in one that was resolved.
  const Target& at(const json::Value& value) const;

  // Schemas that are in use and were not yet held against their meta-schema.
  std::vector<Target> take_unchecked();
  // The meta-schema of a dialect that is not one of the standard ones.
  Result<Target> meta_schema(const Dialect& dialect);

 private:
  Result<void> add_document(Document& document, std::string uri, bool is_root);
  Result<void> add_standard(std::string_view uri);
  Resource& add_resource(std::string uri, Target root, Dialect dialect, Document* document);
  const Place& keep(Place place) { return places_.emplace_back(place); }
  Result<Dialect> dialect_of(const json::Value& schema, int steps_left = 8);
  Result<Dialect> dialect_named(std::string_view meta_uri, int steps_left);
  Result<void> scan(Target target);
  Result<void> scan_part(const Target& target, const boost::json::key_value_pair& member);
  Result<void> read_identity(Target& target);
  Result<void> read_id(Target& target, std::string_view id);
  Result<Resource*> find(std::string_view uri);
  Result<Target> at_pointer(const Target& root, std::string_view fragment);

  Documents& documents_;
  Places& places_;
  Limits limits_;
  Dialect default_dialect_;
  std::deque<Resource> resources_;
  std::unordered_map<std::string, Resource*> by_uri_;
  std::unordered_map<std::string, const json::Value*> handed_in_;  // By URI and by own $id.
  std::unordered_map<const json::Value*, Target> scanned_;
  std::vector<Target> unchecked_;
};

}  // namespace millrace::schema
