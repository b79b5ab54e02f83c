// Versions: a change that happens only while a thing is as the caller has seen it.
//
// Flow: what is read comes with its version (millrace.version_of), in one statement; a change takes
// the versions that it may replace, and the check (millrace.require_version, MR040) goes in front
// of it in the same transaction, with a lock. So of two who have read the same, one changes it.
#pragma once

#include "pg/pool.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::store {

struct Versioned {
  std::string json;
  std::string version;
};

// Nothing: whatever there is, or nothing yet. "*": whatever there is.
using WantedVersions = std::optional<std::vector<std::string>>;

// The change, with the check in front where versions are wanted. Nouns: queue, limit, cron, tenant,
// profile, file.
std::vector<pg::Statement> guarded_change(std::string_view noun, std::string_view key,
                                          const WantedVersions& wanted, pg::Statement change);

}  // namespace millrace::store
