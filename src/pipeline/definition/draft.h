// Draft: a definition as read, value by value, before the rules that compare stages.
//
// Stages stand in the order of the file, and what was wrong with one has its default; the notes say
// which values cannot be relied on, so that one mistake is not told as three.
#pragma once

#include "pipeline/definition/definition.h"
#include "pipeline/definition/object_reader.h"
#include "pipeline/definition/source.h"

#include <string>
#include <vector>

namespace millrace::pipeline {

inline constexpr std::size_t kStagesMax = 64;
inline constexpr std::size_t kQueuesMax = 64;
inline constexpr std::chrono::milliseconds kTimeoutDefault = std::chrono::minutes(2);

struct StageNotes {
  std::string path;  // "stage.2"
  bool name_known = true;
  bool run_known = true;
  bool each_known = true;
  bool after_known = true;
};

struct Draft {
  Pipeline pipeline = {};
  std::vector<StageNotes> notes = {};  // One for each stage.
};

Draft read_draft(const Source& source, Problems& problems);

// Parts of it, in files of their own.
void read_queues(ObjectReader& root, const Source& source, Pipeline& pipeline, Problems& problems);
void read_options(ObjectReader& stage_reader, const Source& source, const std::string& who,
                  Stage& stage, bool run_known, Problems& problems);

// "stage \"ocr\": ", or "stage 3: " when it has no name (counted from 1).
std::string stage_prefix(const std::string& name, std::size_t index);
// Of stages and queues: what the database takes.
bool is_job_name(std::string_view text);
// Of pipelines, providers, outputs: [a-z][a-z0-9_-]*, at most 63.
bool is_plain_name(std::string_view text);

}  // namespace millrace::pipeline
