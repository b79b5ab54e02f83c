// The span of a request: what the access log knows of it, as far as a trace may know it.
//
// Only the route is told, never the path: paths may hold names of files and of people. Of what the
// handler noted for the log, the ids on a short list are taken over.
#pragma once

#include "base/clock.h"
#include "http/access_log.h"
#include "http/span.h"

namespace millrace::api {

// `now` is the end of the request. The record has a trace.
http::Span request_span(const http::AccessRecord& record, Clock::Wall now);

// Offers the span of a request whose trace is sampled.
void trace_request(http::Tracer& tracer, const http::AccessRecord& record, Clock::Wall now);

}  // namespace millrace::api
