#include "schema/place.h"

#include "schema/uri.h"
#include "schema/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ranges>
#include <vector>

namespace millrace::schema {
namespace {

constexpr std::size_t kShownMax = 200;

}  // namespace

std::string Place::pointer() const {
  std::vector<const Place*> places;
  const auto* place = this;
  for (; place->outer != nullptr; place = place->outer) places.push_back(place);
  std::string text(place->key);
  for (const auto* part : std::views::reverse(places)) {
    if (part->is_item) {
      fmt::format_to(std::back_inserter(text), "/{}", part->index);
    } else {
      append_token(text, part->key);
    }
  }
  return text;
}

std::string Place::shown(std::string_view root_name) const {
  auto text = pointer();
  if (text.empty()) return std::string(root_name);
  // Keys may hold anything; a message stays on one line.
  const bool plain = std::ranges::none_of(text, [](char c) { return c >= 0 && c < 0x20; });
  return plain && text.size() <= kShownMax ? text : quoted_name(text);
}

}  // namespace millrace::schema
