// The formats that can be demanded of texts, as the standards define them.
#pragma once

#include <string_view>

namespace millrace::schema {

using FormatCheck = bool(std::string_view text);

// Null for formats that are not known: they demand nothing.
FormatCheck* find_format(std::string_view name);

bool is_date(std::string_view text);       // RFC 3339: 2024-02-29
bool is_time(std::string_view text);       // RFC 3339: 23:59:60Z, only where a leap second can be
bool is_date_time(std::string_view text);  // RFC 3339
bool is_duration(std::string_view text);   // RFC 3339, appendix A: P1DT12H
bool is_email(std::string_view text);      // RFC 5321, ASCII
bool is_hostname(std::string_view text);   // RFC 1123
bool is_ipv4(std::string_view text);
bool is_ipv6(std::string_view text);
bool is_uri(std::string_view text);            // RFC 3986, with a scheme
bool is_uri_reference(std::string_view text);  // RFC 3986
bool is_uuid(std::string_view text);
bool is_json_pointer(std::string_view text);
bool is_regex(std::string_view text);

}  // namespace millrace::schema
