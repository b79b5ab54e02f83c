#include "store/api/versions.h"

namespace millrace::store {

std::vector<pg::Statement> guarded_change(std::string_view noun, std::string_view key,
                                          const WantedVersions& wanted, pg::Statement change) {
  std::vector<pg::Statement> statements;
  if (wanted) {
    pg::Params params;
    params.add(noun).add(key).add_array(*wanted);
    statements.push_back({.sql = "select millrace.require_version($1, $2, $3)",
                          .params = std::move(params),
                          .name = "mr_api_require_version"});
  }
  statements.push_back(std::move(change));
  return statements;
}

}  // namespace millrace::store
