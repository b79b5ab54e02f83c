// Span: one finished piece of work that belongs to a trace; Tracer: whoever takes such spans.
//
// Flow: whoever did the work asks samples() (or follows the caller's decision), fills in a Span
// when it is over and offers it; OtlpExporter brings spans to a collector. What a span says is
// chosen as for a log line: ids, counts and names that we gave, never content.
#pragma once

#include "base/clock.h"
#include "base/log.h"
#include "http/server_trace.h"

#include <array>
#include <string>
#include <vector>

namespace millrace::http {

enum class SpanKind {
  internal = 1,
  server = 2,
  client = 3,
  producer = 4,
  consumer = 5
};  // OTLP's.

struct Span {
  std::array<char, 32> trace_id{};
  std::array<char, 16> span_id{};
  std::array<char, 16> parent_id{};  // Zero bytes: the trace begins with this span.
  std::string name;
  SpanKind kind = SpanKind::internal;
  Clock::Wall began{};
  Clock::Wall ended{};
  std::vector<LogField> attributes = {};
  std::string error = {};  // The class of the error; empty: it went well.
};

class Tracer {
 public:
  virtual ~Tracer() = default;

  // Whether spans of this trace are wanted: the decision of a caller who is trusted with it, else
  // one that follows from the trace's id, so that all processes with the same ratio agree.
  virtual bool samples(const TraceContext& trace) const = 0;
  // From any thread. Never waits and never fails: what cannot be kept is counted and forgotten.
  virtual void offer(Span span) = 0;
};

// Whether a trace that begins here belongs to the share `ratio` (0 to 1) of all traces.
bool in_sample(const std::array<char, 32>& trace_id, double ratio);

}  // namespace millrace::http
