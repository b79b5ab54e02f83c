#include "schema/registry.h"

#include "schema/meta_schemas.h"
#include "schema/uri.h"
#include "schema/value.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace millrace::schema {
namespace {

std::unexpected<Error> refuse(std::string message) {
  return fail(ErrorKind::invalid_argument, std::move(message));
}

const json::String* string_member(const json::Value& value, std::string_view name) {
  const auto* object = value.if_object();
  const auto* member = object == nullptr ? nullptr : object->if_contains(name);
  return member == nullptr ? nullptr : member->if_string();
}

// Whether values lie at most `levels` deep.
bool fits_depth(const json::Value& value, std::uint32_t levels) {
  const auto fits = [&](const json::Value& inner) {
    return levels > 0 && fits_depth(inner, levels - 1);
  };
  if (const auto* array = value.if_array()) return std::ranges::all_of(*array, fits);
  const auto* object = value.if_object();
  return object == nullptr ||
         std::ranges::all_of(*object, [&](const auto& member) { return fits(member.value()); });
}

std::string extended(const std::string& path, std::string_view token) {
  auto longer = path;
  append_token(longer, token);
  return longer;
}

}  // namespace

Result<Target> Registry::add_root(json::Value document, SchemaOptions& options) {
  default_dialect_ = standard_dialect(options.draft);
  std::vector<std::pair<Document*, std::string>> others;
  for (auto& [uri, value] : options.documents) {
    auto& added = documents_.emplace_back(std::move(value));
    const std::string key(without_fragment(uri));
    others.emplace_back(&added, key);
    handed_in_.emplace(key, &added.root);
    if (const auto* id = string_member(added.root, "$id")) {
      handed_in_.emplace(std::string(without_fragment(resolve_uri(key, *id))), &added.root);
    }
  }
  auto& root = documents_.emplace_back(std::move(document));
  root.in_use = true;
  if (!fits_depth(root.root, limits_.document_depth_max)) {
    return refuse(
        fmt::format("the schema is nested deeper than {} levels", limits_.document_depth_max));
  }
  MR_TRY(default_dialect_, dialect_of(root.root));
  const std::string base(without_fragment(options.base_uri));
  MR_TRY_VOID(add_document(root, {.uri = base, .path = ""}));
  for (auto& [other, uri] : others) {
    if (by_uri_.contains(uri)) continue;  // The root has this URI.
    const auto added = add_document(*other, {.uri = uri, .path = uri + "#"});
    if (added) continue;
    auto& broken = add_resource(uri, {.value = &other->root, .path = uri + "#"}, {}, other);
    broken.broken = added.error();
  }
  unchecked_.push_back(by_root_.at(&root.root)->root);
  return by_root_.at(&root.root)->root;
}

Result<void> Registry::add_document(Document& document, Entry entry) {
  if (!fits_depth(document.root, limits_.document_depth_max)) {
    return refuse(
        fmt::format("{} is nested deeper than {} levels", entry.uri, limits_.document_depth_max));
  }
  MR_TRY(auto dialect, dialect_of(document.root));
  auto& resource =
      add_resource(std::move(entry.uri), {.value = &document.root, .path = std::move(entry.path)},
                   std::move(dialect), &document);
  return scan(resource.root);
}

Resource& Registry::add_resource(std::string uri, Target root, Dialect dialect,
                                 Document* document) {
  auto& resource = resources_.emplace_back(
      Resource{.uri = uri, .root = root, .dialect = std::move(dialect), .document = document});
  resource.root.resource = &resource;
  by_uri_[std::move(uri)] = &resource;
  by_root_[root.value] = &resource;
  return resource;
}

Result<Dialect> Registry::dialect_of(const json::Value& schema, int steps_left) {
  const auto* name = string_member(schema, "$schema");
  if (name == nullptr) return default_dialect_;
  return dialect_named(without_fragment(*name), steps_left);
}

Result<Dialect> Registry::dialect_named(std::string_view meta_uri, int steps_left) {
  if (auto standard = standard_dialect(meta_uri)) return std::move(*standard);
  const auto found = handed_in_.find(std::string(meta_uri));
  if (found == handed_in_.end() || steps_left == 0) {
    return refuse(fmt::format(
        "$schema {} is neither draft 7 nor 2020-12, nor a meta-schema among the documents given",
        quoted_name(meta_uri)));
  }
  const auto& meta = *found->second;
  const auto* own = string_member(meta, "$schema");
  Dialect dialect = standard_dialect(Draft::draft2020_12);
  if (own != nullptr && without_fragment(*own) != meta_uri) {
    MR_TRY(dialect, dialect_of(meta, steps_left - 1));
  }
  dialect.meta_uri = meta_uri;
  const auto* object = meta.if_object();
  const auto* vocabulary = object == nullptr ? nullptr : object->if_contains("$vocabulary");
  if (vocabulary == nullptr || !vocabulary->is_object() || dialect.is_draft7()) return dialect;
  dialect.applicators = dialect.unevaluated = dialect.validation = false;
  dialect.format_assertion = false;
  for (const auto& member : vocabulary->get_object()) {
    if (enable_vocabulary(dialect, member.key())) continue;
    if (member.value() == json::Value(false)) continue;  // May be left unknown.
    return refuse(fmt::format("meta-schema {} needs the vocabulary {}, which is not known",
                              quoted_name(meta_uri), quoted_name(member.key())));
  }
  return dialect;
}

// Takes up $id, $anchor and $dynamicAnchor of one schema; `target` may then be a resource's root.
Result<void> Registry::read_identity(Target& target) {
  const auto& schema = target.value->get_object();
  const bool is_root = target.resource->root.value == target.value;
  const bool draft7 = target.resource->dialect.is_draft7();
  // In draft 7, nothing beside $ref counts.
  if (draft7 && schema.contains("$ref")) return ok();
  if (const auto* id = string_member(*target.value, "$id")) {
    const auto uri = resolve_uri(target.resource->uri, *id);
    const std::string base(without_fragment(uri));
    if (!(draft7 && id->starts_with('#')) && (is_root || base != target.resource->uri)) {
      if (const auto same = by_uri_.find(base);
          same != by_uri_.end() && same->second->document == target.resource->document &&
          same->second->root.value != target.value) {
        return refuse(fmt::format("{}/$id is the $id of another schema too", target.path));
      }
      if (is_root) {
        target.resource->uri = base;
        by_uri_[base] = target.resource;
      } else {
        auto dialect = target.resource->dialect;
        if (schema.contains("$schema")) {
          MR_TRY(dialect, dialect_of(*target.value));
        }
        auto* document = target.resource->document;
        target.resource = &add_resource(base, target, std::move(dialect), document);
      }
    }
    if (draft7 && !fragment_of(uri).empty()) {
      target.resource->anchors[std::string(fragment_of(uri))] = target;
    }
  }
  if (target.resource->dialect.is_draft7()) return ok();
  if (const auto* name = string_member(*target.value, "$anchor")) {
    target.resource->anchors[std::string(*name)] = target;
  }
  if (const auto* name = string_member(*target.value, "$dynamicAnchor")) {
    target.resource->anchors[std::string(*name)] = target;
    target.resource->dynamic_anchors[std::string(*name)] = target;
  }
  return ok();
}

// As deep as the document at most, and that was limited before.
Result<void> Registry::scan(Target target) {
  if (!scanned_.insert(target.value).second || !target.value->is_object()) return ok();
  MR_TRY_VOID(read_identity(target));
  for (const auto& member : target.value->get_object()) {
    MR_TRY_VOID(scan_part(target, member.key(), member.value()));
  }
  return ok();
}

Result<void> Registry::scan_part(const Target& target, std::string_view keyword,
                                 const json::Value& value) {
  const auto shape = subschema_shape(target.resource->dialect.draft, keyword);
  if (!shape) return ok();
  const auto path = extended(target.path, keyword);
  const auto below = [&](const json::Value& part, std::string_view token) {
    return scan({.value = &part, .resource = target.resource, .path = extended(path, token)});
  };
  const bool is_map = *shape == Shape::schema_map || *shape == Shape::dependencies;
  if (const auto* object = value.if_object(); object != nullptr && is_map) {
    for (const auto& member : *object) MR_TRY_VOID(below(member.value(), member.key()));
    return ok();
  }
  const auto* array = value.if_array();
  if (array != nullptr && (*shape == Shape::schemas || *shape == Shape::schema_or_schemas)) {
    for (std::size_t i = 0; i < array->size(); ++i) {
      MR_TRY_VOID(below((*array)[i], fmt::format("{}", i)));
    }
    return ok();
  }
  if (is_map || *shape == Shape::schemas) return ok();
  return scan({.value = &value, .resource = target.resource, .path = path});
}

Target Registry::child(const Target& parent, const json::Value& value, std::string path) const {
  Target target{.value = &value, .resource = parent.resource, .path = std::move(path)};
  if (const auto own = by_root_.find(&value); own != by_root_.end()) target.resource = own->second;
  return target;
}

Result<void> Registry::add_standard(std::string_view uri) {
  const auto text = standard_meta_schema(uri);
  if (!text) {
    return refuse(fmt::format("{} is not among the documents given, and nothing is fetched",
                              quoted_name(uri)));
  }
  MR_TRY(auto value, parse_json(*text));
  auto& document = documents_.emplace_back(std::move(value));
  document.is_standard = true;
  return add_document(document, {.uri = std::string(uri), .path = std::string(uri) + "#"});
}

Result<Resource*> Registry::find(std::string_view uri) {
  auto found = by_uri_.find(std::string(uri));
  if (found == by_uri_.end()) {
    MR_TRY_VOID(add_standard(uri));
    found = by_uri_.find(std::string(uri));
  }
  auto* resource = found->second;
  if (resource->broken) return fail(*resource->broken);
  auto* document = resource->document;
  if (!document->in_use && !document->is_standard) {
    unchecked_.push_back(by_root_.at(&document->root)->root);
  }
  document->in_use = true;
  return resource;
}

Result<Target> Registry::resolve(const Resource& from, std::string_view reference) {
  const auto uri = resolve_uri(from.uri, reference);
  MR_TRY(auto* resource, find(without_fragment(uri)));
  const auto fragment = percent_decoded(fragment_of(uri));
  if (fragment.empty()) return resource->root;
  if (fragment.starts_with('/')) return at_pointer(resource->root, fragment);
  const auto anchor = resource->anchors.find(fragment);
  if (anchor == resource->anchors.end()) {
    return refuse(fmt::format("there is no anchor {} in {}", quoted_name(fragment),
                              resource->uri.empty() ? "the schema" : quoted_name(resource->uri)));
  }
  return anchor->second;
}

Result<Target> Registry::at_pointer(const Target& root, std::string_view fragment) {
  const auto tokens = pointer_tokens(fragment);
  if (!tokens) return refuse(fmt::format("{} is not a JSON pointer", quoted_name(fragment)));
  auto target = root;
  for (const auto& token : *tokens) {
    const json::Value* next = nullptr;
    if (const auto* object = target.value->if_object()) {
      next = object->if_contains(token);
    } else if (const auto* array = target.value->if_array()) {
      const auto index = array_index(token);
      next = index ? array->if_contains(*index) : nullptr;
    }
    if (next == nullptr) {
      return refuse(fmt::format("there is nothing at {}", quoted_name(fragment)));
    }
    target = child(target, *next, extended(target.path, token));
  }
  if (!target.value->is_object() && !target.value->is_bool()) {
    return refuse(fmt::format("what is at {} is not a schema", quoted_name(fragment)));
  }
  // Not a place where schemas usually lie: read, and hold against the meta-schema, what lies there.
  if (!scanned_.contains(target.value)) {
    MR_TRY_VOID(scan(target));
    target = child(target, *target.value, target.path);
    if (!target.resource->document->is_standard) unchecked_.push_back(target);
  }
  return target;
}

std::vector<Target> Registry::take_unchecked() { return std::exchange(unchecked_, {}); }

Result<Target> Registry::meta_schema(const Dialect& dialect) {
  MR_TRY(auto* resource, find(dialect.meta_uri));
  return resource->root;
}

}  // namespace millrace::schema
