// RunRecord: what the stages made of a document, page by page, as the database has it. From it come
// the outputs and their manifest.
#pragma once

#include "output/document_info.h"
#include "output/manifest.h"
#include "pipeline/stage_job.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::pipeline {

struct RunRecord {
  store::DocumentTimes times = {};
  std::vector<store::PageState> pages = {};
  // By page and stage, without what they say of themselves: that is gathered below, so that
  // thousands of pages take a megabyte or two.
  std::map<std::pair<int, std::string>, store::PageResult> results = {};
  std::map<std::string, output::ManifestStage, std::less<>> stages = {};
  struct Reading {
    output::PageSource source = output::PageSource::ocr;
    std::string engine;
    std::optional<double> confidence = {};
  };
  std::map<int, Reading> readings = {};  // By page: how its words were read.
  std::set<std::string> engine_names = {};

  const store::StageResult* find(int page, std::string_view stage) const;  // Null: there is none.
  std::vector<std::string> engines() const;  // That read pages, each once.
  void add(store::PageResult one, bool reads_words);
};

Task<RunRecord> read_record(StageJob& job);

// What a model answered when it was to tell the document could not be used.
bool lacks_narrative(const StageJob& job);

output::Manifest manifest_of(const StageJob& job, const RunRecord& record,
                             const output::DocumentInfo& info,
                             std::vector<output::ManifestArtifact> artifacts);

}  // namespace millrace::pipeline
