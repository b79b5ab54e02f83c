// Wrappers: the functions and views that clients call by their bare name, in a schema of the user's
// choice ("public" for PostgREST), each doing nothing but call its namesake in schema millrace.
//
// Which ones: millrace.exposed_names() returns (kind, name). A wrapper has the signature, defaults
// and return type of its original, runs with the caller's rights, and carries a comment by which it
// is known as ours. Names that are taken by something else are never touched.
// All inside the migrator's transaction, with search_path = pg_catalog, pg_temp.
#pragma once

#include "base/result.h"
#include "pg/sync_connection.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::store {

// Comments of wrappers begin like this.
inline constexpr std::string_view kWrapperComment = "millrace wrapper";

// One function or view of schema millrace that is to have wrappers.
struct Exposed {
  bool function = false;
  std::string name;
  std::string quoted_name;
  std::string identity;  // A function's argument types, as PostgreSQL prints them.
  std::string result;    // Its return type.
  std::string head;      // What follows the name in CREATE: arguments, return type, properties.
  std::string body;      // The query.
  std::string rights;    // Who may use it, "," between names; empty for nobody.
};

// Nothing when the schema has no millrace.exposed_names(). Needs the rights of the schema's owner.
Result<std::optional<std::vector<Exposed>>> read_exposed(pg::SyncConnection& connection);

// Makes, renews and removes wrappers in `schema`, if given, and in every schema that has some
// already. Returns how many were made, changed or removed. conflict, listing all of them, when
// names are taken. Needs the right to create in those schemas.
Result<std::size_t> update_wrappers(pg::SyncConnection& connection,
                                    const std::vector<Exposed>& exposed,
                                    const std::optional<std::string>& schema);

// Removes the wrappers of these views ("millrace.job_queue"), which are about to be made anew.
Result<void> drop_view_wrappers(pg::SyncConnection& connection,
                                const std::vector<std::string>& views);

}  // namespace millrace::store
