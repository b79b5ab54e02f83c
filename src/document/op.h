// What every operation of millrace-document is made of: a request in JSON, descriptors of files,
// and a sink for bytes that are too many for JSON.
//
// Flow: main takes a task from the sandbox, looks the operation up by name and calls it; what it
// returns is the task's result. Everything here runs in a child that is confined already and dies
// after one task: leaks do not matter, crashes are contained, and nothing is remembered.
//
// An Error of the kind invalid_argument says that the document is at fault and names the rule,
// never the content; any other kind is a fault of ours.
#pragma once

#include "base/json.h"
#include "base/result.h"

#include <cstddef>
#include <span>
#include <vector>

namespace millrace::document {

// Open for reading, at the start. The first is the document.
struct OpFiles {
  std::vector<int> fds = {};
};

class OpSink {
 public:
  virtual ~OpSink() = default;
  virtual Result<void> write(std::span<const std::byte> bytes) = 0;
  virtual void progress(int done, int total) = 0;
};

using Operation = Result<json::Object> (*)(const json::Object& request, const OpFiles& files,
                                           OpSink& sink);

Result<json::Object> inspect(const json::Object& request, const OpFiles& files, OpSink& sink);
Result<json::Object> read(const json::Object& request, const OpFiles& files, OpSink& sink);
Result<json::Object> image(const json::Object& request, const OpFiles& files, OpSink& sink);
Result<json::Object> assemble(const json::Object& request, const OpFiles& files, OpSink& sink);
Result<json::Object> parse(const json::Object& request, const OpFiles& files, OpSink& sink);

}  // namespace millrace::document
