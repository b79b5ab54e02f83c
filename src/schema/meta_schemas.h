// The meta-schemas of draft 7 and 2020-12, as their standards have them.
#pragma once

#include <optional>
#include <string_view>

namespace millrace::schema {

// The JSON text of a standard document, by its URI without fragment.
std::optional<std::string_view> standard_meta_schema(std::string_view uri);

}  // namespace millrace::schema
