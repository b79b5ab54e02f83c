// parse_pipeline: a pipeline file as text, checked. pipeline_to_json, pipeline_from_json: the form
// in which the definition a document began with is kept, "pipeline/1".
//
// The JSON form has the keys of the file with every default filled in, so that a later program
// with other defaults does with an old document what was meant. The hash is that of its canonical
// text: comments, order of keys and ways to write a time do not change it. Rule for later: a new
// key is left out of the form where a file does not say it, or all hashes change.
#pragma once

#include "base/result.h"
#include "pipeline/definition/definition.h"
#include "pipeline/definition/problem.h"
#include "pipeline/definition/rules.h"

#include <optional>
#include <string_view>
#include <vector>

namespace millrace::pipeline {

struct Checked {
  std::optional<Pipeline> pipeline = {};  // If, and only if, there are no problems.
  std::vector<Problem> problems = {};     // All of them, by line.
  std::vector<Problem> warnings = {};     // It is sound, but part of it will not work here.
};

Checked parse_pipeline(std::string_view text, const Known& known = {});

json::Object pipeline_to_json(const Pipeline& pipeline);
// Of a pipeline that was changed after it had been read.
std::string pipeline_hash(const Pipeline& pipeline);  // Without the hash.

// invalid_argument with the first problem. What pipeline_to_json made comes back equal, and with
// the hash of what was given.
Result<Pipeline> pipeline_from_json(const json::Object& object);

}  // namespace millrace::pipeline
