// JSON: Boost.JSON's values with our own reading rules and our own writer.
//
// parse_json refuses what Boost lets pass: duplicate keys, text after the value, too much of
// anything. to_json exists because Boost prints 0.1 as 1E-1. canonical_json gives the same bytes
// for equal values (RFC 8785), for checksums and signatures.
#pragma once

#include "base/result.h"

#include <boost/json/value.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace millrace {

namespace json {
using Value = boost::json::value;
using Object = boost::json::object;
using Array = boost::json::array;
using String = boost::json::string;
}  // namespace json

struct JsonLimits {
  std::size_t max_bytes = 1024 * 1024;
  std::size_t max_depth = 64;
};

// Errors are invalid_argument with one line: "invalid JSON at byte 17: ...".
Result<json::Value> parse_json(std::string_view text, JsonLimits limits = {});
// The same, and anything but an object is refused.
Result<json::Object> parse_json_object(std::string_view text, JsonLimits limits = {});

std::string to_json(const json::Value& value);
std::string to_json(const json::Object& object);
std::string to_pretty_json(
    const json::Value& value);  // Two spaces, a line per member, final newline.
std::string canonical_json(const json::Value& value);

// `text` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD.
std::string json_quote(std::string_view text);
// A number as ECMAScript prints it; JSON has no NaN or infinity, these become null.
std::string json_number(double value);

}  // namespace millrace
