// Schema::Compiled: everything a Schema consists of once it is compiled.
#pragma once

#include "schema/node.h"
#include "schema/registry.h"
#include "schema/schema.h"

#include <deque>
#include <memory>
#include <vector>

namespace millrace::schema {

struct Schema::Compiled {
  Limits limits = {};
  Draft draft = Draft::draft2020_12;
  Documents documents = {};                 // Nodes point into them.
  std::deque<DynamicAnchors> anchors = {};  // One for each resource that has any.
  std::deque<Node> nodes = {};              // Addresses stay.
  Places places = {};                       // Of schemas in their documents.
  const Node* root = nullptr;
  const json::Value* document = nullptr;
  std::vector<const Node*> with_default = {};  // Nodes that have a default of their own.
};

// Compiles without holding the document against its meta-schema: for meta-schemas themselves.
Result<std::shared_ptr<const Schema::Compiled>> compile_trusted(json::Value document);

Result<std::shared_ptr<const Schema::Compiled>> compile_schema(json::Value document,
                                                               SchemaOptions options);

// Quickly first; only what is not valid is looked at again, to say why.
std::vector<Violation> validate_with(const Limits& limits, const Node& node,
                                     const json::Value& value);

}  // namespace millrace::schema
