// Place: where something lies, in a value or in a schema document; a list from the inside out.
//
// Places of values live on the stack of a walk, those of schemas as long as the compiled schema.
// Text is made of them only when somebody has to be told: keys may be long and nesting deep.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace millrace::schema {

struct Place {
  const Place* outer = nullptr;
  std::string_view key = {};  // Of a root: what stands before the pointer.
  std::size_t index = 0;
  bool is_item = false;

  static Place root(std::string_view prefix = {}) { return {.key = prefix}; }
  static Place member(const Place& outer, std::string_view key) {
    return {.outer = &outer, .key = key};
  }
  static Place item(const Place& outer, std::size_t index) {
    return {.outer = &outer, .index = index, .is_item = true};
  }

  std::string pointer() const;  // "/a/0", with the root's prefix in front.
  // The same for messages: one line, not too long, `root_name` where it would be empty.
  std::string shown(std::string_view root_name) const;
};

}  // namespace millrace::schema
