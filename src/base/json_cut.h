// Cutting JSON text without reading it: where a member stands, and an array a few elements at a
// time.
//
// For large texts from which a value is made piece by piece: the tree of a text takes ten times its
// room. Nothing here checks the JSON: whatever is cut out must be parsed by parse_json, and what is
// left of it too; then all of it has been checked. A text that cannot be cut is no JSON, or spells
// its names with escapes: parse it whole.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>

namespace millrace {

struct JsonCut {
  std::string_view before;  // Ends behind the colon.
  std::string_view value;
  std::string_view after;
};

// The first member of this name of the object that `text` is. Nothing: there is none.
std::optional<JsonCut> cut_json_member(std::string_view text, std::string_view name);

// Calls `take` with the text of at most `count` elements at a time, with the commas between them,
// until it says false. False: the text is no array, or `take` said so.
bool for_json_elements(std::string_view array, std::size_t count,
                       const std::function<bool(std::string_view elements)>& take);

}  // namespace millrace
