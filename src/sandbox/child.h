// Child: runs one program to its end, away from this process.
//
// Flow: stdin_data becomes fd 0; fd 1 is collected into ChildResult::stdout_text; each line of fd 2
// goes to on_stderr_line and each line of fd 3 to on_control_line while the program runs. Lines
// come without their line end and are raw bytes: not necessarily UTF-8. On timeout, cancel or too
// much output the process group gets SIGTERM, and SIGKILL after kill_grace. When the program has
// exited, whatever is left of its group is killed; a process that left the group cannot delay the
// result.
//
// Errors mean that the program never ran: not_found (no such program), invalid_argument (spec,
// program or directory unusable), unavailable (no process, descriptor or memory to be had now).
//
// Threading: callable from any thread; both callbacks are called one at a time on a strand of
// `executor` and must not throw. The program dies with the thread that runs `executor` when it is
// started (PR_SET_PDEATHSIG), so that thread must live as long as the process does.
// Lifetime: what the callbacks refer to must outlive the returned task. Stop it by the token; Asio
// cancellation is ignored, because a result without an ended process would be a lie.
#pragma once

#include "base/cancel.h"
#include "base/task.h"
#include "sandbox/child_spec.h"

#include <functional>
#include <string_view>

namespace millrace::sandbox {

using LineSink = std::function<void(std::string_view line)>;

class Child {
 public:
  static Task<ChildResult> run(Executor executor, ChildSpec spec, LineSink on_stderr_line,
                               LineSink on_control_line, CancelToken cancel);
};

}  // namespace millrace::sandbox
