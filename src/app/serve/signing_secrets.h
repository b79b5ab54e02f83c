// The secrets that sign tokens and tickets: configured, or made once for a private cluster.
#pragma once

#include "app/context.h"
#include "app/database.h"
#include "base/secret.h"

#include <filesystem>
#include <string>
#include <vector>

namespace millrace::app {

struct SigningSecrets {
  std::vector<Secret<std::string>> all;  // The first one signs, all are accepted.
  // Nobody else knows it and it ends with the process: good for tickets, not for tokens.
  bool ephemeral = false;
};

// auth.jwt_secret and auth.previous_jwt_secret; without them, and with a private cluster, the one
// in <data_dir>/jwt_secret, which is made when it is not there; else one of this process.
Result<SigningSecrets> find_signing_secrets(const Settings& settings, const Database& database,
                                            Random& random);

// The content of the file, which is made with a fresh secret if it does not exist. Two processes
// that come at once get the same.
Result<Secret<std::string>> secret_in_file(const std::filesystem::path& path, Random& random);

}  // namespace millrace::app
