// What the end of a program means for its job: exit codes and signals to outcomes, in one place.
#pragma once

#include "model/outcome.h"
#include "sandbox/child_spec.h"

#include <chrono>
#include <optional>
#include <string>

namespace millrace::worker {

inline constexpr std::size_t kExecResultMaxBytes = 256 * 1024;

// sysexits.h: what a program says with its exit code.
inline constexpr int kExitOk = 0;
inline constexpr int kExitPermanent = 65;  // EX_DATAERR
inline constexpr int kExitThrottled = 69;  // EX_UNAVAILABLE
inline constexpr int kExitRetry = 75;      // EX_TEMPFAIL

struct ExecNotes {
  std::optional<std::chrono::milliseconds> retry_after;  // The last one given on fd 3.
  std::string last_line;                                 // Of stderr: usually says what is wrong.
};

// `result_max_bytes`: what it may write to stdout.
Outcome exec_outcome(const sandbox::ChildResult& result, const ExecNotes& notes,
                     std::size_t result_max_bytes = kExecResultMaxBytes);

}  // namespace millrace::worker
