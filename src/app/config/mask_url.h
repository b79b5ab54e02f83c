// mask_url: a database URL as people may see it, without its passwords.
#pragma once

#include <string>
#include <string_view>

namespace millrace::app {

// "postgres://user:secret@host/db" as "postgres://user:***@host/db", "host=h password=secret" as
// "host=h password=***". Follows libpq's two notations; where a text is neither, it hides too much
// rather than too little.
std::string mask_url(std::string_view url);

}  // namespace millrace::app
