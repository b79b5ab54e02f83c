// Entity tags: the same bytes, the same tag; whoever has them already gets 304 instead.
#pragma once

#include <string>
#include <string_view>

namespace millrace::api {

// A strong tag of the whole answer: "\"" and 22 letters of its SHA-256 and "\"".
std::string etag_of(std::string_view body);

// Whether a header `If-None-Match` (or `If-Match`) names the tag: "*", or a list of tags. Weak tags
// match in a comparison for reading only.
bool names_tag(std::string_view header, std::string_view tag, bool weak_counts);

}  // namespace millrace::api
