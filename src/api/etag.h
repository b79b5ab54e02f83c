// Entity tags: the same bytes, the same tag; whoever has them already gets 304 instead.
//
// Of what people change there is a version besides, which names what they have set and nothing that
// moves by itself: the tag is "<version>.<rest>". A change with If-Match happens while the version
// is the one of the tag, whatever has been counted meanwhile.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace millrace::api {

// A strong tag of the whole answer: "\"" and 22 letters of its SHA-256 and "\"".
std::string etag_of(std::string_view body);
std::string etag_of(std::string_view body, std::string_view version);

// Whether a header `If-None-Match` (or `If-Match`) names the tag: "*", or a list of tags. Weak tags
// match in a comparison for reading only.
bool names_tag(std::string_view header, std::string_view tag, bool weak_counts);

// The versions that an `If-Match` names, "*" for whatever there is. Weak tags name none, nor does
// what is no list of tags: an empty list matches nothing.
std::vector<std::string> versions_in(std::string_view header);

}  // namespace millrace::api
