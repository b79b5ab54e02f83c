// What a failure of the renderer means for the job of an export: one table.
#pragma once

#include "base/result.h"
#include "model/outcome.h"
#include "store/export_work.h"

#include <chrono>

namespace millrace::pipeline {

// What this worker has not got: another may have it.
inline constexpr std::chrono::seconds kElsewhere{30};

// Too slow: again, with a hint. Crash of the browser, memory: again, and poison after the third
// time. What the document itself is: never again. Our own surroundings: later, uncharged; no
// browser that starts: elsewhere.
Outcome failed_render(const Error& error);

// A file that the quota has no room for.
Outcome over_quota(const store::ExportRoom& room, std::uint64_t size_bytes);

}  // namespace millrace::pipeline
