// The SQL that tests run on: the files embedded in this program or, for tools/mutants, those of the
// folder that MILLRACE_TEST_SQL_DIR names. Tests only: a product takes its SQL from nowhere else.
#pragma once

#include "sql_files.h"

#include <span>

namespace millrace::test {

// Sorted by path, as sql::embedded_sql(); lives as long as the program.
std::span<const sql::SqlFile> sql_files();

}  // namespace millrace::test
