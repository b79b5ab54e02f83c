// URI references as schemas use them: resolved against a base (RFC 3986, 5.2), without ever being
// fetched; and JSON pointers (RFC 6901) in their fragments.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::schema {

struct UriParts {
  std::optional<std::string_view> scheme;  // Without ':'.
  std::optional<std::string_view> authority;
  std::string_view path;
  std::optional<std::string_view> query;
  std::optional<std::string_view> fragment;
};

// Takes any text apart; nothing is checked.
UriParts split_uri(std::string_view text);

// `reference` as seen from `base`, which may itself be relative or empty.
std::string resolve_uri(std::string_view base, std::string_view reference);

// The part before '#', and what follows it (nothing when there is no '#').
std::string_view without_fragment(std::string_view uri);
std::string_view fragment_of(std::string_view uri);

// %41 becomes A; a '%' without two hexadecimal digits stays.
std::string percent_decoded(std::string_view text);

// The tokens of a JSON pointer; nothing when it is not "" and does not begin with '/', or a '~' is
// not followed by 0 or 1.
std::optional<std::vector<std::string>> pointer_tokens(std::string_view pointer);
// Adds "/token", escaped.
void append_token(std::string& pointer, std::string_view token);
// The index that a token of a JSON pointer stands for in an array.
std::optional<std::size_t> array_index(std::string_view token);

}  // namespace millrace::schema
