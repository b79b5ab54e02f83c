// Running PostgreSQL's own programs from tests: wait for the end, keep the output. As root they run
// as the user postgres, because PostgreSQL refuses to run as root.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace millrace::test {

// Error: it could not be started, or ended with another code than 0 (the message has its output).
Result<std::string> run_program(const std::vector<std::string>& argv);
Result<std::string> run_as_postgres(std::vector<std::string> argv);

// Gives a path to the user that run_as_postgres uses; nothing to do unless root.
Result<void> give_to_postgres(const std::filesystem::path& path);

// Where initdb and postgres are.
Result<std::filesystem::path> postgres_bindir();

}  // namespace millrace::test
