// Which database: the one given, else the private cluster that runs in the data directory.
//
// Order: --database-url, the environment, millrace.toml (all three are database.url in Settings),
// then the cluster that 'millrace up' announced in <data_dir>/owner.lock.
#pragma once

#include "app/config/settings.h"
#include "base/result.h"
#include "pg/connect_options.h"

#include <filesystem>
#include <optional>
#include <string>

namespace millrace::app {

struct Database {
  std::string url;
  std::string origin;  // For people: "private cluster in .millrace", "environment DATABASE_URL".
  bool is_private = false;  // Ours: engine roles may be used for worker and keeper.
};

Result<Database> find_database(const Settings& settings);

// The url that the running owner of `data_dir` announced; nothing when no owner runs. An error when
// the directory is there but not for us.
Result<std::optional<std::string>> running_cluster_url(const std::filesystem::path& data_dir);

// Options for one role of the private cluster; other databases keep the user of their url.
pg::ConnectOptions connect_as(const Database& database, const std::string& role,
                              std::string application_name);

// What a person reads when it could not be reached.
Error cannot_connect(const Database& database, Error error);

}  // namespace millrace::app
