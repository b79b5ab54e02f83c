// Times as they stand in answers: RFC 3339, UTC, milliseconds.
#pragma once

#include "base/clock.h"
#include "identity/claims.h"

#include <string>

namespace millrace::api {

std::string wire_time(identity::Instant time);  // "2026-11-16T12:00:00.000Z"
std::string wire_time(Clock::Wall time);

}  // namespace millrace::api
