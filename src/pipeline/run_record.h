// RunRecord: what the stages made of a document, page by page, as the database has it. From it come
// the outputs and their manifest.
#pragma once

#include "output/document_info.h"
#include "output/manifest.h"
#include "pipeline/stage_job.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::pipeline {

struct RunRecord {
  std::vector<store::PageState> pages = {};
  std::map<std::pair<int, std::string>, store::PageResult> results = {};  // By page and stage.

  const store::StageResult* find(int page, std::string_view stage) const;  // Null: there is none.
  std::vector<std::string> engines() const;  // That read pages, each once.
};

Task<RunRecord> read_record(StageJob& job);

output::Manifest manifest_of(const StageJob& job, const RunRecord& record,
                             const output::DocumentInfo& info,
                             std::vector<output::ManifestArtifact> artifacts);

}  // namespace millrace::pipeline
