// PrivateDatabase: the private cluster with our schema in it, for up, demo and bench.
#pragma once

#include "app/context.h"
#include "app/database.h"
#include "cluster/private_cluster.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

namespace millrace::app {

// The url of another database on the private cluster.
std::string cluster_database_url(const std::string& url, const std::string& name);

// Throws everything in a private cluster's database away and installs the schema anew.
Result<void> recreate_database(Context& context, const Database& database);

struct PrivateDatabase {
  cluster::PrivateCluster cluster;
  Database database;
  cluster::PrivateCluster::Started started;
  std::chrono::milliseconds migrated{};  // Time the schema took.

  struct Options {
    std::filesystem::path data_dir = ".millrace";
    bool fresh = false;  // Throw away the jobs of earlier runs: a new database in the old cluster.
    std::string local_settings =
        {};  // For the server, as an operator's local.conf; empty: as it is.
    std::function<void(const std::string& line)> tell = {};  // Progress for people.
  };
  static Result<PrivateDatabase> open(Context& context, const Options& options);
};

}  // namespace millrace::app
