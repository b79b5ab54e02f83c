// StageKind: what is known of each kind of work a stage can do: whether it takes the document or a
// page, what it reads and makes, which providers and options it takes.
//
// The readers check files against this table, docs/pipelines.md lists it and a test compares.
#pragma once

#include "pipeline/definition/definition.h"

#include <span>
#include <string_view>
#include <vector>

namespace millrace::pipeline {

struct OptionSpec {
  enum class Type { text, integer, number, boolean, choice, languages };

  std::string_view name;
  Type type = Type::text;
  double min = 0;  // Numbers.
  double max = 0;
  std::vector<std::string_view> choices = {};
};

struct StageKind {
  RunKind kind;
  std::optional<Each> each;                      // Nothing: the author says.
  std::string_view provider;                     // Unless the file says.
  std::vector<std::string_view> providers = {};  // That it takes.
  bool in_child = false;                         // A process of its own does it, with limits.
  std::vector<std::string_view> required = {};   // "pages": the number of pages is known.
  std::vector<std::string_view> outputs = {};
  std::vector<OptionSpec> options = {};

  bool built_in() const { return kind != RunKind::exec && kind != RunKind::http; }
  // Itself; what an author's program calls is its own business.
  bool calls_provider() const { return built_in() && providers.size() > 1; }
};

std::span<const StageKind> stage_kinds();
const StageKind& stage_kind(RunKind kind);
// The built-in kind of that name.
const StageKind* find_built_in(std::string_view name);

}  // namespace millrace::pipeline
