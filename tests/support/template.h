// The database that test databases are cloned from: migrated once per server and per state of sql/.
#pragma once

#include "base/result.h"

#include <functional>
#include <string>
#include <string_view>

namespace millrace::test {

// The template's name; makes it when it is missing. `url_of` gives a superuser's URL of a database.
// One process at a time.
Result<std::string> ensure_template(
    const std::function<std::string(std::string_view database)>& url_of);

// Brings an empty database to what tests expect: all migrations, functions, and sql/testing.
Result<void> prepare_template(const std::string& url);

}  // namespace millrace::test
