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

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace millrace::schema {

struct Document {
  json::Value root;
  bool is_standard = false;  // One of the drafts' own: known to be good.
  bool in_use = false;       // Something refers to it.
};
using Documents = std::deque<Document>;  // Addresses of values stay.

struct Resource;

// A schema: its value, what it belongs to, and its name in messages.
struct Target {
  const json::Value* value = nullptr;
  Resource* resource = nullptr;
  std::string path = {};
};

// A document, or a part of one that has an $id of its own.
struct Resource {
  std::string uri;
  Target root;
  Dialect dialect;
  Document* document = nullptr;
  std::optional<Error> broken = {};
  std::map<std::string, Target, std::less<>> anchors = {};
  std::map<std::string, Target, std::less<>> dynamic_anchors = {};
};

class Registry {
 public:
  Registry(Documents& documents, Limits limits) : documents_(documents), limits_(limits) {}

  // The root decides how documents are read that do not say so themselves.
  Result<Target> add_root(json::Value document, SchemaOptions& options);
  // Where `reference`, seen from `from`, leads to.
  Result<Target> resolve(const Resource& from, std::string_view reference);
  // A schema directly inside another.
  Target child(const Target& parent, const json::Value& value, std::string path) const;

  // Schemas that are in use and were not yet held against their meta-schema.
  std::vector<Target> take_unchecked();
  // The meta-schema of a dialect that is not one of the standard ones.
  Result<Target> meta_schema(const Dialect& dialect);

 private:
  struct Entry {
    std::string uri;
    std::string path;
  };

  Result<void> add_document(Document& document, Entry entry);
  Result<void> add_standard(std::string_view uri);
  Resource& add_resource(std::string uri, Target root, Dialect dialect, Document* document);
  Result<Dialect> dialect_of(const json::Value& schema, int steps_left = 8);
  Result<Dialect> dialect_named(std::string_view meta_uri, int steps_left);
  Result<void> scan(Target target);
  Result<void> scan_part(const Target& target, std::string_view keyword, const json::Value& value);
  Result<void> read_identity(Target& target);
  Result<Resource*> find(std::string_view uri);
  Result<Target> at_pointer(const Target& root, std::string_view fragment);

  Documents& documents_;
  Limits limits_;
  Dialect default_dialect_;
  std::deque<Resource> resources_;
  std::unordered_map<std::string, Resource*> by_uri_;
  std::unordered_map<const json::Value*, Resource*> by_root_;
  std::unordered_map<std::string, const json::Value*> handed_in_;  // By URI and by own $id.
  std::unordered_set<const json::Value*> scanned_;
  std::vector<Target> unchecked_;
};

}  // namespace millrace::schema
