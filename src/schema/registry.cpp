#include "schema/registry.h"

#include "base/assert.h"
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

// Together they bound what the names of parts can take up.
constexpr std::size_t kUriBytesMax = 2048;
constexpr std::size_t kResourcesMax = 10'000;

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
  MR_TRY(default_dialect_, dialect_of(root.root));
  MR_TRY_VOID(add_document(root, std::string(without_fragment(options.base_uri)), true));
  for (auto& [other, uri] : others) {
    if (by_uri_.contains(uri)) continue;  // The root has this URI.
    const auto added = add_document(*other, uri, false);
    if (added) continue;
    other->broken = added.error();
    add_resource(uri, {.value = &other->root}, {}, other);
  }
  unchecked_.push_back(at(root.root));
  return at(root.root);
}

Result<void> Registry::add_document(Document& document, std::string uri, bool is_root) {
  if (!fits_depth(document.root, limits_.document_depth_max)) {
    return refuse(fmt::format("{} is nested deeper than {} levels",
                              is_root ? "the schema" : quoted_name(uri),
                              limits_.document_depth_max));
  }
  MR_TRY(auto dialect, dialect_of(document.root));
  document.name = is_root ? std::string() : uri + "#";
  const auto& place = keep(Place::root(document.name));
  auto& resource = add_resource(std::move(uri), {.value = &document.root, .place = &place},
                                std::move(dialect), &document);
  return scan(resource.root);
}

Resource& Registry::add_resource(std::string uri, Target root, Dialect dialect,
                                 Document* document) {
  auto& resource = resources_.emplace_back(
      Resource{.uri = uri, .root = root, .dialect = std::move(dialect), .document = document});
  resource.root.resource = &resource;
  by_uri_[std::move(uri)] = &resource;
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
  // In draft 7, nothing beside $ref counts.
  const auto& schema = target.value->get_object();
  if (target.resource->dialect.is_draft7() && schema.contains("$ref")) return ok();
  if (const auto* id = string_member(*target.value, "$id")) MR_TRY_VOID(read_id(target, *id));
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

Result<void> Registry::read_id(Target& target, std::string_view id) {
  auto* const outer = target.resource;
  const bool draft7 = outer->dialect.is_draft7();
  const auto uri = resolve_uri(outer->uri, id);
  const std::string base(without_fragment(uri));
  const bool is_root = outer->root.value == target.value;
  if (uri.size() > kUriBytesMax || resources_.size() >= kResourcesMax) {
    return refuse(fmt::format("{}/$id: a schema has at most {} parts with an $id, of {} bytes each",
                              target.place->shown(""), kResourcesMax, kUriBytesMax));
  }
  if (is_root) {
    outer->uri = base;
    by_uri_[base] = outer;
  } else if (base != outer->uri) {
    const auto same = by_uri_.find(base);
    if (same != by_uri_.end() && same->second->document == outer->document) {
      return refuse(
          fmt::format("{}/$id is the $id of another schema too", target.place->shown("")));
    }
    auto dialect = outer->dialect;
    if (target.value->get_object().contains("$schema")) {
      MR_TRY(dialect, dialect_of(*target.value));
    }
    target.resource = &add_resource(base, target, std::move(dialect), outer->document);
  }
  // Draft 7 writes anchors as "$id": "#name".
  if (draft7 && !fragment_of(uri).empty()) {
    target.resource->anchors[std::string(fragment_of(uri))] = target;
  }
  return ok();
}

// As deep as the document at most, and that was limited before.
Result<void> Registry::scan(Target target) {
  if (scanned_.contains(target.value)) return ok();
  if (target.value->is_object()) MR_TRY_VOID(read_identity(target));
  scanned_.emplace(target.value, target);
  if (!target.value->is_object()) return ok();
  for (const auto& member : target.value->get_object()) MR_TRY_VOID(scan_part(target, member));
  return ok();
}

Result<void> Registry::scan_part(const Target& target, const boost::json::key_value_pair& member) {
  const auto shape = subschema_shape(target.resource->dialect.draft, member.key());
  if (!shape) return ok();
  const auto& value = member.value();
  const auto& place = keep(Place::member(*target.place, member.key()));
  const auto below = [&](const json::Value& part, Place inner) {
    return scan({.value = &part, .resource = target.resource, .place = &keep(inner)});
  };
  const bool is_map = *shape == Shape::schema_map || *shape == Shape::dependencies;
  if (const auto* object = value.if_object(); object != nullptr && is_map) {
    for (const auto& part : *object) {
      MR_TRY_VOID(below(part.value(), Place::member(place, part.key())));
    }
    return ok();
  }
  const auto* array = value.if_array();
  if (array != nullptr && (*shape == Shape::schemas || *shape == Shape::schema_or_schemas)) {
    for (std::size_t i = 0; i < array->size(); ++i) {
      MR_TRY_VOID(below((*array)[i], Place::item(place, i)));
    }
    return ok();
  }
  if (is_map || *shape == Shape::schemas) return ok();
  return scan({.value = &value, .resource = target.resource, .place = &place});
}

const Target& Registry::at(const json::Value& value) const {
  const auto found = scanned_.find(&value);
  MR_ASSERT(found != scanned_.end());
  return found->second;
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
  return add_document(document, std::string(uri), false);
}

Result<Resource*> Registry::find(std::string_view uri) {
  auto found = by_uri_.find(std::string(uri));
  if (found == by_uri_.end()) {
    MR_TRY_VOID(add_standard(uri));
    found = by_uri_.find(std::string(uri));
  }
  auto* resource = found->second;
  auto* document = resource->document;
  if (document->broken) return fail(*document->broken);
  if (!document->in_use && !document->is_standard) {
    unchecked_.push_back(at(document->root));
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
    Place place;
    if (const auto* object = target.value->if_object()) {
      if (const auto member = object->find(token); member != object->end()) {
        next = &member->value();
        place = Place::member(*target.place, member->key());
      }
    } else if (const auto* array = target.value->if_array()) {
      const auto index = array_index(token);
      next = index ? array->if_contains(*index) : nullptr;
      if (next != nullptr) place = Place::item(*target.place, *index);
    }
    if (next == nullptr) {
      return refuse(fmt::format("there is nothing at {}", quoted_name(fragment)));
    }
    if (const auto known = scanned_.find(next); known != scanned_.end()) {
      target = known->second;
    } else {
      target.value = next;
      target.place = &keep(place);
    }
  }
  if (!target.value->is_object() && !target.value->is_bool()) {
    return refuse(fmt::format("what is at {} is not a schema", quoted_name(fragment)));
  }
  // Not a place where schemas usually lie: read, and hold against the meta-schema, what lies there.
  if (!scanned_.contains(target.value)) {
    MR_TRY_VOID(scan(target));
    target = at(*target.value);
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
