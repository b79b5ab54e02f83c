// Binaries: which installed PostgreSQL the private cluster uses.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::cluster {

inline constexpr int kOldestMajor = 15;

struct Binaries {
  std::filesystem::path directory;
  int major = 0;
  std::string version;  // "15.6"

  std::string initdb() const { return directory / "initdb"; }
  std::string postgres() const { return directory / "postgres"; }
};

struct BinarySearch {
  std::vector<std::filesystem::path> directories;  // Look only here, when not empty.
  std::optional<int> major;                        // What an existing cluster needs.
};

// Where pg_config points to, then /usr/lib/postgresql/*/bin, newest first. The first that fits
// wins.
Result<Binaries> find_binaries(const BinarySearch& search);

// From `postgres --version`: "postgres (PostgreSQL) 15.6 (Debian 15.6-0+deb12u1)" gives "15.6".
std::optional<std::string> parse_version(std::string_view output);

}  // namespace millrace::cluster
