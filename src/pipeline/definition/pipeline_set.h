// PipelineSet: the pipelines of an installation: those inside the program, and those of a folder.
//
// A file of the folder comes before a built-in pipeline of the same name. Several files may define
// one name in different versions; the highest is what new documents get. One name and version with
// two contents is an error: whoever reads "guardian 1.0.0" in a report must know what it was.
//
// Flow: loaded once at start-up, blocking; immutable afterwards and shared freely.
#pragma once

#include "base/result.h"
#include "pipeline/definition/definition.h"
#include "pipeline/definition/parse.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::pipeline {

struct LoadedPipeline {
  Pipeline pipeline;
  std::string file;  // As shown in messages; "built-in guardian.toml".
  bool built_in = false;
};

class PipelineSet {
 public:
  struct Loaded;
  static constexpr std::size_t kFilesMax = 1000;

  // The built-in ones, and *.toml of the folder if one is given. Everything wrong with any file is
  // told; the set then has the others. not_found, unavailable: the folder cannot be read.
  static Result<Loaded> load(const std::optional<std::filesystem::path>& folder,
                             const Known& known = {});

  // Which model a stage that asks one without naming it means, by the settings of this process.
  // From here on the stage names it, as if the file did: what another model has answered is not
  // taken for its answer, and a document that runs stays with the model it began with.
  using ModelOf = std::function<std::string(const Stage& stage)>;
  void pin_models(const ModelOf& model_of);

  // The version that new documents get. Null: there is none of that name.
  const Pipeline* find(std::string_view name) const;
  const Pipeline* find(std::string_view name, std::string_view version) const;
  // Of one name, what new documents get first.
  std::vector<const LoadedPipeline*> versions(std::string_view name) const;
  std::vector<std::string> names() const;  // Sorted.
  const std::vector<LoadedPipeline>& all() const { return pipelines_; }

 private:
  // Returns what is wrong with adding it.
  std::optional<std::string> add(LoadedPipeline loaded);

  std::vector<LoadedPipeline> pipelines_;  // By name; per name, what is taken first comes first.
};

struct PipelineSet::Loaded {
  PipelineSet set;
  std::vector<std::string> problems;  // "pipelines/x.toml:3:1: ...", file by file.
  std::vector<std::string> warnings;  // Likewise: sound, but part of it will not work here.
  std::size_t files = 0;              // Of the folder.
};

// The text of the built-in file, "guardian.toml". Empty: there is none.
std::string_view built_in_text(std::string_view file);

}  // namespace millrace::pipeline
