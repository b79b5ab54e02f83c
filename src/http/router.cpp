#include "http/router.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::http {
namespace {

constexpr std::array<std::string_view, 7> kMethods = {"GET",   "HEAD",   "POST",   "PUT",
                                                      "PATCH", "DELETE", "OPTIONS"};

enum class Part { literal, parameter, rest };

struct Segment {
  Part part = Part::literal;
  std::string_view text;  // Of a literal, or the parameter's name.
};

// One step further along the patterns. Positions are indices into Table::nodes.
struct Node {
  std::vector<std::pair<std::string, std::size_t>> literals;  // Sorted once all are in.
  std::optional<std::size_t> parameter;
  std::optional<std::size_t> rest;
  std::vector<std::size_t> routes;  // That end here, by index.
  std::string allow;
  bool private_path = false;
};

bool is_parameter_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

Result<Segment> parse_segment(std::string_view text) {
  if (!text.starts_with('{') || !text.ends_with('}')) {
    if (text.find_first_of("{}%?#") != text.npos) {
      return fail(ErrorKind::invalid_argument, "a segment is either text or one {parameter}");
    }
    return Segment{.text = text};
  }
  auto name = text.substr(1, text.size() - 2);
  const bool rest = name.ends_with("...");
  if (rest) name.remove_suffix(3);
  if (!is_parameter_name(name)) {
    return fail(ErrorKind::invalid_argument,
                "a parameter's name is made of a-z, 0-9 and _, followed by ... to take all");
  }
  return Segment{.part = rest ? Part::rest : Part::parameter, .text = name};
}

Result<std::vector<Segment>> parse_pattern(std::string_view pattern) {
  if (!pattern.starts_with('/')) {
    return fail(ErrorKind::invalid_argument, "a pattern begins with /");
  }
  pattern.remove_prefix(1);
  std::vector<Segment> segments;
  for (;;) {
    const auto slash = pattern.find('/');
    MR_TRY(const auto segment, parse_segment(pattern.substr(0, slash)));
    if (!segments.empty() && segments.back().part == Part::rest) {
      return fail(ErrorKind::invalid_argument, "nothing follows a parameter that takes all");
    }
    segments.push_back(segment);
    if (slash == pattern.npos) return segments;
    pattern.remove_prefix(slash + 1);
  }
}

}  // namespace

struct Router::Table {
  std::vector<Route> routes;
  std::vector<std::vector<std::string>> names;  // The parameters of each route, in order.
  std::vector<Node> nodes = std::vector<Node>(1);
  std::string allow_all;

  Result<void> add(std::size_t index);
  std::size_t step(std::size_t at, const Segment& segment);
  void finish();
  std::string allow_of(const std::vector<std::size_t>& indices) const;

  // Where the path ends, filling in the values that were taken on the way.
  const Node* walk(std::size_t at, std::size_t depth, const RequestPath& path,
                   RouteMatch& match) const;
};

std::size_t Router::Table::step(std::size_t at, const Segment& segment) {
  const auto fresh = nodes.size();
  const auto take = [&](std::optional<std::size_t>& place) {
    if (!place) place = fresh;
    return *place;
  };
  std::size_t next = 0;
  Node& node = nodes[at];
  if (segment.part == Part::parameter) {
    next = take(node.parameter);
  } else if (segment.part == Part::rest) {
    next = take(node.rest);
  } else {
    const auto found =
        std::ranges::find(node.literals, segment.text, &std::pair<std::string, std::size_t>::first);
    next = found != node.literals.end() ? found->second : fresh;
    if (next == fresh) node.literals.emplace_back(segment.text, fresh);
  }
  if (next == fresh) nodes.emplace_back();
  return next;
}

Result<void> Router::Table::add(std::size_t index) {
  const Route& route = routes[index];
  const auto refuse = [&route](std::string_view why) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("route {} {}: {}", route.method, route.pattern, why));
  };
  if (std::ranges::find(kMethods, route.method) == kMethods.end()) return refuse("unknown method");
  if (!route.handler) return refuse("no handler");
  const auto segments = parse_pattern(route.pattern);
  if (!segments) return refuse(segments.error().message);
  if (segments->size() > kPathSegmentsMax) return refuse("too many segments");
  auto& own_names = names.emplace_back();
  std::size_t at = 0;
  for (const auto& segment : *segments) {
    at = step(at, segment);
    if (segment.part == Part::literal) continue;
    if (std::ranges::find(own_names, segment.text) != own_names.end()) {
      return refuse("two parameters have the same name");
    }
    own_names.emplace_back(segment.text);
  }
  if (own_names.size() > kPathParametersMax) return refuse("too many parameters");
  for (const auto other : nodes[at].routes) {
    if (routes[other].method == route.method) {
      return refuse(fmt::format("cannot be told apart from {}", routes[other].pattern));
    }
  }
  nodes[at].routes.push_back(index);
  const bool takes_all = segments->back().part == Part::rest;
  if (route.private_path || takes_all) nodes[at].private_path = true;
  return ok();
}

std::string Router::Table::allow_of(const std::vector<std::size_t>& indices) const {
  std::string list;
  for (const auto method : kMethods) {
    const bool listed = std::ranges::any_of(indices, [&](std::size_t index) {
      const auto& name = routes[index].method;
      return name == method || (method == "HEAD" && name == "GET");
    });
    if (!listed && method != "OPTIONS") continue;
    if (!list.empty()) list += ", ";
    list += method;
  }
  return list;
}

void Router::Table::finish() {
  for (auto& node : nodes) {
    std::ranges::sort(node.literals);
    if (!node.routes.empty()) node.allow = allow_of(node.routes);
  }
  std::vector<std::size_t> all(routes.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  allow_all = allow_of(all);
}

const Node* Router::Table::walk(std::size_t at, std::size_t depth, const RequestPath& path,
                                RouteMatch& match) const {
  const Node& node = nodes[at];
  const auto segments = path.segments();
  if (depth == segments.size()) return node.routes.empty() ? nullptr : &node;
  const auto segment = segments[depth];
  const auto literal = std::ranges::lower_bound(
      node.literals, segment, {}, [](const auto& entry) { return std::string_view(entry.first); });
  if (literal != node.literals.end() && literal->first == segment) {
    if (const auto* end = walk(literal->second, depth + 1, path, match)) return end;
  }
  const auto count = match.parameter_count;
  if (count == kPathParametersMax) return nullptr;
  // An empty segment is no value: "/jobs/" is not a job.
  if (node.parameter && !segment.empty()) {
    match.parameters[count].value = segment;
    match.parameter_count = count + 1;
    if (const auto* end = walk(*node.parameter, depth + 1, path, match)) return end;
    match.parameter_count = count;
  }
  if (!node.rest || path.rest(depth).empty()) return nullptr;
  match.parameters[count].value = path.rest(depth);
  match.parameter_count = count + 1;
  if (path.has_encoded_slash(depth)) match.fault = "the path has an encoded slash";
  return &nodes[*node.rest];
}

Router::Router(std::unique_ptr<Table> table) : table_(std::move(table)) {}
Router::Router(Router&&) noexcept = default;
Router& Router::operator=(Router&&) noexcept = default;
Router::~Router() = default;

Result<Router> Router::make(std::vector<Route> routes) {
  auto table = std::make_unique<Table>();
  table->routes = std::move(routes);
  for (std::size_t i = 0; i < table->routes.size(); ++i) {
    MR_TRY_VOID(table->add(i));
  }
  table->finish();
  return Router(std::move(table));
}

RouteMatch Router::find(std::string_view method, const RequestPath& path) const {
  RouteMatch match;
  const Node* node = table_->walk(0, 0, path, match);
  if (node != nullptr) match.private_path = node->private_path;
  if (node == nullptr || !match.fault.empty()) return match;
  match.allow = node->allow;
  const Route* get = nullptr;
  for (const auto index : node->routes) {
    const Route& route = table_->routes[index];
    if (route.method == "GET") get = &route;
    if (route.method == method) match.route = &route;
  }
  if (match.route == nullptr && method == "HEAD") match.route = get;
  if (match.route == nullptr) return match;
  const auto& names = table_->names[static_cast<std::size_t>(match.route - table_->routes.data())];
  for (std::size_t i = 0; i < match.parameter_count; ++i) match.parameters[i].name = names[i];
  return match;
}

std::span<const Route> Router::routes() const { return table_->routes; }
std::string_view Router::allow_all() const { return table_->allow_all; }

}  // namespace millrace::http
