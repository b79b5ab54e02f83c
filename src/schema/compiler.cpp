#include "schema/building.h"
#include "schema/compiled.h"

#include <fmt/format.h>

#include <map>
#include <unordered_map>
#include <utility>

namespace millrace::schema {
namespace {

constexpr std::size_t kPatternStepsMax = 1'000'000;  // Of all patterns together.
constexpr std::uint64_t kMetaStepsFactor = 4;
constexpr std::size_t kViolationsShownMax = 3;

using Compiled = Schema::Compiled;

// Turns schemas into nodes, one after another: a node is handed out as soon as somebody refers to
// its schema, and gets its rules when its turn comes.
class Compiler final : public NodeSource {
 public:
  Compiler(Compiled& compiled, bool assert_formats, bool trusted)
      : compiled_(compiled),
        registry_(compiled.documents, compiled.places, compiled.limits),
        assert_formats_(assert_formats),
        trusted_(trusted) {}

  Result<void> compile(json::Value document, SchemaOptions& options) {
    MR_TRY(const auto root, registry_.add_root(std::move(document), options));
    compiled_.draft = root.resource->dialect.draft;
    compiled_.document = root.value;
    if (!root.value->is_object() && !root.value->is_bool()) {
      return fail(ErrorKind::invalid_argument, "a schema must be an object, true or false");
    }
    compiled_.root = node(root, "");
    do {
      MR_TRY_VOID(check_documents());
      while (!pending_.empty()) {
        const auto [next, target] = std::move(pending_.back());
        pending_.pop_back();
        MR_TRY_VOID(build(*next, target));
        MR_TRY_VOID(check_documents());
      }
      MR_TRY_VOID(check_later());
    } while (!pending_.empty());
    return link();
  }

  const Node* node(const Target& target, std::string_view keyword) override {
    if (const auto known = by_value_.find(target.value); known != by_value_.end()) {
      return known->second;
    }
    auto& made = compiled_.nodes.emplace_back(Node{.place = target.place, .keyword = keyword});
    by_value_.emplace(target.value, &made);
    made.anchors = anchors_of(*target.resource);
    pending_.emplace_back(&made, target);
    return &made;
  }

  const Target& at(const json::Value& value) override { return registry_.at(value); }

  Result<Target> resolve(const Target& from, std::string_view reference) override {
    return registry_.resolve(*from.resource, reference);
  }

  Result<Regex> pattern(std::string_view text) override {
    const auto known = patterns_.find(text);
    if (known != patterns_.end()) return known->second;
    MR_TRY(auto regex, Regex::compile(text));
    pattern_steps_ += regex.size();
    if (pattern_steps_ > kPatternStepsMax) {
      return fail(ErrorKind::invalid_argument, "all patterns of the schema together are too large");
    }
    return patterns_.emplace(std::string(text), std::move(regex)).first->second;
  }

 private:
  // A resource is entered with all its dynamic anchors: any $dynamicRef further in may ask for
  // them.
  const DynamicAnchors* anchors_of(const Resource& resource) {
    if (resource.dynamic_anchors.empty()) return nullptr;
    const auto known = anchors_.find(&resource);
    if (known != anchors_.end()) return known->second;
    auto& made = compiled_.anchors.emplace_back();
    anchors_.emplace(&resource, &made);
    for (const auto& [name, target] : resource.dynamic_anchors) {
      made.emplace(name, node(target, "$dynamicAnchor"));
    }
    return &made;
  }

  Result<void> build(Node& node, const Target& target) {
    if (const auto* allowed = target.value->if_bool()) {
      node.refuses = !*allowed;
      return ok();
    }
    if (!target.value->is_object()) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("{} must be a schema: an object, true or false",
                              node.place->shown("the schema")));
    }
    Building building(*this, node, target, assert_formats_);
    // In draft 7, nothing beside $ref counts.
    if (building.dialect().is_draft7() && building.find("$ref") != nullptr) {
      return add_reference_rules(building);
    }
    MR_TRY_VOID(add_value_rules(building));
    MR_TRY_VOID(add_array_rules(building));
    MR_TRY_VOID(add_object_rules(building));
    MR_TRY_VOID(add_reference_rules(building));
    MR_TRY_VOID(add_logic_rules(building));
    MR_TRY_VOID(add_unevaluated_rules(building));
    if (const auto* value = building.find("default")) {
      node.default_value = value;
      compiled_.with_default.push_back(&node);
    }
    return ok();
  }

  Result<void> check_documents() {
    if (trusted_) return ok();
    for (const auto& target : registry_.take_unchecked()) {
      const auto& dialect = target.resource->dialect;
      if (!standard_dialect(std::string_view(dialect.meta_uri))) {
        // A meta-schema that was handed in: it has to be compiled first.
        MR_TRY(const auto meta, registry_.meta_schema(dialect));
        later_.emplace_back(target, node(meta, ""));
        continue;
      }
      MR_TRY(const auto* meta, standard_meta_schema_of(dialect.draft));
      MR_TRY_VOID(check_document(target, *meta->root));
    }
    return ok();
  }

  Result<void> check_later() {
    for (const auto& [target, meta] : std::exchange(later_, {})) {
      MR_TRY_VOID(check_document(target, *meta));
    }
    return ok();
  }

  Result<void> check_document(const Target& target, const Node& meta) const {
    auto limits = compiled_.limits;
    limits.steps_max *= kMetaStepsFactor;
    const auto violations = validate_with(limits, meta, *target.value);
    if (violations.empty()) return ok();
    std::string message = target.place->pointer().empty()
                              ? "schema: "
                              : fmt::format("schema {}: ", target.place->shown(""));
    for (std::size_t i = 0; i < violations.size() && i < kViolationsShownMax; ++i) {
      if (i > 0) message += "; ";
      message += violations[i].message;
    }
    return fail(ErrorKind::invalid_argument, std::move(message));
  }

  // The compiled meta-schemas of the drafts: constants of the program, made when first needed.
  static Result<const Compiled*> standard_meta_schema_of(Draft draft) {
    static const auto draft2020 = compile_standard(kDraft2020Uri);
    const auto& found = draft == Draft::draft7 ? compiled_draft7() : draft2020;
    if (!found) return fail(ErrorKind::internal, found.error().message);
    return found->get();
  }

  static const Result<std::shared_ptr<const Compiled>>& compiled_draft7() {
    static const auto draft7 = compile_standard(kDraft7Uri);
    return draft7;
  }

  static Result<std::shared_ptr<const Compiled>> compile_standard(std::string_view uri) {
    MR_TRY(auto document, parse_json(fmt::format(R"({{"$ref":"{}"}})", uri)));
    return compile_trusted(std::move(document));
  }

  // Refuses references in a circle that no value can ever end, and lets nodes inherit defaults
  // along what always holds. Without recursion: a chain may be as long as the schema is large.
  Result<void> link() {
    enum class State { fresh, open, done };
    std::unordered_map<const Node*, State> states;
    std::vector<std::pair<Node*, std::size_t>> stack;
    for (auto& start : compiled_.nodes) {
      if (states[&start] != State::fresh) continue;
      stack.emplace_back(&start, 0);
      states[&start] = State::open;
      while (!stack.empty()) {
        auto& [node, next] = stack.back();
        if (next == node->always.size()) {
          inherit_default(*node);
          states[node] = State::done;
          stack.pop_back();
          continue;
        }
        // Nodes are ours; rules see them as const.
        auto* const other = const_cast<Node*>(node->always[next++]);
        if (states[other] == State::open) {
          return fail(ErrorKind::invalid_argument, fmt::format("{} refers to itself without end",
                                                               other->place->shown("the schema")));
        }
        if (states[other] == State::done) continue;
        states[other] = State::open;
        stack.emplace_back(other, 0);
      }
    }
    return ok();
  }

  static void inherit_default(Node& node) {
    for (const auto* other : node.always) {
      if (node.default_value != nullptr) return;
      node.default_value = other->default_value;
    }
  }

  Compiled& compiled_;
  Registry registry_;
  bool assert_formats_;
  bool trusted_;
  std::unordered_map<const json::Value*, const Node*> by_value_;
  std::vector<std::pair<Node*, Target>> pending_;
  std::vector<std::pair<Target, const Node*>> later_;
  std::unordered_map<const Resource*, const DynamicAnchors*> anchors_;
  std::map<std::string, Regex, std::less<>> patterns_;
  std::size_t pattern_steps_ = 0;
};

Result<std::shared_ptr<const Compiled>> compile_with(json::Value document, SchemaOptions options,
                                                     bool trusted) {
  auto compiled = std::make_shared<Compiled>();
  compiled->limits = options.limits;
  Compiler compiler(*compiled, options.assert_formats, trusted);
  MR_TRY_VOID(compiler.compile(std::move(document), options));
  return std::shared_ptr<const Compiled>(std::move(compiled));
}

}  // namespace

Result<std::shared_ptr<const Schema::Compiled>> compile_trusted(json::Value document) {
  return compile_with(std::move(document), {}, true);
}

Result<std::shared_ptr<const Schema::Compiled>> compile_schema(json::Value document,
                                                               SchemaOptions options) {
  return compile_with(std::move(document), std::move(options), false);
}

}  // namespace millrace::schema
