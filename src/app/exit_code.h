// Exit codes and the one line that explains them: the contract of docs/cli.md with scripts.
#pragma once

#include "base/result.h"

#include <string>

namespace millrace::app {

inline constexpr int kExitOk = 0;
inline constexpr int kExitInternal = 1;       // A bug, a broken installation.
inline constexpr int kExitUsage = 2;          // Wrong arguments or invalid input.
inline constexpr int kExitNotFound = 3;       // No such job, queue, batch, cron, limit.
inline constexpr int kExitConflict = 4;       // Already final, already running, used differently.
inline constexpr int kExitUnavailable = 5;    // Cannot connect, database down, queue full.
inline constexpr int kExitPermission = 6;     // Not allowed.
inline constexpr int kExitProblems = 7;       // doctor, audit verify: problems were found.
inline constexpr int kExitConfiguration = 8;  // Configuration file, environment, missing schema.
inline constexpr int kExitJobFailed = 9;      // enqueue --wait, jobs watch: it did not complete.
inline constexpr int kExitInterrupted = 130;  // SIGINT
inline constexpr int kExitTerminated = 143;   // SIGTERM

int exit_code_of(const Error& error);

// "millrace: <what>; <what to do> [MR002]", always one line.
std::string error_line(const Error& error);

}  // namespace millrace::app
